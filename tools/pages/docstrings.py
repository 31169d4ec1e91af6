"""Docstrings as they are written here, taken apart into sections and set as reStructuredText."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Section", "linked", "parted", "set_section"]

SECTIONS = (
    "Parameters",
    "Returns",
    "Yields",
    "Raises",
    "Warns",
    "Attributes",
    "Notes",
    "See Also",
    "References",
    "Examples",
)
LISTS = ("Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes")
_HEADING = re.compile(rf"^({'|'.join(SECTIONS)})\n-{{3,}}$", re.MULTILINE)
# `name`, in one pair of backticks, without a role before it or with one that names a function or a class.
_TICKED = re.compile(r"(?::(?:func|class|meth|obj):|(?<![`:\w]))`([^`\n]+)`(?![`_])")
_WORD = re.compile(r"(?<![\w.`])[A-Za-z_][\w.]*\w(?![\w`])")

Find = Callable[[str], str | None]
"""From a name as it is written to the full path of what it names."""


@dataclass(frozen=True)
class Section:
    """A part of a docstring: its heading (``""`` of what comes before the first) and its text."""

    heading: str
    text: str


def parted(doc: str) -> list[Section]:
    r"""Take a docstring apart at its underlined headings.

    Examples
    --------
    >>> [section.heading for section in parted("Measure.\n\nReturns\n-------\nfloat\n")]
    ['', 'Returns']
    """
    pieces = _HEADING.split(doc)
    found = [Section("", pieces[0].strip())]
    return [
        *found,
        *(Section(*pair) for pair in zip(pieces[1::2], (p.strip("\n") for p in pieces[2::2]), strict=True)),
    ]


def linked(text: str, find: Find) -> str:
    """Make links of names in single backticks, and code of those that are not public."""

    def link(match: re.Match[str]) -> str:
        path = find(match[1])
        return f":py:obj:`{match[1]} <{path}>`" if path else f"``{match[1]}``"

    return re.sub(r"(?m)(?<=[\s(])\|(?=\w)", r"\\|", _TICKED.sub(link, text))


def _type(text: str, find: Find) -> str:
    """Set what an entry is: public names become links, and nothing else in it means anything."""

    def link(match: re.Match[str]) -> str:
        path = find(match[0]) if match[0][0].isupper() else None
        return f":py:obj:`{match[0]} <{path}>`" if path else match[0]

    parts = re.split(r"(``[^`]+``)", text)
    return "".join(
        part if part.startswith("``") else _WORD.sub(link, part.replace("*", r"\*")) for part in parts
    )


def _entries(text: str) -> list[tuple[str, str]]:
    """Return the lines at the margin of a list, and what stands indented below each."""
    found: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if line and not line[0].isspace():
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
    return [(head, textwrap.dedent("\n".join(body)).strip("\n")) for head, body in found]


def set_section(section: Section, find: Find) -> str:
    """Return a section as reStructuredText."""
    if section.heading not in LISTS:
        text = section.text
        if section.heading == "Examples":
            return f".. rubric:: Example\n\n{text}"
        return (
            linked(text, find)
            if not section.heading
            else f".. rubric:: {section.heading}\n\n{linked(text, find)}"
        )
    lines = [f".. rubric:: {section.heading}", ""]
    for head, body in _entries(section.text):
        names, colon, kind = head.partition(" : ")
        if section.heading in ("Parameters", "Attributes") or colon:
            term = ", ".join(f"**{name.replace('*', chr(92) + '*')}**" for name in names.split(", "))
            term += f" : {_type(kind, find)}" if kind else ""
        else:
            term = _type(head, find)
        body = linked(body, find) or " "
        lines += [term, textwrap.indent(body, "    ") if body.strip() else "    \\ ", ""]
    return "\n".join(lines)
