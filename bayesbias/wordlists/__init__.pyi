from .listfile import list_wordlists as list_wordlists
from .occupations import (
    load_occupations as load_occupations,
    occupation_sentences as occupation_sentences,
    response_sentences as response_sentences,
)
from .sentence_tests import list_tests as list_tests, write_test as write_test
