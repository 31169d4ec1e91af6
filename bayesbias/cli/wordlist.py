"""The command group ``bayesbias wordlist``: list, show, new and check."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError
from bayesbias.core.files import data_dir

if TYPE_CHECKING:
    from bayesbias.wordlists.wordlist import WordList

_MOSTLY_MISSING = (
    "Where more than half of a set is missing, the words left may not stand for it: results hold "
    "for these words only. Choose words that the vectors have, or name their form with --key."
)


@click.group()
def wordlist() -> None:
    """List, show, start and check word lists."""


@wordlist.command("list")
@shared.options("as_json")
def list_(as_json: str | None) -> None:
    """List shipped word lists and controls."""
    import bayesbias as bb
    from bayesbias.wordlists.controls import list_controls

    lists = {name: bb.load_wordlist(name).title for name in bb.wordlists.list_wordlists()}
    controls = [*list_controls(), "none"]
    if as_json:
        items = [{"name": name, "title": title} for name, title in lists.items()]
        shared.print_json(
            "wordlist list",
            {"items": items, "controls": controls, "for_sentiment": ["occupations"]},
        )
        return
    for name, title in lists.items():
        click.echo(f"{name:<24}{title}")
    click.echo(f"\nControls: {', '.join(controls)}\nFor `bayesbias sentiment`: occupations")


@wordlist.command()
@click.argument("name")
@shared.options("as_json")
def show(name: str, as_json: str | None) -> None:
    """Show the words of a list."""
    import bayesbias as bb
    from bayesbias.wordlists.controls import list_controls, load_controls

    if name == "occupations":
        click.echo(
            (data_dir("wordlists") / "sentiment" / "occupations.toml").read_text(encoding="utf-8"),
            nl=False,
        )
        return
    is_controls = name in list_controls()
    words: Any = load_controls(name) if is_controls else bb.load_wordlist(name)
    if as_json:
        kind = "controls" if is_controls else "wordlist"
        shared.print_json("wordlist show", {"kind": kind, **dataclasses.asdict(words)})
        return
    click.echo(f"{words.name}: {words.title}\nSource: {words.source}")
    if is_controls:
        click.echo(f"human ({len(words.human)}): {', '.join(words.human)}")
        click.echo(f"neutral ({len(words.neutral)}): {', '.join(words.neutral)}")
        return
    for group in words.classes:
        click.echo(f"\n{group.name} ({len(group.protected)}): {', '.join(group.protected)}")
        if group.attributes:
            click.echo(
                f"  {group.attribute_class} ({len(group.attributes)}): {', '.join(group.attributes)}"
            )
    for set_, held in words.attribute_sets.items():
        click.echo(f"\nAttribute set {set_} ({len(held)}): {', '.join(held)}")
    if words.controls is None:
        click.echo("\nControls: none")
    else:
        human, neutral = len(words.controls.human), len(words.controls.neutral)
        click.echo(f"\nControls {words.controls.name}: {human} human and {neutral} neutral words")
    for note in (*words.edits, *words.disagreements, *words.notes, *words.thin):
        click.echo(f"Note     {note}")


@wordlist.command()
@click.argument("file", type=shared.PATH)
def new(file: Path) -> None:
    """Write a word list to start from."""
    from bayesbias.wordlists.listfile import wordlist_template

    if file.exists():
        raise InputError("the file exists", where=str(file), hint="name another file")
    file.write_text(wordlist_template(), encoding="utf-8")
    click.echo(f"Written  {file}. Replace its words, then run: bayesbias wordlist check {file}")


@wordlist.command()
@click.argument("file")
@shared.options("embedding", *shared.READING, "as_json")
@click.pass_context
def check(
    ctx: click.Context, file: str, embedding: str | None, as_json: str | None, **reading: Any
) -> None:
    """Report every problem of a word list.

    English words that the shipped vectors do not have as whole words are named: a misspelt word is
    among them.
    """
    from bayesbias.wordlists.listfile import examined

    problems, notes, words = examined(file)
    found: dict[str, Any] | None = None
    if words is not None and (embedding is not None or words.language == "en"):
        vectors = shared.vectors_of(
            {**reading, "embedding": embedding or "minilm-static"}, words.words
        )
        own = {*words.protected_words, *words.attribute_words}
        sets = {
            name: {"listed": len(listed), "found": sum(word in vectors for word in listed)}
            for name, listed in _sets_of(words)
        }
        found = {
            "name": vectors.name,
            "sets": sets,
            "missing": list(vectors.missing),
            "matched": dict(vectors.matched),
            "composed": [word for word in vectors.composed if word in own],
        }
        if embedding is not None:
            notes = [*notes, *vectors.notes]
    if words is not None and not problems:
        notes = [*notes, *words.thin]
        if embedding is None and words.language != "en":
            notes.append('spelling is checked for English lists only: add language = "en"')
    if as_json:
        shared.print_json(
            "wordlist check",
            {
                "file": file,
                "ok": not problems,
                "problems": problems,
                "notes": notes,
                "vectors": found,
            },
        )
        ctx.exit(2 if problems else 0)
    for problem in problems:
        click.echo(f"bayesbias: {problem}", err=True)
    if words is not None and not problems:
        sizes = (
            f"{len(words.protected_words)} protected words, {len(words.attribute_words)} attributes"
        )
        click.echo(f"{file}: no errors. {sizes}, {len(words.control_words)} controls.")
    if found is not None and embedding is not None:
        click.echo(f"Found in {found['name']}:")
        for name, counts in found["sets"].items():
            few = " (more than half missing)" if 2 * counts["found"] < counts["listed"] else ""
            click.echo(f"  {name}: {counts['found']} of {counts['listed']}{few}")
        if any(2 * counts["found"] < counts["listed"] for counts in found["sets"].values()):
            notes = [*notes, _MOSTLY_MISSING]
    for note in notes:
        click.echo(f"Note     {note}")
    if found is not None:
        for what, listed in (
            ("missing from", found["missing"]),
            ("perhaps misspelled: built from subwords in", found["composed"]),
        ):
            if listed:
                click.echo(
                    f"Note     {len(listed)} words {what} {found['name']}: {', '.join(listed[:20])}"
                )
        if found["matched"]:
            spelt = ", ".join(f"{word} as {taken}" for word, taken in found["matched"].items())
            click.echo(f"Note     Spelled differently in {found['name']}: {spelt}")
    ctx.exit(2 if problems else 0)


def _sets_of(words: WordList) -> list[tuple[str, tuple[str, ...]]]:
    """Return the sets of a word list, each with its name."""
    sets = []
    for group in words.classes:
        sets += [
            (f"{group.name}, protected words", group.protected),
            (f"{group.name}, attributes", group.attributes),
        ]
    sets += [(f"{name}, attributes", held) for name, held in words.attribute_sets.items()]
    if words.controls is not None:
        sets += [
            ("human controls", words.controls.human),
            ("neutral controls", words.controls.neutral),
        ]
    return [(name, listed) for name, listed in sets if listed]
