"""Responses: estimates of the crossed models, published scores, limits and ROPEs."""

import numpy as np
import pandas as pd
import pytest
from helpers.responses import choice_answers, choices, crossed, fitted, quick, replies, shared

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.workers import threads
from bayesbias.inference import unbalanced
from bayesbias.inference.unbalanced import Layout
from bayesbias.models.design import Design
from bayesbias.models.variants import without_terms


@pytest.mark.parametrize("together", [True, False])
def test_answers_of_one_reply_go_together(tmp_path, together):
    """The SD for these words and prompts is that of replies, as independent units, over sqrt(R)."""
    rng = np.random.default_rng(3)
    wrong = (lambda: [rng.random() < 0.2] * 4) if together else (lambda: rng.random(4) < 0.2)
    table = bb.studies.load_responses(choices(tmp_path, replies(wrong)))
    found = fitted(table, draws=500, chains=2)
    row = found.contrasts(estimand="listed_words", level="overall", detail=True).query(
        "scale == 'probability'"
    )
    scores = bb.studies.responses.table.answer_scores(table)["score"]
    assert row["sd"].item() == pytest.approx(scores.std() / np.sqrt(len(scores)), rel=0.25)
    assert row["mean"].item() == pytest.approx(scores.mean(), abs=2 * row["sd"].item())


def test_published_t_is_undefined_where_all_answers_agree(tmp_path):
    table = bb.studies.load_responses(
        choices(tmp_path, ["joy - young\nlove - young\nhurt - old\nevil - old"] * 5)
    )
    found = fitted(table, draws=200, tune=200, chains=2)
    assert np.isnan(found.published["t"]).all()
    assert any("undefined" in note for note in found.notes)


def test_winogender_as_published():
    table = bb.studies.load_responses(shared("logprob/winogender_masked_lm_scores.csv"))
    found = fitted(table)
    assert "log probability" in bb.output.to_text(found)
    rows = found.published[found.published["name"] == "female - male"].set_index("score")
    assert rows.loc["paired t over pairs", ["n", "t"]].tolist() == pytest.approx(
        [240, 9.9], abs=0.05
    )
    assert rows.loc["paired t over items", ["n", "t"]].tolist() == pytest.approx(
        [60, 5.7], abs=0.05
    )
    own = found.contrasts(level="overall")
    assert set(own["contrast"]) >= {"female - male", "female - others", "male - neutral"}


def test_numbers_are_fitted_exactly_and_contrasted():
    table = bb.responses_table(crossed(("a", "b", "c"), difference=0.8, seed=3))
    found = fitted(table)
    assert found.kind == "number"
    assert found.fit.provenance["sampler"]["method"] == "collapsed"
    frame = found.contrasts(estimand="listed_words", level="overall", detail=True).set_index(
        "contrast"
    )
    means = table.frame.groupby("group")["outcome"].mean()
    assert frame.loc["a - c", "observed"] == pytest.approx(means["a"] - means["c"])
    assert frame.loc["b - others", "observed"] == pytest.approx(
        means["b"] - (means["a"] + means["c"]) / 2
    )
    wide = found.contrasts(estimand="population", level="overall", detail=True).set_index(
        "contrast"
    )
    assert wide.loc["a - c", "sd"] > frame.loc["a - c", "sd"]
    assert wide.loc["a - c", "verdict"].startswith("below")
    with pytest.raises(InputError, match="fit_responses"):
        bb.fit(table)


def samples(seed=1, prompts=12, within=0.2, fewest=4):
    """Return numbers for prompts that each group has of its own, with unequal numbers of samples."""
    rng = np.random.default_rng(seed)
    rows = []
    for group in ("a", "b"):
        for prompt in range(prompts):
            level = rng.normal(0.4 * (group == "b"), 0.8)
            values = rng.normal(level, within, rng.integers(fewest, 20))
            rows += [(group, f"{group} {prompt}", y) for y in values]
    return pd.DataFrame(rows, columns=["group", "prompt", "score"])


@pytest.mark.slow
def test_repeats_narrow_these_prompts_and_not_new_ones():
    """As t-tests of the means of prompts, and the SD within prompts, do."""
    frame = samples()
    found = quick(frame)
    rows = found.contrasts(level="overall", detail=True).set_index("estimand")
    by_prompt = frame.groupby(["group", "prompt"])["score"].agg(["mean", "var", "count"])
    within = np.average(by_prompt["var"], weights=by_prompt["count"] - 1)
    of_mean = (within / by_prompt["count"]).groupby("group").sum() / 12**2
    means = by_prompt["mean"].groupby("group").agg(["mean", "var"])
    difference = means.loc["a", "mean"] - means.loc["b", "mean"]
    these, new = rows.loc["listed_words"], rows.loc["population"]
    assert these["observed"] == pytest.approx(difference)  # each prompt counts once
    assert these["sd"] == pytest.approx(np.sqrt(of_mean.sum()), rel=0.05)
    assert new["sd"] == pytest.approx(np.sqrt(means["var"].sum() / 12), rel=0.15)
    alone = found.independent().iloc[0]
    assert (alone["answers"], alone["questions"]) == (len(frame), 24)
    assert 20 < alone["mean"] < 35
    assert not any("have one answer each" in note for note in found.notes)


@pytest.mark.slow
def test_repeats_and_their_means_with_weights_have_one_posterior():
    """Given the SDs: a dense normal distribution of the means of questions, with the noise over n."""
    rng = np.random.default_rng(2)
    frame = crossed(words=5, templates=2, items=2, seed=3)
    frame = frame.loc[frame.index.repeat(rng.integers(1, 6, len(frame)))].reset_index(drop=True)
    frame["outcome"] += rng.normal(0, 0.2, len(frame))
    found = fitted(frame, draws=100, tune=300, chains=2)
    fit = found.fit
    assert "question_effect" in fit.spec.mu
    draws = fit.scales_and_effects(())
    labels = ["group", "word", "template", "item", "arm", "question", "model"]
    cells = fit.table.astype(dict.fromkeys(labels, str))
    cells = cells.groupby(labels, sort=False)["outcome"].agg(["mean", "count"]).reset_index()
    arms = pd.get_dummies(cells["arm"]).to_numpy(float)
    prior = fit.spec.parameters["arm_mean"].args
    weights = np.where(cells["group"] == "a", 1, -1) / 20  # 20 questions of each group
    mean, variance = [], []
    for k in range(200):
        cov = prior["sigma"] ** 2 * arms @ arms.T
        for name in filter(fit.spec.is_random, fit.spec.mu):
            about = fit.spec.parameters[name]
            unit = cells.groupby(list(about.dims)).ngroup().to_numpy()
            squares = draws[about.args["sigma"]].reshape(200, -1)[k] ** 2
            by_group = fit.spec.parameters[about.args["sigma"]].dims == ("group",)
            variances = squares[(cells["group"] == "b").astype(int)] if by_group else squares
            cov += variances * (unit[:, None] == unit)
        noise = np.diag(draws["sigma"].ravel()[k] ** 2 / cells["count"])
        gain = weights @ cov @ np.linalg.inv(cov + noise)
        mean.append(gain @ (cells["mean"] - prior["mu"]))
        variance.append(weights @ cov @ weights - gain @ cov @ weights)
    sd = np.sqrt(np.mean(variance) + np.var(mean))
    row = found.contrasts(estimand="listed_words", level="overall", detail=True).iloc[0]
    assert row["sd"] == pytest.approx(sd, rel=1e-6)
    within = frame.groupby(labels[:4])["outcome"].agg(["var", "count"]).query("count > 1")
    pooled = np.average(within["var"], weights=within["count"] - 1)
    assert draws["sigma"].mean() == pytest.approx(np.sqrt(pooled), rel=0.05)


def test_repeats_of_pairs_tell_these_items_from_new_ones():
    rng = np.random.default_rng(5)
    rows = []
    for item in range(15):
        level, difference = rng.normal(0, 2), rng.normal(0.5, 0.6)
        for group, mean in (("a", level + difference), ("b", level)):
            numbers = 8 + 4 * (group == "a")  # of the surplus only the mean is used
            rows += [(group, f"i{item}", y) for y in rng.normal(mean, 0.3, numbers)]
    frame = pd.DataFrame(rows, columns=["group", "item", "score"])
    found = quick(frame)
    assert found.kind == "paired"
    means = frame.groupby(["item", "group"])["score"].mean().unstack()
    d = means["a"] - means["b"]
    rows = found.contrasts(level="overall", detail=True).set_index("estimand")
    assert rows.loc["listed_words", "observed"] == pytest.approx(d.mean())
    noise = np.sqrt(2 * 0.3**2 / 8 / 15)
    assert rows.loc["listed_words", "sd"] == pytest.approx(noise, rel=0.15)
    assert rows.loc["population", "sd"] == pytest.approx(d.std() / np.sqrt(15), rel=0.2)
    assert found.published["n"].tolist() == [15]
    assert found.rope == pytest.approx(0.1 * d.std(ddof=0), rel=0.05)


def test_differences_of_repeats_have_the_mean_of_all_answers():
    frame = crossed(models=("m", "n"), words=1, items=4).assign(word="")
    frame = frame.loc[frame.index.repeat(np.tile([2, 3, 4], 16))].reset_index(drop=True)
    frame["outcome"] += np.random.default_rng(0).normal(0, 0.2, len(frame))
    table = bb.responses_table(frame)
    tables = bb.studies.responses.table
    rows, _ = tables.differences(table, repeats=True)
    single, _ = tables.differences(table)
    means = tables.means_of_questions(rows)
    labels = ["series", "question"]
    pd.testing.assert_series_equal(
        means.set_index(labels)["outcome"].sort_index(),
        single.set_index(labels)["outcome"].sort_index(),
    )
    counts = frame.groupby(["model", "template", "item", "group"]).size()
    fewest = counts.groupby(["model", "template", "item"]).min()
    of_model = rows[rows["model"] == "m"].groupby("question").size()
    assert sorted(of_model) == sorted(fewest["m"])


def test_models_are_compared_on_the_same_items():
    frame = crossed(models=("m", "n"), words=6, spread=0.5, seed=5)
    found = fitted(frame)
    rows = found.contrasts(estimand="population", level="overall", detail=True).set_index("model")
    assert list(rows.index) == ["m", "n", "m - n"]
    assert rows.loc["m - n", "sd"] < 0.7 * np.hypot(rows.loc["m", "sd"], rows.loc["n", "sd"])
    assert "model_by_word" in found.fit.spec.mu
    text = bb.output.to_text(found)
    assert max(map(len, text.splitlines())) <= 80
    assert text.partition("Result")[2].count("a - b") == 2  # and in the note
    with pytest.raises(InputError, match="level"):
        found.contrasts(level="job", detail=True)


@pytest.mark.parametrize("choice", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_models_with_other_prompts_are_compared_on_those_of_both(choice):
    frame = crossed(models=("m", "n"), words=8, spread=0.5, seed=5)
    apart = frame["template"].isin(["t1", "t2"])
    frame.loc[apart & (frame["group"] == "a"), "outcome"] += 3  # of which only m has t2
    frame = frame[(frame["model"] == "m") | (frame["template"] != "t2")]
    if choice:
        noisy = frame["outcome"] + np.random.default_rng(1).logistic(size=len(frame))
        frame = frame.assign(outcome=(noisy > noisy.median()).astype(int))
    found = quick(frame)
    rows = found.contrasts(estimand="listed_words", level="overall", detail=True)
    rows = rows[rows["scale"] != "log_odds"].set_index("model")

    def difference(own):
        means = own.groupby(["model", "group"])["outcome"].mean().unstack()
        return means["a"] - means["b"]

    both = difference(frame[frame["template"] != "t2"])
    # Counts are shrunk a little.
    column, tolerance = ("mean", 0.05) if choice else ("observed", 1e-9)
    assert rows.loc["m - n", column] == pytest.approx(both["m"] - both["n"], abs=tolerance)
    assert rows.loc["m", column] == pytest.approx(difference(frame)["m"], abs=tolerance)
    assert sum("n lacks 1 of 3 prompts" in note for note in bb.interpret(found).notes) == 1
    if not choice:  # nothing that both answered
        alone = frame[(frame["model"] == "n") | (frame["template"] == "t2")]
        rows = quick(alone).contrasts(level="overall").set_index("model")
        assert rows.loc["m - n", "estimand"] == "population"


def partly_shared(shared=30, items=60, seed=1, noise=0.25):
    """Return numbers of two groups, of which b answered the easier items alone; a - b is 0.5."""
    rng = np.random.default_rng(seed)
    level = np.sort(rng.normal(0, 1.3, items))
    rows = []
    for item in range(items):
        rows.append(("a", f"i{item:02d}", level[item] + 0.5 + rng.normal(0, noise)))
        rows.append(("b", f"i{item:02d}", level[item] + rng.normal(0, noise)))
    frame = pd.DataFrame(rows, columns=["group", "item", "score"])
    easier = frame["item"] >= f"i{items - shared:02d}"
    return frame[(frame["group"] == "a") | easier]


def overall(found):
    rows = found.contrasts(level="overall", detail=True)
    return rows[rows["scale"] != "log_odds"].set_index("estimand")


def test_groups_are_compared_on_the_items_that_both_answered():
    frame = partly_shared()
    found = quick(frame)
    assert found.kind == "number"
    rows = overall(found)
    wide = frame.pivot(index="item", columns="group", values="score").dropna()
    d = wide["a"] - wide["b"]
    se = d.std() / np.sqrt(len(d))
    assert rows.loc["listed_words", "observed"] == pytest.approx(d.mean())
    for estimand in ("listed_words", "population"):
        row = rows.loc[estimand]
        assert row["sd"] == pytest.approx(se, rel=0.2)
        assert (row["hpdi_low"] + row["hpdi_high"]) / 2 == pytest.approx(d.mean(), abs=0.2 * se)
    note = "b lacks 30 of 60 items. In rows for these, groups are compared on what both answered."
    assert note in bb.interpret(found).notes
    assert found.independent()["answers"].item() == 60


@pytest.mark.parametrize("choice", [False, True])
def test_groups_that_met_the_same_items_unequally_often_are_compared_on_one_mix(choice):
    """a met the hard items more often than b, and does not differ from it on any."""
    rng = np.random.default_rng(6)
    rows = []
    for k in range(24):
        group, often = ("a", (0, 1, 2)) if k < 12 else ("b", (3, 4, 5))
        for item in [*often, rng.choice([3, 4, 5] if group == "a" else [0, 1, 2])]:
            score = 1.5 * item + rng.normal(0, 0.3)
            if choice:
                score = int(rng.random() < 1 / (1 + np.exp(3.75 - score)))
            rows.append((group, f"w{k}", f"i{item}", score))
    frame = pd.DataFrame(rows, columns=["group", "word", "item", "score"])
    result = quick(frame)
    found = overall(result)
    said = "Groups did not answer the same items equally often."
    assert sum(said in note for note in result.notes) == 1

    raw = frame.groupby("group")["score"].mean()
    of_items = frame.groupby(["group", "item"])["score"].mean().unstack()
    even = of_items.loc["a"].mean() - of_items.loc["b"].mean()
    spread = 0.3 if choice else 1.5
    assert raw["b"] - raw["a"] > spread * 0.8
    if choice:
        assert found.loc["listed_words", "mean"] == pytest.approx(even, abs=0.1)
    else:
        assert found.loc["listed_words", "observed"] == pytest.approx(even)
    for estimand in ("new_words", "listed_words"):
        assert abs(found.loc[estimand, "mean"]) < spread / 5


@pytest.mark.slow
def test_the_largest_interaction_is_left_out_of_a_model_that_does_not_fit_into_memory(monkeypatch):
    rng, n = np.random.default_rng(4), 500
    word = rng.integers(0, 30, n)
    columns = {"item": rng.integers(0, 8, n), "model": rng.integers(0, 3, n)}
    labels = {name: [f"{name[0]}{k}" for k in codes] for name, codes in columns.items()}
    frame = pd.DataFrame(
        {"group": np.where(word % 2, "a", "b"), "word": [f"w{k}" for k in word], **labels}
    )
    frame["score"] = rng.normal(0, 1, n)
    whole = quick(frame)
    assert "model_by_word" in whole.fit.spec.mu
    one_less = without_terms(whole.fit.spec, ["model_by_word"], "one less")
    pattern = Layout.of(Design.of(one_less, whole.fit.table).ordered()).pattern
    monkeypatch.setattr(unbalanced, "MOST_BYTES", 1.1 * threads() * pattern.nbytes)
    found = quick(frame)
    assert {*whole.fit.spec.mu} - {*found.fit.spec.mu} == {"model_by_word"}
    assert (
        sum("model_by_word is left out: with its 90 effects" in note for note in found.notes) == 1
    )
    monkeypatch.setattr(unbalanced, "MOST_BYTES", 1000)
    assert any("Fit fewer rows" in note for note in quick(frame).notes)


def test_pairs_and_the_crossed_model_agree_on_the_same_items():
    """Half of the items have both groups: one item more, and their differences are fitted."""
    frame = partly_shared()
    crossed_rows = overall(quick(frame))
    both = frame[frame.groupby("item")["group"].transform("nunique") == 2]
    alone = quick(both)
    assert alone.kind == "paired"
    paired_rows = overall(alone)
    one_more = quick(frame[frame["item"] != "i00"])
    assert one_more.kind == "paired"
    sd = paired_rows.loc["listed_words", "sd"]
    for estimand in ("listed_words", "population"):
        for other in (paired_rows, overall(one_more)):
            for column in ("mean", "hpdi_low", "hpdi_high"):
                difference = crossed_rows.loc[estimand, column] - other.loc[estimand, column]
                assert abs(difference) < 0.1 * sd


def test_a_group_that_lacks_combinations_is_noted():
    frame = crossed(words=3, templates=3, items=3, models=("m", "n"), spread=0.5)
    lost = (frame["template"] == "t0") & (frame["item"] == "i0") & (frame["group"] == "b")
    frame = frame[~lost]
    found = quick(frame)
    assert any("b lacks 2 of 18 questions" in note for note in found.notes)
    rows = found.contrasts(estimand="listed_words", level="overall", detail=True)
    rows = rows.set_index("model")
    both = frame[(frame["template"] != "t0") | (frame["item"] != "i0")]
    means = both.groupby(["model", "group"])["outcome"].mean().unstack()
    d = means["a"] - means["b"]
    assert rows.loc["m", "observed"] == pytest.approx(d["m"])
    assert rows.loc["m - n", "observed"] == pytest.approx(d["m"] - d["n"])


def test_probabilities_of_groups_are_compared_on_the_items_that_both_answered():
    frame = partly_shared(shared=20, items=40)
    frame = frame.loc[frame.index.repeat(10)].reset_index(drop=True)
    p = 1 / (1 + np.exp(-2 * frame["score"]))
    frame["score"] = (np.random.default_rng(0).random(len(frame)) < p).astype(int)
    found = quick(frame)
    assert found.kind == "choice"
    shares = frame.groupby(["item", "group"])["score"].mean().unstack().dropna().mean()
    row = overall(found).loc["listed_words"]
    assert row["mean"] == pytest.approx(shares["a"] - shares["b"], abs=0.6 * row["sd"])
    raw = frame.groupby("group")["score"].mean()
    assert raw["a"] - raw["b"] < row["hpdi_low"]


def test_a_group_with_items_of_its_own_is_compared_with_all_answers():
    frame = partly_shared(shared=60)
    frame["item"] = frame["group"] + frame["item"]
    row = overall(quick(frame)).loc["listed_words"]
    means = frame.groupby("group")["score"].mean()
    assert row["observed"] == pytest.approx(means["a"] - means["b"])


def test_a_word_that_groups_have_in_common_by_chance_is_no_question():
    frame = crossed(words=6, templates=3, items=1, spread=0.5)
    frame["word"] = frame["word"].replace({"a0": "Taylor", "b0": "Taylor"})
    row = overall(quick(frame)).loc["listed_words"]
    means = frame.groupby("group")["outcome"].mean()
    assert row["observed"] == pytest.approx(means["a"] - means["b"])


def test_what_a_model_does_to_all_groups_alike_is_no_difference_between_groups():
    """Another model with levels of items and templates of its own does not widen the interval of the first."""
    frame = crossed(models=("m", "n"), words=6, items=6, spread=0.2, seed=5)
    second = frame["model"] == "n"
    frame.loc[second, "outcome"] += frame["item"].isin(["i0", "i3"])
    frame.loc[second, "outcome"] += frame["template"].map({"t0": -1, "t1": 1, "t2": 0})
    first, both = (
        fitted(own).contrasts(estimand="population", level="overall", detail=True).iloc[0]
        for own in (frame[~second], frame)
    )
    assert both["mean"] == pytest.approx(first["mean"], abs=0.2 * first["sd"])
    assert both["sd"] < 1.2 * first["sd"]


def test_choices_give_probabilities_and_log_odds():
    frame = choice_answers()
    found = fitted(frame)
    assert found.kind == "choice"
    state = found.fit.diagnostics()
    assert state["divergences"] == 0
    rows = found.contrasts(level="overall", detail=True).set_index(["scale", "estimand"])
    shares = frame.groupby("group")["outcome"].mean()
    assert rows.loc[("probability", "listed_words"), "mean"] == pytest.approx(
        shares["a"] - shares["b"], abs=0.03
    )
    assert (
        rows.loc[("probability", "population"), "sd"]
        > 2 * rows.loc[("probability", "listed_words"), "sd"]
    )
    assert np.sign(rows.loc["log_odds"]["mean"]).nunique() == 1
    assert "a - b" in str(bb.interpret(found))
    alone = found.independent().iloc[0]
    assert alone["answers"] == 300
    assert 3 < alone["mean"] < 100
    assert found.variance()["mean"].sum() == pytest.approx(1)


@pytest.mark.slow
def test_a_second_model_leaves_the_contrast_of_the_first_as_it_was():
    """Of single 0/1 answers about items, where priors of SDs that the data hardly tell could widen it."""
    rng = np.random.default_rng(4)
    rows = [(g, f"i{i}", m) for m in ("m", "n") for i in range(20) for g in ("a", "b")]
    frame = pd.DataFrame(rows, columns=["group", "item", "model"])
    p = np.where(frame["group"] == "a", 0.75, 0.45)
    frame["outcome"] = (rng.random(len(frame)) < p).astype(int)
    alone, both = (
        fitted(own)
        .contrasts(estimand="population", level="overall", detail=True)
        .query("scale == 'probability'")
        .iloc[0]
        for own in (frame[frame["model"] == "m"], frame)
    )
    assert both["mean"] == pytest.approx(alone["mean"], abs=0.35 * alone["sd"])
    assert both["sd"] < 1.25 * alone["sd"]


def test_independent_answers_follow_their_equation():
    """Of two groups with words of their own, from the variances and the labels of the answers."""
    rng = np.random.default_rng(0)
    frame = crossed(words=8, templates=4, items=4, spread=0.0)
    frame["outcome"] += rng.normal(0, 1, len(frame))
    found = fitted(frame)
    fit = found.fit
    draws, table = fit.parameter_draws(), fit.table
    weights = pd.Series(np.where(table["group"] == "a", 1, -1) / 128)
    noise = draws["sigma"].ravel() ** 2 * (weights**2).sum()
    variance, alone = noise, noise
    for name in (name for name in fit.spec.mu if fit.spec.is_random(name)):
        about = fit.spec.parameters[name]
        columns = [table[column] for column in about.dims]
        squares = draws[about.args["sigma"]].reshape(4000, -1) ** 2
        sides = [table["group"] == "a", table["group"] == "b"]
        if squares.shape[1] == 1:
            sides = [table["group"] != ""]
        for k, side in enumerate(sides):  # words of each group have an SD of their own
            sums = weights.where(side, 0).groupby(columns, observed=True).sum()
            variance = variance + squares[:, k] * (sums**2).sum()
            alone = alone + squares[:, k] * min((sums**2).sum(), (weights[side] ** 2).sum())
    expected = 256 * alone / variance
    row = found.independent().iloc[0]
    assert (row["answers"], row["mean"]) == (256, pytest.approx(expected.mean()))
    assert 20 < row["hpdi_low"] < row["hpdi_high"] < 256


def test_by_item_estimands_that_hold_the_same_are_one():
    """As of pairs of sentences that are one row each: nothing tells these pairs from new ones."""
    rng = np.random.default_rng(0)
    frame = crossed(words=8, templates=1, items=3)
    frame["word"] = [f"pair {k // 2}" for k in range(len(frame))]
    frame = frame.assign(
        group=["more", "less"] * (len(frame) // 2), item=frame["item"].sort_values().to_list()
    )
    frame["outcome"] = rng.normal(0, 1, len(frame))
    found = quick(frame)
    assert found.kind == "paired"
    rows = found.contrasts(detail=True)
    assert set(rows.query("level == 'item'")["estimand"]) == {"population"}
    assert set(rows.query("level == 'overall'")["estimand"]) >= {"population", "listed_words"}
    items = found.items()
    np.testing.assert_allclose(items["mean"], rows.query("level == 'item'")["mean"])
    assert found.items_title == "Differences by item, for new words"
    words = quick(crossed())
    assert words.items_title == "Each group by item, for new words and prompts"
    item = words.items().set_index(["group", "name"]).loc[("a", "i0")]
    assert item["hpdi_low"] < item["mean"] < item["hpdi_high"]
    assert item["mcse_mean"] > 0
    assert set(words.contrasts(level="item", detail=True)["estimand"]) == set(words.estimands)


def test_limits_of_responses():
    frame = crossed(difference=1.0, seed=4)
    frame.loc[0, "outcome"] = np.nan
    found = quick(frame)
    limits = "converged, coverage>0.9, coverage>0.9999, a - b>-5, a - b (listed_words)>5"
    checks = bb.studies.check_requirements(found, limits)
    assert [check.met for check in checks] == [True, True, False, True, False]


def test_limits_take_a_reversed_contrast_and_the_printed_name():
    found = quick(crossed(models=("m", "n"), difference=1.0, words=6, spread=0.1, seed=4))
    rows = found.contrasts(estimand="population", level="overall").set_index("model")
    names = "b - a (m)>0, m: b - a>0, m - n: a - b<9, a - b (n - m)<9, a - b (i0) (listed_words)<9"
    turned, printed, between, models, listed = bb.studies.check_requirements(found, names)
    assert turned.value == printed.value == pytest.approx(-rows.loc["m", "hpdi_high"])
    assert turned.met
    assert between.value == pytest.approx(rows.loc["m - n", "hpdi_high"])
    assert models.value == pytest.approx(-rows.loc["m - n", "hpdi_low"])
    item = found.contrasts(estimand="listed_words", level="item").query("name == 'i0'")
    assert listed.value == pytest.approx(item[item["model"] != "m - n"]["hpdi_high"].max())
    with pytest.raises(InputError, match="requirement: expected population") as error:
        bb.studies.check_requirements(found, "a - b (nothing)<1")
    assert ", ," not in str(error.value)


def test_a_limit_on_an_unknown_contrast_is_refused_before_the_fit(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from bayesbias.cli.main import cli

    path = tmp_path / "x.csv"
    crossed().to_csv(path, index=False)
    monkeypatch.setattr(bb.studies.responses.fitting, "fit_responses", None)  # is not called
    done = CliRunner().invoke(cli, ["responses", "fit", str(path), "--require", "a - c<1"])
    assert isinstance(done.exception, InputError)
    assert "a - b" in str(done.exception)


def test_limits_are_on_each_model_and_on_their_difference_by_name():
    found = quick(crossed(models=("m", "n"), difference=1.0, words=6, spread=0.1, seed=4))
    limits = "a - b>-1.7, a - b (m)>-1.7, a - b (m - n)<0.5, a - b (i0)<0"
    each, first, between, item = bb.studies.check_requirements(found, limits)
    assert (each.met, each.protected_class) == (False, "n")
    assert (first.met, first.protected_class) == (True, "m")
    assert (between.met, between.protected_class) == (False, "m - n")
    assert item.met


@pytest.mark.slow
def test_the_rope_is_a_tenth_of_an_sd_or_two_points_unless_set(tmp_path):
    frame = crossed(seed=4)
    table = bb.responses_table(frame)
    found = quick(table)
    assert found.rope == pytest.approx(0.1 * frame["outcome"].std(ddof=0), rel=0.05)
    assert f"ROPE ±{found.rope:g}" in bb.output.to_text(found)
    assert set(found.contrasts(level="overall", detail=True)["rope"]) == {found.rope}
    assert f"±{found.rope:g}" in bb.methods_paragraph(found)
    fewer = bb.responses_table(frame.drop(columns="item"))
    assert quick(fewer).rope == found.rope  # of all answers, whatever tells them apart
    wide = quick(table, rope=100)
    assert set(wide.contrasts(detail=True)["verdict"]) == {"negligible"}
    choices = bb.responses_table(frame.assign(outcome=(frame["outcome"] > 0.3) * 1))
    found = fitted(choices, draws=100, tune=200, chains=2)
    assert found.fit.provenance["sampler"]["method"] == "counts"
    ropes = found.contrasts(level="overall", detail=True).groupby("scale")["rope"].first()
    assert ropes.to_dict() == {"probability": 0.02, "log_odds": 0.08}
    with pytest.raises(InputError, match="rope"):
        bb.fit_responses(table, rope=0)


def test_of_paired_numbers_the_rope_is_a_tenth_of_the_sd_of_their_differences():
    """Long sentences have low log probabilities, whatever their groups."""
    rng = np.random.default_rng(2)
    length = np.repeat(rng.normal(0, 50, 40), 2)
    y = length + np.tile([0.5, 0.0], 40) + rng.normal(0, 0.5, 80)
    items = [f"i{k // 2}" for k in range(80)]
    table = bb.responses_table({"group": ["a", "b"] * 40, "item": items, "outcome": y})
    found = quick(table)
    assert found.rope == pytest.approx(0.1 * np.std(y[::2] - y[1::2]), rel=0.05)
    ax = bb.plots.plot_response_items(found)
    assert len(ax.get_yticklabels()) == 30
    rows = found.items().sort_values("mean")["name"]
    assert {label.get_text() for label in ax.get_yticklabels()} == {*rows[:15], *rows[-15:]}


@pytest.mark.slow
def test_rare_answers_of_many_groups_have_rare_rates():
    """Around a rate of one half, the level went into the effects of items: rates of .16 to .36."""
    rng = np.random.default_rng(3)
    rows = [
        (f"g{group}", f"g{group}w{word}", f"i{item}", int(rng.random() < 0.04))
        for group in range(12)
        for word in range(15)
        for item in rng.choice(6, 3, replace=False)
    ]
    frame = pd.DataFrame(rows, columns=["group", "word", "item", "outcome"])
    found = quick(frame)
    rates = found.rates().set_index("group")
    shares = frame.groupby("group")["outcome"].mean()
    assert abs(rates["rate"].mean() - shares.mean()) < 0.03
    assert (rates["rate_low"] < 0.04).all()
    assert (rates["rate_high"] > 0.02).all()
    center = found.fit.spec.parameters["arm_mean"].args["mu"]
    chosen = frame["outcome"].sum()
    assert center == pytest.approx(np.log((chosen + 0.5) / (len(frame) - chosen + 0.5)))


def test_of_few_questions_with_repeats_the_mean_counts():
    rng = np.random.default_rng(4)
    labels = [(g, f"{g}{w}", f"i{i}") for g in "ab" for w in range(6) for i in range(8)]
    once = pd.DataFrame(labels, columns=["group", "word", "item"])
    once["outcome"] = rng.normal((once["group"] == "a") * 0.5, 1.0)
    halves = [once.iloc[:2].assign(outcome=once["outcome"].iloc[:2] + side) for side in (-0.3, 0.3)]
    repeated = pd.concat([*halves, once.iloc[2:]], ignore_index=True)

    settings = {"seed": 1, "draws": 200, "tune": 200, "chains": 2, "progress": False}
    expected, found = (
        bb.fit_responses(bb.responses_table(frame), **settings) for frame in (once, repeated)
    )
    assert "question_effect" not in found.fit.spec.mu
    pd.testing.assert_frame_equal(found.contrasts(), expected.contrasts())
    assert "Of the few questions with repeats, the mean counts." in found.notes
    assert not any("mean counts" in note for note in expected.notes)


@pytest.mark.parametrize(
    ("kept", "averaged"),
    [
        ({}, True),
        ({"model": "ordered"}, False),
        ({"adjust": True}, False),
        ({"choice": True}, False),
    ],
)
def test_only_where_the_mean_of_repeats_counts_a_note_says_so(kept, averaged):
    rng = np.random.default_rng(5)
    labels = [(group, f"i{item}") for group in "ab" for item in range(25)]
    frame = pd.DataFrame(labels, columns=["group", "item"])
    frame = pd.concat([frame, frame.iloc[:2]], ignore_index=True)
    frame["outcome"] = rng.integers(0, 2 if "choice" in kept else 4, len(frame)).astype(float)
    frame["length"] = rng.normal(size=len(frame))
    adjust = {"adjust": "length"} if "adjust" in kept else {}
    table = bb.responses_table(frame, **adjust)
    settings = {"seed": 1, "draws": 50, "tune": 50, "chains": 2, "progress": False}

    found = bb.fit_responses(table, kept.get("model"), engine="quick", **settings)
    answers = len(found.fit.table)
    assert ("Of the few questions with repeats, the mean counts." in found.notes) == averaged
    assert answers == (52 if "model" in kept or "adjust" in kept else 25 if averaged else 50)
