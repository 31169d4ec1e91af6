"""Samples of lm-evaluation-harness: ``samples_TASK_DATE.jsonl``, as ``--log_samples`` writes them, a line a question.

The model is the name of the folder that the harness writes for it. Fields of the question are columns
by their own name (``--columns group=gender``), and so is each metric. A task with several filters has
a line for each filter of an answer, of which one is taken. Tasks about bias have columns of their own
in `TASKS`, told by the fields of their questions. The harness writes likelihoods as text: ``["-1.5", "False"]``.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError
from bayesbias.studies.responses.readers import bbq, crows_pairs, logprob
from bayesbias.studies.responses.readers.layout import (
    Answers,
    Layout,
    Request,
    Source,
    with_defaults,
    with_texts_unanswered,
)

METRICS = (
    "outcome",
    "acc",
    "exact_match",
    "pct_stereotype",
    "acc_norm",
    "pct_male_preferred",
    "likelihood_diff",
)
_ONE = {
    "acc": "1: the right answer",
    "acc_norm": "1: the right answer",
    "exact_match": "1: the target answer",
    "pct_stereotype": "1: the stereotype",
    "pct_male_preferred": "1: the male word",
}
"""What 1 stands for in metrics of 0 and 1."""
_MATCHES = ("acc", "exact_match")  # metrics that look for the target in the text
FILTER = "filter"  # the column, and what chooses one
_NO_FILTER = "none"  # what the harness calls answers as they are
_BBQ_METRICS = ("amb_bias_score", "disamb_bias_score")  # accuracy, biased, not unknown, context
_LISTED = "metrics"  # the column that names the metrics of a line
_ARGUMENTS = "arguments"  # what a model was given, a prompt and a text for each choice
_OF_HARNESS = (
    "doc_id", "doc_hash", "prompt_hash", "target_hash", _ARGUMENTS, "resps", "filtered_resps",
    _LISTED,
)  # fmt: skip
"""Fields of a line that say nothing of whom or what was asked about."""


def recognizes(source: Source) -> bool:
    """Say whether lines hold a question and its answers."""
    return {"doc_id", "filtered_resps"} <= source.columns


def read(source: Source, request: Request) -> Answers:
    """Return a row a question; of CrowS-Pairs a row a sentence, and of co-occurrences a row a gender."""
    rows, taken, others = _with_one_filter(source, request)
    rows = rows.rename(columns=lambda name: str(name).removeprefix("doc."))
    rows = rows.loc[:, ~rows.columns.duplicated()]
    model = source.path.parent.name
    fields = set(rows.columns)
    if {"sent_more", "sent_less"} <= fields:
        pairs = _pairs_of_sentences(rows.assign(model=model))
        return replace(pairs, filter=taken, other_filters=others)
    if fields >= bbq.NEEDED and fields & {*_BBQ_METRICS}:
        return replace(_bbq(rows, model, source.path), filter=taken, other_filters=others)
    if {"occupation", "likelihood_diff", "pct_male_preferred"} <= fields:
        pairs = _cooccurrence(rows.assign(model=model, template=_task(source.path)))
        return replace(pairs, filter=taken, other_filters=others)

    usual = {"template": _task(source.path), "model": model}
    metrics = _metrics(rows)
    rows = rows.assign(**{name: rows[name].map(_first) for name in metrics})
    unknown = _have_no_likelihood(rows)
    rows = rows.assign(**{name: rows[name].mask(unknown) for name in metrics})
    texts = rows["resps"].map(_text) if "resps" in rows else None
    if texts is not None and "target" in rows:
        for name in metrics:
            if name in _MATCHES:
                scores = with_texts_unanswered(rows[name], texts, rows["target"])
                rows = rows.assign(**{name: scores})
    if metrics:
        usual["outcome"] = rows[metrics[0]]
    usual |= _columns_of_task(rows)
    out = rows.assign(**{name: value for name, value in usual.items() if name not in rows})
    out = with_defaults(out, {"item": rows["doc_id"].astype(str)})
    named = {*request.columns.values()}
    no_labels = {*_OF_HARNESS, *metrics} - {"outcome"}
    no_labels |= {name for name in out if name.startswith(f"{_ARGUMENTS}.")}
    out = out.drop(columns=[name for name in out if name in no_labels - named])
    return Answers(
        out,
        scores=tuple(metrics),
        one=_meaning_of_one(metrics[0], rows) if metrics else "",
        filter=taken,
        texts=texts,
        other_filters=others,
        by_filter=_differ_by_filter(source.rows, taken, request.columns.get("outcome")),
    )


def _differ_by_filter(rows: pd.DataFrame, taken: str, outcome: str | None) -> tuple[int, int]:
    """Return how many answers another filter scores differently, and how many are compared."""
    names = [outcome] if outcome in rows else _metrics(rows)
    if not taken or not names:
        return 0, 0
    score = rows[names[0]].map(_first).astype(str)
    question = rows["doc_id"].astype(str)
    several = score.groupby(question).nunique() > 1
    return int(several.sum()), len(several)


def _task(path: Path) -> str:
    """Return the task that a file is named after."""
    return re.sub(r"_\d{4}-\d\d-\d\dT.*$", "", path.stem.removeprefix("samples_"))


def _with_one_filter(source: Source, request: Request) -> tuple[pd.DataFrame, str, tuple[str, ...]]:
    """Return the lines of one filter, its name, and those of the others.

    It is the one that the user names, or one that other files are read with; else ``none``, or the
    first in the file. Where the user names the column, it tells rows apart, and all are kept.
    """
    rows = source.rows
    filters = list(rows[FILTER].dropna().astype(str).unique()) if FILTER in rows else []
    if request.filter is not None and request.filter not in filters:
        problem = f"expected samples with the filter {request.filter!r}, got none"
        raise InputError(problem, where=str(source.path), valid=filters)
    if not filters or FILTER in request.columns.values():
        return rows, "", ()
    preferred = [*request.filters, _NO_FILTER, *filters]
    if request.filter is not None:
        preferred = [request.filter]
    taken = next(name for name in preferred if name in filters)
    kept = rows[rows[FILTER].astype(str) == taken].reset_index(drop=True)
    return kept, taken, tuple(name for name in filters if name != taken)


def _metrics(rows: pd.DataFrame) -> list[str]:
    """Return the metrics of lines that hold numbers, the preferred one first."""
    listed: dict[str, None] = {}
    if _LISTED in rows:
        for names in rows[_LISTED]:
            listed |= dict.fromkeys(names if isinstance(names, list) else [])
    names = [*METRICS, *(name for name in listed if name not in METRICS)]
    return [name for name in names if name in rows and rows[name].map(_first).notna().any()]


def _first(value: Any) -> Any:
    """Return the number of a metric; of a list with one number its number, of others none."""
    if not isinstance(value, list):
        return value
    return value[0] if len(value) == 1 else None


def _meaning_of_one(metric: str, rows: pd.DataFrame) -> str:
    """Say what a score of 1 is: the target where all questions have one that is yes or no.

    Examples
    --------
    >>> _meaning_of_one("acc", pd.DataFrame({"target": ["yes", "yes"]}))
    '1: yes'
    >>> _meaning_of_one("acc", pd.DataFrame({"target": ["yes", "no"]}))
    '1: the right answer'
    """
    targets = _target_texts(rows).str.strip().str.casefold().unique()
    if metric in _MATCHES and len(targets) == 1 and targets[0] in ("yes", "no"):
        return f"1: {targets[0]}"
    return _ONE.get(metric, "")


def _target_texts(rows: pd.DataFrame) -> "pd.Series[str]":
    """Return the text of each target; of the number of a choice the text of the choice.

    Examples
    --------
    >>> choices = {f"arguments.gen_args_{place}.arg_1": text for place, text in enumerate([" no", " yes"])}
    >>> _target_texts(pd.DataFrame([{"target": "1", **choices}, {"target": "maybe", **choices}])).tolist()
    [' yes', 'maybe']
    """
    if "target" not in rows:
        return pd.Series([""] * len(rows), index=rows.index)
    targets = rows["target"].astype(str)
    texts = targets.copy()
    for target in targets.unique():
        choice = f"{_ARGUMENTS}.gen_args_{target}.arg_1"
        if choice in rows:
            texts = texts.mask(targets == target, rows[choice].astype(str))
    return texts


def _text(answers: Any) -> str | None:
    """Return the text that a model wrote; None of likelihoods of choices.

    Examples
    --------
    >>> _text([["Yes.", "No."]])
    'Yes.'
    >>> _text([[["-1.5", "False"]], [["-2.5", "False"]]])
    """
    while isinstance(answers, list) and answers:
        if _is_likelihood(answers):
            return None
        answers = answers[0]
    return answers if isinstance(answers, str) else None


def _is_likelihood(answer: Any) -> bool:
    """Say whether an answer is a log likelihood, and whether its choice is the most likely text."""
    if not isinstance(answer, list) or len(answer) != 2 or str(answer[1]) not in ("True", "False"):
        return False
    try:
        float(answer[0])
    except (TypeError, ValueError):
        return False
    return True


def _likelihoods(answers: Any) -> list[float]:
    """Return the log likelihood of each choice."""
    return [float(answer[0]) for answer in answers]


def _have_no_likelihood(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Say which answers have a choice whose likelihood is not a number.

    The harness takes the first choice of these, so that its score tells nothing of the model.

    Examples
    --------
    >>> answers = [[["nan", "False"], ["nan", "False"]], [["-1.5", "False"], ["-inf", "False"]], ["nan"]]
    >>> _have_no_likelihood(pd.DataFrame({"filtered_resps": answers})).tolist()
    [True, False, False]
    """

    def is_unknown(answers: Any) -> bool:
        choices = answers if isinstance(answers, list) else []
        return any(_is_likelihood(choice) and np.isnan(float(choice[0])) for choice in choices)

    return rows["filtered_resps"].map(is_unknown).astype(bool)


# Tasks about bias


def _pairs_of_sentences(rows: pd.DataFrame) -> Answers:
    """Return the log likelihood of both sentences of CrowS-Pairs."""
    scores = [_likelihoods(answers) for answers in rows["filtered_resps"]]
    more, less = zip(*scores, strict=True)
    return crows_pairs.pairs_of(rows.assign(logp_more=more, logp_less=less))


def _cooccurrence(rows: pd.DataFrame) -> Answers:
    """Return the log probability of both words for each gender after ``The OCCUPATION was a``.

    Choices are female, woman, male, man. The difference of genders is the metric ``likelihood_diff``.
    """
    likelihoods = np.array([_likelihoods(answers) for answers in rows["filtered_resps"]])
    parts = []
    for gender, columns in (("female", slice(0, 2)), ("male", slice(2, 4))):
        outcome = np.logaddexp.reduce(likelihoods[:, columns], axis=1)
        parts.append(rows.assign(group=gender, item=rows["occupation"], outcome=outcome))
    return Answers(pd.concat(parts, ignore_index=True), outcome="log probability")


def _bbq(rows: pd.DataFrame, model: str, path: Path) -> Answers:
    """Return the answers to BBQ as the harness judged them: accuracy, biased, and not unknown."""
    metric = next(name for name in _BBQ_METRICS if name in rows)
    judged = np.array([values[:3] for values in rows[metric]], dtype=float)
    questions = bbq.Questions(rows, str(path))
    answered = ~_have_no_likelihood(rows)
    return bbq.answers_of(questions.labeled(model, answered, *judged.T))


def _winogender(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the sentence without its pronoun as the template, and the occupation as the item."""
    ids = rows["sentid"].astype(str).str.removesuffix(".txt")
    for gender in rows["gender"].astype(str).unique():
        ids = ids.str.removesuffix(f".{gender}")
    item, template = logprob.parts_of_ids(ids)
    return {"group": rows["gender"], "item": item, "template": template}


def _toxigen(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the group that a statement is about, and the statement as the item."""
    return {"group": rows["target_group"].astype(str), "item": rows["text"]}


type Columns = Callable[[pd.DataFrame], dict[str, pd.Series]]

TASKS: list[tuple[set[str], Columns]] = [
    ({"sentid", "gender", "occupation"}, _winogender),
    ({"target_group", "text", "toxicity_human"}, _toxigen),
]
"""Fields of the questions of a task, and what gives our columns."""


def _columns_of_task(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Return our columns of a task that is known."""
    for fields, columns in TASKS:
        if fields <= set(rows.columns):
            return columns(rows)
    return {}


LAYOUT = Layout("lm_eval", recognizes, read, is_open=True)
