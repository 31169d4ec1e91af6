"""Values as Python and notebooks see them: a hash that agrees with equality, and HTML that says what `repr` says.

Values that hold frames, arrays or fits are equal to themselves alone: whether two frames are the same is a question
with many answers. All others are equal where their contents are.
"""

from __future__ import annotations

import dataclasses
import functools
import html
from collections.abc import Callable, Mapping
from typing import Any

from bayesbias.core.literal import literal


class Shown:
    """A value that a notebook shows as its `repr`, in which names from outside are `literal`, as wherever they are shown."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Make what a class says of itself literal, here once, since each names words, files and labels."""
        super().__init_subclass__(**more)
        for name in ("__repr__", "__str__"):
            if name in vars(cls):
                setattr(cls, name, _literally(vars(cls)[name]))

    def _repr_html_(self) -> str:
        return as_html(repr(self))


def _literally(says: Callable[[Any], str]) -> Callable[[Any], str]:
    @functools.wraps(says)
    def said(value: Any) -> str:
        return literal(says(value), lines=True)

    return said


def as_html(text: str) -> str:
    """Return text as HTML, line by line and escaped.

    Examples
    --------
    >>> as_html("<b> & b")
    '<pre style="white-space: pre-wrap">&lt;b&gt; &amp; b</pre>'
    """
    return f'<pre style="white-space: pre-wrap">{html.escape(text)}</pre>'


def content_hash(value: Any) -> int:
    """Return the hash of a frozen dataclass that is equal by content, mappings and lists among it."""
    names = [field.name for field in dataclasses.fields(value) if field.compare]
    return hash((type(value), *(_hashable(getattr(value, name)) for name in names)))


def _hashable(part: Any) -> Any:
    if isinstance(part, Mapping):
        return frozenset((key, _hashable(inner)) for key, inner in part.items())
    return tuple(map(_hashable, part)) if isinstance(part, list | tuple) else part
