"""The command ``bayesbias measure``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from bayesbias.basics.errors import InputError, nearest
from bayesbias.cli import options
from bayesbias.findings.scores import score_in_words

if TYPE_CHECKING:
    from bayesbias.tables.pair_table import PairTable
    from bayesbias.vectors.embedding import Embedding
    from bayesbias.words.wordlist import WordList

MEASURES = ("weat", "mac", "direct_bias", "relative_norm_distance")
_OF_TWO = ("weat", "relative_norm_distance")
_NEED_VECTORS = ("direct_bias", "relative_norm_distance")


@click.command()
@click.option("--embedding", metavar="E", help="Word vectors: a file, a gensim-data name, or minilm-static.")
@click.option("--wordlist", metavar="W", help="A word list: a shipped name or the path of a TOML file.")
@click.option("--distances", metavar="FILE", help="A table of distances (CSV or Parquet) in place of both.")
@click.option("--against", metavar="FILE", help="A second table, for MAC and its paired t-test.")
@click.option(
    "--measure",
    "measures",
    metavar="NAMES",
    help=f"Which of {', '.join(MEASURES)}, with commas between; by default all that the input allows.",
)
@click.option(
    "--p",
    "method",
    type=click.Choice(["auto", "exact", "bounds", "montecarlo", "normal"]),
    default="auto",
    show_default=True,
    help="How WEAT's p-value is found.",
)
@click.option(
    "--sides", type=click.Choice(["1", "2"]), default="1", show_default=True, help="Of WEAT's test."
)
@click.option(
    "--denominator",
    type=click.Choice(["union_n_minus_1", "union_n", "pooled"]),
    default="union_n_minus_1",
    show_default=True,
    help="Of WEAT's effect size.",
)
@click.option(
    "--convention",
    type=click.Choice(["class_means", "all_pairs"]),
    default="class_means",
    show_default=True,
    help="What MAC averages.",
)
@click.option(
    "--mac-words",
    type=click.Choice(["evaluation", "all"]),
    default="evaluation",
    show_default=True,
    help="MAC over the evaluation sets of the word list, as published, or over all protected words.",
)
@click.option("--classes", metavar="X,Y", help="The two protected classes to compare, where there are more.")
@click.option(
    "--strictness", type=click.FloatRange(0), default=1.0, show_default=True, help="The c of direct bias."
)
@click.option(
    "--samples",
    type=click.IntRange(1),
    default=99_999,
    show_default=True,
    help="Partitions that montecarlo draws.",
)
@click.option("--seed", type=options.SEED, help="Seed for montecarlo.")
@options.vector_files
@options.as_json("Print one JSON object, with a key per measure.")
def measure(
    embedding: str | None,
    wordlist: str | None,
    distances: str | None,
    against: str | None,
    measures: str | None,
    method: str,
    sides: str,
    denominator: str,
    convention: str,
    mac_words: str,
    classes: str | None,
    strictness: float,
    samples: int,
    seed: int | None,
    allow_pickle: bool,
    invalid_utf8: str,
    as_json: bool,
) -> None:
    """Compute the scores in common use: WEAT, MAC, direct bias, relative norm distance."""
    from bayesbias.scores import association, averages, projections

    asked = _asked(measures)
    couple = None if classes is None else [c.strip() for c in classes.split(",")]
    if against is not None and asked is not None and "mac" not in asked:
        raise InputError(
            "--against is for MAC, which is not asked for", found=measures, valid="mac among --measure"
        )
    table, words, vectors = _input(embedding, wordlist, distances, allow_pickle, invalid_utf8)

    def mac_() -> Any:
        chosen = _evaluation_words(table, words) if mac_words == "evaluation" else None
        return averages.mac(table, against=against, words=chosen, convention=convention)

    run: dict[str, Callable[[], Any]] = {
        "weat": lambda: association.weat(
            table, classes=couple, denominator=denominator, p=method, sides=int(sides),  # type: ignore[arg-type]
            samples=samples, seed=seed,
        ),
        "mac": mac_,
        "direct_bias": lambda: projections.direct_bias(vectors, words, strictness=strictness),
        "relative_norm_distance": lambda: projections.relative_norm_distance(vectors, words, classes=couple),  # type: ignore[arg-type]
    }  # fmt: skip
    if asked is None:
        why_not = _left_out(table, words, couple)
        for name, reason in why_not.items():
            click.echo(f"note: {name} left out: {reason}", err=True)
        asked = [name for name in MEASURES if name not in why_not]
    elif couple is None:
        for name in asked:
            _need_two(name, table)
    results = {}
    for name in asked:
        if name in _NEED_VECTORS and vectors is None:
            raise InputError(
                f"{name} needs vectors, not distances",
                found="--distances",
                valid="--embedding E --wordlist W",
            )
        results[name] = run[name]()
    if as_json:
        click.echo(json.dumps({name: _flat(result) for name, result in results.items()}, allow_nan=False))
        return
    for name, result in results.items():
        click.echo(score_in_words(name, result))
        for note in result.notes:
            click.echo(f"  note: {note}")
        if result.dropped:
            click.echo(f"  missing words: {', '.join(result.dropped)}")


def _asked(measures: str | None) -> list[str] | None:
    if measures is None:
        return None
    names = list(dict.fromkeys(name.strip() for name in measures.split(",")))
    for name in names:
        if name not in MEASURES:
            raise InputError(
                "unknown measure", where="--measure", found=name, valid=MEASURES, hint=nearest(name, MEASURES)
            )
    return names


def _input(
    embedding: str | None, wordlist: str | None, distances: str | None, allow_pickle: bool, invalid_utf8: str
) -> tuple[PairTable, WordList | None, Embedding | None]:
    from bayesbias.tables.distances import distance_table
    from bayesbias.tables.reading import read_distances
    from bayesbias.vectors.loading import load_embedding
    from bayesbias.words.listfile import load_wordlist

    if distances is not None:
        if embedding or wordlist:
            raise InputError(
                "--distances stands alone: it already holds the words and their distances",
                hint="leave out --embedding and --wordlist, or --distances",
            )
        return read_distances(distances), None, None
    if embedding is None or wordlist is None:
        raise InputError("nothing to measure", valid="--embedding E --wordlist W, or --distances FILE")
    words = load_wordlist(wordlist, controls="none")
    couples = [w for s in words.definitional_sets for w in s]
    vectors = load_embedding(
        embedding, words=dict.fromkeys([*words.words, *couples]), allow_pickle=allow_pickle,
        on_invalid_utf8=invalid_utf8,
    )  # fmt: skip
    return distance_table(vectors, words), words, vectors


def _classes(table: PairTable) -> list[str]:
    return list(dict.fromkeys(table.frame["protected_class"].astype(str)))


def _need_two(name: str, table: PairTable) -> None:
    """Refuse a measure of two classes where there are more and none is named; the others say what they need."""
    classes = _classes(table)
    if name in _OF_TWO and len(classes) > 2:
        raise InputError(
            f"{name} compares two protected classes", found=classes, hint="name two with --classes X,Y"
        )


def _left_out(table: PairTable, words: WordList | None, couple: list[str] | None) -> dict[str, str]:
    """Return the measures that the input does not allow, each with the reason."""
    why: dict[str, str] = {}
    classes = _classes(table)
    if couple is None and len(classes) != 2:
        reason = (
            f"it compares two protected classes, and there is only {classes[0]}"
            if len(classes) == 1
            else f"it compares two protected classes, and there are {len(classes)} ({', '.join(classes)}); "
            "name two with --classes X,Y"
        )
        why.update(dict.fromkeys(_OF_TWO, reason))
    if words is None:
        why.update(
            dict.fromkeys(_NEED_VECTORS, "it needs vectors (--embedding E --wordlist W), not distances")
        )
    elif not words.definitional_sets:
        why["direct_bias"] = "the list has no definitional sets"
    elif any(len(s) != 2 for s in words.definitional_sets):
        why["direct_bias"] = "the definitional sets of the list are not all pairs"
    return {name: why[name] for name in MEASURES if name in why}


def _evaluation_words(table: PairTable, words: WordList | None) -> list[str] | None:
    """Return the words of the evaluation sets that go with a table, or None for all its words.

    A table read from a file names no word list. It is taken for a shipped list's where all protected words
    are that list's, in its classes, which is how the published tables are told.
    """
    from bayesbias.words.listfile import load_wordlist, shipped_wordlists

    if words is None:
        frame = table.frame.drop_duplicates("protected_word")
        mine = {
            *zip(frame["protected_word"], frame["protected_class"], strict=True),
            *((w, c) for c, group in table.coverage.protected.items() for w in group["missing"]),
        }
        for name in shipped_wordlists():
            listed = load_wordlist(name, controls="none")
            if listed.evaluation_sets and mine == {(w, c.name) for c in listed.classes for w in c.protected}:
                words = listed
    if words is None or not words.evaluation_sets:
        return None
    chosen = list(dict.fromkeys(w for s in words.evaluation_sets for w in s))
    known = set(words.protected_words)
    left = [w for w in words.protected_words if w not in set(chosen)]
    if left:
        click.echo(
            f"note: MAC is over the evaluation sets of {words.name}, without {', '.join(left)} (--mac-words all "
            "takes every protected word)",
            err=True,
        )
    return [w for w in chosen if w in known]


def _flat(result: Any) -> dict[str, Any]:
    """Return a result's fields for JSON; of the permutation test what WEAT does not say already."""
    out = result.as_dict()
    if "permutation" in out:
        test = out["permutation"]
        out["permutation"] = {
            key: test[key] for key in ("partitions", "ties", "rigorous", "samples", "seed", "note")
        }
    return out
