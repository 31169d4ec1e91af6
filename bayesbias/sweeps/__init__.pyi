from .plan import SweepPlan as SweepPlan, load_plan as load_plan
from .result import SweepResult as SweepResult
