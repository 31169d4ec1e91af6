"""A model as data: its TOML file, checked, and laid over a table."""
