from .loading import DEFAULT_MODEL as DEFAULT_MODEL, list_models as list_models
from .variants import slopes_for as slopes_for, with_slopes as with_slopes
