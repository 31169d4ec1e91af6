"""What every folder stands on: errors, checks, files, progress, worker processes, and words."""

from bayesbias.core.errors import (
    BayesbiasError,
    FitError,
    InputError,
    ResourceError,
    describe_error,
    nearest,
)
from bayesbias.core.formatting import join_words, number_of, some
