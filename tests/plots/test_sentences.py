"""Figures of sentence tests."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.sentences import FAST, own, several, toy

from bayesbias.core.errors import InputError
from bayesbias.plots.saving import save_figures
from bayesbias.plots.sentences import plot_seat, plot_seat_contrasts
from bayesbias.studies.sentences.seat import seat


# -- what it says ----------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def result():
    return several()


# -- figures ---------------------------------------------------------------------------------------
@pytest.mark.slow
def test_the_figure_has_a_cell_for_every_test_and_hatches_what_is_missing(result):
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    both = seat(["weat7", "sent-weat7"], ["minilm-static", toy], seed=shifted(1), cache=False)
    import dataclasses

    both = dataclasses.replace(both, frame=both.frame.iloc[:-1])
    ax = plot_seat(both, ax=Figure(figsize=(7, 4)).subplots())
    cells = [p for p in ax.patches if isinstance(p, Rectangle)]
    assert len(cells) == 4
    assert [p.get_hatch() for p in cells].count("////") == 1
    said = {text.get_text() for text in ax.texts}
    assert {f"{size:.2f}".replace("-", "−") for size in both.frame["effect_size"]} <= said
    assert [label.get_text() for label in ax.get_yticklabels()] == ["word", "sent"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["minilm-static", "toy"]
    # A bar is as long as its effect, to its side: what is not significant is not alike.
    bars = [line.get_xdata() for line in ax.lines if line.get_label() == "_effect"]
    lengths = np.array([bar[1] - bar[0] for bar in bars])
    sizes = both.frame["effect_size"][both.named().index].to_numpy()
    np.testing.assert_allclose(lengths / lengths[0], sizes / sizes[0])
    rings = [line for line in ax.lines if line.get_label() == "_words"]
    frame = both.frame
    assert len(rings) == ((frame["p_value"] < 0.01) & (frame["p_words"] >= 0.01)).sum() >= 1
    dark = [p for p in cells if p.get_facecolor()[2] < 0.6]
    assert len(dark) == (frame["p_holm"] < 0.01).sum()
    with pytest.raises(InputError, match="alpha"):
        plot_seat(both, alpha=2)


@pytest.mark.parametrize("encoders", [1, 3, 9])
@pytest.mark.slow
def test_few_encoders_fill_the_figure_and_every_effect_is_seen(result, encoders):
    import dataclasses

    import pandas as pd
    from matplotlib.figure import Figure

    one = result.frame[result.frame["model"] == result.frame["model"].iloc[0]]
    frames = [
        one.assign(model=f"encoder {i}", effect_size=one["effect_size"] - 0.2 * i) for i in range(encoders)
    ]
    many = dataclasses.replace(result, frame=pd.concat(frames, ignore_index=True))
    figure = Figure(figsize=(7, 5), layout="constrained")
    ax = plot_seat(many, ax=figure.subplots())
    figure.draw_without_rendering()
    assert ax.get_xlim() == (0, encoders)
    assert ax.bbox.width > 0.5 * figure.bbox.width
    bars = {float(line.get_ydata()[0]) for line in ax.lines if line.get_label() == "_effect"}
    assert len(bars) == len(one)
    ends = [line.get_xdata()[1] for line in ax.lines if line.get_label() == "_effect"]
    assert all(0 <= end <= encoders for end in ends)
    assert len(ends) == len(many.frame)


@pytest.mark.slow
def test_an_effect_beyond_2_is_drawn_to_its_end_and_the_axis_says_so(result):
    import dataclasses

    from matplotlib.figure import Figure

    frame = result.frame[result.frame["model"] == result.frame["model"].iloc[0]]
    sizes = [2.1, *np.linspace(-0.5, 1.0, len(frame) - 1)]
    ax = plot_seat(
        dataclasses.replace(result, frame=frame.assign(effect_size=sizes)),
        ax=Figure(figsize=(7, 5)).subplots(),
    )
    bars = [line.get_xdata() for line in ax.lines if line.get_label() == "_effect"]
    lengths = np.array([bar[1] - bar[0] for bar in bars])
    assert lengths.max() / np.sort(lengths)[-2] == pytest.approx(2.1 / sorted(sizes)[-2])
    assert [tick.get_text() for tick in ax.get_xticklabels(minor=True)] == ["−2.1", "0", "2.1"]


@pytest.mark.slow
def test_a_test_of_words_beside_sentences_shows_its_share_of_words(result):
    import dataclasses

    from matplotlib.figure import Figure

    frame = result.frame[result.frame["model"] == result.frame["model"].iloc[0]].head(2)
    drawn = {"contrast": -0.04, "hpdi_low": -0.07, "hpdi_high": -0.01, "converged": True}
    shares = {
        "share_word": [0.78, 0.45], "share_template": [np.nan, 0.44], "share_sentence": [np.nan, 0.01],
        "share_residual": [0.22, 0.1],
    }  # fmt: skip
    named = {"test": ["one", "two"], "level": ["word", "sentence"]}
    both = dataclasses.replace(
        result, frame=frame.assign(**drawn, **shares, **named), provenance={**result.provenance, "prob": 0.89}
    )
    ax = plot_seat_contrasts(both, ax=Figure(figsize=(7, 4)).subplots())
    said = {text.get_text() for text in ax.figure.findobj(lambda artist: hasattr(artist, "get_text"))}
    assert {"78%", "45%", "44%"} <= said
    assert "nan%" not in said


@pytest.mark.claim
def test_contrasts_are_drawn_where_they_were_fitted(result, tmp_path):
    from matplotlib.figure import Figure

    with pytest.raises(InputError, match="no model was fitted"):
        plot_seat_contrasts(result)
    fitted = seat(
        [own("word"), own()], [toy, "minilm-static"], seed=shifted(1), bayes=True, cache=False, **FAST
    )
    with pytest.raises(InputError, match="several encoders"):
        plot_seat_contrasts(fitted)
    with pytest.raises(InputError, match="did you mean 'toy'"):
        plot_seat_contrasts(fitted, encoder="toi")
    ax = plot_seat_contrasts(fitted, encoder="toy", ax=Figure(figsize=(7, 4)).subplots())
    mine = fitted.frame[fitted.frame["model"] == "toy"]
    drawn = [list(line.get_xdata()) for line in ax.lines if line.get_label() == "_interval"]
    assert drawn == mine[["hpdi_low", "hpdi_high"]].values.tolist()
    files = save_figures(fitted, tmp_path / "figures")
    assert [path.name for path in files] == [
        f"{name}.{kind}"
        for name in ("seat", "seat_contrasts_1", "seat_contrasts_2")
        for kind in ("png", "svg")
    ]
    assert files[0].read_bytes() == save_figures(fitted, tmp_path / "again")[0].read_bytes()
    with pytest.raises(InputError, match="unknown figure format"):
        save_figures(fitted, tmp_path, formats=("gif",))
