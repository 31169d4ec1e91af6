"""The command ``bayesbias coverage_simulated``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias.cli import options, screen
from bayesbias.cli.planning import in_words, print_result
from bayesbias.cli.pools import USUAL_METHODS, USUAL_TABLES, on_pools
from bayesbias.core.digits import allowed
from bayesbias.core.errors import InputError
from bayesbias.core.files import records
from bayesbias.core.wording import as_percent, number_of

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.simulation.scenario import Scenario


_CONTROL_MODEL, _CONTROL_TABLES = "default", 100  # of negative controls, as the function has them


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
def coverage_simulated(
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

    from bayesbias.columns.simulation import CALIBRATION
    from bayesbias.core.workers import cores
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
        doubts = shuffles.doubts_of_controls(frame, prob)
        if as_json:
            about = {"model": model, "tables": tables, "seed": seed, "prob": prob, "engine": engine}
            screen.answer(
                "coverage_simulated.negative-controls", {**about, "rows": records(frame), "doubts": doubts}
            )
        else:
            print_result(
                frame.assign(mcse_expected=0.001),
                f"associated - different by {model}, real and with the meaning taken out. called: share of tables whose "
                f"{as_percent(prob)} interval leaves out zero;\nwhere there is nothing to find, about "
                f"{as_percent(1 - prob)} or less. "
                f"mean, sd: of the posterior means. expected: the plain difference on average over all shuffles. Seed {seed}.",
                CALIBRATION,
            )
            screen.say(engine_in_words(frame.assign(method=model), engine))
            screen.lines(doubts or ["None of them is called clearly more often than promised."])
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
        frames[name] = calibration.coverage_simulated(kind, out=out / name if out else None, **settings)
    if as_json:
        about = {
            "scenario": dataclasses.asdict(scenario),
            "tables": tables,
            "seed": seed,
            "prob": prob,
            "engine": engine,
        }
        content = {name: records(frame) for name, frame in frames.items()}
        screen.answer("coverage_simulated", {**about, **content})
        return
    screen.say(f"{number_of(tables, 'table')} of each kind, {in_words(scenario, fit)}; seed {seed}.")
    screen.say("Standard errors of shares after Agresti and Coull; a dash where a method has no such answer.")
    if engines := engine_in_words(pd.concat(frames.values()), engine):
        screen.say(engines)
    screen.say("")
    print_result(
        frames["difference"],
        f"{as_percent(prob)} intervals where connections differ (called: power, of which wrong sign in the wrong direction)",
        CALIBRATION,
    )
    title = f"{as_percent(prob)} intervals where they do not (called: false alarms)"
    print_result(frames["no_difference"], title, CALIBRATION)
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
