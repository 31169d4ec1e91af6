"""The commands ``bayesbias debias`` and ``bayesbias compare``."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias import _cli_options as options
from bayesbias.errors import InputError

if TYPE_CHECKING:
    from bayesbias.comparison import Comparison
    from bayesbias.distance import PairTable


@click.command()
@click.option(
    "--embedding",
    required=True,
    metavar="E",
    help="Word vectors: a file, a gensim-data name, or minilm-static.",
)
@click.option(
    "--wordlist",
    required=True,
    metavar="W",
    help="A word list with definitional sets: a name or a TOML file.",
)
@click.option("--controls", metavar="C", help="Control words of the list: 2022, 2021, none, or a TOML file.")
@click.option("--method", type=click.Choice(["hard", "soft"]), default="hard", show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="FILE",
    help="word2vec file: binary where FILE ends in .bin (or .bin.gz), else text.",
)  # fmt: skip
@click.option("--k", type=click.IntRange(1), help="Components of the subspace; by default classes less one.")
@click.option(
    "--neutralise", type=click.Choice(["attributes", "all_others"]), default="attributes", show_default=True,
    help="The stereotypes of the list, or every word that is not protected.",
)  # fmt: skip
@click.option(
    "--words", type=click.Choice(["all", "listed"]), default="all", show_default=True,
    help="All vectors of E, or those of the list alone.",
)  # fmt: skip
@click.option("--equalise/--no-equalise", default=True, show_default=True, help="Of the hard method.")
@click.option(
    "--overlap", type=click.Choice(["merge", "last"]), default="merge", show_default=True,
    help="Hard: join definitional sets that share words, or let the last one win, as published.",
)  # fmt: skip
@click.option(
    "--lam", type=click.FloatRange(0), default=0.2, show_default=True, help="Weight of the soft method."
)
@options.allow_pickle()
@options.as_json("Print the account as one JSON object.")
def debias(
    embedding: str,
    wordlist: str,
    controls: str | None,
    method: str,
    out: Path,
    k: int | None,
    neutralise: str,
    words: str,
    equalise: bool,
    overlap: str,
    lam: float,
    allow_pickle: bool,
    as_json: bool,
) -> None:
    """Debias word vectors and write them as word2vec."""
    from bayesbias.debias import hard_debias, soft_debias
    from bayesbias.embedding import load_embedding, save_word2vec
    from bayesbias.wordlist import load_wordlist

    listed = load_wordlist(wordlist, controls=controls)
    in_sets = [word for group in listed.definitional_sets for word in group]
    wanted = dict.fromkeys([*listed.words, *in_sets]) if words == "listed" else None
    vectors: Any = embedding
    if wanted is not None or embedding != "minilm-static":
        vectors = load_embedding(embedding, words=wanted, allow_pickle=allow_pickle)
    if wanted is not None and vectors.open_vocabulary:
        import dataclasses

        vectors = dataclasses.replace(vectors, open_vocabulary=False)
    if method == "hard":
        result = hard_debias(vectors, listed, k=k, neutralise=neutralise, equalise=equalise, overlap=overlap)
    else:
        result = soft_debias(vectors, listed, k=k, neutralise=neutralise, lam=lam)
    save_word2vec(result.embedding, out, binary=out.name.removesuffix(".gz").endswith(".bin"))
    if as_json:
        click.echo(json.dumps({**result.as_dict(), "written": str(out)}, allow_nan=False))
        return
    click.echo(repr(result))
    if 0 < len(result.unchanged) <= 12:
        click.echo(f"  unchanged: {', '.join(result.unchanged)}")
    for sentence in result.notes:
        click.echo(f"  {sentence}")
    click.echo(f"written: {out}")


@click.command()
@click.option("--original", metavar="A", help="Vectors before: a file, a gensim-data name, or minilm-static.")
@click.option("--debiased", multiple=True, metavar="B", help="Vectors after; may be given several times.")
@click.option("--wordlist", metavar="W", help="A word list: a shipped name or the path of a TOML file.")
@click.option("--controls", metavar="C", help="Control words: 2022, 2021, none, or a TOML file.")
@click.option("--original-distances", metavar="F", help="A table of distances (CSV or Parquet) instead.")
@click.option(
    "--debiased-distances", multiple=True, metavar="G", help="Tables after; may be given several times."
)
@click.option("--model", default="change", show_default=True, metavar="M", help="A model of the differences.")
@options.allow_pickle()
@options.prob()
@options.rope
@options.sampling
@options.folder("Write fits, tables and figures here.")
@options.as_json()
def compare(
    original: str | None,
    debiased: tuple[str, ...],
    wordlist: str | None,
    controls: str | None,
    original_distances: str | None,
    debiased_distances: tuple[str, ...],
    model: str,
    allow_pickle: bool,
    prob: float,
    rope: float | None,
    seed: int | None,
    draws: int,
    tune: int,
    chains: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compare debiased vectors with the original, pair by pair."""
    from bayesbias import comparison as module
    from bayesbias.posterior import ROPE
    from bayesbias.spec import load_model

    started = time.perf_counter()
    if out is not None and out.exists() and not out.is_dir():
        raise InputError("the output must be a folder", where=out, found="a file")
    spec = load_model(model)
    before, after = _tables(
        original, debiased, wordlist, controls, original_distances, debiased_distances, allow_pickle
    )
    loaded = time.perf_counter()
    found = module.compare(
        before, after, spec, seed=seed, draws=draws, tune=tune, chains=chains,
        progress=False if as_json else None,
    )  # fmt: skip
    half = float(ROPE if rope is None else rope)
    files = write_comparison(found, out, prob, half) if out else []
    if as_json:
        payload = comparison_json(found, prob, half)
        payload["timing"] = {
            "load_s": round(loaded - started, 4),
            "total_s": round(time.perf_counter() - started, 4),
        }
        click.echo(json.dumps(payload, allow_nan=False))
    else:
        _print(found, prob, half, files)


def _tables(
    original: str | None,
    debiased: tuple[str, ...],
    wordlist: str | None,
    controls: str | None,
    original_distances: str | None,
    debiased_distances: tuple[str, ...],
    allow_pickle: bool,
) -> tuple[PairTable, dict[str, PairTable]]:
    from bayesbias.distance import distance_table, read_distances
    from bayesbias.embedding import load_embedding
    from bayesbias.wordlist import load_wordlist

    by_vectors = original is not None or debiased or wordlist is not None or controls is not None
    by_tables = original_distances is not None or debiased_distances
    valid = "--original A --debiased B --wordlist W, or --original-distances F --debiased-distances G"
    if by_vectors and by_tables:
        raise InputError("vectors and tables of distances do not mix", valid=valid)
    if by_tables:
        if original_distances is None or not debiased_distances:
            raise InputError("nothing to compare", valid=valid)
        names = _names(debiased_distances)
        return read_distances(original_distances), {
            name: read_distances(path) for name, path in zip(names, debiased_distances, strict=True)
        }
    if original is None or not debiased or wordlist is None:
        raise InputError("nothing to compare", valid=valid)
    words = load_wordlist(wordlist, controls=controls)

    def table(source: str) -> PairTable:
        return distance_table(load_embedding(source, words=words.words, allow_pickle=allow_pickle), words)

    return table(original), {name: table(path) for name, path in zip(_names(debiased), debiased, strict=True)}


def _names(paths: tuple[str, ...]) -> list[str]:
    """Name each table after its file, by as much of the path as tells it from the others."""
    stems = [Path(path).name.split(".")[0] or path for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    if len(set(paths)) < len(paths):
        raise InputError("one debiased input is given twice", found=", ".join(paths))
    return list(paths)


def comparison_json(found: Comparison, prob: float, rope: float) -> dict[str, Any]:
    """Return what ``bayesbias compare --json`` prints, but for the timing."""
    from bayesbias._resources import records

    ranked = {"associated", "different"} <= set(found.original.table["connection"])
    return {
        "model": found.provenance["model"]["name"],
        "changes": records(found.changes(prob, rope)),
        "contrasts": records(found.contrasts(prob, rope)),
        "construction": {name: item.construction.as_dict() for name, item in found.methods.items()},
        "ranking": records(found.ranking(prob, rope)) if ranked else [],
        "joined": {name: dict(item.account) for name, item in found.methods.items()},
        "diagnostics": found.diagnostics(),
        "sentences": found.sentences(prob, rope),
        "provenance": dict(found.provenance),
    }


def write_comparison(found: Comparison, out: Path, prob: float, rope: float) -> list[Path]:
    """Write fits, tables and figures into a folder; files of an earlier run stay until all are made."""
    import tempfile

    from bayesbias._figures_comparison import save_comparison_figures
    from bayesbias._resources import whole_file

    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=out) as name:
        inner = Path(name)
        files = found.save(inner)
        frames = {"changes": found.changes(prob, rope), "contrasts": found.contrasts(prob, rope)}
        if {"associated", "different"} <= set(found.original.table["connection"]):
            frames["ranking"] = found.ranking(prob, rope)
        for stem, frame in frames.items():
            files.append(inner / f"{stem}.csv")
            with whole_file(files[-1]) as temporary:
                frame.to_csv(temporary, index=False)
        files.append(inner / "construction.json")
        with whole_file(files[-1]) as temporary:
            content = {key: item.construction.as_dict() for key, item in found.methods.items()}
            temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        files += save_comparison_figures(found, inner / "figures")
        written = [path.relative_to(inner) for path in files]
        for path in written:
            (out / path).parent.mkdir(exist_ok=True)
            os.replace(inner / path, out / path)
    return [out / path for path in written]


def _print(found: Comparison, prob: float, rope: float, files: list[Path]) -> None:
    import sys

    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 120)
    for sentence in found.sentences(prob, rope):
        console.print(escape(sentence))
    interval = f"{prob:.0%} HPDI"

    def show(title: str, head: list[str], rows: list[list[str]]) -> None:
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        for place, name in enumerate(head):
            table.add_column(name, no_wrap=True, justify="right" if 0 < place < 3 else "left")
        for row in rows:
            table.add_row(*map(escape, row))
        console.print(table)

    for name, item in found.methods.items():
        lead = f"{name}, {len(item.pairs):,} pairs: "
        for what, frame, column in (
            ("change of the mean distance", found.changes(prob, rope, "population", name), "connection"),
            ("change of the gaps", found.contrasts(prob, rope, "population", name), "contrast"),
        ):
            rows = frame[frame["level"] == "overall"].itertuples()
            show(
                f"{lead}{what}, for new words like these (population)",
                [column, "change", interval, "verdict", *(["after"] if column == "contrast" else [])],
                [
                    [
                        getattr(r, column),
                        f"{r.mean:+.3f}",
                        f"{r.hpdi_low:+.3f} to {r.hpdi_high:+.3f}",
                        r.verdict,
                        *([f"{r.after:+.3f} {r.verdict_after}"] if column == "contrast" else []),
                    ]
                    for r in rows
                ],
            )
    if len(found.methods) > 1 and {"associated", "different"} <= set(found.original.table["connection"]):
        show(
            "Methods, by what they leave of associated - different",
            ["method", "gap", interval, "verdict", "against the next"],
            [
                [
                    r.method,
                    f"{r.gap:+.3f}",
                    f"{r.gap_low:+.3f} to {r.gap_high:+.3f}",
                    r.verdict_after,
                    r.verdict_next if isinstance(r.verdict_next, str) else "",
                ]
                for r in found.ranking(prob, rope).itertuples()
            ],
        )
    for problem in found.diagnostics()["problems"]:
        console.print(escape(f"NOT TO BE TRUSTED YET: {problem}"))
    if files:
        console.print("\n".join(["written:", *(f"  {escape(str(path))}" for path in files)]))
