"""The command ``bayesbias measure``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from bayesbias.cli import inputs, options, screen
from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import plain
from bayesbias.core.versions import with_python
from bayesbias.core.wording import conjoined
from bayesbias.scores.measures import MEASURES, Given


@click.command()
@options.embedding()
@options.wordlist
@options.distances
@click.option(
    "--measure",
    "measures",
    metavar="NAMES",
    help=f"Which of {', '.join(MEASURES)}, with commas between; by default all that the input allows.",
)
@options.classes("The two protected classes to compare, where there are more.")
@options.of_settings(setting for row in MEASURES.values() for setting in row.settings)
@options.postprocess
@options.vector_files
@options.as_json
def measure(
    embedding: str | None,
    wordlist: str | None,
    distances: str | None,
    measures: str | None,
    classes: list[str] | None,
    allow_pickle: bool,
    postprocess: str | None,
    invalid_utf8: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Compute the averaged scores in common use."""
    asked = _asked(measures)
    if asked is not None:
        _refuse_unused(asked, "asked for")
    pairs = inputs.pairs_asked_for(
        embedding,
        wordlist,
        distances,
        controls="none",
        nothing="nothing to measure",
        with_sets=True,
        allow_pickle=allow_pickle,
        invalid_utf8=invalid_utf8,
        postprocess=postprocess,
    )
    table, words, vectors = pairs.table, pairs.words, pairs.vectors
    given = Given(table, words, vectors, classes, lambda text: screen.say(f"note: {text}", err=True))
    present = list(dict.fromkeys(map(str, table.frame["protected_class"].unique())))
    if classes is not None:
        from bayesbias.scores.stereotypes import pair_of_classes

        pair_of_classes(present if words is None else [c.name for c in words.classes], classes, "--classes")
    by_default = asked is None
    if asked is None:
        why_not = {name: row.why_not(given, present) for name, row in MEASURES.items()}
        asked = [name for name, reason in why_not.items() if not reason]
        _refuse_unused(asked, "computed of this input", why_not)
        for name, reason in why_not.items():
            if reason:
                screen.say(f"note: {name} left out: {reason}", err=True)
    else:
        _check_input(asked, given, present)
    chosen = {
        name: {setting.name: settings[setting.name] for setting in MEASURES[name].settings} for name in asked
    }
    whole = [name for name in asked if not MEASURES[name].needs_two_classes]
    if classes is not None and whole and len(present) > 2:
        take = f"{conjoined(whole)} {'takes' if len(whole) == 1 else 'take'}"
        screen.say(f"note: {take} all {len(present)} classes, whatever --classes says", err=True)
    results, refused = {}, {}
    for name, own in chosen.items():
        try:
            results[name] = MEASURES[name].run(given, **own)
        except InputError as error:
            if not by_default:
                raise
            refused[name] = error
    if refused and not results:
        raise next(iter(refused.values()))
    for name, why in refused.items():
        screen.say(f"note: {name} left out: {why}", err=True)
    if as_json:
        found = {name: result.as_json() for name, result in results.items()}
        said = {name: [line.strip() for line in result.in_words()] for name, result in results.items()}
        about = {
            "table": dict(table.provenance),
            "settings": {name: chosen[name] for name in results},
            "versions": with_python("bayesbias", "numpy"),
        }
        screen.answer("measure", {"measures": found, "findings": said, "provenance": plain(about)})
        return
    for result in results.values():
        screen.say("\n".join(result.in_words()))
        for note in result.notes:
            screen.say(f"  note: {note}")
        if result.dropped:
            screen.say(f"  missing words: {', '.join(result.dropped)}")


def _asked(measures: str | None) -> list[str] | None:
    if measures is None:
        return None
    names = list(dict.fromkeys(name.strip() for name in measures.split(",")))
    for name in names:
        checks.choice(name, MEASURES, "measure", "--measure")
    return names


def _refuse_unused(asked: list[str], how: str, why_not: Mapping[str, str | None] | None = None) -> None:
    """Refuse what was typed for measures none of which is among those asked for, with the reasons where there are some."""
    takers: dict[str, list[str]] = {}
    for name, row in MEASURES.items():
        for setting in row.settings:
            takers.setdefault(setting.name, []).append(name)
    for setting_name, names in takers.items():
        if not set(names) & set(asked):
            which = "which is not" if len(names) == 1 else "none of which is"
            valid = f"{' or '.join(names)} among --measure" if why_not is None else None
            reasons = dict.fromkeys(filter(None, ((why_not or {}).get(name) for name in names)))
            why = f"is for {conjoined(names)}, {which} {how}"
            options.refuse_typed([setting_name], f"{why}: {conjoined(reasons)}" if reasons else why, valid)


def _check_input(asked: list[str], given: Given, present: list[str]) -> None:
    """Refuse what a measure that was asked for cannot do; what it needs of the word list it says itself."""
    for name in asked:
        row = MEASURES[name]
        if row.needs_two_classes and given.classes is None and len(present) > 2:
            raise InputError(
                f"{name} compares two protected classes", found=present, hint="name two with --classes X,Y"
            )
        if row.needs_vectors and given.vectors is None:
            raise InputError(
                f"{name} needs vectors, not distances",
                found="--distances",
                valid="--embedding E --wordlist W",
            )
