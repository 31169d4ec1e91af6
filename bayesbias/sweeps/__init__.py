"""Many fits: every embedding, word list and model of a plan; resumable."""
