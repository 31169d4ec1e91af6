"""The command ``bayesbias debias``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bayesbias.cli import options, screen
from bayesbias.core.files import check_file
from bayesbias.debiasing.methods import METHODS


@click.command()
@options.embedding(required=True)
@click.option(
    "--wordlist",
    required=True,
    metavar="W",
    help="A word list with definitional sets: a name or a TOML file.",
)
@click.option("--controls", metavar="C", help="Control words of the list: 2022, 2021, none, or a TOML file.")
@click.option("--method", type=click.Choice(list(METHODS)), default="hard", show_default=True)
@click.option(
    "--out",
    type=options.Place(),
    required=True,
    metavar="FILE",
    help="word2vec (.txt, .vec, .bin; each also with .gz), or arrays (.npz).",
)
@click.option("--k", type=click.IntRange(1), help="Components of the subspace; by default classes less one.")
@click.option(
    "--neutralise",
    type=click.Choice(["attributes", "all_others"]),
    default="attributes",
    show_default=True,
    help="The stereotypes of the list, or every word that is not protected.",
)
@click.option(
    "--words",
    type=click.Choice(["all", "listed"]),
    default="all",
    show_default=True,
    help="All vectors of E, or those of the list alone.",
)
@options.of_settings(setting for row in METHODS.values() for setting in row.settings)
@options.vector_files
@options.as_json
def debias(
    embedding: str,
    wordlist: str,
    controls: str | None,
    method: str,
    out: Path,
    k: int | None,
    neutralise: str,
    words: str,
    allow_pickle: bool,
    invalid_utf8: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Debias word vectors and write them."""
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.embeddings.writing import form_of_ending, save_vectors
    from bayesbias.wordlists.listfile import load_wordlist

    own_names = {setting.name for setting in METHODS[method].settings}
    for name, row in METHODS.items():
        foreign = {setting.name for setting in row.settings} - own_names
        options.refuse_typed(foreign, f"is for the {name} method", f"--method {name}")
    form_of_ending(out)  # before the work
    check_file(out)
    listed = load_wordlist(wordlist, controls=controls)
    in_sets = [word for group in listed.definitional_sets for word in group]
    wanted = dict.fromkeys([*listed.words, *in_sets]) if words == "listed" else None
    vectors: Any = embedding
    if wanted is not None or embedding != "minilm-static":
        vectors = load_embedding(
            embedding, words=wanted, allow_pickle=allow_pickle, on_invalid_utf8=invalid_utf8
        )
    if wanted is not None and vectors.open_vocabulary:
        import dataclasses

        vectors = dataclasses.replace(vectors, lookup=None)
    own = {setting.name: settings[setting.name] for setting in METHODS[method].settings}
    result = METHODS[method].run(vectors, listed, k=k, neutralise=neutralise, **own)
    save_vectors(result.embedding, out)
    if as_json:
        screen.answer("debias", {**result.as_dict(), "written": str(out)})
        return
    screen.say(repr(result))
    if 0 < len(result.unchanged) <= 12:
        screen.say(f"  unchanged: {', '.join(result.unchanged)}")
    for sentence in result.notes:
        screen.say(f"  {sentence}")
    screen.say(f"written: {out}")
