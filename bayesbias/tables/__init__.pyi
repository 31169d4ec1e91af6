from .change import join_pairs as join_pairs
from .counts import WordCounts as WordCounts, load_counts as load_counts
from .covariates import join_covariates as join_covariates
from .coverage import Coverage as Coverage
from .matching import matched_controls as matched_controls
