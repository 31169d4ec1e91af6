"""Sentiment classifiers: trained here, loaded, or known by their predictions alone."""
