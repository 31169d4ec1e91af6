"""The commands ``bayesbias list``, ``show`` and ``check-wordlist``: what is shipped, and lists of one's own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from bayesbias.basics.errors import BayesbiasError, InputError, nearest
from bayesbias.cli import screen

KINDS = ("wordlists", "models", "embeddings")


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS))
def list_(kind: str) -> None:
    """List what is shipped: wordlists, models or embeddings."""
    if kind == "wordlists":
        from bayesbias.words.controls import shipped_controls
        from bayesbias.words.listfile import load_wordlist, shipped_wordlists

        for name in shipped_wordlists():
            screen.say(f"{name:<24} {load_wordlist(name).title}")
        screen.say(f"controls: {', '.join(shipped_controls())}, none")
        screen.say("for `bayesbias sentiment`: occupations")
    elif kind == "models":
        from bayesbias.models.loading import load_model, shipped_models

        for name in shipped_models():
            screen.say(f"{name:<24} {load_model(name).description}")
    else:
        from bayesbias.basics.files import data_dir
        from bayesbias.border.texts import read_toml
        from bayesbias.vectors.readers.formats import valid_formats
        from bayesbias.vectors.static import shipped_embeddings

        for name in shipped_embeddings():
            about = read_toml(data_dir("embeddings") / name / "MODEL.toml")
            screen.say(f"{name:<24} {about['description']}")
        screen.say(f"or a file: {valid_formats()}")


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
        screen.data(wordlist_template(), end="")
    elif name in shipped_models() or (path.is_file() and _has_key(path, "likelihood")):
        screen.data(load_model(name).text, end="")  # as it is, so that it can be edited and used
        for line in _prior_lines(load_model(name)):
            screen.say(line, err=True)  # no part of the file
    elif name in shipped_controls():
        from bayesbias.words.controls import load_controls

        controls = load_controls(name)
        assert controls is not None
        screen.say(f"{controls.title}\nsource: {controls.source}")
        screen.say(f"human ({len(controls.human)}): {', '.join(controls.human)}")
        screen.say(f"neutral ({len(controls.neutral)}): {', '.join(controls.neutral)}")
    elif name in shipped_wordlists() or path.is_file():
        _show_wordlist(load_wordlist(name))
    elif name == "occupations":  # as it is, so that it can be edited and used by `sentiment --words`
        screen.data(
            (data_dir("wordlists") / "sentiment" / "occupations.toml").read_text(encoding="utf-8"), end=""
        )
    elif name in shipped_embeddings():
        screen.data((data_dir("embeddings") / name / "MODEL.toml").read_text(encoding="utf-8"), end="")
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
    screen.say(f"{words.name}: {words.title}\nlanguage: {words.language}\nsource: {words.source}")
    for title, items in (("edits", words.edits), ("known disagreements", words.disagreements)):
        for item in items:
            screen.say(f"{title}: {item}")
    for group in words.classes:
        screen.say(f"\n{group.name} ({len(group.protected)}): {', '.join(group.protected)}")
        screen.say(f"  {group.attribute_class} ({len(group.attributes)}): {', '.join(group.attributes)}")
    controls = words.controls
    screen.say(
        "\ncontrols: none"
        if controls is None
        else f"\ncontrols {controls.name}: {len(controls.human)} human, {len(controls.neutral)} neutral words"
    )
    for note in words.notes:
        screen.say(f"note: {note}")


@click.command("check-wordlist")
@click.argument("file")
def check_wordlist(file: str) -> None:
    """Say everything that is wrong with a list of your own."""
    from bayesbias.words.listfile import check_wordlist as check, load_wordlist

    if _has_key(file, "noun_pairs"):  # of the sentences on occupations
        from bayesbias.words.occupations import load_occupations

        screen.say(f"{file}: a good list: {load_occupations(file)!r}")
        return
    problems = check(file)
    if problems:
        for problem in problems:
            screen.say(f"bayesbias: {problem}", err=True)
        sys.exit(2)
    words = load_wordlist(file)
    screen.say(
        f"{file}: a good list: {len(words.protected_words)} protected words, {len(words.attribute_words)} stereotypes, "
        f"{len(words.control_words)} controls"
    )
    for note in words.notes:
        screen.say(f"note: {note}")
