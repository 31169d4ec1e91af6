"""What the pages on methods and on time name is there: rooms, tests, and numbers that were measured."""

from __future__ import annotations

import re
from functools import cache

import pytest
from helpers.documents import DOCS, blocks_of
from helpers.places import ROOT, rooms

METHODS = sorted((DOCS / "methods").glob("*.md"))
every_page = pytest.mark.parametrize("page", METHODS, ids=lambda path: path.stem)


@cache
def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@every_page
def test_rooms_and_tests_that_are_named_exist(page) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`bayesbias\.([a-z_]+\.[a-z_]+)`", text))
    assert named <= set(rooms()), named - set(rooms())
    # A test function stands in brackets after its file; a file may go on in the next line.
    for file, functions in re.findall(r"`((?:tests|proof|benchmarks)/[\w/]+\.py)`(?:\s*\(([^)]*)\))?", text):
        assert (ROOT / file).is_file(), file
        for function in re.findall(r"`(test_\w+)`", functions):
            assert f"def {function}(" in text_of(file), f"{file}: {function}"


@every_page
def test_every_source_has_a_code_and_a_test(page) -> None:
    """A paragraph that begins with a source goes on with code and test."""
    text = page.read_text(encoding="utf-8")
    sources = re.findall(r"^ *\*Source\* .*?(?=\n\s*\n|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    assert sources
    for source in sources:
        assert re.search(r"\*Code\*\s+`bayesbias\.", source), source
        assert re.search(r"\*Test\*\s+`tests/", source), source


@every_page
def test_every_paper_that_is_named_is_in_the_literature(page) -> None:
    """ "McLean, Sanders & Stroup (1991)": the family name next to the year, and the year, in one entry."""
    entries = text_of("docs/literature.md").split("\n- ")[1:]
    text = page.read_text(encoding="utf-8")
    cited = set(re.findall(r"([^\W\d_][\w'-]+)(?: et al\.)? \(?((?:18|19|20)\d\d)\b", text))
    assert page.stem in {"exact-reduction", "index"} or cited
    for name, year in cited:
        assert any(name in entry.split(f"({year})")[0] and f"({year})" in entry for entry in entries), (
            name,
            year,
        )


def numbers_of(text: str) -> set[str]:
    """Return decimals, and whole numbers of three digits and more with commas, as written."""
    return set(
        re.findall(r"(?<![\w.,-])\d*\.\d+(?![\w])(?!\.\d)|(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w])", text)
    )


@pytest.mark.parametrize(
    "name",
    [
        "performance.md",
        "howto/frequency.md",
        "howto/hundred-embeddings.md",
        "methods/checking.md",
        "methods/coverage.md",
        "methods/models.md",
        "methods/quick-engine.md",
        "methods/single-category.md",
    ],
)
def test_numbers_are_those_of_the_record(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    for block in blocks_of(DOCS / name):
        page = page.replace(block.code, "")
    page = re.sub(r"\$\$.*?\$\$|\$[^$\n]*\$", "", page, flags=re.DOTALL)  # formulas
    page = page.replace("Python 3.12.1", "")
    record = numbers_of(text_of("benchmarks/RESULTS.md"))
    missing = {n for n in numbers_of(page) if n not in record and n.removeprefix("0") not in record}
    assert not missing, f"{name} has numbers that benchmarks/RESULTS.md has not: {sorted(missing)}"
