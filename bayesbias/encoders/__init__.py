"""Sentence encoders: models, averages of word vectors, vectors made elsewhere; with a cache."""
