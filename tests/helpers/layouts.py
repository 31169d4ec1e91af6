"""What `--json` printed, held to the layout that is published for it."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from helpers.places import ROOT

SCHEMAS = ROOT / "bayesbias" / "_data" / "schemas"


@functools.cache
def _validator(name: str) -> Any:
    from jsonschema.validators import Draft202012Validator

    return Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8")))


def problems_of(printed: Mapping[str, Any]) -> list[str]:
    """Return what does not keep to the published layout."""
    name = printed["schema"].removeprefix("bayesbias.").replace("/", "-")
    as_read = json.loads(json.dumps(printed))
    return [f"{error.json_path}: {error.message[:200]}" for error in _validator(name).iter_errors(as_read)]


def unknown_keys(printed: Mapping[str, Any]) -> set[str]:
    """Return the keys that the published layout does not name, so that nobody learns of them."""
    name = printed["schema"].removeprefix("bayesbias.").replace("/", "-")
    return set(printed) - set(_validator(name).schema["properties"])
