"""Simulated tables carry the truth they claim, and methods are held to it."""

from __future__ import annotations

import dataclasses
import functools
import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from helpers import monte_carlo as mc
from helpers.draws import made_up_fit
from helpers.seeds import shifted
from helpers.tables import grid
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.collapsed import collapse
from bayesbias.inference.estimands import PROB, asked_rows
from bayesbias.inference.moments import conditional_moments
from bayesbias.models.design import Design
from bayesbias.models.loading import load_model
from bayesbias.simulation import answers, batches, planning, scenario as scenario_room, shuffles
from bayesbias.simulation.calibration import coverage_simulated
from bayesbias.simulation.planning import sample_size
from bayesbias.simulation.scenario import Scenario, simulate_table, true_contrasts
from bayesbias.simulation.shuffles import negative_controls
from bayesbias.wordlists.pairing import CONNECTIONS

SMALL = Scenario(words=(4, 4), attributes=(4, 4), human=10, neutral=10)
QUICK = {"draws": 150, "tune": 200, "chains": 2, "workers": 1, "progress": False}


def test_truth_is_what_was_asked_for():
    values = scenario_room.RELIGION_REDDIT["connection_mean"]
    truth = true_contrasts(Scenario())
    assert truth["associated - different"] == pytest.approx(values["associated"] - values["different"])
    assert truth["human - neutral"] == pytest.approx(values["human"] - values["neutral"])
    assert set(true_contrasts(Scenario().without_difference()).values()) == {0.0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "told"),
    [
        (3, "values: must be a table"),
        ({"attribute_sd": "wide"}, "values, attribute_sd: is none of what is taken here; found: 'wide'; valid: a number"),
        (
            {"connection_mean": {"associated": None}},
            "values, connection_mean, associated: is none of what is taken here; found: None",
        ),
        (
            {**scenario_room.RELIGION_REDDIT, "connection_mean": [1, 2]},
            r"connection_mean: has other labels than the model.*shape \(2,\)",
        ),
    ],
)
def test_values_of_a_scenario_that_are_no_numbers_are_refused(values, told):
    with pytest.raises(InputError, match=told):
        simulate_table(Scenario(values=values), seed=1)


def test_tables_have_the_moments_of_the_scenario():
    """Variance of a pair = csd^2 + ws^2 + sigma^2; pairs sharing an attribute covary by ws^2."""
    scenario = Scenario(words=(2, 2), attributes=(2, 2), human=2, neutral=2)
    tables = [simulate_table(scenario, shifted(seed)) for seed in range(600)]
    y = np.stack([t["distance"] for t in tables])
    frame = tables[0]
    v = scenario_room.RELIGION_REDDIT
    for connection in ("associated", "different", "human", "neutral"):
        columns = np.flatnonzero(frame["connection"] == connection)
        variance = v["word_by_connection_sd"][connection] ** 2 + v["attribute_sd"] ** 2 + v["sigma"][connection] ** 2
        apart = y[:, columns] - v["connection_mean"][connection]  # pairs of one table are not independent, tables are
        mc.assert_near(mc.mean_of(apart.mean(axis=1)), 0)
        mc.assert_near(mc.mean_of((apart**2).mean(axis=1)), variance)
    same = np.flatnonzero(frame["attribute"] == "neutral.0")
    other = [i for i in same if frame["protected_word"][i] != frame["protected_word"][same[0]]]
    together = (y[:, same[0]] - v["connection_mean"]["neutral"]) * (y[:, other[0]] - v["connection_mean"]["neutral"])
    mc.assert_near(mc.mean_of(together), v["attribute_sd"] ** 2)


@pytest.mark.slow
def test_same_seed_same_report_whatever_the_batches(tmp_path, monkeypatch):
    once = coverage_simulated(SMALL, tables=4, methods=("crossed", "pairs_t"), seed=shifted(3), **QUICK)
    monkeypatch.setattr(batches, "_BATCH", 2)
    parts = coverage_simulated(
        SMALL, tables=4, methods=("crossed", "pairs_t"), seed=shifted(3), out=tmp_path / "run", **QUICK
    )
    assert once.equals(parts)
    # Resumed after losing a batch: only that batch is made again.
    (tmp_path / "run/batch-000002-2.json").unlink()
    kept = (tmp_path / "run/batch-000000-2.json").stat().st_mtime_ns
    again = coverage_simulated(
        SMALL,
        tables=4,
        methods=("crossed", "pairs_t"),
        seed=shifted(3),
        out=tmp_path / "run",
        resume=True,
        **QUICK,
    )
    assert again.equals(once)
    assert (tmp_path / "run/batch-000000-2.json").stat().st_mtime_ns == kept
    with pytest.raises(InputError, match="holds a calibration already"):
        coverage_simulated(
            SMALL, tables=4, methods=("crossed", "pairs_t"), seed=shifted(3), out=tmp_path / "run", **QUICK
        )
    with pytest.raises(InputError, match="other settings"):
        coverage_simulated(
            SMALL, tables=4, methods=("pairs_t",), seed=shifted(3), out=tmp_path / "run", resume=True, **QUICK
        )


def test_t_interval_equals_scipy():
    from scipy import stats

    table = simulate_table(SMALL, 5)
    row = next(r for r in answers._by_t(table, "pairs_t", 0.9) if r["contrast"] == "human - neutral")
    one, two = (table.loc[table["connection"] == c, "distance"] for c in ("human", "neutral"))
    result = stats.ttest_ind(one, two, equal_var=False)
    # The interval leaves out zero exactly where p < 1 - prob.
    assert (row["low"] > 0 or row["high"] < 0) == (result.pvalue < 0.1)
    assert row["estimate"] == pytest.approx(one.mean() - two.mean())


@pytest.mark.claim
def test_pair_tests_call_what_is_not_there_and_crossed_does_not():
    """The reason for the package: pairs that share an attribute are not independent."""
    report = coverage_simulated(
        SMALL.without_difference(),
        tables=40,
        methods=("crossed", "pairs_t"),
        seed=shifted(1),
        **{**QUICK, "workers": None},
    ).set_index(["method", "contrast"])
    # What a test that keeps its promise of 11 % may show by chance in 60 tables, and no more.
    assert report.loc[("pairs_t", "human - neutral"), "called"] * 60 > mc.most(60, 0.11)
    assert report.loc[("crossed", "human - neutral"), "called"] * 60 <= mc.most(60, 0.11)
    assert report.loc[("crossed", "human - neutral"), "coverage"] * 60 >= mc.fewest(60, 0.89)


@pytest.mark.slow
def test_scenario_is_taken_from_a_fit():
    fit = bb.fit(
        bb.distance_table("minilm-static", "religion"), seed=shifted(1), draws=200, chains=2, pointwise=False
    )
    scenario = scenario_room.scenario_from_fit(fit)
    assert (scenario.words, scenario.attributes) == ((5, 5, 5), (4, 3, 4))
    assert (scenario.human, scenario.neutral) == (85, 226)
    for name, dim in (("attribute_sd", "attribute_kind"), ("word_by_connection_sd", "connection")):
        entry = fit.design.coords[dim].index("human")
        assert scenario.values[name]["human"] == pytest.approx(float(fit.draws()[name].mean(axis=0)[entry]))


def test_a_list_need_not_be_called_as_its_class():
    table = grid(human=0, neutral=0)
    renamed = table.assign(attribute_class="l" + table["attribute_class"].str[5:])
    fit = made_up_fit(renamed, "default", draws=20)
    scenario = scenario_room.scenario_from_fit(fit)
    simulated = simulate_table(scenario, 1)
    assert set(simulated["attribute_class"]) == {"class0", "class1", "class2"}
    at = fit.design.coords["attribute_class"].index("l1")
    assert scenario.values["set_mean"]["class1"] == float(fit.draws()["set_mean"].mean(axis=0)[at])
    assert answers._by_weat(renamed) == answers._by_weat(table)
    lone = (renamed["protected_class"] == "class1") & (renamed["connection"] == "associated")
    with pytest.raises(InputError, match=r"stereotypes of every class.*class1"):
        scenario_room.scenario_from_fit(made_up_fit(renamed[~lone], "crossed", draws=20))


@pytest.mark.claim
def test_meaning_is_taken_out():
    real = bb.distance_table("minilm-static", "religion").frame
    words = bb.load_wordlist("religion")
    d = bb.load_embedding("minilm-static", words=words.words).vectors.shape[1]
    rng = np.random.default_rng(shifted(0))
    shuffled = shuffles.without_meaning(real, words, d, "shuffled_classes", rng)
    assert (shuffled["distance"] == real["distance"]).all()
    assert shuffled.drop_duplicates("protected_word")["protected_class"].value_counts().tolist() == [5, 5, 5]
    agree = shuffled["attribute_class"] == shuffled["protected_class"]
    assert (
        (shuffled["connection"] == "associated") == (agree & (shuffled["attribute_kind"] == "stereotype"))
    ).all()
    attributes = shuffles.without_meaning(real, words, d, "shuffled_attributes", rng)
    sizes = attributes[attributes["attribute_kind"] == "stereotype"].drop_duplicates("attribute")[
        "attribute_class"
    ]
    assert sorted(sizes.value_counts()) == [3, 4, 4]
    random = shuffles.without_meaning(real, words, d, "random_vectors", rng)
    # Cosines of random vectors in d dimensions have variance 1 / d and do not correlate.
    assert abs(random["distance"].mean() - 1) < mc.K / np.sqrt(d * len(random))
    report = negative_controls("minilm-static", "religion", tables=3, draws=100, tune=100, progress=False)
    assert report["kind"].tolist() == ["real", *shuffles.NEGATIVE_CONTROLS]


@pytest.mark.slow
def test_more_words_make_narrower_intervals():
    plan = sample_size(0.1, words=(5, 12), attributes=(3, 12), check=2, progress=False).set_index(
        ["words", "attributes"]
    )
    assert (
        plan.loc[(12, 12), "known_width"] < plan.loc[(5, 12), "known_width"] < plan.loc[(5, 3), "known_width"]
    )
    simulated, known = (plan[f"{of}_width"] for of in ("simulated", "known"))
    assert plan["enough"].notna().tolist() == (simulated.notna() | (known > 0.1)).tolist()
    assert plan["enough"].dropna().tolist() == (simulated <= 0.1)[plan["enough"].notna()].tolist()
    assert plan["enough"].isna().any()  # they would do were the spreads known, and nobody tried
    checked = plan["simulated_width"].dropna()
    assert len(checked) == 1
    assert checked.iloc[0] == pytest.approx(plan.loc[checked.index[0], "known_width"], rel=0.4)
    error = plan.loc[checked.index[0], "simulated_se"]
    assert 0 < error < 0.3 * checked.iloc[0]
    assert plan["simulated_se"].notna().sum() == 1


def test_expected_widths_are_those_of_the_exact_posterior():
    """Of balanced data, independently: each cell mean has variance csd^2 + sigma^2 / attributes, and so on."""
    each = {"connection_mean": 1.0, "word_by_connection_sd": 0.1, "sigma": 1e-3}
    values = {name: dict.fromkeys(CONNECTIONS, value) for name, value in each.items()} | {"attribute_sd": 1e-4}
    plain = Scenario(words=(4, 4), attributes=(3, 3), human=5, neutral=5, values=values)
    plan = sample_size(0.2, scenario=plain, words=(6, 24), attributes=(3,), check=0, progress=False)
    plan = plan.set_index("words")["known_width"]
    for words in (6, 24):
        # Noise and attributes hardly count here: two means of all words' cells, each with the prior N(1, 0.3).
        variance = 2 / (2 * words / 0.1**2 + 1 / 0.3**2)
        assert plan[words] == pytest.approx(2 * stats.norm.ppf(0.945) * np.sqrt(variance), rel=1e-4)


def test_widths_of_a_model_with_factors_are_known_too():
    scenario = scenario_room.scenario_from_fit(made_up_fit(grid(), "default", draws=20))
    plan = sample_size(1.0, scenario=scenario, words=(3,), attributes=(2,), check=0, progress=False)
    design, given = scenario_room.true_parameters(
        dataclasses.replace(scenario, words=(3, 3, 3), attributes=(2, 2, 2))
    )
    reduced = collapse(design)
    theta = reduced.joined({name: given[name][None] for name in reduced.scales})
    frame = scenario_room.scenario_frame((3, 3, 3), (2, 2, 2), scenario.human, scenario.neutral)
    rows = asked_rows(design, frame, "population", contrasted=True)
    variance = conditional_moments(reduced, theta, rows.linear)[1][0]
    exact = float(np.sqrt(variance[rows.keys.index(("overall", "all", "associated - different"))]))
    known = plan["known_width"].iloc[0] / (2 * stats.norm.ppf(0.5 + PROB / 2))
    assert known == pytest.approx(exact, rel=mc.K / np.sqrt(2 * 1024))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"words": (5,), "attributes": (4, 3)}, "one number for each"),
        ({"words": (5, 0), "attributes": (4, 3)}, "at least 1"),
        ({"values": {"connection_mean": 1.0}}, "has no value"),
        ({"values": {**scenario_room.RELIGION_REDDIT, "wz": 1.0}}, "no population parameter"),
        ({"values": {**scenario_room.RELIGION_REDDIT, "attribute_sd": 0.0}}, "must be positive"),
        ({"values": {**scenario_room.RELIGION_REDDIT, "word_by_connection_sd": {"human": 1.0}}}, "no value for"),
    ],
)
def test_bad_scenarios_are_refused(change, says):
    with pytest.raises(InputError, match=says):
        true_contrasts(Scenario(**change))


@pytest.mark.parametrize("numbers", [np.array, list, pd.Series])
def test_numbers_of_a_scenario_may_stand_in_anything_that_holds_several(numbers):
    own = Scenario(words=numbers([2, 3]), attributes=numbers([2, 2]))
    assert own == Scenario(words=(2, 3), attributes=(2, 2))
    assert all(type(n) is int for n in (*own.words, *own.attributes))


@pytest.mark.parametrize("tables", [2**31, 10**90])
def test_more_tables_than_anyone_waits_for_are_refused(tables):
    with pytest.raises(InputError, match=r"^tables: must be a whole number from 1 to 1000000"):
        coverage_simulated(SMALL, tables=tables, methods=("moments",))


@pytest.mark.slow
def test_commands(monkeypatch):
    from bayesbias.cli.main import cli

    run = CliRunner().invoke
    done = run(cli, ["coverage_simulated", "--words", "3,3", "--attributes", "3,3", "--human", "4", "--neutral", "4",
                     "--tables", "2", "--methods", "pairs_t,weat", "--workers", "1", "--json"])  # fmt: skip
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report.pop("schema") == "bayesbias.coverage_simulated/1"
    assert set(report) == {"difference", "no_difference", "scenario", "tables", "seed", "prob", "engine"}
    assert report["scenario"]["model"] == "crossed"
    weat = [row for row in report["difference"] if row["method"] == "weat"]
    assert [row["coverage"] for row in weat] == [None]
    # All combinations are a claim (below); fewer say the same of the command.
    few = functools.partial(sample_size, words=(5, 12), attributes=(3, 12))
    monkeypatch.setattr(planning, "sample_size", few)
    done = run(cli, ["plan", "--width", "0.2", "--check", "0", "--json"])
    best = json.loads(done.stdout)["best"]
    assert best["known_width"] <= 0.2
    assert isinstance(run(cli, ["coverage_simulated", "--words", "a,b"]).exception, InputError)
    assert isinstance(run(cli, ["coverage_simulated", "--embedding", "minilm-static"]).exception, InputError)


@pytest.mark.claim
def test_the_command_plans_over_all_combinations():
    from bayesbias.cli.main import cli

    done = CliRunner().invoke(cli, ["plan", "--width", "0.2", "--check", "0", "--json"])
    payload = json.loads(done.stdout)
    assert len(payload["combinations"]) > 100
    assert payload["best"]["known_width"] <= 0.2


@pytest.mark.claim
def test_coverage_of_the_crossed_model():
    """89 % intervals at the spreads of religion/Reddit, in a sample the test can afford; `make bench` runs 1,000."""
    report = coverage_simulated(
        Scenario(), tables=120, methods=("crossed", "hierarchical"), seed=shifted(2), progress=False
    )
    crossed = report[report["method"] == "crossed"].set_index("contrast")["coverage"]
    assert (crossed * 120 >= mc.fewest(120, 0.89)).all(), crossed
    hierarchical = report[report["method"] == "hierarchical"].set_index("contrast")["coverage"]
    assert hierarchical["different - neutral"] * 120 < mc.fewest(120, 0.89)


# -- one set of simulated fits for ranks, coverage and calls -----------------------------------------


@dataclass(frozen=True)
class Simulated:
    """Fits of tables whose truth was drawn from the prior, each row one table."""

    ranks: dict[str, np.ndarray]  # of the truth among KEPT thinned draws, by entry of a parameter
    covered: pd.DataFrame  # whether the interval of each method holds the true contrast


KEPT, THIN = 99, 10


# By the quick engine 40 tables would show intervals that are a third too narrow; 200, sampled, are the claim.
@pytest.fixture(scope="module", params=[40, pytest.param(200, marks=pytest.mark.claim)])
def simulated(request) -> Simulated:
    frame = simulate_table(SMALL, 0)
    spec = load_model("crossed")
    # Narrower priors than the shipped ones, so that few simulated tables are wild; the method is the same.
    parameters = {
        name: dataclasses.replace(p, args={**p.args, "lam": 12.0}) if p.distribution == "Exponential" else p
        for name, p in spec.parameters.items()
    }
    spec = dataclasses.replace(spec, parameters=parameters)
    design = Design.of(spec, frame)
    truth = design.prior_draws(request.param, seed=1)
    ranks: dict[str, list[int]] = {}
    covered = []
    for i in range(request.param):
        one = {name: values[i] for name, values in truth.items()}
        table = frame.assign(distance=design.outcome_draws(one, seed=1000 + i))
        fit = bb.fit(
            table,
            spec,
            seed=i,
            draws=KEPT * THIN // 2 + THIN,
            tune=300,
            chains=2,
            engine="quick" if request.param == 40 else "nuts",
        )
        for name, values in fit.draws().items():
            chosen = values.reshape(len(values), -1)[::THIN][:KEPT]
            for k in (0, -1):
                ranks.setdefault(f"{name}[{k}]", []).append(int((chosen[:, k] < one[name].ravel()[k]).sum()))
        true = dict(zip(design.coords["connection"], one["connection_mean"], strict=True))
        contrasts = fit.contrasts(estimand="population", level="overall")
        ends = contrasts[["contrast", "hpdi_low", "hpdi_high"]].to_numpy().tolist()
        rows = [("crossed", *row) for row in ends]
        rows += [
            ("pairs_t", row["contrast"], row["low"], row["high"])
            for row in answers._by_t(table, "pairs_t", PROB)
        ]
        for method, contrast, low, high in rows:
            first, second = contrast.split(" - ")
            covered.append((method, contrast, low <= true[first] - true[second] <= high))
    return Simulated(
        {name: np.array(values) for name, values in ranks.items()},
        pd.DataFrame(covered, columns=["method", "contrast", "covered"]),
    )


@pytest.mark.slow
def test_ranks_are_uniform(simulated):
    """Simulation-based calibration (Talts et al. 2018): the rank of the truth among its posterior draws."""
    for name, values in simulated.ranks.items():
        counts = np.histogram(values, bins=min(10, len(values) // 8), range=(0, KEPT + 1))[0]
        assert stats.chisquare(counts).pvalue > 1e-4, (name, counts)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say(simulated):
    frame = simulated.covered[simulated.covered["method"] == "crossed"]
    assert frame["contrast"].nunique() == 5
    for contrast, part in frame.groupby("contrast")["covered"]:
        assert stats.binomtest(int(part.sum()), len(part), PROB).pvalue > 1e-4, (contrast, part.mean())


@pytest.mark.slow
def test_pair_tests_miss_the_truth_where_pairs_share_an_attribute(simulated):
    """Less the truth, the same tables have no difference: an interval that misses it calls what is not there."""
    share = simulated.covered.groupby(["method", "contrast"])["covered"].mean()
    for contrast in ("human - neutral", "associated - different"):
        assert share["pairs_t", contrast] < share["crossed", contrast]
    assert share["pairs_t", "human - neutral"] < 0.7


def test_weat_is_the_one_of_the_baseline():
    """And a table with a distance below 0, which normal noise makes now and then, is no reason to stop."""
    from bayesbias.scores.association import weat

    table = simulate_table(SMALL, 4)
    expected = weat(
        table.assign(distance=table["distance"].clip(0, 2)), classes=("class0", "class1"), sides=2
    )
    assert (table["distance"] > 0).all()
    assert answers._by_weat(table)[0]["p_value"] == pytest.approx(expected.p_value, rel=1e-9)
    wild = table.copy()
    wild.loc[0, "distance"] = -0.2
    assert 0 < answers._by_weat(wild)[0]["p_value"] <= 1


SHARED_STEREOTYPE = {
    "a": {"protected": ["jew", "rabbi", "torah"], "attributes": ["greedy", "cheap", "hairy"]},
    "b": {
        "protected": ["christian", "priest", "bible"],
        "attributes": ["conservative", "judgemental", "cheap"],
    },
    "d": {"protected": ["muslim", "imam", "quran"], "attributes": ["violent", "terrorist", "dirty"]},
}


def test_a_stereotype_of_two_classes_stays_one_when_meaning_is_taken_out():
    words = bb.load_wordlist(SHARED_STEREOTYPE, controls="none")
    vectors = bb.load_embedding("minilm-static", words=words.words)
    real = bb.distance_table(vectors, words).frame
    owners = {"cheap": {"a", "b"}} | {
        a: {c.name} for c in words.classes for a in c.attributes if a != "cheap"
    }
    for seed in range(5):
        classes = shuffles.without_meaning(
            real, words, vectors, "shuffled_classes", np.random.default_rng(seed)
        )
        own = [c in owners[a] for c, a in zip(classes["protected_class"], classes["attribute"], strict=True)]
        assert (classes["connection"] == np.where(own, "associated", "different")).all()
        dealt = shuffles.without_meaning(
            real, words, vectors, "shuffled_attributes", np.random.default_rng(seed)
        )
        near = dealt[dealt["connection"] == "associated"]
        assert near.groupby("protected_class")["attribute"].nunique().to_dict() == {"a": 3, "b": 3, "d": 3}
        assert (near["attribute_class"] == near["protected_class"]).all()
        twice = near.groupby("attribute")["protected_class"].nunique()
        assert (twice == 2).sum() == 1  # some word is shared, as cheap was


def test_every_negative_control_is_fitted_with_a_seed_of_its_own(monkeypatch):
    seen = []

    def answer(table, model, seed, settings):
        seen.append(seed)
        return [
            {"contrast": "associated - different", "estimate": 0.0, "low": -1.0, "high": 1.0, "quick": 1.0}
        ]

    monkeypatch.setattr(shuffles, "analyse_table", answer)
    for seed in (1, 2):
        negative_controls("minilm-static", "gender", tables=2, seed=seed, controls="none", progress=False)
    assert len(set(seen)) == len(seen) == 2 * (1 + 3 * 2)


def test_what_negative_controls_cannot_use_is_refused():
    one = {"a": SHARED_STEREOTYPE["a"]}
    for problem, arguments in {
        "stereotypes of two classes": {"wordlist": one, "controls": "2022"},
        "tables: must be": {"wordlist": "religion", "tables": 0},
        "are of a model; found: 'weat'": {"wordlist": "religion", "model": "weat"},
    }.items():
        with pytest.raises(InputError, match=problem):
            negative_controls("minilm-static", **arguments, progress=False)


def test_a_method_without_an_answer_gives_none():
    with pytest.raises(InputError, match=r"WEAT compares two classes.*leave out weat"):
        coverage_simulated(Scenario(words=(4,), attributes=(3,)), tables=3, methods=["weat"], **QUICK)
    lonely = {
        name: {c: x for c, x in value.items() if c != "different"} if isinstance(value, dict) else value
        for name, value in scenario_room.RELIGION_REDDIT.items()
    }
    single = Scenario(words=(1,), attributes=(1,), human=3, neutral=3, values=lonely)
    report = coverage_simulated(single, tables=3, methods=["averages_t", "pairs_t"], **QUICK)
    # One pair has no variance, and one word no difference to compare with others.
    assert set(report["contrast"]) == {"human - neutral"}
    assert set(report["method"]) == {"pairs_t"}


@pytest.mark.slow
def test_damaged_batches_are_made_again(tmp_path):
    arguments = {**QUICK, "tables": 21, "methods": ["pairs_t"], "out": tmp_path}
    whole = coverage_simulated(SMALL, **arguments)
    first, second = sorted(tmp_path.glob("batch-*.json"))
    first.write_text(first.read_text()[:50])
    second.write_text("[]")
    with pytest.warns(UserWarning, match="2 batches damaged: made again"):
        assert coverage_simulated(SMALL, **arguments, resume=True).equals(whole)
    content = second.read_bytes()
    assert {row["table"] for row in json.loads(content)["rows"]} == {20}
    second.write_bytes(content.replace(b'"estimate": 0', b'"estimate": 1', 1))
    with pytest.warns(UserWarning, match="1 batch damaged: made again"):
        assert coverage_simulated(SMALL, **arguments, resume=True).equals(whole)
    assert second.read_bytes() == content
    second.write_text(json.dumps(json.loads(content)["rows"]))  # as first versions wrote it
    with pytest.warns(UserWarning, match="1 batch written without a hash: used unverified"):
        assert coverage_simulated(SMALL, **arguments, resume=True).equals(whole)
    state = tmp_path / "calibration.json"
    state.write_bytes(state.read_bytes().replace(b"pairs_t", b"pairs_u"))
    with pytest.raises(InputError, match=r"calibration\.json: is damaged"):
        coverage_simulated(SMALL, **arguments, resume=True)


def test_bad_numbers_are_refused():
    for arguments in ({"seed": -1}, {"workers": 0}, {"prob": 1.0}):
        with pytest.raises(InputError, match="must"):
            coverage_simulated(SMALL, methods=["pairs_t"], **(QUICK | {"tables": 1} | arguments))
    for arguments in ({"prob": 2}, {"words": ()}, {"words": (0, 3)}, {"seed": 0.5}):
        with pytest.raises(InputError):
            sample_size(0.1, **arguments, progress=False)
    robust = Scenario(model="robust", values={**scenario_room.RELIGION_REDDIT, "nu": 10.0})
    with pytest.raises(InputError, match="normal models only"):
        sample_size(0.1, scenario=robust, progress=False)
    numbers = {name: value for name, value in scenario_room.RELIGION_REDDIT.items()} | {"attribute_sd": np.float32(0.1)}
    assert type(Scenario(words=[2, 2], attributes=[2, 2], values=numbers).values["attribute_sd"]) is float


@pytest.mark.slow
@pytest.mark.parametrize("model", ["additive", "crossed", "hierarchical", "shared"])
def test_every_fit_can_be_simulated_from_or_says_why_not(model):
    fit = bb.fit(
        bb.distance_table("minilm-static", "religion"),
        model,
        seed=shifted(1),
        draws=100,
        tune=100,
        chains=2,
        pointwise=False,
    )
    if model == "additive":
        with pytest.raises(InputError, match="belongs to the words of the table"):
            scenario_room.scenario_from_fit(fit)
    else:
        assert len(simulate_table(scenario_room.scenario_from_fit(fit), 1)) == 15 * (11 + 85 + 226)


@pytest.mark.claim
def test_the_values_of_cells_are_those_of_the_published_table(shared):
    table = bb.load_distances(
        shared / "data/bayesbias_distances/with_controls_2022/religion_group_reddit_dataset.csv"
    )
    fit = bb.fit(table, seed=shifted(1), progress=False)
    found, named = scenario_room.scenario_from_fit(fit), Scenario.for_claims()
    sizes = ("words", "attributes", "human", "neutral", "model")
    assert [getattr(found, name) for name in sizes] == [getattr(named, name) for name in sizes]
    for name in ("word_by_connection_sd", "fsd", "attribute_sd", "class_by_attribute_sd", "sigma"):
        for label, value in named.values[name].items():
            draws = fit.draws()[name][:, fit.design.coords[fit.spec.parameters[name].dims[0]].index(label)]
            error = draws.std() / np.sqrt(len(draws) / 10)  # of draws that are worth a tenth of as many
            assert abs(found.values[name][label] - value) < 4 * error + 0.0005, (name, label)
