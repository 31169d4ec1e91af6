"""One reader a format of vector files, and how a format is told."""
