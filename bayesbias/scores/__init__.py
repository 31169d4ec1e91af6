"""The averaged scores in common use, computed exactly, with exact permutation p-values."""
