"""Debiased against original vectors."""
