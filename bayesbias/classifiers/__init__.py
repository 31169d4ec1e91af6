"""Sentiment classifiers: trained here, loaded, or known by their predictions alone."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
