"""The commands ``bayesbias calibrate`` and ``bayesbias plan``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias.basics.digits import allowed, as_known, ends_as_known, error_of, printed, probability_printed
from bayesbias.basics.errors import InputError
from bayesbias.basics.files import records
from bayesbias.basics.wording import as_percent, number_of
from bayesbias.cli import options, screen
from bayesbias.cli.pools import USUAL_METHODS, USUAL_TABLES, on_pools

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.simulation.planning import ReliabilityPlan
    from bayesbias.simulation.scenario import Scenario


def _scenario(
    fit: str | None, words: tuple[int, ...] | None, attributes: tuple[int, ...] | None, **controls: Any
) -> Scenario:
    from bayesbias.inference.fitting import load_fit
    from bayesbias.simulation.scenario import Scenario, scenario_from_fit

    scenario = scenario_from_fit(load_fit(fit)) if fit else Scenario()
    given = {"words": words, "attributes": attributes, **controls}
    return dataclasses.replace(
        scenario, **{name: value for name, value in given.items() if value is not None}
    )


def _in_words(scenario: Scenario, fit: str | None, *, sizes: bool = True) -> str:
    source = f"of {fit}" if fit else "of religion on Reddit"
    words = ", ".join(f"{w} x {a}" for w, a in zip(scenario.words, scenario.attributes, strict=True))
    classes = number_of(len(scenario.words), "class", "classes") + (
        f" of protected words x stereotypes ({words})" if sizes else ""
    )
    return (
        f"simulated from the model {scenario.model} at the spreads {source}: {classes}, {scenario.human} human and "
        f"{scenario.neutral} neutral words"
    )


_CONTROL_MODEL, _CONTROL_TABLES = "cells", 100  # of negative controls, as the function has them
_NOT_YOURS = "The spreads are those of one published table: --fit FILE takes those of a table of yours, and its model.\n"
_MOST_DIGITS = 6  # of a width
_OF_80 = 1.43  # of a normal the error of the 80 % quantile is so many times that of the mean


def _print_result(frame: pd.DataFrame, title: str, headings: Mapping[str, str], digits: int = 3) -> None:
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

    out = frame.assign(mcse_simulated_se=0.001, mcse_simulated_80=_OF_80 * frame["simulated_se"])
    for name, errors in (("known_width", [None] * len(frame)), ("simulated_width", frame["simulated_se"])):
        digits = [
            _deciding(value, width, max(OF_TABLES, allowed(error)))
            for value, error in zip(frame[name], errors, strict=True)
        ]
        out[f"mcse_{name}"] = [10.0**-each for each in digits]
    return out.fillna({"mcse_simulated_80": 0.001})


_SIZES = [
    click.option(
        "--fit",
        metavar="FILE",
        help="Take words and spreads from a fit (fit.nc); default: religion on Reddit.",
    ),
    click.option(
        "--words", type=options.Numbers(int), metavar="N,N,..", help="Protected words of each class."
    ),
    click.option(
        "--attributes", type=options.Numbers(int), metavar="N,N,..", help="Stereotypes of each class."
    ),
    click.option("--human", type=click.IntRange(0), help="Human control words."),
    click.option("--neutral", type=click.IntRange(0), help="Neutral control words."),
]


def _sizes(command: Any) -> Any:
    for option in reversed(_SIZES):
        command = option(command)
    return command


@click.command()
@_sizes
@click.option(
    "--embedding",
    metavar="E",
    help="Use these real vectors instead; needs --wordlist (negative controls) or --pools.",
)
@click.option("--wordlist", metavar="W", help="The word list of the negative controls.")
@click.option(
    "--pools", metavar="W", help="Draw tables from this word list, whose lists are long; needs --embedding."
)
@click.option(
    "--distances", metavar="FILE", help="All pairs of the pools, in place of --embedding and --pools."
)
@click.option("--controls", metavar="C", help="Control words of the negative controls or pools, or none.")
@click.option(
    "--methods",
    default="cells,crossed,hierarchical,weat,averages_t,pairs_t,moments,bootstrap",
    show_default=True,
    metavar="M,M,..",
    help=f"Of pools: {','.join(USUAL_METHODS)}. Of negative controls one model: {_CONTROL_MODEL}.",
)
@click.option(
    "--tables",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help=f"Simulated tables of each kind. Of pools: {USUAL_TABLES}. Of negative controls: {_CONTROL_TABLES}.",
)
@click.option("--seed", type=options.SEED, default=0, show_default=True)
@options.prob()
@options.engine("quick")
@options.hands()
@options.folder("Keep finished batches here.")
@click.option("--resume", is_flag=True, help="Go on with the batches in DIR.")
@options.as_json
def calibrate(
    fit: str | None,
    words: tuple[int, ...] | None,
    attributes: tuple[int, ...] | None,
    human: int | None,
    neutral: int | None,
    embedding: str | None,
    wordlist: str | None,
    pools: str | None,
    distances: str | None,
    controls: str | None,
    methods: str,
    tables: int,
    seed: int,
    prob: float,
    engine: str,
    workers: int | None,
    dask: str | None,
    out: Path | None,
    resume: bool,
    as_json: bool,
) -> None:
    """Simulate a known truth and see how methods do.

    Reported are coverage, false alarms and power of every method.

    METHODS are names or files of models (cells, crossed, hierarchical, shared, additive, robust); the tests weat,
    averages_t (paired t-test over words) and pairs_t (Welch's t-test over pairs); moments (two-way method of moments) and
    bootstrap (multiway cluster bootstrap). The model that tables are simulated
    from is that of --fit, or crossed: its own intervals have the truth on their side, those of the others have not.

    With --embedding and --wordlist the meaning is taken out of real vectors instead (vectors made random, classes or
    stereotypes shuffled), and one model is held to them. That takes --methods MODEL, --controls, --tables, --seed,
    --prob, --engine, --workers and --dask.

    With --embedding and --pools small tables are drawn from long lists of real words, and the intervals of each
    method are held to the value of the whole pool. --words and --attributes say how many are drawn from each list
    (one number, or one for each), --human and --neutral how many control words.
    """
    import pandas as pd

    from bayesbias.basics.workers import cores
    from bayesbias.columns.simulation import CALIBRATION
    from bayesbias.simulation import calibration, shuffles
    from bayesbias.simulation.accounting import engine_in_words

    of_line = {
        name
        for name in ("methods", "tables")
        if click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    if pools or distances:
        if fit is not None or wordlist is not None:
            option, given = ("--fit", fit) if fit is not None else ("--wordlist", wordlist)
            raise InputError(
                f"{option} has no meaning for pools", found=given, valid="--embedding E --pools W"
            )
        on_pools(
            embedding,
            pools,
            distances,
            controls=controls,
            numbers={"words": words, "attributes": attributes, "human": human, "neutral": neutral},
            tables=tables if "tables" in of_line else USUAL_TABLES,
            methods=methods.split(",") if "methods" in of_line else USUAL_METHODS,
            as_json=as_json,
            seed=seed,
            prob=prob,
            engine=engine,
            workers=workers,
            dask=dask,
            out=out,
            resume=resume,
        )
        return
    if embedding or wordlist:
        if not (embedding and wordlist):
            raise InputError(
                "negative controls need vectors and a list",
                valid="--embedding E --wordlist W; with pools --embedding E --pools W",
            )
        asked = {
            "--fit": fit,
            "--words": words,
            "--attributes": attributes,
            "--human": human,
            "--neutral": neutral,
            "--out": out,
            "--resume": resume or None,
        }
        for option, value in asked.items():
            if value is not None:
                raise InputError(f"{option} has no meaning for negative controls", found=str(value))
        model = methods if "methods" in of_line else _CONTROL_MODEL
        tables = tables if "tables" in of_line else _CONTROL_TABLES
        if "," in model:
            raise InputError("negative controls are of one model", where="--methods", found=model)
        frame = shuffles.negative_controls(
            embedding,
            wordlist,
            model,
            tables=tables,
            seed=seed,
            prob=prob,
            engine=engine,
            controls=controls,
            workers=cores() if workers is None and dask is None else workers,
            dask=dask,
        )
        if as_json:
            about = {"model": model, "tables": tables, "seed": seed, "prob": prob, "engine": engine}
            screen.answer("calibrate.negative-controls", {**about, "rows": records(frame)})
        else:
            _print_result(
                frame,
                f"associated - different by {model}, real and with the meaning taken out. called: share of tables whose "
                f"{as_percent(prob)} interval leaves out zero;\nwhere there is nothing to find, about "
                f"{as_percent(1 - prob)} or less. "
                f"mean, sd: of the posterior means. Seed {seed}.",
                CALIBRATION,
            )
            screen.say(engine_in_words(frame.assign(method=model), engine))
        return
    if controls:
        raise InputError(
            "--controls are for negative controls", found=controls, valid="--human N, --neutral N"
        )
    scenario = _scenario(fit, words, attributes, human=human, neutral=neutral)
    settings: dict[str, Any] = {
        "tables": tables,
        "methods": methods.split(","),
        "seed": seed,
        "prob": prob,
        "engine": engine,
        "workers": workers,
        "dask": dask,
        "resume": resume,
    }
    frames = {}
    for name, kind in (("difference", scenario), ("no_difference", scenario.without_difference())):
        frames[name] = calibration.calibrate(kind, out=out / name if out else None, **settings)
    if as_json:
        about = {
            "scenario": dataclasses.asdict(scenario),
            "tables": tables,
            "seed": seed,
            "prob": prob,
            "engine": engine,
        }
        content = {name: records(frame) for name, frame in frames.items()}
        screen.answer("calibrate", {**about, **content})
        return
    screen.say(f"{number_of(tables, 'table')} of each kind, {_in_words(scenario, fit)}; seed {seed}.")
    screen.say("Standard errors of shares after Agresti and Coull; a dash where a method has no such answer.")
    if engines := engine_in_words(pd.concat(frames.values()), engine):
        screen.say(engines)
    screen.say("")
    _print_result(
        frames["difference"],
        f"{as_percent(prob)} intervals where connections differ (called: power, of which wrong sign in the wrong direction)",
        CALIBRATION,
    )
    title = f"{as_percent(prob)} intervals where they do not (called: false alarms)"
    _print_result(frames["no_difference"], title, CALIBRATION)
    screen.say(_covered(pd.concat(frames.values()), prob))


def _covered(frame: pd.DataFrame, prob: float) -> str:
    """Say for each method between what its coverage lies."""
    from bayesbias.columns.simulation import OF_TABLES

    with_intervals = frame[frame["coverage"].notna()]
    ranges = []
    for method, rows in with_intervals.groupby("method", sort=False):
        digits = max(OF_TABLES, allowed(float(rows["coverage_se"].max())))
        low, high = (f"{rows['coverage'].agg(end):.{digits}f}" for end in ("min", "max"))
        ranges.append(f"{method} {low} to {high}" if low != high else f"{method} {low}")
    if not ranges:
        return "None of these methods has intervals."
    return (
        f"Coverage over the contrasts of both tables, where {prob:g} is asked for: {', '.join(ranges)} "
        f"(standard errors up to {with_intervals['coverage_se'].max():.2g})."
    )


@click.command()
@click.option("--width", type=float, help="Wanted width of the interval, in cosine distance.")
@click.option("--reliability", type=float, metavar="R", help="Wanted reliability instead; needs --fit.")
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
    "--fit", metavar="FILE", help="Take classes and spreads from a fit (fit.nc); default: religion on Reddit."
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
    words as the fit has. A width at known spreads is that were they known; a study has to learn them, so that
    combinations are checked by fits of simulated tables, those with the fewest words per class first, until one passes.

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
    import pandas as pd

    from bayesbias.columns.simulation import OF_TABLES, PLAN
    from bayesbias.simulation.planning import plan_words

    scenario = _scenario(fit, None, None)
    frame = plan_words(
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
    rest = (perhaps if len(perhaps) else frame.sort_values("known_width")).drop(
        index=checked.index, errors="ignore"
    )
    _print_result(
        _read_as_decided(pd.concat([checked, rest.head(max(3, 10 - len(checked)))]), width),
        f"width of the {as_percent(prob)} interval of {contrast}, {_in_words(scenario, fit, sizes=False)}.\n"
        "Words per class; "
        + (
            f"first what was checked with {number_of(check, 'simulated table')} ({by}), then the "
            if len(checked)
            else "the "
        )
        + (
            "leanest that would be enough were the spreads known, by the sum of words and stereotypes"
            if len(perhaps)
            else "narrowest at known spreads"
        )
        + f" ({len(frame)} combinations in all, with --json). Seed {seed}.\n"
        + ("" if fit else _NOT_YOURS)
        + "Widths at known spreads, and in simulated tables with the standard error"
        + ("; 80% of these lie below the last." if frame["simulated_80"].notna().any() else "."),
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
