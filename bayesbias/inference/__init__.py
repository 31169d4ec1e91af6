"""From a table and a model to a posterior, and the questions one may ask of it."""
