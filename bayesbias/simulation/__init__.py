"""What averaging does, and whether intervals cover what they say.

Simulated tables with a known truth.
"""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
