from .cross_validation import loo as loo
from .fitting import build as build
from .priors import prior_expectation as prior_expectation
from .view import ROPE as ROPE
