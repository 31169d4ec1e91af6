"""Figures on matplotlib; each takes a result and an optional Axes."""

from bayesbias.basics.face import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
