"""The studies: SEAT, sentiment, debiased against original."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
