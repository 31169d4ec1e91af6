"""A result as a folder: written whole, read back."""
