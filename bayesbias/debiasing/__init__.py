"""Hard and soft debiasing, with an account of what was done to which words."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
