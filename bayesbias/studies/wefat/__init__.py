"""Associations and a covariate: the single-category test (WEFAT)."""
