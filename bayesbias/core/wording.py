"""Moved; this name goes away: import from where it is now."""

# ruff: noqa
from bayesbias.core.formatting import *
from bayesbias.core.digits import *
from bayesbias.core.formatting import join_words as conjoined
