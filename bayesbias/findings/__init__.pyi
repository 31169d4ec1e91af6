from .change import construction_sentences as construction_sentences
from .parts import Doubt as Doubt, Effect as Effect, Findings as Findings, Unexamined as Unexamined
from .sentiment import carrying_pairs as carrying_pairs
