"""The evidence that can be had at length: `make proof` runs it and writes it down."""
