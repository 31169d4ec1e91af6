from .kit import write_kit as write_kit
from .page import write_lesson as write_lesson
