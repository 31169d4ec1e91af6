"""Answers of a chat model that gives each word a name: one ``word - name`` a line, a cell an answer.

The layout of Bai et al. (2025): files ``MODEL_STEREOTYPE_VARIATION.csv``, and beside them or one folder
up ``iat_stimuli.csv``, ``iat_stimuli_synonym.csv`` or ``iat_stimuli_analysis.csv``: per stereotype
(``dataset``) names A of the default group and B of the stigmatized one, words C (the first half
positive or of A, the second negative or of B), synonyms D. The outcome is whether the stigmatized
group was chosen.
"""

import functools
import re
from pathlib import Path

import pandas as pd

from bayesbias.core.errors import InputError
from bayesbias.core.formatting import some

type Stimuli = dict[str, dict[str, list[str]]]

_APART = re.compile(r"\s+[-–—:]\s+|[-–—:]")  # a word from its name
_PARTS = ("A", "B", "words", "synonym", "negative", "known")
_AROUND = " \t*.,;'\"[]()-0123456789"


def recognizes(rows: pd.DataFrame) -> bool:
    """Say whether a table has the columns of the layout."""
    return {"0", "llm", "category", "variation"} <= set(map(str, rows.columns))


def read(rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a row a word of an answer; of an answer without a single choice one row that says why."""
    stimuli = _stimuli(path)
    out = []
    for number, row in enumerate(rows.to_dict("records")):
        kind = str(row["category"])
        near = [name for name in stimuli if name == kind or name.replace(" ", "").startswith(kind)]
        if not near:
            problem = f"expected stimuli of {kind}, got those of {', '.join(stimuli)}"
            raise InputError(problem, where=str(path))
        own = stimuli[near[0]]
        words = own["synonym"] if row["variation"] == "synonym" and own["synonym"] else own["words"]
        group = {word: "negative" if word in own["negative"] else "positive" for word in words}
        chosen = {name: 0 for name in own["A"]} | {name: 1 for name in own["B"]}
        common = {
            "item": kind, "template": row["variation"], "model": row["llm"], "repeat": f"{row['variation']} {number}",
        }  # fmt: skip
        found: dict[str, object] = {}
        for line in str(row["0"]).lower().splitlines():
            line = line.strip(_AROUND)
            marks = list(_APART.finditer(line))
            spaced = [mark for mark in marks if len(mark[0]) > 1] or marks
            if not spaced:
                continue
            word, name = (
                part.strip(_AROUND)
                for part in (line[: spaced[-1].start()], line[spaced[-1].end() :])
            )
            if word in group and word not in found:
                found[word] = chosen.get(name, name)
        if not found:
            out.append({**common, "group": "negative", "word": "", "outcome": row["0"]})
        for word in words if found else ():
            out.append({**common, "group": group[word], "word": word, "outcome": found.get(word)})
    frame = pd.DataFrame(out).sort_values(
        "group", kind="stable", ignore_index=True
    )  # negative first
    negative, positive = (
        some((word for word in words if group[word] == side), 3)
        for side in ("negative", "positive")
    )
    frame.attrs["outcome"] = some(own["B"], 3)
    frame.attrs["note"] = (
        f"{kind}: an answer is 1 if the word was given to {some(own['B'], 3)}, and 0 if to "
        f"{some(own['A'], 3)}. Negative words: {negative}. Positive words: {positive}."
    )
    return frame


def _stimuli(path: Path) -> Stimuli:
    """Return names, words and synonyms of each stereotype, and which of them are negative, in lower case."""
    for folder in (path.parent, path.parent.parent):
        files = [folder / f"iat_stimuli{kind}.csv" for kind in ("_analysis", "", "_synonym")]
        if found := tuple(file for file in files if file.is_file()):
            return _words_of(found)
    raise InputError(
        "the words of the stereotypes are missing",
        where=str(path.parent),
        valid="iat_stimuli.csv and iat_stimuli_synonym.csv beside the answers or one folder up",
    )


@functools.cache
def _words_of(files: tuple[Path, ...]) -> Stimuli:
    out: Stimuli = {}
    for file in files:
        for kind, part in pd.read_csv(file, dtype=str).groupby("dataset", sort=False):
            sides = {
                s: part[s].dropna().str.strip().str.lower().tolist() for s in "ABCD" if s in part
            }
            none: dict[str, list[str]] = {name: [] for name in _PARTS}
            own = out.setdefault(str(kind), none)
            words, synonyms = sides["C"], sides.get("D", [])
            # Later files put more words into fewer halves: what an earlier one says of a word holds.
            half = [*own["words"], *own["known"]]
            negative = [word for word in words[len(words) // 2 :] if word not in half]
            own["negative"] += negative
            own["known"] = [*half, *words]
            own["negative"] += [
                new
                for new, old in zip(synonyms, words, strict=False)
                if new not in own["known"] and old in own["negative"]
            ]
            own["A"] += sides["A"]
            own["B"] += sides["B"]
            if not own["words"] or file.name == "iat_stimuli.csv":
                own["words"] = words
            own["synonym"] = synonyms or own["synonym"]
    return out
