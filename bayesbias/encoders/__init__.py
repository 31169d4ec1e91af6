"""Sentence encoders: models, averages of vectors, and a cache."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
