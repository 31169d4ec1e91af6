"""Figures as they are printed: their width, letters and colours; and the data that each shows."""

from __future__ import annotations

import functools
import itertools
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
from helpers.every_figure import DATA, drawn_on_page
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from bayesbias import figures
from bayesbias.core.errors import InputError
from bayesbias.plots import style
from bayesbias.plots.plates import rendered
from bayesbias.plots.saving import save_figures
from bayesbias.plots.sentences import _SHADES

every_figure = pytest.mark.parametrize("name", sorted(DATA))
MM = 25.4


@functools.cache
def in_journal(name: str) -> Any:
    """Return the Axes of a figure of one column, laid out as it is printed."""
    with figures.figure_style("journal", width=89):
        ax = drawn_on_page(name)
    ax.figure.draw_without_rendering()
    return ax


def test_the_figures_here_are_all_that_are_public() -> None:
    public = {name for name in (*figures.__all__, *dir(__import__("bayesbias"))) if name.startswith("plot_")}
    assert set(DATA) == public


# -- what it is printed for --------------------------------------------------------------------------------


def check_page(ax: Any, width: float, least: float) -> None:
    """A figure is as wide as asked, and all its letters are on it and can be read."""
    figure = ax.figure
    assert figure.get_size_inches()[0] * MM == pytest.approx(width)
    beyond = set()  # labels of ticks that lie outside of the axis are not drawn
    for axis in (axis for each in figure.axes for axis in (each.xaxis, each.yaxis)):
        low, high = sorted(axis.get_view_interval())
        beyond |= {tick.label1 for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high}
    for text in figure.findobj(Text):
        if text in beyond or not text.get_visible() or not text.get_text().strip():
            continue
        box = text.get_window_extent()
        assert box.x0 >= -1.5, text
        assert box.x1 <= figure.bbox.x1 + 1.5, text
        assert box.y1 <= figure.bbox.y1 + 1.5, text
        assert text.get_fontsize() >= least, text


@every_figure
@pytest.mark.slow
def test_a_figure_for_a_journal_fits_one_column_and_can_be_read(name: str) -> None:
    ax = in_journal(name)
    check_page(ax, 89, 5)  # points: the least that Nature prints
    assert ax.get_title(loc="left") == ""
    assert ax.bbox.width > 0.2 * ax.figure.bbox.width


@pytest.mark.claim
@every_figure
def test_a_figure_for_a_talk_has_large_letters(name: str) -> None:
    with figures.figure_style("talk"):
        ax = drawn_on_page(name)
    ax.figure.draw_without_rendering()
    check_page(ax, 254, 8)
    height = ax.figure.get_size_inches()[1] * MM
    # A slide of 16 to 9. More than some twenty rows grow beyond it, since letters would be too small.
    many = name == "plot_frequency_contrasts"
    assert height <= 254 * 9 / 16 + 0.01 or (many and height < 165)
    assert ax.xaxis.label.get_fontsize() >= 14
    assert ax.get_title(loc="left") or not ax.data.attrs["note"]


def test_a_style_holds_within_its_block_and_styles_nest() -> None:
    before = dict(mpl.rcParams)
    usual = drawn_on_page("plot_connections").figure.get_size_inches()
    with figures.figure_style("talk") as talk:
        assert (talk.name, talk.width) == ("talk", 254)
        with figures.figure_style(width=120):
            assert (style.style_now().name, style.style_now().width) == ("talk", 120)
            assert mpl.rcParams["pdf.fonttype"] == 42
            with figures.figure_style("report"):
                np.testing.assert_array_equal(
                    drawn_on_page("plot_connections").figure.get_size_inches(), usual
                )
        assert style.style_now() is talk
    assert style.style_now().name == "report"
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"style": "jornal"}, "did you mean 'journal'"),
        ({"width": 0}, "width"),
        ({"width": 8.9}, "millimetres, 40 to 2000"),
        ({"width": "wide"}, "width"),
    ],
)
def test_a_style_or_width_that_is_none_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said), figures.figure_style(**given):
        pass


@pytest.mark.parametrize("width", [89.0, 183.0])
@pytest.mark.slow
def test_files_have_the_width_and_letters_as_text(width: float, tmp_path: Path) -> None:
    files = save_figures(
        DATA["plot_sweep"][1](), tmp_path, ("pdf", "svg", "png", "csv"), style="journal", width=width
    )
    (pdf,) = [path for path in files if path.name == "sweep.pdf"]
    text = pdf.read_bytes().decode("latin-1")
    (box,) = re.findall(r"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", text)
    assert float(box[0]) / 72 * MM == pytest.approx(width, abs=0.01)
    assert "/FontFile2" in text  # TrueType, whole letters and no drawings of them
    assert "/Type3" not in text
    svg = pdf.with_suffix(".svg").read_text(encoding="utf-8")
    assert float(re.findall(r'<svg [^>]*width="([\d.]+)pt"', svg)[0]) / 72 * MM == pytest.approx(
        width, abs=0.01
    )
    assert ">meals.toml</text>" in svg
    frame = pd.read_csv(pdf.with_suffix(".csv"))
    assert frame["standardized"].tolist() == [-0.5, 0.2]
    assert {path.suffix for path in files} == {".pdf", ".svg", ".png", ".csv"}


@pytest.mark.slow
def test_a_style_has_its_formats(tmp_path: Path) -> None:
    data = DATA["plot_sweep"][1]()
    assert [p.name for p in save_figures(data, tmp_path, style="journal")] == ["sweep.pdf", "sweep.svg"]
    with figures.figure_style("talk"):
        assert [p.name for p in save_figures(data, tmp_path)] == ["sweep.png", "sweep.svg"]


# -- its data ----------------------------------------------------------------------------------------------

# Lines that stand for no number of the data.
_AIDS = {"_zero", "_no similarity", "_unchanged", "_alike", "_edge", "_slope"}


@every_figure
@pytest.mark.slow
def test_a_figure_holds_the_data_that_it_shows(name: str) -> None:
    ax = in_journal(name)
    frame = ax.data
    assert isinstance(frame, pd.DataFrame)
    assert len(frame)
    assert set(frame.attrs) == {"title", "note"}
    assert frame.attrs["title"]
    numbers = frame.select_dtypes("number").to_numpy(dtype=float).ravel()
    known = np.sort(numbers[np.isfinite(numbers)])
    if name == "plot_changes":  # an interval lies around the original
        for end in ("mean", "hpdi_low", "hpdi_high"):
            known = np.sort(np.r_[known, frame["original"] + frame[end]])
    drawn = [
        np.asarray(line.get_xdata(), dtype=float)
        for line in ax.lines
        if line.get_label() not in _AIDS and line.get_transform() == ax.transData
    ]
    drawn += [
        np.asarray(marks.get_offsets(), dtype=float)[:, 0]
        for marks in ax.collections
        if len(marks.get_offsets()) > 1
    ]
    if name == "plot_seat":  # bars of one length for one effect, in columns of encoders
        drawn = [
            np.array([float(t.get_text().replace("−", "-"))]) for t in ax.texts if "." in t.get_text()[:3]
        ]
        known = np.sort(frame["effect_size"].round(2))
    if name == "plot_controls":
        drawn = drawn[:0] or [np.concatenate([np.asarray(m.get_offsets())[:, 0] for m in ax.collections])]
    if name in ("plot_paper", "plot_false_alarms", "plot_earnings"):
        drawn += [
            np.asarray(line.get_xdata(), dtype=float) for line in ax.lines if line.get_label()[1:2] in "cs"
        ]
    values = np.concatenate(drawn) if drawn else np.array([])
    # Ends of ROPE and axes stand on whole numbers, and are no data.
    values = values[~np.isin(values, [0.0, 1.0])]
    assert len(values), name
    near = known[np.clip(np.searchsorted(known, values - 1e-9), 0, len(known) - 1)]
    np.testing.assert_allclose(near, values, atol=1e-8)


# -- its colours -------------------------------------------------------------------------------------------

# Deuteranopia of severity 1: Machado, Oliveira & Fernandes (2009), IEEE TVCG 15, 1291-1298, table 1; linear RGB.
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: Any) -> np.ndarray:
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear sRGB, for white of D65."""
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(one: Any, other: Any, seen: str) -> float:
    """Return the distance of two colours: all of it as a deuteranope sees them, or in lightness alone."""
    a, b = (lab(DEUTERANOPIA @ linear(c) if seen == "deuteranopia" else linear(c)) for c in (one, other))
    return float(np.linalg.norm(a - b)) if seen == "deuteranopia" else float(abs(a[0] - b[0]))


def look_of(handle: Any) -> tuple[Any, ...]:
    """Return what tells a mark in a legend from others without its colour."""
    if isinstance(handle, Line2D):
        full = handle.get_markerfacecolor() not in ("white", "none")
        marker = handle.get_marker() if handle.get_marker() not in ("None", None, "") else None
        return "line", handle.get_linestyle(), marker, full, handle.get_linewidth() > 1.5
    if isinstance(handle, Patch):
        return "patch", handle.get_hatch()
    return (type(handle).__name__,)


def test_deuteranopia_is_that_of_the_paper() -> None:
    """White stays white, and red and green, which are far apart, come near."""
    np.testing.assert_allclose(DEUTERANOPIA @ np.ones(3), 1, atol=1e-4)
    assert apart("#D55E00", "#009E73", "deuteranopia") < 0.6 * np.linalg.norm(
        lab(linear("#D55E00")) - lab(linear("#009E73"))
    )


@every_figure
@pytest.mark.slow
def test_what_a_legend_tells_apart_is_told_apart_without_colour(name: str) -> None:
    legend = in_journal(name).get_legend()
    if legend is None:
        pytest.skip("one thing is shown, and needs no legend")
    handles = [
        (h, h.get_facecolor() if isinstance(h, Patch) else h.get_color()) for h in legend.legend_handles
    ]
    for (a, one), (b, other) in itertools.combinations(handles, 2):
        same_look = look_of(a) == look_of(b)
        assert not same_look or apart(one, other, "grey") > 8
        assert not same_look or apart(one, other, "deuteranopia") > 15


def test_connections_and_shades_are_far_apart_for_every_eye() -> None:
    for one, other in itertools.combinations(style.COLOUR.values(), 2):
        assert apart(one, other, "deuteranopia") > 20  # in grey a marker of its own tells each
    for one, other in itertools.combinations(_SHADES.values(), 2):
        assert apart(one, other, "deuteranopia") > 20
        assert apart(one, other, "grey") > 20


@pytest.mark.slow
def test_a_figure_in_grey_keeps_its_connections_apart() -> None:
    """Of the picture itself: the four ridges are filled with four greys."""
    from io import BytesIO

    from PIL import Image

    ax = drawn_on_page("plot_priors")
    filled = [area.get_facecolor()[0] for area in ax.collections if area.get_label() == "_prior of the mean"]
    with Image.open(BytesIO(rendered(ax.figure, "png"))) as image:
        greys = set(np.unique(np.asarray(image.convert("L"))))
    over_white = [0.4 * np.array(colour[:3]) + 0.6 for colour in filled]
    weights = [299 / 1000, 587 / 1000, 114 / 1000]
    expected = sorted(round(float(255 * colour @ weights)) for colour in over_white)
    assert min(np.diff(expected)) >= 7
    for grey in expected:
        assert greys & {grey - 1, grey, grey + 1}
    plt.close(ax.figure)
