from .averages import cbow_encoder as cbow_encoder
from .encoder import Encoder as Encoder, describe_encoder as describe_encoder
from .pretrained import (
    sentence_transformers_encoder as sentence_transformers_encoder,
    transformers_encoder as transformers_encoder,
)
