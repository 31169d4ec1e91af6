"""Every figure shows the numbers of its result."""

import dataclasses
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")
from helpers.changes import NONE, changed, table
from helpers.draws import made_up_comparison
from helpers.every_figure import DATA
from helpers.figures import intervals, marks, row_of
from helpers.fits import made_up, pairs
from helpers.sweeps import made_up_sweep
from helpers.tables import with_covariates
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import bayesbias as bb
from bayesbias.core.errors import FitError, InputError
from bayesbias.tables.reading import as_pair_table


def drawn(name: str, **settings: Any) -> tuple[Any, Any]:
    """Return a result and the Axes of its figure."""
    plot, data = DATA[name]
    result = data()
    return result, plot(result, ax=Figure(figsize=(7, 7)).subplots(), **settings)


def assert_drawn(ax: Any, frame: pd.DataFrame, label: str = "_mean") -> None:
    """Means and intervals are those of a frame."""
    np.testing.assert_allclose(marks(ax, label), sorted(frame["mean"]))
    ends = sorted(zip(frame["hpdi_low"], frame["hpdi_high"], strict=True))
    np.testing.assert_allclose(intervals(ax), ends)


def test_connections() -> None:
    fit, ax = drawn("plot_connections", prob=0.7)
    assert_drawn(ax, fit.summary(0.7))
    assert list(row_of(ax)) == fit.summary()["connection"].tolist()


@pytest.mark.parametrize("level", ["overall", "class", "word"])
def test_contrasts(level: str) -> None:
    fit, ax = drawn("plot_contrasts", prob=0.7, rope=0.05, level=level)
    frame = fit.contrasts(0.7, 0.05)
    frame = frame[frame["level"] == level]
    if level == "word":
        frame = frame[frame["contrast"] == "associated - different"]
    assert_drawn(ax, frame, ("_population", "_listed_words"))  # type: ignore[arg-type]
    listed = frame.loc[frame["estimand"] == "listed_words", "mean"]
    np.testing.assert_allclose(marks(ax, "_listed_words"), sorted(listed))
    (band,) = [p for p in ax.patches if p.get_label() == "_rope"]
    ends = band.get_extents().transformed(ax.transData.inverted()).intervalx
    assert [round(float(x), 9) for x in ends] == [-0.05, 0.05]
    texts = [text.get_text() for text in ax.texts]
    for p in frame["p_below_zero"]:
        assert (">.999" if p > 0.999 else "<.001" if p < 0.001 else f"{p:.3f}"[1:]) in texts


def test_chosen_contrasts_and_wrong_ones() -> None:
    wanted = ["human - neutral", "associated - human"]
    fit, ax = drawn("plot_contrasts", level="word", contrasts=wanted)
    heads = [t.get_text() for t in ax.get_yticklabels() if t.get_fontweight() == "bold"]
    assert heads[0] == "associated − human, men"
    assert len(heads) == 4
    for settings, said in (
        ({"contrasts": ["associated - humen"]}, "Did you mean 'associated - human'"),
        ({"level": "words"}, "overall, class or word"),
    ):
        with pytest.raises(InputError, match=said):
            bb.plot_contrasts(fit, **settings)
    with pytest.raises(InputError, match="expected a fit"):
        bb.plot_contrasts("weat7")  # type: ignore[arg-type]


def test_contrasts_of_several_fits_stand_side_by_side() -> None:
    fit = DATA["plot_contrasts"][1]()
    other = made_up(pairs(seed=3))
    fits = {"before": fit, "after": other}
    ax = bb.plot_contrasts(fits, ax=Figure(figsize=(7, 7)).subplots())
    frames = {name: each.contrasts() for name, each in fits.items()}
    colors = set()
    for name, frame in frames.items():
        own = frame[(frame["level"] == "overall") & (frame["estimand"] == "population")]
        (line,) = [line for line in ax.lines if line.get_label() == f"_{name}"]
        np.testing.assert_allclose(np.sort(line.get_xdata()), np.sort(own["mean"]))
        np.testing.assert_allclose(ax.data.loc[ax.data["fit"] == name, "mean"], own["mean"])
        colors.add(line.get_color())
    assert len(colors) == 2
    assert [t.get_text() for t in ax.get_legend().get_texts()][:2] == ["before", "after"]
    assert "2 fits" in ax.data.attrs["note"]
    ax = bb.plot_contrasts([fit, other, fit], level="class", ax=Figure().subplots())
    named = [t.get_text() for t in ax.get_legend().get_texts()]
    assert len(set(named[:3])) == 3
    assert ax.data["fit"].nunique() == 3
    sentiment = DATA["plot_professions"][1]()
    for wrong, said in (([fit, "weat7"], "expected a fit"), ([], "expected a fit")):
        with pytest.raises(InputError, match=said):
            bb.plot_contrasts(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        bb.plot_contrasts([fit, sentiment])


def test_contrasts_of_a_table_without_protected_words() -> None:
    fit = DATA["plot_covariate"][1]().fit
    ax = bb.plot_contrasts(fit, ax=Figure().subplots())
    frame = fit.contrasts()
    frame = frame[frame["level"] == "overall"]
    assert_drawn(ax, frame, ("_population", "_listed_words"))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="overall or target"):
        bb.plot_contrasts(fit, level="word")


def test_means_of_the_listed_words_are_called_observed() -> None:
    for name in ("plot_connections", "plot_words"):
        _, ax = drawn(name, estimand="listed_words")
        texts = [ax.data.attrs["note"], *(t.get_text() for t in ax.get_legend().get_texts())]
        assert "observed mean" in " ".join(texts)
        assert "posterior mean" not in " ".join(texts)


def test_words_show_every_pair_and_every_mean() -> None:
    fit, ax = drawn("plot_words", prob=0.8)
    points = np.concatenate(
        [c.get_offsets()[:, 0] for c in ax.collections if c.get_label() != "_interval"]
    )
    np.testing.assert_allclose(np.sort(points), np.sort(fit.table["distance"]))
    assert_drawn(ax, fit.words(0.8))
    rows = row_of(ax)
    for which in fit.table["connection"].unique():
        own = fit.table[fit.table["connection"] == which]
        (cloud,) = [c for c in ax.collections if c.get_label() == f"_{which}"]
        at = own["protected_word"].astype(str).map(rows)
        np.testing.assert_array_less(abs(cloud.get_offsets()[:, 1] - at), 0.5)
    with pytest.raises(InputError, match="Did you mean 'her'"):
        bb.plot_words(fit, words=["herz"])


def test_priors_and_posterior() -> None:
    fit, ax = drawn("plot_priors")
    curves = ax.data.groupby(["row", "curve"])
    for (_, curve), own in curves:
        area = float(np.trapezoid(own["density"], own["x"]))
        assert area == pytest.approx(1.0, abs=0.15), curve
    posterior = ax.data[ax.data["curve"] == "posterior of the difference"]
    mean = np.average(posterior["x"], weights=posterior["density"])
    row = fit.contrasts(level="overall", estimand="population", detail=True).iloc[0]
    assert mean == pytest.approx(row["mean"], abs=0.1 * row["sd"] + 1e-3)
    shares = ax.data.groupby("row")["impossible"].max().dropna()
    assert len(shares) == 4
    assert shares.between(0, 1).all()


@pytest.mark.parametrize("name", ["plot_ppc", "plot_ppc of sentiment"])
def test_predictive_curves(name: str) -> None:
    fit, ax = drawn(name, replicates=10)
    column = "connection" if name == "plot_ppc" else "classifier"
    assert len(ax.lines) == 11 * fit.table[column].nunique()
    observed = ax.data[ax.data["table"] == 0]
    for value, own in observed.groupby(column):
        mean = np.average(own["x"], weights=own["density"])
        rows = fit.table[fit.table[column].astype(str) == value]
        assert mean == pytest.approx(rows[fit.spec.outcome].mean(), abs=0.02)


def test_slopes_of_a_fit() -> None:
    fit, ax = drawn("plot_slopes", prob=0.6)
    frame = fit.slopes(0.6)
    frame = frame[frame["level"] != "word"]
    assert_drawn(ax, frame, "_slope")
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["year", *(name.replace(" - ", " − ") for name in frame["of"])]
    with pytest.raises(FitError, match="expected a model with slopes"):
        bb.plots.plot_slopes(made_up(with_covariates(pairs())))


def test_frequencies_and_contrasts_at_equal_frequency() -> None:
    fit, ax = drawn("plot_frequencies")
    words = pd.DataFrame(fit.provenance["frequency"]["words"])
    np.testing.assert_allclose(marks(ax, "_words"), sorted(words["log_frequency"]))
    fit, ax = drawn("plot_frequency_contrasts")
    frame = pd.DataFrame(fit.provenance["frequency"]["contrasts"])
    np.testing.assert_allclose(marks(ax, "_without"), sorted(frame["without_mean"]))
    ends = [*zip(frame["without_low"], frame["without_high"], strict=True)]
    ends += [*zip(frame["with_low"], frame["with_high"], strict=True)]
    np.testing.assert_allclose(intervals(ax), sorted(ends))


def test_changes_are_arrows_from_the_original_mean() -> None:
    found, ax = drawn("plot_changes", method="method 2", prob=0.8)
    frame = found.changes(0.8, method="method 2", estimand="population")
    frame = frame[frame["level"] == "word"]
    start = found.original.words(0.8, "population").set_index(["protected_word", "connection"])[
        "mean"
    ]
    begin = start.loc[list(zip(frame["name"], frame["connection"], strict=True))].to_numpy()
    np.testing.assert_allclose(marks(ax, "_original"), np.sort(begin))
    ends = zip(begin + frame["hpdi_low"], begin + frame["hpdi_high"], strict=True)
    np.testing.assert_allclose(intervals(ax), sorted(ends))
    arrows = [t for t in ax.texts if getattr(t, "arrow_patch", None)]
    np.testing.assert_allclose(sorted(t.xy[0] for t in arrows), np.sort(begin + frame["mean"]))


def test_pairs_before_and_after() -> None:
    found, ax = drawn("plot_raw_pairs")
    own = found.methods["method 1"].pairs
    points = np.concatenate([c.get_offsets() for c in ax.collections])
    np.testing.assert_allclose(
        sorted(map(tuple, points)), sorted(own[["original", "debiased"]].itertuples(index=False))
    )


def test_controls_and_their_regression() -> None:
    found, ax = drawn("plot_controls")
    own = found.methods["method 1"].pairs
    own = own[own["connection"].isin(["human", "neutral"])]
    assert sum(len(c.get_offsets()) for c in ax.collections) == len(own)
    (line,) = [line for line in ax.lines if line.get_label() == "_slope"]
    slope = np.diff(line.get_ydata()) / np.diff(line.get_xdata())
    assert slope[0] == pytest.approx(np.polyfit(own["original"], own["debiased"], 1)[0], abs=1e-6)
    before = table()
    bare = before[before["connection"].isin(["associated", "different"])]
    after = as_pair_table(changed(before, NONE, 1).loc[bare.index])
    with pytest.raises(FitError, match="no control words"):
        bb.plots.plot_controls(made_up_comparison(as_pair_table(bare), {"a": after}))


def test_corpora_and_their_change() -> None:
    found, ax = drawn("plot_corpora", prob=0.8)
    frame = found.contrasts(0.8, estimand="population")
    frame = frame[(frame["contrast"] == "associated - different") & (frame["level"] != "word")]
    (change,) = [line for line in ax.lines if line.get_label() == "_mean"]
    np.testing.assert_allclose(change.get_xdata(), frame["mean"])


def test_replicates_below_what_is_pooled() -> None:
    found, ax = drawn("plot_replicates", prob=0.8)
    frame = found.contrasts(0.8)
    frame = frame[frame["level"] != "word"]
    first = frame["contrast"] == "associated - different"
    frame = frame[(frame["level"] == "overall") | first]
    assert sorted(marks(ax, "_pooled")) == pytest.approx(sorted(frame["mean"]))
    assert len(marks(ax, "_sets")) == 3 * len(frame)
    ends = {(round(a, 9), round(b, 9)) for a, b in intervals(ax)}
    assert ends == set(zip(frame["hpdi_low"].round(9), frame["hpdi_high"].round(9), strict=True))


def test_ranking() -> None:
    found, ax = drawn("plot_ranking", prob=0.8, rope=0.01)
    frame = found.ranking(0.8, 0.01)
    assert list(row_of(ax)) == ["original", *frame["method"]]
    assert set(frame["gap"].round(9)) <= {round(x, 9) for x in marks(ax, "_mean")}
    ends = {(round(a, 9), round(b, 9)) for a, b in intervals(ax)}
    assert set(zip(frame["gap_low"].round(9), frame["gap_high"].round(9), strict=True)) <= ends


def test_seat_bars_and_shades() -> None:
    found, ax = drawn("plot_seat")
    bars = [line.get_xdata() for line in ax.lines if line.get_label() == "_effect"]
    lengths = np.array([bar[1] - bar[0] for bar in bars])
    sizes = found.frame["effect_size"].to_numpy()
    np.testing.assert_allclose(lengths / lengths[0], sizes / sizes[0])
    (cells,) = [c for c in ax.collections if c.get_array() is not None]
    frame = found.frame
    steps = np.where(frame["p_holm"] < 0.01, 2, (frame["p_value"] < 0.01).astype(int))
    assert cells.get_array().ravel().tolist() == steps.tolist()
    rings = [t for t in ax.texts if t.get_label() == "_words"]
    assert len(rings) == ((frame["p_value"] < 0.01) & (frame["p_words"] >= 0.01)).sum()
    less = dataclasses.replace(
        found, frame=pd.concat([frame, frame[:1].assign(model="toy")], ignore_index=True)
    )
    ax = bb.plots.plot_seat(less, ax=Figure().subplots())
    (cells,) = [c for c in ax.collections if c.get_array() is not None]
    assert cells.get_array()[1, 1] == 3  # not run


def test_seat_contrasts() -> None:
    found, ax = drawn("plot_seat_contrasts")
    frame = found.frame.rename(columns={"contrast": "mean"})
    assert_drawn(ax, frame, ("_word", "_sent"))  # type: ignore[arg-type]
    assert {"40%", "20%", "word", "template"} <= {text.get_text() for text in ax.texts}
    with pytest.raises(InputError, match="no model was fitted"):
        bb.plots.plot_seat_contrasts(
            dataclasses.replace(found, frame=found.frame.drop(columns="contrast"))
        )


def test_covariate_points_line_and_names() -> None:
    found = DATA["plot_covariate"][1]()
    frame = found.frame.assign(off_line=found.frame.index == 6)
    found = dataclasses.replace(found, frame=frame)
    ax = bb.plots.plot_covariate(found, ax=Figure(figsize=(7, 7)).subplots())
    (line,) = [line for line in ax.lines if line.get_label() == "_line"]
    at = found.predict([0.0, 100.0])
    assert np.interp(50, *line.get_data()) == pytest.approx(at["line"].mean())
    off = found.frame["off_line"].to_numpy()
    points = {c.get_label(): c.lines[0].get_ydata() for c in ax.containers}
    np.testing.assert_allclose(points["_off"], found.frame["association"][off])
    np.testing.assert_allclose(points["_on"], found.frame["association"][~off])
    texts = {t.get_text(): t.get_fontweight() for t in ax.texts}
    assert {texts.get(name) for name in found.frame["target"][off]} == {"bold"}


def test_correlations() -> None:
    found, ax = drawn("plot_correlations")
    known, true = found.published, found.true_correlation
    assert intervals(ax) == sorted([(known.low, known.high), (true.hpdi_low, true.hpdi_high)])
    assert marks(ax, "_mean") == sorted([known.r, true.mean])


@pytest.mark.parametrize(
    ("name", "level"), [("plot_professions", "profession"), ("plot_noun_pairs", "noun_pair")]
)
def test_differences_of_sentiment(name: str, level: str) -> None:
    fit, ax = drawn(name, prob=0.8)
    frame = fit.means(level, 0.8, "population")
    assert_drawn(ax, frame, "_population")
    np.testing.assert_allclose(
        marks(ax, "_observed"), np.sort(fit.means(level, estimand="listed_words")["mean"])
    )
    assert ax.get_yticklabels()[0].get_text()


def test_genders_and_earnings() -> None:
    fit, ax = drawn("plot_genders")
    means = fit.table.groupby("profession", observed=True)["p_male"].mean()
    np.testing.assert_allclose(marks(ax, "_professions"), np.sort(means))
    fit, ax = drawn("plot_earnings")
    (points,) = ax.containers
    means = (
        fit.table.groupby("profession", observed=True)[["p_male", "p_female"]].mean().mean(axis=1)
    )
    assert set(points.lines[0].get_ydata().astype(float).round(9)) <= set(means.round(9))
    assert "Pearson's r" in ax.data.attrs["note"]
    several = pd.concat([fit.table, fit.table.assign(classifier="second")])
    with pytest.raises(InputError, match="sentiment_analysis"):
        bb.plots.plot_earnings(fit.table)
    with pytest.raises(InputError, match="expected one classifier"):
        bb.plots.plot_genders(several, ax=Figure().subplots())
    assert len(bb.plots.plot_genders(several).figure.axes) == 2
    mpl.pyplot.close("all")


def test_cosines_and_dimensions() -> None:
    shapes, ax = drawn("plot_cosines")
    for line, shape in zip(
        [line for line in ax.lines if line.get_label() in shapes], shapes.values(), strict=True
    ):
        x, y = line.get_data()
        assert np.average(x, weights=y) == pytest.approx(shape.mean_cosine, abs=0.01)
    shapes, ax = drawn("plot_dimensions")
    for line, shape in zip(
        [line for line in ax.lines if line.get_label() in shapes], shapes.values(), strict=True
    ):
        assert line.get_ydata()[-1] == pytest.approx(shape.contributions.sum())


CELLS = [
    {
        "embedding": "wide",
        "standardized": -0.05,
        "distance": -0.2,
        "protected_listed": 10,
        "protected_found": 4,
    },
    {"embedding": "heavy", "standardized": None},
    {"embedding": "early", "standardized": -0.8, "distance": -0.1, "trusted": False},
    {"embedding": "bare", "standardized": -0.9, "unit": "sd of associated and different pairs"},
]


def test_sweep() -> None:
    result = made_up_sweep(CELLS)
    ax = bb.plots.plot_sweep(result, ax=Figure().subplots())
    frame = result.compared().dropna(subset="standardized")
    names = {
        "standardized": "mean",
        "standardized_low": "hpdi_low",
        "standardized_high": "hpdi_high",
    }
    assert_drawn(ax, frame.drop(columns="mean", errors="ignore").rename(columns=names))
    assert list(row_of(ax)) == ["bare*", "early", "wide†"]
    hollow = [
        line
        for line in ax.lines
        if line.get_label() == "_mean" and to_hex(line.get_markerfacecolor()) == "#ffffff"
    ]
    assert [list(line.get_xdata()) for line in hollow] == [[-0.8]]
    lists = [{**cell, "wordlist": name} for name in ("b.toml", "a.toml") for cell in CELLS[2:3]]
    ax = bb.plots.plot_sweep(made_up_sweep(lists), ax=Figure().subplots())
    assert {"a.toml", "b.toml"} <= set(row_of(ax))
    with pytest.raises(InputError, match="no cell has a contrast"):
        bb.plots.plot_sweep(made_up_sweep([CELLS[1]]))


def test_papers_simulation_and_false_alarms() -> None:
    case, ax = drawn("plot_paper")
    bars = ax.data[ax.data["formula"] == "as coded"]
    assert ((bars["high"] - bars["low"]) * bars["density"]).sum() == pytest.approx(1)
    assert marks(ax, "_single draw") == sorted(draw["bias"] for draw in case.single.values())
    grid, ax = drawn("plot_false_alarms")
    own = grid[
        (grid["question"] == "classes")
        & (grid["method"] == "weat")
        & (grid["pair_sd"] == grid["pair_sd"].max())
    ]
    (line,) = [line for line in ax.lines if line.get_label() == "_classes weat"]
    assert line.get_ydata().tolist() == own.sort_values("n_words")["alarms"].tolist()
    with pytest.raises(InputError, match="pair_sd"):
        bb.plots.plot_false_alarms(grid, pair_sd=3)
