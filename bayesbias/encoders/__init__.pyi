from .averages import cbow_encoder as cbow_encoder
from .encoder import Encoder as Encoder
