"""Long runs that show what is claimed of the statistics; docs/validation.md has their results."""
