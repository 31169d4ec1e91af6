"""Values in JSON and cells in CSV put in the place of others, one at a time: a file that is well written and cannot be meant."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

ODD: list[Any] = [
    None, 5, -1.5, 1e308, True, "", "zzz", "../fit_0.nc", "a\nb", [], ["x"], [None], {}, {"x": "y"}, {"notes": 3},
]  # fmt: skip
ODD_CELLS = [
    "",
    "5",
    "-1",
    "99",
    "nan",
    "inf",
    "1e308",
    "True",
    "zzz",
    "0",
    "-0.5",
    "weat7",
    "\x00",
    "10" * 12,
]


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where every table, list and value of a JSON text stands."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, item in inside for place in places(item, (*at, key)))]


def odd_json(
    content: Any, n: int, rng: np.random.Generator, within: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Yield place, odd value, and the content with that value there; at most `n`, below a place."""
    where = [place for place in places(content) if place[: len(within)] == within]
    for i in rng.permutation(len(where) * len(ODD))[:n].tolist():
        place, value = where[i // len(ODD)], ODD[i % len(ODD)]
        if not place:
            yield place, value, value
            continue
        changed = json.loads(json.dumps(content))
        inner = changed
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        yield place, value, changed


def odd_cells(text: str, n: int, rng: np.random.Generator) -> Iterator[tuple[tuple[int, str], str, str]]:
    """Yield line and column, odd cell, and the CSV text with that cell there; or a row twice, or a column gone."""
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    for _ in range(n):
        changed, at = [list(row) for row in rows], int(rng.integers(len(rows)))
        column, cell, names = int(rng.integers(len(head))), ODD_CELLS[rng.integers(len(ODD_CELLS))], head
        how = rng.integers(20)
        if how == 0:
            changed.append(changed[at])
        elif how == 1:
            names = [name for i, name in enumerate(head) if i != column]
            changed = [[value for i, value in enumerate(row) if i != column] for row in changed]
        else:
            changed[at][column] = cell
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\n").writerows([names, *changed])
        yield (at + 2, head[column]), cell, out.getvalue()
