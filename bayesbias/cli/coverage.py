"""The command ``bayesbias coverage``."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError
from bayesbias.core.files import records
from bayesbias.core.sections import Column

COLUMNS = (
    Column("kind", "kind"),
    Column("method", "method"),
    Column("level", "level"),
    Column("name", "name"),
    Column("contrast", "contrast"),
    Column("truth", "truth", "signed", digits=3),
    Column("tables", "tables", "count"),
    Column("coverage", "coverage", "probability"),
    Column("coverage_se", "SE", "probability"),
    Column("called", "called", "probability"),
    Column("wrong_sign", "wrong sign", "probability"),
    Column("bias", "bias", "signed", digits=4),
    Column("width", "width", "number", digits=3),
)


class Numbers(click.ParamType):
    """Whole numbers with commas."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Return the numbers."""
        if isinstance(value, tuple):
            return value
        parts = str(value).split(",")
        if not all(part.strip().isdigit() for part in parts):
            self.fail(f"expected whole numbers with commas, got {value!r}", param, ctx)
        return tuple(int(part) for part in parts)


@click.command(cls=shared.Command)
@click.option(
    "--fit", type=shared.PATH, metavar="RUN", help="Take words and SDs from a run of fit."
)
@click.option("--words", type=Numbers(), metavar="N,...", help="Protected words of each class.")
@click.option("--attributes", type=Numbers(), metavar="N,...", help="Stereotypes of each class.")
@click.option("--human", type=click.IntRange(0), help="Human control words.")
@click.option("--neutral", type=click.IntRange(0), help="Neutral control words.")
@click.option("--embedding", metavar="E", help="Real vectors, with --wordlist or --pools.")
@click.option("--wordlist", metavar="W", help="Negative controls: shuffle this word list.")
@click.option("--pools", metavar="W", help="Draw tables from a word list with long lists.")
@click.option("--distances", metavar="FILE", help="All pairs of the pools instead of both.")
@click.option("--controls", metavar="C", help="Control words of the list, or none.")
@click.option("--methods", metavar="M,...", help="Models, weat, averages_t, pairs_t, moments.")
@click.option(
    "--tables", type=shared.COUNT, metavar="N", help="Tables to simulate; 1000 by default."
)
@shared.options("seed", "engine", "workers", "dask", seed=0, engine="quick")
@shared.options(*shared.READING, "prob", "as_json")
def coverage(methods: str | None, **given: Any) -> None:
    """Simulate a known truth and measure coverage."""
    import bayesbias as bb
    from bayesbias.inference.view import View
    from bayesbias.output.terminal import table_lines

    names = ("tables", "seed", "prob", "engine", "workers", "dask")
    how = {name: given[name] for name in names if given[name] is not None}
    if methods is not None:
        how["methods"] = methods.split(",")
    sizes = {
        name: given[name]
        for name in ("words", "attributes", "human", "neutral")
        if given[name] is not None
    }
    if given["pools"] or given["distances"]:
        lists = None if given["distances"] else given["pools"]
        pool: Any
        if lists is None:
            pool = bb.load_distances(given["distances"])
        elif given["embedding"] is None:
            raise InputError(
                "expected vectors, got none", where="--pools", hint="add --embedding E"
            )
        else:
            loaded = [bb.load_wordlist(each, controls=given["controls"]) for each in lists]
            every = dict.fromkeys(word for each in loaded for word in each.words)
            pool = shared.vectors_of(given, list(every))
        one = {
            name: value[0] if isinstance(value, tuple) and len(value) == 1 else value
            for name, value in sizes.items()
        }
        frame = bb.coverage_on_pools(pool, lists, controls=given["controls"], **one, **how)
        title = "Coverage of the value of the whole pool"
    elif given["embedding"] or given["wordlist"]:
        if not (given["embedding"] and given["wordlist"]):
            raise InputError("expected --embedding and --wordlist, or --pools, got one alone")
        model = how.pop("methods", ["default"])[0]
        words = bb.load_wordlist(given["wordlist"], controls=given["controls"]).words
        frame = bb.simulation.negative_controls(
            shared.vectors_of(given, words),
            given["wordlist"],
            model,
            controls=given["controls"],
            **how,
        )
        title = (
            "Negative controls: share of tables in which a difference is called although there is "
            "none"
        )
    else:
        scenario = bb.simulation.Scenario()
        if given["fit"] is not None:
            scenario = bb.simulation.scenario_from_fit(bb.load_run(given["fit"]).result)
        scenario = dataclasses.replace(scenario, **sizes)
        frame = bb.coverage_simulated(scenario, **how)
        title = "Coverage, false alarms and power in simulated tables"
    shared.tell(
        {"rows": records(frame), **{name: how[name] for name in ("seed", "prob", "engine")}},
        f"{title}, {given['prob']:.0%} intervals, seed {given['seed']}\n",
        *table_lines(frame, COLUMNS, View(given["prob"])),
    )
