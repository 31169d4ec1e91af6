"""The command ``bayesbias``. Results go to stdout, everything else to stderr; bad input exits with 2."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import bayesbias
from bayesbias import _cli_options as options
from bayesbias._cli_calibrate import calibrate, plan
from bayesbias._cli_compare import compare, debias
from bayesbias._cli_measure import measure, simulate
from bayesbias._cli_report import report
from bayesbias._cli_seat import seat
from bayesbias._cli_sentiment import sentiment
from bayesbias._cli_sweep import sweep
from bayesbias._resources import check_folder, records
from bayesbias.errors import BayesbiasError, InputError, nearest

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.distance import PairTable
    from bayesbias.posterior import BiasFit

KINDS = ("wordlists", "models", "embeddings")
DEMO = ("minilm-static", "religion")


def _check_contrasts(table: PairTable) -> None:
    """Refuse before sampling what could not be reported after it."""
    from bayesbias.posterior import CONTRASTS

    present = set(table.frame["connection"].astype(str))
    if not any({a, b} <= present for a, b in CONTRASTS):
        raise InputError(
            "no two connections that are contrasted with each other",
            found=", ".join(sorted(present)),
            valid="at least one of " + ", ".join(f"{a} and {b}" for a, b in CONTRASTS),
        )


@click.command()
@click.option("--embedding", metavar="E", help="Word vectors: a file, a gensim-data name, or minilm-static.")
@click.option("--wordlist", metavar="W", help="A word list: a shipped name or the path of a TOML file.")
@click.option("--distances", metavar="FILE", help="A table of distances (CSV or Parquet) in place of both.")
@click.option(
    "--model", default="crossed", show_default=True, metavar="M", help="A shipped model or a TOML file."
)
@click.option("--controls", metavar="C", help="Control words: 2022, 2021, none, or a TOML file.")
@click.option(
    "--repeats",
    type=click.Choice(["once", "keep"]),
    default="once",
    show_default=True,
    help="How often a repeated row of FILE counts.",
)
@options.vector_files
@options.prob()
@options.rope
@options.sampling
@options.folder("Write table, fit, figures and summaries here.")
@options.as_json()
def fit(
    embedding: str | None,
    wordlist: str | None,
    distances: str | None,
    model: str,
    controls: str | None,
    repeats: str,
    allow_pickle: bool,
    invalid_utf8: str,
    prob: float,
    rope: float | None,
    seed: int | None,
    draws: int,
    tune: int,
    chains: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Fit a model to every pair of protected word and attribute."""
    started = time.perf_counter()
    check_folder(out)
    from bayesbias.spec import load_model

    spec = load_model(model)  # before minutes are spent on the vectors
    table = _table(embedding, wordlist, distances, controls, repeats, allow_pickle, invalid_utf8)
    loaded = time.perf_counter()
    _check_contrasts(table)
    result = bayesbias.fit(table, spec, seed=seed, draws=draws, tune=tune, chains=chains, pointwise=False)
    fitted = time.perf_counter()
    settings = {"prob": prob, "rope": bayesbias.ROPE if rope is None else rope}
    earlier = out is not None and (out / "fit.nc").exists()
    files = write_run(result, table, out, **settings) if out else []
    if earlier:
        click.echo(f"note: replaced the run that was in {out}", err=True)
    if as_json:
        payload = fit_json(result, **settings)
        payload["timing"] |= {
            "load_s": round(loaded - started, 4),
            "fit_s": round(fitted - loaded, 4),
            "total_s": round(time.perf_counter() - started, 4),
        }
        click.echo(json.dumps(payload, allow_nan=False))
    else:
        _print_fit(result, files, settings["prob"], settings["rope"])


@click.command()
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("bayesbias-demo"), show_default=True, metavar="DIR"
)
@click.option("--seed", type=options.SEED, default=1, show_default=True)
def demo(out: Path, seed: int) -> None:
    """Run the main job on the embedded vectors and the religion list; needs no network."""
    from bayesbias.reporting import finding

    check_folder(out)
    table = bayesbias.distance_table(DEMO[0], DEMO[1])
    click.echo(repr(table))
    result = bayesbias.fit(table, "crossed", seed=seed, pointwise=False)
    settings = {"prob": 0.89, "rope": float(bayesbias.ROPE)}
    files = write_run(result, table, out, **settings)
    _print_fit(result, files, settings["prob"], settings["rope"], with_finding=False)
    click.echo(finding(result))


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS))
def list_(kind: str) -> None:
    """List what is shipped: wordlists, models or embeddings."""
    if kind == "wordlists":
        from bayesbias.wordlist import load_wordlist, shipped_controls, shipped_wordlists

        for name in shipped_wordlists():
            click.echo(f"{name:<24} {load_wordlist(name).title}")
        click.echo(f"controls: {', '.join(shipped_controls())}, none")
        click.echo("for `bayesbias sentiment`: occupations")
    elif kind == "models":
        from bayesbias.spec import load_model, shipped_models

        for name in shipped_models():
            click.echo(f"{name:<24} {load_model(name).description}")
    else:
        from bayesbias._resources import data_dir, read_toml
        from bayesbias.embedding import shipped_embeddings

        for name in shipped_embeddings():
            about = read_toml(data_dir("embeddings") / name / "MODEL.toml")
            click.echo(f"{name:<24} {about['description']}")
        click.echo(
            "any file of word2vec (text, binary), GloVe, fastText (.vec, .bin), .npz or safetensors vectors, also gzipped"
        )


@click.command()
@click.argument("name")
def show(name: str) -> None:
    """Show a word list, control list, model or embedding by name or path.

    `show template` starts a word list of your own, `show occupations` a list for the sentences on occupations.
    """
    from bayesbias._resources import data_dir
    from bayesbias.embedding import shipped_embeddings
    from bayesbias.spec import load_model, shipped_models
    from bayesbias.wordlist import load_wordlist, shipped_controls, shipped_wordlists, wordlist_template

    path = Path(name)
    if name == "template":
        click.echo(wordlist_template(), nl=False)
    elif name in shipped_models() or (path.is_file() and _has_key(path, "likelihood")):
        click.echo(load_model(name).text, nl=False)  # as it is, so that it can be edited and used
    elif name in shipped_controls():
        from bayesbias.wordlist import load_controls

        controls = load_controls(name)
        assert controls is not None
        click.echo(f"{controls.title}\nsource: {controls.source}")
        click.echo(f"human ({len(controls.human)}): {', '.join(controls.human)}")
        click.echo(f"neutral ({len(controls.neutral)}): {', '.join(controls.neutral)}")
    elif name in shipped_wordlists() or path.is_file():
        _show_wordlist(load_wordlist(name))
    elif name == "occupations":  # as it is, so that it can be edited and used by `sentiment --words`
        click.echo(
            (data_dir("wordlists") / "sentiment" / "occupations.toml").read_text(encoding="utf-8"), nl=False
        )
    elif name in shipped_embeddings():
        click.echo((data_dir("embeddings") / name / "MODEL.toml").read_text(encoding="utf-8"), nl=False)
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


def _has_key(path: str | Path, key: str) -> bool:
    """Say whether a file is TOML with a key that tells its kind; what is wrong with it is said by who reads it."""
    from bayesbias._resources import read_toml

    try:
        return key in read_toml(Path(path))
    except BayesbiasError:
        return False


def _show_wordlist(words: Any) -> None:
    click.echo(f"{words.name}: {words.title}\nlanguage: {words.language}\nsource: {words.source}")
    for title, items in (("edits", words.edits), ("known disagreements", words.disagreements)):
        for item in items:
            click.echo(f"{title}: {item}")
    for group in words.classes:
        click.echo(f"\n{group.name} ({len(group.protected)}): {', '.join(group.protected)}")
        click.echo(f"  {group.attribute_class} ({len(group.attributes)}): {', '.join(group.attributes)}")
    controls = words.controls
    click.echo(
        "\ncontrols: none"
        if controls is None
        else f"\ncontrols {controls.name}: {len(controls.human)} human, {len(controls.neutral)} neutral words"
    )
    for note in words.notes:
        click.echo(f"note: {note}")


@click.command("check-wordlist")
@click.argument("file")
def check_wordlist(file: str) -> None:
    """Check a word list of your own and say everything that is wrong with it."""
    from bayesbias.wordlist import check_wordlist as check
    from bayesbias.wordlist import load_wordlist

    if _has_key(file, "noun_pairs"):  # of the sentences on occupations
        from bayesbias.sentiment import load_occupations

        click.echo(f"{file}: a good list: {load_occupations(file)!r}")
        return
    problems = check(file)
    if problems:
        for problem in problems:
            click.echo(f"bayesbias: {problem}", err=True)
        sys.exit(2)
    words = load_wordlist(file)
    click.echo(
        f"{file}: a good list: {len(words.protected_words)} protected words, {len(words.attribute_words)} stereotypes, "
        f"{len(words.control_words)} controls"
    )
    for note in words.notes:
        click.echo(f"note: {note}")


# -- shared by the commands ------------------------------------------------------------------------


def _table(
    embedding: str | None,
    wordlist: str | None,
    distances: str | None,
    controls: str | None,
    repeats: str,
    allow_pickle: bool,
    invalid_utf8: str,
) -> PairTable:
    if distances is not None:
        if embedding or wordlist or controls:
            raise InputError(
                "--distances stands alone: it already holds the words and their distances",
                hint="leave out --embedding, --wordlist and --controls, or --distances",
            )
        return bayesbias.read_distances(distances, repeats=repeats)
    if embedding is None or wordlist is None:
        raise InputError("nothing to fit", valid="--embedding E --wordlist W, or --distances FILE")
    words = bayesbias.load_wordlist(wordlist, controls=controls)
    vectors = bayesbias.load_embedding(
        embedding, words=words.words, allow_pickle=allow_pickle, on_invalid_utf8=invalid_utf8
    )
    return bayesbias.distance_table(vectors, words)


def fit_json(result: BiasFit, prob: float, rope: float) -> dict[str, Any]:
    """Return what ``bayesbias fit --json`` prints."""
    from bayesbias.reporting import finding, shortcomings

    columns = ["mean", "sd", "hpdi_low", "hpdi_high", "prob", "ess_bulk", "r_hat"]
    provenance = dict(result.provenance)
    coverage, timing = provenance.pop("coverage"), provenance.pop("timing")
    return {
        "model": result.spec.name,
        "summary": records(result.summary(prob)[["connection", "estimand", *columns, "n_pairs"]]),
        "words": records(
            result.words(prob)[["protected_word", "protected_class", "connection", "estimand", *columns]]
        ),
        "contrasts": records(result.contrasts(prob, rope)),
        "parameters": records(result.parameters(prob)),
        "diagnostics": result.diagnostics(),
        "coverage": coverage,
        "provenance": provenance,
        "timing": dict(timing),
        "shortcomings": shortcomings(result),
        "finding": finding(result, prob, rope),
    }


def _coverage_sentences(coverage: dict[str, Any]) -> list[str]:
    """Say how many words of each side are missing, and which; all of them stand in coverage.csv."""
    out = []
    for side in ("protected", "attributes"):
        for name, group in coverage.get(side, {}).items():
            if group["missing"]:
                shown = ", ".join(group["missing"][:8]) + (" ..." if len(group["missing"]) > 8 else "")
                noun = "protected words" if side == "protected" else "attributes"
                out.append(f"missing: {len(group['missing'])} of {group['listed']} {noun} of {name}: {shown}")
    matched = coverage.get("matched", {})
    if matched:
        noun = "word" if len(matched) == 1 else "words"
        shown = ", ".join(f"{asked} as {found}" for asked, found in list(matched.items())[:8])
        out.append(
            f"{len(matched)} {noun} found in another spelling: {shown}{' ...' if len(matched) > 8 else ''}"
        )
    return out


def write_run(result: BiasFit, table: PairTable, out: Path, prob: float, rope: float) -> list[Path]:
    """Write table, fit, summaries and figures into a folder, all or none of them; return the paths."""
    import tempfile

    made = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the output folder cannot be made ({error.strerror})", where=out, hint="choose another --out"
        ) from None
    try:
        # Filled beside the files of an earlier run, which stay as they are until all is written.
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=out) as name:
            written = [path.relative_to(name) for path in _write_files(result, table, Path(name), prob, rope)]
            for path in written:
                (out / path).parent.mkdir(exist_ok=True)
                os.replace(Path(name) / path, out / path)
    except BayesbiasError as error:
        raise InputError(str(error).replace(name, str(out))) from error
    finally:
        if made and not any(out.iterdir()):
            out.rmdir()
    return [out / path for path in written]


def _write_files(result: BiasFit, table: PairTable, out: Path, prob: float, rope: float) -> list[Path]:
    from bayesbias._resources import whole_file
    from bayesbias.figures import save_figures

    files = [out / "pairs.csv", out / "fit.nc"]
    table.save(files[0])
    result.save(files[1])
    frames = {
        "summary": result.summary(prob),
        "words": result.words(prob),
        "contrasts": result.contrasts(prob, rope),
        "parameters": result.parameters(prob),
        "coverage": table.coverage.frame(),
    }
    for name, frame in frames.items():
        files.append(out / f"{name}.csv")
        with whole_file(files[-1]) as temporary:
            frame.to_csv(temporary, index=False)
    files.append(out / "provenance.json")
    with whole_file(files[-1]) as temporary:
        temporary.write_text(json.dumps(dict(result.provenance), indent=2) + "\n", encoding="utf-8")
    # What the screen says of the result travels with it.
    from bayesbias.reporting import in_words

    files.append(out / "result.txt")
    with whole_file(files[-1]) as temporary:
        temporary.write_text("\n".join(in_words(result, prob, rope)) + "\n", encoding="utf-8")
    return [*files, *save_figures(result, out / "figures")]


def _print_fit(
    result: BiasFit, files: list[Path], prob: float, rope: float, with_finding: bool = True
) -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from bayesbias.reporting import finding, shortcomings

    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 120)
    for sentence in result.provenance["coverage"].get("notes", []):
        console.print(escape(f"note: {sentence}"))
    for sentence in _coverage_sentences(result.provenance["coverage"]):
        console.print(escape(sentence))
    interval = f"{prob:.0%} HPDI"

    def show(title: str, head: list[str], rows: list[list[str]]) -> None:
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        for position, name in enumerate(head):
            table.add_column(name, no_wrap=True, justify="left" if position == 0 else "right")
        for row in rows:
            table.add_row(*row)
        console.print(table)

    show(
        "Mean cosine distance, for new words like these",
        ["connection", "mean", "sd", interval, "pairs"],
        [
            [
                r.connection,
                f"{r.mean:.3f}",
                f"{r.sd:.3f}",
                f"{r.hpdi_low:.3f} to {r.hpdi_high:.3f}",
                f"{r.n_pairs:,}",
            ]
            for r in result.summary(prob).itertuples()
        ],
    )
    frame = result.contrasts(prob, rope)

    def show_contrasts(title: str, by: str, chosen: pd.DataFrame) -> None:
        rows = [
            [
                getattr(r, by),
                f"{r.mean:+.3f}",
                f"{r.sd:.3f}",
                f"{r.hpdi_low:+.3f} to {r.hpdi_high:+.3f}",
                f"{r.p_below_zero:.3f}",
                f"{r.p_in_rope:.3f}",
            ]
            for r in chosen.itertuples()
        ]
        heading = {"contrast": "contrast", "name": "class"}[by]
        show(title, [heading, "mean", "sd", interval, "P(<0)", "in ROPE"], rows)

    for estimand, holds in (("population", "new words like these"), ("these_words", "these words alone")):
        chosen = frame[(frame["level"] == "overall") & (frame["estimand"] == estimand)]
        show_contrasts(f"Contrasts, for {holds} ({estimand})", "contrast", chosen)
    lead = frame["contrast"].iloc[0]
    chosen = frame[
        (frame["level"] == "class") & (frame["estimand"] == "population") & (frame["contrast"] == lead)
    ]
    if len(chosen) > 1:
        show_contrasts(f"{lead} in each class, for new words like these", "name", chosen)
    diagnostics = result.diagnostics()
    for problem in diagnostics["problems"]:
        console.print(escape(f"NOT TO BE TRUSTED YET: {problem}"))
    if diagnostics["ok"]:
        console.print(
            f"converged: R-hat at most {diagnostics['max_r_hat']:.3f}, at least {diagnostics['min_ess_bulk']:.0f} effective draws"
        )
    method = result.provenance["sampler"]
    if method["method"] == "pairwise":
        console.print(escape(f"sampled pair by pair, since {method['why_pairwise']}"))
    for sentence in shortcomings(result):
        console.print(escape(f"look again: {sentence}"))
    if with_finding:
        console.print(escape(finding(result, prob, rope)))
    if files:
        console.print("\n".join(["written:", *(f"  {escape(str(path))}" for path in files)]))


COMMANDS = (
    fit, demo, measure, simulate, calibrate, plan, debias, compare, seat, sentiment, sweep, report, list_, show, check_wordlist,
)  # fmt: skip


@click.group(commands=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(bayesbias.__version__, prog_name="bayesbias")
def cli() -> None:
    """Measure social association in word vectors, pair by pair, with honest uncertainty."""


def main() -> None:
    """Run the command; errors a user can mend are one message and exit code 2."""
    try:
        cli(prog_name="bayesbias")
    except (BayesbiasError, OSError) as error:  # the latter say file and reason themselves
        click.echo(f"bayesbias: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
