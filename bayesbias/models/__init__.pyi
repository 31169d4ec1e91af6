from .loading import shipped_models as shipped_models
from .trimming import trimmed as trimmed
