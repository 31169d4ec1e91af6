"""What the pages on methods name is there: modules, tests, papers."""

import re

import pytest
from helpers.documents import DOCS
from helpers.places import ROOT, rooms

every_page = pytest.mark.parametrize(
    "page", sorted((DOCS / "methods").glob("*.md")), ids=lambda path: path.stem
)


@every_page
def test_modules_and_tests_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`bayesbias\.([a-z_]+\.[a-z_]+)`", text))
    assert not named - set(rooms())
    for file in re.findall(r"`((?:tests|validation|benchmarks)/[\w/]+\.py)`", text):
        assert (ROOT / file).is_file(), file


@every_page
def test_papers_that_are_named_are_in_the_literature(page):
    """ "McLean, Sanders & Stroup (1991)": the family name next to the year, and the year, in one entry."""
    entries = (DOCS / "literature.md").read_text(encoding="utf-8").split("\n- ")[1:]
    cited = re.findall(
        r"([^\W\d_][\w'-]+)(?: et al\.)? \(?((?:18|19|20)\d\d)\b", page.read_text(encoding="utf-8")
    )
    for name, year in cited:
        assert any(name in e.split(f"({year})")[0] and f"({year})" in e for e in entries), (name, year)
