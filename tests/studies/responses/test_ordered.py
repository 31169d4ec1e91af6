"""Ratings in order: what is compared, against other computations, and what is refused or offered."""

import numpy as np
import pandas as pd
import pytest
from helpers.responses import shared
from helpers.seeds import shifted
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.studies.responses.kinds import kind_named
from bayesbias.studies.responses.kinds.ordered import mean_ratings, shares_at_least


def ratings(words=4, items=6, difference=0.8, seed=1, levels=(1, 2, 3, 4, 5)):
    """Simulate ratings of two groups of words, two thirds of them at the lowest level."""
    rng = np.random.default_rng(seed)
    rows = []
    of_item = rng.normal(0, 0.7, items)
    for group, word, item in np.ndindex(2, words, items):
        latent = difference * group - 0.7 + of_item[item] + rng.logistic()
        level = np.digitize(latent, np.arange(len(levels) - 1) * 0.9)
        rows.append([f"g{group}", f"g{group}w{word}", f"i{item}", levels[level]])
    return pd.DataFrame(rows, columns=["group", "word", "item", "rating"])


@pytest.fixture(scope="module")
def result():
    table = bb.responses_table(ratings(), outcome="rating")
    return bb.fit_responses(table, "ordered", seed=1, draws=400, progress=False)


def test_scales_of_an_ordered_fit_agree(result):
    """The difference in means is the sum of those in P(at least k), by the distance of levels."""
    assert (result.kind, result.fit.spec.name) == ("ordered", "responses_ordered")
    rows = result.contrasts(estimand="population", level="overall").set_index("scale")["mean"]
    scales = ["outcome", "at_least_2", "at_least_3", "at_least_4", "at_least_5", "log_odds"]
    assert [*rows.index] == scales
    assert rows["outcome"] == pytest.approx(rows[scales[1:5]].sum())
    assert np.sign(rows["outcome"]) == np.sign(rows["log_odds"])


def test_probabilities_are_integrals_over_new_words_and_items(result):
    """By another way: draws of new effects in place of quadrature."""
    draws, spec = result.fit.parameter_draws(), result.fit.spec
    means = draws["arm_mean"].reshape(-1, 2)
    n = len(means)
    rng = np.random.default_rng(shifted(6))
    latent = means[:, 0]
    for name in spec.mu[1:]:
        sd = draws[str(spec.parameters[name].args["sigma"])].reshape(n, -1)[:, 0]
        latent = latent + sd * rng.standard_normal((100, n))
    cut = draws["gap_2"].ravel() + draws["gap_3"].ravel()
    expected = stats.logistic.sf(cut - latent).mean()
    keys = result._means("population", "overall").parts[""].keys
    shares, _ = shares_at_least(result, "population", "overall", keys)
    assert shares["at_least_4"][..., 0].mean() == pytest.approx(expected, abs=0.005)


def test_a_reversed_difference_has_all_scales(result):
    printed = result.contrasts(level="overall", estimand="population")
    first, second = printed["contrast"].iloc[0].split(" - ")
    turned = result.compare(f"{second} - {first}", estimand="population")
    assert turned["scale"].tolist() == printed["scale"].tolist()
    assert turned["mean"].tolist() == pytest.approx((-printed["mean"]).tolist(), abs=1e-9)


def test_levels_may_be_any_whole_numbers(result):
    far = bb.responses_table(ratings(levels=(0, 10, 20, 30, 100)), outcome="rating")
    assert far.levels == (0, 10, 20, 30, 100)
    shares = {f"at_least_{level}": np.array([share]) for level, share in ((10, 0.5), (20, 0.4), (30, 0.2), (100, 0.1))}  # fmt: skip
    assert mean_ratings(far, shares) == pytest.approx(0.1 * 10 + 0.2 * 20 + 0.1 * 30 + 0.1 * 100)
    found = bb.fit_responses(far, "ordered", seed=1, draws=400, progress=False)
    ours, theirs = (
        fitted.contrasts(estimand="population", level="overall").set_index("scale")["mean"]
        for fitted in (found, result)
    )
    assert ours["log_odds"] == pytest.approx(theirs["log_odds"], abs=0.05)


def test_rates_have_means_and_probabilities(result):
    rates = result.rates().set_index("group")
    for level in (2, 3, 4, 5):
        low, middle, high = (rates[f"at_least_{level}{end}"] for end in ("_low", "", "_high"))
        assert (low < middle).all()
        assert (middle < high).all()
    total = 1 + sum(rates[f"at_least_{level}"] for level in (2, 3, 4, 5))
    np.testing.assert_allclose(rates["rate"], total)
    items = result.items()
    assert items["mean"].between(1, 5).all()


def test_no_rating_above_the_floor_in_one_group():
    """The end of the interval of P(above 0) is near that of the Jeffreys prior."""
    rng = np.random.default_rng(shifted(3))
    above = rng.choice(5, 200, p=[0.6, 0.15, 0.1, 0.1, 0.05])
    frame = pd.DataFrame(
        {
            "group": ["a"] * 200 + ["b"] * 200,
            "item": [f"i{k % 10}" for k in range(200)] * 2,
            "rating": [*np.zeros(200, dtype=int), *above],
        }
    )
    table = bb.responses_table(frame, outcome="rating")
    found = bb.fit_responses(table, "ordered", seed=1, progress=False)
    keys = found._means("population", "overall").parts[""].keys
    shares, _ = shares_at_least(found, "population", "overall", keys)
    end = np.quantile(shares["at_least_1"][..., 0], 0.945)
    jeffreys = stats.beta.ppf(0.945, 0.5, 200.5)
    assert jeffreys == pytest.approx(0.0092, abs=5e-5)
    assert 0.6 < end / jeffreys < 1.5


@pytest.mark.slow
def test_factors_covariates_and_models_work_as_for_other_answers():
    frame = pd.concat([ratings(seed=seed).assign(model=f"m{seed}") for seed in (1, 2)])
    frame["age"] = np.where(frame["word"].str.endswith(("w0", "w1")), "old", "young")
    frame["length"] = np.arange(len(frame)) % 7
    table = bb.responses_table(frame, group=["group", "age"], outcome="rating", adjust="length")
    found = bb.fit_responses(table, "ordered", seed=1, draws=200, progress=False)
    rows = found.contrasts(estimand="population", detail=True)
    assert {"main", "simple", "interaction"} <= {*rows["level"]}
    assert {"m1", "m2", "m1 - m2"} == {*rows["model"]}
    assert "adjust_1" in found.fit.spec.mu
    families = rows[rows["level"].eq("main") & rows["family"].ne("")]
    assert (families["high_family"] >= families["hpdi_high"] - 1e-9).mean() > 0.9


def test_repeated_ratings_of_a_question_share_its_effect():
    frame = pd.concat([ratings(), ratings(seed=2)])
    table = bb.responses_table(frame, outcome="rating")
    found = bb.fit_responses(table, "ordered", seed=1, draws=200, progress=False)
    assert "question_effect" in found.fit.spec.mu
    rows = found.contrasts(estimand="listed_words", level="overall")
    assert len(rows) == 6
    assert len(found.answer_kind.questions(found.fit.table)) == len(ratings())


@pytest.mark.parametrize(
    ("change", "options", "problem"),
    [
        ({"rating": lambda rows: rows["rating"] / 2}, {}, "rating: expected 3 to 11 whole numbers"),
        ({"rating": lambda rows: rows["rating"] > 1}, {}, r"levels, got 2 \(0, 1\)"),
        ({"n": 3}, {"weight": "n"}, "got means of several answers"),
    ],
)
def test_what_cannot_be_ordered_is_refused(change, options, problem):
    table = bb.responses_table(ratings().assign(**change), outcome="rating", **options)
    with pytest.raises(InputError, match=problem):
        bb.fit_responses(table, "ordered")


def test_numbers_stay_the_default_and_a_note_offers_the_model():
    table = bb.responses_table(ratings(), outcome="rating")
    found = bb.fit_responses(table, seed=1, draws=200, progress=False)
    assert found.kind == "number"
    offered = "Answers have 5 levels. --model ordered"
    assert any(note.startswith(offered) for note in found.notes)
    asked = bb.fit_responses(table, "responses", seed=1, draws=200, progress=False)
    assert not any("--model ordered" in note for note in asked.notes)


def test_the_screen_has_the_mean_and_the_middle_level(result):
    text = str(result)
    assert "difference in mean rating" in text
    assert "P(rating at least 2)" in text
    assert kind_named("ordered").second_scale(result.responses)[0] == "at_least_2"
    detail = bb.output.to_text(result, detail=True)
    rates = detail.partition("Each group, the highest first")[2]
    assert "P(rating at least 2)" in rates
    stored = bb.output.to_json(result)
    assert "at_least_2" in {row["scale"] for row in stored["contrasts"]}


@pytest.mark.slow
def test_the_advice_of_two_models_is_that_of_clmm():
    """Persona + model + (1 | case), by ordinal::clmm of R: estimates and standard errors."""
    (path,) = shared("audits", "advice_ratings.csv")
    table = bb.studies.load_responses(
        path,
        columns={
            "group": "persona",
            "adjust": "model",
            "item": "case_id",
            "outcome": "p1_guideline",
        },
    )
    found = bb.fit_responses(table, "ordered", seed=1, progress=False)
    rows = found.contrasts(estimand="population", level="overall", detail=True, families=False)
    rows = rows[rows["scale"] == "log_odds"].set_index("contrast")
    clmm = {"Low_Income": (-0.80, 0.40), "Male": (-0.41, 0.40), "Female": (-0.03, 0.39), "Wealthy": (-0.02, 0.39)}  # fmt: skip
    for persona, (estimate, error) in clmm.items():
        row = rows.loc[f"Baseline - {persona}"]
        assert -row["mean"] == pytest.approx(estimate, abs=0.2 * error), persona
        assert row["sd"] == pytest.approx(error, rel=0.25), persona
    draws = found.fit.parameter_draws()
    assert draws["gap_2"].mean() == pytest.approx(5.70 - 1.69, abs=0.2)
