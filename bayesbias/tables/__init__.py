"""One row an observation: pairs of words, pairs of sentences, changes, sentiment; with an account of missing words."""
