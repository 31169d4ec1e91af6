from .estimands import ROPE as ROPE
from .fitting import build as build
from .prediction import loo as loo
