"""How many words make an interval narrow enough, or a score reliable."""

import numpy as np
import pytest
from helpers.fits import made_up, pairs
from scipy import stats

from bayesbias.core.errors import InputError
from bayesbias.simulation import coverage
from bayesbias.simulation.sample_size import plan_reliability, sample_size
from bayesbias.simulation.scenario import (
    RELIGION_REDDIT,
    Scenario,
    scenario_from_fit,
)
from bayesbias.wordlists.wordlist import CONNECTIONS

MEAN, WORD_SD, ATTRIBUTE_SD, SIGMA = (
    RELIGION_REDDIT  # the names of the parameters of the model crossed
)


SPREADS = {
    "word_by_connection_sd": 0.1,
    "attribute_sd": 0.08,
    "class_by_attribute_sd": 0.05,
    "ms": 0.02,
    "sigma": 0.06,
}


def _cbar(connection: str) -> float:
    return 0.8 if connection == "associated" else 0.9


@pytest.fixture(scope="module")
def shared():
    """Spreads that hardly vary between draws, so that coefficients are those of the definition."""
    table = pairs().assign(
        attribute_kind=lambda t: t["connection"].where(
            t["connection"].isin(["human", "neutral"]), "stereotype"
        )
    )
    return made_up(table, "shared", {**SPREADS, "connection_mean": _cbar}, sd=1e-7)  # fmt: skip


def _weat(words: float, attributes: float) -> float:
    """Two classes, each with its own list: four cells; word effects per connection, and attributes by class."""
    mean = 2 * (0.8 - 0.9)
    error = 4 * 0.1**2 / words + 4 * 0.05**2 / attributes + 4 * 0.06**2 / (words * attributes)
    return mean**2 / (mean**2 + error)


def test_combinations_are_those_of_the_definition(shared):
    plan = plan_reliability(shared, 0.8, words=(3, 8), attributes=(4, 12))
    for row in plan.itertuples():
        assert row.mean == pytest.approx(_weat(row.words, row.attributes), rel=1e-4)
        assert row.enough == (row.mean >= 0.8)
        assert row.p_reached == float(row.enough)
    fit = shared.reliability(words=8, attributes=12).set_index(["measure", "coefficient"])
    row = plan.set_index(["words", "attributes"]).loc[(8, 12)]
    assert row["mean"] == pytest.approx(fit.loc[("weat", "against_zero"), "mean"], rel=1e-12)


def test_the_leanest_that_is_enough_comes_first(shared):
    plan = plan_reliability(shared, 0.7)
    enough = plan[plan["enough"]]
    assert 0 < len(enough) < len(plan)
    assert plan["enough"].is_monotonic_decreasing
    assert (enough["words"] + enough["attributes"]).is_monotonic_increasing


def test_the_score_of_a_word_is_of_one_word(shared):
    plan = plan_reliability(shared, 0.8, measure="word", coefficient="relative")
    assert set(plan["words"]) == {1}
    words, noise = (
        2 * 0.1**2,
        2 * 0.06**2,
    )  # what is common to both kinds of attributes cancels in the gap
    at = plan.set_index("attributes")["mean"]
    assert at[3] == pytest.approx(words / (words + noise / 3), rel=1e-4)


@pytest.mark.parametrize(
    ("wide", "enough"),
    [(5, False), (3, True)],  # of 20 studies: a quarter, and fewer than a fifth
)
def test_enough_is_what_four_of_five_studies_reach(monkeypatch, wide, enough):
    """The mean width is small enough in both cases."""
    widths = [0.05] * (20 - wide) + [0.15] * wide
    key = dict(zip(coverage.LABELS, ("overall", "all", "associated - different"), strict=True))
    tables = [{**key, "low": 0.0, "high": width} for width in widths]
    monkeypatch.setattr(coverage, "analyse_tables", lambda *_, **__: tables)
    size = {"words": (40,), "attributes": (50,), "progress": False}
    row = sample_size(0.1, **size).iloc[0]
    assert row["simulated_width"] == pytest.approx(np.mean(widths))
    assert row["simulated_width"] < 0.1
    assert bool(row["enough"]) == enough == (row["simulated_80"] <= 0.1)
    few = sample_size(0.1, check=3, **size).iloc[0]  # too few for a share: the widest
    assert not few["enough"]


@pytest.mark.slow
def test_more_words_make_narrower_intervals():
    plan = sample_size(0.1, words=(5, 12), attributes=(3, 12), check=2, progress=False).set_index(
        ["words", "attributes"]
    )
    assert (
        plan.loc[(12, 12), "known_width"]
        < plan.loc[(5, 12), "known_width"]
        < plan.loc[(5, 3), "known_width"]
    )
    simulated, known = (plan[f"{of}_width"] for of in ("simulated", "known"))
    assert plan["enough"].notna().tolist() == (simulated.notna() | (known > 0.1)).tolist()
    widest = simulated + plan["simulated_se"]  # of two tables
    assert plan["enough"].dropna().tolist() == (widest <= 0.1)[plan["enough"].notna()].tolist()
    assert plan["enough"].isna().any()  # they would do were the spreads known, and nobody tried
    checked = plan["simulated_width"].dropna()
    assert len(checked) == 1
    assert checked.iloc[0] == pytest.approx(plan.loc[checked.index[0], "known_width"], rel=0.4)
    error = plan.loc[checked.index[0], "simulated_se"]
    assert 0 < error < 0.3 * checked.iloc[0]
    assert plan["simulated_se"].notna().sum() == 1


def test_groups_on_shared_attributes_are_planned_for():
    """The default is the widest contrast between groups; words that vary by set add up over two groups."""
    frame = Scenario(
        words=(3, 4, 3),
        attributes=(4, 5),
        human=0,
        neutral=0,
        classes=("a", "b", "c"),
        sets=("warm", "able"),
    ).frame
    frame["distance"] += np.random.default_rng(1).normal(1, 0.1, len(frame))
    sds = {"a": 0.01, "b": 0.03, "c": 0.02}
    spreads = {
        "word_sd": 0.001,
        "attribute_sd": 0.05,
        "class_by_attribute_sd": 0.004,
        "sigma": 0.01,
    }
    values = {**spreads, "word_by_set_sd": lambda group: sds[group]}
    scenario = scenario_from_fit(made_up(frame, "groups", values, sd=1e-7))
    assert (scenario.classes, scenario.sets) == (("a", "b", "c"), ("warm", "able"))
    assert (scenario.words, scenario.attributes) == ((3, 4, 3), (4, 5))
    tried = {"scenario": scenario, "words": (6,), "attributes": (4,), "progress": False}
    plan = sample_size(9.0, check=2, **tried)
    assert plan.attrs["contrast"] == "b - c: warm - able"
    assert plan["simulated_width"].notna().all()
    known = plan["known_width"][0]
    words = sum((2 * sds[group] ** 2 + 2 * 0.01**2 / 4) / 6 for group in "bc")
    variance = words + 4 * 0.004**2 / 4  # of means with wide priors
    assert known == pytest.approx(2 * stats.norm.ppf(0.945) * np.sqrt(variance), rel=0.01)
    for contrast in ("a - b: warm", "a - c: warm - able"):
        assert sample_size(1.0, contrast=contrast, check=0, **tried)["known_width"][0] < known
    with pytest.raises(InputError, match="contrast"):
        sample_size(1.0, contrast="warm - able", check=0, **tried)


def test_expected_widths_are_those_of_the_exact_posterior():
    """Of balanced data, independently: each cell mean has variance csd^2 + sigma^2 / attributes, and so on."""
    each = {MEAN: 1.0, WORD_SD: 0.1, SIGMA: 1e-3}
    values = {name: dict.fromkeys(CONNECTIONS, value) for name, value in each.items()} | {
        ATTRIBUTE_SD: 1e-4
    }
    plain = Scenario(words=(4, 4), attributes=(3, 3), human=5, neutral=5, values=values)
    plan = sample_size(0.2, scenario=plain, words=(6, 24), attributes=(3,), check=0, progress=False)
    plan = plan.set_index("words")["known_width"]
    for words in (6, 24):
        # Noise and attributes hardly count here: two means of all words' cells, each with the prior N(1, 0.3).
        variance = 2 / (2 * words / 0.1**2 + 1 / 0.3**2)
        assert plan[words] == pytest.approx(2 * stats.norm.ppf(0.945) * np.sqrt(variance), rel=1e-4)
