"""One row an observation: pairs of words, pairs of sentences, changes, sentiment.

With an account of missing words.
"""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
