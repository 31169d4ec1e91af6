"""What averaging does, and whether intervals cover what they say: simulated tables with a known truth."""
