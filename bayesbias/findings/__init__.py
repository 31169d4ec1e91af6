"""What is said of results, in sentences made from their draws."""

from bayesbias.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
