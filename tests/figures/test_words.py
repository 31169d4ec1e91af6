"""Figures: what is drawn equals what the fit says, and nothing else is touched."""

from __future__ import annotations

import ast
import errno
import importlib
import inspect
import itertools
import json
import os
import pkgutil
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from helpers.places import ROOT
from helpers.seeds import shifted

mpl.use("Agg")

from helpers.draws import made_up_fit, prior_fit
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

from bayesbias import figures
from bayesbias.basics.errors import FitError, InputError
from bayesbias.figures import marks, predictive, priors, style, words as words_room
from bayesbias.figures.contrasts import plot_contrasts
from bayesbias.figures.plates import Plate
from bayesbias.figures.predictive import plot_predictive
from bayesbias.figures.priors import plot_priors
from bayesbias.figures.saving import save_figures
from bayesbias.figures.words import plates, plot_connections, plot_words
from bayesbias.inference.fitting import fit as fit_model
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.prediction import with_pointwise
from bayesbias.models.loading import load_model
from bayesbias.tables.reading import read_distances
from bayesbias.words.pairing import CONNECTIONS

ALL = (
    "priors",
    "connections",
    "words",
    "contrasts",
    "contrasts_class",
    "contrasts_word",
    "predictive",
)


def simulated(words: dict[str, list[str]], attributes: int = 4, seed: int = 0) -> pd.DataFrame:
    """Pairs of the words of each class with attributes of each class and two controls."""
    rng = np.random.default_rng(seed)
    mean = {"associated": 0.8, "different": 0.9, "human": 0.95, "neutral": 1.0}
    listed = [(f"{name} {i}", name) for name in [*words, "human", "neutral"] for i in range(attributes)]
    effect = rng.normal(0, 0.1, len(listed))
    rows = []
    for own, of_class in words.items():
        for word in of_class:
            for (attribute, other), shift in zip(listed, effect, strict=True):
                control = other in ("human", "neutral")
                connection = other if control else "associated" if other == own else "different"
                rows.append(
                    {
                        "protected_word": word,
                        "protected_class": own,
                        "attribute": attribute,
                        "attribute_class": other,
                        "attribute_kind": other if control else "stereotype",
                        "connection": connection,
                        "distance": mean[connection] + shift + rng.normal(0, 0.1),
                    }
                )
    return pd.DataFrame(rows)


def sixty() -> pd.DataFrame:
    return simulated({f"class {c}": [f"word {c}{i}" for i in range(12)] for c in "ABCDE"})


@pytest.fixture(scope="module")
def fit() -> BiasFit:
    words = {"men": ["he", "him", "his"], "women": ["she", "her", "hers"]}
    table = read_distances(simulated(words), name="simulated table")
    return made_up_fit(table)


@pytest.fixture
def ax() -> Any:
    return Figure(figsize=(7, 7), layout="constrained").subplots()


def drawn(ax: Any, label: str) -> list[Any]:
    return [line for line in ax.lines if str(line.get_label()) == label]


def plate(fit: BiasFit, name: str, **settings: Any) -> Plate:
    """Return one of the figures of a fit."""
    return next(plate for plate in plates(fit, **settings) if plate.name == name)


def heads_of(ax: Any) -> list[Any]:
    """Headings of classes inside the Axes."""
    return [t for t in ax.texts if t.get_fontweight() == "bold" and t.get_bbox_patch() is not None]


def row_of(ax: Any) -> dict[str, float]:
    return dict(zip([t.get_text() for t in ax.get_yticklabels()], ax.get_yticks(), strict=True))


# -- signatures -----------------------------------------------------------------------------------

PLOTS = {
    name: getattr(module, name)
    for info in pkgutil.iter_modules(figures.__path__, "bayesbias.figures.")
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


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimand", ["population", "these_words"])
def test_connections_show_the_summary(fit: BiasFit, ax: Any, estimand: str) -> None:
    assert [plot_connections(fit, prob=0.5, estimand=estimand, ax=ax)] == [ax]
    summary = fit.summary(0.5, estimand)
    rows = row_of(ax)
    assert list(rows) == list(summary["connection"])
    bars = [line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_label() != "_no similarity"]
    for bar, line in zip(bars, summary.itertuples(), strict=True):
        (point,) = drawn(ax, f"_mean {line.connection}")
        assert point.get_xdata()[0] == pytest.approx(line.mean)
        assert point.get_ydata()[0] == rows[line.connection]
        np.testing.assert_allclose(bar.get_xdata(), [line.hpdi_low, line.hpdi_high])
    assert "50% HPDI" in ax.get_legend().get_texts()[0].get_text()
    low, high = ax.get_xlim()
    assert low < 1 < high
    assert list(drawn(ax, "_no similarity")[0].get_xdata()) == [1, 1]


@pytest.mark.parametrize("estimand", ["population", "these_words"])
def test_words_show_every_pair_and_the_posterior(fit: BiasFit, ax: Any, estimand: str) -> None:
    plot_words(fit, prob=0.8, estimand=estimand, ax=ax)
    rows = row_of(ax)
    assert list(rows) == ["he", "him", "his", "she", "her", "hers"]
    assert [t.get_text() for t in heads_of(ax)] == ["men", "women"]
    words = fit.words(0.8, estimand)
    assert len(ax.collections) == 4  # and so no pair is beyond the axis
    for connection, points in zip(CONNECTIONS, ax.collections, strict=True):
        mine = fit.table[fit.table["connection"].astype(str) == connection]
        where = np.asarray(points.get_offsets())
        np.testing.assert_allclose(where[:, 0], mine["distance"])
        # Each point lies in the row of its own word.
        own = mine["protected_word"].map(rows).to_numpy()
        assert (np.abs(where[:, 1] - own) < 0.5).all()
        of = words[words["connection"] == connection]
        means = {(m.get_xdata()[0], m.get_ydata()[0]) for m in drawn(ax, f"_mean {connection}")}
        for line in of.itertuples():
            (y,) = [y for x, y in means if x == pytest.approx(line.mean, abs=1e-12)]
            assert abs(y - rows[line.protected_word]) < 0.5
        assert len(means) == len(of)
    bars = sorted(tuple(line.get_xdata()) for line in drawn(ax, "_interval"))
    np.testing.assert_allclose(bars, sorted(zip(words["hpdi_low"], words["hpdi_high"], strict=True)))


def wedges(ax: Any) -> list[Any]:
    return [points for points in ax.collections if str(points.get_label()).startswith("_beyond")]


def raw_points(ax: Any) -> list[Any]:
    return [points for points in ax.collections if str(points.get_label()).lstrip("_") in CONNECTIONS]


def far_out() -> pd.DataFrame:
    """Two hundred and more pairs per connection, and five far from all others."""
    frame = simulated({"men": [f"m{i}" for i in range(8)], "women": [f"w{i}" for i in range(8)]}, 16)
    frame["distance"] = 0.95 + 0.4 * np.clip(frame["distance"] - 0.95, -0.4, 0.4)
    mine = frame["protected_word"] == "w3"
    frame.loc[frame[mine & (frame["connection"] == "neutral")].index[:3], "distance"] = [0.01, 0.02, 0.03]
    frame.loc[frame[mine & (frame["connection"] == "associated")].index[:2], "distance"] = [0.05, 1.99]
    return frame


def test_far_pairs_are_marked_at_the_edge_and_counted(ax: Any) -> None:
    frame = far_out()
    fit = made_up_fit(frame)
    plot_words(fit, ax=ax)
    low, high = ax.get_xlim()
    assert 0.5 < low < 0.8
    assert 1.1 < high < 1.4
    inside = frame[(frame["distance"] > low) & (frame["distance"] < high)]
    assert len(inside) == len(frame) - 5
    seen = np.sort(np.concatenate([np.asarray(p.get_offsets())[:, 0] for p in raw_points(ax)]))
    np.testing.assert_allclose(seen, np.sort(inside["distance"]))
    assert {(p.get_label(), len(p.get_offsets())) for p in wedges(ax)} == {
        ("_beyond neutral", 3),
        ("_beyond associated", 1),
    }
    assert len(wedges(ax)) == 3
    row = row_of(ax)["w3"]
    for points in wedges(ax):
        where = np.asarray(points.get_offsets())
        assert (np.abs(where[:, 1] - row) < 0.5).all()  # in the row of their own word
        assert ((where[:, 0] > low) & (where[:, 0] < high)).all()  # and to be seen
        side = where[0, 0]  # left of all points, or right of them but for one in the margin
        assert side < seen[0] or side > seen[-2]
    note = " ".join(" ".join(text.get_text() for text in ax.texts).split())
    assert "5 of 1,024 pairs, which lie beyond the axis (all pairs: 0.01 to 1.99)" in note


def test_no_interval_is_cut_and_few_pairs_are_shown_whole(ax: Any) -> None:
    wide = prior_fit(far_out())  # intervals of the prior, far wider than the pairs
    plot_words(wide, ax=ax)
    low, high = ax.get_xlim()
    words = wide.words()
    assert low < words["hpdi_low"].min()
    assert high > words["hpdi_high"].max()
    frame = simulated({"men": ["he", "him"], "women": ["she", "her"]})
    frame.loc[0, "distance"] = frame["distance"].min() - 0.15  # a little apart: no reason to cut it off
    other = Figure().subplots()
    plot_words(made_up_fit(frame), ax=other)
    assert wedges(other) == []
    assert other.get_xlim()[0] < frame["distance"].min()


def test_the_span_holds_of_each_connection_the_middle() -> None:
    fit = made_up_fit(far_out())
    low, high = words_room._trimmed(fit, fit.words())
    for _, group in fit.table.groupby("connection", observed=True):
        out = (group["distance"] < low) | (group["distance"] > high)
        assert out.mean() <= 0.02
    values = fit.table["distance"]
    quartiles = np.percentile(values, (25, 75))
    assert low >= quartiles[0] - 4 * np.diff(quartiles)[0] - 1e-12


@pytest.mark.slow
def test_many_words_stand_in_two_columns_on_one_page() -> None:
    fit = made_up_fit(sixty())
    left: Any = plot_words(fit)
    try:
        figure = left.figure
        one, other = figure.axes
        assert left is one
        assert figure.get_size_inches()[0] == 7
        assert figure.get_size_inches()[1] <= 9.4
        shown = list(row_of(one)) + list(row_of(other))
        assert shown == list(fit.table["protected_word"].unique())
        assert abs(len(row_of(one)) - len(row_of(other))) <= 3
        assert one.get_xlim() == other.get_xlim()
        assert one.get_ylim() == other.get_ylim()  # rows are equally high
        drawn_points = [*raw_points(one), *wedges(one), *raw_points(other), *wedges(other)]
        assert sum(len(points.get_offsets()) for points in drawn_points) == len(fit.table)
        names = [t.get_text() for ax in (one, other) for t in heads_of(ax)]
        assert [name for name in names if "continued" not in name] == [f"class {c}" for c in "ABCDE"]
        assert [name for name in names if "continued" in name] == ["class C (continued)"]
        figure.draw_without_rendering()
        assert other.bbox.x0 >= one.bbox.x1
        assert other.bbox.height == pytest.approx(one.bbox.height, abs=1)
        assert min(one.bbox.width, other.bbox.width) > 0.35 * figure.bbox.width
        for ax in (one, other):
            texts = [*ax.get_yticklabels(), *heads_of(ax)]
            boxes = sorted((t.get_window_extent() for t in texts), key=lambda box: -box.y1)
            assert all(above.y0 >= below.y1 - 1.5 for above, below in itertools.pairwise(boxes))
            assert min(t.get_fontsize() for t in texts) >= 7
        assert one.get_legend().get_window_extent().x1 <= figure.bbox.x1
        # No label of the right column lies over the left one.
        assert min(t.get_window_extent().x0 for t in other.get_yticklabels()) >= one.bbox.x1 - 1
    finally:
        plt.close(left.figure)


def test_columns_end_with_a_class_where_they_can() -> None:
    def of(**sizes: int) -> Any:
        return {name: [(f"{name}{i}", f"{name}{i}") for i in range(n)] for name, n in sizes.items()}

    def shape(parts: Any) -> list[dict[str, int]]:
        return [{name: len(members) for name, members in part.items()} for part in parts]

    assert shape(words_room._in_columns(of(a=32, b=32), 2)) == [{"a": 32}, {"b": 32}]
    assert shape(words_room._in_columns(of(a=10, b=9, c=20), 2)) == [{"a": 10, "b": 9}, {"c": 20}]
    assert shape(words_room._in_columns(of(a=60), 2)) == [{"a": 30}, {"a (continued)": 30}]
    assert shape(words_room._in_columns(of(a=5, b=5), 1)) == [{"a": 5, "b": 5}]
    (first, second) = words_room._in_columns(of(a=60), 2)
    assert [key for part in (first, second) for members in part.values() for key, _ in members] == [
        f"a{i}" for i in range(60)
    ]


def test_the_figure_grows_with_the_words() -> None:
    def height(n: int) -> float:
        fit = prior_fit(simulated({"a": [f"a{i}" for i in range(n)], "b": [f"b{i}" for i in range(n)]}, 2))
        shown = words_room._shown_words(fit, None)
        assert words_room._columns_of_words(fit, shown) == (1 if n <= 12 else 2)
        return plate(fit, "words").size[1]

    heights = [height(n) for n in (2, 5, 12, 32, 60, 90)]
    assert heights[0] < heights[1] < heights[2] <= 9.4
    assert heights[3] <= 9.4 < heights[4] < heights[5]
    # Each of the four lanes of a word has more than three points on paper, however many words there are.
    assert (heights[5] - 1.4) * 72 / (90 + style.HEAD) * 0.84 / 4 > 3


def test_long_words_stay_in_one_column() -> None:
    fit = prior_fit(
        simulated({"a": ["a very long protected word", *(f"a{i}" for i in range(40))], "b": ["b"]}, 2)
    )
    assert words_room._columns_of_words(fit, words_room._shown_words(fit, None)) == 1


def test_chosen_words_share_the_axis_of_all(fit: BiasFit, ax: Any) -> None:
    plot_words(fit, ax=ax, words=["hers", "he"])
    assert list(row_of(ax)) == ["he", "hers"]
    mine = fit.table["protected_word"].isin(["he", "hers"])
    assert sum(len(points.get_offsets()) for points in ax.collections) == mine.sum()
    assert len(drawn(ax, "_interval")) == 8
    whole = Figure().subplots()
    plot_words(fit, ax=whole)
    assert ax.get_xlim() == whole.get_xlim()
    with pytest.raises(InputError, match="did you mean 'her'"):
        plot_words(fit, ax=ax, words=["herr"])
    with pytest.raises(InputError, match="no word is asked for"):
        plot_words(fit, ax=ax, words=[])


def test_crowds_are_smaller_and_fainter_than_few(ax: Any) -> None:
    frame = simulated({"men": ["he", "him"], "women": ["she", "her"]}, 60)
    few = frame["connection"].isin(["human", "neutral"]) | frame["attribute"].str.match(r".* [0-4]$")
    plot_words(made_up_fit(frame[few].reset_index(drop=True)), ax=ax)
    look = {p.get_label()[1:]: (p.get_alpha(), p.get_sizes()[0]) for p in raw_points(ax)}
    assert look["neutral"][0] < 0.6 * look["associated"][0]
    assert look["neutral"][1] < 0.7 * look["associated"][1]


@pytest.mark.slow
@pytest.mark.parametrize("many", [False, True], ids=["6 words", "60 words"])
def test_intervals_hide_no_point_of_few(many: bool, fit: BiasFit) -> None:
    """The white edge of an interval ends before the points of its lane and of the lane above begin."""
    shown: Any = plot_words(made_up_fit(sixty()) if many else fit)
    try:
        shown.figure.draw_without_rendering()
        row = shown.transData.transform([[0, 0], [0, 1]])
        per_row = abs(row[1, 1] - row[0, 1]) * 72 / shown.figure.dpi
        points = np.concatenate([np.asarray(p.get_offsets())[:, 1] for p in shown.collections])
        half = max(np.sqrt(p.get_sizes()[0]) for p in shown.collections) / 2
        edges = drawn(shown, "_edge")
        thick = max(line.get_linewidth() for line in edges) / 2
        lines = np.array([line.get_ydata()[0] for line in edges])
        clear = np.abs(points[:, None] - lines).min() * per_row - half - thick
        assert clear > -0.5
    finally:
        plt.close(shown.figure)


def test_words_are_drawn_the_same_each_time(fit: BiasFit) -> None:
    twice: list[Any] = [plot_words(fit, ax=Figure().subplots()) for _ in range(2)]
    for a, b in zip(twice[0].collections, twice[1].collections, strict=True):
        np.testing.assert_array_equal(a.get_offsets(), b.get_offsets())


def test_the_spread_is_even_within_each_group() -> None:
    group = np.tile([2.0, 1.0, 5.0], 40)
    spread = words_room._spread(group)
    for g in (1, 2, 5):
        counts, _ = np.histogram(spread[group == g], bins=4, range=(0, 1))
        assert counts.min() >= 9
        assert counts.max() <= 11


@pytest.mark.parametrize("level", ["overall", "class", "word"])
def test_contrasts_show_both_estimands(fit: BiasFit, ax: Any, level: str) -> None:
    plot_contrasts(fit, prob=0.7, rope=0.05, level=level, ax=ax)
    frame = fit.contrasts(0.7, 0.05)
    frame = frame[frame["level"] == level]
    if level == "word":
        frame = frame[frame["contrast"] == "associated - different"]
    for estimand in ("population", "these_words"):
        means = [line.get_xdata()[0] for line in drawn(ax, f"_{estimand}")]
        np.testing.assert_allclose(sorted(means), sorted(frame.loc[frame["estimand"] == estimand, "mean"]))
    bars = sorted(tuple(line.get_xdata()) for line in drawn(ax, "_interval"))
    np.testing.assert_allclose(bars, sorted(zip(frame["hpdi_low"], frame["hpdi_high"], strict=True)))
    band = [p for p in ax.patches if to_hex(p.get_facecolor()) == "#d9d9d9"]
    assert [
        round(float(x), 9) for x in band[0].get_extents().transformed(ax.transData.inverted()).intervalx
    ] == [-0.05, 0.05]


def test_contrasts_stand_in_their_own_rows(fit: BiasFit, ax: Any) -> None:
    plot_contrasts(fit, ax=ax)
    frame = fit.contrasts(estimand="these_words")
    frame = frame[frame["level"] == "overall"].set_index("contrast")
    rows = row_of(ax)
    assert list(rows) == [name.replace("-", "\N{MINUS SIGN}") for name in frame.index]
    for line in drawn(ax, "_these_words"):
        name = min(rows, key=lambda label: abs(rows[label] - line.get_ydata()[0]))
        assert line.get_xdata()[0] == pytest.approx(frame.loc[name.replace("\N{MINUS SIGN}", "-"), "mean"])


def test_estimands_differ_without_colour(fit: BiasFit, ax: Any) -> None:
    plot_contrasts(fit, ax=ax)
    one, other = drawn(ax, "_population")[0], drawn(ax, "_these_words")[0]
    assert one.get_marker() != other.get_marker()
    assert other.get_markerfacecolor() == "white"
    assert one.get_markerfacecolor() != "white"


def test_the_probability_beside_a_contrast_is_that_of_the_fit(fit: BiasFit, ax: Any) -> None:
    plot_contrasts(fit, ax=ax)
    frame = fit.contrasts()
    frame = frame[frame["level"] == "overall"]
    written = [text.get_text() for text in ax.texts]
    for p in frame["p_below_zero"]:
        expected = "<.001" if p < 0.001 else ">.999" if p > 0.999 else f"{p:.3f}"[1:]
        assert expected in written


def test_chosen_contrasts_and_wrong_ones(fit: BiasFit, ax: Any) -> None:
    plot_contrasts(fit, level="word", contrasts=["human - neutral", "associated - human"], ax=ax)
    heads = [t.get_text() for t in ax.get_yticklabels() if t.get_fontweight() == "bold"]
    assert heads == [
        f"{contrast}, {name}"
        for contrast in ("associated − human", "human − neutral")
        for name in ("men", "women")
    ]
    with pytest.raises(InputError, match="did you mean 'associated - human'"):
        plot_contrasts(fit, contrasts=["associated - humen"], ax=ax)
    with pytest.raises(InputError, match="overall, class, word"):
        plot_contrasts(fit, level="words", ax=ax)
    with pytest.raises(InputError, match="unknown estimand"):
        plot_connections(fit, estimand="everyone", ax=ax)
    with pytest.raises(InputError, match="between 0 and 1"):
        plot_words(fit, prob=89, ax=ax)


def test_predictive_is_the_same_with_and_without_stored_draws(fit: BiasFit) -> None:
    assert "posterior_predictive" not in fit.tree.children
    made = plot_predictive(fit, ax=Figure().subplots(), replicates=10)
    stored = plot_predictive(with_pointwise(fit), ax=Figure().subplots(), replicates=10)
    assert len(made.lines) == len(stored.lines) == 4 * 11
    for a, b in zip(made.lines, stored.lines, strict=True):
        np.testing.assert_allclose(np.asarray(a.get_ydata()), np.asarray(b.get_ydata()))


def test_predictive_shows_the_density_of_the_observed(fit: BiasFit, ax: Any) -> None:
    plot_predictive(fit, ax=ax, replicates=5)
    for row, (line, name) in enumerate(zip(drawn(ax, "_observed"), CONNECTIONS, strict=True)):
        values = fit.table.loc[fit.table["connection"].astype(str) == name, "distance"]
        x, height = np.asarray(line.get_xdata()), row + 0.42 - np.asarray(line.get_ydata())
        assert (x * height).sum() / height.sum() == pytest.approx(values.mean(), abs=0.01)
    with pytest.raises(InputError, match="from 1 to 200"):
        plot_predictive(fit, ax=ax, replicates=0)


def test_predictive_shows_all_that_was_observed(ax: Any) -> None:
    frame = simulated({"men": ["he", "him"], "women": ["she", "her"]})
    frame.loc[[3, 17], "distance"] = [-3.0, 5.0]  # far beyond what the made-up draws make
    plot_predictive(prior_fit(frame), ax=ax, replicates=3)
    low, high = ax.get_xlim()
    assert low <= -3.0
    assert high >= 5.0
    for line in drawn(ax, "_observed"):
        x = np.asarray(line.get_xdata())
        assert (x[0], x[-1]) == (low, high)


def test_density_agrees_with_scipy() -> None:
    from scipy.stats import gaussian_kde

    values = np.random.default_rng(2).gamma(3, 0.2, 500)
    grid = np.linspace(0, 3, 401)
    wanted = gaussian_kde(values, bw_method=0.05 / values.std(ddof=1))(grid)
    np.testing.assert_allclose(marks.density(values, grid, 0.05), wanted, atol=0.01 * wanted.max())


# -- priors ---------------------------------------------------------------------------------------


def test_prior_means_are_those_of_the_estimand() -> None:
    frame = simulated({"men": ["he", "him", "his"], "women": ["she", "her", "hers"]})
    hierarchical = priors._prior_means(load_model("crossed"), frame, 0)
    additive = priors._prior_means(load_model("additive"), frame, 0)
    for name in CONNECTIONS:
        # cbar ~ Normal(1, 0.3); and the mean of six shifts plus a coefficient: 0.25 / 6 + 0.25.
        assert hierarchical[name].mean() == pytest.approx(1, abs=0.02)
        assert hierarchical[name].std() == pytest.approx(0.3, rel=0.04)
        assert additive[name].std() == pytest.approx(np.sqrt(0.25 / 6 + 0.25), rel=0.04)


def test_the_impossible_share_is_computed(tmp_path: Path, ax: Any) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'schema = 1\nname = "own"\ndescription = "for a test"\n'
        '[likelihood]\noutcome = "distance"\ndistribution = "Normal"\nmu = ["c"]\nsigma = 0.461\n'
        '[parameter.c]\ndims = ["connection"]\ndistribution = "Normal"\nmu = 1\nsigma = 0.3\n'
    )
    assert plot_priors(own, ax=ax) is ax
    # A pair is Normal(1, 0.55): 2 Phi(-1 / 0.55) = 6.9 % of it lies more than 1 from 1.
    assert [t.get_text() for t in ax.texts if "impossible" in t.get_text()] == ["7% of pairs\nimpossible"] * 4
    shaded = [p for p in ax.patches if p.get_hatch()]
    spans = [p.get_extents().transformed(ax.transData.inverted()).intervalx for p in shaded]
    np.testing.assert_allclose(spans, [[-1, 0], [2, 3]], atol=1e-9)
    with pytest.raises(InputError, match="did you mean 'crossed'"):
        plot_priors("crosed", ax=ax)


@pytest.mark.parametrize("model", ["additive", "crossed", "hierarchical", "robust"])
def test_priors_of_every_model(model: str, ax: Any) -> None:
    plot_priors(model, ax=ax)
    curves = drawn(ax, "_prior predictive of a pair")
    assert len(curves) == 4
    for curve in curves:
        peak = curve.get_xdata()[np.argmin(curve.get_ydata())]
        assert peak == pytest.approx(1, abs=0.2)
    assert f"Model {model}" in [text.get_text() for text in ax.texts]


# -- looks ----------------------------------------------------------------------------------------


def title_of(ax: Any) -> Any:
    return next(
        t for t in ax.get_children() if isinstance(t, Text) and t.get_text() == ax.get_title(loc="left")
    )


def in_figure(draw: Any, size: tuple[float, float]) -> Any:
    figure = Figure(figsize=size, layout="constrained")
    out = draw(figure.subplots())
    figure.draw_without_rendering()  # the layout is made while drawing
    return out


@pytest.mark.slow
@pytest.mark.parametrize("many", [False, True], ids=["15 words", "60 words"])
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


@pytest.mark.slow
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


# -- the critique ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_rates_near_the_level_are_not_blown_up() -> None:
    from bayesbias.figures.critique import _SHOWN, plot_false_alarms
    from bayesbias.simulation.alarms import simulate_grid

    grid = simulate_grid([2, 8, 32], attribute_sd=[0.0, 0.06], draws=300, seed=shifted(2))
    calm = plot_false_alarms(grid, ax=Figure().subplots(), attribute_sd=0)
    assert grid.loc[grid["attribute_sd"] == 0, "alarms_high"].max() < 0.2
    assert calm.get_ylim() == (0, 0.2)
    loud = plot_false_alarms(grid, ax=Figure().subplots(), attribute_sd=0.06)
    shown = grid[(grid["attribute_sd"] == 0.06) & (grid["pair_sd"] == grid["pair_sd"].max())]
    keys = pd.Series(list(zip(shown["question"], shown["method"], strict=True)), index=shown.index)
    top = shown.loc[keys.isin(_SHOWN), "alarms_high"].max()
    assert loud.get_ylim()[1] > top > 0.2
    bars = {str(c.get_label()): c for c in loud.collections}
    weat = shown[(shown["question"] == "classes") & (shown["method"] == "weat")].sort_values("n_words")
    ends = np.array([path.vertices for path in bars["_interval classes weat"].get_paths()], dtype=float)
    np.testing.assert_allclose(ends[:, :, 0], np.array([[2, 2], [8, 8], [32, 32]]))
    np.testing.assert_allclose(ends[:, :, 1], weat[["alarms_low", "alarms_high"]])
    # Methods that agree stand side by side on paper.
    places = [
        round(float(line.get_transform().transform([(2, 0.1)])[0, 0]), 3)
        for line in loud.lines
        if len(np.asarray(line.get_xdata())) == 3
    ]
    assert len(set(places)) == len(places) == 4


def test_the_two_draws_of_the_paper_differ_without_colour(ax: Any) -> None:
    from bayesbias.figures.critique import plot_paper

    plot_paper("no difference, sd 0.05", ax=ax)
    (printed,), (same,) = (drawn(ax, f"_single draw, {name}") for name in ("as coded", "as intended"))
    assert same.get_markerfacecolor() == "white"
    assert printed.get_markerfacecolor() != "white"


# -- what is touched ------------------------------------------------------------------------------


def test_settings_stay_and_axes_are_made_only_when_none_are_given(fit: BiasFit, ax: Any) -> None:
    before = dict(mpl.rcParams)
    open_figures = plt.get_fignums()
    plot_words(fit, ax=ax)
    plot_priors("crossed", ax=ax)
    assert plt.get_fignums() == open_figures
    shown = plot_connections(fit)
    try:
        assert plt.get_fignums() != open_figures
        assert shown.get_figure() is plt.gcf()
    finally:
        plt.close(plt.gcf())
    assert dict(mpl.rcParams) == before


def test_user_settings_do_not_leak_in() -> None:
    fit = prior_fit(simulated({"$a$": ["$x_1$"], "b": ["y"]}))
    with mpl.rc_context({"text.parse_math": False, "text.color": "white", "font.size": 30}):
        own = Figure().subplots()
        own.get_yticklabels()  # ticks made under the user's settings
        ax = plot_words(fit, ax=own)
    title = title_of(ax)
    assert to_hex(title.get_color()) == "#222222"
    assert title.get_fontsize() == 9.5
    # Dollars are escaped, which is undone only where formulas are looked for.
    assert ax.get_yticklabels()[0].get_text() == r"\$x_1\$"
    assert heads_of(ax)[0].get_text() == r"\$a\$"
    assert heads_of(ax)[0].get_parse_math()
    assert all(label.get_parse_math() for label in ax.get_yticklabels())


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_saved_figures_are_whole_undated_and_the_same(fit: BiasFit, tmp_path: Path) -> None:
    from PIL import Image

    open_figures = plt.get_fignums()
    first = save_figures(fit, tmp_path / "a")
    assert first == [tmp_path / "a" / f"{name}.{kind}" for name in ALL for kind in ("png", "svg")]
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == sorted(p.name for p in first)
    for path, again in zip(first, save_figures(fit, tmp_path / "b"), strict=True):
        assert path.read_bytes() == again.read_bytes()
    with Image.open(tmp_path / "a" / "words.png") as image:
        assert image.width == 1400
        assert image.info["dpi"] == pytest.approx((200, 200), abs=0.1)
    svg = (tmp_path / "a" / "words.svg").read_text(encoding="utf-8")
    assert ">hers<" in svg
    assert "<dc:date>" not in svg
    assert plt.get_fignums() == open_figures


@pytest.mark.slow
def test_nothing_is_left_behind_where_saving_fails(
    fit: BiasFit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match="did you mean 'png'"):
        save_figures(fit, out, ["pngs"])
    with monkeypatch.context() as patch:
        patch.setattr(predictive, "plot_predictive", lambda fit, ax=None: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            save_figures(fit, out, "svg")
    assert not out.exists()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="No space left"):
            save_figures(fit, out, "svg")
    assert not out.exists()
    deep = tmp_path / "new" / "deeper"
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "words.svg").write_text("older")
    calls = 0

    def full_later(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 4:  # three files are written by then, one of them over an older one
            full(descriptor)

    for folder in (deep, tmp_path / "kept"):
        calls = 0
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full_later)
            with pytest.raises(InputError, match="No space left"):
                save_figures(fit, folder, "svg")
        assert calls == 5
    assert not (tmp_path / "new").exists()
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["words.svg"]
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="is a file"):
        save_figures(fit, file)


def test_one_connection_has_no_contrasts(tmp_path: Path, ax: Any) -> None:
    frame = simulated({"men": ["he", "him"], "women": ["she"]})
    fit = prior_fit(frame[frame["connection"] == "neutral"].reset_index(drop=True))
    made = save_figures(fit, tmp_path, "svg")
    assert [path.stem for path in made] == ["priors", "connections", "words", "predictive"]
    with pytest.raises(FitError, match="the table holds"):
        plot_contrasts(fit, ax=ax)


def test_a_missing_column_is_named(fit: BiasFit, ax: Any) -> None:
    import dataclasses

    bare = dataclasses.replace(fit, table=fit.table.drop(columns="protected_class"))
    with pytest.raises(InputError, match="valid: protected_class"):
        plot_words(bare, ax=ax)


@pytest.mark.slow
def test_published_table_is_drawn_whole(shared: Path, ax: Any) -> None:
    folder = shared / "data" / "bayesbias_distances" / "with_controls_2022"
    table = read_distances(folder / "religion_group_reddit_dataset.csv")
    fit = fit_model(table, seed=shifted(1), draws=200, tune=300, pointwise=False)
    plot_words(fit, ax=ax)
    assert sum(len(points.get_offsets()) for points in ax.collections) == 4830
    assert len(ax.get_yticklabels()) == 15
    assert [t.get_text() for t in heads_of(ax)] == ["jew", "christian", "muslim"]
