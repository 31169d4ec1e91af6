"""Results of promptfoo: JSON with a list ``results.results``, or CSV with a column for each prompt and model.

Variables of a test are columns by their own name, the prompt is the template, and the provider the model.
The outcome is the score; in CSV without one, ``[PASS]`` and ``[FAIL]`` are 1 and 0.
"""

import re

import pandas as pd

from bayesbias.studies.responses.readers.layout import Answers, Layout, Request, Source

_OUTPUT = re.compile(r"\[(?P<model>[^\]]+)\] (?P<prompt>.+)", re.DOTALL)
_STATUS = re.compile(r"\s*\[(PASS|FAIL|ERROR)\]")
_VALUES = {"PASS": 1, "FAIL": 0}
_BESIDE = ("Status", "Score", "Named Scores", "Grader Reason", "Comment")


def recognizes(source: Source) -> bool:
    """Say whether a file is an output of promptfoo in either format."""
    if source.has_keys("results"):
        return _is_result(source.document["results"])
    return source.document is None and bool(_outputs(source.rows))


def read(source: Source, request: Request) -> Answers:
    """Return a row for each test, prompt and model."""
    if source.document is None:
        return _from_csv(source.rows)
    rows = pd.json_normalize(source.document["results"]["results"])
    names = {name: name.removeprefix("vars.") for name in rows if name.startswith("vars.")}
    labels = rows.get("provider.label", pd.Series("", rows.index)).fillna("")
    frame = pd.DataFrame(
        {
            "model": labels.where(labels.ne(""), rows.get("provider.id", "")),
            "template": rows.get("prompt.label", rows.get("prompt.raw", "")),
            "outcome": rows["score"],
        }
    )
    named = [name for name in rows if name.startswith("namedScores.")]
    scores = {name: name.removeprefix("namedScores.") for name in named}
    variables = rows[[*names, *named]].rename(columns=names | scores)
    kept = variables.loc[:, ~variables.columns.isin(frame.columns)]
    frame = pd.concat([kept, frame], axis=1)
    return Answers(frame, scores=("score", *scores.values()), fields=tuple(frame.columns))


def _is_result(results: object) -> bool:
    """Whether an object has a list of results, each with a score and a provider."""
    rows = results.get("results") if isinstance(results, dict) else None
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
        return False
    return {"score", "provider"} <= set(rows[0])


def _outputs(rows: pd.DataFrame) -> list[str]:
    """Return the columns of outputs, which are named after a model and a prompt."""
    named = [name for name in map(str, rows.columns) if _OUTPUT.fullmatch(name)]
    return [name for name in named if rows[name].astype(str).str.match(_STATUS).any()]


def _from_csv(rows: pd.DataFrame) -> Answers:
    """Return a row for each test and column of outputs."""
    columns = [str(name) for name in rows.columns]
    outputs = _outputs(rows)
    variables = [name for name in columns if not _OUTPUT.fullmatch(name) and not _is_beside(name)]
    parts = []
    for name in outputs:
        match = _OUTPUT.fullmatch(name)
        assert match is not None
        outcome = rows[name].astype(str).str.extract(_STATUS)[0].map(_VALUES)
        beside = columns[columns.index(name) + 1 :][: len(_BESIDE)]
        score = next((column for column in beside if column.partition(".")[0] == "Score"), None)
        if score is not None:
            outcome = rows[score]
        labels = {"model": match["model"], "template": match["prompt"]}
        parts.append(rows[variables].assign(**labels, outcome=outcome))
    frame = pd.concat(parts, ignore_index=True)
    return Answers(frame, fields=tuple(frame.columns))


def _is_beside(name: str) -> bool:
    """Whether a column describes an output, such as ``Score`` and ``Score.1``."""
    return name.partition(".")[0] in _BESIDE


LAYOUT = Layout("promptfoo", recognizes, read, is_open=True)
