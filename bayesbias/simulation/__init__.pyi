from .alarms import simulate_grid as simulate_grid
from .nulls import null_distribution as null_distribution
from .paper import paper_draws as paper_draws, simulate_paper as simulate_paper
from .planning import ReliabilityPlan as ReliabilityPlan, plan_reliability as plan_reliability
from .rrandom import RRandom as RRandom
from .scenario import (
    Scenario as Scenario,
    scenario_from_fit as scenario_from_fit,
    simulate_table as simulate_table,
)
from .shuffles import negative_controls as negative_controls
