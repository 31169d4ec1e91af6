from .plan import load_plan as load_plan
