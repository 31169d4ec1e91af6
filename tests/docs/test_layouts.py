"""The published layouts of `--json`. That what commands print keeps to them, every test of the command line holds."""

from __future__ import annotations

import re

import pytest
from helpers.layouts import problems_of
from helpers.places import ROOT

from tools.pages.layouts import INTRO, schemas, section


def test_every_layout_that_a_command_prints_is_published_and_no_other():
    printed = set()
    for room in (ROOT / "bayesbias" / "cli").glob("*.py"):
        for name, rest in re.findall(r'screen\.answer\("([^"]+)"(.*)', room.read_text(encoding="utf-8")):
            version = re.search(r"version=(\d+)", rest)
            printed.add(f"{name}-{version[1] if version else 1}")
    assert printed == set(schemas())


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_one_and_says_what_its_keys_are(name):
    validators = pytest.importorskip("jsonschema.validators")
    schema = schemas()[name]
    validators.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == validators.Draft202012Validator.META_SCHEMA["$id"]
    short, _, version = name.rpartition("-")
    assert schema["properties"]["schema"] == {"const": f"bayesbias.{short}/{version}"}
    assert next(iter(schema["properties"])) == "schema"
    assert "schema" in schema["required"]
    assert schema.get("additionalProperties", True) is True  # a key may be added without a new version
    text = section(name, schema)
    assert all(f"| `{key}` |" in text for key in schema["properties"])


def test_what_does_not_keep_to_a_layout_is_seen():
    pytest.importorskip("jsonschema")
    good = {"schema": "bayesbias.report/1", "run": "a", "written": "b.html"}
    assert problems_of(good) == []
    assert problems_of({**good, "more": 1}) == []
    assert len(problems_of({**good, "run": 5})) == 1
    assert len(problems_of({key: good[key] for key in ("schema", "run")})) == 1


def test_the_lines_on_the_page_run(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", INTRO, re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out.startswith("bayesbias.fit/1 [")
