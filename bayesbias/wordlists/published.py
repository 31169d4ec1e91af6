"""Published collections as word lists: vocabularies of Manzini et al. (2019), and WEATHub.

Sources: Manzini, Lim, Tsvetkov and Black (2019), "Black is to Criminal as Caucasian is to Police";
Mukherjee et al. (2023), "Global Voices, Local Biases" (WEATHub, 24 languages).
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import guarded, parse_json, read_text
from bayesbias.core.formatting import number_of, some

_SETS = ("targ1", "targ2", "attr1", "attr2")


def split_list(text: str) -> tuple[str, str]:
    """Split ``weathub.parquet:de/WEAT7`` into file and list.

    Examples
    --------
    >>> split_list("weathub.parquet:de/WEAT7"), split_list("mine.toml")
    (('weathub.parquet', 'de/WEAT7'), ('mine.toml', ''))
    """
    found = re.fullmatch(r"(.+\.(?:parquet|jsonl?|csv|tsv)):([^/\\]+/[^/\\]+)", text)
    return (found[1], found[2]) if found else (text, "")


def read_weathub(path: Path, which: str) -> dict[str, Any] | None:
    """Return one test of WEATHub; None for a file of another form."""
    import pandas as pd

    ending = path.suffix.lower()
    with guarded(path, "cannot be read as a table"):
        if ending == ".parquet":
            frame = pd.read_parquet(path)
        elif "targ1.examples" not in (text := read_text(path)):
            return None
        elif ending in (".csv", ".tsv"):
            frame = pd.read_csv(path, sep=None, engine="python", dtype=str, keep_default_na=False)
        else:
            whole = text.lstrip().startswith("[")
            parts = [text] if whole else [line for line in text.splitlines() if line.strip()]
            rows = [parse_json(part, path) for part in parts]
            frame = pd.DataFrame(rows[0] if whole else rows)
    needed = [
        "language",
        "weat",
        *(f"{s}.{key}" for s in _SETS for key in ("category", "examples")),
    ]
    checks.columns(
        frame, needed, path, "the columns of WEATHub: language, weat, targ1.examples ..."
    )
    names = (frame["language"] + "/" + frame["weat"]).str.casefold()
    if not which and len(frame) > 1:
        found = (
            f"{number_of(len(frame), 'list')}, {some(frame['language'] + '/' + frame['weat'], 3)}"
        )
        hint = f"name one, as in {path.name}:{frame['language'].iloc[0]}/{frame['weat'].iloc[0]}"
        raise InputError("expected one word list", where=path, found=found, hint=hint)
    chosen = checks.choice(which.casefold() or names.iloc[0], names, "list of WEATHub", path)
    row = frame[names == chosen].iloc[0]
    sets = {
        key: {"category": row[f"{key}.category"], "examples": _words(row[f"{key}.examples"])}
        for key in _SETS
    }
    about = {"language": row["language"], "name": f"{row['weat']} ({row['language']})"}
    return {**about, "source": "WEATHub, Mukherjee et al. (2023)", **sets}


def _words(cell: Any) -> list[str]:
    """Return the words of a cell: a list, or one that was written as text."""
    if not isinstance(cell, str):
        return [str(word).strip() for word in cell]
    quoted = re.findall(r"'([^']*)'|\"([^\"]*)\"", cell)
    words = ["".join(each) for each in quoted] or cell.strip("[]").split(",")
    return [word.strip() for word in words if word.strip()]


def list_of_manzini(data: Mapping[Any, Any], where: str) -> dict[str, Any]:
    """Return a vocabulary of Manzini et al. as a word list."""
    with guarded(where, "is not a vocabulary of Manzini et al."):
        sets = [list(map(str, group)) for group in data["definite_sets"]]
        columns = [list(dict.fromkeys(column)) for column in zip(*sets, strict=True)]
        groups = {
            k: list(v) for each in data["analogy_templates"].values() for k, v in each.items()
        }
        if len(groups) != len(columns):
            raise InputError("expected a list of attributes for each class", found=some(groups))
        own = {name: column for name in groups for column in columns if name in column}
        free = (column for column in columns if column not in own.values())
        classes = [
            {"name": name, "protected": own.get(name) or next(free), "attributes": attributes}
            for name, attributes in groups.items()
        ]
    more = {"definitional_sets": sets, "evaluation_sets": data.get("eval_targets", sets)}
    return {"schema": 1, "class": classes, "source": "Manzini et al. (2019)", **more}
