"""The command ``bayesbias plan``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from bayesbias.cli import options, screen
from bayesbias.core.digits import allowed, as_known, ends_as_known, error_of, printed, probability_printed
from bayesbias.core.errors import InputError
from bayesbias.core.files import records
from bayesbias.core.wording import as_percent, number_of

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.simulation.planning import ReliabilityPlan
    from bayesbias.simulation.scenario import Scenario


def in_words(scenario: Scenario, fit: str | None, *, sizes: bool = True) -> str:
    """Say what tables are simulated from."""
    source = f"of {fit}" if fit else "of religion on Reddit"
    words = ", ".join(f"{w} x {a}" for w, a in zip(scenario.words, scenario.attributes, strict=True))
    classes = number_of(len(scenario.words), "class", "classes") + (
        f" of protected words x stereotypes ({words})" if sizes else ""
    )
    return (
        f"simulated from the model {scenario.model} at the spreads {source}: {classes}, {scenario.human} human and "
        f"{scenario.neutral} neutral words"
    )


_NOT_YOURS = "The spreads are those of one published table: --fit FILE takes those of a table of yours, and its model.\n"
_MOST_DIGITS = 6  # of a width
_MOST_UNCHECKED = 10  # combinations shown where none was simulated
_OF_80 = 1.43  # of a normal the error of the 80 % quantile is so many times that of the mean


def print_result(frame: pd.DataFrame, title: str, headings: Mapping[str, str], digits: int = 3) -> None:
    """Print what came of simulated tables, below a title."""
    from bayesbias.columns.simulation import OF_TABLES

    screen.say(title)
    # Errors of these say how many digits stand, and are not shown. Of few tables an error is large, and a share rounded to it
    # would read as the opposite: 0.7 as 1. Shares are counts of tables, exact for these.
    hidden = frame.rename(columns={f"{name}_se": f"mcse_{name}" for name in ("wrong_sign", "width")})
    if "kind" in hidden:
        hidden = hidden.assign(kind=hidden["kind"].str.replace("_", " "))
    screen.frame(hidden, digits, least=OF_TABLES, headings=headings)


def _deciding(value: float, width: float, digits: int) -> int:
    """Return the decimals, at least some, with which a number reads as on the side of the wanted width where it lies."""
    for more in range(digits, _MOST_DIGITS + 1):
        read = round(value, more)
        if (read > width, read < width) == (value > width, value < width):
            return more
    return digits


def _read_as_decided(frame: pd.DataFrame, width: float) -> pd.DataFrame:
    """Add to widths the error with which they are printed, so that 0.10 is not enough in one row and too much in the next."""
    from bayesbias.columns.simulation import OF_TABLES

    out, widths = frame, [("known_width", [None] * len(frame))]
    if "simulated_se" in frame:
        out = frame.assign(mcse_simulated_se=0.001, mcse_simulated_80=_OF_80 * frame["simulated_se"])
        out = out.fillna({"mcse_simulated_80": 0.001})
        widths.append(("simulated_width", list(frame["simulated_se"])))
    for name, errors in widths:
        digits = [
            _deciding(value, width, max(OF_TABLES, allowed(error)))
            for value, error in zip(frame[name], errors, strict=True)
        ]
        out[f"mcse_{name}"] = [10.0**-each for each in digits]
    return out


@click.command()
@click.option("--width", type=float, help="Wanted width of the interval, in cosine distance.")
@click.option(
    "--reliability",
    cls=options.Known,
    within=("target",),
    type=float,
    metavar="R",
    help="Wanted reliability instead; needs --fit.",
)
@click.option("--contrast", default="associated - different", show_default=True)
@click.option(
    "--measure",
    metavar="M",
    help="Score to be reliable: weat (the default), word, class, stereotype or mac.",
)
@click.option(
    "--coefficient", metavar="C", help="against_zero (the default; not for mac), absolute or relative."
)
@options.prob("Probability of the interval.")
@click.option(
    "--fit",
    metavar="FILE",
    help="Take classes, spreads and model from a fit (fit.nc); default: cells, religion on Reddit.",
)
@click.option(
    "--check",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Simulated tables for each check; 0: none, and widths are too narrow.",
)
@options.engine("quick")
@click.option("--seed", type=options.SEED, default=0, show_default=True)
@options.hands("this one alone")
@options.as_json
def plan(
    width: float | None,
    reliability: float | None,
    contrast: str,
    measure: str | None,
    coefficient: str | None,
    prob: float,
    fit: str | None,
    check: int,
    engine: str,
    seed: int,
    workers: int | None,
    dask: str | None,
    as_json: bool,
) -> None:
    """Say how many words a good interval or score needs.

    With --width, tried are 3 to 30 protected words and 3 to 50 stereotypes per class, with as many classes and control
    words as the fit has, for the model of the fit, or cells. A width at known spreads is that were they known; a study has to
    learn them, so that combinations are checked by fits of simulated tables, those with the fewest words per class first,
    until the mean width of one is at most the wanted one.

    With --reliability and a fit of your own table, the spreads of its model say how reliable a score would be with
    other numbers of words: the share of its variance (or of its mean square, against zero) that is no accident of the
    words chosen. At 0.8 against zero a score is two standard errors away from it.
    """
    if (width is None) == (reliability is None):
        raise InputError(
            "takes one of two goals", where="plan", valid="--width W, or --reliability R --fit FILE"
        )
    given = click.get_current_context().get_parameter_source
    names = (
        ("measure", "coefficient")
        if reliability is None
        else ("contrast", "check", "engine", "seed", "workers", "dask")
    )
    for name in names:
        if given(name) is click.core.ParameterSource.COMMANDLINE:
            other = "--width" if reliability is None else "--reliability"
            raise InputError(f"has no meaning with {other}", where=f"--{name}")
    if reliability is not None:
        _plan_reliability(reliability, fit, measure or "weat", coefficient, prob, as_json)
        return
    assert width is not None
    _plan_width(width, contrast, prob, fit, check, engine, seed, {"workers": workers, "dask": dask}, as_json)


def _plan_reliability(
    target: float, path: str | None, measure: str, coefficient: str | None, prob: float, as_json: bool
) -> None:
    from bayesbias.inference.fitting import load_fit
    from bayesbias.simulation.planning import plan_reliability

    if path is None:
        raise InputError("is planned from a fit of your own table", where="--reliability", valid="--fit FILE")
    plan = plan_reliability(load_fit(path), target, measure=measure, coefficient=coefficient, prob=prob)
    if as_json:
        values = {field.name: getattr(plan, field.name) for field in dataclasses.fields(plan)}
        about = {**values, "best": plan.best, "combinations": records(plan.combinations)}
        screen.answer("plan.reliability", about)
        return
    for line in reliability_lines(plan, path):
        screen.say(line)


_MEANS = " (harmonic means of lists of unequal length)"


def _uneven(plan: ReliabilityPlan) -> bool:
    """Say whether the numbers of words that a plan starts from are means of several."""
    return any(number % 1 for number in (plan.listed_words, plan.listed_attributes))


def reliability_lines(plan: ReliabilityPlan, path: str) -> list[str]:
    """Say what a plan for reliability came to."""
    from bayesbias.columns.words import COEFFICIENTS_SAID, MEASURES_SAID

    def numbers(words: float, attributes: float) -> str:
        of_words = "" if plan.measure == "word" else f"{words:.3g} words per class and "
        return f"{of_words}{attributes:.3g} stereotypes per list"

    def value(row: Mapping[str, Any]) -> str:
        ends = ", ".join(ends_as_known(row, usual=2))
        return f"{as_known(row, 'mean', 2)}, {as_percent(plan.prob)} HPDI [{ends}]"

    texts = plan.combinations.assign(
        said=[as_known(row, "mean", 2) for row in plan.combinations.to_dict("records")]
    )
    grid = texts.pivot(index="words", columns="attributes", values="said")
    grid.index.name, grid.columns.name = "words", ""
    lines = [
        f"reliability of {MEASURES_SAID[plan.measure]}, held against {COEFFICIENTS_SAID[plan.coefficient]}, from {path}",
        f"as it is, with {numbers(plan.listed_words, plan.listed_attributes)}{_MEANS if _uneven(plan) else ''}: "
        f"{value(plan.now)}",
        "",
        "with other numbers of words (rows) and stereotypes per list (columns), mean over the posterior:",
        grid.to_string(),
        "",
    ]
    best = plan.best
    if best is None:
        lines.append(f"none of these reaches {plan.target:g}")
    else:
        lines.append(
            f"{numbers(best['words'], best['attributes'])} reach {plan.target:g} on average: {value(best)} "
            f"(probability that it is reached: {probability_printed(best['p_reached'], error_of(best, 'p_reached'), 2)})"
        )
    if plan.measure != "word":
        lines.append(_alone(plan, "word", "stereotype"))
    lines.append(_alone(plan, "stereotype", "word"))
    return lines


_PER = {"word": "class", "stereotype": "list"}


def _alone(plan: ReliabilityPlan, more: str, held: str) -> str:
    """Say how many of the one are needed where the other stay as they are."""
    of_words = (plan.fewest_words, plan.endless_words, plan.listed_words)
    of_stereotypes = (plan.fewest_attributes, plan.endless_attributes, plan.listed_attributes)
    (fewest, endless, _), (_, _, listed) = (
        (of_words, of_stereotypes) if more == "word" else (of_stereotypes, of_words)
    )
    start = f"with the {held}s as they are ({listed:.3g})" if plan.measure != "word" else "for one word"
    if fewest is not None:
        return f"{start}: {number_of(fewest, more)} per {_PER[more]}"
    if endless < plan.target:
        return (
            f"{start}: not reachable with any number of {more}s, since even endless ones make it {endless:.2f}; "
            f"the {held}s are the limit"
        )
    return f"{start}: more than 10,000 {more}s"


def _plan_width(
    width: float,
    contrast: str,
    prob: float,
    fit: str | None,
    check: int,
    engine: str,
    seed: int,
    hands: Mapping[str, Any],
    as_json: bool,
) -> None:
    from bayesbias.columns.simulation import OF_TABLES, PLAN
    from bayesbias.inference.fitting import load_fit
    from bayesbias.models.loading import DEFAULT_MODEL
    from bayesbias.simulation.planning import sample_size
    from bayesbias.simulation.scenario import Scenario, scenario_from_fit

    scenario = scenario_from_fit(load_fit(fit)) if fit else Scenario.for_claims()
    frame = sample_size(
        width, contrast=contrast, scenario=scenario, prob=prob, check=check, engine=engine, seed=seed, **hands
    )
    enough, perhaps = (frame[frame["enough"].fillna(unknown)] for unknown in (False, True))
    if as_json:
        best = records(enough.head(1))
        about = {
            "width": width,
            "contrast": contrast,
            "prob": prob,
            "seed": seed,
            "check": check,
            "engine": engine,
        }
        scenario_of = {"model": scenario.model, "scenario": dataclasses.asdict(scenario)}
        answer = {"best": best[0] if best else None, "combinations": records(frame)}
        screen.answer("plan.width", {**about, **scenario_of, **answer})
        return
    by = "fitted by the quick engine" if engine == "quick" else "fitted by NUTS"
    checked = frame[frame["simulated_width"].notna()]
    # What was not simulated has no answer, and is not shown beside what has one.
    rest = (perhaps if len(perhaps) else frame.sort_values("known_width")).head(_MOST_UNCHECKED)
    shown = (
        checked
        if len(checked)
        else rest.drop(columns=[name for name in rest if name.startswith("simulated")])
    )
    what = (
        f"those tried with {number_of(check, 'simulated table')} ({by})"
        if len(checked)
        else "the leanest that would be enough were the spreads known, by the sum of words and stereotypes"
        if len(perhaps)
        else "the narrowest at known spreads"
    )
    decides = (
        f"enough: the mean width in simulated tables is at most {width:g}; that of a single study may be more, and what 80% of "
        "tables lie below decides nothing"
        if frame["simulated_80"].notna().any()
        else f"enough: the mean width in simulated tables is at most {width:g}"
        if len(checked)
        else f"enough: the width at known spreads is at most {width:g}"
    )
    print_result(
        _read_as_decided(shown, width),
        f"width of the {as_percent(prob)} interval of {contrast}, {in_words(scenario, fit, sizes=False)}.\n"
        + (
            ""
            if scenario.model == DEFAULT_MODEL
            else f"The answer is for {scenario.model}: claims are made with {DEFAULT_MODEL}, which may take others.\n"
        )
        + f"Words per class; {what} ({len(frame)} combinations in all, with --json). Seed {seed}.\n"
        + ("" if fit else _NOT_YOURS)
        + f"{decides}.",
        PLAN,
        _MOST_DIGITS,
    )
    row = (enough if len(enough) else frame.sort_values("known_width")).iloc[0]
    words = f"{row['words']} protected words and {row['attributes']} stereotypes per class"
    known = printed(row["known_width"], usual=_deciding(row["known_width"], width, 3))
    if enough.empty and checked.empty:
        screen.say(
            f"none of these reaches {width:g}: even {words} make it {known}. Control words and classes are "
            "held as they are, and may be what limits it"
        )
    elif enough.empty:
        screen.say(f"none of these reaches {width:g} once the spreads have to be learned")
    elif check == 0:
        screen.say(
            f"{words} make it {known} wide were the spreads known; they are not, so expect more "
            "(--check simulates how much)"
        )
    else:
        error = f" (standard error {row['simulated_se']:.3f})" if row["simulated_se"] > 0 else ""
        mean, at_most = row["simulated_width"], row["simulated_80"]
        wide = printed(mean, usual=_deciding(mean, width, max(OF_TABLES, allowed(row["simulated_se"]))))
        most = printed(at_most, usual=max(OF_TABLES, allowed(_OF_80 * row["simulated_se"])))
        # Of one table no error is known, and what is not known to be far is close.
        close = not width - mean >= 2 * row["simulated_se"]
        screen.say(
            f"{words} make it {wide} wide on average in {number_of(check, 'simulated table')}{error}"
            + (f", and in 80% of such tables {most} at most" if at_most == at_most else "")
            + ("; a close call, which more tables (--check) decide" if close else "")
        )
