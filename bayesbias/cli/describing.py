"""The command ``bayesbias describe``: the shape of a set of vectors."""

from __future__ import annotations

import json
from pathlib import Path

import click

from bayesbias.cli import options, screen
from bayesbias.core.errors import InputError, warn_user
from bayesbias.core.files import check_folder, plain, whole_file
from bayesbias.core.versions import with_python


@click.command()
@options.embedding(required=True)
@click.option(
    "--controls", default="2022", show_default=True, metavar="C", help="Whose neutral words to look at alone."
)
@click.option(
    "--top",
    type=click.IntRange(1),
    show_default="3, or as many as there are",
    help="Leading dimensions to tell the share of.",
)
@click.option(
    "--neighbours",
    type=click.IntRange(1),
    show_default="10, or as many as there are",
    help="Nearest words that hubness counts.",
)
@options.vector_files
@options.folder("Write the figures and the numbers (shape.json) here.")
@options.figure_style
@options.as_json
def describe(
    embedding: str,
    controls: str,
    top: int | None,
    neighbours: int | None,
    allow_pickle: bool,
    invalid_utf8: str,
    out: Path | None,
    as_json: bool,
) -> None:
    """Describe vectors: mean cosine, its dimensions, hubs.

    As they are, and after each way to postprocess them (center, standardize, abtt). What an association owes to that
    `bayesbias compare --original E --postprocess center --wordlist W` says.
    """
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.embeddings.postprocessing import POSTPROCESSINGS, postprocess
    from bayesbias.embeddings.shape import describe_vectors

    if out is not None:
        check_folder(out)
    vectors = load_embedding(embedding, allow_pickle=allow_pickle, on_invalid_utf8=invalid_utf8)
    versions = {"as they are": vectors}
    for way in POSTPROCESSINGS:
        try:
            versions[way] = postprocess(vectors, way)
        except (
            InputError
        ) as error:  # too few words or dimensions for this way, and what they are stays of interest
            warn_user(f"not after {way}: {error}")
    shapes = {
        name: describe_vectors(version, neutral=controls, top=top, neighbours=neighbours)
        for name, version in versions.items()
    }
    seen = shapes["as they are"]
    payload = {name: shape.as_dict() for name, shape in shapes.items()}
    files = []
    if out is not None:
        from bayesbias.plots.plates import rendered
        from bayesbias.plots.style import style_now
        from bayesbias.plots.vectors import plates

        contents = {
            out / f"{plate.name}.{kind}": rendered(figure, kind)
            for plate in plates(shapes)
            for figure in [plate.figure()]
            for kind in style_now().formats
        }
        contents[out / "shape.json"] = json.dumps(payload, allow_nan=False, indent=1).encode()
        for path, content in contents.items():
            with whole_file(path) as temporary:
                temporary.write_bytes(content)
        files = list(contents)
    if as_json:
        where = None if out is None else str(out)
        about = {
            "embedding": {"name": vectors.name, **vectors.provenance},
            "controls": controls,
            "top": seen.top,
            "neighbours": seen.neighbours,
            "versions": with_python("bayesbias", "numpy"),
        }
        found = {"shapes": payload, "findings": shapes["as they are"].in_words()}
        written = {"provenance": plain(about), "written": where}
        screen.answer("describe", {"embedding": vectors.name, **found, **written})
        return
    from bayesbias.columns.table import screen_table
    from bayesbias.columns.vectors import shape_columns

    title = f"{vectors.name}, {len(vectors):,} words: cosines of pairs of them (standard errors in brackets)"
    screen.lines([*shapes["as they are"].in_words(), ""])
    screen.show(screen_table(title, shape_columns(seen.top), shapes.items()))
    screen.written(files)
