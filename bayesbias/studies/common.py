"""What several studies show.

Columns of estimates, lines about data and sampling, verdicts in words.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from bayesbias import __version__
from bayesbias.core import join_words, number_of, some
from bayesbias.core.factors import main_effects, missing_cells
from bayesbias.core.result import Result
from bayesbias.core.sections import Interpretation, Section, format_value
from bayesbias.embeddings.spelling import note_on_misspelled
from bayesbias.inference.cross_validation import misfit
from bayesbias.inference.description import rows_of_fits
from bayesbias.inference.estimates import BELOW, HPDI, MEAN, beside
from bayesbias.inference.measured import Measured, measured_contrasts
from bayesbias.inference.view import ROUNDING
from bayesbias.tables.coverage import Coverage, GroupCoverage
from bayesbias.wordlists.wordlist import CONTROLS

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit

# The share from which on a predictive check fails; t noise with 4 degrees of freedom has it.
MISFIT = 0.1
NOUNS = {"protected": "protected word", "attributes": "attribute"}
MOST_DECIMALS = 8
FLAT = 1e-12  # of the spread of values, below which all are equal
KEYS = ["level", "name", "contrast", "estimand"]  # of a contrast


class ManyFits(Result):
    """What results that rest on several fits have in common."""

    MACHINERY = Result.MACHINERY - {"fits"}

    provenance: Mapping[str, Any]

    def diagnostics(self) -> dict[str, Any]:
        """Return `BiasFit.diagnostics` of every fit, and ``ok`` and ``problems`` of all of them."""
        fits = {name: each.diagnostics() for name, each in self.fits().items()}
        problems = [f"{name}: {text}" for name, each in fits.items() for text in each["problems"]]
        return {"ok": not problems, "problems": problems, "fits": fits}

    def measured(self, prob: float) -> Mapping[str, Measured]:
        """Return what limits are compared with: contrasts and coverage."""
        return measured_contrasts(self, prob)

    def rows_in_words(self) -> str:
        """Say what was modeled: the rows of the first fit, of the table of all."""
        return rows_of_fits(self.fits(), self.provenance.get("name"))


def stacked(frames: Mapping[str, pd.DataFrame], column: str) -> pd.DataFrame:
    """Return frames one after the other, with their names in a column ahead."""
    return pd.concat(frames, names=[column]).reset_index(column).reset_index(drop=True)


def with_ends(frame: pd.DataFrame, **ends: pd.DataFrame) -> pd.DataFrame:
    """Return contrasts of changes with those of the tables that changed, such as before and after.

    As columns ``before, before_low, before_high`` and their errors.
    """
    for when, own in ends.items():
        known = pd.DataFrame({**own[KEYS], **beside(own, when)})
        frame = frame.merge(known, how="left", on=KEYS)
    return frame


def first_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first contrast."""
    return frame[frame["contrast"] == frame["contrast"].iloc[0]]


def heading(label: str) -> pd.DataFrame:
    """Return a row without numbers that heads others in a first table."""
    return pd.DataFrame({"label": [label], "is_heading": [True]})


def convergence(fit: BiasFit) -> str:
    """Say in one line how a fit was sampled and what its diagnostics are."""
    state, (chains, draws) = fit.diagnostics(), fit.shape
    parts = [f"{chains} x {draws} draws"]
    quick = fit.engine.name == "quick"
    if quick:
        parts[0] += f" by importance sampling, Pareto k {fit.engine.pareto_k:.2f}"
    elif state["max_r_hat"] is not None:
        parts.append(f"max R-hat {state['max_r_hat']:.3f}")
    if state["min_ess_bulk"] is not None:
        parts.append(f"min ESS {state['min_ess_bulk']:,.0f}")
    if not quick:
        parts.append(f"{state['divergences']} divergences")
    return f"{'Converged' if state['ok'] else 'Not converged'}: {', '.join(parts)}"


def header_of(
    fitted: BiasFit | ManyFits | None, subject: str, size: str, about: str = ""
) -> list[str]:
    """Return the lines over the first table: what was fitted, its size, and whether it converged.

    `about` says which fits several are, or what stands in place of a model.
    """
    if fitted is None:
        return [f"bayesbias {__version__} | {about} | {subject}", size]
    made = fitted.provenance
    model, seed = made.get("model", {}).get("name"), made.get("sampler", {}).get("seed")
    title = f"bayesbias {__version__} | model {model} | {subject} | seed {seed}"
    if not isinstance(fitted, ManyFits):
        return [title, size, convergence(fitted)]
    good = "all converged" if fitted.diagnostics()["ok"] else "not all converged"
    return [title, size, f"{len(fitted.fits())} fits{f' ({about})' if about else ''}, {good}"]


def about_fit(fit: BiasFit) -> dict[str, Any]:
    """Return what JSON says about the making of a fit.

    Model, diagnostics, coverage, provenance, timing.
    """
    provenance = dict(fit.provenance)
    coverage, timing = provenance.pop("coverage", None), provenance.pop("timing", None)
    return {
        "model": fit.spec.name,
        "diagnostics": fit.diagnostics(),
        "coverage": coverage,
        "provenance": provenance,
        "timing": timing,
    }


def about_fits(result: ManyFits, coverage: Any, **more: Any) -> dict[str, Any]:
    """Return what JSON says about the making of a result of several fits."""
    return {
        "model": result.provenance["model"].get("name"),
        **more,
        "diagnostics": result.diagnostics(),
        "coverage": coverage,
        "provenance": dict(result.provenance),
    }


def not_converged(
    subject: str, fitted: BiasFit | ManyFits, notes: Sequence[str] = ()
) -> Interpretation | None:
    """Conclude nothing without convergence, and name the first two problems; else None."""
    state = fitted.diagnostics()
    if state["ok"]:
        return None
    problems = state["problems"]
    more = [number_of(len(problems) - 2, "more problem")] * (len(problems) > 2)
    headline = "No conclusion: the sampler has not converged. Raise --tune and --draws."
    return Interpretation(subject, headline, [*problems[:2], *more], notes)


def in_words(row: Any, below: str = "closer", above: str = "farther") -> str:
    """Say what the interval of a row of estimates means.

    Such as ``closer, by more than the ROPE (±0.02)``.
    """
    rope = f"the ROPE (±{row.rope:g})"
    where, _, unsure = row.verdict.partition(", ")
    if where == "negligible":
        return f"practically equal: the interval lies within {rope}"
    if where == "inconclusive":
        ends = interval(row)
        if unsure:
            why = "is too close to 0 or the ROPE for so few draws. Raise --draws"
            return f"inconclusive: an end of {ends} {why}"
        return f"inconclusive: {ends} {zero_in(row)} and reaches beyond {rope}"
    size = "but perhaps by less" if unsure else "by more"
    return f"{below if where == 'below' else above}, {size} than {rope}"


def zero_in(row: Any) -> str:
    """Say where 0 lies in an interval that does not clearly exclude it."""
    low, high = _ends(row)
    digits = decimals_of(low, high)
    if not round(low, digits) or not round(high, digits):
        return "ends at 0"
    return "includes 0" if low < 0 < high else "ends at 0 (within Monte Carlo error)"


def direction(row: Any, first: str = "first", last: str = "last") -> str:
    """Say what a first difference is later: stronger, weaker, reversed.

    Nothing where the intervals of the change, and of both differences, do not decide it.

    Parameters
    ----------
    row : row of a frame
        A change, with the columns of `with_ends`.
    first, last : str
        What the ends are called.
    """
    names = ("hpdi", first, last)
    lows, highs = ([getattr(row, f"{name}_{end}") for name in names] for end in ("low", "high"))
    ways = [(low > ROUNDING) - (high < -ROUNDING) for low, high in zip(lows, highs, strict=True)]
    way, before, after = ways
    mean_before, mean_after = getattr(row, first), getattr(row, last)
    if way and (way == before or (way == after and way * mean_before > 0)):
        return "stronger"
    if way and before == -way and after == way:
        return "reversed"
    return "weaker" if way and before == -way and abs(mean_after) < abs(mean_before) else ""


def misfit_warnings(fits: Mapping[str, BiasFit]) -> list[str]:
    """Warn of failed posterior predictive checks.

    A tenth of the rows would have to move to match data of the model.
    """
    found, robust = [], True
    for name, fit in fits.items():
        if not fit.diagnostics()["ok"]:
            continue
        shares = fit.cached("misfit", functools.partial(misfit, fit)).items()
        nouns = {
            "connection": "{} pairs",
            "arm": "answers about {}",
            "series": "differences {}",
        }
        rows = nouns.get(fit.spec.results.group, "rows of {}")
        each = []
        for of, share in shares:
            # Groups of responses have their model beside them, of a difference both models.
            label, _, model = of.partition(" | ")
            if " - " in model:
                label += f" between {model.replace(' - ', ' and ')}"
            elif model:
                label += f" of {model}"
            if share > MISFIT:
                each.append(f"{share:.0%} of the {rows.format(label)}")
        if each:
            found.append(", ".join(each) + (f" ({name})" if name else ""))
            spec = fit.spec
            distances = (spec.outcome, spec.results.group) == ("distance", "connection")
            robust &= len(fits) == 1 and distances and spec.outcome_type.normal
    if not found:
        return []
    advice = "Look at the figure (plot_ppc), and report it." if len(fits) == 1 else "Report it."
    if robust:
        advice = "Fit --model robust too, and report it. It has no rows by class."
    return [
        f"Posterior predictive check failed: {'; '.join(found)} do not look like data of the model. "
        f"{advice}"
    ]


def p_text(value: float) -> str:
    """Return a p-value as a sentence has it: p = .031, p < .001.

    Examples
    --------
    >>> p_text(0.0312), p_text(1e-9)
    ('p = .031', 'p < .001')
    """
    text = format_value(value, "p_value")
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def at_level(p_value: float, alpha: float) -> str:
    """Say whether a test is significant, and at which level.

    Examples
    --------
    >>> at_level(0.028, 0.05), at_level(0.028, 0.01)
    ('Significant at .05', 'Not significant at .01')
    """
    return f"{'Significant' if p_value <= alpha else 'Not significant'} at {level_text(alpha)}"


def level_text(alpha: float) -> str:
    """Return a level of significance as a sentence has it.

    Examples
    --------
    >>> level_text(0.05), level_text(0.001)
    ('.05', '.001')
    """
    return f"{alpha:g}".removeprefix("0")


def decimals_of(*values: float, least: int = 3) -> int:
    """Return the decimals with which the largest of some numbers has two digits or more."""
    largest = max(map(abs, values), default=0.0)
    if not math.isfinite(largest) or largest <= 0:
        return least
    return max(least, min(1 - math.floor(math.log10(largest)), MOST_DECIMALS))


def signed(value: float, digits: int = 3) -> str:
    """Return a number with its sign; one that is rounded to zero has none.

    Examples
    --------
    >>> signed(0.0312), signed(-0.0001), signed(-0.0001, 4)
    ('+0.031', '0.000', '-0.0001')
    """
    text = f"{value:+.{digits}f}"
    return text if float(text) else text[1:]


def plain(value: float, digits: int = 3) -> str:
    """Return a number without a sign, with two digits or more."""
    return f"{value:.{decimals_of(value, least=digits)}f}"


def _ends(row: Any) -> tuple[float, float]:
    return float(row.hpdi_low), float(row.hpdi_high)


def _mean(row: Any) -> float:
    """Return the mean of a row of estimates; a series has a method of that name."""
    return float(row["mean"] if isinstance(row, pd.Series) else row.mean)


def interval(row: Any, least: int = 3) -> str:
    """Return the interval of a row of estimates."""
    low, high = _ends(row)
    digits = decimals_of(low, high, least=least)
    return f"[{signed(low, digits)}, {signed(high, digits)}]"


def estimate(row: Any, unit: str = "", least: int = 3) -> str:
    """Return mean and interval of a row of estimates, such as ``-0.023 [-0.102, +0.056]``."""
    digits = decimals_of(*_ends(row), least=least)
    return f"{signed(_mean(row), digits)}{unit} {interval(row, least)}"


def far_from_zero(row: Any) -> float:
    """Return how far a row of estimates lies from zero, in widths of its interval, at most 5."""
    low, high = _ends(row)
    return min(abs(_mean(row)) / (high - low), 5.0) if high > low else 0.0


def size(row: Any, least: int = 3) -> str:
    """Return mean and interval of a difference in its own direction, without signs.

    Such as ``0.069 [0.043, 0.095]`` for both 0.069 and -0.069. It has the decimals with which no
    end is printed as zero. Only for an interval that excludes zero.
    """
    low, high = sorted(map(abs, _ends(row)))
    digits = decimals_of(high, least=least)
    while digits < MOST_DECIMALS and not round(low, digits):
        digits += 1
    return f"{abs(_mean(row)):.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


listing = functools.partial(some, most=6)  # names with commas, and how many more there are


def sentence(note: str) -> str:
    """Return a note with a capital and a full stop."""
    return f"{note[:1].upper()}{note[1:].rstrip('.')}."


def several_differences(n: int, what: str) -> list[str]:
    """Note that intervals of several differences do not allow for their number."""
    return [f"{n} {what}, uncorrected: some may exclude 0 by chance."] if n > 1 else []


def shown_factors(fit: BiasFit, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of factors that a screen has: main effects, and each contrast's largest interaction."""
    main = main_effects(fit.crossed)
    parts = []
    for _, of_contrast in rows.groupby("contrast", sort=False):
        interactions = of_contrast[of_contrast["level"] == "interaction"]
        sizes = (interactions["mean"] / interactions["sd"]).abs()
        largest = sizes.sort_values(ascending=False).index[:1]
        effects = of_contrast[of_contrast["level"].eq("main") & of_contrast["name"].isin(main)]
        parts += [effects, of_contrast.loc[largest]]
    return pd.concat(parts) if parts else rows


def factors_in_words(rows: pd.DataFrame, below: str, above: str) -> str:
    """Say what the shown rows of factors are, without their numbers; empty where there are none."""
    said: dict[str, list[str]] = {}
    for row in rows.itertuples():
        where, _, unsure = row.verdict.partition(", ")
        word = {"below": below, "above": above, "negligible": "practically equal"}.get(where, where)
        if unsure and where in ("below", "above"):
            word += " (perhaps by less than the ROPE)"
        said.setdefault(word, []).append(row.name)
    parts = [f"{word} for {listing(names)}" for word, names in said.items()]
    return "; ".join(parts)


def notes_on_factors(fit: BiasFit) -> list[str]:
    """Say which combinations of levels are missing, and how many differences are compared."""
    if not fit.crossed:
        return []
    notes = several_differences(
        sum(contrast.against == "pairs" for contrast in fit.crossed),
        "differences are compared (main effects, simple effects, interactions)",
    )
    if absent := missing_cells(fit.factors, fit.design.shown["protected_class"]):
        notes.append(
            f"No class is {join_words(absent, 'or')}: main effects are over the levels that have all."
        )
    return notes


def slope_sections(
    make: Callable[[], pd.DataFrame],
    columns: Sequence[Any],
    figure: Callable[[], Any] | None = None,
) -> list[Section]:
    """Return the section of slopes on covariates, overall and by class, and that of all slopes."""
    shown = (*columns, "covariate", "level", "name", "of", MEAN, HPDI, BELOW)
    return [
        Section(
            "slopes_of_groups",
            "Slopes on covariates",
            lambda: make().query("level in ('overall', 'class')"),
            shown,
            figure=figure,
            show_on="terminal page",
        ),
        Section("slopes", "All slopes on covariates", make, shown),
    ]


def coverage_groups(
    coverage: Mapping[str, Any] | None,
) -> list[tuple[str, str, GroupCoverage, str]]:
    """Return side, name and coverage of each class, attribute set and kind of controls.

    And what these words are called, such as ``attributes of man``. `coverage` is that of a
    provenance.
    """
    out = []
    for side, name, group in Coverage.from_dict(coverage).groups():
        what = f"{name} controls" if name in CONTROLS else f"{NOUNS[side]}s of {name}"
        out.append((side, name, group, what))
    return out


def mostly_missing(coverage: Mapping[str, Any] | None) -> list[str]:
    """Return the classes, sets and controls with more than half of their words missing.

    With counts, as in ``human controls (0 of 85 found)``.
    """
    groups = [(group, what) for *_, group, what in coverage_groups(coverage)]
    return [
        f"{what} ({group.found} of {group.listed} found)"
        for group, what in groups
        if group.mostly_missing
    ]


def word_warnings(coverage: Mapping[str, Any] | None) -> list[str]:
    """Return warnings where a list is mostly missing, or words may be misspelled."""
    thin = listing(mostly_missing(coverage))
    advice = "Add words that the vectors have, or choose other controls (--controls)."
    out = [f"More than half of these words are missing: {thin}. {advice}"] if thin else []
    return [*out, *misspelled_warnings(coverage)]


def misspelled_warnings(coverage: Mapping[str, Any] | None) -> list[str]:
    """Return a warning where words may be misspelled."""
    misspelled: dict[str, str] = {}
    for *_, group, _ in coverage_groups(coverage):
        misspelled.update(group.misspelled)
    return warning_on_misspelled(misspelled)


def warning_on_misspelled(misspelled: Mapping[str, str]) -> list[str]:
    """Warn of words that may be misspelled, given with what each may stand for."""
    if not misspelled:
        return []
    advice = "The vectors build these words from subwords. Correct them if they are wrong."
    return [f"{sentence(note_on_misspelled(misspelled))} {advice}"]


def about_listed(shown: pd.DataFrame) -> str:
    """Say what the observed value of listed words is, if a table has one."""
    if "observed" not in shown or not shown["observed"].notna().any():
        return ""
    return (
        "observed: the value of the listed words in the table. The model shrinks it, so the "
        "interval may leave it out."
    )


def missing_notes(coverage: Mapping[str, Any] | None) -> list[str]:
    """Say which words are missing, and which were built from subwords; controls by number."""
    notes, not_found = list[str](), list[str]()
    composed, named = Counter[str](), list[str]()
    classes = (coverage or {}).get("protected", {})
    for side, name, group, what in coverage_groups(coverage):
        missing, listed = list(group.missing), group.listed
        for other, words in group.not_in.items():
            missing = [word for word in missing if word not in words]
            of = f"{len(words)} of {listed} {what}"
            notes.append(f"{of} left out: not in {other}: {listing(words)}.")
        if missing and not (name in CONTROLS and len(missing) == listed):  # noted already
            not_found.append(f"{len(missing)} of {listed} {what} missing: {listing(missing)}")
        if group.composed:
            own_set = side == "attributes" and name in classes
            kind = "control" if name in CONTROLS else "stereotype" if own_set else NOUNS[side]
            composed[kind] += len(group.composed)
            if kind != "control":
                named.extend(group.composed)
    if not_found:
        notes.append(f"{'; '.join(not_found)}.")
    if composed:
        each = ", ".join(number_of(n, kind) for kind, n in composed.items())
        which = f": {listing(named)}" if named else ""
        notes.append(f"{number_of(composed.total(), 'word')} built from subwords ({each}){which}.")
    return [*notes, *(sentence(str(note)) for note in (coverage or {}).get("notes", ()))]


# -- of numbers about groups -------------------------------------------------------------------------


def between_models(frame: pd.DataFrame, by: str, same: list[str], outcome: str) -> pd.DataFrame:
    """Return differences of an outcome between each two models, of rows that agree in some columns."""
    parts = [frame.iloc[:0][[*same, outcome, by]]]
    for pair in itertools.combinations(dict.fromkeys(frame[by]), 2):
        a, b = (frame[frame[by] == name] for name in pair)
        both = a.merge(b, on=same, suffixes=("", "_b"))
        both[outcome] -= both[f"{outcome}_b"]
        parts.append(both[[*same, outcome]].assign(**{by: " - ".join(map(str, pair))}))
    return pd.concat(parts, ignore_index=True)


def rows_in_common(
    question: np.ndarray, arm: np.ndarray, sides: Sequence[Sequence[str]], rows: np.ndarray
) -> np.ndarray | None:
    """Return the rows whose question all arms of their side answered; None where a side has none.

    Parameters
    ----------
    question, arm : ndarray
        The question and the arm of each row.
    sides : sequence of sequences of str
        The arms that are compared with each other.
    rows : ndarray of bool
        The rows that are considered.

    Examples
    --------
    >>> question, arm = np.array([0, 1, 2, 1, 2, 3]), np.array(["a", "a", "a", "b", "b", "b"])
    >>> rows_in_common(question, arm, [["a", "b"]], np.ones(6, dtype=bool)).tolist()
    [False, True, True, True, True, False]
    """
    out = np.zeros(len(rows), dtype=bool)
    for arms in sides:
        shared = set(question[rows])
        for label in arms:
            shared &= set(question[rows & (arm == label)])
        if not shared:
            return None
        out |= rows & np.isin(arm, arms) & np.isin(question, [*shared])
    return out


def lacking(frame: pd.DataFrame, by: str, nouns: Mapping[str, str]) -> list[str]:
    """Say how many prompts and items a model, or a group, lacks that another has."""
    every = frame[[*nouns]].nunique()
    lacks = every - frame.groupby(by)[[*nouns]].nunique()
    said = [
        f"{name} lacks {n} of {every[column]} {nouns[column]}"
        for column, of in lacks.items()
        for name, n in of.items()
        if n
    ]
    if not said:
        return []
    note = f"{some(said, 3)}. In rows for these, {by}s are compared on what both answered"
    if by == "model":
        return [f"{note}: their difference is not that of the rows of each model."]
    return [f"{note}."]


def one_sample(values: Iterable[float]) -> tuple[int, float, float, float]:
    """Return n, mean, t and the two-sided p-value against zero; t and p are missing where all values are equal."""
    from scipy import stats

    y = np.asarray(list(values), dtype=float)
    mean = float(y.mean()) if len(y) else np.nan
    if len(y) < 2 or np.ptp(y) <= FLAT * max(1.0, float(np.abs(y).max())):
        return len(y), mean, np.nan, np.nan
    test = stats.ttest_1samp(y, 0.0)
    return len(y), mean, float(test.statistic), float(test.pvalue)
