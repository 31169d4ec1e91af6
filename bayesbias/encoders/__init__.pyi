from .averages import cbow_encoder as cbow_encoder, static_encoder as static_encoder
from .encoder import (
    Encoder as Encoder,
    describe_encoder as describe_encoder,
    function_encoder as function_encoder,
)
from .precomputed import vectors_encoder as vectors_encoder
from .pretrained import (
    sentence_transformers_encoder as sentence_transformers_encoder,
    transformers_encoder as transformers_encoder,
)
