"""The glossary: each term once, and linked from the pages that use it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from helpers.documents import DOCS

FOLDERS = ("howto", "methods", "coming-from")
PAGES = [path for name in FOLDERS for path in sorted((DOCS / name).glob("*.md")) if path.name != "index.md"]
PAGES += [DOCS / "faq.md", DOCS / "performance.md"]


def terms() -> list[str]:
    """Return the terms: lines of the directive that are not indented."""
    (block,) = re.findall(
        r"```\{glossary\}\n(.*?)\n```", (DOCS / "glossary.md").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    return [line for line in block.splitlines() if line.strip() and not line.startswith((" ", ":"))]


def linked(text: str) -> set[str]:
    """Return the terms that a text links to."""
    return {target or said for said, target in re.findall(r"\{term\}`([^`<]+?)(?: <([^`>]+)>)?`", text)}


def test_each_term_stands_once_and_says_something() -> None:
    assert [term for term, count in Counter(map(str.lower, terms())).items() if count > 1] == []
    assert {"estimand", "connection", "contrast", "coverage", "ROPE", "k-hat", "HPDI"} <= set(terms())
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert linked(text) <= set(terms())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_page_links_the_terms_it_uses(path: Path) -> None:
    found = linked(path.read_text(encoding="utf-8"))
    assert found, "no term is linked"
    assert found <= set(terms())
