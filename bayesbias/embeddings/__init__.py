"""Word vectors out of any common file, reading only the words asked for."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
