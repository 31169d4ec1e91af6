"""From a table and a model to a posterior, and the questions one may ask of it."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
