"""The commands ``bayesbias list``, ``show`` and ``check-wordlist``: what is shipped, and lists of one's own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from bayesbias.basics.errors import BayesbiasError, InputError, nearest

KINDS = ("wordlists", "models", "embeddings")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS))
def list_(kind: str) -> None:
    """List what is shipped: wordlists, models or embeddings."""
    if kind == "wordlists":
        from bayesbias.words.controls import shipped_controls
        from bayesbias.words.listfile import load_wordlist, shipped_wordlists

        for name in shipped_wordlists():
            click.echo(f"{name:<24} {load_wordlist(name).title}")
        click.echo(f"controls: {', '.join(shipped_controls())}, none")
        click.echo("for `bayesbias sentiment`: occupations")
    elif kind == "models":
        from bayesbias.models.loading import load_model, shipped_models

        for name in shipped_models():
            click.echo(f"{name:<24} {load_model(name).description}")
    else:
        from bayesbias.basics.files import data_dir
        from bayesbias.border.texts import read_toml
        from bayesbias.vectors.readers.formats import valid_formats
        from bayesbias.vectors.static import shipped_embeddings

        for name in shipped_embeddings():
            about = read_toml(data_dir("embeddings") / name / "MODEL.toml")
            click.echo(f"{name:<24} {about['description']}")
        click.echo(f"or a file: {valid_formats()}")


@click.command()
@click.argument("name")
def show(name: str) -> None:
    """Show a list, model or embedding by name or path.

    A list is one of words, of control words or of occupations. Of a model, what its prior expects of a contrast is said
    beside the file, on standard error.

    `show template` starts a word list of your own, `show occupations` a list for the sentences on occupations.
    """
    from bayesbias.basics.files import data_dir
    from bayesbias.models.loading import load_model, shipped_models
    from bayesbias.vectors.static import shipped_embeddings
    from bayesbias.words.controls import shipped_controls
    from bayesbias.words.listfile import load_wordlist, shipped_wordlists, wordlist_template

    path = Path(name)
    if name == "template":
        click.echo(wordlist_template(), nl=False)
    elif name in shipped_models() or (path.is_file() and _has_key(path, "likelihood")):
        click.echo(load_model(name).text, nl=False)  # as it is, so that it can be edited and used
        for line in _prior_lines(load_model(name)):
            click.echo(line, err=True)  # no part of the file
    elif name in shipped_controls():
        from bayesbias.words.controls import load_controls

        controls = load_controls(name)
        assert controls is not None
        click.echo(f"{controls.title}\nsource: {controls.source}")
        click.echo(f"human ({len(controls.human)}): {', '.join(controls.human)}")
        click.echo(f"neutral ({len(controls.neutral)}): {', '.join(controls.neutral)}")
    elif name in shipped_wordlists() or path.is_file():
        _show_wordlist(load_wordlist(name))
    elif name == "occupations":  # as it is, so that it can be edited and used by `sentiment --words`
        click.echo(
            (data_dir("wordlists") / "sentiment" / "occupations.toml").read_text(encoding="utf-8"), nl=False
        )
    elif name in shipped_embeddings():
        click.echo((data_dir("embeddings") / name / "MODEL.toml").read_text(encoding="utf-8"), nl=False)
    else:
        names = [
            *shipped_wordlists(),
            *shipped_controls(),
            *shipped_models(),
            *shipped_embeddings(),
            "occupations",
            "template",
        ]
        raise InputError(
            "nothing of this name is shipped",
            found=name,
            valid="see `bayesbias list`",
            hint=nearest(name, names),
        )


def _prior_lines(spec: Any) -> list[str]:
    """Say what the prior of a model expects, where that can be said without a table."""
    from bayesbias.inference.expectation import fits_usual_pairs, prior_expectation

    if fits_usual_pairs(spec):
        return prior_expectation(spec).lines()
    return [
        "What its prior expects depends on the table: bayesbias.inference.prior_expectation(model, table) says it."
    ]


def _has_key(path: str | Path, key: str) -> bool:
    """Say whether a file is TOML with a key that tells its kind; what is wrong with it is said by who reads it."""
    from bayesbias.border.texts import read_toml

    try:
        return key in read_toml(Path(path))
    except BayesbiasError:
        return False


def _show_wordlist(words: Any) -> None:
    click.echo(f"{words.name}: {words.title}\nlanguage: {words.language}\nsource: {words.source}")
    for title, items in (("edits", words.edits), ("known disagreements", words.disagreements)):
        for item in items:
            click.echo(f"{title}: {item}")
    for group in words.classes:
        click.echo(f"\n{group.name} ({len(group.protected)}): {', '.join(group.protected)}")
        click.echo(f"  {group.attribute_class} ({len(group.attributes)}): {', '.join(group.attributes)}")
    controls = words.controls
    click.echo(
        "\ncontrols: none"
        if controls is None
        else f"\ncontrols {controls.name}: {len(controls.human)} human, {len(controls.neutral)} neutral words"
    )
    for note in words.notes:
        click.echo(f"note: {note}")


@click.command("check-wordlist")
@click.argument("file")
def check_wordlist(file: str) -> None:
    """Say everything that is wrong with a list of your own."""
    from bayesbias.words.listfile import check_wordlist as check, load_wordlist

    if _has_key(file, "noun_pairs"):  # of the sentences on occupations
        from bayesbias.words.occupations import load_occupations

        click.echo(f"{file}: a good list: {load_occupations(file)!r}")
        return
    problems = check(file)
    if problems:
        for problem in problems:
            click.echo(f"bayesbias: {problem}", err=True)
        sys.exit(2)
    words = load_wordlist(file)
    click.echo(
        f"{file}: a good list: {len(words.protected_words)} protected words, {len(words.attribute_words)} stereotypes, "
        f"{len(words.control_words)} controls"
    )
    for note in words.notes:
        click.echo(f"note: {note}")
