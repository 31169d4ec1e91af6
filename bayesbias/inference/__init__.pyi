from .alternatives import answers_by_model as answers_by_model
from .engine import Engine as Engine
from .estimands import ROPE as ROPE, STANDARD_ROPE as STANDARD_ROPE
from .expectation import PriorExpectation as PriorExpectation, prior_expectation as prior_expectation
from .fitting import build as build
from .held_covariates import contrasts_at as contrasts_at
from .observed import Excluded as Excluded, excluded_observed as excluded_observed
from .power import power_scaling as power_scaling
from .prediction import loo as loo
from .spreads import total_sd as total_sd
