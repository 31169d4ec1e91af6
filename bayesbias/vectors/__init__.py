"""Word vectors out of any common file, reading only the words asked for."""
