"""Sentence encoders: models, averages of word vectors, vectors made elsewhere; with a cache."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
