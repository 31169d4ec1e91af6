from .change import join_pairs as join_pairs
