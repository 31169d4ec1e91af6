"""Answers of a chat model that gives each word a name: one ``word - name`` a line, a cell an answer.

The layout of Bai et al. (2025): files ``MODEL_STEREOTYPE_VARIATION.csv``, and beside them or one folder
up ``iat_stimuli.csv``, ``iat_stimuli_synonym.csv`` or ``iat_stimuli_analysis.csv``: per stereotype
(``dataset``) names A of the default group and B of the stigmatized one, words C, synonyms D. The
outcome is whether a name of B was chosen. The second half of the words (negative, or arts) is
stereotyped of B, and the first half (positive, or science) is its opposite.
"""

import functools
import re
from collections import defaultdict
from pathlib import Path

import pandas as pd

from bayesbias.core import InputError, checks, some
from bayesbias.studies.responses.readers.layout import Answers, Layout, Request, Source

type Stimuli = dict[str, dict[str, list[str]]]

STEREOTYPED, OPPOSITE = "stereotyped", "opposite"
_APART = re.compile(r"(.*)\s+[-–—:]\s+(.*)")  # a word and its name
_JOINED = re.compile(r"(.*)[-–—:](.*)")
_AROUND = " \t*.,;'\"[]()-0123456789"


def recognizes(source: Source) -> bool:
    """Say whether a table has the columns of the layout."""
    return {"0", "llm", "category", "variation"} <= source.columns


def read(source: Source, request: Request) -> Answers:
    """Return a row a word of an answer; of an answer without a single choice one row that says why."""
    path = source.path
    stimuli = _stimuli(path.parent)
    out = []
    for number, row in enumerate(source.rows.to_dict("records")):
        kind = str(row["category"])
        near = [name for name in stimuli if name == kind or name.replace(" ", "").startswith(kind)]
        if not near:
            raise checks.unknown(kind, stimuli, f"{path}, category")
        own = stimuli[near[0]]
        words = own["synonym"] if row["variation"] == "synonym" and own["synonym"] else own["words"]
        group = {word: STEREOTYPED if word in own["second"] else OPPOSITE for word in words}
        chosen = {name: 0 for name in own["A"]} | {name: 1 for name in own["B"]}
        common = {
            "item": kind, "template": row["variation"], "model": row["llm"], "repeat": f"{row['variation']} {number}",
        }  # fmt: skip
        found: dict[str, object] = {}
        for line in str(row["0"]).lower().splitlines():
            line = line.strip(_AROUND)
            parts = _APART.fullmatch(line) or _JOINED.fullmatch(line)
            word, name = (part.strip(_AROUND) for part in parts.groups()) if parts else ("", "")
            if word in group and word not in found:
                found[word] = chosen.get(name, name)
        if not found:
            out.append({**common, "group": STEREOTYPED, "word": "", "outcome": row["0"]})
        for word in words if found else ():
            out.append({**common, "group": group[word], "word": word, "outcome": found.get(word)})
    frame = pd.DataFrame(out).sort_values("group", kind="stable", ascending=False)
    first, second = some(own["A"], 3), some(own["B"], 3)
    note = f"an answer is 1 if the word was given to {second}, and 0 if to {first}."
    return Answers(frame, outcome=second, notes_of_items={frame["item"].iloc[0]: note})


@functools.cache
def _stimuli(folder: Path) -> Stimuli:
    """Return names, words and synonyms of each stereotype, and those of its second half."""
    names = [f"iat_stimuli{kind}.csv" for kind in ("_analysis", "", "_synonym")]
    near = (
        [at / name for name in names if (at / name).is_file()] for at in (folder, folder.parent)
    )
    files = next(filter(None, near), None)
    if files is None:
        raise InputError(
            "expected the words of the stereotypes, got answers alone",
            where=str(folder),
            hint="put iat_stimuli.csv and iat_stimuli_synonym.csv beside the answers or one folder up",
        )
    out: Stimuli = defaultdict(lambda: defaultdict(list))
    for file in files:
        for kind, part in pd.read_csv(file, dtype=str).groupby("dataset", sort=False):
            lists = part.filter(list("ABCD")).apply(lambda own: own.str.strip().str.lower())
            sides = {side: own.dropna().tolist() for side, own in lists.items()}
            own = out[str(kind)]
            words, synonyms = sides["C"], sides.get("D", [])
            # Later files put more words into fewer halves: what an earlier one says of a word holds.
            second = words[len(words) // 2 :]
            own["second"] += [word for word in second if word not in own["known"]]
            own["known"] += words
            own["second"] += [
                new
                for new, old in zip(synonyms, words, strict=False)
                if new not in own["known"] and old in own["second"]
            ]
            own["A"] += sides["A"]
            own["B"] += sides["B"]
            if not own["words"] or file.name == "iat_stimuli.csv":
                own["words"] = words
            own["synonym"] = synonyms or own["synonym"]
    return out


LAYOUT = Layout("choices", recognizes, read, published="answers")
