"""A model as data: its TOML file, checked, and laid over a table."""

from bayesbias.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
