from .cross_validation import answers_by_model as answers_by_model, loo as loo
from .difference import Difference as Difference
from .fitting import build as build
from .priors import prior_expectation as prior_expectation
from .spreads import total_sd as total_sd
from .view import ROPE as ROPE, STANDARD_ROPE as STANDARD_ROPE
