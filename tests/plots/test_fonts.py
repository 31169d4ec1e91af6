"""Scripts that the usual font lacks: another font stands in, or it is said which one is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

mpl.use("Agg")
from helpers.draws import made_up_fit
from helpers.figures import heads_of, simulated
from matplotlib import font_manager
from matplotlib.figure import Figure

from bayesbias.plots import fonts
from bayesbias.plots.style import plain_names
from bayesbias.plots.words import plot_words

UNKNOWN = "\U000f1234"  # for private use: no font of a machine is asked for it in earnest


def font_of(char: str, folder: Path) -> str:
    """Write a font that has one character, a square, and return its family."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for corner in ((100, 700), (800, 700), (800, 0)):
        pen.lineTo(corner)
    pen.closePath()
    square, name = pen.glyph(), "Made Up For A Test"
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "square"])
    builder.setupCharacterMap({ord(char): "square"})
    builder.setupGlyf({".notdef": square, "square": square})
    builder.setupHorizontalMetrics({".notdef": (900, 0), "square": (900, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": name, "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, usWeightClass=400)
    builder.setupPost()
    builder.save(folder / "made-up.ttf")
    font_manager.fontManager.addfont(folder / "made-up.ttf")
    return name


@pytest.fixture
def few_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Know the fonts that matplotlib brings, and no others."""
    own = [e for e in font_manager.fontManager.ttflist if str(mpl.get_data_path()) in e.fname]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [])
    for cached in (fonts._file_of, fonts._has, fonts._stand_in, fonts._with_new_fonts):
        cached.cache_clear()


def test_a_font_of_the_machine_stands_in(tmp_path: Path, few_fonts: None, recwarn: Any) -> None:
    family = font_of(UNKNOWN, tmp_path)
    fit = made_up_fit(simulated({f"{UNKNOWN} men": ["he", f"him {UNKNOWN}"], "women": ["she", "her"]}))
    ax = plot_words(fit, ax=Figure(figsize=(7, 5), layout="constrained").subplots())
    usual = mpl.rcParams["font.family"]
    chosen = {label.get_text(): label.get_fontfamily() for label in (*ax.get_yticklabels(), *heads_of(ax))}
    assert chosen[f"him {UNKNOWN}"] == chosen[f"{UNKNOWN} men"] == [*usual, family]
    assert chosen["he"] == chosen["women"] == usual
    assert len(recwarn) == 0


@pytest.mark.filterwarnings("ignore:Matplotlib currently does not support")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("男人", "Noto Sans CJK"),
        ("남자", "Noto Sans CJK"),
        ("आदमी", "Noto Sans Devanagari"),
        (UNKNOWN, "Noto Sans"),
    ],
)
def test_what_no_font_has_is_said_with_the_font_that_has(text: str, wanted: str, few_fonts: None) -> None:
    fit = made_up_fit(simulated({"men": ["he", text], "women": ["she", "her"]}))
    with pytest.warns(UserWarning, match=f"no font on this machine has .*; install {wanted}, or") as caught:
        plot_words(fit, ax=Figure(figsize=(7, 5), layout="constrained").subplots())
    # Matplotlib 3.10 has a word of its own on some scripts.
    ours = [
        warning for warning in caught if "Matplotlib currently does not support" not in str(warning.message)
    ]
    assert ours[0].filename == __file__
    assert len(ours) == 1


def test_long_names_stay_apart_and_keep_both_ends() -> None:
    long = [f"intergovernmental panel on climate change number {i} of the groups" for i in range(16)]
    shown = plain_names(long)
    assert len(set(shown)) == 16
    assert max(map(len, shown)) <= 32
    for name, short in zip(long, shown, strict=True):
        head, tail = short.split("…")
        assert name.startswith(head)
        assert name.endswith(tail)
        assert len(head) >= 3 <= len(tail)
    # Where no cut of that length keeps names apart, they are cut later.
    middle = ["a" * 60 + letter + "b" * 60 for letter in "xy"]
    assert len(set(plain_names(middle))) == 2
    # Rows of one name keep it, and short names are as they were.
    assert plain_names(["word", "sent", "word", "$x$"]) == ["word", "sent", "word", r"\$x\$"]
