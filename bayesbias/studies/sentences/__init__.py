"""Sentence encoders and SEAT."""
