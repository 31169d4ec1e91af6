"""Groups of words on attribute sets that belong to none of them: what is shown of a fit."""
