"""Each block of code in the README and on the pages of the site runs."""

import re

import pytest
from helpers.documents import DOCS, ROOT, blocks_of, pages, run_page
from helpers.pages import without_figures

every_page = pytest.mark.parametrize(
    "path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix()
)


@pytest.mark.parametrize(
    "path",
    # The README, and pages of figures alone, are long.
    [path for path in pages() if path.parent.name != "gallery" and path.parent != ROOT],
    ids=lambda path: path.relative_to(DOCS).as_posix(),
)
@pytest.mark.slow
def test_short_blocks_run(path, tmp_path, monkeypatch):
    without_figures(monkeypatch)
    run_page(path, tmp_path, monkeypatch, as_printed=False)


@pytest.mark.claim
@every_page
def test_blocks_run_as_printed(path, tmp_path, monkeypatch):
    run_page(path, tmp_path, monkeypatch, as_printed=True)


@every_page
def test_names_of_the_package_are_there(path):
    """Also in blocks that are long."""
    import bayesbias

    for block in blocks_of(path):
        for name in re.findall(r"\bbb\.([\w.]+)", block.code) if block.language == "python" else []:
            found = bayesbias
            for part in name.split("."):
                if isinstance(found, type):
                    break
                found = getattr(found, part)


def test_the_lines_on_the_first_page_are_those_of_the_readme():
    first, readme = (
        next(block.code for block in blocks_of(path) if block.language == "python")
        for path in (DOCS / "index.md", ROOT / "README.md")
    )
    assert first == readme
