"""Words and connections: what is drawn equals what the fit says."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted

mpl.use("Agg")
from helpers.draws import made_up_fit, prior_fit
from helpers.figures import drawn, heads_of, plate, row_of, simulated, sixty
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from bayesbias.core.errors import InputError
from bayesbias.inference.fitting import fit as fit_model
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots import style, words as words_room
from bayesbias.plots.words import plot_connections, plot_words
from bayesbias.tables.reading import load_distances
from bayesbias.wordlists.pairing import CONNECTIONS


@pytest.mark.parametrize("estimand", ["population", "listed_words"])
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


@pytest.mark.parametrize("estimand", ["population", "listed_words"])
@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
def test_points_are_seen_on_paper_however_many_words_there_are(ax: Any) -> None:
    """Half a millimetre or more wide, and apart from white and from the shade of a row in luminance (WCAG 2.2)."""
    for table in (sixty(), simulated({"men": ["he", "him"], "women": ["she", "her"]}, 60)):
        ax.clear()
        plot_words(made_up_fit(table), ax=ax)
        for points in raw_points(ax):
            assert np.sqrt(points.get_sizes()[0]) * 25.4 / 72 >= 0.49
            for ground in ("white", "#F3F3F3"):
                over, under = to_rgb(points.get_facecolor()[0][:3]), to_rgb(ground)
                mixed = points.get_alpha() * np.array(over) + (1 - points.get_alpha()) * np.array(under)
                light, dark = (luminance(np.array(under)) + 0.05), (luminance(mixed) + 0.05)
                assert light / dark > 1.3


def luminance(rgb: np.ndarray) -> float:
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


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


def test_a_missing_column_is_named(fit: BiasFit, ax: Any) -> None:
    import dataclasses

    bare = dataclasses.replace(fit, table=fit.table.drop(columns="protected_class"))
    with pytest.raises(InputError, match="valid: protected_class"):
        plot_words(bare, ax=ax)


@pytest.mark.slow
def test_published_table_is_drawn_whole(shared: Path, ax: Any) -> None:
    folder = shared / "data" / "bayesbias_distances" / "with_controls_2022"
    table = load_distances(folder / "religion_group_reddit_dataset.csv")
    fit = fit_model(table, seed=shifted(1), draws=200, tune=300, pointwise=False)
    plot_words(fit, ax=ax)
    assert sum(len(points.get_offsets()) for points in ax.collections) == 4830
    assert len(ax.get_yticklabels()) == 15
    assert [t.get_text() for t in heads_of(ax)] == ["jew", "christian", "muslim"]
