"""Simulated tables carry the truth they claim, and methods are held to it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import bayesbias as bb
from bayesbias.basics.errors import InputError
from bayesbias.simulation import answers, calibration, scenario as scenario_room, shuffles
from bayesbias.simulation.calibration import calibrate
from bayesbias.simulation.planning import plan_words
from bayesbias.simulation.scenario import Scenario, simulate_table, true_contrasts
from bayesbias.simulation.shuffles import negative_controls
from bayesbias.words.pairing import CONNECTIONS

SMALL = Scenario(words=(4, 4), attributes=(4, 4), human=10, neutral=10)
QUICK = {"draws": 150, "tune": 200, "chains": 2, "workers": 1, "progress": False}


def test_truth_is_what_was_asked_for():
    values = scenario_room.RELIGION_REDDIT["cbar"]
    truth = true_contrasts(Scenario())
    assert truth["associated - different"] == pytest.approx(values["associated"] - values["different"])
    assert truth["human - neutral"] == pytest.approx(values["human"] - values["neutral"])
    assert set(true_contrasts(Scenario().without_difference()).values()) == {0.0}


@pytest.mark.slow
def test_tables_have_the_moments_of_the_scenario():
    """Variance of a pair = csd^2 + ws^2 + sigma^2; pairs sharing an attribute covary by ws^2."""
    scenario = Scenario(words=(2, 2), attributes=(2, 2), human=2, neutral=2)
    tables = [simulate_table(scenario, seed) for seed in range(1500)]
    y = np.stack([t["distance"] for t in tables])
    frame = tables[0]
    v = scenario_room.RELIGION_REDDIT
    for connection in ("associated", "different", "human", "neutral"):
        columns = np.flatnonzero(frame["connection"] == connection)
        variance = v["csd"][connection] ** 2 + v["ws"] ** 2 + v["sigma"][connection] ** 2
        assert y[:, columns].mean() == pytest.approx(v["cbar"][connection], abs=0.01)
        assert y[:, columns].var(axis=0).mean() == pytest.approx(variance, rel=0.08)
    same = np.flatnonzero(frame["attribute"] == "neutral.0")
    other = [i for i in same if frame["protected_word"][i] != frame["protected_word"][same[0]]]
    covariance = np.cov(y[:, same[0]], y[:, other[0]])[0, 1]
    assert covariance == pytest.approx(v["ws"] ** 2, abs=0.004)


@pytest.mark.slow
def test_same_seed_same_report_whatever_the_batches(tmp_path, monkeypatch):
    once = calibrate(SMALL, tables=6, methods=("crossed", "pairs_t"), seed=3, **QUICK)
    monkeypatch.setattr(calibration, "_BATCH", 2)
    parts = calibrate(SMALL, tables=6, methods=("crossed", "pairs_t"), seed=3, out=tmp_path / "run", **QUICK)
    assert once.equals(parts)
    # Resumed after losing a batch: only that batch is made again.
    (tmp_path / "run/batch-000002-2.json").unlink()
    kept = (tmp_path / "run/batch-000000-2.json").stat().st_mtime_ns
    again = calibrate(
        SMALL, tables=6, methods=("crossed", "pairs_t"), seed=3, out=tmp_path / "run", resume=True, **QUICK
    )
    assert again.equals(once)
    assert (tmp_path / "run/batch-000000-2.json").stat().st_mtime_ns == kept
    with pytest.raises(InputError, match="holds a calibration already"):
        calibrate(SMALL, tables=6, methods=("crossed", "pairs_t"), seed=3, out=tmp_path / "run", **QUICK)
    with pytest.raises(InputError, match="other settings"):
        calibrate(SMALL, tables=6, methods=("pairs_t",), seed=3, out=tmp_path / "run", resume=True, **QUICK)


def test_t_interval_equals_scipy():
    from scipy import stats

    table = simulate_table(SMALL, 5)
    row = next(r for r in answers._by_t(table, "pairs_t", 0.9) if r["contrast"] == "human - neutral")
    one, two = (table.loc[table["connection"] == c, "distance"] for c in ("human", "neutral"))
    result = stats.ttest_ind(one, two, equal_var=False)
    # The interval leaves out zero exactly where p < 1 - prob.
    assert (row["low"] > 0 or row["high"] < 0) == (result.pvalue < 0.1)
    assert row["estimate"] == pytest.approx(one.mean() - two.mean())


@pytest.mark.slow
def test_pair_tests_call_what_is_not_there_and_crossed_does_not():
    """The reason for the package: pairs that share an attribute are not independent."""
    report = calibrate(
        SMALL.without_difference(),
        tables=60,
        methods=("crossed", "pairs_t"),
        seed=1,
        **{**QUICK, "workers": None},
    ).set_index(["method", "contrast"])
    assert report.loc[("pairs_t", "human - neutral"), "called"] > 0.3
    assert report.loc[("crossed", "human - neutral"), "called"] < 0.25
    assert report.loc[("crossed", "human - neutral"), "coverage"] > 0.78


@pytest.mark.slow
def test_scenario_is_taken_from_a_fit():
    fit = bb.fit(bb.distance_table("minilm-static", "religion"), seed=1, draws=200, chains=2, pointwise=False)
    scenario = scenario_room.scenario_from_fit(fit)
    assert (scenario.words, scenario.attributes) == ((5, 5, 5), (4, 3, 4))
    assert (scenario.human, scenario.neutral) == (85, 226)
    assert scenario.values["ws"] == pytest.approx(float(fit.draws()["ws"].mean()))
    assert scenario.values["csd"]["human"] == pytest.approx(float(fit.draws()["csd"].mean(axis=0)[2]))


@pytest.mark.slow
def test_meaning_is_taken_out():
    real = bb.distance_table("minilm-static", "religion").frame
    words = bb.load_wordlist("religion")
    vectors = bb.load_embedding("minilm-static", words=words.words)
    rng = np.random.default_rng(0)
    shuffled = shuffles._without_meaning(real, words, vectors, "shuffled_classes", rng)
    assert (shuffled["distance"] == real["distance"]).all()
    assert shuffled.drop_duplicates("protected_word")["protected_class"].value_counts().tolist() == [5, 5, 5]
    agree = shuffled["attribute_class"] == shuffled["protected_class"]
    assert (
        (shuffled["connection"] == "associated") == (agree & (shuffled["attribute_kind"] == "stereotype"))
    ).all()
    attributes = shuffles._without_meaning(real, words, vectors, "shuffled_attributes", rng)
    sizes = attributes[attributes["attribute_kind"] == "stereotype"].drop_duplicates("attribute")[
        "attribute_class"
    ]
    assert sorted(sizes.value_counts()) == [3, 4, 4]
    random = shuffles._without_meaning(real, words, vectors, "random_vectors", rng)
    assert random["distance"].mean() == pytest.approx(1, abs=0.02)
    report = negative_controls("minilm-static", "religion", tables=3, draws=100, tune=100, progress=False)
    assert report["kind"].tolist() == ["real", *shuffles.NEGATIVE_CONTROLS]


@pytest.mark.slow
def test_more_words_make_narrower_intervals():
    plan = plan_words(0.1, words=(5, 12), attributes=(3, 12), check=2, progress=False).set_index(
        ["words", "attributes"]
    )
    assert (
        plan.loc[(12, 12), "known_width"] < plan.loc[(5, 12), "known_width"] < plan.loc[(5, 3), "known_width"]
    )
    assert plan["enough"].tolist() == (plan["simulated_width"].fillna(plan["known_width"]) <= 0.1).tolist()
    checked = plan["simulated_width"].dropna()
    assert len(checked) == 1
    assert checked.iloc[0] == pytest.approx(plan.loc[checked.index[0], "known_width"], rel=0.4)
    error = plan.loc[checked.index[0], "simulated_se"]
    assert 0 < error < 0.3 * checked.iloc[0]
    assert plan["simulated_se"].notna().sum() == 1


def test_expected_widths_are_those_of_the_exact_posterior():
    """Of balanced data, independently: each cell mean has variance csd^2 + sigma^2 / attributes, and so on."""
    each = {"cbar": 1.0, "csd": 0.1, "sigma": 1e-3}
    values = {name: dict.fromkeys(CONNECTIONS, value) for name, value in each.items()} | {"ws": 1e-4}
    plain = Scenario(words=(4, 4), attributes=(3, 3), human=5, neutral=5, values=values)
    plan = plan_words(0.2, scenario=plain, words=(6, 24), attributes=(3,), check=0, progress=False)
    plan = plan.set_index("words")["known_width"]
    for words in (6, 24):
        # Noise and attributes hardly count here: two means of all words' cells, each with the prior N(1, 0.3).
        variance = 2 / (2 * words / 0.1**2 + 1 / 0.3**2)
        assert plan[words] == pytest.approx(2 * stats.norm.ppf(0.945) * np.sqrt(variance), rel=1e-4)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"words": (5,), "attributes": (4, 3)}, "one number for each"),
        ({"words": (5, 0), "attributes": (4, 3)}, "at least 1"),
        ({"values": {"cbar": 1.0}}, "has no value"),
        ({"values": {**scenario_room.RELIGION_REDDIT, "wz": 1.0}}, "no population parameter"),
        ({"values": {**scenario_room.RELIGION_REDDIT, "ws": 0.0}}, "must be positive"),
        ({"values": {**scenario_room.RELIGION_REDDIT, "csd": {"human": 1.0}}}, "no value for"),
    ],
)
def test_bad_scenarios_are_refused(change, says):
    with pytest.raises(InputError, match=says):
        true_contrasts(Scenario(**change))


@pytest.mark.slow
def test_commands(monkeypatch):
    from bayesbias.cli.main import cli

    run = CliRunner().invoke
    done = run(cli, ["calibrate", "--words", "3,3", "--attributes", "3,3", "--human", "4", "--neutral", "4",
                     "--tables", "2", "--methods", "pairs_t,weat", "--workers", "1", "--json"])  # fmt: skip
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert set(report) == {"difference", "no_difference", "scenario", "tables", "seed", "prob"}
    assert report["scenario"]["model"] == "crossed"
    weat = [row for row in report["difference"] if row["method"] == "weat"]
    assert [row["coverage"] for row in weat] == [None]
    done = run(cli, ["plan", "--width", "0.2", "--check", "0", "--json"])
    best = json.loads(done.stdout)["best"]
    assert best["known_width"] <= 0.2
    assert isinstance(run(cli, ["calibrate", "--words", "a,b"]).exception, InputError)
    assert isinstance(run(cli, ["calibrate", "--embedding", "minilm-static"]).exception, InputError)


@pytest.mark.slow
def test_coverage_of_the_crossed_model():
    """89 % intervals at the spreads of religion/Reddit, in a sample the test can afford; `make bench` runs 1,000."""
    report = calibrate(Scenario(), tables=120, methods=("crossed", "hierarchical"), seed=2, progress=False)
    crossed = report[report["method"] == "crossed"].set_index("contrast")["coverage"]
    assert ((crossed > 0.82) & (crossed < 0.96)).all(), crossed
    hierarchical = report[report["method"] == "hierarchical"].set_index("contrast")["coverage"]
    assert hierarchical["different - neutral"] < 0.8


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
        classes = shuffles._without_meaning(
            real, words, vectors, "shuffled_classes", np.random.default_rng(seed)
        )
        own = [c in owners[a] for c, a in zip(classes["protected_class"], classes["attribute"], strict=True)]
        assert (classes["connection"] == np.where(own, "associated", "different")).all()
        dealt = shuffles._without_meaning(
            real, words, vectors, "shuffled_attributes", np.random.default_rng(seed)
        )
        near = dealt[dealt["connection"] == "associated"]
        assert near.groupby("protected_class")["attribute"].nunique().to_dict() == {"a": 3, "b": 3, "d": 3}
        assert (near["attribute_class"] == near["protected_class"]).all()
        twice = near.groupby("attribute")["protected_class"].nunique()
        assert (twice == 2).sum() == 1  # some word is shared, as cheap was


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
        calibrate(Scenario(words=(4,), attributes=(3,)), tables=3, methods=["weat"], **QUICK)
    lonely = {
        name: {c: x for c, x in value.items() if c != "different"} if isinstance(value, dict) else value
        for name, value in scenario_room.RELIGION_REDDIT.items()
    }
    single = Scenario(words=(1,), attributes=(1,), human=3, neutral=3, values=lonely)
    report = calibrate(single, tables=3, methods=["averages_t", "pairs_t"], **QUICK)
    # One pair has no variance, and one word no difference to compare with others.
    assert set(report["contrast"]) == {"human - neutral"}
    assert set(report["method"]) == {"pairs_t"}


def test_damaged_batches_are_made_again(tmp_path):
    arguments = {**QUICK, "tables": 21, "methods": ["pairs_t"], "out": tmp_path}
    whole = calibrate(SMALL, **arguments)
    first, second = sorted(tmp_path.glob("batch-*.json"))
    first.write_text(first.read_text()[:50])
    second.write_text("[]")
    assert calibrate(SMALL, **arguments, resume=True).equals(whole)
    assert json.loads(second.read_text())


def test_bad_numbers_are_refused():
    for arguments in ({"seed": -1}, {"workers": 0}, {"prob": 1.0}):
        with pytest.raises(InputError, match="must"):
            calibrate(SMALL, methods=["pairs_t"], **(QUICK | {"tables": 1} | arguments))
    for arguments in ({"prob": 2}, {"words": ()}, {"words": (0, 3)}, {"seed": 0.5}):
        with pytest.raises(InputError):
            plan_words(0.1, **arguments, progress=False)
    robust = Scenario(model="robust", values={**scenario_room.RELIGION_REDDIT, "nu": 10.0})
    with pytest.raises(InputError, match="normal models only"):
        plan_words(0.1, scenario=robust, progress=False)
    numbers = {name: value for name, value in scenario_room.RELIGION_REDDIT.items()} | {"ws": np.float32(0.1)}
    assert type(Scenario(words=[2, 2], attributes=[2, 2], values=numbers).values["ws"]) is float


@pytest.mark.slow
@pytest.mark.parametrize("model", ["additive", "crossed", "hierarchical", "shared"])
def test_every_fit_can_be_simulated_from_or_says_why_not(model):
    fit = bb.fit(
        bb.distance_table("minilm-static", "religion"),
        model,
        seed=1,
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
