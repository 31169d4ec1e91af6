"""Word lists, control words, sentence tests and lists of occupations: read, checked, paired."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
