from .loading import DEFAULT_MODEL as DEFAULT_MODEL, list_models as list_models
from .slopes import slopes_for as slopes_for, with_slopes as with_slopes
from .trimming import trimmed as trimmed
