"""The command ``bayesbias describe``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from bayesbias.cli import shared
from bayesbias.core.errors import InputError
from bayesbias.core.files import plain
from bayesbias.core.sections import Column

COLUMNS = (
    Column("version", "vectors"),
    Column("mean", "mean cosine", "signed", digits=3),
    Column("neutral", "neutral words", "signed", digits=3),
    Column("share_top", "top dimensions", "percent"),
    Column("hubness", "hubness", "number", digits=1),
    Column("never", "near none", "percent"),
)
NEAR_ZERO = 0.05  # a mean cosine that hardly moves a single one


@click.command(cls=shared.Command)
@shared.options("embedding")
@click.option("--controls", default="2022", metavar="C", help="Neutral words to look at alone.")
@shared.options(*shared.READING)
@click.option("--out", type=shared.PATH, metavar="DIR", help="Write figures and shape.json here.")
@shared.options("as_json")
def describe(out: Path | None, **given: Any) -> None:
    """Describe vectors: mean cosine, dimensions, hubs."""
    import pandas as pd

    import bayesbias as bb
    from bayesbias.core.packages import own_version
    from bayesbias.core.sections import Interpretation
    from bayesbias.embeddings.postprocessing import POSTPROCESSINGS, postprocess
    from bayesbias.inference.view import View
    from bayesbias.output.terminal import interpretation_text, table_lines

    if given["embedding"] is None:
        raise InputError("expected vectors, got none", where="--embedding")
    vectors = shared.vectors_of(given, None)
    versions, notes = {"as they are": vectors}, []
    for way in POSTPROCESSINGS:
        try:
            versions[way] = postprocess(vectors, way)
        except InputError as error:  # too few words or dimensions for this one
            notes.append(f"Not after {way}: {error}.")
    shapes = {
        name: bb.embeddings.describe_vectors(version, neutral=given["controls"])
        for name, version in versions.items()
    }
    found = {name: plain(shape.as_dict()) for name, shape in shapes.items()}
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "shape.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
        for name, plot in (
            ("cosines", bb.plots.plot_cosines),
            ("dimensions", bb.plots.plot_dimensions),
        ):
            plot(shapes).figure.savefig(out / f"{name}.png")
    rows = [
        {
            "version": name,
            "mean": shape.words.mean,
            "neutral": shape.neutral and shape.neutral.mean,
            "share_top": shape.words.share_top,
            "hubness": shape.hubness,
            "never": shape.never,
        }
        for name, shape in shapes.items()
    ]
    shape = shapes["as they are"]
    size = f"{len(vectors):,} words x {shape.dim} dimensions"
    if abs(shape.mean_cosine) < NEAR_ZERO:
        said = "Cosines have no offset: unrelated words have a cosine near 0."
    else:
        said = "Cosines have an offset: read differences, or add --postprocess center."
    notes.append(
        "Top dimensions: share of the mean that 3 dimensions carry. Hubness: skewness of how many "
        "words have a word among their 10 nearest; near none: words that none has."
    )
    written = None if out is None else str(out)
    shared.tell(
        {"embedding": vectors.name, "shapes": found, "written": written},
        f"bayesbias {own_version()} | vectors {vectors.name} | {size}\n",
        "Mean cosine of two words, before and after postprocessing\n",
        *table_lines(pd.DataFrame(rows), COLUMNS, View()),
        "\n" + interpretation_text(Interpretation("", said, (), tuple(notes))),
    )
