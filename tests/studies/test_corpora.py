"""Vectors of several corpora: joined pairs, changes and slopes, and what is said of them."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.changes import NONE, changed, table

import bayesbias as bb
from bayesbias.cli.main import cli
from bayesbias.inference.view import View
from bayesbias.studies.common import direction
from bayesbias.studies.corpora.comparing import weights_of
from bayesbias.studies.corpora.sections import _changes_of_groups, main_table
from bayesbias.studies.groups import sections as groups
from bayesbias.tables.joining import join_tables
from bayesbias.tables.reading import as_pair_table

SETTINGS = {"draws": 1000, "chains": 2, "seed": 1, "engine": "quick", "progress": False}
KEYS = ["level", "name", "contrast", "estimand"]


def periods() -> dict:
    """Three periods; own stereotypes come 0.05 closer in each."""
    first = table()
    second = changed(first, {**NONE, "associated": -0.05}, 1)
    third = changed(second, {**NONE, "associated": -0.05}, 2)
    return {"1930s": first, "1950s": second, "1980s": third}


@pytest.fixture(scope="module")
def two():
    frames = periods()
    return bb.compare({k: frames[k] for k in ("1930s", "1980s")}, kind="corpora", **SETTINGS)


@pytest.fixture(scope="module")
def slope():
    return bb.compare(periods(), kind="corpora", ordered=True, **SETTINGS)


def test_weights_give_differences_and_least_squares_slopes():
    names = list("abcd")
    (slope,) = weights_of(names, ordered=True).values()
    y = np.random.default_rng(1).normal(size=4)
    assert slope @ y == pytest.approx(np.polyfit(range(4), y, 1)[0])
    apart = weights_of(names, ordered=False)
    assert list(apart) == ["a to b", "a to c", "a to d", "b to c", "b to d", "c to d"]
    assert apart["b to d"] @ y == pytest.approx(y[3] - y[1])
    assert list(weights_of(["a", "b"], ordered=True)) == ["a to b"]


def test_two_corpora_are_a_fit_of_the_differences(two):
    frames = periods()
    pairs, _ = bb.tables.join_pairs(frames["1930s"], frames["1980s"])
    own = bb.fit(pairs, "change", seed=2, draws=1000, chains=2)
    found = two.contrasts(detail=True).set_index(KEYS)
    direct = own.contrasts(detail=True).set_index(KEYS).loc[found.index]
    error = np.hypot(found["mcse_mean"], direct["mcse_mean"]) + 1e-12
    assert (abs(found["mean"] - direct["mean"]) < 5 * error).mean() > 0.98
    assert np.allclose(found["sd"], direct["sd"], rtol=0.15)
    assert set(found["change"]) == {"1930s to 1980s"}
    row = found.loc[("overall", "all", "associated - different", "population")]
    first, last = (
        two.corpora[name]
        .contrasts(level="overall", estimand="population", detail=True)
        .iloc[0]["mean"]
        for name in ("1930s", "1980s")
    )
    assert (row["first"], row["last"]) == (first, last)
    assert row["hpdi_high"] < 0


def test_slopes_are_fitted_on_the_scale_of_a_difference_and_divided_again(slope):
    (change,) = slope.changes.values()
    assert change.scale == pytest.approx(np.sqrt(2 / 0.5))  # weights -1/2, 0, 1/2
    frames = periods()
    pairs, _ = bb.tables.join_pairs(frames["1930s"], frames["1980s"])
    np.testing.assert_allclose(change.fit.table["change"], change.scale * pairs["change"] / 2)
    raw = change.fit.contrasts(rope=0.01 * change.scale, detail=True)
    found = slope.contrasts(rope=0.02, detail=True)
    for name in ("mean", "sd", "hpdi_low", "hpdi_high", "mcse_low"):
        np.testing.assert_allclose(found[name], raw[name] / change.scale)
    assert found["p_in_rope"].tolist() == raw["p_in_rope"].tolist()
    assert set(found["rope"]) == {0.01}  # for two steps 0.02
    overall = found.query("level == 'overall' and estimand == 'population'").iloc[0]
    assert overall["mean"] == pytest.approx(-0.05, abs=0.03)
    np.testing.assert_allclose(slope.means()["mean"] * change.scale, change.fit.summary()["mean"])


def test_a_straight_path_has_no_warning(slope):
    assert not any("bends" in text for text in bb.interpret(slope).warnings)


def test_draws_are_those_of_the_rows(slope):
    draws = slope.table_draws("contrasts", level="class")
    frame = slope.contrasts(level="class", detail=True)
    assert list(draws.coords) == ["change", *KEYS]
    assert [draws[name].to_numpy().tolist() for name in draws.coords] == [
        frame[name].tolist() for name in draws.coords
    ]
    population = (frame["estimand"] == "population").to_numpy()
    mean = draws.to_numpy().mean(axis=(0, 1))
    assert (abs(mean - frame["mean"])[population] < frame["sd"][population] / 3).all()


def test_only_pairs_of_all_corpora_are_kept_and_the_rest_is_named():
    frames = periods()
    frames["1950s"] = frames["1950s"].query("protected_word != 'x-word0'").iloc[::-1]
    frames["1980s"] = frames["1980s"].query("attribute not in ['y0', 'human1']")
    tables = {name: as_pair_table(frame) for name, frame in frames.items()}
    joined = join_tables(tables)
    frame, coverage = joined.frame, joined.coverage
    assert len(frame) == 7 * 22
    assert joined.missing == {"1930s": [], "1950s": ["x-word0"], "1980s": ["y0", "human1"]}
    words = {"missing": ["x-word0"], "not_in": {"data frame": ["x-word0"]}}
    assert coverage.protected["x"].as_dict() == {"listed": 4, "found": 3, **words}
    assert coverage.attributes["y"].missing == ("y0",)
    keys = ["protected_word", "attribute"]
    for name, own in frames.items():
        expected = own.set_index(keys)["distance"].loc[list(map(tuple, frame[keys].values))]
        np.testing.assert_array_equal(joined.distances[name], expected)


def test_words_that_no_corpus_has_are_named():
    vectors = {word: np.random.default_rng(k).normal(size=5) for k, word in enumerate("abcdefg")}
    words = {
        "x": {"protected": ["a", "b"], "attributes": ["c", "nowhere"]},
        "y": {"protected": ["d", "g"], "attributes": ["e", "f"]},
    }
    tables = {name: bb.distance_table(vectors, words, controls="none") for name in ("one", "two")}
    joined = join_tables(tables)
    assert joined.missing == {"one": ["nowhere"], "two": ["nowhere"]}
    assert joined.coverage.attributes["x"].missing == ("nowhere",)


@pytest.mark.slow
def test_three_corpora_without_order_are_compared_in_pairs():
    found = bb.compare(periods(), kind="corpora", **SETTINGS)
    assert list(found.changes) == ["1930s to 1950s", "1930s to 1980s", "1950s to 1980s"]
    frame = found.contrasts(level="overall", estimand="population")
    means = frame[frame["contrast"] == "associated - different"]["mean"].tolist()
    assert means[1] < means[0] < 0
    labels = main_table(found, View())["label"].str.strip().tolist()
    assert labels[:3] == ["1930s to 1950s", "associated - different", "class x"]
    assert found.changes["1930s to 1980s"].ends == ("1930s", "1980s")


GROUPS = {
    "women": {"protected": ["she", "her", "woman", "girl"]},
    "men": {"protected": ["he", "him", "man", "boy"]},
    "attribute_sets": {
        "career": ["career", "salary", "office", "boss"],
        "family": ["home", "family", "kids", "wedding", "parents"],
    },
}


@pytest.fixture(scope="module")
def changed_groups():
    listed = bb.load_wordlist(GROUPS)
    later = bb.load_embedding("minilm-static", listed.words, postprocess="abtt")
    return bb.compare({"a": "minilm-static", "b": later}, GROUPS, kind="corpora", **SETTINGS)


def test_groups_on_shared_sets_change_in_the_names_of_the_sets(changed_groups):
    found = changed_groups
    (change,) = found.changes.values()
    assert change.fit.spec.outcome == "change"
    assert change.fit.spec.parameters["intercept"].args["mu"] == 0
    frame = found.contrasts(level="between", estimand="population")
    pairs = change.fit.table.groupby(["protected_class", "attribute_class"])["change"].mean()
    apart = (pairs["women"] - pairs["men"])["career"] - (pairs["women"] - pairs["men"])["family"]
    row = frame[frame["contrast"] == "career - family"].iloc[0]
    assert row["name"] == "women - men"
    assert row["mean"] == pytest.approx(apart, abs=0.02)
    said = bb.interpret(found)
    assert any("women: career minus family" in text for text in said.details)
    fit = bb.fit(bb.distance_table("minilm-static", GROUPS), seed=1, engine="quick", draws=500)
    rows = groups.main_table(fit, View())["label"].tolist()
    assert main_table(found, View())["label"].tolist() == rows
    shown = frame_of_groups(found)
    assert all(name in said.headline for name in shown["name"])
    mean = found.contrasts(level="overall", estimand="population")["mean"].iloc[0]
    assert f"{mean:+.3f}" not in said.headline  # over groups, which nobody asked for


def frame_of_groups(found):
    frame = found.contrasts(estimand="population")
    first = frame["contrast"] == frame["contrast"].iloc[0]
    return frame[first & frame["level"].isin(["class", "between"])]


def test_groups_that_changed_are_named_first():
    change = SimpleNamespace(ends=("a", "b"), steps=1)
    result = SimpleNamespace(changes={"a to b": change})
    rows = pd.DataFrame({"change": "a to b", "name": ["women", "men", "kids"], "rope": 0.02})
    rows = rows.assign(contrast="able - warm", level="class", mean=(0.1, 0.0, 0.001))
    rows = rows.assign(hpdi_low=(0.05, -0.1, -0.01), hpdi_high=(0.15, 0.1, 0.012))
    rows = rows.assign(verdict=("above", "inconclusive", "negligible"))
    for name, mean in (("first", -0.2), ("last", -0.1)):
        rows = rows.assign(**{name: mean, f"{name}_low": mean - 0.05, f"{name}_high": mean + 0.05})
    clear, small, unclear = _changes_of_groups(result, rows, "")
    assert clear.startswith("Women: able minus warm is weaker in b than in a: change +0.100 [")
    assert small.startswith("Changed by less than the ROPE (±0.02) (change of able minus warm")
    assert small.endswith("new words): kids +0.001 [-0.010, +0.012].")
    assert unclear.endswith("men 0.000 [-0.100, +0.100].")


def test_changes_of_groups_in_sds_are_known(changed_groups):
    assert len(changed_groups.standardized(level="between"))


def test_changes_in_sds_are_a_fit_of_distances_divided_by_the_sd_of_neutral_pairs(two):
    frames, values = periods(), {}
    for name in two.corpora:
        pairs = frames[name]
        neutral = pairs[pairs["connection"] == "neutral"]
        squares = [
            ((own - own.mean()) ** 2).sum()
            for _, own in neutral.groupby("protected_class")["distance"]
        ]
        sd = np.sqrt(sum(squares) / len(neutral))
        assert two.sds[name] == pytest.approx(sd)
        values[name] = pairs["distance"].to_numpy() / sd
    # The priors of `change` know distances: so the fit is of a tenth of an SD as one.
    change = frames["1930s"].assign(change=(values["1980s"] - values["1930s"]) / 10)
    own = bb.fit(change.drop(columns="distance"), "change", seed=2, draws=1000, chains=2)
    direct = own.contrasts(estimand="population", detail=True).set_index(KEYS)
    found = two.standardized(estimand="population").set_index(KEYS).loc[direct.index]
    np.testing.assert_allclose(found["mean"], direct["mean"] * 10, atol=0.05)
    np.testing.assert_allclose(found["sd"], direct["sd"] * 10, rtol=0.15)
    assert set(found["rope"]) == {0.1}
    each = two.by_corpus(standardized=True).query("corpus == '1980s'").set_index(KEYS)
    assert found["last"].tolist() == each.loc[found.index, "mean"].tolist()
    raw = two.corpora["1980s"].contrasts(estimand="population", detail=True).set_index(KEYS)["mean"]
    np.testing.assert_allclose(found["last"], raw.loc[found.index] / two.sds["1980s"])


@pytest.mark.slow
def test_vectors_on_two_scales_are_compared_in_sds():
    frames = periods()
    first, last = frames["1930s"], frames["1980s"]
    half = last.assign(distance=last["distance"] / 2)
    plain, scaled = (bb.compare({"a": first, "b": own}, **SETTINGS) for own in (last, half))
    ours, theirs = (each.standardized(estimand="population") for each in (plain, scaled))
    np.testing.assert_allclose(ours["mean"], theirs["mean"], atol=0.03)
    np.testing.assert_allclose(ours["sd"], theirs["sd"], rtol=0.1)
    said, text = bb.interpret(scaled), bb.output.to_text(scaled)
    assert any("in SDs" in each and "equal size" in each for each in said.warnings)
    assert " SDs [" in said.headline
    assert [len(each.fits()) for each in (plain, scaled)] == [3, 4]  # those that are reported
    assert "Difference in SDs" in text
    assert not any("one scale" in each for each in bb.interpret(plain).warnings)
    assert "SDs" in bb.plots.plot_corpora(scaled, standardized=True).get_xlabel()
    assert bb.output.to_json(scaled)["standardized"]
    assert "±0.1 SDs (the SD of neutral pairs" in bb.methods_paragraph(scaled)


def test_a_table_on_another_scale_has_not_changed():
    first, noise = table(), np.random.default_rng(1).normal(0, 1e-4, len(table()))
    nearly = first.assign(distance=first["distance"] / 2 + noise)
    frame = bb.compare({"a": first, "b": nearly}, **SETTINGS).standardized()
    assert frame["mean"].abs().max() < 0.01
    assert (frame["verdict"] == "negligible").all()
    exact = bb.compare({"a": first, "b": first.assign(distance=first["distance"] / 2)}, **SETTINGS)
    assert not exact.in_sds
    assert any("equal size" in text for text in bb.interpret(exact).warnings)


@pytest.mark.parametrize(
    ("first", "last", "change", "said"),
    [
        ((-0.3, -0.1), (-0.15, -0.01), (0.05, 0.2), "weaker"),
        ((-0.3, -0.1), (-0.1, 0.1), (0.1, 0.3), "weaker"),
        ((-0.3, -0.1), (0.1, 0.3), (0.3, 0.5), "reversed"),
        ((-0.2, -0.02), (-0.4, -0.2), (-0.3, -0.1), "stronger"),
        ((-0.05, 0.1), (0.2, 0.4), (0.1, 0.4), "stronger"),
        ((-0.1, 0.05), (0.2, 0.4), (0.1, 0.4), ""),
        ((-0.1, -0.02), (-0.1, 0.4), (0.1, 0.4), ""),
        ((-0.3, -0.1), (-0.3, -0.1), (-0.1, 0.1), ""),
    ],
)
def test_a_direction_is_said_where_intervals_decide_it(first, last, change, said):
    ends = {"first": first, "last": last, "hpdi": change}
    row = {
        f"{name}_{end}": v
        for name, of in ends.items()
        for end, v in zip(("low", "high"), of, strict=True)
    }
    row |= {name: sum(of) / 2 for name, of in ends.items()}
    assert direction(SimpleNamespace(**row)) == said


@pytest.mark.slow
def test_a_class_whose_words_moved_with_all_others_is_a_warning():
    """One attribute set comes closer to both classes, so that no class moved against the other."""
    first = table()
    second = changed(first, NONE, 1)
    one = second["attribute_class"] == second["attribute_class"].iloc[0]
    second.loc[one & second["connection"].isin(["associated", "different"]), "distance"] -= 0.2
    found = bb.compare({"a": first, "b": second}, kind="corpora", **SETTINGS)
    said = [text for text in bb.interpret(found).warnings if "It is not clear that" in text]
    assert len(said) == 2
    assert "attributes of" in said[0]
    later = changed(first, NONE, 2)
    three = bb.compare({"a": first, "b": second, "c": later}, kind="corpora", **SETTINGS)
    said = [text for text in bb.interpret(three).warnings if "is not clear that" in text]
    assert {text.partition(":")[0] for text in said} == {"a to b", "b to c"}
    shown = main_table(three, View())["label"].str.strip().tolist()
    assert all(text.partition('row "')[2].partition('"')[0] in shown for text in said)


@pytest.mark.slow
def test_a_failed_predictive_check_is_a_warning():
    first = table(attributes=20)
    odd = changed(first, NONE, 1)
    neutral, rng = odd["connection"] == "neutral", np.random.default_rng(1)
    sides = rng.choice([0.7, 1.3], neutral.sum()) + rng.normal(0, 0.02, neutral.sum())
    odd.loc[neutral, "distance"] = sides
    found = bb.compare({"plain": first, "odd": odd}, kind="corpora", **SETTINGS)
    (said,) = [text for text in bb.interpret(found).warnings if "predictive check" in text]
    assert "(odd)" in said
    assert "of the neutral pairs" in said
    assert "(plain)" not in said


@pytest.mark.parametrize(
    ("corpora", "said"),
    [
        ({"one": table()}, "two or more"),
        ({"one": "a.vec", "two": "b.vec"}, "wordlist"),
        (table(), "two or more"),
        (
            {"a": table(), "b": table().assign(attribute=lambda f: "q" + f["attribute"])},
            "in common",
        ),
        (
            {"a": table(), "b": table().replace({"protected_class": {"x": "z"}})},
            "protected class x",
        ),
        ({"a": table(), "b": table()}, "named twice"),
        (
            {
                "a": table(),
                "b": table().assign(
                    distance=lambda f: f["distance"].where(
                        f["connection"] == "neutral", 2 - f["distance"]
                    )
                ),
            },
            "all pairs of neutral",
        ),
    ],
)
def test_corpora_that_cannot_be_compared(corpora, said):
    with pytest.raises(bb.BayesbiasError, match=said):
        bb.compare(corpora, kind="corpora", **SETTINGS)


@pytest.mark.slow
def test_men_and_women_are_two_corpora_and_neither_is_debiased(shared, tmp_path):
    folder = shared / "data" / "cases" / "11_two_corpora"
    files = [f"{name}={folder / name}.txt" for name in ("men", "women")]
    arguments = ["compare", "--corpora", *files, "--wordlist", str(folder / "list.toml")]
    arguments += ["--seed", "1", "--out", str(tmp_path / "run"), "--figures", "none"]
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    assert "in women than in men" in " ".join(done.output.split())
    assert "debias" not in done.output.lower()
    found = bb.load_run(tmp_path / "run").result
    row = found.contrasts(level="overall", estimand="population").iloc[0]
    observed = [
        own.table.groupby("connection", observed=True)["distance"].mean()
        for own in found.corpora.values()
    ]
    gaps = [own["associated"] - own["different"] for own in observed]
    assert row["mean"] == pytest.approx(gaps[1] - gaps[0], abs=0.01)
    assert row["hpdi_low"] > 0


def test_the_command_refuses_what_does_not_belong_together(tmp_path):
    for arguments, said in (
        (["--corpora", "a.vec"], "word list"),
        (["a.vec", "b.vec"], "--corpora"),
        (["--corpora", "a/x.vec", "b/x.vec", "--wordlist", "religion"], "different names"),
        (["--corpora", "a", "b", "--wordlist", "religion", "--slope", "n"], "--slope"),
    ):
        done = CliRunner().invoke(cli, ["compare", *arguments])
        assert said in str(done.exception)


def test_fit_keeps_the_words_that_other_vectors_have(tmp_path):
    words = bb.load_wordlist("weat7", controls="none").words
    vectors = bb.load_embedding("minilm-static", words)
    few = {word: vectors[word] for word in words if word != "poetry"}
    bb.save_embedding(bb.load_embedding(few), tmp_path / "few.vec")
    arguments = ["fit", "--embedding", "minilm-static", "--wordlist", "weat7", "--controls", "none"]
    arguments += ["--common-words", str(tmp_path / "few.vec"), "--engine", "quick", "--seed", "1"]
    done = CliRunner().invoke(cli, [*arguments, "--json"], catch_exceptions=False)
    groups = json.loads(done.stdout)["coverage"]["protected"]
    assert [word for group in groups.values() for word in group["missing"]] == ["poetry"]
