"""The command ``bayesbias score``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError
from bayesbias.core.settings import Setting
from bayesbias.scores.score import SCORES

SETTINGS = list(dict.fromkeys(setting for row in SCORES.values() for setting in row.settings))


def _option(setting: Setting) -> Callable[[Any], Any]:
    kind: Any = click.Choice(setting.choices) if setting.choices else setting.kind
    if kind is None and setting.default is not None:
        kind = type(setting.default)
    name = f"--{setting.name.replace('_', '-')}"
    return click.option(
        name,
        setting.name,
        type=kind,
        default=setting.default,
        help=setting.help,
        metavar=setting.metavar,
    )


def _settings(command: Any) -> Any:
    for setting in reversed(SETTINGS):
        command = _option(setting)(command)
    return command


@click.command()
@shared.options("embedding", "wordlist", "distances", "postprocess")
@click.option(
    "--scores", metavar="NAMES", help=f"With commas, of {', '.join(SCORES)} [all possible]."
)
@click.option("--classes", metavar="X,Y", help="Two protected classes.")
@_settings
@shared.options(*shared.READING, "as_json")
def score(scores: str | None, classes: str | None, as_json: str | None, **given: Any) -> None:
    """Compute published scores: WEAT, MAC and others."""
    import bayesbias as bb
    from bayesbias.core.files import plain

    asked = None if scores is None else [name.strip().lower() for name in scores.split(",")]
    for name in asked or ():
        if name not in SCORES:
            raise InputError("--scores: unknown score", found=name, valid=", ".join(SCORES))
    table = words = vectors = None
    if given["distances"] is None and given["embedding"] and given["wordlist"]:
        words = bb.load_wordlist(given["wordlist"], controls="none")
        in_sets = [word for group in words.definitional_sets for word in group]
        vectors = shared.vectors_of(given, list(dict.fromkeys([*words.words, *in_sets])))
        table = bb.distance_table(vectors, words)
    else:
        table = shared.table_of(given)
    source = (table, words, vectors, None if classes is None else classes.split(","))
    results, left_out = [], {}
    for name, row in SCORES.items():
        if asked is not None and name not in asked:
            continue
        try:
            settings = {setting.name: given[setting.name] for setting in row.settings}
            results += row.compute(*source, **settings)
        except InputError as error:
            if asked is not None:
                raise InputError(f"{name}: {error}") from None
            left_out[name] = str(error)
    if not results:
        raise InputError(
            "no score can be computed",
            found="; ".join(f"{name}: {why}" for name, why in left_out.items()),
        )
    if as_json:
        found = [result.as_dict() for result in results]
        about = plain(dict(table.provenance))
        shared.print_json("score", {"scores": found, "left_out": left_out, "provenance": about})
        return
    click.echo("\n\n".join(map(str, results)))
    for name, reason in left_out.items():
        click.echo(f"Note     {name} left out: {reason}")
