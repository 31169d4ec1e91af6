"""The commands ``bayesbias describe``, ``model``, ``report`` and ``verify``."""

import json
from pathlib import Path
from typing import Any

import click

import bayesbias as bb
from bayesbias.cli import shared
from bayesbias.cli.stopping import watch
from bayesbias.core import InputError, some
from bayesbias.core.files import check_not_input, plain, read_json, write_whole
from bayesbias.core.sections import Column

COLUMNS = (
    Column("version", "vectors"),
    Column("words.mean", "mean cosine", "signed", digits=3),
    Column("neutral.mean", "neutral words", "signed", digits=3),
    Column("words.share_top", "top dimensions", "percent"),
    Column("hubness", "hubness", "number", digits=1),
    Column("never", "near none", "percent"),
)
SHAPE = "shape.json"
DESCRIPTION = ("cosines.png", "dimensions.png", SHAPE)
AS_THEY_ARE = "as they are"
NEAR_ZERO = 0.05  # a mean cosine that hardly moves a single one


@shared.command("embedding", "own.describe", *shared.READING, "as_json")
def describe(out: Path | None, force: bool, **given: Any) -> None:
    """Describe vectors: mean cosine, dimensions, hubs."""
    import pandas as pd

    from bayesbias.embeddings.postprocessing import POSTPROCESSINGS, postprocess
    from bayesbias.studies.common import sentence

    if given["embedding"] is None:
        raise InputError("expected vectors, got none", where="--embedding")
    if out is not None:
        for name in DESCRIPTION:
            check_not_input(out / name, [given["embedding"], given["controls"], given["vocab"]])
        if not force:
            _check_description(out)
    vectors = shared.vectors_of(given, None)
    shape = bb.embeddings.describe_vectors(vectors, neutral=given["controls"])
    shapes, notes = {AS_THEY_ARE: shape}, []
    for way in POSTPROCESSINGS:
        try:
            moved = postprocess(vectors, way)
            shapes[way] = bb.embeddings.describe_vectors(moved, neutral=given["controls"])
        except InputError as error:  # too few words or dimensions for this one
            notes.append(f"Not after {way}: {error}")
    found = {name: plain(each.as_dict()) for name, each in shapes.items()}
    if out is not None:
        figures = {
            "cosines.png": bb.plots.plot_cosines(shapes).figure,
            "dimensions.png": bb.plots.plot_dimensions(shapes).figure,
        }
        # By this file the folder is known again, also if the figures are cut short.
        write_whole(out / SHAPE, json.dumps(found, indent=1))
        for name, figure in figures.items():
            bb.plots.save_figure(figure, out / name)
    rows = pd.json_normalize(list(found.values())).assign(version=list(found))
    rows = rows.reindex(columns=[column.name for column in COLUMNS])
    said = "Cosines have an offset: read differences, or add --postprocess center."
    if abs(shape.mean_cosine) < NEAR_ZERO:
        said = "Cosines have no offset: unrelated words have a cosine near 0."
    notes.append(
        "Top dimensions: share of the mean vector in its 3 largest dimensions. Hubness: above 1, a "
        "few words are among the 10 nearest neighbors of many. Near none: words that are a "
        "neighbor of no other word."
    )
    size = f"{len(vectors):,} words x {shape.dim} dimensions"
    of_vectors = [sentence(note) for note in vectors.notes]
    notes = [*of_vectors, *notes]
    answer = {
        "embedding": vectors.name,
        "shapes": found,
        "notes": of_vectors,
        "written": out and str(out),
    }
    title = "\nMean cosine of two words, before and after postprocessing\n"
    lines = [title, *shared.lines_of(rows, COLUMNS)]
    shared.tell_table(answer, f"vectors {vectors.name} | {size}", lines, said, notes)


def _check_description(out: Path) -> None:
    """Refuse a folder with files that no earlier ``describe`` wrote."""
    names = [path.name for path in sorted(out.iterdir())] if out.is_dir() else []
    foreign = [name for name in names if not name.startswith(".") and name not in DESCRIPTION]
    if SHAPE in names and not _is_description(out / SHAPE):
        foreign.append(SHAPE)
    elif SHAPE not in names:
        foreign += [name for name in names if name in DESCRIPTION]
    if foreign:
        problem = f"expected a new folder or one of describe, got one with {some(foreign, 3)}"
        hint = "name another folder, or write into this one with --force"
        raise InputError(problem, where=out, hint=hint)


def _is_description(path: Path) -> bool:
    try:
        content = read_json(path)
    except InputError:
        return False
    return isinstance(content, dict) and AS_THEY_ARE in content


@click.group(cls=shared.Group)
def model() -> None:
    """List and show models."""


@model.command("list")
@shared.options("as_json")
def list_(**given: Any) -> None:
    """List shipped models."""
    shared.tell_list({name: bb.load_model(name).description for name in bb.models.list_models()})


@model.command()
@click.argument("name")
@shared.options("as_json")
def show(name: str, **given: Any) -> None:
    """Show the file of a model, to copy and edit."""
    spec = bb.load_model(name)
    answer = {"name": spec.name, "description": spec.description, "text": spec.text}
    shared.tell(answer, spec.text.rstrip("\n"))


@shared.command("own.report", *shared.VIEW, "as_json", prob=None, rope=None, standard_rope=None)
@click.argument("run", type=shared.PATH)
def report(run: Path, out: Path | None, **changed: Any) -> None:
    """Write one HTML page about a run.

    RUN is a folder that a command wrote with --out. Its settings hold unless you change them.
    """
    opened = bb.load_run(run)
    view = opened.view.changed(**shared.chosen(changed, *shared.VIEW))
    beside = Path(f"{run.resolve()}.html") if run.name in ("", "..") else Path(f"{run}.html")
    if out is not None and out.exists():
        _check_page(out, run)
    watch(click.get_current_context(), out or beside)
    page = bb.write_report(opened, out or beside, view=view)
    shared.tell({"run": str(run), "written": str(page)}, f"Written  {page}")


def _check_page(out: Path, run: Path) -> None:
    """Refuse a page in the place of a file of a run, or of what the run was made of."""
    from bayesbias.output.manifest import MANIFEST, read_manifest

    manifest = read_manifest(run)
    inputs: list[Any] = [run / name for name in (*manifest["files"], MANIFEST)]
    for value in (manifest["inputs"] or {}).values():
        inputs += value if isinstance(value, list) else [value]
    check_not_input(out, inputs)


@shared.command("as_json")
@click.argument("runs", type=shared.PATH, metavar="RUN...", nargs=-1, required=True)
@click.pass_context
def verify(ctx: click.Context, runs: tuple[Path, ...], **given: Any) -> None:
    """Check the files of runs against their hashes."""
    from bayesbias.output.store import verify_run

    states = {str(run): verify_run(run) for run in runs}
    wrong = {
        run: {name: state for name, state in files.items() if state != "ok"}
        for run, files in states.items()
    }
    ok = not any(wrong.values())
    lines = []
    for run, files in states.items():
        lines += [f"{run}/{name}: {state}" for name, state in wrong[run].items()]
        unchanged = len(files) - len(wrong[run])
        lines.append(f"{run}: {unchanged} of {len(files)} files are unchanged")
    shared.tell({"ok": ok, "runs": states}, *lines)
    ctx.exit(0 if ok else 2)
