"""All figures: how they are called, labels, legends, and words of any kind."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import json
import pkgutil
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from helpers.places import ROOT

mpl.use("Agg")
from helpers.draws import prior_fit
from helpers.figures import plate, simulated, sixty, title_of
from matplotlib.figure import Figure

from bayesbias import figures
from bayesbias.plots import style
from bayesbias.plots.contrasts import plot_contrasts
from bayesbias.plots.saving import save_figures
from bayesbias.plots.words import plot_words

PLOTS = {
    name: getattr(module, name)
    for info in pkgutil.iter_modules(figures.__path__, "bayesbias.plots.")
    for module in [importlib.import_module(info.name)]
    for name in getattr(module, "__all__", ())
    if name.startswith("plot_")
}


def test_all_figures_are_known() -> None:
    defined = {
        node.name
        for path in (ROOT / "bayesbias" / "figures").glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("plot_")
    }
    assert set(PLOTS) == defined
    assert len(PLOTS) >= 15


@pytest.mark.parametrize("name", sorted(PLOTS))
def test_data_come_first_and_axes_last_and_all_else_is_named(name: str) -> None:
    first, *others = inspect.signature(PLOTS[name]).parameters.values()
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert first.default is inspect.Parameter.empty
    assert {parameter.kind for parameter in others} == {inspect.Parameter.KEYWORD_ONLY}
    assert inspect.Parameter.empty not in {parameter.default for parameter in others}
    assert (others[-1].name, others[-1].default) == ("ax", None)
    names = re.findall(r"^([\w, ]+) : ", inspect.getdoc(PLOTS[name]) or "", re.MULTILINE)
    described = [part for group in names for part in group.split(", ")]
    assert described == [first.name, *(parameter.name for parameter in others)]


def sources() -> dict[str, str]:
    """All Python that is printed for readers: fenced blocks of the documents, cells of the notebooks."""
    out = {}
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        blocks = re.findall(
            r"^```py(?:thon)?\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        )
        out |= {f"{path.name}, block {i}": block for i, block in enumerate(blocks, 1)}
    for path in ROOT.glob("notebooks/*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        plain = (re.sub(r"^[%!].*$", "", text, flags=re.MULTILINE) for text in texts)
        out |= {f"{path.name}, cell {i}": text for i, text in enumerate(plain, 1)}
    return out


def test_documents_call_figures_by_their_signatures() -> None:
    calls = 0
    for where, text in sources().items():
        for node in ast.walk(ast.parse(text)):
            name = getattr(getattr(node, "func", None), "attr", None)
            if isinstance(node, ast.Call) and name in PLOTS:
                calls += 1
                settings = {str(keyword.arg): None for keyword in node.keywords}
                try:
                    inspect.signature(PLOTS[name]).bind(*node.args, **settings)
                except TypeError as error:
                    pytest.fail(f"{where}: {name}: {error}")
    assert calls >= 15


def in_figure(draw: Any, size: tuple[float, float]) -> Any:
    figure = Figure(figsize=size, layout="constrained")
    out = draw(figure.subplots())
    figure.draw_without_rendering()  # the layout is made while drawing
    return out


@pytest.mark.slow
@pytest.mark.parametrize(
    "many",
    [pytest.param(False, id="15 words"), pytest.param(True, id="60 words", marks=pytest.mark.claim)],
)
def test_labels_do_not_overlap_and_the_legend_is_outside(many: bool) -> None:
    five = {name: [f"{name} {i}" for i in range(5)] for name in ("christian", "jew", "muslim")}
    fit = prior_fit(sixty() if many else simulated(five))
    for draw, size in (
        (lambda ax: plot_words(fit, ax=ax), plate(fit, "words", columns=1).size),
        (lambda ax: plot_contrasts(fit, level="word", ax=ax), plate(fit, "contrasts_word").size),
        (lambda ax: plot_contrasts(fit, level="class", ax=ax), plate(fit, "contrasts_class").size),
    ):
        ax = in_figure(draw, size)
        boxes = [label.get_window_extent() for label in ax.get_yticklabels() if label.get_text()]
        tops = [(box.y0, box.y1) for box in boxes]
        assert all(above[0] >= below[1] - 1.5 for above, below in itertools.pairwise(tops))
        assert ax.get_legend().get_window_extent().y0 >= ax.bbox.y1 - 1
        page = ax.get_figure().bbox
        for artist in (*ax.texts, title_of(ax), ax.get_legend()):
            box = artist.get_window_extent()
            assert box.x0 >= page.x0 - 1
            assert box.x1 <= page.x1 + 1
        assert min(label.get_fontsize() for label in ax.get_yticklabels()) >= 7


def test_connections_differ_in_marker_and_in_grey() -> None:
    assert len(set(style.MARKER.values())) == 4
    grey = sorted(
        np.dot([0.299, 0.587, 0.114], [int(colour[i : i + 2], 16) for i in (1, 3, 5)])
        for colour in style.COLOUR.values()
    )
    assert min(np.diff(grey)) > 20


@pytest.mark.claim
def test_words_of_any_kind_are_drawn_as_written(tmp_path: Path) -> None:
    odd = {"c_l$a": ["$x_1$", r"\$ \frac{", "_under"], "שלום": ["مسلم", "two\nlines", "基督教😀"]}
    fit = prior_fit(simulated(odd), name="an $odd$ table_name")
    save_figures(fit, tmp_path, ["svg"])
    text = (tmp_path / "words.svg").read_text(encoding="utf-8")
    for word in ("$x_1$", r"\$ \frac{", "_under", "c_l$a", "two lines", "基督教😀", "an $odd$ table_name"):
        assert f"{word}" in text
    long = prior_fit(simulated({"a": ["x" * 200], "b": ["y"]}))
    ax = in_figure(lambda ax: plot_words(long, ax=ax), plate(long, "words").size)
    assert ax.bbox.width > 0.5 * ax.get_figure().bbox.width
