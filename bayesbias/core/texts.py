"""Moved; this name goes away: import from where it is now."""

# ruff: noqa
from bayesbias.core.files import *
from bayesbias.core.files import MOST_TEXT

MOST_TOML = MOST_JSON = MOST_TABLE = MOST_TEXT
