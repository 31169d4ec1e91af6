from .counts import load_counts as load_counts, matched_controls as matched_controls
from .covariates import join_covariates as join_covariates
from .joining import join_pairs as join_pairs
