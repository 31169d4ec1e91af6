"""From a table and a model to a posterior, and the questions one may ask of it.

The docstring of `fitting` lists the steps of a fit. Then read `bayesbias.models.design`,
`likelihood`, `sampling`, `posterior` and `estimates`; docs/architecture.md, "How to read inference",
says what the other modules add.
"""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
