"""What a layout of answers is: the file that it reads, what users ask for, and what it returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias.core.frames import read_document, read_rows, rows_of_document
from bayesbias.studies.responses.answer_labels import have_no_answer
from bayesbias.studies.responses.table import USUAL

_JSON = (".json", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class Source:
    """A file of answers.

    Attributes
    ----------
    path : Path
        Absolute, so that its folder has a name.
    """

    path: Path

    @cached_property
    def document(self) -> Any:
        """What a file of JSON holds: a list of records, or an object. None for other files."""
        if self.path.suffix.lower() not in _JSON:
            return None
        return read_document(self.path)

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The table that the file holds; keys of nested objects are joined by dots (``vars.name``)."""
        if self.document is None:
            return read_rows(self.path)
        return rows_of_document(self.document, self.path)

    @property
    def columns(self) -> set[str]:
        """The names of the columns."""
        return set(map(str, self.rows.columns))

    def has_keys(self, *keys: str) -> bool:
        """Whether the file holds one JSON object with these keys."""
        return isinstance(self.document, dict) and set(keys) <= set(self.document)


@dataclass(frozen=True)
class Request:
    """What a call asks of a layout.

    Attributes
    ----------
    columns : Mapping of str to str
        Our column -> the column of the file, as the user names them.
    filter : str, optional
        The filter of lm-evaluation-harness that the user names.
    filters : tuple of str
        The filters that other files of the call are read with.
    companions : tuple of Source
        Files of the call that hold no answers, but what the layout needs to read them.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    filter: str | None = None
    filters: tuple[str, ...] = ()
    companions: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Answers:
    """The answers of one file.

    Attributes
    ----------
    frame : DataFrame
        One row an answer, with columns of `bayesbias.responses_table` and others of the file. A
        missing answer is NaN or empty; a refusal is its text.
    layout : str, optional
        The layout, where it is not the one that the file was read with.
    outcome : str
        What the outcome is called; by default as its column.
    noun : str
        What a word is called.
    categories : Mapping of str to str
        As of `Responses`.
    notes : tuple of str
        What a reader should know.
    notes_of_items : Mapping of str to str
        What an answer to an item means.
    scores : tuple of str
        Scores of the same answer, of which the first is the outcome.
    one : str
        What the numbers of the first score stand for, where it is known.
    filter, other_filters : str, tuple of str
        The filter of lm-evaluation-harness that was taken, and those that were not.
    by_filter : tuple of int
        How many answers another filter scores differently, and how many are compared.
    published_scores, answer_counts : DataFrame, optional
        As of `Responses`.
    texts : Series, optional
        What the model wrote, of each row, where the outcome is a score of it.
    fields : tuple of str, optional
        The columns that errors list; by default those of the file. A name among them that the frame
        lacks was used up by `read`, and the error points to the layout ``table``.
    """

    frame: pd.DataFrame
    layout: str | None = None
    outcome: str = ""
    noun: str = "word"
    categories: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    notes_of_items: Mapping[str, str] = field(default_factory=dict)
    scores: tuple[str, ...] = ()
    one: str = ""
    filter: str = ""
    other_filters: tuple[str, ...] = ()
    by_filter: tuple[int, int] = (0, 0)
    published_scores: pd.DataFrame | None = None
    answer_counts: pd.DataFrame | None = None
    texts: "pd.Series[Any] | None" = None
    fields: tuple[str, ...] | None = None


def with_defaults(frame: pd.DataFrame, defaults: Mapping[str, Any]) -> pd.DataFrame:
    """Return a frame with columns of ours, where it has none of a usual name.

    Examples
    --------
    >>> with_defaults(pd.DataFrame({"job": ["nurse"]}), {"item": "sample 1", "template": "hiring"})
         job template
    0  nurse   hiring
    """
    columns = set(frame.columns)
    lacking = {ours: cell for ours, cell in defaults.items() if not columns & {*USUAL[ours]}}
    return frame.assign(**lacking)


def with_texts_unanswered(
    scores: "pd.Series[Any]", texts: "pd.Series[Any]", targets: "pd.Series[Any]"
) -> "pd.Series[Any]":
    """Return scores of questions for yes or no, and the text where the answer is neither.

    A harness that looks for the target scores such a text 0, as if the model had said the opposite.

    Examples
    --------
    >>> texts = pd.Series(["Yes.", "No.", "I'm sorry, I can't help."])
    >>> with_texts_unanswered(pd.Series([1, 0, 0]), texts, pd.Series(["yes"] * 3)).tolist()
    [1, 0, "I'm sorry, I can't help."]
    """
    asks = targets.map(lambda target: str(target).strip().casefold() in ("yes", "no"))
    wrong = pd.to_numeric(scores, errors="coerce").eq(0)
    is_open = asks & wrong & texts.notna()
    is_open &= have_no_answer(texts)
    return scores.astype(object).mask(is_open, texts) if is_open.any() else scores


def _never(source: Source) -> bool:
    return False


@dataclass(frozen=True)
class Layout:
    """A layout of answers.

    Attributes
    ----------
    name : str
        What ``--layout`` takes.
    recognizes : callable
        Whether a file has the layout.
    read : callable
        Reads the answers of a file.
    accompanies : callable
        Whether a file has no answers, but what the layout needs, such as the sentences.
    is_open : bool
        Whether all columns of the frame that `read` returns are found by their usual names, such as
        ``race``, and the rest count as unused. Else only columns with our names are ours, and the
        outcome by a usual name. Users may name any column of the frame in either case.
    published : {"", "answers", "share", "templates"}
        As of `Responses`.
    """

    name: str
    recognizes: Callable[[Source], bool]
    read: Callable[[Source, Request], Answers]
    accompanies: Callable[[Source], bool] = _never
    is_open: bool = False
    published: str = ""
