"""The commands ``measure`` and ``simulate``; `register` adds them to the group."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from bayesbias import _cli_options as options
from bayesbias._resources import records
from bayesbias.errors import InputError, nearest

if TYPE_CHECKING:
    from bayesbias.distance import PairTable
    from bayesbias.embedding import Embedding
    from bayesbias.wordlist import WordList

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
    from bayesbias import baseline

    asked = _asked(measures)
    couple = None if classes is None else [c.strip() for c in classes.split(",")]
    if against is not None and asked is not None and "mac" not in asked:
        raise InputError(
            "--against is for MAC, which is not asked for", found=measures, valid="mac among --measure"
        )
    table, words, vectors = _input(embedding, wordlist, distances, allow_pickle, invalid_utf8)

    def mac_() -> Any:
        chosen = _evaluation_words(table, words) if mac_words == "evaluation" else None
        return baseline.mac(table, against=against, words=chosen, convention=convention)

    run: dict[str, Callable[[], Any]] = {
        "weat": lambda: baseline.weat(
            table, classes=couple, denominator=denominator, p=method, sides=int(sides),  # type: ignore[arg-type]
            samples=samples, seed=seed,
        ),
        "mac": mac_,
        "direct_bias": lambda: baseline.direct_bias(vectors, words, strictness=strictness),
        "relative_norm_distance": lambda: baseline.relative_norm_distance(vectors, words, classes=couple),  # type: ignore[arg-type]
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
        click.echo(_sentences(name, result))
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
    from bayesbias.distance import distance_table, read_distances
    from bayesbias.embedding import load_embedding
    from bayesbias.wordlist import load_wordlist

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
    from bayesbias.wordlist import load_wordlist, shipped_wordlists

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


def _sentences(name: str, result: Any) -> str:
    if name == "weat":
        effect = "none" if result.effect_size is None else f"{result.effect_size:.4f}"
        most = "" if result.largest_effect_size is None else f", at most {result.largest_effect_size:.4f}"
        bounds = (
            ""
            if result.p_lower in (None, result.p_upper)
            else f", {result.p_lower:.6g} to {result.p_upper:.6g}"
        )
        return (
            f"WEAT, {result.name}\n"
            f"  X {result.classes[0]} ({result.n_x}), Y {result.classes[1]} ({result.n_y}), A ({result.n_a}), B ({result.n_b})\n"
            f"  statistic {result.statistic:.6f}\n"
            f"  effect size {effect} ({result.denominator}{most})\n"
            f"  p {result.p_value:.6g} ({result.p_method}, {result.sides}-sided{bounds})"
        )
    if name == "mac":
        lines = [
            f"MAC, {result.name}",
            f"  mean average cosine distance {result.mac:.6f} ({result.convention}; {result.n_words} words, "
            f"{result.n_averages} averages of {result.n_pairs} pairs)",
        ]
        if result.mac_against is not None:
            lines.append(f"  against {result.mac_against:.6f} in {result.name_against}")
        if result.p_value is not None:
            lines.append(
                f"  paired t-test of the averages: t({result.df}) = {result.t:.4f}, p {result.p_value:.4g}"
            )
        return "\n".join(lines)
    if name == "direct_bias":
        return (
            f"direct bias, {result.name}\n"
            f"  {result.value:.6f} (strictness {result.strictness:g}) of {result.n_words} words\n"
            f"  direction of {result.n_pairs} pairs, towards {result.towards[0]}, explains {result.explained:.0%}"
        )
    nearer = result.classes[0] if result.value < 0 else result.classes[1]
    return (
        f"relative norm distance, {result.name}\n"
        f"  {result.value:.6f} over {result.n_words} words, {result.mean:.6f} per word: nearer to {nearer}"
    )


@click.command()
@click.argument("what", type=click.Choice(["paper", "null", "grid"]))
@click.option(
    "--draws", type=click.IntRange(2), help="Simulated tables: 10000 for paper and null, 2000 for grid."
)
@click.option("--seed", type=options.SEED, default=1, show_default=True, help="For null and grid.")
@click.option(
    "--words", metavar="N,...", help="Protected words per class: one number for null, several for grid."
)
@click.option("--attributes", type=click.IntRange(1), help="Attributes in A and in B, for null and grid.")
@click.option("--pair-sd", metavar="SD,...", help="Spread of pairs, for null and grid.")
@click.option("--attribute-sd", metavar="SD,...", help="Spread of attribute words, for grid.")
@options.as_json("Print JSON and nothing else.")
def simulate(
    what: str,
    draws: int | None,
    seed: int,
    words: str | None,
    attributes: int | None,
    pair_sd: str | None,
    attribute_sd: str | None,
    as_json: bool,
) -> None:
    """Run the critique: the paper's simulations, effect sizes without a difference, false alarms."""
    from bayesbias import simulation

    given = {
        "--words": words,
        "--attributes": attributes,
        "--pair-sd": pair_sd,
        "--attribute-sd": attribute_sd,
    }
    foreign = {"paper": list(given), "null": ["--attribute-sd"], "grid": []}[what]
    for option in foreign:
        if given[option] is not None:
            raise InputError(f"{option} has no meaning for {what!r}", found=given[option])
    sizes, pairs, spreads = (
        _numbers(text, option, kind)
        for text, option, kind in (
            (words, "--words", int),
            (pair_sd, "--pair-sd", float),
            (attribute_sd, "--attribute-sd", float),
        )
    )
    if what == "paper":
        frame = simulation.simulate_paper(10_000 if draws is None else draws)
        _print_frame(frame, as_json)
    elif what == "null":
        for option, numbers in (("--words", sizes), ("--pair-sd", pairs)):
            if numbers is not None and len(numbers) != 1:
                raise InputError("one number is expected", where=option, found=numbers)
        n = 2 if sizes is None else sizes[0]
        null = simulation.null_distribution(
            n, n, 5 if attributes is None else attributes, 0.05 if pairs is None else pairs[0],
            draws=10_000 if draws is None else draws, seed=seed,
        )  # fmt: skip
        frame = null.summary()
        if as_json:
            fields = ("n_x", "n_y", "n_attributes", "sd", "denominator", "draws", "seed", "largest")
            click.echo(
                json.dumps(
                    {**{f: getattr(null, f) for f in fields}, "summary": records(frame)}, allow_nan=False
                )
            )
        else:
            click.echo(f"effect sizes of {n} + {n} words without any difference, at most {null.largest:.4f}")
            _print_frame(frame, False)
    else:
        settings: dict[str, Any] = {
            "n_words": sizes, "pair_sd": pairs, "attribute_sd": spreads, "n_attributes": attributes, "draws": draws,
        }  # fmt: skip
        given_settings = {key: value for key, value in settings.items() if value is not None}
        frame = simulation.simulate_grid(seed=seed, **given_settings)
        if as_json:
            _print_frame(frame, True)
            return
        click.echo(_GRID)
        _print_frame(frame.drop(columns=["effect_low", "effect_high", "draws"]), False, 3)


_GRID = """\
How often each method calls a difference that is not there (alarms, at the 5 % level, with a 95 % interval), and how far
the truth lies from its score (truth_sd, truth_low, truth_high) beside the standard error it claims (claimed_sd).
Question "classes": do two classes of words differ? "tables": did the mean of one class move between two tables?
"""


def _numbers(text: str | None, option: str, kind: type) -> list[Any] | None:
    if text is None:
        return None
    numbers = []
    for part in text.split(","):
        try:
            numbers.append(kind(part))
        except ValueError:
            noun = "whole numbers" if kind is int else "numbers"
            raise InputError(
                "not a number", where=option, found=part, valid=f"{noun}, with commas between"
            ) from None
    return numbers


def _print_frame(frame: Any, as_json: bool, digits: int = 7) -> None:
    if as_json:
        click.echo(json.dumps(records(frame), allow_nan=False))
    else:
        frame = frame.astype({c: float for c in frame.columns if str(frame[c].dtype) == "Float64"})
        click.echo(frame.to_string(index=False, na_rep="-", float_format=lambda value: f"{value:.{digits}g}"))
