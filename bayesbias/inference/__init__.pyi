from .estimands import ROPE as ROPE, STANDARD_ROPE as STANDARD_ROPE
from .fitting import build as build
from .prediction import loo as loo
from .spreads import total_sd as total_sd
