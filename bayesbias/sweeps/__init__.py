"""Many fits: every embedding, word list and model of a plan; resumable."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
