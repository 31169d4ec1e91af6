"""The model of sentence tests: simulated truth is recovered, and rows say what the fit says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from helpers.sentences import FAST, own, toy

from bayesbias.inference.fitting import fit
from bayesbias.models.loading import load_model
from bayesbias.models.trimming import trimmed
from bayesbias.studies.sentences import seat as sentences_room
from bayesbias.studies.sentences.seat import seat
from bayesbias.tables.sentences import sentence_table


def made(rng, words=5, templates=6, gap=-0.06, word=0.03, template=0.03, noise=0.02):
    """Return a sentence table out of the model: `word` and `template` are the spreads of the gap."""
    effects: dict[object, float] = {}

    def effect(key, sd):
        if key not in effects:
            effects[key] = rng.normal(0, sd)
        return effects[key]

    targets = [
        (f"{c}{i}", c, f"T{t}") for c in "xy" for i in range(words) for t in range(templates)
    ]
    others = [
        (f"a{c}{i}", c, f"A{t}") for c in "xy" for i in range(words) for t in range(templates)
    ]
    rows = []
    for w, c, p in targets:
        for b, d, q in others:
            which = "associated" if c == d else "different"
            mean = (
                0.9
                + (gap if c == d else 0)
                + effect(("c", w, which), word)
                + effect(("u", b, c), word)
            )
            mean += effect(("pc", p, which), template) + effect(("qc", q, which), template)
            mean += (
                effect(("m", w), 0.05)
                + effect(("v", b), 0.05)
                + effect(("p", p), 0.05)
                + effect(("q", q), 0.05)
            )
            mean += effect(("s", w, p), 0.02) + effect(("r", b, q), 0.02) + rng.normal(0, noise)
            rows.append((w, c, p, b, d, q, "stereotype", which, mean))
    names = [
        "protected_word",
        "protected_class",
        "protected_template",
        "attribute",
        "attribute_class",
    ]
    return pd.DataFrame(
        rows, columns=[*names, "attribute_template", "attribute_kind", "connection", "distance"]
    )


def gaps(table, **settings):
    found = fit(table, trimmed(load_model("sentence"), table), pointwise=False, **settings)
    frames = [
        found.contrasts(estimand=e, level="overall")
        for e in ("listed_words", "new_templates", "new_words", "population")
    ]
    return found, pd.concat(frames).set_index("estimand")


@pytest.mark.slow
def test_a_word_test_is_fitted_without_templates():
    result = seat([own("word"), own()], toy, seed=shifted(1), bayes=True, **FAST)
    rows = result.frame.set_index("level")
    # Without templates there is no such share; it is not zero.
    assert rows.loc["word", ["share_template", "share_sentence"]].isna().all()
    assert rows.at["sentence", "share_template"] > 0.02
    shares = [c for c in rows.columns if c.startswith("share_")]
    np.testing.assert_allclose(rows[shares].sum(axis=1), 1, atol=1e-9)
    spec = trimmed(load_model("sentence"), sentence_table(own("word"), toy).frame)
    assert spec.mu == (
        "word_by_connection",
        "attribute_effect",
        "class_by_attribute",
        "word_effect",
    )
    assert (rows["hpdi_low"] < rows["contrast"]).all()
    assert (rows["contrast"] < rows["hpdi_high"]).all()


@pytest.mark.slow
def test_rows_say_what_the_fit_says():
    """With the seed of the test, so that the fit is the same."""
    test = own()
    row = seat([test], toy, seed=shifted(7), bayes=True, prob=0.5, **FAST).frame.iloc[0]
    table = sentence_table(test, toy)
    own_seed = sentences_room._seed_of_test(shifted(7), test)
    spec = trimmed(load_model("sentence"), table.frame)
    found = fit(table, spec, seed=own_seed, pointwise=False, **FAST)
    gap = found.contrasts(0.5, estimand="population", level="overall").iloc[0]
    assert (
        row[["contrast", "hpdi_low", "hpdi_high"]].tolist()
        == gap[["mean", "hpdi_low", "hpdi_high"]].tolist()
    )
    standard = found.standardized(estimand="population", level="overall").iloc[0]
    assert row["standardized"] == standard["mean"]
    assert row["probability_of_superiority"] == standard["probability_of_superiority"]
    assert row["prior_sensitivity"] == found.prior_sensitivity()["prior"].iloc[0]
    shares = found.variance_partition().set_index("source")["mean"]
    words = [
        "protected_word",
        "attribute",
        "attribute x protected_class",
        "attribute x protected_word",
    ]
    assert row["share_word"] == pytest.approx(shares[words].sum())
    assert row["share_residual"] == pytest.approx(shares["residual"])


# Intervals of 89 %: 3 or fewer of 6 have a chance of 1 in 30.
@pytest.mark.claim
@pytest.mark.parametrize(("tables", "least"), [(6, 4)])
def test_truth_is_recovered_and_new_words_and_templates_cost_certainty(tables, least):
    truth, inside, templates = -0.06, 0, []
    for seed in range(tables):
        table = made(np.random.default_rng(seed), gap=truth)
        _, frame = gaps(table, seed=shifted(seed), draws=500, tune=500, chains=2)
        row = frame.loc["population"]
        inside += row["hpdi_low"] < truth < row["hpdi_high"]
        sd = frame["sd"]
        assert sd["listed_words"] < min(sd["new_words"], sd["new_templates"])
        wider = {name: mc.log_sd_of_row(frame.loc[name]) for name in frame.index}
        for name in ("new_words", "new_templates"):
            assert (wider["population"] - wider[name]).may_reach(0), name
        still = made(np.random.default_rng(seed), gap=truth, template=0.0)
        _, quiet = gaps(still, seed=shifted(seed), draws=500, tune=500, chains=2)
        templates.append((sd["new_templates"], quiet.loc["new_templates", "sd"]))
    assert inside >= least
    # Where templates do not vary the gap, new ones cost nearly nothing.
    loud, quiet = np.mean(templates, axis=0)
    assert quiet < 0.4 * loud
