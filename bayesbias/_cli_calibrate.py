"""The commands ``calibrate`` and ``plan``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias import _cli_options as options
from bayesbias.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.calibration import Scenario


def _numbers(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    try:
        return tuple(int(part) for part in value.split(","))
    except ValueError:
        raise InputError(
            f"{parameter.opts[0]} takes whole numbers with commas", found=value, valid="5,5,5"
        ) from None


def _scenario(
    fit: str | None, words: tuple[int, ...] | None, attributes: tuple[int, ...] | None, **controls: Any
) -> Scenario:
    import dataclasses

    from bayesbias.calibration import Scenario, scenario_from_fit
    from bayesbias.posterior import load_fit

    scenario = scenario_from_fit(load_fit(fit)) if fit else Scenario()
    given = {"words": words, "attributes": attributes, **controls}
    return dataclasses.replace(
        scenario, **{name: value for name, value in given.items() if value is not None}
    )


def _print(frame: pd.DataFrame, title: str) -> None:
    click.echo(title)
    click.echo(frame.to_string(index=False, float_format=lambda x: f"{x:.3f}", na_rep="-"))
    click.echo()


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return json.loads(frame.to_json(orient="records", double_precision=15))


_SIZES = [
    click.option(
        "--fit",
        metavar="FILE",
        help="Take words and spreads from a fit (fit.nc); default: religion on Reddit.",
    ),
    click.option("--words", callback=_numbers, metavar="N,N,..", help="Protected words of each class."),
    click.option("--attributes", callback=_numbers, metavar="N,N,..", help="Stereotypes of each class."),
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
    "--embedding", metavar="E", help="Run the negative controls of these vectors instead; needs --wordlist."
)
@click.option("--wordlist", metavar="W", help="The word list of the negative controls.")
@click.option(
    "--methods", default="crossed,hierarchical,weat,averages_t,pairs_t", show_default=True, metavar="M,M,.."
)
@click.option(
    "--tables", type=click.IntRange(1), default=1000, show_default=True, help="Simulated tables of each kind."
)
@click.option("--seed", type=options.SEED, default=0, show_default=True)
@options.prob()
@click.option("--workers", type=click.IntRange(1), help="Processes; default: one per core.")
@options.folder("Keep finished batches here.")
@click.option("--resume", is_flag=True, help="Go on with the batches in DIR.")
@options.as_json()
def calibrate(
    fit: str | None, words: tuple[int, ...] | None, attributes: tuple[int, ...] | None, human: int | None,
    neutral: int | None, embedding: str | None, wordlist: str | None, methods: str, tables: int, seed: int,
    prob: float, workers: int | None, out: Path | None, resume: bool, as_json: bool,
) -> None:  # fmt: skip
    """Simulate tables with a known truth and report coverage, false alarms and power of every method."""
    from bayesbias import calibration

    if embedding or wordlist:
        if not (embedding and wordlist):
            raise InputError("negative controls need vectors and a list", valid="--embedding E --wordlist W")
        asked = {"--fit": fit, "--words": words, "--attributes": attributes, "--human": human, "--neutral": neutral,
                 "--workers": workers, "--out": out, "--resume": resume or None}  # fmt: skip
        for option, value in asked.items():
            if value is not None:
                raise InputError(f"{option} has no meaning for negative controls", found=value)
        chosen = (
            click.get_current_context().get_parameter_source("methods")
            is click.core.ParameterSource.COMMANDLINE
        )
        model = methods if chosen else "crossed"
        if "," in model:
            raise InputError("negative controls are of one model", where="--methods", found=model)
        frame = calibration.negative_controls(embedding, wordlist, model, tables=tables, seed=seed, prob=prob)
        if as_json:
            click.echo(json.dumps({"negative_controls": _records(frame)}, allow_nan=False))
        else:
            _print(frame, f"associated - different by {model}, real and with the meaning taken out")
        return
    scenario = _scenario(fit, words, attributes, human=human, neutral=neutral)
    settings: dict[str, Any] = {
        "tables": tables, "methods": methods.split(","), "seed": seed, "prob": prob, "workers": workers, "resume": resume,
    }  # fmt: skip
    frames = {}
    for name, kind in (("difference", scenario), ("no_difference", scenario.without_difference())):
        frames[name] = calibration.calibrate(kind, out=out / name if out else None, **settings)
    if as_json:
        click.echo(json.dumps({name: _records(frame) for name, frame in frames.items()}, allow_nan=False))
        return
    _print(frames["difference"], f"{prob:.0%} intervals where connections differ (called = power)")
    _print(frames["no_difference"], f"{prob:.0%} intervals where they do not (called = false alarms)")


@click.command()
@click.option("--width", type=float, required=True, help="Wanted width of the interval, in cosine distance.")
@click.option("--contrast", default="associated - different", show_default=True)
@options.prob("Probability of the interval.")
@click.option(
    "--fit", metavar="FILE", help="Take classes and spreads from a fit (fit.nc); default: religion on Reddit."
)
@click.option(
    "--check", type=click.IntRange(0), default=20, show_default=True, help="Simulated tables for the check."
)
@click.option("--seed", type=options.SEED, default=0, show_default=True)
@options.as_json()
def plan(
    width: float, contrast: str, prob: float, fit: str | None, check: int, seed: int, as_json: bool
) -> None:
    """Say how many protected words and stereotypes per class make an interval narrow enough."""
    from bayesbias.calibration import plan_words

    scenario = _scenario(fit, None, None)
    frame = plan_words(width, contrast=contrast, scenario=scenario, prob=prob, check=check, seed=seed)
    enough = frame[frame["enough"]]
    if as_json:
        best = _records(enough.head(1))
        click.echo(
            json.dumps(
                {"model": scenario.model, "best": best[0] if best else None, "combinations": _records(frame)}
            )
        )
        return
    _print(
        frame.head(12),
        f"expected width of the {prob:.0%} interval of {contrast} under the model {scenario.model}; words per class, "
        f"leanest first ({len(frame)} combinations tried, all of them with --json)",
    )
    row = (enough if len(enough) else frame.sort_values("width")).iloc[0]
    words = f"{row['words']} protected words and {row['attributes']} stereotypes per class"
    if enough.empty:
        click.echo(f"none of these reaches {width:g}; the narrowest, {words}, is {row['width']:.3f} wide")
    else:
        checked = ""
        if row["simulated_width"] > 0:
            error = f" (standard error {row['simulated_se']:.3f})" if row["simulated_se"] > 0 else ""
            checked = f"; {row['simulated_width']:.3f}{error} on average in fits of {check} simulated tables"
        click.echo(f"{words} make it {row['width']:.3f} wide{checked}")


def register(group: click.Group) -> None:
    """Add the commands to the command line."""
    group.add_command(calibrate)
    group.add_command(plan)
