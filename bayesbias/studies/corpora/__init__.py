"""Vectors of two or more corpora: what changed from one to the other."""
