"""Tables drawn from pools of real words are compared with the pool."""

import importlib.util
import json

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.places import ROOT
from helpers.seeds import shifted
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.estimands import PROB
from bayesbias.simulation import pools as room
from bayesbias.simulation.coverage import checked_methods
from bayesbias.simulation.grid import LEVEL_COLUMNS, YARDSTICKS, grid_of

WOMEN = [
    "mary",
    "anna",
    "emma",
    "laura",
    "julia",
    "sarah",
    "helen",
    "alice",
    "clara",
    "lucy",
    "ruth",
    "jane",
]
MEN = [
    "john",
    "peter",
    "paul",
    "mark",
    "david",
    "james",
    "robert",
    "thomas",
    "henry",
    "george",
    "frank",
    "simon",
]
FEMALE = ["nurse", "teacher", "secretary", "maid", "dancer", "nanny", "typist", "cook", "weaver"]
MALE = ["engineer", "pilot", "soldier", "carpenter", "plumber", "judge", "boss", "miner", "sailor"]
POOLS = {
    "women": {"protected": WOMEN, "attributes": FEMALE},
    "men": {"protected": MEN, "attributes": MALE},
}
NEUTRAL = {
    "neutral": [
        "table",
        "river",
        "stone",
        "cloud",
        "bread",
        "paper",
        "window",
        "garden",
        "street",
        "winter",
        "copper",
        "music",
    ]
}


QUICK = {
    "words": 4,
    "attributes": 4,
    "neutral": 5,
    "controls": NEUTRAL,
    "workers": 1,
    "progress": False,
}


def report_of(**changes) -> pd.DataFrame:
    return bb.coverage_on_pools(
        "minilm-static", POOLS, **(QUICK | {"tables": 25, "methods": YARDSTICKS} | changes)
    )


@pytest.mark.slow
def test_values_of_the_pool_are_means_over_its_pairs():
    table = bb.distance_table("minilm-static", POOLS, controls=NEUTRAL).frame
    report = report_of(methods=["moments"]).set_index(["level", "name", "contrast"])
    mean = table.groupby("connection", observed=True)["distance"].mean()
    assert report.loc[("overall", "all", "associated - different"), "truth"] == pytest.approx(
        mean["associated"] - mean["different"]
    )
    mine = (
        table[table["protected_class"] == "men"]
        .groupby("connection", observed=True)["distance"]
        .mean()
    )
    assert report.loc[("class", "men", "different - neutral"), "truth"] == pytest.approx(
        mine["different"] - mine["neutral"]
    )
    theirs = (
        table[table["attribute_class"] == "women"]
        .groupby("connection", observed=True)["distance"]
        .mean()
    )
    assert report.loc[
        (list(LEVEL_COLUMNS)[1], "women", "associated - different"), "truth"
    ] == pytest.approx(theirs["associated"] - theirs["different"])
    assert set(report["tables"]) == {25}


@pytest.mark.slow
def test_a_report_counts_the_tables_that_were_drawn():
    """Every number of one row, from the answers themselves."""
    pool = room.Pool.of(
        grid_of(bb.distance_table("minilm-static", POOLS, controls=NEUTRAL).frame, "here"),
        np.array([4, 4]),
        np.array([4, 4, 5]),
    )
    settings = {"prob": PROB, "draws": 100, "tune": 100, "chains": 2}
    answers = pd.DataFrame(room.analyse_drawn(pool, ["bootstrap"], 3, 0, 25, settings))
    key = ("class", "women", "associated - neutral")
    mine = answers.set_index(["level", "name", "contrast"]).sort_index().loc[key]
    row = report_of(methods=["bootstrap"], seed=3).set_index(["level", "name", "contrast"]).loc[key]
    truth = pool.values()[key]
    assert row["truth"] == truth
    assert row["coverage"] == ((mine["low"] <= truth) & (truth <= mine["high"])).mean()
    assert row["width"] == pytest.approx((mine["high"] - mine["low"]).mean())
    assert row["rmse"] == pytest.approx(np.sqrt(((mine["estimate"] - truth) ** 2).mean()))
    assert row["relative_width"] == pytest.approx(row["width"] / pool.ideal_widths(PROB)[key])
    # Each table holds other words, four of each class, none of them twice.
    rng = np.random.default_rng(0)
    tables = [pool.grid.part(*pool.places(rng)) for _ in range(3)]
    assert all(len(set(t.words)) == 8 and len(set(t.attributes)) == 13 for t in tables)
    assert len({t.words for t in tables}) == 3


@pytest.mark.slow
def test_a_flawless_method_covers_more_often_where_pools_are_small():
    """Without replacement the mean lies nearer to that of the pool; here words alone vary."""
    rng = np.random.default_rng(1)
    words = pd.DataFrame(
        {"protected_word": [f"w{i}" for i in range(40)], "effect": rng.normal(0, 0.1, 40)}
    )
    words["protected_class"] = np.where(np.arange(40) < 20, "a", "b")
    attributes = pd.DataFrame(
        {"attribute": [f"x{i}" for i in range(40)], "own": np.arange(40) < 20}
    )
    frame = words.merge(attributes, how="cross")
    frame["attribute_class"] = np.where(frame["own"], "a", "b")
    same = frame["attribute_class"] == frame["protected_class"]
    frame["connection"] = np.where(same, "associated", "different")
    frame["attribute_kind"] = "stereotype"
    frame["distance"] = 1 + np.where(same, frame["effect"], 0.0)
    pool = room.Pool.of(grid_of(frame, "here"), np.array([10, 10]), np.array([5, 5]))
    key = ("class", "a", "associated - different")
    scores = words["effect"][:20]
    z = stats.norm.ppf((1 + PROB) / 2)
    assert pool.ideal_widths(PROB)[key] == pytest.approx(2 * z * scores.std(ddof=0) / np.sqrt(10))
    # Of tables drawn without replacement, counted here by hand.
    means = np.array([rng.choice(scores, 10, replace=False).mean() for _ in range(4000)])
    near = np.abs(means - scores.mean()) <= pool.ideal_widths(PROB)[key] / 2
    found = pool.flawless(PROB, 0)[key]
    error = np.sqrt(2 * found * (1 - found) / 4000)
    assert abs(found - near.mean()) < mc.K * error
    assert found > 0.95


@pytest.mark.claim
def test_a_seed_is_the_same_report_whatever_the_batches(tmp_path):
    once = report_of(seed=7).drop(columns="seconds")
    kept = report_of(seed=7, out=tmp_path).drop(columns="seconds")
    pd.testing.assert_frame_equal(once, kept)
    next(iter(sorted(tmp_path.glob("batch-*.json")))).unlink()
    pd.testing.assert_frame_equal(
        once, report_of(seed=7, out=tmp_path, resume=True).drop(columns="seconds")
    )
    with pytest.raises(InputError, match="other settings"):
        report_of(seed=7, out=tmp_path, resume=True, words=5)
    assert not once.equals(report_of(seed=8).drop(columns="seconds"))


@pytest.mark.slow
def test_a_table_of_all_pairs_stands_in_for_vectors_and_lists():
    table = bb.distance_table("minilm-static", POOLS, controls=NEUTRAL)
    settings = {name: value for name, value in QUICK.items() if name != "controls"}
    settings |= {"tables": 10, "methods": ["moments"]}
    of_table = bb.coverage_on_pools(table, **settings).drop(columns="seconds")
    pd.testing.assert_frame_equal(
        of_table, bb.coverage_on_pools(table.frame, **settings).drop(columns="seconds")
    )
    pd.testing.assert_frame_equal(
        of_table, report_of(tables=10, methods=["moments"]).drop(columns="seconds")
    )
    with pytest.raises(InputError, match="holds the pools already"):
        bb.coverage_on_pools(table, POOLS, **settings)
    with pytest.raises(InputError, match="nothing to draw words from"):
        bb.coverage_on_pools("minilm-static", **settings)


def test_a_model_file_is_a_method_by_its_path(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(bb.load_model("crossed").text, encoding="utf-8")
    assert checked_methods([file, str(file), "moments"]) == [str(file), "moments"]


@pytest.mark.slow
def test_numbers_go_by_class_and_list():
    report = report_of(words=[3, 5], attributes=[2, 6], neutral=0, methods=["moments"], tables=5)
    assert "associated - neutral" not in set(report["contrast"])
    grid = grid_of(bb.distance_table("minilm-static", POOLS).frame, "here")
    counts = np.outer([3, 5], [2, 6]) * np.array([[1, 0], [0, 1]])
    expected = (grid.means() * counts).sum() / counts.sum()
    other = np.outer([3, 5], [2, 6]) * np.array([[0, 1], [1, 0]])
    expected -= (grid.means() * other).sum() / other.sum()
    (row,) = report.query("level == 'overall' and contrast == 'associated - different'").to_dict(
        "records"
    )
    assert row["truth"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"words": 12}, r"no more than is to be drawn: 12 words of class women; found: 12"),
        ({"attributes": [4, 20]}, r"20 attributes of list men; found: 9"),
        ({"neutral": 12}, r"12 attributes of list neutral"),
        ({"human": 3}, r"no human words.*found: 'human = 3'"),
        ({"words": 1}, r"words: must be a whole number of at least 2"),
        ({"words": [3, 3, 3]}, "one number, or one for each"),
        ({"methods": ["momnets"]}, r"unknown method.*did you mean 'moments'"),
        ({"methods": ["sentence"]}, r"needs a column that the table lacks.*attribute_template"),
        ({"tables": 0}, r"tables: must be"),
        ({"prob": 2}, r"prob"),
    ],
)
def test_bad_requests_are_refused(change, says):
    with pytest.raises(InputError, match=says):
        report_of(**change)


@pytest.mark.slow
def test_models_answer_at_their_levels():
    settings = {"draws": 100, "tune": 150, "chains": 2, "tables": 3, "seed": shifted(1)}
    report = report_of(methods=["crossed", "averages_t", "weat"], **settings)
    crossed = report[report["method"] == "crossed"]
    assert crossed["level"].value_counts().to_dict() == {"overall": 3}
    assert crossed["converged"].between(0, 1).all()
    assert crossed["quick"].between(0, 1).all()
    assert report.loc[report["method"] == "weat", "quick"].isna().all()
    assert (crossed["seconds"] > 0).all()
    assert set(report[report["method"] == "weat"]["contrast"]) == {"associated - different"}
    # The interval is the one that a fit of the drawn table prints.
    grid = grid_of(bb.distance_table("minilm-static", POOLS, controls=NEUTRAL).frame, "here")
    pool = room.Pool.of(grid, np.array([4, 4]), np.array([4, 4, 5]))
    drawn = {name: settings[name] for name in ("draws", "tune", "chains")} | {"engine": "quick"}
    answers = room.analyse_drawn(pool, ["crossed"], shifted(1), 0, 1, {"prob": 0.5, **drawn})
    sequence = np.random.SeedSequence([shifted(1), 0])
    table = pool.grid.part(*pool.places(np.random.default_rng(sequence))).frame()
    seed = int(sequence.generate_state(1)[0])
    fit = bb.fit(table, "crossed", seed=seed, **drawn, pointwise=False, progress=False)
    printed = fit.contrasts(prob=0.5, estimand="population", level="overall")
    mine = [row for row in answers if row["level"] == "overall"]
    assert [row["low"] for row in mine] == printed["hpdi_low"].tolist()
    assert [row["high"] for row in mine] == printed["hpdi_high"].tolist()


@pytest.mark.parametrize("situation", ["gender_jobs", "names_valence"])
@pytest.mark.claim
def test_pools_measured_elsewhere_have_the_values_found_there(shared, situation):
    """The value of the pool to single precision; widths and coverage were found by simulation there."""
    spec = importlib.util.spec_from_file_location(
        "real_coverage", ROOT / "benchmarks/real_coverage.py"
    )
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    file = shared / f"data/real_coverage/{situation}.npz"
    table, sizes = benchmark.pool_of(file)
    with np.load(file) as content:
        meta = json.loads(str(content["meta"]))
    pool = room.drawn_pool(table, **sizes)
    found = {
        "A-D": ("overall", "all", "associated - different"),
        "A-N": ("overall", "all", "associated - neutral"),
    }
    found |= {f"A-D|{k}": ("class", k, "associated - different") for k in meta["keys"]}
    widths, flawless = pool.ideal_widths(PROB), pool.flawless(PROB, 0)
    for name, key in found.items():
        about = meta["info"][name]
        assert pool.values()[key] == pytest.approx(about["truth"], abs=1e-6)
        assert widths[key] == pytest.approx(about["oracle_width"], rel=0.05)
        assert flawless[key] == pytest.approx(about["perfect"], abs=0.025)
    report = bb.coverage_on_pools(
        table, **sizes, tables=10, methods=["moments", "bootstrap"], workers=1
    )
    summary = benchmark.summary(report)
    assert (summary.loc[summary["method"] == "moments", "of_moments"] == 1).all()
    assert set(summary["level"]) == {"overall", "class"}
