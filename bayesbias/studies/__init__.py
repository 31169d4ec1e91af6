"""The studies: SEAT, sentiment, debiased against original."""
