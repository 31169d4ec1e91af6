"""Sentiment classifiers."""
