from .plan import load_plan as load_plan
from .result import SweepResult as SweepResult
