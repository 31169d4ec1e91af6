"""Fitting: the quick way and the plain way agree, seeds are kept, settings are checked."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from helpers.tables import grid

from bayesbias import load_distances
from bayesbias.core.errors import FitError, InputError
from bayesbias.inference import fitting, graph
from bayesbias.inference.fitting import fit, load_fit
from bayesbias.inference.sampling import Engine, Sampled, Sampling

QUICK = {"draws": 300, "tune": 300, "chains": 2, "pointwise": False}


def by_hand(fit, seed):
    """Sample the hierarchical model with PyMC alone, written down here and not by `build`.

    Cells of connections with few pairs are sampled in units of their spread: in the plain coordinates plain NUTS
    diverges in the funnel of small spreads, and its means come out elsewhere on every machine.
    """
    import pymc as pm

    words, connections = (fit.design.coords[dim] for dim in ("protected_word", "connection"))
    word = [words.index(str(x)) for x in fit.table["protected_word"]]
    connection = [connections.index(str(x)) for x in fit.table["connection"]]
    with pm.Model():
        cbar = pm.Normal("connection_mean", 1, 0.3, shape=4)
        csd, sigma = (
            pm.Exponential(name, 2, shape=4) for name in ("word_by_connection_sd", "sigma")
        )
        cells = []
        for k, name in enumerate(connections):
            if name == "neutral":
                cells.append(pm.Normal(f"c_{name}", cbar[k], csd[k], shape=len(words)))
            else:
                cells.append(cbar[k] + csd[k] * pm.Normal(f"z_{name}", 0, 1, shape=len(words)))
        c = pm.Deterministic("word_by_connection", pm.math.stack(cells, axis=1))
        pm.Normal(
            "y",
            c[word, connection],
            sigma[connection],
            observed=fit.table["distance"].to_numpy(float),
        )
        return pm.sample(
            2500, tune=1000, chains=4, cores=2, random_seed=seed, target_accept=0.95, nuts_sampler="nutpie",
            progressbar=False, compute_convergence_checks=False,
        )  # fmt: skip


@pytest.mark.slow
def test_same_seed_same_draws():
    first = fit(grid(), "crossed", seed=shifted(4), **QUICK)
    again = fit(grid(), "crossed", seed=shifted(4), **QUICK)
    other = fit(grid(), "crossed", seed=shifted(5), **QUICK)
    for name, values in first.parameter_draws().items():
        np.testing.assert_array_equal(values, again.parameter_draws()[name])
    assert not np.array_equal(
        first.parameter_draws()["connection_mean"], other.parameter_draws()["connection_mean"]
    )


@pytest.mark.slow
def test_a_seed_is_drawn_and_recorded():
    first = fit(grid(), "hierarchical", **QUICK)
    again = fit(grid(), "hierarchical", seed=first.provenance["sampler"]["seed"], **QUICK)
    np.testing.assert_array_equal(
        first.parameter_draws()["connection_mean"], again.parameter_draws()["connection_mean"]
    )


def test_rows_that_were_kept_are_kept_when_the_rows_are_fitted_again(tmp_path):
    """Else the models that are held against a fit would be of other rows than it."""
    few = {"draws": 50, "chains": 2, "engine": "quick", "seed": shifted(2)}
    twice = pd.concat([grid(), grid().head(5)], ignore_index=True)
    table = load_distances(twice, repeats="keep")
    first = fit(table, "hierarchical", **few)
    first.save(tmp_path / "fit.nc")
    for rows in (table.frame, first.table, load_fit(tmp_path / "fit.nc").table):
        again = fit(rows, "hierarchical", **few)
        assert len(again.table) == len(table) == len(twice)
        assert again.provenance["table"]["repeats"] == "keep"
        assert (again.summary()["mean"] == first.summary()["mean"]).all()
    # Where one asks for it they count once, and that is what the rows say from then on.
    once = load_distances(first.table)
    assert len(fit(once.frame, "hierarchical", **few).table) == len(twice) - 5
    assert len(fit(twice, "hierarchical", **few).table) == len(twice) - 5


@pytest.mark.parametrize(
    ("asked", "of"),
    [
        ({}, {}),
        ({"engine": "quick"}, {"engine": "quick"}),
        ({"target_accept": 0.95}, {"target_accept": 0.95}),
        ({"target_accept": 0.9, "engine": "quick"}, {"target_accept": 0.9, "engine": "quick"}),
        ({"sampler": "collapsed"}, {}),  # which it takes by itself
        (
            {"sampler": "pairwise", "target_accept": 0.9},
            {"sampler": "pairwise", "target_accept": 0.9},
        ),
        ({"sampler": "pairwise"}, {"sampler": "pairwise"}),
    ],
)
def test_a_fit_knows_what_it_was_asked_for(asked, of, monkeypatch):
    """And what it was not asked for is not: another model may be sampled another way, with another usual setting."""
    plain = {"draws": 30, "tune": 30, "chains": 1, "seed": shifted(1)}
    quick = fit(grid(), "hierarchical", engine="quick", **plain)
    engine = Engine.without_reduction(asked.get("engine", "auto"))
    sampled = Sampled(quick.idata.copy(), engine, 0.9)
    monkeypatch.setattr(fitting, "sample_pairwise", lambda *_: sampled)
    found = fit(grid(), "hierarchical", **plain, **asked)
    assert found.sampling.arguments() == {**plain, **of}


@pytest.mark.slow
def test_the_way_taken_is_recorded():
    assert (
        fit(grid(), "crossed", seed=shifted(1), **QUICK).provenance["sampler"]["method"]
        == "collapsed"
    )
    with pytest.raises(FitError, match="StudentT"):
        fit(grid(), "robust", sampler="collapsed")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("draws", 0),
        ("chains", 1.5),
        ("tune", True),
        ("seed", -1),
        ("sampler", "gibbs"),
        ("target_accept", 1.0),
    ],
)
def test_settings_are_checked(setting, value):
    with pytest.raises(InputError):
        fit(grid(), "crossed", **{setting: value})


def sound(sampled, names, least=600):
    """Whether chains got about: one that was caught in a funnel is no reference."""
    draws = sampled["posterior"]
    return min(mc.effective(draws[name], m).min() for name in names for m in ("mean", "sd")) > least


def close(reduced, sampled, least=600):
    """Means and sds of every parameter agree within Monte Carlo errors, which must be small."""
    for name in reduced.spec.parameters:
        both = reduced.idata["posterior"][name], sampled["posterior"][name]
        for estimate, method in ((mc.mean, "mean"), (mc.log_sd, "sd")):
            assert min(mc.effective(draws, method).min() for draws in both) > least, name
            mc.assert_near(estimate(both[0]), estimate(both[1]), name)


@pytest.mark.claim  # that the density is PyMC's, to eight digits, is held in test_collapsed.py
@pytest.mark.parametrize(
    "table",
    ["race", *(pytest.param(name, marks=pytest.mark.full) for name in ("religion", "gender"))],
)
def test_hierarchical_agrees_with_plain_pymc(shared, table):
    path = shared / f"data/bayesbias_distances/with_controls_2022/{table}_group_reddit_dataset.csv"
    pairs = load_distances(path)
    ours = fit(pairs, "hierarchical", seed=shifted(1), draws=3000, pointwise=False)
    assert ours.provenance["sampler"]["method"] == "collapsed"
    for attempt in range(3):
        sampled = by_hand(ours, shifted(2) + attempt)
        if sound(sampled, ours.spec.parameters):
            break
    close(ours, sampled)


def additive_by_hand(table, one, other):
    """Posterior mean and sd of a contrast: normal for each sigma, and sigma taken on a grid."""
    design = np.concatenate(
        [
            table["protected_word"].to_numpy(str)[:, None]
            == np.array(table["protected_word"].unique(), str),
            table["connection"].to_numpy(str)[:, None]
            == np.array(table["connection"].unique(), str),
        ],
        axis=1,
    ).astype(float)
    y = table["distance"].to_numpy(float)
    rows = [design[(table["connection"] == c).to_numpy()].mean(axis=0) for c in (one, other)]
    weights, centre = rows[0] - rows[1], np.repeat([1.0, 0.0], [design.shape[1] - 4, 4])
    grid = y.std() * np.linspace(0.5, 1.5, 1001)
    logp, mean, variance = [], [], []
    for sigma in grid:
        precision = design.T @ design / sigma**2 + np.eye(len(centre)) / 0.5**2
        right = design.T @ y / sigma**2 + centre / 0.5**2
        at, cov = np.linalg.solve(precision, right), np.linalg.inv(precision)
        fit = 0.5 * (right @ at - y @ y / sigma**2)
        logp.append(
            fit
            - len(y) * np.log(sigma)
            - 0.5 * np.linalg.slogdet(precision)[1]
            - np.log1p(sigma**2)
        )
        mean.append(weights @ at)
        variance.append(weights @ cov @ weights)
    p = np.exp(np.array(logp) - max(logp))
    p /= p.sum()
    expected = p @ np.array(mean)
    return expected, np.sqrt(p @ (np.array(variance) + np.array(mean) ** 2) - expected**2)


@pytest.mark.slow
def test_additive_agrees_with_the_closed_form_and_its_ridge(shared):
    pairs = load_distances(shared / "data/bayesbias_distances/reddit_pairs_2021/religionReddit.csv")
    ours = fit(pairs, "additive", seed=shifted(1), draws=4000, pointwise=False)
    # A common shift of m (15 words) and co (4) has posterior sd 0.5 / sqrt(15 + 4); see the model's notes.
    draws = ours.idata["posterior"]
    shift = (
        draws["word_mean"].sum("protected_word") - draws["connection_mean"].sum("connection")
    ) / 19
    mc.assert_near(mc.log_sd(shift), np.log(0.5 / np.sqrt(19)))
    contrast = ours.contrasts(estimand="population", detail=True).set_index(["level", "contrast"])
    row = contrast.loc[("overall", "associated - neutral")]
    expected, sd = additive_by_hand(ours.table, "associated", "neutral")
    mc.assert_near(mc.mean_of_row(row), expected)
    mc.assert_near(mc.log_sd_of_row(row), np.log(sd))


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.claim
def test_robust_recovers_heavy_tails():
    table = grid((5, 5, 5), (4, 4, 4), 20, 40)
    rng = np.random.default_rng(8)
    far = rng.random(len(table)) < 0.05
    table.loc[far, "distance"] += rng.choice([-0.8, 0.8], far.sum())
    table.attrs["simulated"] = True  # some lie below 0, where no distance of words does
    robust = fit(table, "robust", seed=shifted(1), draws=2000, progress=False, pointwise=False)
    assert robust.diagnostics()["ok"], robust.diagnostics()
    assert robust.parameter_draws()["nu"].mean() < 6
    # Normal noise has to stretch to sqrt(0.1^2 + 0.05 x 0.8^2) = 0.2; the scale of the t stays with the bulk (0.1).
    normal = fit(table, "crossed", seed=shifted(1), pointwise=False)
    controls = [2, 3]  # human and neutral: hundreds of pairs, of which a twentieth are far
    assert (normal.parameter_draws()["sigma"].mean(axis=0)[controls] > 0.16).all()
    assert (robust.parameter_draws()["sigma"].mean(axis=0)[controls] < 0.11).all()


@pytest.mark.full
@pytest.mark.claim
def test_a_run_pair_by_pair_that_has_not_mixed_is_longer(monkeypatch):
    few = {"draws": 20, "tune": 50, "chains": 2, "seed": shifted(1), "pointwise": False}
    plain = fit(grid((2, 2), (2, 2), 2, 2), "robust", progress=False, **few)
    assert "thin" not in plain.provenance["sampler"]
    monkeypatch.setattr(graph, "LONG_RUN", 20)  # which twenty draws are too few for
    again = fit(grid((2, 2), (2, 2), 2, 2), "robust", progress=False, **few)
    assert again.provenance["sampler"]["thin"] == graph.PAIRWISE_LONGER
    assert again.sampled["posterior"].sizes["draw"] == 20


def test_outcomes_without_noise_are_refused_in_words():
    table = grid()
    table["distance"] = table["protected_word"].map(
        {w: i / 50 for i, w in enumerate(table["protected_word"].unique())}
    )
    with pytest.raises(FitError, match="reproduce some rows exactly"):
        fit(table, "crossed", seed=shifted(1), **QUICK)
    labels = table.assign(distance=1.0 * (table["distance"] > 0.1))
    with pytest.raises(FitError, match="outcomes labels"):
        fit(labels, "crossed", seed=shifted(1), **QUICK)
    with pytest.raises(FitError, match="hardly differs"):
        fit(table.assign(distance=0.9), "crossed", seed=shifted(1), **QUICK)


def test_outcomes_that_hardly_differ_are_refused_at_once():
    """Noise of a billionth was sampled for three minutes, and then refused."""
    table = grid()
    hardly = table.assign(distance=0.9 + 1e-9 * np.arange(len(table)) / len(table))
    with pytest.raises(FitError, match="hardly differs"):
        fit(hardly, "crossed", seed=shifted(1), **QUICK)


INTERRUPTED = """
import _thread, threading
import numpy as np
import bayesbias as bb
from bayesbias.inference import sampling

sample, done = sampling.nuts, threading.Event()
def keep_on():  # a library that is being called may take one for itself
    while not done.wait(1.0):
        _thread.interrupt_main()
def interrupted(*arguments):
    threading.Thread(target=keep_on, daemon=True).start()
    return sample(*arguments)
table = bb.distance_table("minilm-static", "weat7")
bb.fit(table, seed=1, draws=50, progress=False)  # compiles
sampling.nuts = interrupted
try:
    fit = bb.fit(table, seed=1, draws=240_000, progress=False)
except KeyboardInterrupt:
    done.set()
    print("stopped")
else:
    print(fit.diagnostics())
"""


@pytest.mark.claim
def test_an_interrupted_fit_returns_no_part_of_its_draws():
    """The sampler took Ctrl-C for the end of the draws: a fit came back that did not move, and a command ended with 0."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.stdout.strip() == "stopped", done.stderr


def test_the_provenance_records_and_does_not_steer(tmp_path):
    result = fit(grid(), "hierarchical", seed=1, draws=30, tune=30, chains=2)
    assert result.provenance["sampler"] == result.sampling.as_dict()
    tables = {"contrasts": [{"level": "overall", "with_mean": 0.5}]}
    bare = dataclasses.replace(result, provenance={}, frequency=tables)
    assert bare.sampling.method == "collapsed"
    pd.testing.assert_frame_equal(bare.summary(), result.summary())
    pd.testing.assert_frame_equal(bare.parameters(), result.parameters())
    bare.save(tmp_path / "fit.nc")
    again = load_fit(tmp_path / "fit.nc")
    assert (again.provenance, again.sampling, again.frequency) == ({}, result.sampling, tables)
    pd.testing.assert_frame_equal(again.words(), result.words())


@pytest.mark.parametrize("thin", [None, 1, 4])
def test_how_a_fit_was_sampled_comes_back_whole(thin):
    sampling = Sampling(
        "counts", 10, 20, 2, 3, Engine("quick", "quick", 0.4, 9.5, 100), 0.9, 0.8, thin, "counts"
    )
    stored = json.loads(json.dumps(sampling.as_dict()))
    assert ("thin" in stored) is (thin is not None)
    assert stored["name"] == "importance sampling"
    assert Sampling.from_dict(stored) == sampling
    assert sampling.arguments() == {
        "seed": 3,
        "draws": 10,
        "tune": 20,
        "chains": 2,
        "engine": "quick",
        "target_accept": 0.8,
    }


@pytest.mark.slow
def test_the_quick_engine_does_without_the_library_of_nuts():
    code = (
        "import sys, bayesbias as bb\n"
        "table = bb.distance_table('minilm-static', 'religion')\n"
        "bb.fit(table, seed=1, draws=100, engine='quick', progress=False)\n"
        "print('nutpie' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
