"""What ``bayesbias coverage_simulated`` does with pools of real words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.cli import inputs, screen
from bayesbias.core.errors import InputError
from bayesbias.core.files import records
from bayesbias.core.wording import as_percent, number_of, some

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.simulation.pools import Pool

USUAL_TABLES = 200
USUAL_METHODS = ("default", "shared", "moments", "bootstrap")
_SHOWN = {
    "method": "method",
    "truth": "pool",
    "bias": "bias",
    "bias_se": "error of bias",
    "rmse": "rmse",
    "flawless": "flawless",
    "coverage": "coverage",
    "coverage_se": "its error",
    "relative_width": "width",
    "called": "called",
    "wrong_sign": "wrong sign",
    "seconds": "seconds",
    "converged": "converged",
}


def on_pools(
    embedding: str | None,
    pools: str | None,
    distances: str | None,
    *,
    controls: str | None,
    numbers: Mapping[str, Any],
    as_json: bool,
    **settings: Any,
) -> None:
    """Draw tables from pools, hold all methods to them, and print what came of it."""
    from bayesbias.simulation.accounting import engine_in_words
    from bayesbias.simulation.pools import coverage_on_pools, drawn_pool

    if distances is None and embedding is None:
        raise InputError(
            "pools need vectors",
            found=f"--pools {pools}",
            valid="--embedding E --pools W, or --distances FILE",
        )
    table = inputs.pairs_asked_for(
        embedding, pools, distances, controls=controls, others="--embedding, --pools and --controls"
    ).table
    drawn = {name: value for name, value in numbers.items() if value is not None}
    pool = drawn_pool(table, **drawn)
    frame = coverage_on_pools(table, **drawn, **settings)
    missing = list(table.coverage.missing)
    if as_json:
        about = {"pools": str(table.provenance["name"]), **_sizes(pool)}
        lost = {"missing": missing, "left_out": list(pool.grid.left_out)}
        chosen = {name: settings[name] for name in ("tables", "seed", "prob", "engine")}
        screen.answer("coverage_simulated.pools", {**about, **lost, **chosen, "rows": records(frame)})
        return
    name = table.provenance["name"]
    screen.say(
        f"{number_of(settings['tables'], 'table')} drawn from {name}: {_sizes_in_words(pool)}; seed {settings['seed']}."
    )
    if missing:
        screen.say(f"not in the vectors: {some(missing)}.")
    if pool.grid.left_out:
        screen.say(f"left out, for want of a pair with every word: {some(pool.grid.left_out)}.")
    screen.say(
        f"coverage: share of {as_percent(settings['prob'])} intervals that hold the value of the pool, to be compared "
        "with flawless:\n"
        "that of the simple mean with its exact standard deviation, which is higher where pools are small.\n"
        "pool: its value. width: over the ideal. wrong sign: share that leave out zero on the wrong side.\n"
        "seconds: median of an answer.\n"
        "Standard errors of shares are after Agresti and Coull; a dash where a method has no such answer."
    )
    if engines := engine_in_words(frame, settings["engine"]):
        screen.say(engines)
    screen.say("")
    _print_rows(frame)


def _sizes(pool: Pool) -> dict[str, dict[str, dict[str, int]]]:
    grid = pool.grid
    return {
        side: {
            name: {"drawn": int(n), "pool": int(total)}
            for name, n, total in zip(names, wanted, there, strict=True)
        }
        for side, names, wanted, there in zip(
            ("words", "attributes"),
            (grid.classes, grid.lists),
            (pool.words, pool.attributes),
            grid.sizes(),
            strict=True,
        )
    }


def _sizes_in_words(pool: Pool) -> str:
    sides = [
        f"{noun} "
        + ", ".join(f"{name} {size['drawn']} of {size['pool']}" for name, size in _sizes(pool)[noun].items())
        for noun in ("words", "attributes")
    ]
    return "; ".join(sides)


_OF_DISTANCES = ("truth", "bias", "bias_se", "rmse")
_USUAL = 0.001  # the last digit of what has no error of its own
_MOST_DIGITS = 12


def _last_digit(part: pd.DataFrame) -> float:
    """Return the last digit of distances in a table: a tenth of the pool's value, but 100th to 1000th of the ideal width.

    Their errors do not choose it, which would print a bias as 0.00 beside a value of 0.005; that of the bias stands beside it.
    """
    ideal = float((part["width"] / part["relative_width"]).median())  # one number, but for rounding
    value = abs(float(part["truth"].iloc[0]))
    if not ideal > 0:  # of methods without intervals
        return _USUAL
    fine = max(min(ideal / 100, value / 10), ideal / 1000)
    return 10.0 ** math.floor(math.log10(fine) + 1e-12)


def _print_rows(frame: pd.DataFrame) -> None:
    """Print a table for each contrast, the methods one below the other; distances have the same digits in all its rows."""
    from bayesbias.columns.simulation import OF_TABLES

    columns: Sequence[str] = list(_SHOWN)
    for (level, name, contrast), part in frame.groupby(["level", "name", "contrast"], sort=False):
        screen.say(f"{level}, {contrast}" if level == "overall" else f"{level} {name}, {contrast}")
        last = _last_digit(part)
        errors = {
            f"mcse_{_SHOWN[name]}": last
            if name in _OF_DISTANCES
            else part[f"{name}_se"].fillna(_USUAL).clip(lower=_USUAL)
            if f"{name}_se" in part
            else _USUAL
            for name in columns
        }
        screen.frame(part[columns].rename(columns=_SHOWN).assign(**errors), _MOST_DIGITS, least=OF_TABLES)
