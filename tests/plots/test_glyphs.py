"""Words in scripts that no font has: one warning names a font."""

import warnings

import matplotlib as mpl
import pytest

mpl.use("Agg")
from helpers.draws import made_up_fit
from helpers.figures import simulated
from matplotlib import font_manager
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.plots import save_figure
from bayesbias.plots.glyphs import missing_glyphs_once
from bayesbias.tables.reading import load_distances

CUNEIFORM = "\N{CUNEIFORM SIGN A}\N{CUNEIFORM SIGN AN}"  # in no font of matplotlib


def figure_with(*words):
    figure = Figure()
    for place, word in enumerate(words):
        figure.text(0.2 * place, 0.5, word)
    return figure


def only_fonts_of_matplotlib(monkeypatch):
    entries = font_manager.fontManager.ttflist
    shipped = [entry for entry in entries if str(mpl.get_data_path()) in entry.fname]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", shipped)


def test_a_saved_figure_warns_once_of_all_characters(monkeypatch, tmp_path):
    only_fonts_of_matplotlib(monkeypatch)
    words = ("\u4f60\u597d", CUNEIFORM, "\u4f60")
    with pytest.warns(UserWarning, match="fonts in use") as caught:
        save_figure(figure_with(*words), tmp_path / "a.png")
    (said,) = [str(warning.message) for warning in caught]
    assert said.startswith("figures: the fonts in use lack 4 characters (\u4f60, \u597d, ")
    assert "Noto Sans C" in said  # CJK or Cuneiform: as many characters are of each


@pytest.mark.parametrize(
    ("word", "font"),
    [
        ("\u4f60\u597d", "Noto Sans CJK SC"),
        ("\ud55c\uad6d", "Noto Sans CJK SC"),
        (CUNEIFORM, "Noto Sans Cuneiform"),
        ("\U0001f9d1", "Noto Emoji"),
    ],
)
def test_without_a_font_one_of_the_script_is_named(monkeypatch, tmp_path, word, font):
    only_fonts_of_matplotlib(monkeypatch)
    with pytest.warns(UserWarning, match=f"Install a font with them, such as {font}, and"):
        save_figure(figure_with(word), tmp_path / "a.png")


def test_an_installed_font_with_the_characters_is_named(tmp_path):
    """Of the fonts that matplotlib brings, DejaVu Sans lacks what STIX has in private places."""
    character = "\ue3c8"
    with pytest.warns(UserWarning, match='Set "font.family: STIX'):
        save_figure(figure_with(character), tmp_path / "a.png")


def test_other_warnings_of_a_block_pass():
    with pytest.warns(RuntimeWarning, match="something else") as caught, missing_glyphs_once():
        warnings.warn("something else", RuntimeWarning, stacklevel=1)
    assert len(caught) == 1


@pytest.mark.slow
def test_a_page_and_a_run_folder_warn_once(monkeypatch, tmp_path):
    only_fonts_of_matplotlib(monkeypatch)
    words = {"men": ["he", CUNEIFORM], "women": ["she", "\u4f60"]}
    fit = made_up_fit(load_distances(simulated(words), name="simulated table"))
    with pytest.warns(UserWarning, match="fonts in use") as caught:
        bb.write_report(fit, tmp_path / "page.html")
    (said,) = [str(warning.message) for warning in caught]
    assert "lack 3 characters" in said
    with pytest.warns(UserWarning, match="fonts in use") as caught:
        bb.save_run(fit, tmp_path / "run", figures=["png", "svg"])
    assert [str(warning.message) for warning in caught] == [said]
