"""What a fit answers, held to plain numpy on its draws; saving, loading, and trouble said in words."""

from __future__ import annotations

import dataclasses
import errno
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from helpers.tables import grid

from bayesbias.basics.errors import FitError, InputError
from bayesbias.findings.of_result import finding, findings_of
from bayesbias.inference.diagnostics import describe_draws, shortest_interval
from bayesbias.inference.estimands import CONTRASTS, PROB, ROPE
from bayesbias.inference.fitting import fit, load_fit
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.prediction import compare_models, loo
from bayesbias.models.loading import load_model, parse_model
from bayesbias.tables.distances import distance_table
from bayesbias.words.pairing import CONNECTIONS

SETTINGS = {"draws": 200, "tune": 200, "chains": 2, "seed": shifted(3)}
WORDS = {
    "a": {"protected": ["a1", "a2", "a3"], "attributes": ["kind", "rude", "calm"]},
    "b": {"protected": ["b1", "b2"], "attributes": ["late", "loud"]},
}
CONTROLS = {"human": ["hand", "head", "neck"], "neutral": ["door", "lamp", "roof", "leaf"]}


@pytest.fixture(scope="session")
def pairs():
    """A small table in which stereotypes are nearer, one word is missing and classes differ in size."""
    rng = np.random.default_rng(8)
    names = [w for group in WORDS.values() for key in group.values() for w in key]
    names += [w for group in CONTROLS.values() for w in group]
    vectors = {word: rng.normal(size=12) for word in names if word != "roof"}
    for group in WORDS.values():
        for word in group["protected"]:
            for attribute in group["attributes"]:
                vectors[attribute] = vectors[attribute] + 0.3 * vectors[word]
    return distance_table(vectors, WORDS, controls=CONTROLS)


@pytest.fixture(scope="session")
def crossed(pairs) -> BiasFit:
    return fit(pairs, "crossed", **SETTINGS)


@pytest.fixture(scope="session")
def additive(pairs) -> BiasFit:
    return fit(pairs, "additive", **SETTINGS)


@pytest.fixture(scope="session")
def hierarchical(pairs) -> BiasFit:
    return fit(pairs, "hierarchical", **SETTINGS)


def edited(result: BiasFit, **changes) -> BiasFit:
    """A copy of a fit whose draws were changed in place by a function per parameter."""
    posterior = result.tree["posterior"].to_dataset().copy(deep=True)
    for name, change in changes.items():
        change(posterior[name].values)
    tree = result.tree.copy()
    tree["posterior"] = xr.DataTree(posterior)
    return BiasFit(tree=tree, table=result.table, spec=result.spec, provenance=result.provenance)


# -- an independent calculation --------------------------------------------------------------------


def brute_hpdi(x: np.ndarray, prob: float) -> tuple[float, float]:
    """The shortest interval between two draws that holds `prob` of them."""
    x = np.sort(x)
    inside = int(np.floor(prob * len(x)))
    best = int(np.argmin(x[inside:] - x[: len(x) - inside]))
    return x[best], x[best + inside]


def fitted(result: BiasFit) -> np.ndarray:
    """The mean of every row under every draw, from labels, shape (draws, rows)."""
    draws, coords = result.draws(), result.design.coords
    columns = []
    for _, row in result.table.iterrows():
        at = {dim: labels.index(row[dim]) for dim, labels in coords.items()}
        w, k, a = at["protected_word"], at["connection"], at["attribute"]
        if result.spec.name == "additive":
            columns.append(draws["m"][:, w] + draws["co"][:, k])
        elif result.spec.name == "hierarchical":
            columns.append(draws["c"][:, w, k])
        else:
            columns.append(draws["c"][:, w, k] + draws["v"][:, a])
    return np.stack(columns, axis=1)


def rows_of(result: BiasFit, level: str, name: str, connection: str) -> np.ndarray:
    table = result.table
    mine = (table["connection"] == connection).to_numpy()
    if level == "class":
        mine = mine & (table["protected_class"] == name).to_numpy()
    if level == "word":
        mine = mine & (table["protected_word"] == name).to_numpy()
    return mine


def by_hand(result: BiasFit, estimand: str, level: str, name: str, connection: str) -> np.ndarray:
    """Draws of one mean distance, straight from the definition of the two estimands."""
    mine = rows_of(result, level, name, connection)
    if estimand == "these_words" or result.spec.name == "additive":
        return fitted(result)[:, mine].mean(axis=1)
    draws, coords = result.draws(), result.design.coords
    k = coords["connection"].index(connection)
    if level == "overall":
        return draws["cbar"][:, k]
    words = result.table.loc[mine, "protected_word"]
    return np.mean([draws["c"][:, coords["protected_word"].index(w), k] for w in words], axis=0)


def assert_described(row, x: np.ndarray, prob: float) -> None:
    low, high = brute_hpdi(x, prob)
    assert row.mean == pytest.approx(x.mean(), abs=1e-12)
    assert row.sd == pytest.approx(x.std(ddof=1), abs=1e-12)
    assert (row.hpdi_low, row.hpdi_high) == pytest.approx((low, high), abs=1e-12)
    assert row.prob == prob


FITS = ["crossed", "hierarchical", "additive"]


@pytest.fixture
def result(request) -> BiasFit:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("result", FITS, indirect=True)
@pytest.mark.parametrize("estimand", ["population", "these_words"])
def test_summary_and_words_equal_the_definition(result, estimand):
    frame = result.summary(prob=0.8, estimand=estimand)
    assert frame["connection"].tolist() == list(CONNECTIONS)
    assert set(frame["estimand"]) == {estimand}
    assert frame["n_pairs"].tolist() == [13, 12, 15, 15]
    for row in frame.itertuples():
        assert_described(row, by_hand(result, estimand, "overall", "all", row.connection), 0.8)
    words = result.words(estimand=estimand)
    listed = [(w, k) for w in ("a1", "a2", "a3", "b1", "b2") for k in CONNECTIONS]
    assert list(zip(words["protected_word"], words["connection"], strict=True)) == listed
    assert words["protected_class"].tolist() == ["a"] * 12 + ["b"] * 8
    for row in words.itertuples():
        x = by_hand(result, estimand, "word", row.protected_word, row.connection)
        assert_described(row, x, PROB)


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_contrasts_equal_differences_of_the_same_draws(result):
    frame = result.contrasts(rope=0.05)
    levels = [("overall", "all"), *(("class", c) for c in "ab"), *(("word", w) for w in WORDS_LISTED)]
    expected = [
        (level, name, f"{a} - {b}", estimand)
        for estimand in ("population", "these_words")
        for level, name in levels
        for a, b in CONTRASTS
    ]
    columns = ["level", "name", "contrast", "estimand"]
    assert list(frame[columns].itertuples(index=False, name=None)) == expected
    for row in frame.itertuples():
        a, b = row.contrast.split(" - ")
        x = by_hand(result, row.estimand, row.level, row.name, a)
        x = x - by_hand(result, row.estimand, row.level, row.name, b)
        assert_described(row, x, PROB)
        assert row.p_below_zero == pytest.approx((x < 0).mean())
        assert row.p_in_rope == pytest.approx((np.abs(x) < 0.05).mean())
        assert row.rope == 0.05
    only = result.contrasts(estimand="these_words", rope=0.05)
    pd.testing.assert_frame_equal(
        only, frame[frame["estimand"] == "these_words"].reset_index(drop=True), check_exact=True
    )


WORDS_LISTED = ["a1", "a2", "a3", "b1", "b2"]


def test_the_default_rope_and_probability(crossed):
    frame = crossed.contrasts()
    assert (ROPE, PROB) == (0.02, 0.89)
    assert set(frame["rope"]) == {0.02}
    assert set(frame["prob"]) == {0.89}
    assert (crossed.contrasts(rope=10)["p_in_rope"] == 1).all()


def test_the_population_is_less_certain_than_the_list(crossed):
    frame = crossed.contrasts()
    overall = frame[frame["level"] == "overall"].set_index(["contrast", "estimand"])["sd"].unstack()
    assert (overall["population"] > overall["these_words"]).all()


def test_a_shared_attribute_effect_cancels_within_attributes(pairs):
    """Associated - different holds the same attribute words only where both classes are weighed alike."""
    result = fit(pairs, "crossed", **SETTINGS)
    draws = result.draws()
    shifted = edited(result, v=lambda v: v.__iadd__(1.0), c=lambda c: c.__isub__(1.0))
    # A shift between v and c changes no fitted mean, so nothing about these words; the population's mean at the
    # level of words follows c.
    a, b = (f.contrasts(estimand="these_words") for f in (result, shifted))
    np.testing.assert_allclose(a["mean"], b["mean"], atol=1e-12)
    words, moved = (f.words(estimand="population")["mean"] for f in (result, shifted))
    np.testing.assert_allclose(moved, words - 1, atol=1e-12)
    assert draws["v"].shape == (400, 11)


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_parameters_equal_the_draws(result):
    frame = result.parameters(prob=0.5)
    draws, coords = result.draws(), result.design.coords
    expected = []
    for name, parameter in result.spec.parameters.items():
        if "attribute" in parameter.dims:
            continue
        for entry in np.ndindex(draws[name].shape[1:]):
            label = ", ".join(coords[d][i] for d, i in zip(parameter.dims, entry, strict=True))
            expected.append((name, label, draws[name][(slice(None), *entry)]))
    assert list(zip(frame["name"], frame["index"], strict=True)) == [(n, i) for n, i, _ in expected]
    assert "v" not in set(frame["name"])
    for row, (_, _, x) in zip(frame.itertuples(), expected, strict=True):
        assert_described(row, x, 0.5)


FIXED_CENTRE = """
schema = 1
name = "fixed"
description = "cell means around a number"
[likelihood]
outcome = "distance"
distribution = "Normal"
mu = ["c"]
sigma = 0.2
[parameter.c]
dims = ["protected_word", "connection"]
distribution = "Normal"
mu = 0.9
sigma = "csd"
[parameter.csd]
distribution = "Exponential"
lam = 2
"""


def test_a_population_whose_mean_is_a_number_of_the_model_file(pairs):
    result = fit(pairs, parse_model(FIXED_CENTRE.encode(), "fixed.toml"), **SETTINGS)
    frame = result.summary()
    assert frame["mean"].tolist() == pytest.approx([0.9] * 4)
    assert frame["sd"].tolist() == pytest.approx([0] * 4, abs=1e-12)
    words = result.words().set_index(["protected_word", "connection"])
    at = result.design.coords["protected_word"].index("b1"), result.design.coords["connection"].index("human")
    assert words.loc[("b1", "human"), "mean"] == pytest.approx(result.draws()["c"][:, *at].mean())


def test_draws_join_chains_in_order(crossed):
    posterior = crossed.tree["posterior"]
    draws = crossed.draws()
    for name in crossed.spec.parameters:
        values = posterior[name].transpose("chain", "draw", ...).values
        np.testing.assert_array_equal(draws[name][:200], values[0])
        np.testing.assert_array_equal(draws[name][200:], values[1])


@pytest.mark.parametrize("prob", [0.5, 0.89, 0.95])
def test_hpdi_is_the_shortest_interval_not_the_central_one(prob):
    x = np.random.default_rng(2).exponential(size=(2, 500, 1))
    row = next(describe_draws(x, prob).itertuples())
    assert (row.hpdi_low, row.hpdi_high) == pytest.approx(brute_hpdi(x.ravel(), prob), abs=1e-12)
    assert row.hpdi_low < np.quantile(x, 0.01)
    assert row.hpdi_high < np.quantile(x, 0.5 + prob / 2)


@pytest.mark.parametrize("prob", [0.01, 0.5, 0.89, 0.999])
def test_the_shortest_interval_is_that_of_arviz_to_the_last_digit(prob):
    import arviz as az

    rng = np.random.default_rng(3)
    x = np.stack([rng.normal(size=(2, 203)), rng.exponential(size=(2, 203)), np.ones((2, 203))], axis=-1)
    expected = az.hdi(xr.Dataset({"x": (("chain", "draw", "row"), x)}), prob=prob)["x"].to_numpy()
    assert np.array_equal(np.stack(shortest_interval(x.reshape(-1, 3), prob), axis=-1), expected)
    assert shortest_interval(x[..., 0].ravel(), prob) == tuple(expected[0])


TABLES = [
    ("summary", {}),
    ("summary", {"estimand": "these_words", "prob": 0.5}),
    ("words", {}),
    ("means", {"level": "class"}),
    ("means", {"level": "word", "estimand": "these_words"}),
    ("contrasts", {}),
    ("contrasts", {"level": "word", "estimand": "these_words", "rope": 0.1}),
    ("shares", {}),
    ("shares", {"group": "human"}),
    ("parameters", {}),
]


@pytest.mark.parametrize(("table", "arguments"), TABLES, ids=lambda x: str(x))
def test_the_draws_behind_every_row_of_every_table(crossed, table, arguments):
    draws, frame = crossed.draws_of(table, **arguments), getattr(crossed, table)(**arguments)
    assert draws.dims == ("chain", "draw", "row")
    assert dict(draws.sizes) == {"chain": 2, "draw": 200, "row": len(frame)}
    assert draws.name == table
    texts = [column for column in frame.columns if frame[column].dtype.kind not in "fiub"]
    assert list(draws.coords) == texts
    for column in texts:
        assert draws[column].to_numpy().tolist() == frame[column].tolist()
    flat = draws.to_numpy().reshape(-1, len(frame))
    np.testing.assert_allclose(flat.mean(axis=0), frame["mean"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(flat.std(axis=0, ddof=1), frame["sd"], rtol=0, atol=1e-12)
    ends = [brute_hpdi(values, arguments.get("prob", PROB)) for values in flat.T]
    np.testing.assert_allclose(ends, frame[["hpdi_low", "hpdi_high"]], rtol=0, atol=1e-12)


def test_rows_of_draws_are_chosen_by_their_labels(crossed):
    draws = crossed.draws_of("contrasts")
    own = draws[..., (draws["level"] == "word") & (draws["name"] == "b1")]
    frame = crossed.contrasts()
    mine = frame[(frame["level"] == "word") & (frame["name"] == "b1")]
    assert own["contrast"].to_numpy().tolist() == mine["contrast"].tolist()
    np.testing.assert_allclose(own.mean(["chain", "draw"]), mine["mean"], rtol=0, atol=1e-12)


def test_no_draws_of_what_is_no_table(crossed):
    with pytest.raises(
        InputError, match=r"unknown table of draws; found: 'contrast'.*did you mean 'contrasts'"
    ):
        crossed.draws_of("contrast")
    with pytest.raises(InputError, match=r"unknown argument; found: 'levels'.*did you mean 'level'"):
        crossed.draws_of("contrasts", levels="word")
    with pytest.raises(InputError, match="unknown level"):
        crossed.draws_of("contrasts", level="sentence")
    with pytest.raises(InputError, match="unknown estimand"):
        crossed.draws_of("summary", estimand="both")


def test_what_is_kept_is_made_once_and_not_copied_to_another_tree(crossed):
    asked = []
    first = crossed.kept("a key of the test", lambda: asked.append(1) or "value")
    assert (first, crossed.kept("a key of the test", lambda: asked.append(1))) == ("value", "value")
    assert asked == [1]
    assert dataclasses.replace(crossed).kept("a key of the test", lambda: "anew") == "anew"


def test_effective_draws_and_r_hat_of_known_chains():
    rng = np.random.default_rng(4)
    independent = rng.normal(size=(4, 1000, 1))
    slow = np.repeat(rng.normal(size=(4, 100, 1)), 10, axis=1)
    apart = independent + np.array([0, 0, 0, 3])[:, None, None]
    frame = describe_draws(np.concatenate([independent, slow, apart], axis=-1), 0.89)
    assert frame["ess_bulk"][0] == pytest.approx(4000, rel=0.1)
    assert frame["ess_bulk"][1] == pytest.approx(400, rel=0.25)
    assert frame["r_hat"][0] == pytest.approx(1, abs=0.005)
    assert frame["r_hat"][2] > 1.3


@pytest.mark.parametrize("prob", [0, 1, 89, -0.5, np.nan])
def test_probabilities_are_checked(crossed, prob):
    with pytest.raises(InputError, match="between 0 and 1"):
        crossed.summary(prob=prob)


def test_other_arguments_are_checked(crossed):
    with pytest.raises(InputError, match="unknown estimand; found: 'both'; valid: population, these_words"):
        crossed.summary(estimand="both")
    for rope in (0, -1, np.nan):
        with pytest.raises(InputError, match="rope: must be a finite number above 0"):
            crossed.contrasts(rope=rope)


# -- tables of another kind ------------------------------------------------------------------------


def test_a_table_of_one_connection_has_a_summary_and_no_contrasts(pairs):
    frame = pairs.frame[pairs.frame["connection"] == "neutral"]
    result = fit(frame, "hierarchical", **SETTINGS)
    assert result.summary()["connection"].tolist() == ["neutral"]
    with pytest.raises(FitError, match="no two connections"):
        result.contrasts()
    assert repr(result).startswith("BiasFit: model hierarchical on a data frame, 15 rows")
    assert len(repr(result).splitlines()) == 2


def test_contrasts_are_those_the_table_holds(pairs):
    frame = pairs.frame[pairs.frame["connection"].isin(["different", "neutral"])]
    result = fit(frame, "hierarchical", **SETTINGS)
    contrasts = result.contrasts(estimand="population")
    assert set(contrasts["contrast"]) == {"different - neutral"}
    assert len(contrasts) == 1 + 2 + 5


def test_a_table_without_classes_fits_and_says_what_it_lacks(pairs):
    result = fit(pairs.frame.drop(columns="protected_class"), "hierarchical", **SETTINGS)
    with pytest.raises(FitError, match="'protected_class', which the table lacks"):
        result.summary()
    assert "hierarchical" in repr(result)
    assert len(result.parameters()) == 20 + 4 + 4 + 4


# -- diagnostics -----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def good(pairs) -> BiasFit:
    return fit(pairs, "additive", draws=1000, tune=500, chains=4, seed=shifted(1), pointwise=False)


def test_a_good_fit_is_said_to_be_good(good):
    found = good.diagnostics()
    assert found["ok"] is True
    assert found["problems"] == []
    assert found["divergences"] == 0
    assert 0.99 < found["max_r_hat"] < 1.01
    assert 400 < found["min_ess_bulk"] < 8000
    assert re.search(r"converged: R-hat 1\.\d{3}, ESS \d+, no divergences", repr(good))
    # Over all parameters, the per-row numbers included.
    frame = good.parameters()
    assert found["max_r_hat"] == pytest.approx(frame["r_hat"].max(), abs=1e-9)
    assert found["min_ess_bulk"] == pytest.approx(frame["ess_bulk"].min(), rel=1e-6)


def test_chains_that_disagree_are_said_in_words(good):
    def apart(values):
        values[0] += 0.5

    bad = edited(good, co=apart)
    found = bad.diagnostics()
    assert not found["ok"]
    assert found["max_r_hat"] > 1.1
    assert re.search(r"R-hat reaches \d\.\d{3} in co .*chains do not agree", found["problems"][0])
    assert re.search(r"only \d+ effective draws in co \(at least 400 are wanted\)", found["problems"][1])
    assert "NOT TO BE TRUSTED YET: R-hat reaches" in repr(bad)
    assert "converged" not in repr(bad)
    assert findings_of(bad).problems == tuple(found["problems"])


def test_divergences_are_said_in_words(good):
    tree = good.tree.copy()
    stats = tree["sample_stats"].to_dataset().copy(deep=True)
    stats["diverging"].values[1, 5:8] = True
    tree["sample_stats"] = xr.DataTree(stats)
    bad = BiasFit(tree=tree, table=good.table, spec=good.spec, provenance=good.provenance)
    assert bad.diagnostics()["divergences"] == 3
    assert not bad.diagnostics()["ok"]
    assert "3 divergent transitions" in repr(bad)


def test_a_parameter_that_never_moves_is_said(good):
    def still(values):
        values[..., 0] = 0.25

    found = edited(good, m=still).diagnostics()
    assert not found["ok"]
    assert found["problems"] == [
        "some entries of m have the same value in every draw: the sampler did not move"
    ]
    assert found["max_r_hat"] < 1.01  # NaN must not hide the others, nor they it


@pytest.mark.parametrize(("chains", "draws"), [(1, 300), (2, 3), (2, 1), (1, 1)])
def test_too_few_chains_or_draws_are_said(good, chains, draws):
    tree = good.tree.copy()
    for group in ("posterior", "sample_stats"):
        part = good.tree[group].to_dataset().isel(chain=slice(chains), draw=slice(draws))
        tree[group] = xr.DataTree(part)
    result = BiasFit(tree=tree, table=good.table, spec=good.spec, provenance=good.provenance)
    found = result.diagnostics()
    assert not found["ok"]
    assert found["max_r_hat"] is None
    assert f"here are {chains} of {draws}" in found["problems"][0]
    assert "NOT TO BE TRUSTED YET: R-hat needs at least two chains" in repr(result)
    assert result.summary()["r_hat"].isna().all()


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_repr_says_what_a_reader_wants_first(result):
    text = repr(result)
    lines = text.splitlines()
    assert len(lines) <= 8
    assert lines[0] == f"BiasFit: model {result.spec.name} on custom in mapping, 55 rows, 2 x 200 draws"
    frame = result.contrasts(estimand="population").query("level == 'overall'")
    for line, row in zip(lines[1:6], frame.itertuples(), strict=True):
        assert row.contrast in line
        assert f"{row.mean:+.3f}  89% HPDI [{row.hpdi_low:+.3f}, {row.hpdi_high:+.3f}]" in line
    assert max(map(len, lines)) < 200


# -- prose -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shift", "spread", "said"),
    [
        (-0.5, 0.01, "nearer than"),
        (0.5, 0.01, "farther than"),
        (0.0, 0.001, "practically as near as"),
        (-0.03, 0.015, "nearer, though perhaps by little, than"),
        (0.03, 0.015, "farther, though perhaps by little, than"),
        (0.0, 0.1, "not clearly nearer or farther than"),
    ],
)
def test_the_finding_follows_the_draws(good, shift, spread, said):
    z = np.random.default_rng(6).normal(size=(4, 1000))
    z = (z - z.mean()) / z.std()

    def level(values):
        values[:] = 0.0

    def set_to(values):
        values[:] = 0.0
        values[..., 0] = shift + spread * z  # associated

    made = edited(good, co=set_to, m=level)
    # Draws made by hand never moved in most entries; what is asked here is the wording alone.
    made.kept("diagnostics", lambda: {"ok": True, "problems": []})
    sentence = finding(made)
    assert f"the stereotypes of a word's own class are {said} the stereotypes of other classes" in sentence
    assert f"({shift:+.3f} in cosine distance" in sentence.replace("-0.000", "+0.000")
    assert "custom in mapping" in sentence


# -- files -----------------------------------------------------------------------------------------

FRAMES = ("summary", "words", "contrasts", "parameters")


@pytest.fixture(scope="session")
def saved(crossed, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "fit.nc"
    crossed.save(path)
    return path


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_a_saved_fit_loads_the_same(result, tmp_path):
    path = tmp_path / "fit.nc"
    result.save(path)
    back = load_fit(path)
    assert [p.name for p in tmp_path.iterdir()] == ["fit.nc"]
    assert repr(back) == repr(result)
    for name in FRAMES:
        pd.testing.assert_frame_equal(getattr(back, name)(), getattr(result, name)(), check_exact=True)
    assert back.diagnostics() == result.diagnostics()
    assert back.spec == result.spec
    assert back.provenance == result.provenance
    for column in result.table.columns:
        assert back.table[column].tolist() == result.table[column].tolist()
    assert set(back.tree.children) == set(result.tree.children)
    for group in result.tree.children:
        for name, values in result.tree[group].data_vars.items():
            np.testing.assert_array_equal(
                back.tree[group][name].values, values.values, err_msg=f"{group} {name}"
            )
    assert loo(back).elpd == loo(result).elpd


def test_saving_changes_nothing(crossed, saved):
    assert set(crossed.tree.children) == {
        "posterior",
        "sample_stats",
        "observed_data",
        "log_likelihood",
        "posterior_predictive",
        "prior_predictive",
    }
    assert not any(str(key).startswith("bayesbias") for key in crossed.tree.attrs)
    with xr.open_datatree(saved, engine="h5netcdf") as tree:
        assert "log_likelihood" not in tree.children
        assert tree.attrs["bayesbias_format"] == 1


def test_a_fit_without_pointwise_values_loads_without(additive, tmp_path):
    tree = additive.tree.copy()
    for group in ("log_likelihood", "posterior_predictive", "prior_predictive"):
        del tree[group]
    dataclasses.replace(additive, tree=tree).save(tmp_path / "fit.nc")
    back = load_fit(tmp_path / "fit.nc")
    assert set(back.tree.children) == {"posterior", "sample_stats", "observed_data"}
    assert loo(back).elpd == pytest.approx(loo(additive).elpd, rel=1e-12)


def test_odd_words_survive_a_file(tmp_path):
    rng = np.random.default_rng(0)
    words = {"x y": {"protected": ["żółw", "nan", "東京"], "attributes": ["naïve", "NA", "a,b"]}}
    names = [w for key in words["x y"].values() for w in key]
    controls = {"neutral": ["lamp", "door"]}
    table = distance_table(
        {w: rng.normal(size=5) for w in [*names, "lamp", "door"]}, words, controls=controls
    )
    result = fit(table, "hierarchical", **SETTINGS, pointwise=False)
    result.save(tmp_path / "fit.nc")
    back = load_fit(tmp_path / "fit.nc")
    assert back.table["protected_word"].unique().tolist() == ["żółw", "nan", "東京"]
    assert back.table["attribute"].tolist() == result.table["attribute"].tolist()
    assert back.table["protected_class"].unique().tolist() == ["x y"]


def refused(path, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        load_fit(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keep", [0, 7, 500, 0.5, -1])
def test_truncated_fits_are_refused(saved, tmp_path, keep):
    content = saved.read_bytes()
    short = tmp_path / "short.nc"
    short.write_bytes(content[: keep if isinstance(keep, int) else int(keep * len(content))])
    refused(short, "cannot be read as netCDF")


def test_what_is_no_fit_is_refused(saved, tmp_path):
    refused(tmp_path / "none.nc", "no such file")
    refused(tmp_path, "is a folder")
    (tmp_path / "text.nc").write_text("hello")
    refused(tmp_path / "text.nc", "cannot be read as netCDF")
    (tmp_path / "noise.nc").write_bytes(np.random.default_rng(1).bytes(4000))
    refused(tmp_path / "noise.nc", "cannot be read as netCDF")
    xr.Dataset({"x": ("a", [1.0, 2.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    refused(tmp_path / "other.nc", "no bayesbias fit")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file["x"] = [1, 2]
    refused(tmp_path / "plain.h5", "no bayesbias fit")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            lambda t: t.attrs.update(bayesbias_format=2),
            "form that this version does not know; found: 2; valid: 1",
        ),
        (lambda t: t.__delitem__("table"), "no complete fit; found: 'no table'"),
        (lambda t: t.__delitem__("posterior"), "no complete fit; found: 'no posterior'"),
        (lambda t: t.attrs.pop("bayesbias_model"), "no bayesbias_model"),
        (lambda t: t.attrs.update(bayesbias_provenance="{"), "model or provenance is damaged"),
        (lambda t: t.attrs.update(bayesbias_model="schema = 9"), "the model in .*fit.nc"),
    ],
)
def test_incomplete_fits_are_refused(saved, tmp_path, damage, said):
    with xr.open_datatree(saved, engine="h5netcdf") as opened:
        tree = opened.load()
    damage(tree)
    tree.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    refused(tmp_path / "fit.nc", said)


def test_a_disk_that_is_full_leaves_the_old_file(crossed, tmp_path, monkeypatch):
    path = tmp_path / "fit.nc"
    path.write_text("old")

    def full(self, content):
        with open(self, "wb") as file:
            file.write(bytes(content)[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(
        InputError, match=r"fit\.nc: cannot be written: No space left on device; nothing was left"
    ):
        crossed.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["fit.nc"]


SAVE_IN_LITTLE_SPACE = """
import resource, sys
import bayesbias as bb
fit = bb.load_fit(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
try:
    fit.save(sys.argv[2])
except bb.InputError as error:
    print(error)
"""


@pytest.mark.slow
def test_the_interpreter_survives_a_file_that_cannot_grow(saved, tmp_path):
    """A file system that stops the writing for real: HDF5 on a path crashes at exit here."""
    pytest.importorskip("resource", reason="limits on the size of files are a matter of Unix")
    path = tmp_path / "fit.nc"
    path.write_text("old")
    command = [sys.executable, "-c", SAVE_IN_LITTLE_SPACE, str(saved), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "fit.nc: cannot be written: File too large" in done.stdout
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["fit.nc"]


def test_saving_where_nothing_can_be_saved(crossed, tmp_path):
    with pytest.raises(InputError, match="cannot be written: Is a directory"):
        crossed.save(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"fit\.nc: cannot be written"):
        crossed.save(tmp_path / "file" / "fit.nc")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


# -- prediction and comparison ---------------------------------------------------------------------


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_pointwise_values_and_predictions(result):
    tree, outcome = result.tree, result.spec.outcome
    sigma = result.draws()["sigma"]
    if sigma.ndim > 1:
        sigma = sigma[:, [result.design.coords["connection"].index(k) for k in result.table["connection"]]]
    else:
        sigma = np.repeat(sigma[:, None], 55, axis=1)
    y = result.table["distance"].to_numpy()
    z = (y - fitted(result)) / sigma
    expected = -0.5 * z**2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)
    found = tree["log_likelihood"][outcome]
    assert found.dims == ("chain", "draw", "pair")
    np.testing.assert_allclose(found.values.reshape(400, 55), expected, atol=1e-10)
    np.testing.assert_array_equal(tree["observed_data"][outcome].values, y)
    new = tree["posterior_predictive"][outcome].values.reshape(-1, 55)
    assert len(new) == 200
    # Each row is predicted around its fitted mean; the noise of 200 draws allows this much.
    error = new.mean(axis=0) - fitted(result).mean(axis=0)
    assert np.abs(error / (new.std(axis=0) / np.sqrt(200))).max() < mc.limit(55)
    prior = tree["prior_predictive"][outcome].values.reshape(-1, 55)
    assert (
        prior.std() > 2 * new.std()
    )  # the priors expect variances of 1 and more, known to 5 % from 200 draws


@pytest.mark.parametrize("result", FITS, indirect=True)
def test_loo_runs_without_warnings_and_is_near_the_in_sample_density(result):
    found = loo(result)
    log_lik = result.tree["log_likelihood"]["distance"].values.reshape(400, 55)
    lpd = np.log(np.exp(log_lik).mean(axis=0)).sum()
    assert found.elpd < lpd
    assert found.elpd == pytest.approx(lpd - found.p, abs=1e-6)
    assert 0 < found.p < 55
    assert found.pareto_k.shape == (55,)


def test_models_of_one_table_are_compared_best_first(crossed, hierarchical, additive):
    fits = {"crossed": crossed, "hierarchical": hierarchical, "additive": additive}
    frame = compare_models(fits)
    elpd = {name: loo(result).elpd for name, result in fits.items()}
    assert list(frame.index) == sorted(elpd, key=elpd.__getitem__, reverse=True)
    for name, row in frame.iterrows():
        assert row["elpd"] == pytest.approx(elpd[name])
        assert abs(row["elpd_diff"]) == pytest.approx(max(elpd.values()) - elpd[name], abs=1e-9)
    assert frame["rank"].tolist() == [0, 1, 2]


def test_different_tables_are_not_compared(crossed, pairs):
    other = fit(pairs.frame.iloc[::-1], "additive", **SETTINGS)
    with pytest.raises(FitError, match="other and crossed were fitted to different tables"):
        compare_models({"crossed": crossed, "other": other})
    fewer = fit(pairs.frame.iloc[:-1], "additive", **SETTINGS)
    with pytest.raises(FitError, match="different tables"):
        compare_models({"crossed": crossed, "fewer": fewer})
    with pytest.raises(InputError, match=r"at least two fits; found: \['crossed'\]"):
        compare_models({"crossed": crossed})


def test_an_effect_of_class_and_attribute_says_nothing_of_new_attributes():
    """In shared the population contrast of a class is one of its words' cell means alone; m cancels."""
    table = grid((3, 3), (3, 3), 4, 4)
    result = fit(table, "shared", seed=shifted(1), draws=200, tune=200, chains=2, pointwise=False)
    c, words = result.draws()["c"], result.design.coords["protected_word"]
    own = [i for i, word in enumerate(words) if word.startswith("w0")]
    by_hand = c[:, own, 0].mean(axis=1) - c[:, own, 1].mean(axis=1)
    row = result.contrasts(estimand="population").query("level == 'class' and name == 'class0'").iloc[0]
    assert row["contrast"] == "associated - different"
    assert row["mean"] == pytest.approx(by_hand.mean(), abs=1e-12)
    assert row["sd"] == pytest.approx(by_hand.std(ddof=1), abs=1e-12)


# -- results that are not about connections --------------------------------------------------------


@pytest.fixture(scope="module")
def opinions() -> BiasFit:
    """Two classifiers on pairs of nouns and professions; noun pairs vary far more than professions."""
    rng = np.random.default_rng(5)
    noun, job = rng.normal(0, 0.1, 12), rng.normal(0, 0.02, 10)
    rows = [
        (c, f"n{i}", f"j{j}", base + noun[i] + job[j] + rng.normal(0, 0.04))
        for c, base in (("one", 0.05), ("two", -0.1))
        for i in range(12)
        for j in range(10)
    ]
    columns = ["classifier", "noun_pair", "profession", "difference"]
    return fit(pd.DataFrame(rows, columns=columns), "sentiment", seed=shifted(1), pointwise=False)


def test_each_estimand_holds_what_it_says(opinions):
    draws = opinions.draws()
    expected = {
        "population": draws["b"],
        "these_words": draws["b"] + draws["n"].mean(axis=1) + draws["p"].mean(axis=1),
        "new_nouns": draws["b"] + draws["p"].mean(axis=1),
        "new_professions": draws["b"] + draws["n"].mean(axis=1),
    }
    for estimand, values in expected.items():
        frame = opinions.summary(estimand=estimand)
        assert frame["classifier"].tolist() == ["one", "two"]
        assert frame["n_pairs"].tolist() == [120, 120]
        np.testing.assert_allclose(frame["mean"], values.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(frame["sd"], values.std(axis=0, ddof=1), atol=1e-12)
    wide = {name: mc.log_sd_of_row(opinions.summary(estimand=name).iloc[0]) for name in expected}
    assert wide["these_words"].value < wide["new_professions"].value < wide["new_nouns"].value
    assert (wide["population"] - wide["new_nouns"]).may_reach(0)  # professions hardly vary
    with pytest.raises(InputError, match=r"unknown estimand.*did you mean 'new_nouns'"):
        opinions.summary(estimand="new_noun")


def test_means_at_a_level_hold_its_own_effects(opinions):
    draws = opinions.draws()
    frame = opinions.means("noun_pair")
    assert frame.columns[:4].tolist() == ["level", "name", "classifier", "estimand"]
    assert len(frame) == 24
    row = frame[(frame["name"] == "n3") & (frame["classifier"] == "two")].iloc[0]
    i, c = opinions.design.coords["noun_pair"].index("n3"), opinions.design.coords["classifier"].index("two")
    assert row["mean"] == pytest.approx((draws["b"][:, c] + draws["n"][:, i, c]).mean(), abs=1e-12)
    assert row["n_pairs"] == 10
    with pytest.raises(InputError, match=r"unknown level; found: 'noun'.*did you mean 'noun_pair'"):
        opinions.means("noun")


def test_contrasts_are_between_the_labels_that_are_there(opinions):
    frame = opinions.contrasts(estimand="population")
    assert set(frame["contrast"]) == {"one - two"}
    assert set(frame["level"]) == {"overall", "profession", "noun_pair"}
    draws = opinions.draws()["b"]
    overall = opinions.contrasts(estimand="population", level="overall")
    assert len(overall) == 1
    assert overall["mean"].iloc[0] == pytest.approx((draws[:, 0] - draws[:, 1]).mean(), abs=1e-12)
    assert "one " in repr(opinions)
    assert len(repr(opinions).splitlines()) <= 8


@pytest.mark.parametrize("group", [None, "one"])
def test_shares_are_those_of_the_spreads(opinions, group):
    draws = opinions.draws()
    pick = slice(None) if group is None else [opinions.design.coords["classifier"].index(group)]
    squares = {name: (draws[name][:, pick] ** 2).mean(axis=1) for name in ("nsd", "psd", "sigma")}
    total = sum(squares.values())
    frame = opinions.shares(group=group)
    assert frame["source"].tolist() == ["noun_pair", "profession", "residual"]
    np.testing.assert_allclose(frame["mean"], [(v / total).mean() for v in squares.values()], atol=1e-12)
    assert frame["mean"].sum() == pytest.approx(1)
    assert frame["mean"].iloc[0] > 0.6
    with pytest.raises(InputError, match=r"unknown classifier; found: 'on'.*did you mean 'one'"):
        opinions.shares(group="on")


def test_shares_of_pairs_are_put_together_by_column(crossed):
    draws = crossed.draws()
    rows = crossed.table["connection"].map(crossed.design.coords["connection"].index).to_numpy()
    cells = (draws["csd"][:, rows] ** 2).mean(axis=1)
    words = draws["ws"] ** 2
    noise = (draws["sigma"][:, rows] ** 2).mean(axis=1)
    frame = crossed.shares().set_index("source")
    assert frame.index.tolist() == ["protected_word", "attribute", "residual"]
    for source, part in zip(frame.index, (cells, words, noise), strict=True):
        assert frame.loc[source, "mean"] == pytest.approx((part / (cells + words + noise)).mean(), abs=1e-9)


def test_shares_need_normal_noise(crossed):
    other = dataclasses.replace(crossed, spec=load_model("robust"))
    with pytest.raises(FitError, match="shares of variance need normal noise"):
        other.shares()


def test_what_is_handed_out_can_be_changed_without_changing_the_fit(pairs):
    result = fit(pairs, "crossed", seed=shifted(1), draws=50, tune=50, chains=2, pointwise=False)
    before = {
        "contrasts": result.contrasts(level="overall", estimand="population"),
        "summary": result.summary(),
        "diagnostics": str(result.diagnostics()),
    }
    kept = {name: value.copy() if name != "diagnostics" else value for name, value in before.items()}
    for frame in (before["contrasts"], before["summary"]):
        frame["mean"].array[0] = 99.0
        frame.loc[1, "sd"] = 99.0
    result.diagnostics()["problems"].append("x")
    with pytest.raises(ValueError, match="read-only"):
        result.draws()["ws"][:] = 0
    assert result.contrasts(level="overall", estimand="population").equals(kept["contrasts"])
    assert result.summary().equals(kept["summary"])
    assert str(result.diagnostics()) == kept["diagnostics"]


def test_a_copy_with_another_tree_asks_that_tree(pairs):
    result = fit(pairs, "crossed", seed=shifted(1), draws=50, tune=50, chains=2, pointwise=False)
    was = result.summary()["mean"]
    tree = result.tree.copy()
    tree["posterior"]["cbar"] = tree["posterior"]["cbar"] + 5
    assert dataclasses.replace(result, tree=tree).summary()["mean"].to_numpy() == pytest.approx(
        was.to_numpy() + 5
    )
