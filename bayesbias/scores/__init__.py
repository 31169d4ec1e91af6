"""Averaged scores in common use, with exact permutation p-values."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
