"""A result as a folder: written whole, read back."""

from bayesbias.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
