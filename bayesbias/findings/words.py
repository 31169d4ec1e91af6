"""What a fit of distances says: made from its draws, for a reader who sees no table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbias.core.digits import (
    as_known,
    ends_as_known,
    error_of,
    probability_printed,
    share_printed,
    shares_printed,
)
from bayesbias.core.wording import as_percent, conjoined, ended, number_of
from bayesbias.findings.frequency import frequency_doubts, frequency_notes, frequency_sentences
from bayesbias.findings.outside import outside_doubts
from bayesbias.findings.parts import Doubt, Findings, sentence_of_losses
from bayesbias.findings.pooling import pooling_doubts
from bayesbias.findings.priors import unexamined_priors
from bayesbias.findings.residuals import word_doubts
from bayesbias.findings.slopes import sentences_of_slopes
from bayesbias.findings.trust import agreed, no_conclusion
from bayesbias.findings.unequal import unequal_doubts, unlike_all_classes
from bayesbias.findings.wide_rope import rope_doubts, wide_rope
from bayesbias.inference.estimands import CONTRASTS, PROB, ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.scope import (
    has_new_words,
    holds_for,
    same_for_all_words,
    sure_ends,
    words_said,
    words_scatter,
)
from bayesbias.inference.spreads import has_variance
from bayesbias.inference.standard import in_full
from bayesbias.inference.verdicts import (
    Verdict,
    contrast_phrase,
    disagreement,
    hidden_disagreement,
    side,
    sides,
)
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.coverage import Loss, composed_in_words, losses, losses_for_covariates, words_of_groups

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "classes_of_one_word",
    "findings_of_words",
    "lists_in_order",
    "own_lists",
    "said_by_class",
    "said_of_each",
]

_CALLED = {
    "protected_class": "classes",
    "attribute_class": "lists of stereotypes",
    "protected_word": "protected words",
}


def findings_of_words(fit: BiasFit, prob: float = PROB, rope: float = ROPE) -> Findings:
    """Say the main result, what it holds for, what the model leaves out, and whether the sampler can be believed.

    Nothing is concluded from a fit that has not converged. The headline is about new words like the listed ones
    (the ``population``, on average): whether protected words lie nearer to the stereotypes of their own class than to those of
    other classes.
    """
    name = str(fit.provenance.get("table", {}).get("name", "this table"))
    state = fit.diagnostics()
    doubts = doubts_of_words(fit, prob, rope)
    sentences: tuple[str, ...] = ()
    one = same_for_all_words(fit.spec)
    coverage = fit.provenance.get("coverage", {})
    lost = (*losses(coverage), *_without_covariates(fit, coverage))
    if not _has_contrasts(fit):
        headline = f"{name}: the table holds no two connections to hold against each other, only their mean distances."
    elif not state["ok"]:
        headline = f"{name}: {no_conclusion(state['problems'][0])}"
    else:
        frame = _with_sure_ends(fit.contrasts(prob=prob, rope=rope))
        wide = wide_rope(fit, frame["contrast"].iloc[0], rope)
        main = _main_result(fit, frame, prob, rope, _in_standard_deviations(fit), bool(wide))
        missing = sentence_of_losses(lost, frame["contrast"].iloc[0].split(" - "))
        size = f" The {ended(wide)}" if wide else ""
        headline = (
            f"{name}: {main}{size}{missing}{'' if one else _disagreement(frame, fit.table)}{_caveat(doubts)}"
        )
        sentences = (
            *_superiority(fit, prob),
            *_sentences(fit, frame, prob),
            *sentences_of_slopes(fit, prob),
            *frequency_sentences(fit),
        )
    return Findings(
        subject=name,
        headline=headline,
        sentences=sentences,
        doubts=doubts,
        problems=tuple(state["problems"]),
        losses=lost,
        notes=(
            *map(str, coverage.get("notes", ())),
            *_missing_words(coverage),
            *frequency_notes(fit),
        ),
        trust=agreed(fit),
        unexamined=unexamined_priors(fit),
    )


def doubts_of_words(fit: BiasFit, prob: float = PROB, rope: float = ROPE) -> tuple[Doubt, ...]:
    """Return all that a fit of distances is doubted for: residuals, priors, observations, frequency, pooling, the ROPE."""
    doubts = (*word_doubts(fit), *_outside(fit, prob), *frequency_doubts(fit, rope))
    if not _has_contrasts(fit) or not fit.diagnostics()["ok"]:
        return doubts
    frame = fit.contrasts(prob=prob, rope=rope)
    wide = wide_rope(fit, frame["contrast"].iloc[0], rope)
    return (
        *doubts,
        *unequal_doubts(frame, fit.table),
        *pooling_doubts(fit.spec, frame),
        *rope_doubts(wide, has_variance(fit.spec)),
    )


def _without_covariates(fit: BiasFit, coverage: dict[str, Any]) -> tuple[Loss, ...]:
    """Return the lists of which too little is left by a model whose covariates the other words lack."""
    joined = coverage.get("covariates", {})
    covariates = [name for name in fit.spec.covariates() if name in joined]
    if not covariates:
        return ()
    columns = (
        ("protected", "protected_class", "protected_word"),
        ("attributes", "attribute_class", "attribute"),
    )
    left = {
        key: words_of_groups(fit.table, group, word)
        for key, group, word in columns
        if {group, word} <= set(fit.table.columns)
    }
    return losses_for_covariates(
        {key: coverage.get(key, {}) for key in (*left, "covariates")}, covariates, left
    )


def _outside(fit: BiasFit, prob: float) -> list[Doubt]:
    """Doubt intervals of the listed words that leave out what was observed of them."""
    levels = {
        level: _CALLED.get(about.by, f"labels of {about.by}")
        for level, about in fit.spec.results.levels.items()
    }
    return outside_doubts(fit, levels, prob) if _has_contrasts(fit) and fit.diagnostics()["ok"] else []


def _has_contrasts(fit: BiasFit) -> bool:
    if fit.spec.results.group != "connection":
        return True  # what cannot be contrasted is refused by `contrasts`, with a reason
    present = set(map(str, fit.table["connection"].unique()))
    return any(a in present and b in present for a, b in CONTRASTS)


def _main_result(fit: BiasFit, frame: pd.DataFrame, prob: float, rope: float, beside: str, wide: bool) -> str:
    row: Any = next(iter(_rows(frame, "overall", "population").itertuples()))
    first, second = row.contrast.split(" - ")
    how = contrast_phrase(row.sure_low, row.sure_high, rope, wide=wide)
    return (
        f"on average over {words_said(fit.spec)}, {_WHAT[first]} are {how} "
        f"{_WHAT[second]} ({as_known(row, 'mean', signed=True)} in cosine distance, {as_percent(prob)} HPDI {_ends(row)}"
        f"{beside}; P(nearer) {_probability_in_words(row)})."
    )


def _in_standard_deviations(fit: BiasFit) -> str:
    """Give the contrast of the headline on the scale that other vectors share; empty where pairs need have none."""
    if not has_variance(fit.spec):
        return ""
    row = fit.standardized(level="overall", estimand="population").iloc[0]
    return f", or {as_known(row, 'mean', 2, signed=True)} {in_full(row['unit'])}"


def _superiority(fit: BiasFit, prob: float) -> list[str]:
    """Say how often a random pair of the first connection is nearer."""
    if not has_variance(fit.spec):
        return []
    row = fit.standardized(prob, level="overall", estimand="population").iloc[0]
    first, second = row["contrast"].split(" - ")
    return [
        f"Of two random pairs, one {first} and one {second}, the {first} one is nearer {_of_hundred(row, 'superiority')} times "
        f"in 100 ({as_percent(prob)} HPDI {' to '.join(_ends_of_hundred(row, 'superiority'))}; 50 is chance{_as_here(fit)})."
    ]


def _as_here(fit: BiasFit) -> str:
    """Say for which covariates pairs are random, where a slope carries a part of their scatter."""
    covariates = fit.spec.covariates()
    if not covariates:
        return ""
    verb = "is" if len(covariates) == 1 else "are"
    return f"; of words whose {conjoined(covariates)} {verb} spread as among those fitted here"


def _disagreement(frame: pd.DataFrame, table: pd.DataFrame) -> str:
    """Say so where the mean over classes hides that they clearly point different ways, or goes a way that none of them goes."""
    if said := unlike_all_classes(frame, table):
        return f" {said}"
    classes, listed = (_first_contrast(frame, "class", which) for which in _OF_CLASSES)
    first, second = (_first_contrast(frame, "stereotype", which) for which in _OF_CLASSES)
    hidden = hidden_disagreement(classes, listed, lists=(first, second))
    return f" {hidden}" if hidden else ""


def _caveat(doubts: tuple[Doubt, ...]) -> str:
    """Say in the headline what concerns it: what the model leaves out, and what that does to the interval overall."""
    doubts = tuple(doubt for doubt in doubts if doubt.model is not None)
    if not doubts:
        return ""
    effects = {doubt.effect for doubt in doubts if doubt.level in (None, "overall")} - {None}
    how = f", and this interval is {next(iter(effects))}" if len(effects) == 1 else ""
    models = dict.fromkeys(str(doubt.model) for doubt in doubts)
    return f" Its residuals show something that this model leaves out{how}: fit the model {conjoined(models)} as well."


def _with_sure_ends(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the ends as far as they are known: nothing is concluded within twice their Monte Carlo error."""
    ends = [sure_ends(row) for row in frame.itertuples()]
    return frame.assign(sure_low=[low for low, _ in ends], sure_high=[high for _, high in ends])


def _sentences(fit: BiasFit, frame: pd.DataFrame, prob: float) -> list[str]:
    row: Any = next(iter(_rows(frame, "overall", "listed_words").itertuples()))
    out = [
        f"The model {fit.spec.name} has no spread of words: it says nothing of new ones, and intervals are as "
        "wide as its noise makes them."
        if not words_scatter(fit.spec)
        else f"For the listed words alone the same difference is {as_known(row, 'mean', signed=True)} "
        f"({as_percent(prob)} HPDI {_ends(row)}); their distances are known exactly, and that width is the model's noise.",
    ]
    if same_for_all_words(fit.spec):
        return [
            *out,
            f"The form of the model {fit.spec.name} forces one difference on all classes and words.",
        ]
    out += _one_class(fit.table)
    out += _new_word(fit, str(row.contrast), prob)
    classes, lists = _first_contrast(frame, "class"), lists_in_order(frame)
    if len(classes) > 1:
        out.append(f"{said_by_class(_gap(classes), fit.spec)}: {said_of_each(classes)}.")
        out += classes_of_one_word(fit.spec, fit.table)
    listed = _first_contrast(frame, "class", "listed_words")
    if disagreement(listed) and not disagreement(classes):
        out.append(f"By class, of the listed words alone: {said_of_each(listed)}.")
    if len(lists) > 1:
        out.append(
            f"By list of stereotypes, words of its own class less words of others: {said_of_each(lists)}."
        )
    out += _carried_by_a_list(classes, lists, own_lists(fit.table))
    words = _first_contrast(frame, "word")
    if len(words):
        nearer, farther = sides(words)
        out.append(
            f"By word ({holds_for(fit.spec, 'word')}), the interval lies below zero for {_counted(nearer)} of "
            f"{number_of(len(words), 'protected word')}{_named(nearer)} and above it for {_counted(farther)}{_named(farther)}."
        )
    return out


def _one_class(table: pd.DataFrame) -> list[str]:
    """Say so where the words of one class alone are held against stereotypes of several."""
    classes = list(table["protected_class"].unique()) if "protected_class" in table else []
    if len(classes) != 1 or "different" not in set(map(str, table["connection"].unique())):
        return []
    return [
        f"All words are of the class {classes[0]}: whether its stereotypes lie near to these words or near to any word, no other "
        "class tells."
    ]


def _gap(rows: pd.DataFrame) -> str:
    return str(rows["contrast"].iloc[0])


_LESS = {f"{a} - {b}": f"{a} less {b}" for a, b in CONTRASTS} | {
    "associated - different": "own stereotypes less others"
}


def said_by_class(contrast: str, spec: ModelSpec, when: str = "") -> str:
    """Begin the sentence on a contrast by class: what is held against what, and what it holds for.

    Examples
    --------
    >>> import bayesbias as bb
    >>> said_by_class("associated - different", bb.load_model("default"), "after")
    'By class, own stereotypes less others, after (new words of the class)'
    """
    return f"By class, {_LESS[contrast]}{f', {when}' if when else ''} ({holds_for(spec, 'class')})"


def classes_of_one_word(spec: ModelSpec, table: pd.DataFrame) -> list[str]:
    """Say so where new words are spoken of in a class of which a single word was fitted.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none").frame
    >>> classes_of_one_word(bb.load_model("default"), table)
    []
    >>> few = table[table["protected_word"].isin(["math", "poetry", "art"])]
    >>> [text.split(":")[0] for text in classes_of_one_word(bb.load_model("default"), few)]
    ['Of math a single word was fitted, which shows no scatter']
    """
    if not words_scatter(spec) or "protected_word" in spec.results.levels["class"].held:
        return []
    one = [name for name, n in words_of_groups(table, "protected_class", "protected_word").items() if n == 1]
    if not one:
        return []
    own, other = ("it", "the other classes") if len(one) == 1 else ("them", "other classes")
    return [
        f"Of {conjoined(one)} a single word{'' if len(one) == 1 else ' each'} was fitted, which shows no scatter: how far new "
        f"words of {own} vary comes from {other} and the prior."
    ]


def said_of_each(
    rows: pd.DataFrame, mean: str = "mean", low: str = "hpdi_low", high: str = "hpdi_high"
) -> str:
    """Name each row with its mean and interval, which stand in the columns that are named.

    Examples
    --------
    >>> import pandas as pd
    >>> said_of_each(pd.DataFrame({"name": ["a"], "mean": [-0.02], "hpdi_low": [-0.03], "hpdi_high": [0.01]}))
    'a -0.020 (-0.030 to +0.010)'
    """
    return ", ".join(
        f"{row.name} {as_known(row, mean, signed=True)} ({' to '.join(ends_as_known(row, low, high, signed=True))})"
        for row in rows.itertuples(index=False)
    )


def lists_in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the contrasts of the lists of stereotypes, those of the headline, in the order of the classes.

    Parameters
    ----------
    frame : DataFrame
        As `BiasFit.contrasts` returns it.
    """
    lists = _first_contrast(frame, "stereotype")
    order = list(_first_contrast(frame, "class")["name"])
    place = [order.index(name) if name in order else len(order) for name in lists["name"]]
    return lists.assign(_place=place).sort_values("_place", kind="stable").drop(columns="_place")


def own_lists(table: pd.DataFrame) -> dict[str, str]:
    """Return the list of stereotypes of each class that has one of its own, whatever that is called.

    A list has the name of its class, or another, as the pleasant words that are associated with flowers.

    Parameters
    ----------
    table : DataFrame
        Pairs, as ``fit.table``.
    """
    if not {"protected_class", "attribute_class", "connection"} <= set(table.columns):
        return {}
    own = table.loc[
        table["connection"] == "associated", ["protected_class", "attribute_class"]
    ].drop_duplicates()
    once = own[~own["protected_class"].duplicated(keep=False)]
    return dict(zip(once["protected_class"].astype(str), once["attribute_class"].astype(str), strict=True))


def _counted(names: list[str]) -> str:
    return str(len(names)) if names else "none"


def _named(names: list[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _new_word(fit: BiasFit, contrast: str, prob: float) -> list[str]:
    """Say how far a single new word may lie from the mean over new words, and how many go the other way."""
    if not has_new_words(fit.spec):
        return []
    frame = fit.new_words(prob)
    rows = frame[frame["contrast"] == contrast]
    if rows.empty:
        return []
    row = rows.iloc[0]
    first, second = row["contrast"].split(" - ")
    # What the share counts lies on the other side of zero than the estimated mean over new words.
    other = "farther from" if row["mean"] < 0 else "nearer to"
    return [
        f"A single new word has a difference of its own, which lies between {' and '.join(ends_as_known(row, signed=True))} with "
        f"a probability of {as_percent(prob)}; {_of_hundred(row, 'opposite')} of 100 new words are {other} {_OWN[first]} than "
        f"{other.split()[1]} {_OWN[second]} ({as_percent(prob)} HPDI {' to '.join(_ends_of_hundred(row, 'opposite'))})."
    ]


def _ends(row: Any) -> str:
    return " to ".join(ends_as_known(row, signed=True))


# Times in a hundred that say more than their number: never, always, and chance.
_MARKS = {"superiority": (0, 50, 100), "opposite": (0, 100)}


def _of_hundred(row: Any, field: str) -> str:
    return share_printed(row[field], error_of(row, field), marks=_MARKS[field]).removesuffix("%")


def _ends_of_hundred(row: Any, field: str) -> list[str]:
    error = error_of(row, f"{field}_low", f"{field}_high")
    ends = shares_printed([row[f"{field}_{end}"] for end in ("low", "high")], error, marks=_MARKS[field])
    return [end.removesuffix("%") for end in ends]


def _carried_by_a_list(classes: pd.DataFrame, lists: pd.DataFrame, listed: dict[str, str]) -> list[str]:
    """Say so where a class's contrast is clear, and that of its stereotypes between words of different classes is not.

    A list may lie near to, or far from, words of all classes. That its stereotypes are no nearer to words of their own
    class is not shown by an interval that holds zero: it is open, unless the interval lies on the other side.
    """
    out = []
    for c in classes.itertuples():
        where = side(c.sure_low, c.sure_high)
        own = [side(r.sure_low, r.sure_high) for r in lists[lists["name"] == listed.get(c.name)].itertuples()]
        if where is Verdict.OPEN or not own or own[0] is where:
            continue
        of = c.name if listed[c.name] == c.name else f"the list {listed[c.name]}"
        here, other = (
            ("nearer to", "farther from") if where is Verdict.BELOW else ("farther from", "nearer to")
        )
        if own[0] is Verdict.OPEN:
            out.append(
                f"The difference of {c.name} may be that of the lists: whether the stereotypes of {of} are {here} words of "
                f"{c.name} than {here.partition(' ')[2]} words of other classes is open."
            )
        else:
            out.append(
                f"The difference of {c.name} is that of the lists: the stereotypes of {of} are {other} words of {c.name} "
                f"than {other.partition(' ')[2]} words of other classes."
            )
    return out


def _rows(frame: pd.DataFrame, level: str, estimand: str) -> pd.DataFrame:
    return frame[(frame["level"] == level) & (frame["estimand"] == estimand)]


_OF_CLASSES = ("population", "listed_words")


def _first_contrast(frame: pd.DataFrame, level: str, estimand: str = "population") -> pd.DataFrame:
    """Return the rows of the contrast of the headline, at another level."""
    rows = _rows(frame, level, estimand)
    return rows[rows["contrast"] == _rows(frame, "overall", "population")["contrast"].iloc[0]]


_OWN = {
    "associated": "the stereotypes of their own class",
    "different": "those of other classes",
    "human": "human control words",
    "neutral": "neutral control words",
}
_WHAT = {
    "associated": "the stereotypes of a word's own class",
    "different": "the stereotypes of other classes",
    "human": "human control words",
    "neutral": "neutral control words",
}


def _probability_in_words(row: Any) -> str:
    text = probability_printed(row.p_below_zero, error_of(row, "p_below_zero"))
    return f"= {text}" if text[0].isdigit() else text


def _missing_words(coverage: dict[str, Any]) -> list[str]:
    """Say how many words of each side are missing, and which; all of them stand in coverage.csv."""
    out = []
    for part, noun in (("protected", "protected words"), ("attributes", "attributes")):
        for name, group in coverage.get(part, {}).items():
            if group["missing"]:
                shown = ", ".join(group["missing"][:8]) + (" ..." if len(group["missing"]) > 8 else "")
                out.append(f"missing: {len(group['missing'])} of {group['listed']} {noun} of {name}: {shown}")
    matched = coverage.get("matched", {})
    if matched:
        noun = "word" if len(matched) == 1 else "words"
        shown = ", ".join(f"{asked} as {taken}" for asked, taken in list(matched.items())[:8])
        out.append(
            f"{len(matched)} {noun} found in another spelling: {shown}{' ...' if len(matched) > 8 else ''}"
        )
    if composed := composed_in_words(coverage):
        out.append(composed)
    return out
