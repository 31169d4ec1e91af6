"""A model as data: its TOML file, checked, and laid over a table."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
