from .sentiment import (
    carrying_pairs as carrying_pairs,
    sentiment_doubts as sentiment_doubts,
    sentiment_in_words as sentiment_in_words,
)
from .words import in_words as in_words, shortcomings as shortcomings
