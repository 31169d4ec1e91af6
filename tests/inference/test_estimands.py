"""Results that are about other things than connections."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from scipy.special import expit

from bayesbias.core.errors import InputError
from bayesbias.inference.estimands import mean_probabilities
from bayesbias.inference.fitting import fit
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model
from bayesbias.models.variants import trimmed


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
    draws = opinions.parameter_draws()
    expected = {
        "population": draws["classifier_mean"],
        "listed_words": draws["classifier_mean"]
        + draws["noun_pair_effect"].mean(axis=1)
        + draws["profession_effect"].mean(axis=1),
        "new_nouns": draws["classifier_mean"] + draws["profession_effect"].mean(axis=1),
        "new_professions": draws["classifier_mean"] + draws["noun_pair_effect"].mean(axis=1),
    }
    for estimand, values in expected.items():
        frame = opinions.summary(estimand=estimand)
        assert frame["classifier"].tolist() == ["one", "two"]
        assert frame["n_pairs"].tolist() == [120, 120]
        own = opinions.table_draws("summary", estimand=estimand).to_numpy().reshape(values.shape)
        np.testing.assert_allclose(own, values, atol=1e-12)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values) / 4)
        assert (np.abs(frame["mean"] - values.mean(axis=0)) / error).max() < mc.K
        assert (np.abs(frame["sd"] / values.std(axis=0, ddof=1) - 1)).max() < mc.K / np.sqrt(
            2 * len(values) / 4
        )
    wide = {name: mc.log_sd_of_row(opinions.summary(estimand=name).iloc[0]) for name in expected}
    assert wide["listed_words"].value < wide["new_professions"].value < wide["new_nouns"].value
    assert (wide["population"] - wide["new_nouns"]).may_reach(0)  # professions hardly vary
    with pytest.raises(InputError, match=r"estimand: expected .*Did you mean 'new_nouns'"):
        opinions.summary(estimand="new_noun")


def test_means_at_a_level_hold_its_own_effects(opinions):
    draws = opinions.parameter_draws()
    frame = opinions.means("noun_pair")
    own = opinions.table_draws("means", level="noun_pair").to_numpy()
    assert frame.columns[:4].tolist() == ["level", "name", "classifier", "estimand"]
    assert len(frame) == 24
    at = np.flatnonzero((frame["name"] == "n3") & (frame["classifier"] == "two"))[0]
    row = frame.iloc[at]
    i, c = (
        opinions.design.coords["noun_pair"].index("n3"),
        opinions.design.coords["classifier"].index("two"),
    )
    np.testing.assert_allclose(
        own[..., at].ravel(),
        draws["classifier_mean"][:, c] + draws["noun_pair_effect"][:, i, c],
        atol=1e-12,
    )
    assert row["n_pairs"] == 10
    with pytest.raises(InputError, match=r"level: expected .*got 'noun'.*Did you mean 'noun_pair'"):
        opinions.means("noun")


@pytest.mark.parametrize("group", [None, "one"])
def test_shares_are_those_of_the_spreads(opinions, group):
    draws = opinions.parameter_draws()
    pick = slice(None) if group is None else [opinions.design.coords["classifier"].index(group)]
    squares = {
        name: (draws[name][:, pick] ** 2).mean(axis=1)
        for name in ("noun_pair_sd", "profession_sd", "sigma")
    }
    total = sum(squares.values())
    frame = opinions.variance_partition(group=group)
    assert frame["source"].tolist() == ["noun_pair", "profession", "residual"]
    np.testing.assert_allclose(
        frame["mean"], [(v / total).mean() for v in squares.values()], atol=1e-12
    )
    assert frame["mean"].sum() == pytest.approx(1)
    assert frame["mean"].iloc[0] > 0.6
    with pytest.raises(InputError, match=r"classifier: expected .*got 'on'.*Did you mean 'one'"):
        opinions.variance_partition(group="on")


def test_shares_of_pairs_are_put_together_by_column(crossed):
    draws = crossed.parameter_draws()
    rows = crossed.table["connection"].map(crossed.design.coords["connection"].index).to_numpy()
    cells = (draws["word_by_connection_sd"][:, rows] ** 2).mean(axis=1)
    words = draws["attribute_sd"] ** 2
    noise = (draws["sigma"][:, rows] ** 2).mean(axis=1)
    frame = crossed.variance_partition().set_index("source")
    assert frame.index.tolist() == ["protected_word", "attribute", "residual"]
    for source, part in zip(frame.index, (cells, words, noise), strict=True):
        assert frame.loc[source, "mean"] == pytest.approx(
            (part / (cells + words + noise)).mean(), abs=1e-9
        )


def test_effects_with_an_sd_for_each_group_are_integrated_out_of_probabilities():
    """Against an average over many words of each group, one draw of the SDs at a time."""
    rng = np.random.default_rng(3)
    rows = [
        {"group": group, "arm": f"{group} | ", "model": "", "word": f"{group}{word}",
         "template": f"t{template}", "item": "", "question": f"{group}{word}{template}",
         "answer_pattern": "a, b", "chosen": 1, "answers": 2, "outcome": 0.5}
        for group in "ab" for word in range(3) for template in range(2)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    spec = trimmed(load_model("responses_choice"), frame)
    assert spec.parameters["word_sd"].dims == ("group",)
    design = Design.of(spec, frame)
    draws = {
        name: np.abs(rng.normal(0.8, 0.5, (4, design.size(name))))
        for name in spec.parameters
        if name in design.index or "sd" in name
    }
    kept = ["arm_mean", "template_effect"]
    arm = frame["arm"].map({"a | ": 0, "b | ": 1}).to_numpy()
    nothing = (np.zeros(len(frame), dtype=int), np.zeros((4, 1)))
    means, _ = mean_probabilities(
        design, draws, kept, nothing, arm, np.arange(4), np.ones(len(frame))
    )
    z = rng.standard_normal(400_000)
    for draw in range(4):
        for group in range(2):
            variance = sum(
                draws[f"{name.removesuffix('_effect')}_sd"][draw, 0] ** 2
                for name in spec.mu
                if name not in [*kept, "word_effect"]
            )
            spread = np.sqrt(variance + draws["word_sd"][draw, group] ** 2)
            center = draws["arm_mean"][draw, group] + draws["template_effect"][draw]
            shares = expit(center[:, None] + spread * z)
            error = shares.std() / np.sqrt(len(z))
            assert means[draw, group] == pytest.approx(shares.mean(), abs=5 * error)
