"""Readers of responses: one file a layout, with a `Layout` that is imported here, for `LAYOUTS`."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias.core import InputError, checks, some
from bayesbias.core.files import check_file, guarded, path_of
from bayesbias.studies.responses import columns as beside_columns, factorial, table as tables
from bayesbias.studies.responses.answer_labels import are_refusals
from bayesbias.studies.responses.readers import (
    bbq,
    choices,
    crows_pairs,
    fmat,
    gender_sentiment,
    inspect_log,
    lm_eval,
    logprob,
    plain_table,
    promptfoo,
    stereoset,
)
from bayesbias.studies.responses.readers.layout import Answers, Layout, Request, Source
from bayesbias.studies.responses.table import COLUMNS, Responses
from bayesbias.studies.responses.template_scores import COUNTS

__all__ = ["load_responses"]

LAYOUTS: tuple[Layout, ...] = (
    inspect_log.LAYOUT,
    promptfoo.LAYOUT,
    stereoset.LAYOUT,
    lm_eval.LAYOUT,
    bbq.LAYOUT,
    crows_pairs.LAYOUT,
    choices.LAYOUT,
    logprob.LAYOUT,
    fmat.LAYOUT,
    gender_sentiment.LAYOUT,
    plain_table.LAYOUT,
)
"""In the order in which a file is offered to them; the last takes any table."""
COMPLETION = "completion"  # the column of texts that models wrote, where refusals are the outcome
TEXTS = ("sentence", "text", "question", "input")  # items, where nothing else tells answers apart


def load_responses(
    files: checks.FilePath | Sequence[checks.FilePath],
    *,
    layout: str | None = None,
    columns: Mapping[str, str] | None = None,
    positive: str | None = None,
    where: str | None = None,
    refused: bool = False,
    values: Mapping[str, float] | None = None,
) -> Responses:
    r"""Read files of answers, all in one layout.

    Parameters
    ----------
    files : path or sequence of paths
        CSV, TSV, JSON, JSONL and Parquet tables, samples of lm-evaluation-harness, and logs of Inspect.
        CSV may have semicolons and decimal commas.
    layout : str, optional
        The name of a layout, such as ``bbq``; by default what the columns of the files tell. The guide
        on answers lists the names, and ``table`` takes any table.
    columns : mapping, optional
        Our column -> the column of the file: ``{"group": "race", "word": "name"}``. Of samples of
        lm-evaluation-harness, ``filter`` names the filter that is taken; by default ``none`` or the first.
    positive : str, optional
        The positive label, where answers are scores of the labels in a column ``label``.
    where : str, optional
        Which rows to use, such as ``"resume != strong"``.
    refused : bool
        Whether the outcome is that an answer is a refusal (1) or not (0). At least one has to be.
    values : mapping, optional
        Label of an answer -> its number, such as ``{"Hire": 1, "Reject": 0}``.

    Returns
    -------
    Responses

    Raises
    ------
    InputError
        If a file cannot be read, columns are missing, or files have different layouts.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/scores.csv"
    ...     with open(path, "w") as file:
    ...         _ = file.write("race,person,score\nblack,Ebony,0.2\nwhite,Amanda,0.4\n")
    ...     table = load_responses(path, columns={"group": "race", "word": "person", "outcome": "score"})
    >>> table.groups
    ['black', 'white']
    """
    given = [files] if isinstance(files, str | os.PathLike) else list(files)
    if not given:
        raise InputError("expected paths of files, got none", where="files")
    if layout is not None:
        checks.choice(layout, [known.name for known in LAYOUTS], "layout")
    asked, beside = beside_columns.beside_of(dict(columns or {}))
    # A column of filters that is named tells rows apart.
    wanted_filter = None
    if lm_eval.FILTER not in asked.values():
        wanted_filter = asked.pop(lm_eval.FILTER, None)

    sources = [_source(file) for file in given]
    answers = _answers(sources, layout, Request(asked, wanted_filter))
    if wanted_filter is not None and not any(part.filter for part in answers.values()):
        problem = "expected a filter of samples of lm-evaluation-harness, got none of these files"
        raise InputError(problem, where="--columns filter", hint="leave it out")
    form = _one_layout(answers)

    fields: dict[str, None] = {}  # of the files themselves
    for part in answers.values():
        fields |= dict.fromkeys(part.fields or ())
    frame = pd.concat([part.frame for part in answers.values()], keys=answers)
    frame = tables.with_words_in_texts(frame, asked)
    if form.name == bbq.LAYOUT.name:  # whose reader took the column of predictions
        asked.pop("outcome", None)
    texts = _texts([*answers.values()]).set_axis(frame.index)
    if where is not None:
        frame = beside_columns.rows_where(frame, where)
        texts = texts[texts.index.isin(frame.index)]
    if refused and "outcome" not in asked and texts.notna().any():
        frame = frame.assign(**{COMPLETION: texts.to_numpy()})
        asked["outcome"] = COMPLETION
    frame, factors = factorial.with_cells(frame, asked.get("group", ""))
    for ours, theirs in asked.items():
        checks.choice(ours, COLUMNS, "column")
        if theirs not in frame:
            raise InputError(
                f"expected a column of the layout {form.name} for the {ours}, got {theirs!r}",
                where="--columns",
                valid=None if theirs in fields else fields,
                hint="--layout table takes any column of a file" if theirs in fields else None,
            )
    known = frame.columns
    if not form.is_open:  # outcome is among the usual names, too
        known = pd.Index(checks.once([*COLUMNS, *tables.USUAL["outcome"]]))
    free = [name for name in known if name in frame and name not in beside.names]
    free = [name for name in free if name not in factors]

    def command(outcome: str) -> str:
        return _command(given, {**dict(columns or {}), "outcome": outcome}, layout, where, refused)

    named = tables.named_columns(
        frame, free, asked, fields=fields, refused=refused, command=command
    )
    notes = [note for part in answers.values() for note in part.notes]
    notes = [*checks.once(notes), *_scores_taken([*answers.values()], asked, refused)]
    by_filter = _filters([*answers.values()])
    if by_filter and wanted_filter is not None:
        by_filter["named"] = True

    text = next((name for name in TEXTS if name in frame.columns), None)
    if text and not {*tables.ASKED} & {*named}:
        named["item"] = text
        notes.append(f"The items are the texts of the column {text}.")
    if {"group", "word", "template"} <= {*asked} and "item" in {*named} - {*asked}:
        # The number of a sample is no item where words and prompts tell samples apart.
        samples = frame.groupby([asked["group"], asked["word"], asked["template"]], dropna=False)
        if samples[named["item"]].nunique().max() < 2:
            del named["item"]

    notes += tables.notes_of_groups(frame, named, asked)

    if models := _models(frame, named, form.name == lm_eval.LAYOUT.name):
        frame["model"], named["model"] = [models[path] for path, _ in frame.index], "model"
        shown = some(models.values())
        notes.append(f"Files are compared as models: {shown}. A column model changes this.")
    shown_paths = some([str(path) for path in given], 3)
    table = tables.table_of(
        frame.reset_index(drop=True), named, shown_paths, positive, values, factors, beside, refused
    )

    of_items: dict[str, str] = {}
    for part in answers.values():
        of_items |= part.notes_of_items
    notes += [_note_of_item(table, item, note) for item, note in of_items.items()]
    outcomes = {part.outcome or table.outcome for part in answers.values()}
    if "outcome" not in asked:
        first = {part.scores[0] for part in answers.values() if part.scores and not part.outcome}
        if len(first) == 1:
            outcomes = {name.replace("outcome", first.copy().pop(), 1) for name in outcomes}
    coverage = {**table.coverage, "filters": by_filter} if by_filter else {**table.coverage}
    if not refused and (scored := _refusals_scored(frame, texts, named)):
        first_score = next((part.scores[0] for part in answers.values() if part.scores), "outcome")
        score = named["outcome"] if "outcome" in asked else first_score
        coverage["refusals_scored"] = {"score": score, **scored}
    several = "the second names" if of_items else "outcome"
    return replace(
        table,
        coverage=coverage,
        outcome="refused" if refused else outcomes.pop() if len(outcomes) == 1 else several,
        published=form.published,
        noun=next(iter(answers.values())).noun,
        categories=next(iter(answers.values())).categories,
        notes=(*notes, *table.notes),
        unused=tuple(name for name in fields if name in table.unused) if form.is_open else (),
        name=some([path.name for path in answers]),
        published_scores=_published_scores(answers, models),
        answer_counts=_answer_counts(answers, models),
    )


def _command(
    files: Sequence[checks.FilePath],
    columns: Mapping[str, str],
    layout: str | None,
    where: str | None,
    refused: bool,
) -> str:
    """Return the command that fits files with named columns, to be copied."""
    names = ",".join(f"{ours}={theirs}" for ours, theirs in columns.items())
    parts = ["bayesbias responses fit", *(shlex.quote(str(file)) for file in files)]
    if layout is not None:
        parts.append(f"--layout {layout}")
    if where is not None:
        parts.append(f'--where "{where}"')
    if refused:
        parts.append("--outcome refused")
    return " ".join([*parts, f'--columns "{names}"'])


def _source(file: checks.FilePath) -> Source:
    """Return a file as a source, with a path whose folder has a name."""
    path = path_of(file, "files")
    check_file(path)
    return Source(Path(os.path.abspath(path)))


def _answers(
    sources: Sequence[Source], layout: str | None, request: Request
) -> dict[Path, Answers]:
    """Return the answers of each file that has any."""
    forms = {source.path: _layout_of(source, layout) for source in sources}
    companions = tuple(source for source in sources if forms[source.path].accompanies(source))
    if len(companions) == len(sources):
        form = forms[sources[0].path]
        raise InputError(
            f"expected answers, got what the layout {form.name} needs beside them",
            where=str(sources[0].path),
            hint="name the files of answers too",
        )
    request = replace(request, companions=companions)
    answers: dict[Path, Answers] = {}
    for source in sources:
        if source in companions:
            continue
        form = forms[source.path]
        valid = ", ".join(known.name for known in LAYOUTS)
        with guarded(source.path, f"a file of the layout {form.name}", f"use {valid}"):
            part = form.read(source, request)
        if part.fields is None:
            part = replace(part, fields=_fields(source.rows))
        answers[source.path] = replace(part, layout=part.layout or form.name)
        if part.filter:
            request = replace(request, filters=(*request.filters, part.filter))
    return answers


def _layout_of(source: Source, layout: str | None) -> Layout:
    """Return the layout of a file: the one that is named, or the first that recognizes it."""
    for known in LAYOUTS:
        if layout is not None and known.name == layout:
            return known
        if layout is None and (known.recognizes(source) or known.accompanies(source)):
            return known
    raise AssertionError("the last layout takes any file")


def _fields(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return the columns of a file, those of questions first and by their own name."""
    names = sorted(map(str, rows.columns), key=lambda name: not name.startswith("doc."))
    return tuple(name.removeprefix("doc.") for name in names)


def _one_layout(answers: Mapping[Path, Answers]) -> Layout:
    """Return the layout of all files; refuse files of several, whose columns mean different things."""
    files: dict[str, Path] = {}
    for path, part in answers.items():
        files.setdefault(str(part.layout), path)
    if len(files) > 1:
        (first, first_path), (second, second_path), *_ = files.items()
        raise InputError(
            f"expected files of one layout, got {first_path} ({first}) and {second_path} ({second})",
            where="files",
            hint="fit them one after the other, or name the layout of all (--layout NAME)",
        )
    return next(known for known in LAYOUTS if known.name in files)


def _scores_taken(answers: Sequence[Answers], asked: Mapping[str, str], refused: bool) -> list[str]:
    """Say which score of a tool is the outcome, what its numbers are, and which others there are."""
    known = [part for part in answers if part.scores]
    if not known or "outcome" in asked or refused:
        return []
    taken, *others = max(known, key=lambda part: len(part.scores)).scores
    one = f" ({known[0].one})" if known[0].one else ""
    if not others:
        return [f"The outcome is {taken}{one}."] if one else []
    return [
        f"The outcome is {taken}{one}, not {some(others)}. --columns outcome=NAME takes another."
    ]


def _texts(answers: Sequence[Answers]) -> "pd.Series[Any]":
    """Return what models wrote, row by row; None where a file does not have it."""
    texts: list[Any] = []
    for part in answers:
        texts += [None] * len(part.frame) if part.texts is None else part.texts.tolist()
    return pd.Series(texts, dtype=object)


def _refusals_scored(
    frame: pd.DataFrame, texts: "pd.Series[Any]", named: Mapping[str, str]
) -> dict[str, Any]:
    """Return how many answers look like refusals and have a score, by group; empty where none does."""
    if texts.isna().all():
        return {}
    scores = pd.to_numeric(frame[named["outcome"]], errors="coerce")
    refusals = are_refusals(texts).to_numpy() & scores.notna().to_numpy()
    if not refusals.any():
        return {}
    groups: dict[str, int] = {}
    if "group" in named:
        labels = frame[named["group"]].fillna("").astype(str).str.strip().to_numpy()
        counts = pd.Series(refusals).groupby(labels).sum().astype(int)
        groups = counts.drop(index="", errors="ignore").to_dict()
    values = scores[refusals].unique()
    return {
        "number": int(refusals.sum()),
        "of": len(frame),
        "groups": groups,
        "value": float(values[0]) if len(values) == 1 else None,
    }


def _filters(answers: Sequence[Answers]) -> dict[str, Any]:
    """Return which filter is taken, the others, and how many answers these score differently."""
    parts = [part for part in answers if part.other_filters]
    if not parts:
        return {}
    names = [name for part in parts for name in part.other_filters]
    differ, of = (sum(numbers) for numbers in zip(*(part.by_filter for part in parts), strict=True))
    taken = checks.once(part.filter for part in parts)
    return {"taken": taken, "others": checks.once(names), "differ": differ, "of": of}


def _published_scores(
    answers: Mapping[Path, Answers], models: Mapping[Path, str]
) -> pd.DataFrame | None:
    """Return the published scores of all files, with the models that files are compared as."""
    parts = []
    for path, part in answers.items():
        scores = part.published_scores
        if scores is not None:
            name = scores["name"] + f", {models[path]}" if models else scores["name"]
            parts.append(scores.assign(name=name))
    return pd.concat(parts, ignore_index=True) if parts else None


def _answer_counts(
    answers: Mapping[Path, Answers], models: Mapping[Path, str]
) -> pd.DataFrame | None:
    """Return the counts of all files, with the models that files are compared as."""
    parts = []
    for path, part in answers.items():
        counts = part.answer_counts
        if counts is not None:
            parts.append(counts.assign(model=models[path]) if models else counts)
    if not parts:
        return None
    together = pd.concat(parts)
    labels = [name for name in together if name not in COUNTS]
    return together.groupby(labels, as_index=False, sort=False)[list(COUNTS)].sum()


def _note_of_item(table: Responses, item: str, note: str) -> str:
    """Say what an answer to an item means, and name some words of each group."""
    words = table.frame[table.frame["item"] == item].groupby("group", sort=False)["word"]
    listed = [f"{group.capitalize()} words: {some(texts, 3)}." for group, texts in words]
    return " ".join([f"{item}: {note}", *listed])


def _models(frame: pd.DataFrame, named: Mapping[str, str], harness: bool) -> dict[Path, str]:
    """Return a model for each file, where no model is named and files have most questions in common.

    Samples of lm-evaluation-harness are of the model that their folder names, unless files of one
    folder have most questions in common.
    """
    questions = [theirs for ours, theirs in named.items() if ours not in ("outcome", "model")]
    paths = frame.index.get_level_values(0)
    stems, folders = {p: p.stem for p in paths}, {p: p.parent.name for p in paths}
    names = stems if len({*stems.values()}) == len(stems) else folders
    if "model" in named and frame[named["model"]].ne("").any():
        if not harness or not frame[named["model"]].eq(paths.map(folders)).all():
            return {}
        questions.append(named["model"])
    rows = frame[questions].reset_index(0, names="file").drop_duplicates()
    again = pd.Series(0.0, rows.index)
    if questions:
        again = rows.duplicated(questions, keep=False)
    apart = rows["file"].map(lambda path: path.parent if harness else "")
    return names if again.groupby(apart).mean().max() > 0.5 else {}
