"""The commands ``bayesbias list``, ``show`` and ``check-wordlist``: what is shipped, and lists of one's own."""

from __future__ import annotations

import dataclasses
import difflib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias.cli import options, screen
from bayesbias.core.errors import BayesbiasError, InputError, nearest

if TYPE_CHECKING:
    from bayesbias.wordlists.wordlist import WordList

KINDS = ("wordlists", "models", "embeddings")

_MOST_READ_WHOLE = 2**28  # bytes of a file of vectors that is read for the words that may be meant
_MOST_MEANT = 20  # missing words for which they are looked for
_FEW_CONTROLS = 12  # missing control words that are named
_LENGTHS_APART = 2
_ALIKE = 0.85


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS))
@options.as_json
def list_(kind: str, as_json: bool) -> None:
    """List what is shipped: wordlists, models or embeddings."""
    items: dict[str, str] = {}
    more: dict[str, Any] = {}
    beside: list[str] = []
    if kind == "wordlists":
        from bayesbias.wordlists.controls import list_controls
        from bayesbias.wordlists.listfile import list_wordlists, load_wordlist

        items = {name: load_wordlist(name).title for name in list_wordlists()}
        more = {"controls": [*list_controls(), "none"], "for_sentiment": ["occupations"]}
        beside = [f"controls: {', '.join(more['controls'])}", "for `bayesbias sentiment`: occupations"]
    elif kind == "models":
        from bayesbias.models.loading import list_models, load_model

        items = {name: load_model(name).description for name in list_models()}
    else:
        from bayesbias.core.files import data_dir
        from bayesbias.core.texts import read_toml
        from bayesbias.embeddings.readers.formats import valid_formats
        from bayesbias.embeddings.static import list_embeddings

        about = {name: read_toml(data_dir("embeddings") / name / "MODEL.toml") for name in list_embeddings()}
        items = {name: str(each["description"]) for name, each in about.items()}
        beside = [f"or a file: {valid_formats()}"]
    if as_json:
        rows = [{"name": name, "title": title} for name, title in items.items()]
        screen.answer("list", {"kind": kind, "items": rows, **more})
        return
    for name, title in items.items():
        screen.say(f"{name:<24} {title}")
    for line in beside:
        screen.say(line)


@click.command()
@click.argument("name")
@options.as_json
def show(name: str, as_json: bool) -> None:
    """Show a list, model or embedding by name or path.

    A list is one of words, of control words or of occupations. Of a model, what its prior expects of a contrast is said
    beside the file, on standard error.

    `show template` starts a word list of your own, `show occupations` a list for the sentences on occupations.
    """
    from bayesbias.models.loading import load_model

    kind, content = _shipped(name)
    if as_json:
        if kind in ("wordlist", "controls"):
            covariates = dataclasses.asdict(content)
        else:
            covariates = {"text": content}
            if kind == "model":
                covariates["prior"] = _prior_lines(load_model(name))
        screen.answer("show", {"kind": kind, **covariates})
    elif kind == "wordlist":
        _show_wordlist(content)
    elif kind == "controls":
        screen.say(f"{content.title}\nsource: {content.source}")
        screen.say(f"human ({len(content.human)}): {', '.join(content.human)}")
        screen.say(f"neutral ({len(content.neutral)}): {', '.join(content.neutral)}")
    else:
        screen.data(content, end="")  # as it is, so that it can be edited and used
        for line in _prior_lines(load_model(name)) if kind == "model" else ():
            screen.say(line, err=True)  # no part of the file


def _shipped(name: str) -> tuple[str, Any]:
    """Return the kind of what is asked for, and its content: a value of words, or the text of a file."""
    from bayesbias.core.files import data_dir
    from bayesbias.embeddings.static import list_embeddings
    from bayesbias.models.loading import list_models, load_model
    from bayesbias.wordlists.controls import list_controls, load_controls
    from bayesbias.wordlists.listfile import list_wordlists, load_wordlist, wordlist_template

    path = Path(name)
    if name == "template":
        return "template", wordlist_template()
    if name in list_models() or (path.is_file() and _has_key(path, "likelihood")):
        return "model", load_model(name).text
    if name in list_controls():
        return "controls", load_controls(name)
    if name in list_wordlists() or path.is_file():
        return "wordlist", load_wordlist(name)
    if name == "occupations":
        file = data_dir("wordlists") / "sentiment" / "occupations.toml"
        return "occupations", file.read_text(encoding="utf-8")
    if name in list_embeddings():
        return "embedding", (data_dir("embeddings") / name / "MODEL.toml").read_text(encoding="utf-8")
    names = [
        *list_wordlists(),
        *list_controls(),
        *list_models(),
        *list_embeddings(),
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
    from bayesbias.core.texts import read_toml

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
    for note in (*words.notes, *words.thin):
        screen.say(f"note: {note}")


@click.command("check-wordlist")
@click.argument("file")
@click.option(
    "--embedding", metavar="E", help="Say which words these vectors lack, spell otherwise or make of pieces."
)
@options.vector_files
@options.as_json
def check_wordlist(
    file: str, embedding: str | None, allow_pickle: bool, invalid_utf8: str, as_json: bool
) -> None:
    """Say everything that is wrong with a list of your own.

    Words of an English list that are no whole words of the shipped vectors are named: misspelt ones are among them.
    """
    from bayesbias.wordlists.listfile import examined

    if _has_key(file, "noun_pairs"):  # of the sentences on occupations
        from bayesbias.wordlists.occupations import load_occupations

        listed = load_occupations(file)
        if as_json:
            screen.answer("check-wordlist", {"file": file, "ok": True, "problems": [], "notes": []})
        else:
            screen.say(f"{file}: no errors: {listed!r}")
        return
    problems, told, words = examined(file)
    in_vectors = None
    if words is not None and (words.protected_words or words.attribute_words):
        in_vectors = _in_vectors(words, embedding, allow_pickle=allow_pickle, on_invalid_utf8=invalid_utf8)
    meant = _meant(in_vectors["missing"], embedding, allow_pickle, invalid_utf8) if in_vectors else []
    notes = told if problems or words is None else [*told, *words.thin]
    notes += [f"not in {in_vectors['name']}: {', '.join(meant)}"] if in_vectors and meant else []
    lost = _lost_controls(words, in_vectors) if words is not None and in_vectors else []
    notes += [f"not in {in_vectors['name']}: {'; '.join(lost)}"] if in_vectors and lost else []
    if as_json:
        state = {"file": file, "ok": not problems, "problems": problems, "notes": notes}
        screen.answer("check-wordlist", state if in_vectors is None else {**state, "vectors": in_vectors})
        if problems:
            sys.exit(2)
        return
    if in_vectors is not None:
        matched = [f"{word} as {taken}" for word, taken in in_vectors["matched"].items()]
        notes += [
            f"{said}: {', '.join(named)}"
            for said, named in (
                (f"spelt otherwise in {in_vectors['name']}", matched),
                (
                    f"made of pieces in {in_vectors['name']}, as a misspelt word would be",
                    in_vectors["composed"],
                ),
            )
            if named
        ]
    if problems:
        for problem in problems:
            screen.say(f"bayesbias: {problem}", err=True)
        for note in notes:
            screen.say(f"bayesbias: {file}, note: {note}", err=True)
        sys.exit(2)
    assert words is not None  # nothing read means at least one problem
    screen.say(
        f"{file}: {'no errors' if words.control_words else 'a list that works'}: {len(words.protected_words)} protected "
        f"words, {len(words.attribute_words)} stereotypes, {len(words.control_words)} controls"
        + (
            f", of which {in_vectors['name']} has {_controls_found(words, in_vectors)}"
            if in_vectors and lost
            else ""
        )
        + (
            ""
            if words.control_words
            else "; without them nobody can tell near to a stereotype from near to everything"
        )
    )
    for note in notes:
        screen.say(f"note: {note}")


def _meant(missing: list[str], embedding: str | None, allow_pickle: bool, invalid_utf8: str) -> list[str]:
    """Return missing words, the first of them with the word of the vectors that may be meant.

    It is looked for in a file that is not too large to be read whole, among words of the same beginning and about that length.
    """
    from bayesbias.embeddings.loading import load_embedding

    file = None if embedding is None else Path(embedding)
    if not missing or file is None or not file.is_file() or file.stat().st_size > _MOST_READ_WHOLE:
        return missing
    known = load_embedding(file, allow_pickle=allow_pickle, on_invalid_utf8=invalid_utf8).words
    out = []
    for word in missing[:_MOST_MEANT]:
        near = [
            one
            for one in known
            if one[:1].casefold() == word[:1].casefold() and abs(len(one) - len(word)) <= _LENGTHS_APART
        ]
        # Small vectors lack many words that are spelt rightly, of which each is somewhat like another.
        swapped = [one for one in near if sorted(one) == sorted(word)]
        alike = swapped or difflib.get_close_matches(word, near, n=1, cutoff=_ALIKE)
        out.append(f"{word} (did you mean {alike[0]!r}?)" if alike else word)
    return [*out, *missing[_MOST_MEANT:]]


def _in_vectors(words: WordList, embedding: str | None, **settings: Any) -> dict[str, Any] | None:
    """Return what vectors have of the words of a list; None where not asked.

    Control words that are shipped have no misspelt ones among them: of those only what is missing is told.

    Without vectors of one's own an English list is held to the shipped ones, for the sake of misspelt words alone.
    """
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.embeddings.static import STATIC_EMBEDDING
    from bayesbias.wordlists.controls import list_controls
    from bayesbias.wordlists.wordlist import NOT_STATED

    if embedding is None and words.language not in ("en", NOT_STATED):
        return None
    shipped = words.controls is not None and words.controls.name in list_controls()
    own = dict.fromkeys(
        [*words.protected_words, *words.attribute_words, *(() if shipped else words.control_words)]
    )
    asked = own if embedding is None else dict.fromkeys([*own, *words.control_words])
    vectors = load_embedding(embedding or STATIC_EMBEDDING, words=list(asked), **settings)
    absent = set(vectors.missing)
    kinds = {} if embedding is None or words.controls is None else _control_kinds(words)
    return {
        "name": vectors.name,
        "missing": [word for word in vectors.missing if word in own],
        "matched": {}
        if embedding is None
        else {word: taken for word, taken in vectors.matched.items() if word in own},
        "composed": [word for word in vectors.composed if word in own],
        "missing_controls": {
            kind: [word for word in listed if word in absent] for kind, listed in kinds.items()
        },
    }


def _control_kinds(words: WordList) -> dict[str, tuple[str, ...]]:
    controls = words.controls
    assert controls is not None  # asked of lists that have some
    return {"human": controls.human, "neutral": controls.neutral}


def _lost_controls(words: WordList, in_vectors: Mapping[str, Any]) -> list[str]:
    """Say how many control words of each kind the vectors lack; which, where they are few and not named already."""
    out = []
    for kind, lost in in_vectors["missing_controls"].items():
        if lost:
            new = [word for word in lost if word not in in_vectors["missing"]]
            named = f" ({', '.join(new)})" if 0 < len(new) <= _FEW_CONTROLS else ""
            out.append(f"{len(lost)} of {len(_control_kinds(words)[kind])} {kind} control words{named}")
    return out


def _controls_found(words: WordList, in_vectors: Mapping[str, Any]) -> int:
    absent = {word for lost in in_vectors["missing_controls"].values() for word in lost}
    return sum(word not in absent for word in words.control_words)
