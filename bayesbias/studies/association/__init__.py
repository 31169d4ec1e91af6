"""Association of words and attributes: what is shown of a fit."""
