"""What the pages on methods name is there: folders and papers."""

import re

import pytest
from helpers.documents import DOCS
from helpers.places import ROOT

every_page = pytest.mark.parametrize(
    "page", sorted((DOCS / "methods").glob("*.md")), ids=lambda path: path.stem
)


@every_page
def test_folders_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\*(?:Code|Test)\* ([^\n]*)", text):
        for place in re.findall(r"`((?:bayesbias\.|tests/|validation/)[\w./]+)`", name):
            path = ROOT / (place if "/" in place else place.replace(".", "/"))
            assert path.exists() or path.with_suffix(".py").exists(), place


@every_page
def test_papers_that_are_named_are_in_the_literature(page):
    """ "McLean, Sanders & Stroup (1991)": the family name next to the year, and the year, in one entry."""
    entries = (DOCS / "literature.md").read_text(encoding="utf-8").split("\n- ")[1:]
    cited = re.findall(
        r"([^\W\d_][\w'-]+)(?: et al\.)? \(?((?:18|19|20)\d\d)\b", page.read_text(encoding="utf-8")
    )
    for name, year in cited:
        assert any(name in e.split(f"({year})")[0] and f"({year})" in e for e in entries), (
            name,
            year,
        )
