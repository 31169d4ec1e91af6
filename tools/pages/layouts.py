"""The reference of what ``--json`` prints: the JSON Schemas that come with the package, and what each key is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["SCHEMAS", "pages", "schemas"]

SCHEMAS = Path(__file__).resolve().parents[2] / "bayesbias" / "_data" / "schemas"

INTRO = """# What --json prints

Every command has `--json`: one object on standard output and nothing else. Its first key, `schema`, names the layout and its
version, such as `bayesbias.fit/1`. A version is raised where a key goes or comes to mean something else; a key that is added
raises none, so read what you know and leave the rest. A number that does not exist is `null`.

Each layout is a [JSON Schema](https://json-schema.org) in the package, and the tests hold what commands print to it:

```python
import json
from importlib.resources import files

path = files("bayesbias").joinpath("_data/schemas/fit-1.json")
schema = json.loads(path.read_text(encoding="utf-8"))
print(schema["title"], sorted(schema["required"])[:3])
```

"""


def schemas() -> dict[str, dict[str, Any]]:
    """Return all schemas by the name of their file."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(SCHEMAS.glob("*.json"))
    }


def _kind(schema: Mapping[str, Any]) -> str:
    if "const" in schema:
        return f"`{schema['const']}`"
    kinds = schema.get("type", "anything")
    return " or ".join([kinds] if isinstance(kinds, str) else kinds)


def _keys(schema: Mapping[str, Any]) -> str:
    """Name the columns of a table of rows."""
    rows = schema.get("items", {}).get("properties") or {}
    return f" Keys of a row: {', '.join(f'`{key}`' for key in rows)}." if rows else ""


def section(name: str, schema: Mapping[str, Any]) -> str:
    """Return a layout as a section."""
    always = set(schema.get("required", ()))
    lines = [f"## {schema['title']}", "", f"{schema['description']} [{name}.json](schemas/{name}.json)", ""]
    lines += ["| key | type | what it is |", "| --- | --- | --- |"]
    for key, held in schema["properties"].items():
        optional = "" if key in always else ", not always"
        lines.append(f"| `{key}` | {_kind(held)}{optional} | {held.get('description', '')}{_keys(held)} |")
    return "\n".join([*lines, "", ""])


def pages() -> Iterator[tuple[str, bytes]]:
    """Yield the page and the schemas."""
    found = schemas()
    yield "reference/json.md", (INTRO + "\n".join(section(*each) for each in found.items())).encode()
    for name in found:
        yield f"reference/schemas/{name}.json", (SCHEMAS / f"{name}.json").read_bytes()
