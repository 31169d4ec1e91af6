"""The command ``bayesbias compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError

if TYPE_CHECKING:
    from bayesbias.tables.pair_table import PairTable


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE ...]")
@click.option("--corpora", is_flag=True, help="Compare the FILEs (or NAME=FILE) as corpora.")
@click.option("--ordered", is_flag=True, help="Corpora in order of time: slope per step.")
@click.option("--original", metavar="A", help="Vectors before: a file or minilm-static.")
@click.option("--debiased", multiple=True, metavar="B", help="Vectors after. Repeatable.")
@click.option(
    "--postprocess",
    multiple=True,
    type=click.Choice(["center", "standardize", "abtt"]),
    help="Compare with the vectors of A, moved so. Repeatable.",
)
@shared.options("wordlist", "controls")
@click.option("--original-distances", metavar="F", help="Table of distances instead of A.")
@click.option(
    "--debiased-distances", multiple=True, metavar="G", help="Tables instead of B. Repeatable."
)
@click.option("--model", default="change", metavar="M", help="A model of changes.")
@shared.options("covariates", "slope", *shared.READING, *shared.SAMPLING[:-1], "prob", "rope")
@click.option(
    "--require", metavar="LIMITS", help='Exit with 1 unless met, such as "gap<0.02, controls>0.9".'
)
@shared.options(*shared.OUTPUT)
@click.pass_context
def compare(ctx: click.Context, model: str, require: str | None, **given: Any) -> None:
    """Compare debiased vectors with the original, or corpora."""
    import bayesbias as bb
    from bayesbias.studies.debiasing.requirements import check_requirements, read_requirements

    shared.check_out(given, "corpora" if given["corpora"] else "debiasing")
    if given["corpora"]:
        apart = ("original", "debiased", "original_distances", "debiased_distances", "covariates")
        if unused := [name for name in (*apart, "slope") if given[name]]:
            unused = [f"--{name.replace('_', '-')}" for name in unused]
            raise InputError("--corpora: expected files and a word list", found=", ".join(unused))
        if require is not None or len(given["postprocess"]) > 1:
            raise InputError("--corpora: expected no --require, and one --postprocess at most")
        result: Any = bb.compare(
            _corpora(given),
            None,
            model,
            kind="corpora",
            ordered=given["ordered"],
            progress=False if given["as_json"] else None,
            **shared.sampling_of(given),
        )
        shared.show(result, given)
        return
    if given["files"]:
        raise InputError(
            "expected --original and --debiased, or --corpora before files",
            found=" ".join(given["files"]),
        )
    wanted = () if require is None else read_requirements(require)
    spec = bb.load_model(model)
    before, after = _tables(given)
    if given["covariates"]:
        before = bb.tables.join_covariates(before, list(given["covariates"]))
    spec = shared.with_slopes(spec, before, given["slope"])
    progress = False if given["as_json"] else None
    result = bb.compare(before, after, spec, progress=progress, **shared.sampling_of(given))
    checks = check_requirements(result, wanted, prob=given["prob"])
    limits = {"requirements": [check.as_dict() for check in checks]} if wanted else {}
    shared.show(result, given, extra=limits)
    for check in checks:
        click.echo(check.line, err=True)
    ctx.exit(0 if all(check.met for check in checks) else 1)


def _corpora(given: dict[str, Any]) -> dict[str, PairTable]:
    """Read the table of each corpus, by the name before ``=`` or that of its file."""
    if given["wordlist"] is None:
        raise InputError("--corpora: expected a word list, got none", valid="--wordlist W")
    named = [each.partition("=") for each in given["files"]]
    paths = [(name if file else _name(name), file or name) for name, _, file in named]
    if len(dict(paths)) < len(paths):
        raise InputError(
            "--corpora: expected files of different names, got two of one name",
            found=", ".join(name for name, _ in paths),
            hint="name them, such as 1930s=FILE",
        )
    return {name: _table(given, path, *given["postprocess"]) for name, path in paths}


def _tables(given: dict[str, Any]) -> tuple[PairTable, dict[str, PairTable]]:
    """Read or make the table before and the tables after, by name."""
    import bayesbias as bb

    before: PairTable
    if given["original_distances"] is not None:
        if given["original"] or given["wordlist"]:
            raise InputError(
                "--original-distances: it replaces --original and --wordlist",
                hint="leave these out",
            )
        before = bb.load_distances(given["original_distances"])
    elif given["original"] is None or given["wordlist"] is None:
        raise InputError(
            "nothing to compare", valid="--original A --wordlist W, or --original-distances F"
        )
    else:
        before = _table(given, given["original"])
    after = {_name(path): bb.load_distances(path) for path in given["debiased_distances"]}
    after |= {_name(path): _table(given, path) for path in given["debiased"]}
    after |= {way: _table(given, given["original"], way) for way in given["postprocess"]}
    if not after:
        raise InputError(
            "nothing to compare with", valid="--debiased B, --postprocess or --debiased-distances G"
        )
    if len(after) < sum(
        len(given[name]) for name in ("debiased_distances", "debiased", "postprocess")
    ):
        raise InputError(
            "two of the debiased have one name", found=", ".join(after), hint="rename a file"
        )
    return before, after


def _table(given: dict[str, Any], source: str, postprocess: str | None = None) -> PairTable:
    changed = {"embedding": source, "distances": None, "postprocess": postprocess, "covariates": ()}
    return shared.table_of({**given, **changed})


def _name(path: str) -> str:
    """Return the name of a file without its endings."""
    return Path(path).name.split(".")[0]
