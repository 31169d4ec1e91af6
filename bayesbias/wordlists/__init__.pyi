from .listfile import list_wordlists as list_wordlists, wordlist_template as wordlist_template
from .occupations import (
    load_occupations as load_occupations,
    occupation_sentences as occupation_sentences,
)
from .sentence_tests import (
    list_tests as list_tests,
    read_test as read_test,
    write_test as write_test,
)
