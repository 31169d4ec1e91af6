"""Every figure: nothing is cut, nothing overlaps, in a report, in a journal and on Axes of one's own."""

import itertools
from typing import Any

import matplotlib as mpl
import pytest

mpl.use("Agg")
from helpers.every_figure import DATA
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.core.errors import InputError

every_figure = pytest.mark.parametrize("name", sorted(DATA))


def texts_of(ax: Any) -> list[Any]:
    """Texts around and inside the Axes that must not meet."""
    legend = ax.get_legend()
    around = [
        ax.title,
        ax._left_title,
        ax.xaxis.label,
        ax.yaxis.label,
        *ax.get_yticklabels(),
        *ax.get_xticklabels(),
    ]
    around += [*ax.texts, *([legend] if legend else [])]
    shown = [text for text in around if not hasattr(text, "get_text") or text.get_text().strip()]
    unseen = set()
    for place, axis in enumerate((ax.xaxis, ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        labels = axis.get_ticklabels()
        unseen |= {id(label) for label in labels if not low <= label.get_position()[place] <= high}
    return [text for text in shown if id(text) not in unseen]


def assert_neat(figure: Any) -> None:
    figure.draw_without_rendering()
    for ax in figure.axes:
        boxes = [text.get_window_extent() for text in texts_of(ax)]
        for box in boxes:
            assert min(box.x0 - figure.bbox.x0, figure.bbox.x1 - box.x1) >= -1
            assert min(box.y0 - figure.bbox.y0, figure.bbox.y1 - box.y1) >= -1
        for a, b in itertools.combinations(boxes, 2):
            across = min(a.x1, b.x1) - max(a.x0, b.x0)
            down = min(a.y1, b.y1) - max(a.y0, b.y0)
            assert across < 2.5 or down < 2.5


def assert_intervals_inside(ax: Any) -> None:
    low, high = sorted(ax.get_xlim())
    for drawn in ax.collections:
        if drawn.get_label() == "_interval":
            assert all(low <= x <= high for segment in drawn.get_segments() for x, _ in segment)


@every_figure
@pytest.mark.parametrize("style", ["report", pytest.param("journal", marks=pytest.mark.claim)])
def test_a_figure_of_its_own_is_neat(name: str, style: str) -> None:
    plot, data = DATA[name]
    before = dict(mpl.rcParams)
    with bb.plots.figure_style(style) as chosen:
        ax = plot(data())
    figure = ax.figure
    assert dict(mpl.rcParams) == before
    assert bool(ax.get_title(loc="left")) == chosen.titled
    assert figure.get_size_inches()[0] <= chosen.width / 25.4 + 1e-6
    assert {"title", "note"} == set(ax.data.attrs)
    assert_neat(figure)
    assert ax.get_legend().get_window_extent().y0 >= ax.bbox.y1 - 1
    plt.close(figure)


@every_figure
def test_a_figure_on_axes_of_ones_own_takes_these_alone(name: str) -> None:
    plot, data = DATA[name]
    figure = Figure(figsize=(8, 9), layout="constrained")
    ax = figure.subplots()
    assert plot(data(), ax=ax) is ax
    assert figure.axes == [ax]
    ax.set_title("a title of my own")
    assert_neat(figure)
    assert_intervals_inside(ax)


def test_shared_axes_cut_no_interval_of_either() -> None:
    plot, data = DATA["plot_contrasts"]
    figure = Figure(figsize=(7, 9), layout="constrained")
    first, second = figure.subplots(2, sharex=True)
    plot(data(), ax=first, prob=0.99, rope=0.3)
    plot(data(), ax=second, prob=0.5, rope=0.01)
    for ax in (first, second):
        assert_intervals_inside(ax)
        assert ax.get_xlim()[0] <= -0.3


def test_columns_of_text_stay_off_the_next_panel() -> None:
    plot, data = DATA["plot_contrasts"]
    left, right = Figure(figsize=(10, 4)).subplots(1, 2)
    edge = left.bbox.x1
    plot(data(), ax=left)
    assert left.bbox.x1 < left.get_tightbbox().x1 <= edge + 1 < right.bbox.x0


@pytest.mark.parametrize("style", ["report", "journal"])
def test_a_title_set_later_replaces_that_of_the_figure(style: str) -> None:
    plot, data = DATA["plot_contrasts"]
    with bb.plots.figure_style(style):
        ax = plot(data())
    ax.set_title("a title of my own\non two lines")
    titles = [ax.get_title(loc=place) for place in ("left", "center", "right")]
    assert titles == ["a title of my own\non two lines", "", ""]
    assert_neat(ax.figure)
    plt.close(ax.figure)


def test_styles_have_their_width_and_unknown_ones_are_named() -> None:
    with bb.plots.figure_style("journal", width=120):
        ax = bb.plot_priors("crossed")
    assert ax.figure.get_size_inches()[0] == pytest.approx(120 / 25.4)
    assert ax.xaxis.label.get_fontsize() == pytest.approx(7 * 8.5 / 8)
    with pytest.raises(InputError, match="report or journal"), bb.plots.figure_style("poster"):
        pass
    with pytest.raises(InputError, match="width"), bb.plots.figure_style(width=3):
        pass
    plt.close("all")


def test_words_are_drawn_as_written(fit: Any) -> None:
    from helpers.draws import prior_fit
    from helpers.figures import simulated

    odd = prior_fit(simulated({"c_l$a": ["$x_1$", "_under"], "b": ["two\nlines", "x" * 90]}))
    ax = bb.plot_words(odd)
    ax.figure.draw_without_rendering()
    names = [label.get_text().replace(r"\$", "$") for label in ax.get_yticklabels()]
    assert names[:3] == ["$x_1$", "_under", "two lines"]
    assert ax.bbox.width > 0.5 * ax.figure.bbox.width
    plt.close(ax.figure)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_saved_figure_has_the_same_bytes_each_time(ending: str, tmp_path: Any) -> None:
    for name in "ab":
        ax = bb.plot_priors("crossed")
        bb.plots.save_figure(ax.figure, tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    with pytest.raises(InputError, match="png, svg or pdf"):
        bb.plots.save_figure(ax.figure, tmp_path / "a.gif")
    plt.close(ax.figure)
