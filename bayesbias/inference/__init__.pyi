from .cross_validation import loo as loo
from .fitting import build as build
