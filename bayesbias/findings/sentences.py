"""What sentence tests say, beside their table."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Context
from typing import TYPE_CHECKING, Any

from bayesbias.core.digits import as_known, ends_as_known, error_of, p_printed, printed
from bayesbias.core.wording import as_percent, number_of
from bayesbias.findings.parts import Doubt, Findings, sentence_of_losses
from bayesbias.inference.scope import farther_than, sure_ends
from bayesbias.inference.verdicts import Verdict, disagreement, hidden_disagreement, side
from bayesbias.tables.coverage import Loss, loss_of

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.studies.seat_result import SeatResult

__all__ = ["findings_of_sentences", "named_encoder"]

_CLEAR = 0.01  # where the paper draws its line


def named_encoder(model: str, options: str) -> str:
    """Name an encoder with the options that set it apart from others of its model."""
    return f"{model} ({options})" if options else model


def findings_of_sentences(result: SeatResult) -> Findings:
    """Say how many tests are clear, and what a reader of their table should know beside it.

    That is: related tests that disagree, p-values that hang on counting sentences as independent, examples that were
    left out, and the footnotes of single tests.
    """
    encoders = result.frame.groupby(["model", "options"], sort=False)
    several = encoders.ngroups > 1
    names = [named_encoder(*key) for key, _ in encoders]
    prob = float(result.provenance["prob"]) if "contrast" in result.frame else None
    clear = [_clear(name, rows, prob) for name, (_, rows) in zip(names, encoders, strict=True)]
    losses = _losses(result, several)
    return Findings(
        subject=f"sentence tests on {', '.join(names)}",
        headline=f"p is below {_CLEAR:g} after Holm's correction in {'; '.join(clear)}.{sentence_of_losses(losses)}"
        if clear
        else "No test was run.",
        sentences=(
            *_of_one(result, prob),
            *_of_classes(result, several),
            *_by_words(result, several),
            *_related(result, several),
            *_footnotes(result, several),
        ),
        doubts=tuple(_prior_doubts(result, several)),
        problems=tuple(_not_converged(result)),
        losses=losses,
        notes=tuple(_left_out(result)),
    )


def _clear(name: str, rows: pd.DataFrame, prob: float | None) -> str:
    """Count the clear tests of an encoder, those of them that are when each word counts once, and what a fit finds."""
    clear = rows[rows["p_holm"] < _CLEAR]
    kept, unknown = int((clear["p_words"] < _CLEAR).sum()), int(clear["p_words"].isna().sum())
    shares = [f"{kept} when each word counts once"] if kept + unknown < len(clear) else []
    shares += [f"{unknown} with words that are not stated"] if unknown else []
    text = f"{len(clear)} of {number_of(len(rows), 'test')} on {name}"
    if shares:
        text += f", of which {' and '.join(shares)}"
    if prob is None:
        return text
    fitted = rows[rows["contrast"].notna()]
    fitted = fitted[fitted["converged"].astype(bool)]
    if not len(fitted):
        return text
    sides = [side(*sure_ends(row)) for row in fitted.itertuples()]
    below, above = sides.count(Verdict.BELOW), sides.count(Verdict.ABOVE)
    return (
        f"{text} (by the fitted model, {_of_what(fitted)}, the {as_percent(prob)} HPDI of associated - different lies "
        f"below zero, as supposed, in {below} of {len(fitted)}{f', above in {above}' if above else ''})"
    )


def _of_one(result: SeatResult, prob: float | None) -> list[str]:
    """Say of a single test, which no count describes, how large its effect is, and to which side."""
    import pandas as pd

    if len(result.frame) != 1:
        return []
    (row,) = result.frame.to_dict("records")
    if pd.isna(row["effect_size"]):
        return []
    size = float(row["effect_size"])
    way = (
        "as the test supposes"
        if size > 0
        else "the other way than the test supposes"
        if size < 0
        else "to no side"
    )
    said = f"{row['test']}: the effect size is {size:+.2f}, {way}"
    if not pd.isna(row["p_value"]):
        said += f"; one-sided p {p_printed(row['p_value'])}"
    if prob is not None and not pd.isna(row["contrast"]) and bool(row["converged"]):
        low, high = ends_as_known(row, signed=True)
        said += (
            f". In distance, associated - different is {as_known(row, 'contrast', signed=True)} {_of_what(result.frame)} "
            f"({as_percent(prob)} HPDI {low} to {high})"
        )
    return [f"{said}."]


def _of_what(rows: pd.DataFrame) -> str:
    """Say what an interval of the fitted model holds for."""
    if rows["p_words"].isna().all():
        return "for new sentences, each taken for a word of its own"
    levels = set(rows["level"])
    if levels <= {"word"}:
        return "for new words"
    return f"for new words and{', where there are any,' if 'word' in levels else ''} templates"


def _of_classes(result: SeatResult, several: bool) -> list[str]:
    """Say of which tests a mean over both sets of targets hides that they clearly go different ways."""
    out = []
    converged = (
        result.frame[result.frame["converged"].astype(bool)] if len(result.classes) else result.frame[:0]
    )
    for row in converged.itertuples():
        of = result.classes
        own = of[(of["model"] == row.model) & (of["options"] == row.options) & (of["test"] == row.test)]
        ends = [sure_ends(each) for each in own.itertuples()]
        own = own.assign(sure_low=[low for low, _ in ends], sure_high=[high for _, high in ends])
        new, listed = (own[own["estimand"] == which] for which in ("population", "listed_words"))
        if said := hidden_disagreement(new, listed, "sure_low", "sure_high"):
            each = new if disagreement(new, "sure_low", "sure_high") else listed
            numbers = ", ".join(
                f"{one.name} {as_known(one, 'mean', signed=True)}" for one in each.itertuples()
            )
            lead = f"{named_encoder(row.model, row.options)}, {row.test}" if several else row.test
            out.append(
                f"{lead}: {said[:1].lower()}{said[1:].removesuffix('.')} ({numbers}); a set of attributes that is near to "
                "all targets, or far from them, may make it."
            )
    return out


def _by_words(result: SeatResult, several: bool) -> list[str]:
    """Say how many tests are clear only because sentences count as independent."""
    out = []
    for (model, options), rows in result.frame.groupby(["model", "options"], sort=False):
        lead = f"{named_encoder(model, options)}: " if several else ""
        sentences = rows[(rows["level"] == "sentence") & rows["p_words"].notna()]
        by_sentence = sentences[sentences["p_upper"] < _CLEAR]
        lost = by_sentence[by_sentence["p_words"] >= _CLEAR]
        if len(by_sentence):
            far = lost.loc[lost["p_words"].idxmax()] if len(lost) else None
            tail = (
                "; sentences of one word are not independent, and p falls with every template that is added"
                f" ({far['test']}: {_over_sentences(far)}; {far['p_words']:.1g} over words)"
                if far is not None
                else ""
            )
            text = f"{lead}{_kept(len(by_sentence), len(lost))}{tail}."
            out.append(text[0].upper() + text[1:] if not several else text)
    return out


def _kept(tests: int, lost: int) -> str:
    """Say how many tests with a small p over sentences have one over words too."""
    once = "when each word counts once"
    if tests == 1:
        return f"the one sentence test with p below {_CLEAR:g} {'loses' if lost else 'keeps'} that {once}"
    of = f"of {tests} sentence tests with p below {_CLEAR:g},"
    if not lost:
        return f"{of} all keep that {once}"
    if lost == tests:
        return f"{of} none keeps that {once}"
    kept = tests - lost
    return f"{of} {kept} {'keeps' if kept == 1 else 'keep'} that {once} and {lost} {'does' if lost == 1 else 'do'} not"


def _over_sentences(row: Mapping[Any, Any]) -> str:
    """Say which p over sentences is meant: not the published one, which is sampled and never below 0.00001."""
    if row["p_method"] == "exact":
        return f"exact p {row['p_upper']:.1g} over sentences"
    # A bound that is rounded stays a bound.
    bound = float(Context(prec=2, rounding=ROUND_CEILING).create_decimal(repr(float(row["p_upper"]))))
    how = "exact bound" if row["p_method"] == "bounds" else "99% bound of drawn partitions"
    return f"p at most {bound:.2g} over sentences, {how}"


def _related(result: SeatResult, several: bool) -> list[str]:
    """Say which related tests do not agree."""
    import pandas as pd

    out = []
    for row in result.consistency().itertuples():
        lead = f"{named_encoder(row.model, row.options)}: " if several else ""
        faults = []
        if not row.same_sign:
            faults.append("effects of opposite sign")
        if not row.same_verdict:
            faults.append(f"p below {_CLEAR:g} in some and not in others")
        if not (row.p_rises is pd.NA or row.p_rises):  # missing where it need not rise
            faults.append("p falls where fewer words should make it rise")
        if faults:
            sizes = ", ".join(f"{size:.2f}" for size in row.effect_sizes)
            out.append(
                f"{lead}{', '.join(row.tests)} ({row.group}) do not agree: {'; '.join(faults)} (effect sizes {sizes})."
            )
    return out


def _shift(row: Mapping[str, Any]) -> str:
    return printed(abs(row["prior_shift"]), row.get("mcse_prior_shift"), 1)


def _footnotes(result: SeatResult, several: bool) -> list[str]:
    """Return the footnotes that the daggers of the table point to."""
    return [
        f"† {f'{named_encoder(row.model, row.options)}, ' if several else ''}{row.test}: {row.note}."
        for row in result.notes.itertuples()
    ]


def _left_out(result: SeatResult) -> list[str]:
    """Say which words an encoder lacks."""
    out = []
    for (model, options), rows in result.dropped.groupby(["model", "options"], sort=False):
        words = list(dict.fromkeys(rows["word"]))
        shown = ", ".join(words[:8]) + (" ..." if len(words) > 8 else "")
        out.append(
            f"{named_encoder(model, options)} lacks forms of {number_of(len(words), 'word')}; "
            f"{number_of(len(rows), 'example')} made of those forms {'is' if len(rows) == 1 else 'are'} left out: {shown}"
        )
    return out


_SETS = {
    "targ1": "the first targets",
    "targ2": "the second targets",
    "attr1": "the first attributes",
    "attr2": "the second attributes",
}


def _losses(result: SeatResult, several: bool) -> tuple[Loss, ...]:
    """Return the sets of tests of which an encoder lacks so many examples that little of them is left."""
    out = []
    key = ["model", "options", "test"]
    lost = result.dropped.groupby([*key, "set"], sort=False, observed=True).size().to_dict()
    for row in result.frame.to_dict("records"):
        for name, called in _SETS.items():
            found = int(row[f"num_{name}"])
            listed = found + int(lost.get((*(row[column] for column in key), name), 0))
            whose = f" on {named_encoder(row['model'], row['options'])}" if several else ""
            loss = loss_of("example", f"{called} of {row['test']}{whose}", listed, found)
            out += [loss] if loss else []
    return tuple(out)


def _prior_doubts(result: SeatResult, several: bool) -> list[Doubt]:
    """Name the tests whose contrast moves by more than half its sd with a prior half or twice as wide."""
    from bayesbias.findings.priors import AS_WIDE, parameter_in_words
    from bayesbias.inference.sensitivity import LARGE_SHIFT
    from bayesbias.models.loading import load_model

    if "prior_shift" not in result.frame:  # of an earlier version
        return []
    far = [
        bool(farther_than(LARGE_SHIFT, row.prior_shift, error_of(row, "prior_shift")))
        for row in result.frame.itertuples()
    ]
    rows = result.frame.loc[far]
    rows = rows[rows["converged"].astype(bool)]
    spec = load_model("sentence")  # which every test is fitted with
    out = []
    for row in rows.to_dict("records"):
        on = f" on {named_encoder(row['model'], row['options'])}" if several else ""
        parameter, _, direction = str(row["prior"]).partition(" ")
        out.append(
            Doubt(
                kind="prior",
                text=f"{row['test']}{on}: the contrast rests on a prior, and moves by {_shift(row)} of its sd "
                f"with the prior of {parameter_in_words(spec, parameter)} {AS_WIDE[direction]}; state the prior with the "
                "result, or test more words",
                level="overall",
                contrast="associated - different",
                group=str(row["test"]),
                parameter=parameter,
            )
        )
    return out


def _not_converged(result: SeatResult) -> list[str]:
    """Name the tests whose fit has not converged."""
    if "converged" not in result.frame:
        return []
    rows = result.frame[result.frame["contrast"].notna()]
    return [
        f"the fit of {row.test} to {named_encoder(row.model, row.options)} has not converged"
        for row in rows.itertuples()
        if not row.converged
    ]
