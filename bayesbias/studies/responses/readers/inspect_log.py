"""Logs of Inspect: ``.eval``, a zip of ``header.json`` and a JSON file a sample and epoch, and ``.json``.

The outcome is the first score: C and I are 1 and 0. If a question is for yes or no, a text with neither, such
as a refusal, is no answer. A score that is a dictionary has a column for each
of its keys. Metadata of a sample are columns by their own name.
"""

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError
from bayesbias.core.files import MOST_TEXT, check_sizes, most_unpacked, parse_json, read_member
from bayesbias.studies.responses.readers import bbq
from bayesbias.studies.responses.readers.layout import (
    Answers,
    Layout,
    Request,
    Source,
    with_defaults,
    with_texts_unanswered,
)

_VALUES = {"C": 1, "I": 0, "P": 0.5, "N": 0}  # as the accuracy of Inspect counts them
_LETTERS = "1: C, correct; 0: I, incorrect, or N, no answer"
_MATCHES = ("match", "includes", "exact", "pattern", "answer")
"""Scorers that look for the target in the text."""
_HEADER = "header.json"


def recognizes(source: Source) -> bool:
    """Say whether a file is a log in either format."""
    return source.path.suffix.lower() == ".eval" or source.has_keys("eval", "samples")


def read(source: Source, request: Request) -> Answers:
    """Return a row a sample and epoch."""
    log = _unzipped(source.path) if source.document is None else source.document
    about = log.get("eval") or {}
    samples = list(log.get("samples") or ())
    if not samples:
        raise InputError(
            "expected a log of Inspect with samples, got none",
            where=str(source.path),
            hint="run the task with its samples logged, without --no-log-samples",
        )
    if set(samples[0].get("metadata") or {}) >= bbq.NEEDED:
        return _bbq(samples, str(about.get("model", "")), source.path)
    rows: list[dict[str, Any]] = []
    names: dict[str, None] = {}
    for sample in samples:
        scores = scores_of(sample)
        names |= dict.fromkeys(scores)
        rows.append(
            {
                **{str(key): value for key, value in (sample.get("metadata") or {}).items()},
                "model": about.get("model", ""),
                "repeat": str(sample.get("epoch", 1)),
                **scores,
            }
        )
    numbers = [str(sample.get("id")) for sample in samples]
    frame = with_defaults(pd.DataFrame(rows), {"item": numbers, "template": about.get("task", "")})
    texts = pd.Series([_completion(sample) for sample in samples], dtype=object)
    targets = pd.Series([_target(sample) for sample in samples], dtype=object)
    for name in names:
        if name in _MATCHES:
            frame[name] = with_texts_unanswered(frame[name], texts, targets)
    frame["outcome"] = frame[next(iter(names))] if names else None
    one = _LETTERS if _has_letters(samples[0]) else ""
    fields = tuple(frame.columns)
    return Answers(frame, scores=tuple(names), one=one, texts=texts, fields=fields)


def _completion(sample: Mapping[str, Any]) -> str | None:
    """Return what the model wrote; None where the log does not have it.

    Examples
    --------
    >>> _completion({"output": {"choices": [{}], "completion": "Yes."}})
    'Yes.'
    """
    text = (sample.get("output") or {}).get("completion")
    return text if isinstance(text, str) else None


def _target(sample: Mapping[str, Any]) -> str:
    """Return the target of a sample; of a list with one target this one."""
    target = sample.get("target")
    if isinstance(target, list) and len(target) == 1:
        return str(target[0])
    return str(target)


def _has_letters(sample: Mapping[str, Any]) -> bool:
    """Whether the first score of a sample is a letter of Inspect."""
    scores = [*(sample.get("scores") or {}).values()]
    value = scores[0].get("value") if scores else None
    return isinstance(value, str) and value in _VALUES


def _bbq(samples: list[dict[str, Any]], model: str, path: Path) -> Answers:
    """Return the answers to BBQ, which the scorer *choice* writes as letters."""
    questions, letters = [], []
    for sample in samples:
        texts = {f"ans{place}": text for place, text in enumerate(sample.get("choices") or ())}
        label = _place(str(sample.get("target")))
        questions.append({**sample["metadata"], **texts, "label": label})
        scores = [*(sample.get("scores") or {}).values()]
        letters.append(str(scores[0].get("answer")) if scores else "")
    rows = pd.json_normalize(questions)
    places = np.array([_place(letter) for letter in letters])
    judged = bbq.Questions(rows, str(path)).judged(places, model)
    return bbq.answers_of(judged)


def _place(letter: str) -> int:
    """Return the place of the letter of a choice; -1 where it is none."""
    return "ABC".find(letter.strip()) if letter.strip() else -1


def scores_of(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scores of a sample, by scorer or, of a score that is a dictionary, by key.

    Examples
    --------
    >>> scores_of({"scores": {"match": {"value": "C"}, "judge": {"value": {"tone": 3, "bias": 1}}}})
    {'match': 1, 'tone': 3, 'bias': 1}
    """
    scores: dict[str, Any] = {}
    for scorer, score in (sample.get("scores") or {}).items():
        value = score.get("value")
        if isinstance(value, Mapping):
            for key, part in value.items():
                name = f"{scorer}.{key}" if key in scores else str(key)
                scores[name] = _number(part)
        elif isinstance(value, list):
            parts = {f"{scorer}.{place}": _number(part) for place, part in enumerate(value)}
            scores |= parts
        else:
            scores[str(scorer)] = _number(value)
    return scores


def _number(value: Any) -> Any:
    """Return the number of a letter of Inspect; other values as they are."""
    return _VALUES.get(value, value) if isinstance(value, str) else value


def _unzipped(path: Path) -> dict[str, Any]:
    """Return header and samples of a log that is a zip."""
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if _is_sample(info.filename)]
        headers = [info for info in archive.infolist() if info.filename == _HEADER]
        for info in headers + members:  # what the zip states, before anything is unpacked
            check_sizes([info], MOST_TEXT, f"{path}, {info.filename}")
        check_sizes(headers + members, most_unpacked(path.stat().st_size), path)
        header = next(_parsed(archive, headers, path), {})
        return {**header, "samples": list(_parsed(archive, members, path))}


def _is_sample(name: str) -> bool:
    return name.startswith("samples/") and name.endswith(".json")


def _parsed(
    archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], path: Path
) -> Iterator[dict[str, Any]]:
    """Yield what members of a zip hold."""
    for info in members:
        where = f"{path}, {info.filename}"
        yield parse_json(read_member(archive, info, where), where)


LAYOUT = Layout("inspect_log", recognizes, read, is_open=True)
