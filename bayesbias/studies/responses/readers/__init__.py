"""Readers of responses: one file a layout, each with `recognizes` and `read`; a new one is a line in `READERS`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias.core import InputError, checks, some
from bayesbias.core.files import check_file, guarded, path_of
from bayesbias.core.frames import read_rows
from bayesbias.studies.responses import columns as beside_columns, factorial, table as tables
from bayesbias.studies.responses.readers import (
    choices,
    crows_pairs,
    fmat,
    gender_sentiment,
    inspect_log,
    lm_eval,
    logprob,
)
from bayesbias.studies.responses.table import COLUMNS, Responses

__all__ = ["load_responses"]

# A reader takes a file as `read_rows` reads it and returns columns of `responses_table`. The first that recognizes a file reads it.
READERS: dict[str, Any] = {
    "lm_eval": lm_eval,
    "crows_pairs": crows_pairs,
    "choices": choices,
    "logprob": logprob,
    "fmat": fmat,
    "gender_sentiment": gender_sentiment,
}
LAYOUTS = ("inspect_log", *READERS, "table")  # the first and the last are taken as they are
OPEN = ("table", "lm_eval", "inspect_log")  # layouts of which users name columns
TEXTS = ("sentence", "text", "question", "input")  # items, where nothing else tells answers apart


def load_responses(
    files: checks.FilePath | Sequence[checks.FilePath],
    *,
    layout: str | None = None,
    columns: Mapping[str, str] | None = None,
    positive: str | None = None,
    where: str | None = None,
    refused: bool = False,
) -> Responses:
    r"""Read files of answers.

    Parameters
    ----------
    files : path or sequence of paths
        CSV, TSV, JSONL and Parquet tables, samples of lm-evaluation-harness, and logs of Inspect.
        CSV may have semicolons and decimal commas.
    layout : str, optional
        One of ``inspect_log, lm_eval, crows_pairs, choices, logprob, fmat, gender_sentiment, table``;
        by default what the columns of each file tell.
    columns : mapping, optional
        Our column -> the column of the file: ``{"group": "race", "word": "name"}``. Of samples of
        lm-evaluation-harness, ``filter`` names the filter that is taken; by default ``none`` or the first.
    positive : str, optional
        The positive label, where answers are scores of the labels in a column ``label``.
    where : str, optional
        Which rows to use, such as ``"resume != strong"``.
    refused : bool
        Whether the outcome is that an answer is a refusal (1) or not (0).

    Returns
    -------
    Responses

    Raises
    ------
    InputError
        If a file cannot be read, or columns are missing.

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
        checks.choice(layout, LAYOUTS, "layout")
    asked, beside = beside_columns.beside_of(dict(columns or {}))
    # A column of filters that is named tells rows apart.
    several_filters = lm_eval.FILTER in asked.values()
    wanted = asked.pop(lm_eval.FILTER, None)
    filters: dict[str, list[str]] = {}  # taken -> left out
    frames, paths = [], []
    fields: dict[str, None] = {}  # of the files themselves, those of questions first
    for file in given:
        path = path_of(file, "files")
        check_file(path)
        whole = Path(os.path.abspath(path))  # whose folder has a name
        is_log = path.suffix == ".eval"
        with guarded(path, "a log of Inspect"):
            frame = rows = inspect_log.samples(path) if is_log else read_rows(path)
        names = sorted(map(str, rows.columns), key=lambda name: not name.startswith("doc."))
        fields |= dict.fromkeys(name.removeprefix("doc.") for name in names)
        known = [layout_name for layout_name, reader in READERS.items() if reader.recognizes(rows)]
        name = layout or ("inspect_log" if is_log else [*known, "table"][0])
        with guarded(path, f"a file of the layout {name}", f"use {', '.join(LAYOUTS)}"):
            if name == "lm_eval" and not several_filters:
                taken = lm_eval.filter_of(rows, whole, wanted, filters)
                if taken:
                    of_filter = rows[lm_eval.FILTER].astype(str)
                    filters.setdefault(taken, []).extend(of_filter[of_filter != taken].unique())
                    rows = rows[of_filter == taken].reset_index(drop=True)
            if name in READERS:
                frame = READERS[name].read(rows, whole)
        frame.attrs.setdefault("layout", name)
        frames.append(frame)
        paths.append(whole)
    if wanted is not None and not filters:
        problem = "expected a filter of samples of lm-evaluation-harness, got none of these files"
        raise InputError(problem, where="--columns filter", hint="leave it out")
    layout = frames[0].attrs["layout"]
    frame = pd.concat(frames, keys=paths)
    if where is not None:
        frame = beside_columns.rows_where(frame, where)
    frame, factors = factorial.with_cells(frame, asked.get("group", ""))
    for ours, theirs in asked.items():
        checks.choice(ours, COLUMNS, "column")
        if theirs not in frame:
            raise InputError(
                f"expected a column of the layout {layout} for the {ours}, got {theirs!r}",
                where="--columns",
                valid=None if theirs in fields else fields,
                hint="--layout table takes any column of a file" if theirs in fields else None,
            )
    known = frame.columns if layout in OPEN else [*COLUMNS, *tables.USUAL["outcome"]]
    free = [name for name in known if name in frame and name not in beside.names]
    named = tables.named_columns(free, asked, fields)
    notes = _scores_left_out(filters, [frame.attrs.get("metrics", []) for frame in frames], asked)
    text = next((name for name in TEXTS if name in frame.columns), None)
    if text and not {*tables.ASKED} & {*named}:
        named["item"] = text
        notes.append(f"The items are the texts of the column {text}.")
    used = {*named.values(), *factors, *beside.names}
    unused = [name for name in fields if name not in used] if layout in OPEN else ()
    if {"group", "word", "template"} <= {*asked} and "item" in {*named} - {*asked}:
        # The number of a sample is no item where words and prompts tell samples apart.
        samples = frame.groupby([asked["group"], asked["word"], asked["template"]], dropna=False)
        if samples[named["item"]].nunique().max() < 2:
            del named["item"]
    if models := _models(frame, named, name == "lm_eval"):
        frame["model"], named["model"] = [models[path] for path, _ in frame.index], "model"
        shown = some(models.values())
        notes.append(f"Files are compared as models: {shown}. A column model changes this.")
    shown_paths = some([str(path) for path in given], 3)
    table = tables.table_of(
        frame.reset_index(drop=True), named, shown_paths, positive, factors, beside, refused
    )
    called = {each.attrs.get("outcome", table.outcome) for each in frames}
    chosen = {each["item"].iloc[0]: each.attrs["note"] for each in frames if "note" in each.attrs}
    for item, note in chosen.items():
        words = table.frame[table.frame["item"] == item].groupby("group", sort=False)["word"]
        listed = [f"{group.capitalize()} words: {some(own, 3)}." for group, own in words]
        notes.append(" ".join([f"{item}: {note}", *listed]))
    several = "the second names" if chosen else "outcome"
    return replace(
        table,
        outcome="refused" if refused else called.pop() if len(called) == 1 else several,
        published={"choices": "answers", "crows_pairs": "share"}.get(layout, ""),
        noun=frames[0].attrs.get("noun", "word"),
        notes=(*notes, *table.notes),
        unused=tuple(unused),
        name=some([path.name for path in paths]),
    )


def _scores_left_out(
    filters: Mapping[str, Sequence[str]], metrics: Sequence[Sequence[str]], asked: Mapping[str, str]
) -> list[str]:
    """Say which of several scores of one answer is taken."""
    notes = []
    for taken, others in filters.items():
        if left := checks.once(others):
            notes.append(
                f"The filter {taken} is taken, not {some(left)}: they score the same answers. "
                "--columns filter=NAME takes another."
            )
    several = {tuple(names) for names in metrics if len(names) > 1}
    if several and "outcome" not in asked:
        taken, *others = next(iter(several))
        notes.append(
            f"The outcome is {taken}, not {some(others)}. --columns outcome=NAME takes another."
        )
    return notes


def _models(frame: pd.DataFrame, named: Mapping[str, str], harness: bool) -> dict[Path, str]:
    """Return a model for each file, where no model is named and files have most questions in common.

    Samples of lm-evaluation-harness are of the model that their folder names, unless files of one
    folder have most questions in common.
    """
    own = [theirs for ours, theirs in named.items() if ours not in ("outcome", "model")]
    paths = frame.index.get_level_values(0)
    stems, folders = {p: p.stem for p in paths}, {p: p.parent.name for p in paths}
    names = stems if len({*stems.values()}) == len(stems) else folders
    if "model" in named and frame[named["model"]].ne("").any():
        if not harness or not frame[named["model"]].eq(paths.map(folders)).all():
            return {}
        own.append(named["model"])
    asked = frame[own].reset_index(0, names="file").drop_duplicates()
    again = asked.duplicated(own, keep=False) if own else pd.Series(0.0, asked.index)
    apart = asked["file"].map(lambda path: path.parent if harness else "")
    return names if again.groupby(apart).mean().max() > 0.5 else {}
