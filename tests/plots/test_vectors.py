"""The figures of the shape of vectors show its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.vectors import vectors
from matplotlib.figure import Figure

from bayesbias.embeddings import describe_vectors, postprocess
from bayesbias.embeddings.loading import load_embedding
from bayesbias.plots.vectors import plates, plot_cosines, plot_dimensions

WORDS = [f"w{i}" for i in range(30)]


@pytest.fixture(scope="module")
def shapes():
    source = load_embedding({w: v + np.eye(5)[0] for w, v in vectors(1, WORDS).items()})
    return {
        "as they are": describe_vectors(source),
        "center": describe_vectors(postprocess(source, "center")),
    }


def test_curves_are_those_of_the_shapes(shapes) -> None:
    ax = plot_dimensions(shapes, ax=Figure().subplots())
    lines = {line.get_label(): line for line in ax.lines}
    first = shapes["as they are"]
    assert lines["as they are"].get_ydata()[-1] == pytest.approx(first.mean_cosine)
    assert lines["as they are"].get_ydata()[2] == pytest.approx(first.words.share_top * first.mean_cosine)
    assert f"{first.words.share_top:.0%} of it in 3" in [text.get_text() for text in ax.texts]
    ax = plot_cosines(shapes, ax=Figure().subplots())
    curve = next(line for line in ax.lines if line.get_label() == "center")
    assert np.sum(curve.get_ydata()) * 0.01 == pytest.approx(1)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [*shapes, "mean"]
    alone = plot_cosines(first, ax=Figure().subplots()).get_legend()
    assert [text.get_text() for text in alone.get_texts()] == [first.name, "mean"]


@pytest.mark.slow
def test_plates_say_what_they_show(shapes) -> None:
    made = plates(shapes)
    assert [plate.name for plate in made] == ["cosines", "dimensions"]
    for plate in made:
        assert f"as they are {shapes['as they are'].mean_cosine:.3f}" in plate.alt
        assert plate.figure().axes
