from .spec import list_models as list_models
from .variants import slopes_for as slopes_for
