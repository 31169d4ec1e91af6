"""The command group ``bayesbias wordlist``: list, show, new and check."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import bayesbias as bb
from bayesbias.cli import shared
from bayesbias.core import InputError, files, some
from bayesbias.tables.coverage import GroupCoverage
from bayesbias.wordlists.wordlist import CONTROLS

_MOSTLY_MISSING = (
    "Where more than half of a set is missing, the words left may not stand for it: results hold "
    "for these words only. Choose words that the vectors have, or name their form with --key."
)


@click.group(cls=shared.Group)
def wordlist() -> None:
    """List, show, start and check word lists."""


@wordlist.command("list")
@shared.options("as_json")
def list_(**given: Any) -> None:
    """List shipped word lists and controls."""
    from bayesbias.wordlists.listfile import list_controls

    lists = {name: bb.load_wordlist(name).title for name in bb.wordlists.list_wordlists()}
    controls = [*list_controls(), "none"]
    lines = f"\nControls: {', '.join(controls)}\nFor `bayesbias sentiment`: occupations"
    shared.tell_list(lists, lines, controls=controls, for_sentiment=["occupations"])


@wordlist.command()
@click.argument("name")
@shared.options("as_json")
def show(name: str, **given: Any) -> None:
    """Show the words of a list."""
    from bayesbias.wordlists.listfile import list_controls, load_controls

    if name == "occupations":
        file = files.data_dir("wordlists") / "sentiment" / "occupations.toml"
        text = file.read_text(encoding="utf-8").rstrip("\n")
        shared.tell({"kind": "occupations", "text": text}, text)
        return
    is_controls = name in list_controls()
    words: Any = load_controls(name) if is_controls else bb.load_wordlist(name)
    lines = [f"{words.name}: {words.title}", f"Source: {words.source}"]
    if is_controls:
        lines += [_set_line("human", words.human), _set_line("neutral", words.neutral)]
    else:
        for group in words.classes:
            lines.append("\n" + _set_line(group.name, group.protected))
            if group.attributes:
                lines.append(_set_line(group.attribute_class, group.attributes, "  "))
        for name, held in words.attribute_sets.items():
            lines.append("\n" + _set_line(f"Attribute set {name}", held))
        lines.append("\nControls: none")
        if (controls := words.controls) is not None:
            sizes = f"{len(controls.human)} human and {len(controls.neutral)} neutral words"
            lines[-1] = f"\nControls {controls.name}: {sizes}"
        lines += shared.noted((*words.edits, *words.disagreements, *words.notes, *words.thin))
    kind = "controls" if is_controls else "wordlist"
    shared.tell({"kind": kind, **dataclasses.asdict(words)}, *lines)


def _set_line(name: str, words: Sequence[str], first: str = "") -> str:
    from bayesbias.output.text import wrapped

    return "\n".join(wrapped(f"{name} ({len(words)}): {', '.join(words)}", first, f"{first}  "))


@wordlist.command()
@click.argument("file", type=shared.PATH)
def new(file: Path) -> None:
    """Write a word list to start from."""
    from bayesbias.wordlists.listfile import wordlist_template

    if file.exists():
        raise InputError(
            "expected a new file, got one that exists", where=str(file), hint="name another"
        )
    files.write_whole(file, wordlist_template())
    click.echo(f"Written  {file}. Replace its words, then run: bayesbias wordlist check {file}")


@wordlist.command()
@click.argument("file")
@shared.options("embedding", *shared.READING, "as_json")
@click.pass_context
def check(ctx: click.Context, file: str, embedding: str | None, **given: Any) -> None:
    """Report every problem of a word list.

    English words that the shipped vectors build from subwords may be misspelled.
    """
    from bayesbias.studies import common
    from bayesbias.wordlists.listfile import check_wordlist

    problems, words = check_wordlist(file)
    for problem in problems:
        click.echo(f"bayesbias: {problem}", err=True)
    lines = []
    notes = []
    found = None
    warnings = []
    if words is not None and not problems:
        notes = [*words.notes, *words.thin]
        sizes = (
            f"{len(words.protected_words)} protected words, {len(words.attribute_words)} attributes"
        )
        lines.append(f"{file}: no errors. {sizes}, {len(words.control_words)} controls.")
        if embedding is not None or words.language == "en":
            found, sets, more = _found(words, {**given, "embedding": embedding or "minilm-static"})
            notes += more if embedding is not None else []
        else:
            notes.append('spelling is checked for English lists only: add language = "en"')
    told = list(notes)
    if found is not None:
        vectors = found["name"]
        if embedding is not None:
            lines.append(f"Found in {vectors}:")
            for name, group in sets.items():
                end = " (more than half missing)" if group.mostly_missing else ""
                lines.append(f"  {name}: {group.found} of {group.listed}{end}")
            if any(group.mostly_missing for group in sets.values()):
                told.append(_MOSTLY_MISSING)
        for what, listed in (
            ("missing from", found["missing"]),
            ("not known as a whole: built from subwords in", found["composed"]),
        ):
            if listed:
                told.append(f"{len(listed)} words {what} {vectors}: {some(listed, 20)}")
        if found["matched"] and embedding is None:
            spelt = ", ".join(f"{word} as {taken}" for word, taken in found["matched"].items())
            told.append(f"Spelled differently in {vectors}: {spelt}")
        warnings = common.warning_on_misspelled(found["misspelled"])
    answer = {
        "file": file,
        "ok": not problems,
        "problems": list(map(str, problems)),
        "warnings": warnings,
        "notes": notes,
        "vectors": found,
    }
    if lines or given["as_json"]:
        shared.tell(answer, *lines, *shared.warned(warnings), *shared.noted(told))
    ctx.exit(2 if problems else 0)


def _found(
    words: "bb.WordList", given: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, GroupCoverage], tuple[str, ...]]:
    """Return which words of a list the vectors have, also by set, and the notes of the vectors."""
    from bayesbias.tables.distances import misspelled_words

    vectors = shared.vectors_of(given, words.words)
    sets = {}
    for group in words.classes:
        sets[f"{group.name}, protected words"] = group.protected
        sets[f"{group.name}, attributes"] = group.attributes
    sets |= {f"{name}, attributes": held for name, held in words.attribute_sets.items()}
    if words.controls is not None:
        sets |= {f"{kind} controls": getattr(words.controls, kind) for kind in CONTROLS}
    own = {*words.protected_words, *words.attribute_words}
    coverages = {}
    for name, listed in sets.items():
        if listed:
            missing = tuple(word for word in listed if word not in vectors)
            coverages[name] = GroupCoverage(len(listed), missing)
    found = {
        "name": vectors.name,
        "sets": {
            name: {"listed": group.listed, "found": group.found}
            for name, group in coverages.items()
        },
        "missing": list(vectors.missing),
        "matched": dict(vectors.matched),
        "composed": [word for word in vectors.composed if word in own],
        "misspelled": {
            word: known for word, known in misspelled_words(vectors, words).items() if word in own
        },
    }
    return found, coverages, vectors.notes
