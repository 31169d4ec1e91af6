"""Results as terminal text, HTML page, run folder and JSON: four renderers of the same sections."""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
