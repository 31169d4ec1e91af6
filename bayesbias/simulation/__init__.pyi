from .answers import plan_responses as plan_responses
from .false_alarms import null_distribution as null_distribution, simulate_grid as simulate_grid
from .grid import crossed_intervals as crossed_intervals
from .paper import paper_draws as paper_draws, simulate_paper as simulate_paper
from .real_words import negative_controls as negative_controls
from .sample_size import plan_reliability as plan_reliability
from .scenario import (
    Scenario as Scenario,
    scenario_from_fit as scenario_from_fit,
    simulate_table as simulate_table,
)
