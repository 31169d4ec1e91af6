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
from bayesbias.core.conventions import PROB
from bayesbias.core.errors import InputError
from bayesbias.simulation import coverage, real_words as room
from bayesbias.simulation.grid import grid_of

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
QUICK = {"words": 4, "attributes": 4, "neutral": 5, "controls": NEUTRAL, "workers": 1, "progress": False}  # fmt: skip
KEYS = ["level", "name", "contrast"]


def pairs() -> pd.DataFrame:
    return bb.distance_table("minilm-static", POOLS, controls=NEUTRAL).frame


def pool_of() -> room.Pool:
    return room.Pool(grid_of(pairs(), "here"), np.array([4, 4]), np.array([4, 4, 5]))


def report_of(**changes) -> pd.DataFrame:
    return bb.coverage_on_pools(
        "minilm-static", POOLS, **(QUICK | {"tables": 25, "methods": ["moments"]} | changes)
    )


def test_values_of_the_pool_are_means_over_its_pairs():
    table, values = pairs(), pool_of().values()
    mean = table.groupby("connection", observed=True)["distance"].mean()
    assert values["overall", "all", "associated - different"] == pytest.approx(
        mean["associated"] - mean["different"]
    )
    by_class = table.groupby(["protected_class", "connection"], observed=True)["distance"].mean()
    assert values["class", "men", "different - neutral"] == pytest.approx(
        by_class["men", "different"] - by_class["men", "neutral"]
    )
    by_list = table.groupby(["attribute_class", "connection"], observed=True)["distance"].mean()
    assert values["attribute_set", "women", "associated - different"] == pytest.approx(
        by_list["women", "associated"] - by_list["women", "different"]
    )


def test_a_report_counts_the_tables_that_were_drawn():
    """Every number of one row, from the answers themselves."""
    pool = pool_of()
    rows = []
    for number in range(25):
        table, seed = room.drawn(pool, 3, number)
        rows += coverage.analyse_table(table, "moments", seed, {"prob": PROB})
    key = ("class", "women", "associated - neutral")
    mine = pd.DataFrame(rows).set_index(KEYS).sort_index().loc[key]
    row = report_of(methods=["moments"], seed=3).set_index(KEYS).loc[key]
    truth = pool.values()[key]
    assert (row["truth"], row["tables"]) == (truth, 25)
    assert row["coverage"] == ((mine["low"] <= truth) & (truth <= mine["high"])).mean()
    assert row["width"] == pytest.approx((mine["high"] - mine["low"]).mean())
    assert row["rmse"] == pytest.approx(np.sqrt(((mine["estimate"] - truth) ** 2).mean()))
    assert row["relative_width"] == pytest.approx(row["width"] / pool.ideal_widths(PROB)[key])
    # Each table holds other words; one that is drawn again has a name of its own.
    rng = np.random.default_rng(0)
    tables = [pool.grid.part(*pool.places(rng)) for _ in range(3)]
    assert all(len(set(t.words)) == 8 and len(set(t.attributes)) == 13 for t in tables)
    assert len({t.words for t in tables}) == 3


def test_a_word_drawn_twice_is_two_words():
    grid = pool_of().grid
    twice = grid.part(np.array([0, 3, 0, 0]), np.array([1, 1]))
    first = grid.words[0]
    assert twice.words == (first, grid.words[3], f"{first} (2)", f"{first} (3)")
    assert (twice.distances[[0, 0]] == twice.distances[[2, 3]]).all()
    assert len(twice.frame().drop_duplicates(["protected_word", "attribute"])) == 8


def test_a_flawless_method_covers_as_often_as_it_claims():
    """Tables are drawn with replacement; here words alone vary."""
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
    pool = room.Pool(grid_of(frame, "here"), np.array([10, 10]), np.array([5, 5]))
    key = ("class", "a", "associated - different")
    scores = words["effect"][:20]
    z = stats.norm.ppf((1 + PROB) / 2)
    assert pool.ideal_widths(PROB)[key] == pytest.approx(2 * z * scores.std(ddof=0) / np.sqrt(10))
    means = np.array([rng.choice(scores, 10).mean() for _ in range(4000)])
    near = np.abs(means - scores.mean()) <= pool.ideal_widths(PROB)[key] / 2
    found = pool.flawless(PROB, 0)[key]
    error = np.sqrt(found * (1 - found) / 4000)
    assert abs(found - near.mean()) < mc.K * np.sqrt(2) * error
    assert abs(found - PROB) < mc.K * error + 0.01  # means of ten words are nearly normal


def test_a_table_of_all_pairs_stands_in_for_vectors_and_lists():
    table = bb.distance_table("minilm-static", POOLS, controls=NEUTRAL)
    sizes = {"words": 4, "attributes": 4, "neutral": 5}
    of_lists = room.drawn_pool("minilm-static", POOLS, controls=NEUTRAL, **sizes)
    for given in (table, table.frame):
        assert room.drawn_pool(given, **sizes).values() == pytest.approx(of_lists.values())
    with pytest.raises(InputError, match="expected no pools"):
        room.drawn_pool(table, POOLS, **sizes)
    with pytest.raises(InputError, match="expected a source of words, got none"):
        room.drawn_pool("minilm-static", **sizes)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"words": 12}, r"12 words of class women, got 12"),
        ({"attributes": [4, 20]}, r"20 attributes of list men, got 9"),
        ({"human": 3}, r"pools with human words.*got 'human = 3'"),
        ({"words": [3, 3, 3]}, "one number, or one for each"),
        ({"methods": ["momnets"]}, r"methods: expected .*Did you mean 'moments'"),
        ({"methods": ["sentence"]}, "with the column 'attribute_template'"),
        ({"tables": 0}, r"tables: expected"),
    ],
)
def test_bad_requests_are_refused(change, says):
    with pytest.raises(InputError, match=says):
        report_of(**change)


@pytest.mark.slow
def test_models_answer_at_their_levels():
    settings = {"draws": 100, "tune": 150, "chains": 2, "engine": "quick"}
    methods = ["default", "crossed", "averages_t", "weat"]
    report = report_of(methods=methods, tables=2, seed=shifted(1), **settings)
    of = dict(iter(report.groupby("method")))
    counts = {"overall": 3, "class": 6, "attribute_set": 2}
    assert of["default"]["level"].value_counts().to_dict() == counts
    assert set(of["crossed"]["level"]) == {"overall"}  # it has no class intervals for new words
    assert of["default"][["converged", "quick"]].stack().between(0, 1).all()
    assert (of["default"]["seconds"] > 0).all()
    assert of["weat"]["quick"].isna().all()
    assert set(of["weat"]["contrast"]) == {"associated - different"}
    # The interval is the one that a fit of the drawn table prints.
    table, seed = room.drawn(pool_of(), shifted(1), 0)
    answers = coverage.analyse_table(table, "default", seed, {"prob": 0.5, **settings})
    fit = bb.fit(table, "default", seed=seed, **settings, pointwise=False, progress=False)
    printed = fit.contrasts(prob=0.5, estimand="population", level="class", detail=True)
    mine = [(row["low"], row["high"]) for row in answers if row["level"] == "class"]
    assert mine == list(zip(printed["hpdi_low"], printed["hpdi_high"], strict=True))


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
        assert flawless[key] == pytest.approx(PROB, abs=0.02)
    report = bb.coverage_on_pools(table, **sizes, tables=10, methods=["moments"], workers=1)
    summary = benchmark.summary(report)
    assert (summary.loc[summary["method"] == "moments", "of_moments"] == 1).all()
    assert set(summary["level"]) == {"overall", "class"}
