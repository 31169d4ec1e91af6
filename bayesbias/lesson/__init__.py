"""A lesson in one HTML file, and a kit for a class."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
