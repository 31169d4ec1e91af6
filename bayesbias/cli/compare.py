"""The commands ``bayesbias compare`` and ``bayesbias debias``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bayesbias as bb
from bayesbias.cli import shared
from bayesbias.core import InputError, files

if TYPE_CHECKING:
    from bayesbias.debiasing.methods import Debiased


@shared.command(
    "own.compare",
    "wordlist",
    "controls",
    "common_words",
    "model",
    "covariates",
    "slope",
    *shared.READING,
    *shared.SAMPLING[:-1],
    "prob",
    "rope",
    "require",
    *shared.OUTPUT,
    model="change",
)
@click.argument("files", nargs=-1, metavar="[FILE ...]")
def compare(model: str, **given: Any) -> None:
    """Compare debiased vectors with the original, or corpora."""
    shared.check_out(given, "corpora" if given["corpora"] else "debiasing")
    if given["corpora"]:
        apart = ("original", "debiased", "original_distances", "debiased_distances", "covariates")
        if unused := [name for name in (*apart, "slope") if given[name]]:
            unused = [f"--{name.replace('_', '-')}" for name in unused]
            raise InputError(
                f"expected files and a word list, got {', '.join(unused)}", where="--corpora"
            )
        if len(given["postprocess"]) > 1:
            raise InputError("expected --postprocess once, got it twice", where="--corpora")
        settings = {"kind": "corpora", "ordered": given["ordered"], **shared.sampling_of(given)}
        shared.show(bb.compare(_corpora(given), None, model, **settings), given)
        return
    if given["files"]:
        raise InputError(
            "expected --original and --debiased, or --corpora before files",
            found=" ".join(given["files"]),
        )
    spec = bb.load_model(model)
    before, after = _tables(given)
    if given["covariates"]:
        before = bb.tables.join_covariates(before, list(given["covariates"]))
    spec = shared.with_slopes(spec, before, given["slope"])
    shared.show(bb.compare(before, after, spec, **shared.sampling_of(given)), given)


def _corpora(given: dict[str, Any]) -> dict[str, bb.PairTable]:
    """Read the table of each corpus, by the name before ``=`` or that of its file."""
    if given["wordlist"] is None:
        raise InputError(
            "expected a word list, got none", where="--corpora", hint="add --wordlist W"
        )
    named = [each.partition("=") for each in given["files"]]
    paths = [(name if file else shared.stem(name), file or name) for name, _, file in named]
    if len(dict(paths)) < len(paths):
        names = ", ".join(name for name, _ in paths)
        raise InputError(
            f"expected files of different names, got {names}",
            where="--corpora",
            hint="name them, such as 1930s=FILE",
        )
    return {name: _table(given, path, *given["postprocess"]) for name, path in paths}


def _tables(given: dict[str, Any]) -> tuple[bb.PairTable, dict[str, bb.PairTable]]:
    """Read or make the table before and the tables after, by name."""
    if given["original_distances"] is not None:
        if given["original"] or given["wordlist"] or given["common_words"]:
            raise InputError(
                "expected no --original, --wordlist and --common-words beside it, got one of these",
                where="--original-distances",
            )
        before = bb.load_distances(given["original_distances"])
    elif given["original"] is None or given["wordlist"] is None:
        raise InputError("expected --original and --wordlist, or --original-distances, got less")
    else:
        before = _table(given, given["original"])
    after = {shared.stem(path): bb.load_distances(path) for path in given["debiased_distances"]}
    after |= {shared.stem(path): _table(given, path) for path in given["debiased"]}
    after |= {way: _table(given, given["original"], way) for way in given["postprocess"]}
    if not after:
        raise InputError(
            "expected --debiased, --postprocess or --debiased-distances, got none of these"
        )
    if len(after) < len([*given["debiased_distances"], *given["debiased"], *given["postprocess"]]):
        raise InputError(
            f"expected files of different names, got {', '.join(after)}",
            where="--debiased",
            hint="rename a file",
        )
    return before, after


def _table(given: dict[str, Any], source: str, postprocess: str | None = None) -> bb.PairTable:
    changed = {"embedding": source, "distances": None, "postprocess": postprocess, "covariates": ()}
    return shared.table_of({**given, **changed})


def _unchanged(result: Debiased) -> list[str]:
    """Say how many words keep their vectors, and what changes the others too."""
    unchanged = len(result.unchanged)
    total = unchanged + len(result.changed)
    if not unchanged:
        return []
    note = f"{unchanged:,} of {total:,} words keep their vectors"
    if result.settings.get("neutralize") == "all_others":
        return [note]
    return [f"{note}: only listed words changed. --neutralize all_others changes the others too"]


def _listed(given: dict[str, Any]) -> tuple[bb.WordList | None, Any]:
    """Read the word list, and the definitional sets where a file has these alone.

    The file of sets may be given in place of a word list.
    """
    from bayesbias.wordlists.foreign import load_sets

    path, sets = given["definitional_sets"], None
    if path is None and (sets := load_sets(given["wordlist"])):
        return None, sets
    if path is not None:
        sets = load_sets(path)
        if sets is None:
            files.check_file(Path(path), "a .json file of sets of words")
            problem = 'expected sets of words such as [["woman", "man"], ["girl", "boy"]]'
            raise InputError(problem, where=path, hint="save them as JSON, in a .json file")
    if given["wordlist"] is None:
        return None, sets
    return bb.load_wordlist(given["wordlist"], controls=given["controls"]), sets


@shared.command("embedding", "wordlist", "controls", "own.debias", *shared.READING, "as_json")
def debias(method: str, out: Path, **given: Any) -> None:
    """Debias word vectors and write them."""
    from bayesbias.embeddings.readers.arrays import WORDS_BESIDE, vocabulary_of
    from bayesbias.studies import common

    if given["embedding"] is None or not (given["wordlist"] or given["definitional_sets"]):
        raise InputError("expected --embedding and --wordlist, got less")
    read = [given[name] for name in ("embedding", "wordlist", "controls", "vocab")]
    files.check_not_input(out, [*read, given["definitional_sets"]])
    listed, sets = _listed(given)
    if listed is None:  # no attributes to neutralize
        given["neutralize"] = "all_others"
    listed_words = [*(() if listed is None else shared.every_word(listed)), *sum(sets or (), ())]
    wanted = list(dict.fromkeys(listed_words)) if given["words"] == "listed" else None
    vectors = shared.vectors_of(given, wanted)
    notes = []
    if vectors.open_vocabulary:
        notes = [f"{out} has no subwords. It lacks unknown words, which {vectors.name} builds"]
    if vectors.provenance.get("format") in WORDS_BESIDE:
        files.check_not_input(out, [vocabulary_of(Path(vectors.provenance["source"]))])
    if wanted is not None and vectors.open_vocabulary:
        vectors = dataclasses.replace(vectors, lookup=None)
    settings = {"sets": sets, "k": given["k"], "neutralize": given["neutralize"]}
    if method == "hard":
        result = bb.hard_debias(
            vectors, listed, equalize=given["equalize"], overlap=given["overlap"], **settings
        )
    else:
        result = bb.soft_debias(vectors, listed, lam=given["lam"], **settings)
    bb.save_embedding(result.embedding, out)
    misspelled = {
        word: known
        for word, known in result.embedding.misspelled.items()
        if listed is None or word not in listed.control_words
    }
    warnings = common.warning_on_misspelled(misspelled)
    shared.tell(
        {**result.as_dict(), "warnings": warnings, "written": str(out)},
        repr(result),
        *shared.warned(warnings),
        *shared.noted([*result.notes, *_unchanged(result), *notes]),
        f"Written  {out}",
    )
