"""Word lists, control words, sentence tests and lists of occupations: read, checked, paired."""
