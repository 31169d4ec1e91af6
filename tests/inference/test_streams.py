"""Two fits with one seed share no random numbers; the same rows, model and seed give the same draws."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.models.variants import with_slopes

ENGINES = ["nuts", "quick"]
TABLES = {
    "summary": {"estimand": "population"},
    "words": {"estimand": "population"},
    "means": {"level": "overall", "estimand": "one_new_pair"},
    "contrasts": {"level": "overall"},
    "standardized": {"level": "overall"},
    "probability_of_superiority": {"level": "overall"},
    "new_words": {},
    "variance_partition": {},
    "reliability": {"words": [4, 8], "attributes": 10},
    "slopes": {},
    "parameters": {},
}


@pytest.fixture(scope="module")
def frame():
    table = bb.distance_table("minilm-static", "weat7", controls="none").frame
    words = table["protected_word"].isin(list(dict.fromkeys(table["protected_word"]))[::2])
    table = table.assign(length=table["attribute"].str.len() - 6.0)
    return table[words].reset_index(drop=True)


@pytest.fixture(scope="module", params=ENGINES)
def fits(request, frame):
    """Two fits of all but the same outcomes, and the first once more with its rows in another order."""
    near = frame.assign(distance=frame["distance"] + np.linspace(0, 1e-6, len(frame)))
    settings = {"seed": 1, "draws": 500, "tune": 500, "chains": 2, "engine": request.param}
    model = with_slopes("crossed", "length")
    return [bb.fit(one, model, **settings) for one in (frame, near, frame[::-1])]


@pytest.mark.parametrize("table", TABLES)
def test_draws_of_two_fits_are_independent(fits, table):
    one, other, again = (
        fit.table_draws(table, **TABLES[table]).to_numpy().reshape(1000, -1) for fit in fits
    )
    correlation = [
        np.corrcoef(a, b)[0, 1] for a, b in zip(one.T, other.T, strict=True) if np.ptp(a) > 1e-12
    ]
    assert len(correlation)
    assert np.abs(correlation).max() < 0.25
    means, same = (np.sort(draws.mean(axis=0)) for draws in (one, again))
    assert np.allclose(means, same, rtol=1e-9, equal_nan=True)


def test_effects_and_predictions_of_two_fits_are_independent(fits):
    one, other, _ = (bb.inference.cross_validation.with_pointwise(fit) for fit in fits)
    for group in ("posterior_predictive", "prior_predictive"):
        a, b = (fit.idata[group]["distance"].to_numpy()[0] for fit in (one, other))
        noise = [np.corrcoef(x, y)[0, 1] for x, y in zip(a.T, b.T, strict=True)]
        assert abs(np.mean(noise)) < 0.1
    name = one.spec.location_parameters()[0]
    a, b = (fit.parameter_draws()[name].reshape(1000, -1) for fit in (one, other))
    assert np.abs([np.corrcoef(x, y)[0, 1] for x, y in zip(a.T, b.T, strict=True)]).max() < 0.25


def test_the_model_is_part_of_the_stream(frame):
    crossed = bb.load_model("crossed")
    shared = bb.load_model("shared")
    designs = [bb.models.design.Design.of(spec, frame) for spec in (crossed, shared)]
    assert designs[0].stream(1) != designs[1].stream(1) != designs[1].stream(2)


def test_pairs_are_sampled_with_a_stream_of_their_own(frame, monkeypatch):
    seeds = []

    def sample(**settings):
        seeds.append(settings["random_seed"])
        raise KeyboardInterrupt

    monkeypatch.setattr("pymc.sample", sample)
    for table, model, seed in [
        (frame, "additive", 1),
        (frame[::-1], "additive", 1),
        (frame[:-1], "additive", 1),
        (frame, "crossed", 1),
        (frame, "additive", 2),
    ]:
        with pytest.raises(KeyboardInterrupt):
            bb.fit(table, model, seed=seed, sampler="pairwise")
    assert seeds[0] == seeds[1]
    assert len(set(seeds)) == 4
