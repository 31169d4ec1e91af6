"""The command ``bayesbias simulate``."""

from __future__ import annotations

from typing import Any

import click

from bayesbias.basics.errors import InputError
from bayesbias.basics.files import records
from bayesbias.cli import options, screen


@click.command()
@click.argument("what", type=click.Choice(["paper", "null", "grid"]))
@click.option(
    "--draws", type=click.IntRange(2), help="Simulated tables: 10000 for paper and null, 2000 for grid."
)
@click.option("--seed", type=options.SEED, default=1, show_default=True, help="For null and grid.")
@click.option(
    "--words",
    type=options.Numbers(int),
    metavar="N,...",
    help="Protected words per class: one number for null, several for grid.",
)
@click.option("--attributes", type=click.IntRange(1), help="Attributes in A and in B, for null and grid.")
@click.option(
    "--pair-sd", type=options.Numbers(float), metavar="SD,...", help="Spread of pairs, for null and grid."
)
@click.option(
    "--attribute-sd",
    type=options.Numbers(float),
    metavar="SD,...",
    help="Spread of attribute words, for grid.",
)
@options.as_json
def simulate(
    what: str,
    draws: int | None,
    seed: int,
    words: tuple[int, ...] | None,
    attributes: int | None,
    pair_sd: tuple[float, ...] | None,
    attribute_sd: tuple[float, ...] | None,
    as_json: bool,
) -> None:
    """Run the critique of averaged scores by simulation.

    WHAT is the paper's simulations, effect sizes without a difference, or false alarms.
    """
    from bayesbias.simulation import alarms, nulls, paper

    given = {
        "--words": words,
        "--attributes": attributes,
        "--pair-sd": pair_sd,
        "--attribute-sd": attribute_sd,
    }
    foreign = {"paper": list(given), "null": ["--attribute-sd"], "grid": []}[what]
    for option in foreign:
        if given[option] is not None:
            raise InputError(f"{option} has no meaning for {what!r}", found=given[option])
    if what == "paper":
        frame = paper.paper_rows(paper.USUAL_DRAWS if draws is None else draws)
        if as_json:
            screen.answer("simulate.paper", {"rows": records(frame.drop(columns="mcse_value"))})
        else:
            screen.say(_PAPER)
            screen.frame(frame, 7, general=True, headings={"value": "simulated"})
    elif what == "null":
        for option, numbers in (("--words", words), ("--pair-sd", pair_sd)):
            if numbers is not None and len(numbers) != 1:
                raise InputError("one number is expected", where=option, found=list(numbers))
        n = 2 if words is None else words[0]
        null = nulls.null_distribution(
            n,
            n,
            5 if attributes is None else attributes,
            0.05 if pair_sd is None else pair_sd[0],
            draws=10_000 if draws is None else draws,
            seed=seed,
        )
        frame = null.summary()
        if as_json:
            fields = ("n_x", "n_y", "n_attributes", "sd", "denominator", "draws", "seed", "largest")
            about = {field: getattr(null, field) for field in fields}
            screen.answer("simulate.null", {**about, "summary": records(frame)})
        else:
            screen.say(f"effect sizes of {n} + {n} words without any difference, at most {null.largest:.4f}")
            screen.frame(frame, 4, general=True)
    else:
        settings: dict[str, Any] = {
            "n_words": words,
            "pair_sd": pair_sd,
            "attribute_sd": attribute_sd,
            "n_attributes": attributes,
            "draws": draws,
        }
        given_settings = {key: value for key, value in settings.items() if value is not None}
        frame = alarms.simulate_grid(seed=seed, **given_settings)
        if as_json:
            screen.answer("simulate.grid", {"seed": seed, "rows": records(frame)})
            return
        from bayesbias.columns.simulation import grid_columns
        from bayesbias.columns.table import screen_table

        screen.say(_GRID)
        screen.show(screen_table("", grid_columns(), frame.itertuples()))


_PAPER = """\
The simulations of the seed paper, as its code has them and as it means them: a single draw (factor, numerator, bias), then
a loop, to the digits that its draws allow. With 10000 draws all that the paper prints comes out, digit for digit.
"""
_GRID = """\
How often each method calls a difference that is not there (alarms, at the 5 % level, with a 95 % interval), and how far
the truth lies from its score (its standard deviation, and where 95 % of truths lie) beside the standard error it claims.
Question "classes": do two classes of words differ? "tables": did the mean of one class move between two tables?
"""
