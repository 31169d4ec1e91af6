"""Figures on matplotlib; each takes a result and an optional Axes."""
