"""From a table and a model to a posterior, and the questions one may ask of it.

Read `bayesbias.models.design`, then `likelihood`, `sampling`, `posterior` and `estimates`; what the
other modules add to each is in docs/architecture.md, "How to read inference". `fitting` joins them.
"""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
