"""Moved; this name goes away: import from where it is now."""

# ruff: noqa
from bayesbias.core.checks import (
    breaks_line,
    label as checked_label,
    names as checked_names,
    tree as checked_tree,
    without_unseen,
)
from bayesbias.core.formatting import in_one_line
