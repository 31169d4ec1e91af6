"""Several equally plausible sets of vectors: one answer from all of them."""
