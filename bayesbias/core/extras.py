"""Moved; this name goes away: import from where it is now."""

# ruff: noqa
from bayesbias.core.packages import *
