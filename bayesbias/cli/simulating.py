"""The command ``bayesbias simulate``."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

import click

from bayesbias.cli import options, screen
from bayesbias.core.errors import InputError
from bayesbias.core.files import records
from bayesbias.simulation.questions import METHODS, SINGLE_DRAW

if TYPE_CHECKING:
    import pandas as pd


@click.command()
@click.argument("what", type=click.Choice(["paper", "null", "grid"]))
@click.option(
    "--draws", type=click.IntRange(2), help="Simulated tables: 10000 for paper and null, 2000 for grid."
)
@click.option("--seed", type=options.SEED, default=1, show_default=True, help="For null and grid.")
@click.option(
    "--words",
    cls=options.Known,
    within=("n_words", "n_x"),
    type=options.Numbers(int),
    metavar="N,...",
    help="Protected words per class: one number for null, several for grid.",
)
@click.option(
    "--attributes",
    cls=options.Known,
    within=("n_attributes",),
    type=click.IntRange(1),
    help="Attributes in A and in B, for null and grid.",
)
@click.option(
    "--pair-sd",
    cls=options.Known,
    within=("sd",),
    type=options.Numbers(float),
    metavar="SD,...",
    help="Spread of pairs, for null and grid.",
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

    WHAT is the paper's simulations (paper), effect sizes without a difference (null), or false alarms (grid).

    \b
    Of paper, the rows of a single draw:
    QUANTITIES

    \b
    Of grid, the methods of each question:
    METHODS
    """  # noqa: D301 - click's mark for a paragraph to leave as it is
    from bayesbias.simulation import alarms, nulls, paper

    foreign = {
        "paper": ("seed", "words", "attributes", "pair_sd", "attribute_sd"),
        "null": ("attribute_sd",),
        "grid": (),
    }
    options.refuse_typed(foreign[what], f"has no meaning for {what!r}")
    if what == "paper":
        draws = paper.USUAL_DRAWS if draws is None else draws
        frame = paper.paper_rows(draws)
        if as_json:
            screen.answer("simulate.paper", {"rows": records(frame.drop(columns="mcse_value"))})
        else:
            screen.say(f"{_PAPER}{_quantities_in_words()}\n")
            screen.frame(frame, 7, general=True, headings={"value": "simulated"})
            if draws >= _FEWEST_FOR_ENDS:
                screen.say(_paper_shows(frame))
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
            screen.say(_null_shows(frame, n))
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

        screen.say(_GRID + _methods_in_words())
        # There are some 200 rows: what they show stands above them, and below, where one has read them.
        screen.say(f"\n{_grid_shows(frame)}\n")
        screen.show(screen_table("", grid_columns(), frame.itertuples()))
        screen.say(_grid_shows(frame))


_CLAIMED = 0.05
_FEWEST_FOR_ENDS = 40  # draws, of which one lies beyond a quantile of 2.5 %
_SPREADS, _ENDS = ("0.05", "0.001"), ("2.5%", "97.5%")


def _paper_shows(frame: pd.DataFrame) -> str:
    """Say between which effect sizes 95 % of tables without a difference lie, at both spreads."""
    from bayesbias.core.digits import printed

    rows = frame.set_index(["formula", "case", "quantity"])
    ends = [
        " to ".join(
            printed(row["value"], row["mcse_value"], signed=True)
            for row in (rows.loc[("as intended", f"no difference, sd {sd}", f"quantile {q}")] for q in _ENDS)
        )
        for sd in _SPREADS
    ]
    return (
        f"Where nothing differs, 95 % of effect sizes (as intended) lie in {ends[0]} if distances scatter by {_SPREADS[0]}, "
        f"and in {ends[1]} if they scatter by {_SPREADS[1]}: an effect size does not say how large a difference is."
    )


def _null_shows(frame: pd.DataFrame, n: int) -> str:
    """Say how often an effect size that is called large comes of nothing."""
    exact = frame.set_index("quantity")["exact"]
    return (
        f"Where nothing differs, {n} + {n} words have an effect size of 0.8 or more, up or down, in "
        f"{_percent(exact['|d| >= 0.8'])} of tables; 0.8 is often called large."
    )


def _grid_shows(frame: pd.DataFrame) -> str:
    """Say for each question which methods clearly call more than they claim, and how often where that is clearest.

    The largest of many noisy shares lies above what it is known to be, so that only an interval above 5 % counts.
    """
    said = []
    for question, rows in frame.groupby("question", sort=False):
        clear = rows[rows["alarms_low"] > _CLAIMED].sort_values("alarms_low", ascending=False, kind="stable")
        each = [
            f"{row.method.replace('_', ' ')} ({row.alarms:.1%}, {row.alarms_low:.1%} to {row.alarms_high:.1%})"
            for row in clear.drop_duplicates("method").itertuples()
        ]
        said.append(f'for "{question}" {", ".join(each) or "none"}')
    mute = []
    for n in dict.fromkeys(frame["n_words"]):
        least = 1 / math.comb(2 * n, n)  # of the p of one side
        if 2 * least > _CLAIMED:
            which = "WEAT has a p" if least > _CLAIMED else "Two-sided WEAT has a p"
            at_least = f"1/{math.comb(2 * n, n)}" if least > _CLAIMED else f"2/{math.comb(2 * n, n)}"
            mute.append(
                f" {which} of at least {at_least} with {n} words a class: it calls nothing there, whatever there is."
            )
    return (
        "Methods with more alarms than the 5 % they claim, beyond the 95 % interval, each where that is clearest: "
        f"{'; '.join(said)}.{''.join(mute)}"
    )


def _percent(share: float) -> str:
    return f"{share:.0%}" if share == 0 or share >= 0.005 else "under 1%"


def _quantities_in_words() -> str:
    """Return what the rows of a single draw are, one a line."""
    return "\n".join(f"{name:<11}{text}" for name, text in SINGLE_DRAW.items())


def _methods_in_words() -> str:
    """Return what the methods of the grid are, one a line, as its rows call them."""
    return "\n".join(
        f"{question + ', ' + method.replace('_', ' '):<25}{text}"
        for (question, method), text in METHODS.items()
    )


_PAPER = """\
The simulations of the seed paper, as its code has them and as it means them: a single draw (factor, numerator, bias), then
a loop, to the digits that its draws allow. With 10000 draws all that the paper prints comes out, digit for digit.
"""
_GRID = """\
How often each method calls a difference that is not there (alarms, at the 5 % level, with a 95 % interval), and how far
the truth lies from its score (its standard deviation, and where 95 % of truths lie) beside the standard error it claims.
Question "classes": do two classes of words differ? "tables": did the mean of one class move between two tables?
"""

simulate.help = (
    inspect.cleandoc(simulate.help or "")
    .replace("QUANTITIES", _quantities_in_words())
    .replace("METHODS", _methods_in_words())
)
