"""The mean of new units: what it adds to the posterior, by hand and by drawing tables of new units."""

import os

import numpy as np
import pandas as pd
import pytest
from helpers.responses import choice_answers, crossed, quick
from helpers.tables import grid
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.estimands import contrasts_of_means
from bayesbias.inference.prediction import NOUNS, new_rows, new_units, predicted_means
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model

LABELS = ["level", "name", "contrast"]
TABLES = 15 if os.environ.get("BAYESBIAS_TEST_SHORT") else 100


def asked_of(design, table, new, draws):
    means = predicted_means(design, new_units(design, table, new, NOUNS), lambda names, most: draws)
    return contrasts_of_means(design, means)


def place_of(asked, *key):
    return asked.keys.index(key)


def test_new_words_add_their_gaps_and_noise():
    """One class: each new word has a gap from each connection, and noise in each of its pairs."""
    table = grid((3, 2), (3, 2), 2, 3)
    design = Design.of(load_model("default"), table)
    x = design.prior_draws(50, 7)
    label = design.coords["connection"].index
    gap, noise = (x[name] ** 2 for name in ("word_by_connection_sd", "sigma"))
    numbers = {name: 5 + 2 * k for k, name in enumerate(design.coords["protected_class"])}
    asked = asked_of(design, table, {"words": numbers}, x)
    variance = asked.linear.new_variance(x)
    for name, words in numbers.items():
        own = table[table["protected_class"] == name]
        attributes = own.groupby("connection")["attribute"].nunique()
        by_hand = sum(
            (gap[:, label(side)] + noise[:, label(side)] / attributes[side]) / words
            for side in ("associated", "different")
        )
        found = variance[:, place_of(asked, "class", name, "associated - different")]
        np.testing.assert_allclose(found, by_hand, rtol=1e-10)


@pytest.mark.parametrize("new", ["words", "attributes", "both"])
@pytest.mark.parametrize("model", ["default", "crossed"])
def test_variance_is_that_of_tables_with_new_units(model, new):
    """Tables with twice as many new units, drawn with all else as it is."""
    table = grid((3, 2), (3, 2), 2, 3)
    spec, times = load_model(model), 2
    design = Design.of(spec, table)
    (x,) = (design.prior_draws(1, 3),)
    columns = {"words": ["protected_word"], "attributes": ["attribute"]}
    columns["both"] = columns["words"] + columns["attributes"]
    again = table
    asked = {}
    for column in columns[new]:
        copies = []
        for k in range(times):
            copies.append(again.assign(**{column: again[column].astype(str) + f" new{k}"}))
        again = pd.concat(copies, ignore_index=True)
        by = "protected_class" if column == "protected_word" else "attribute_class"
        listed = table.groupby(by)[column].nunique()
        noun = {"protected_word": "words", "attribute": "attributes"}[column]
        asked[noun] = (times * listed).to_dict()
    predicted = asked_of(design, table, asked, x)

    # Effects of new units are drawn, and all others are those of the listed table.
    drawn = Design.of(spec, again)
    kept = {}
    for name, parameter in spec.parameters.items():
        if not {*parameter.dims} & {*columns[new]}:
            kept[name] = x[name][0]
    draws = drawn.prior_draws(20_000, 5, given=kept)
    y = drawn.outcome_draws(draws, 6)
    for key in predicted.keys:
        level, name, contrast = key
        if level not in ("overall", "class") or contrast != "associated - different":
            continue
        rows = np.ones(len(again), dtype=bool)
        if level == "class":
            rows = (again["protected_class"] == name).to_numpy()
        sides = [
            y[:, rows & (again["connection"] == side).to_numpy()].mean(axis=1)
            for side in contrast.split(" - ")
        ]
        values = sides[0] - sides[1]
        k = place_of(predicted, *key)
        variance = predicted.linear.new_variance(x)[0, k]
        assert np.var(values) == pytest.approx(variance, rel=0.05)
        assert abs(values.mean() - predicted.linear.draws(x)[0, k]) < 4 * np.sqrt(variance / 20_000)


def test_numbers_of_new_words_in_a_balanced_table():
    """The variance of new words of each group, and of their answers, is added to that for new words."""
    frame = crossed(groups=("a", "b"), words=6, templates=4, items=1)
    result = quick(frame, draws=100, tune=100, chains=2)
    fit, few, many = result.fit, 3, 8
    found = result.predict_mean({"words": {"a": few, "b": many}}).iloc[0]
    row = result.contrasts(estimand="new_words", level="overall", detail=True).iloc[0]
    x = fit.parameter_draws()
    a, b = (x["word_sd"][:, fit.design.coords["group"].index(name)] ** 2 for name in "ab")
    noise = x["sigma"].reshape(len(a)) ** 2
    added = a / few + b / many + noise * (1 / few + 1 / many) / 4
    assert found["sd"] == pytest.approx(np.sqrt(row["sd"] ** 2 + added.mean()), rel=1e-6)
    assert found["mean"] == pytest.approx(row["mean"], abs=1e-9)
    assert found["low"] < row["hpdi_low"] < row["hpdi_high"] < found["high"]


def test_repeated_answers_of_numbers_have_less_noise():
    """With k answers to each question its noise is that of an answer over k, beside its effect."""
    frame = crossed(words=5, templates=3, items=1)
    rng = np.random.default_rng(4)
    repeats = frame.loc[frame.index.repeat(3)].reset_index(drop=True)
    repeats["outcome"] += rng.normal(0, 0.3, len(repeats))
    repeats["repeat"] = np.tile(np.arange(3), len(frame))
    result = quick(repeats, draws=100, tune=100, chains=2)
    x, words = result.fit.parameter_draws(), 4
    found = result.predict_mean({"words": words}).iloc[0]
    row = result.contrasts(estimand="new_words", level="overall", detail=True).iloc[0]
    groups = (x["word_sd"] ** 2).reshape(len(x["sigma"]), -1).sum(axis=1)
    of_question = x["question_sd"].ravel() ** 2 + x["sigma"].ravel() ** 2 / 3
    added = groups / words + 2 * of_question / (3 * words)
    assert found["sd"] == pytest.approx(np.sqrt(row["sd"] ** 2 + added.mean()), rel=1e-6)


def test_many_new_units_are_the_population():
    result = quick(crossed(words=5, templates=3, items=2), draws=100, tune=100, chains=2)
    row = result.contrasts(estimand="population", level="overall", detail=True).iloc[0]
    many = dict.fromkeys(("words", "prompts", "items"), 10**6)
    found = result.predict_mean(many).iloc[0]
    assert found["sd"] == pytest.approx(row["sd"], rel=1e-3)


def test_probabilities_of_many_new_words_are_those_of_the_fit():
    result = quick(choice_answers(), draws=500, tune=300, chains=2)
    rows = result.contrasts(estimand="new_words", level="overall", detail=True)
    row = rows[rows["scale"] == "probability"].iloc[0]
    found = result.predict_mean({"words": 400}, seed=1).iloc[0]
    few = result.predict_mean({"words": 3}, seed=1).iloc[0]
    assert found["mean"] == pytest.approx(row["mean"], abs=0.02)
    assert found["sd"] == pytest.approx(row["sd"], rel=0.15)
    assert few["sd"] > 1.3 * found["sd"]
    again = result.predict_mean({"words": 3}, seed=1).iloc[0]
    pd.testing.assert_series_equal(few, again)


def test_shares_of_new_answers_are_multiples_of_their_number():
    """One new word of each group with three prompts and ten answers: shares are tenths over three."""
    result = quick(choice_answers(), draws=200, tune=200, chains=2)
    found = result.predict_mean({"words": 1}, prob=0.5).iloc[0]
    assert found["low"] * 30 == pytest.approx(round(found["low"] * 30), abs=1e-9)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"prompts": 2}, "new, prompts: expected 2 or more of the table, got none"),
        ({"words": 0}, "new, words: expected"),
        ({"words": {"a": 2}}, "new, words: expected a number for each group"),
        ({"wrods": 2}, "Did you mean 'words'"),
        (["words"], "new: expected a mapping"),
        ({"words": 2, "word": 3}, "new: expected each kind of units once"),
    ],
)
def test_what_is_new_has_to_be_in_the_table(new, message):
    frame = crossed(words=4, templates=1, items=3).drop(columns="template")
    result = quick(frame, draws=100, tune=100, chains=2)
    with pytest.raises(InputError, match=message):
        result.predict_mean(new)


def test_levels_and_means_of_a_fit():
    table = bb.distance_table("minilm-static", "religion")
    fit = bb.fit(table, seed=1, draws=100, tune=100, chains=2, engine="quick", progress=False)
    found = fit.predict_mean({"words": 10})
    assert set(found["level"]) == {"overall", "class", "attribute_set"}
    means = fit.predict_mean({"words": 10}, level="overall", means=True)
    assert means.columns.tolist() == ["level", "name", "connection", "mean", "sd", "low", "high"]
    first = fit.predict_mean({"words": 10}, level="overall").iloc[0]
    gap = means.set_index("connection")["mean"]
    assert first["mean"] == pytest.approx(gap["associated"] - gap["different"], abs=1e-9)
    with pytest.raises(InputError, match="level: expected"):
        fit.predict_mean({"words": 10}, level="word")


def test_robust_models_have_no_prediction():
    table = grid((3, 2), (3, 2), 2, 3)
    design = Design.of(load_model("robust"), table)
    with pytest.raises(FitError, match="normal noise"):
        asked_of(design, table, {"words": 3}, design.prior_draws(5, 1))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numbers", pytest.param("choices", marks=pytest.mark.full)])
def test_intervals_hold_what_new_words_show(kind):
    """Tables of twice as many words: half is fitted, and the mean of the other half is predicted."""
    rng, tables, words, held = np.random.default_rng(8), TABLES, 8, 0
    for number in range(tables):
        frame = crossed(words=2 * words, templates=3, items=1, spread=0.7, seed=number)
        if kind == "choices":
            frame = frame.loc[frame.index.repeat(5)].reset_index(drop=True)
            chance = 1 / (1 + np.exp(-frame["outcome"]))
            frame["outcome"] = (rng.random(len(frame)) < chance).astype(int)
        first = frame["word"].str[1:].astype(int) < words
        result = quick(frame[first], draws=250, tune=250, chains=2)
        row = result.predict_mean({"words": words}).iloc[0]
        means = frame[~first].groupby("group")["outcome"].mean()
        held += row["low"] <= means["a"] - means["b"] <= row["high"]
    low, high = stats.binom.ppf([0.001, 0.999], tables, 0.89) / tables
    assert low <= held / tables <= high


def test_words_with_items_of_their_own_differ_in_these():
    """Each word has two of six items: means of item effects vary between words, listed and new."""
    frame = crossed(words=9, templates=1, items=6)
    rng = np.random.default_rng(5)
    keep = frame.groupby("word")["item"].transform(lambda items: rng.permutation(len(items)) < 2)
    result = quick(frame[keep.astype(bool)], draws=100, tune=100, chains=2)
    questions, design = result._questions()
    (draw,) = (result.fit.scales_and_effects(design.spec.mu, 1),)
    units = result._new_units({"words": 4})
    means = predicted_means(design, units, lambda names, most: draw, levels=["overall"])
    (layouts,) = [new for new in means.linear.shared if new.sd == 1.0]
    found = dict(zip([key[2] for key in means.keys], (layouts.weights**2).sum(axis=1), strict=True))
    effect = np.zeros(len(questions))
    for name in design.spec.mu:
        if not {"word", "question"} & {*design.spec.parameters[name].dims}:
            effect += draw[name].ravel()[design.index[name]]
    by_word = pd.Series(effect).groupby([questions["arm"], questions["word"]]).mean()
    for arm, values in by_word.groupby(level=0):
        assert found[arm] == pytest.approx(values.var(ddof=1) * (1 / 4 + 1 / 9), rel=1e-9)
    balanced = quick(frame, draws=100, tune=100, chains=2)
    design = balanced._questions()[1]
    effects = balanced.fit.scales_and_effects
    means = predicted_means(design, balanced._new_units({"words": 4}), effects, None, ["overall"])
    assert all(new.sd != 1.0 for new in means.linear.shared)


def test_words_of_one_item_each_are_strata():
    """Of ten words of a group, six are about the first item: so are six of ten new ones."""
    frame = crossed(words=10, templates=3, items=2)
    first = frame["word"].str[1:].astype(int) < 6
    frame = frame[first == (frame["item"] == "i0")]
    result = quick(frame, draws=100, tune=100, chains=2)
    (units,) = result._new_units({"words": 5})
    assert sorted(units.number) == [2, 2, 3, 3]
    questions, _ = result._questions()
    for seed in range(5):
        rows = new_rows([units], np.random.default_rng(seed))
        copied = questions.iloc[rows.source]
        words = pd.Series(rows.copies[0]).groupby(
            [copied["group"].to_numpy(), copied["item"].to_numpy()]
        )
        assert words.nunique().to_dict() == {
            ("a", "i0"): 3, ("a", "i1"): 2, ("b", "i0"): 3, ("b", "i1"): 2
        }  # fmt: skip
    effects = result.fit.scales_and_effects
    means = predicted_means(result._questions()[1], [units], effects, None, ["overall"])
    assert all(new.sd != 1.0 for new in means.linear.shared)


def test_prompts_that_groups_share_are_new_to_both():
    result = quick(choice_answers(), draws=100, tune=100, chains=2)
    (units,) = result._new_units({"prompts": 7})
    rows = new_rows([units], np.random.default_rng(0))
    copied = result._questions()[0].iloc[rows.source]
    assert len(rows.source) == 7 * 10
    assert (copied.groupby(rows.copies[0])["group"].nunique() == 2).all()
    assert (copied.groupby(rows.copies[0])["template"].nunique() == 1).all()


def test_words_that_most_groups_share_have_one_number():
    """Of words in the answers of both groups m are new to both; a few shared ones are two words each."""
    frame = choice_answers()
    shared = frame.assign(word=frame["word"].str[1:])
    result = quick(shared, draws=100, tune=100, chains=2)
    (units,) = result._new_units({"words": 3})
    assert units.number.tolist() == [3]
    with pytest.raises(InputError, match="expected one number, since groups share words"):
        result.predict_mean({"words": {"a": 3, "b": 4}})
    few = frame.assign(word=frame["word"].replace({"a0": "same", "b0": "same"}))
    (units,) = quick(few, draws=100, tune=100, chains=2)._new_units({"words": {"a": 3, "b": 4}})
    assert units.number.tolist() == [3, 4]
    assert units.listed.tolist() == [5, 5]
