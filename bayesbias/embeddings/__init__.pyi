from .loading import load_contexts as load_contexts
from .postprocessing import postprocess as postprocess
from .shape import describe_vectors as describe_vectors
from .static import list_embeddings as list_embeddings
