"""The table of responses, one row an answer: its cells, differences and published scores.

Repeated 0/1 answers to one question are counted, and repeated numbers are rows of their own. Where each
group answers the same question, as *he* and *she* in one sentence, numbers become differences.
"""

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.classifiers.top_label import positive_scores
from bayesbias.core import InputError, checks, frames, join_words, some
from bayesbias.core.errors import warn_user
from bayesbias.core.factors import CROSS, Factors
from bayesbias.core.formatting import in_one_line, number_of, plural
from bayesbias.models.outcomes import MOST_LEVELS
from bayesbias.studies.common import FLAT, between_models, one_sample
from bayesbias.studies.responses import columns as beside_columns, factorial
from bayesbias.studies.responses.answer_labels import numbers_of
from bayesbias.studies.responses.columns import FEWEST_RATERS, RATER, WEIGHT, Beside
from bayesbias.studies.responses.hidden_words import REST, WORD, words_in_texts

LABELS = ("model", "group", "word", "template", "item")
COLUMNS = (*LABELS, "repeat", "outcome")
NAMES = ("model", "group", "repeat")
"""Columns of names of one line; words, templates and items may be sentences and prompts."""
USUAL = {
    "outcome": (
        "outcome", "score", "probability", "prob", "answer", "value", "logprob", "rating", "grade",
        "decision",
    ),
    "group": ("group", "gender", "race", "religion", "class", "ethnicity", "sex"),
    "word": ("pair", "word", "name", "person", "noun", "noun_pair", "candidate", "applicant"),
    "template": ("template", "prompt", "frame"),
    "item": ("item", "profession", "occupation", "job", "emotion", "scenario"),
    "model": ("model", "classifier", "llm"),
    "repeat": ("repeat", "epoch", "sample", "run"),
}  # fmt: skip
"""Names that our columns usually have; the first that is there is taken."""
_BALANCED = 1.5  # ratio of the numbers of rows of two prompts
_OF_ANSWERS = ("rate", "mean", "response", "label", "prediction", "reply")
"""Words in names of columns that may hold answers."""
SCORES = ("name", "score", "n", "mean_score", "t", "p_value")
_FEWEST_REPLIES = 5  # to a prompt, for an estimate of what they share
PROMPT = ["model", "item", "template"]  # what a chat model replied to
ASKED = ["item", "template", "word"]  # what tells one question from another
ESTIMANDS = ("population", "new_words", "new_prompts", "listed_words")
"""The estimands of the models of responses; `ResponsesResult.estimands` says what they hold for."""


@dataclass(frozen=True, eq=False)
class Responses:
    """Answers in one layout.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row an answer: ``model, group, word, template, item, repeat, outcome``. Columns that the
        data do not have hold one empty label.
    coverage : dict
        ``rows_read``, ``rows_used`` and ``dropped``: how many rows were left out, by reason.
        ``groups``: rows read and used of each group. ``examples``: up to two texts left out.
        ``repeats``: rows that have the labels of another, the number of the repeat included.
        ``apart``: columns that are not used and whose labels tell such rows apart. ``distinct``: those
        whose labels are mostly of one row.
        ``refusals_scored``: of logs, answers that look like refusals and have a score: their ``number``,
        ``of`` how many, by ``groups``, the ``score`` and its ``value`` if they have one.
        ``filters``: of samples of lm-evaluation-harness with several, which are ``taken``, the ``others``,
        and how many answers they score differently (``differ``) of how many (``of``).
        ``hidden``: words of groups that stand in prompts or items, where no column has words.
    outcome : str
        What the outcome is called in sentences.
    published : {"", "answers", "share", "templates"}
        A score of its own that the data were published with: of each answer, the share of
        stereotyped choices, or those of BBQ.
    noun : str
        What a word is called in sentences.
    notes : tuple of str
        What a reader should know.
    unused : tuple of str
        The columns of the data that are none of these, and no other outcomes.
    name : str
        The names of the files.
    categories : Mapping of str to str
        What items or templates are called that are categories, such as ``{"item": "bias type"}``. They
        are no sample of more, so that nothing is said about new ones.
    factors : Mapping of str to Mapping of str to str
        Where groups cross factors, such as gender and ethnicity: the level of each that a group has.
    adjust : tuple of str
        Columns of `frame` that hold covariates around zero, which answers are adjusted for.
    weighted : bool
        Whether outcomes are means of several answers, whose numbers are in the column ``weight``.
    rated : bool
        Whether the column ``rater`` says who rated each answer.
    published_scores : DataFrame, optional
        Scores that the benchmark publishes and the rows do not give: ``name, score, n, mean_score``.
    answer_counts : DataFrame, optional
        Of BBQ, the answers by model, category, template, context and stereotyped group: their
        number, and how many are right, biased, and not *unknown*.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"race": ["black", "white"] * 2, "name": ["Ebony", "Amanda"] * 2,
    ...     "prompt": ["a", "a", "b", "b"], "score": [0.2, 0.4, 0.3, 0.4]})
    >>> responses_table(frame, group="race", word="name", template="prompt", outcome="score")
    Responses: 4 of 4 answers, 2 groups, numbers, paired
    <BLANKLINE>
    group   word template repeat  outcome
    black  Ebony        a      0      0.2
    white Amanda        a      0      0.4
    black  Ebony        b      0      0.3
    white Amanda        b      0      0.4
    """

    fitted_by = "bayesbias.fit_responses"

    frame: pd.DataFrame
    coverage: Mapping[str, Any]
    outcome: str = "outcome"
    published: str = ""
    noun: str = "word"
    notes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    name: str = "a data frame"
    categories: Mapping[str, str] = field(default_factory=dict)
    factors: Factors = field(default_factory=dict)
    adjust: tuple[str, ...] = ()
    weighted: bool = False
    rated: bool = False
    published_scores: pd.DataFrame | None = None
    answer_counts: pd.DataFrame | None = None

    @property
    def is_choice(self) -> bool:
        """Whether all outcomes are 0 or 1."""
        return not self.weighted and bool(self.frame["outcome"].isin((0.0, 1.0)).all())

    @property
    def levels(self) -> tuple[float, ...]:
        """The ratings in order, where answers are 3 to 11 whole numbers; else empty."""
        values = np.sort(self.frame["outcome"].unique())
        whole = not self.weighted and bool((values == np.floor(values)).all())
        return tuple(values.tolist()) if whole and 3 <= len(values) <= MOST_LEVELS else ()

    @property
    def beside(self) -> list[str]:
        """The columns of covariates, weights and raters."""
        return [*self.adjust, *[WEIGHT] * self.weighted, *[RATER] * self.rated]

    @property
    def raters(self) -> list[str]:
        """Who rated the answers, in the order of the alphabet; empty where it is not known."""
        return sorted(self.frame[RATER].unique()) if self.rated else []

    @property
    def raters_vary(self) -> bool:
        """Whether there are enough raters for SDs; the difference of two is a covariate."""
        return len(self.raters) >= FEWEST_RATERS

    @property
    def nouns(self) -> dict[str, str]:
        """What words, templates and items are called in sentences."""
        nouns = {"word": f"{self.noun}s", "template": "prompts", "item": "items"}
        return nouns | {column: plural(noun) for column, noun in self.categories.items()}

    @property
    def groups(self) -> list[str]:
        """The groups in the order of the alphabet, or stereotyped before the others."""
        return sorted(self.frame["group"].unique(), reverse=bool(self.published))

    @property
    def models(self) -> list[str]:
        """The models, in the order of the alphabet."""
        return sorted(self.frame["model"].unique())

    @property
    def pairing(self) -> list[str] | None:
        """What tells questions apart, where each of two groups has one answer to each; else None.

        Differences of three groups would share answers, so that the answers themselves are modeled.
        """
        return self.matching if len(self.groups) <= 2 else None

    @property
    def matching(self) -> list[str] | None:
        """What tells questions apart, where each group has one answer to each; else None."""
        shared = [name for name in ASKED if self.shares(name)]
        if (
            not shared or self.factors or self.beside
        ):  # main effects and simple ones are not of one SD
            return None
        key, cells = ["model", *shared], self.frame[list(LABELS)].drop_duplicates()
        alone = not cells.duplicated([*key, "group"]).any()
        groups = cells.groupby(key)["group"].nunique()
        return key if alone and (groups > 1).mean() > 0.5 else None

    def shares(self, column: str) -> bool:
        """Whether groups have a word, a template or an item in common."""
        named = self.frame[self.frame[column].ne("")]
        return bool(named.groupby(column)["group"].nunique().max() > 1)

    def __repr__(self) -> str:
        return frames.first_rows([self._size()], self._shown())

    def _repr_html_(self) -> str:
        return frames.first_rows_html([self._size()], self._shown())

    def _shown(self) -> pd.DataFrame:
        """Return the rows without columns that the data do not have."""
        return self.frame.loc[:, self.frame.ne("").any()]

    def _size(self) -> str:
        from bayesbias.studies.responses.kinds import kind_of

        read, used = self.coverage["rows_read"], self.coverage["rows_used"]
        values = kind_of(self).values + (", paired" if self.pairing else "")
        return f"Responses: {used:,} of {read:,} answers, {len(self.groups)} groups, {values}"


def responses_table(
    frame: Any,
    *,
    outcome: str | None = None,
    group: str | Sequence[str] | None = None,
    word: str | None = None,
    template: str | None = None,
    item: str | None = None,
    model: str | None = None,
    repeat: str | None = None,
    positive: str | None = None,
    adjust: str | Sequence[str] = (),
    weight: str | None = None,
    rater: str | None = None,
    where: str | None = None,
    refused: bool = False,
    values: Mapping[str, float] | None = None,
) -> Responses:
    """Put the answers of a classifier or a language model in one layout.

    Columns with usual names need not be named: ``race``, ``name``, ``prompt``, ``score``. Without a
    word, template or item, the texts of a column such as ``sentence`` are the items.

    Parameters
    ----------
    frame : DataFrame (pandas or polars), mapping of columns, path, or list of paths
        One row an answer. Files are read as `load_responses` reads them.
    outcome : str, optional
        Column of the answer: 0 or 1, a probability, or any number. *yes*, *no*, *true* and *false*
        count as 1 and 0, and so do texts such as *Yes, I would.*
    group : str or sequence of str, optional
        Column of the group that the question is about, such as ``race``; or the columns of two or three
        factors that groups cross, ``["gender", "ethnicity"]`` or ``"gender*ethnicity"``.
    word : str, optional
        Column of the word that stands for the group, such as a name.
    template : str, optional
        Column of the prompt or sentence frame.
    item : str, optional
        Column of what is asked about the group: a profession, an emotion.
    model : str, optional
        Column of the model that answered.
    repeat : str, optional
        Column that numbers answers to the same question.
    positive : str, optional
        The positive label, where answers are scores of the labels in a column ``label``, such as
        those of a transformers pipeline. Not needed for the labels POSITIVE and NEGATIVE.
    adjust : str or sequence of str, optional
        Columns of covariates, numbers or categories: groups are compared at the same values.
    weight : str, optional
        Column of numbers of answers, where each outcome is a mean of so many.
    rater : str, optional
        Column of who rated the answer, such as a person or a model that judges.
    where : str, optional
        Which rows to use, such as ``"resume != strong and age < 40"``.
    refused : bool
        Whether the outcome is that an answer is a refusal (1) or not (0). At least one has to be.
    values : mapping, optional
        Label of an answer -> its number, such as ``{"Hire": 1, "Reject": 0}``. Not needed for labels
        that are known; a note says how these are read.

    Returns
    -------
    Responses
        With ``coverage``: rows without an answer (missing), refusals, and answers that are no number
        (unparseable) are left out and counted.

    Raises
    ------
    InputError
        If a column is missing, or no row has an answer.

    Examples
    --------
    >>> table = responses_table({"group": ["a", "b", "a", "b"], "outcome": ["yes", "no", "I'm sorry, but no.", ""]})
    >>> table.coverage["dropped"]
    {'missing': 1, 'refusals': 1, 'unparseable': 0}
    """
    crossed = group if group is None or isinstance(group, str) else CROSS.join(group)
    asked = {
        "outcome": outcome, "group": crossed, "word": word, "template": template, "item": item,
        "model": model, "repeat": repeat,
    }  # fmt: skip
    given = {ours: theirs for ours, theirs in asked.items() if theirs is not None}
    covariates = [adjust] if isinstance(adjust, str) else [*adjust]
    covariates = [name for name in covariates if name]
    beside = Beside(tuple(covariates), weight or "", rater or "")
    from bayesbias.studies.responses.readers import TEXTS, load_responses

    if _is_path(frame) or (isinstance(frame, list | tuple) and frame and all(map(_is_path, frame))):
        given |= {"adjust": beside_columns.PLUS.join(covariates)} if covariates else {}
        given |= {WEIGHT: weight} if weight else {}
        given |= {RATER: rater} if rater else {}
        return load_responses(
            frame, columns=given, positive=positive, values=values, where=where, refused=refused
        )
    frame = frames.as_pandas(frame)
    raw = frame if isinstance(frame, pd.DataFrame) else pd.DataFrame(frame)
    raw = with_words_in_texts(raw, given)
    if where is not None:
        raw = beside_columns.rows_where(raw, where)
    raw, factors = factorial.with_cells(raw, given.get("group", ""))
    for ours, theirs in given.items():
        checks.choice(theirs, raw.columns, f"the column of the {ours}")
    free = [name for name in raw.columns if name not in (*beside.names, *factors)]
    named = named_columns(raw, free, given, refused=refused)
    text = next((name for name in TEXTS if name in raw.columns), None)
    as_item = text is not None and not {*ASKED} & {*named}
    if as_item:
        named["item"] = str(text)
    table = table_of(raw, named, "data frame", positive, values, factors, beside, refused)
    notes = notes_of_groups(raw, named, given)
    if as_item:
        notes.insert(0, f"The items are the texts of the column {text}.")
    return replace(table, notes=(*notes, *table.notes))


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def named_columns(
    frame: pd.DataFrame,
    columns: Iterable[str],
    given: Mapping[str, str],
    *,
    fields: Iterable[str] | None = None,
    refused: bool = False,
    command: Callable[[str], str] | None = None,
) -> dict[str, str]:
    """Return which column each of ours is: the given one, else one with a usual name.

    Parameters
    ----------
    frame : DataFrame
    columns : iterable of str
        Its columns that may be ours.
    given : mapping
        Our column -> the column that the user names.
    fields : iterable of str, optional
        What an error calls the columns; by default those of the frame.
    refused : bool
        Whether the outcome is that an answer is a refusal. One column alone that has refusals is
        that of the answers.
    command : callable, optional
        Gives the command that names a column of answers, for the error.
    """
    free = [name for name in columns if name not in given.values()]
    usual = {ours: with_usual_names(free, names) for ours, names in USUAL.items()}
    named = {ours: names[0] for ours, names in usual.items() if names} | dict(given)
    labels = {theirs for ours, theirs in named.items() if ours != "outcome"}
    others = [name for name in free if name not in labels]
    if refused and "outcome" not in given:
        texts = columns_of_answers(frame[others], refusals=True)
        if "outcome" not in named:
            texts = texts or columns_of_answers(frame[others])
        if len(texts) == 1:
            named["outcome"] = texts[0]
    if "outcome" not in named:
        names = list(frame.columns if fields is None else fields)
        raise _no_outcome(names, columns_of_answers(frame[others]), command)
    return named


def with_usual_names(columns: Iterable[Any], names: Sequence[str]) -> list[Any]:
    """Return the columns with some names, in the order of the names; capitals do not matter.

    Examples
    --------
    >>> with_usual_names(["Name", "Race", "score"], ["gender", "race", "name"])
    ['Race', 'Name']
    """
    by_name: dict[str, list[Any]] = {}
    for column in columns:
        by_name.setdefault(str(column).casefold(), []).append(column)
    return [column for name in names for column in by_name.get(name, [])]


def notes_of_groups(
    frame: pd.DataFrame, named: Mapping[str, str], given: Mapping[str, str]
) -> list[str]:
    """Say which other column of groups there is, where the user names none."""
    if "group" in given or named.get("group", "group") == "group":
        return []
    used = {*named.values()}
    others = [name for name in with_usual_names(frame, USUAL["group"]) if name not in used]
    others = [name for name in others if frame[name].nunique() > 1]
    if not others:
        return []
    crossed = factorial.CROSS.join([named["group"], others[0]])
    roles = {ours: theirs for ours, theirs in named.items() if ours != theirs} | {"group": crossed}
    columns = ",".join(f"{ours}={roles[ours]}" for ours in USUAL if ours in roles)
    return [
        f"The groups are those of {named['group']}. --columns "
        f'"{columns}" compares those of {others[0]} too.'
    ]


def columns_of_answers(frame: pd.DataFrame, refusals: bool = False) -> list[str]:
    """Return the columns that may hold answers, the most likely by its name first.

    Most cells of such a column are numbers or known labels, and differ; numbers of rows do not count.
    With `refusals`, columns that hold a refusal.

    Examples
    --------
    >>> frame = pd.DataFrame({"id": [1, 2, 3], "n": [5, 5, 3], "mean_score": [2.5, 3.0, 1.5]})
    >>> columns_of_answers(frame)
    ['mean_score', 'n']
    """
    out = []
    for name in frame.columns:
        cells = frame[name].dropna()
        if cells.empty:
            continue
        read = numbers_of(cells)
        if refusals:
            if read.reasons.eq("refusals").any():
                out.append(str(name))
            continue
        numbers = read.values.dropna()
        steps = numbers.diff().dropna()
        counts_rows = len(steps) > 0 and bool(steps.eq(1).all())
        if len(numbers) >= len(cells) / 2 and numbers.nunique() > 1 and not counts_rows:
            out.append(str(name))
    words = (*USUAL["outcome"], *_OF_ANSWERS)

    def unlikely(name: str) -> bool:
        return not any(word in name.casefold() for word in words)

    return sorted(out, key=unlikely)


def measures(frame: pd.DataFrame, labels: pd.DataFrame) -> list[str]:
    """Return the columns of numbers that vary freely: other outcomes, which tell no questions apart.

    A column that numbers prompts or items has each number about equally often, or once among rows with
    the same labels. Numbers that are no whole numbers are outcomes, and so are usual names of them.

    Examples
    --------
    >>> frame = pd.DataFrame({"prompt": [1, 2, 1, 2] * 2, "warmth": [3, 3, 4, 1, 3, 3, 3, 2]})
    >>> measures(frame.assign(p=0.5), pd.DataFrame({"group": ["a"] * 4 + ["b"] * 4}))
    ['warmth', 'p']
    """
    out = []
    for name in frame.columns:
        if str(name).casefold() in USUAL["outcome"]:
            out.append(name)
            continue
        numbers = pd.to_numeric(frame[name], errors="coerce")
        if numbers.isna().any() or pd.api.types.is_bool_dtype(frame[name]):
            continue
        if numbers.ne(numbers.round()).any():
            out.append(name)
            continue
        by = [*(labels[label] for label in labels), numbers]
        counts = numbers.groupby(by, sort=False).size()
        rows = counts.groupby(level=[*range(labels.shape[1])], sort=False)
        is_unequal = bool((rows.max() > rows.min()).any())
        of_all = numbers.value_counts()
        if is_unequal and of_all.max() > _BALANCED * of_all.min():
            out.append(name)
    return out


def _no_outcome(
    fields: Sequence[str], candidates: Sequence[str], command: Callable[[str], str] | None
) -> InputError:
    """Return the error where no column of answers is known, with those that may be it."""
    hints = []
    if len(candidates) != 1:
        hints.append(
            "If each group has a column of its own, make a row of each answer first, in pandas: "
            "frame.melt(LABELS, SCORES, 'group', 'outcome')"
        )
    name = candidates[0] if candidates else "NAME"
    if candidates:
        hints.insert(0, f"Columns that may hold the answers: {some(candidates)}")
    option = f'outcome="{name}"' if candidates else "outcome=NAME"
    hints.append(f"Name the column: {command(name) if command else option}")
    problem = f"expected a row for each answer, and a column of answers, got {some(fields)}"
    return InputError(problem, hint=". ".join(hints))


def table_of(
    raw: pd.DataFrame,
    named: Mapping[str, str],
    where: str = "data frame",
    positive: str | None = None,
    chosen: Mapping[str, float] | None = None,
    factors: Sequence[str] = (),
    beside: Beside = Beside(),  # noqa: B008, which is a tuple
    refused: bool = False,
) -> Responses:
    """Return the table of a frame, whose columns are named (our column -> its column).

    With `factors` the groups cross these columns. Columns `beside` are covariates, weights and raters.
    """
    outcome = named["outcome"]
    notes = []
    checks.labels([str(theirs) for theirs in named.values()], f"{where}, name of a column")
    checks.free_texts([str(theirs) for theirs in raw.columns], f"{where}, name of a column")
    left = [name for name in raw.columns if name == outcome or name not in named.values()]
    answers, turned = positive_scores(raw[left], outcome, positive, where)
    notes += [f"The column {turned}."] if turned else []
    out = pd.DataFrame({"outcome": answers.to_numpy()})
    for ours in (*LABELS, "repeat"):
        out[ours] = "all" if ours == "group" else ""
        if ours in named:
            texts = raw[named[ours]].fillna("").astype(str).str.strip()
            check = checks.labels if ours in NAMES else checks.free_texts
            place = f"{where}, column {named[ours]}"
            out[ours] = frames.checked_texts(texts, place, check).to_numpy()
    numbers = numbers_of(out["outcome"], chosen)
    values, reasons = numbers.values, numbers.reasons
    if refused:
        _check_refusals(out["outcome"], reasons)
        values = reasons.eq("refusals").astype(float)
        reasons = reasons.where(reasons.eq("missing"), "")
    else:
        notes += numbers.notes
    reasons = reasons.mask(out["group"].eq("") & reasons.eq(""), "without a group")
    absent = beside_columns.lacking(raw, beside).reset_index(drop=True)
    reasons = reasons.mask(reasons.eq(""), absent)
    used = reasons.eq("")
    dropped = dict.fromkeys(("missing", "refusals", "unparseable"), 0)
    dropped |= reasons[~used].value_counts().to_dict()
    if not used.any():
        raise _no_number(outcome, out["outcome"][reasons.ne("missing")], dropped)
    examples = checks.once(out["outcome"][reasons.eq("unparseable")].astype(str).str.strip())[:2]
    by_group = used.groupby(out["group"], sort=False).agg(read="size", used="sum")
    lost = pd.crosstab(out["group"], reasons)
    for why in ("missing", "refusals", "unparseable"):
        if why in lost:
            by_group[why] = lost[why].reindex(by_group.index)
    out = out.assign(outcome=values)[used].reset_index(drop=True)
    groups = pd.Series(out["group"].unique())
    alike = groups[groups.str.casefold().duplicated(keep=False)]
    if len(alike):
        warn_user(f"the groups {join_words(alike)} differ only by capitals and are not merged")
    out["word"], spelt = _words_once(out)
    notes += [f"Words that differ only by capitals count once: {some(spelt, 4)}."] if spelt else []
    taken = {*named.values(), *factors, *beside.names}
    of_rows = raw[used.to_numpy()].reset_index(drop=True)
    adjust = [*beside.adjust]
    if beside.rater:
        out[RATER] = _raters(of_rows, beside.rater, where)
        if out[RATER].nunique() < FEWEST_RATERS:
            adjust.append(beside.rater)
    covariates = beside_columns.covariates(of_rows, adjust)
    out = pd.concat([out, covariates], axis=1)
    if beside.weight:
        out[WEIGHT] = beside_columns.weights(of_rows, beside.weight)
    # Rows with the same labels are no repeats where a covariate or a rater tells them apart.
    same = [*LABELS, *covariates.columns, *[RATER] * bool(beside.rater)]
    repeats = int(out.duplicated([*same, *["repeat"] * ("repeat" in named)], keep=False).sum())
    apart: list[str] = []
    distinct: list[str] = []
    unused = [name for name in raw.columns if name not in taken]
    measured = measures(of_rows[unused], out[same])
    unused = [name for name in unused if name not in measured]
    if "repeat" not in named:
        others = raw[unused].astype(str)[used.to_numpy()].reset_index(drop=True)
        several = others.groupby([out[ours] for ours in same], sort=False).nunique() > 1
        differing = [name for name in others if several[name].any()]
        distinct = [str(name) for name in differing if others[name].nunique() > len(out) / 2]
        apart = [str(name) for name in differing if str(name) not in distinct]
        out["repeat"] = out.groupby(same, sort=False).cumcount().astype(str)
    coverage = {
        "rows_read": len(raw),
        "rows_used": int(used.sum()),
        "dropped": dropped,
        "groups": by_group.drop(index="", errors="ignore").to_dict("index"),
        "examples": examples,
        "repeats": repeats,
        "apart": apart,
        "distinct": distinct,
        "hidden": _hidden_words(out),
    }
    if refused:
        outcome = "refused"
    elif raw[outcome].astype(str).str.contains(r"^\W*yes\b", case=False).any():
        outcome = f"{outcome} = yes"
    elif numbers.one:
        outcome = f"{outcome} = {numbers.one}"
    return Responses(
        out[
            [
                *COLUMNS,
                *covariates.columns,
                *[WEIGHT] * bool(beside.weight),
                *[RATER] * bool(beside.rater),
            ]
        ],
        coverage,
        outcome,
        notes=tuple(notes),
        unused=tuple(map(str, unused)),
        factors=factorial.factors_of(raw, factors, groups) if factors else {},
        adjust=tuple(covariates.columns),
        weighted=bool(beside.weight),
        rated=bool(beside.rater),
    )


def _raters(rows: pd.DataFrame, name: str, where: str) -> np.ndarray:
    """Return who rated each answer.

    Raises
    ------
    InputError
        If one rater rated all answers.
    """
    place = f"{where}, column {name}"
    raters = frames.checked_texts(rows[name].astype(str).str.strip(), place, checks.labels)
    if raters.nunique() < 2:
        problem = f"expected two raters or more, got {some(raters.unique())}"
        raise InputError(problem, where=f"the column {name}", hint="leave out rater")
    return raters.to_numpy()


def _check_refusals(answers: "pd.Series[Any]", reasons: "pd.Series[str]") -> None:
    """Refuse answers of which none is a refusal.

    Raises
    ------
    InputError
        If answers are numbers without their texts, or no text is a refusal.
    """
    if reasons.eq("refusals").any():
        return
    where = "--outcome refused"
    answered = answers[reasons.ne("missing")]
    if pd.to_numeric(answered, errors="coerce").notna().all():
        problem = (
            "expected the texts of answers, got numbers alone, in which refusals cannot be counted"
        )
        raise InputError(
            problem, where=where, hint="name the column of texts: --columns outcome=NAME"
        )
    problem = f"expected refusals, got none among {number_of(len(answered), 'answer')}"
    raise InputError(problem, where=where, hint="there is nothing to compare")


def _no_number(outcome: str, answers: pd.Series, dropped: Mapping[str, int]) -> InputError:
    """Return the error where no answer is a number, with some of the cells."""
    texts = [in_one_line(str(text), 30) for text in checks.once(answers)[:3]]
    problem, hint = "expected a row with an answer, got none", None
    if texts:
        problem = f"{problem}, but cells such as {join_words([repr(text) for text in texts])}"
        option = ",".join(f"{text}={number}" for number, text in enumerate(texts[:2]))
        hint = f'name the number of each label: --map "{option}" (values=)'
    return InputError(
        problem,
        where=f"the column {outcome!r}",
        found=dropped,
        valid="0, 1, yes, no or any number",
        hint=hint,
    )


def _hidden_words(rows: pd.DataFrame) -> list[str]:
    """Return words of groups that stand in prompts or items of a table without words."""
    if rows["word"].ne("").any():
        return []
    for name in ("template", "item"):
        found = words_in_texts(rows[name], rows["group"])
        if found is not None:
            return checks.once(word for word in found[WORD] if word)
    return []


def with_words_in_texts(raw: pd.DataFrame, asked: Mapping[str, str]) -> pd.DataFrame:
    """Return a frame with the words in its texts, where the user names such a column.

    Raises
    ------
    InputError
        If no text has words by which groups differ.
    """
    if not {WORD, REST} & ({*asked.values()} - {*map(str, raw.columns)}):
        return raw
    usual = with_usual_names(raw.columns, USUAL["group"])
    group = next((name for name in (asked.get("group"), *usual) if name in raw), None)
    for name in raw.columns if group else ():
        if name != group and not pd.api.types.is_numeric_dtype(raw[name]):
            texts = raw[name].fillna("").astype(str).str.strip()
            found = words_in_texts(texts, raw[group].astype(str))
            if found is not None:
                return raw.assign(**found)
    raise InputError(
        "expected texts of groups that differ by a word, got none",
        where=f"the column {WORD!r}",
        hint="name a column of words (word=)",
    )


def _words_once(rows: pd.DataFrame) -> tuple[pd.Series, list[str]]:
    """Return the words, each in the first spelling that its group has, and the spellings."""
    folded = rows["word"].str.casefold()
    words = rows["word"].groupby([rows["group"], folded], sort=False).transform("first")
    spellings = checks.grouped(
        zip(zip(rows["group"], words, strict=True), rows["word"], strict=True)
    )
    several = [dict.fromkeys(spelt) for spelt in spellings.values()]
    return words, checks.once("/".join(spelt) for spelt in several if len(spelt) > 1)


def cells(table: Responses, *, words_by_group: bool = True) -> pd.DataFrame:
    """Return one row a question: how often the answer was 1 (``chosen``) of how many (``answers``), and the mean ``outcome``.

    With `words_by_group` a word of two groups is two words.
    """
    frame = _with_words_by_group(table) if words_by_group else table.frame
    raters = [RATER] * table.raters_vary
    found = frame.groupby([*LABELS, *table.adjust, *raters], sort=False)["outcome"]
    out = found.agg(chosen="sum", answers="count", outcome="mean").reset_index()
    return _with_question(out, table)


def answers(table: Responses, *, words_by_group: bool = True) -> pd.DataFrame:
    """Return one row an answer, for numbers: its labels, its question and its ``outcome``.

    With `words_by_group` a word of two groups is two words.
    """
    frame = _with_words_by_group(table) if words_by_group else table.frame
    return _with_question(frame[[*LABELS, "outcome", *table.beside]], table)


def _with_words_by_group(table: Responses) -> pd.DataFrame:
    """Return the answers, of which one word of two groups is two words."""
    frame = table.frame
    if words_cross_cells(table):
        return frame
    if table.shares("word") and frame["word"].nunique() > 1:
        frame = frame.assign(word=frame["word"] + " (" + frame["group"] + ")")
    return frame


def _with_question(frame: pd.DataFrame, table: Responses) -> pd.DataFrame:
    """Add the arm, the question, and the arms that answered what the question asks about."""
    question = frames.joined(frame[list(LABELS)])
    frame = frame.assign(arm=frame["group"] + " | " + frame["model"], question=question)
    asked = asked_labels(frame)
    key = asked.groupby(shared_labels(table) or ["template", "item"], sort=False).ngroup()
    arms = frame.groupby(key)["arm"].unique()
    answer_pattern = key.map(arms.map(lambda labels: ", ".join(sorted(labels))))
    frame = frame.assign(answer_pattern=answer_pattern)
    return factorial.with_factors(frame, table) if table.factors else frame


def words_cross_cells(table: Responses) -> bool:
    """Return whether most words are of several cells of factors, such as a name in each age."""
    return bool(table.factors) and "word" in shared_labels(table)


def shared_labels(table: Responses) -> list[str]:
    """Return the columns of which groups have labels in common, so that they answer the same questions.

    A few words that groups have in common, such as a name, are words of each group. They are
    questions where most are in common, or where groups share nothing else.
    """
    shared = [name for name in ("item", "template") if table.shares(name)]
    if table.shares("word"):
        groups = table.frame.groupby("word")["group"].nunique()
        if not shared or (groups > 1).mean() > 0.5:
            shared.append("word")
    return shared


def asked_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the labels of rows of `cells` or `answers`, with words as in the table."""
    labels = frame[list(LABELS)].astype(str)
    suffix = " (" + labels["group"] + ")"
    words = map(str.removesuffix, labels["word"], suffix)
    return labels.assign(word=[*words])


def means_of_questions(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row a question, with the mean ``outcome`` of its repeats, in the order of the first.

    Rows are those of `answers` or `differences`.
    """
    labels = [name for name in frame.columns if name != "outcome"]
    means = frame.groupby(labels, sort=False, as_index=False, observed=True)["outcome"].mean()
    return means[[*frame.columns]]


def differences(table: Responses, repeats: bool = False) -> tuple[pd.DataFrame, int]:
    """Return differences between groups for each question, and how many questions lack a group.

    ``contrast`` names the two groups, ``series`` also the models: each model by itself, and each two
    models by the difference of their differences.

    With repeats, a question has as many rows as the group with the fewest answers to it has: the
    first answers of the groups are compared, then the second, and so on. The mean of these rows is
    moved to the difference of the means of all answers.
    """
    key, frame = table.matching, table.frame
    assert key is not None
    out, lacking = _differences(table, frame, key, [])
    if repeats:
        number = frame.groupby(list(LABELS), sort=False).cumcount()
        single, _ = _differences(table, frame.assign(repeat=number), key, ["repeat"])
        labels = ["model", *ASKED, "contrast"]
        means = single[labels].merge(out, on=labels, how="left")["outcome"]
        within = single["outcome"] - single.groupby(labels)["outcome"].transform("mean")
        out = single.drop(columns="repeat").assign(outcome=means + within)
    question = frames.joined(out[["model", *ASKED]])
    return out.assign(series=out["contrast"] + " | " + out["model"], question=question), lacking


def _differences(
    table: Responses, frame: pd.DataFrame, key: list[str], more: list[str]
) -> tuple[pd.DataFrame, int]:
    """Return differences of rows that agree in a key and in more columns."""
    wide = frame.groupby([*key, *more, "group"])["outcome"].mean().unstack("group")
    rows = frame[[*key, *more]].drop_duplicates().sort_values("model", kind="stable")
    wide = wide.reindex(pd.MultiIndex.from_frame(rows))
    labels = wide.index.to_frame(index=False)
    labels = labels.reindex(columns=["model", *ASKED, *more], fill_value="")
    parts = []
    for name, a, b in group_contrasts(table.groups):
        sides = (wide[list(side)].mean(axis=1, skipna=False).to_numpy() for side in (a, b))
        parts.append(labels.assign(contrast=name, outcome=np.subtract(*sides)))
    out = pd.concat(parts)
    lacking = int(out["outcome"].isna().groupby(out["contrast"]).sum().max())
    out = out.dropna(ignore_index=True)
    between = between_models(out, "model", [*ASKED, *more, "contrast"], "outcome")
    return pd.concat([out, between], ignore_index=True), lacking


def group_contrasts(groups: list[str]) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Return name and both sides of each two groups and, of three and more, of each group and all others.

    Examples
    --------
    >>> [name for name, *_ in group_contrasts(["a", "b", "c"])]
    ['a - b', 'a - c', 'b - c', 'a - others', 'b - others', 'c - others']
    """
    alone = groups if len(groups) > 2 else []
    return [
        *((f"{a} - {b}", (a,), (b,)) for a, b in itertools.combinations(groups, 2)),
        *((f"{a} - others", (a,), tuple(b for b in groups if b != a)) for a in alone),
    ]


def reply_scores(table: Responses) -> list[tuple[Any, ...]]:
    """Return the published scores of replies: their means by item, and by prompt."""
    scores = answer_scores(table)
    by = [*["model"] * (scores["model"].nunique() > 1), "item"]
    keys = [by, [*by, "template"]] if scores["template"].nunique() > 1 else [by]
    return [
        (", ".join(map(str, labels)), "score per reply", *one_sample(part["score"]))
        for key in keys
        for labels, part in scores.groupby(key, sort=False)
    ]


def answer_scores(table: Responses) -> pd.DataFrame:
    """Return the score of each answer: ``model, item, template, repeat, score``.

    With a the choices of the stigmatized group among negative words, b among positive ones, and c and d
    those of the default group, it is a / (a + b + .01) + d / (c + d + .01) - 1.

    Notes
    -----
    Source: Bai, Wang, Sucholutsky & Griffiths (2025, PNAS 122(8)).
    """
    key = [*PROMPT, "repeat"]
    frame = table.frame
    negative = frame["group"] == table.groups[0]
    stigma = frame["outcome"] == 1
    counts = frame[key].assign(
        a=stigma & negative, b=stigma & ~negative, c=~stigma & negative, d=~stigma & ~negative
    )
    sums = counts.groupby(key, sort=False, as_index=False).sum()
    a, b, c, d = (sums[name] for name in "abcd")
    return sums[key].assign(score=a / (a + b + 0.01) + d / (c + d + 0.01) - 1)


def shared_by_replies(table: Responses) -> Iterator[tuple[Any, list[str], np.ndarray]]:
    r"""Yield each prompt of a chat model, its groups, and a root of the covariance of what its replies share.

    A reply answers many questions at once, so that its answers go together. With e the deviation of an
    answer from the mean p of its question, groups' means of e in R replies have the covariance C. The mean of a
    group of W words would have the variance :math:`v = \sum_w p_w (1 - p_w) / ((R - 1) W^2)` if answers were
    independent. What replies share is :math:`C / R - \operatorname{diag}(v)`, in log odds divided by the
    slopes :math:`\overline{p (1 - p)}` of the groups.
    """
    if table.published != "answers":
        return
    asked = table.frame.groupby(list(LABELS), sort=False)["outcome"]
    mean = asked.transform("mean")
    slope = mean * (1 - mean)
    frame = table.frame.assign(e=table.frame["outcome"] - mean, slope=slope)
    frame["v"] = slope / (asked.transform("count") - 1)
    for labels, own in frame.groupby(PROMPT, sort=False):
        replies = own.groupby(["repeat", "group"], sort=False)["e"].mean().unstack(fill_value=0.0)
        n, by_group = len(replies), own.groupby("group", sort=False)
        slopes = by_group["slope"].mean().reindex(replies.columns)
        if n < _FEWEST_REPLIES or slopes.min() <= FLAT:
            continue
        alone = (by_group["v"].mean() / by_group["word"].nunique()).reindex(replies.columns)
        shared = replies.T @ replies / (n * (n - 1)) - np.diag(alone)
        square, turn = np.linalg.eigh(shared / np.outer(slopes, slopes))
        yield labels, list(replies.columns), turn * np.sqrt(np.maximum(square, 0.0))


def paired_tests(table: Responses, frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """Return paired t-tests of differences, and shares of stereotyped choices."""
    from scipy import stats

    rows: list[tuple[Any, ...]] = []
    for (contrast, model), part in frame.groupby(["contrast", "model"], sort=False):
        of = f", {model}" if len(table.models) > 1 else ""
        units = {"pairs": part["outcome"]}
        for column in ("word", "template", "item"):
            if column in table.categories:
                continue
            means = part.groupby(column, sort=False)["outcome"].mean()
            if 1 < len(means) < len(part):
                units[f"{column}s"] = means
        rows += [
            (f"{contrast}{of}", f"paired t over {unit}", *one_sample(values))
            for unit, values in units.items()
        ]
        if table.published != "share" or model not in table.models:
            continue
        # Of pairs of which the stereotyped sentence is more likely, in all and for each item.
        for name, own in [("all", part), *part.groupby("item", sort=False)]:
            n, more = len(own), int((own["outcome"] > 0).sum())
            p = float(stats.binomtest(more, n).pvalue)
            rows.append((f"{name}{of}", "share of stereotyped choices", n, more / n, np.nan, p))
    return rows


def tests_of_all(table: Responses) -> list[tuple[Any, ...]]:
    """Return Welch's t-test of all answers of each two groups, or of each two levels of a factor."""
    from scipy import stats

    rows: list[tuple[Any, ...]] = []
    for level, name, weights, against, _ in factorial.contrasts_of(table):
        if level not in ("overall", "main") or against == "mean":
            continue
        a = [group for group, weight in weights.items() if weight > 0]
        b = [group for group, weight in weights.items() if weight < 0]
        for model, frame in table.frame.groupby("model", sort=False):
            x, y = (frame.loc[frame["group"].isin(side), "outcome"].to_numpy() for side in (a, b))
            t = p = np.nan
            if min(len(x), len(y)) > 1 and max(np.ptp(x), np.ptp(y)) > FLAT:
                t, p = map(float, stats.ttest_ind(x, y, equal_var=False))
            mean = float(x.mean() - y.mean()) if len(x) and len(y) else np.nan
            label = f"{name}, {model}" if len(table.models) > 1 else name
            rows.append((label, "t-test of all answers", len(x) + len(y), mean, t, p))
    return rows
