"""Simulated tables carry the truth they claim, and methods are compared with it."""

import dataclasses
import os
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from scipy import stats

import bayesbias as bb
from bayesbias.core.conventions import PROB
from bayesbias.core.errors import InputError
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model
from bayesbias.scores.association import weat
from bayesbias.simulation import coverage
from bayesbias.simulation.coverage import accounts, coverage_simulated, standard_error_of_share
from bayesbias.simulation.scenario import RELIGION_REDDIT, Scenario, simulate_table

SMALL = Scenario(words=(4, 4), attributes=(4, 4), human=10, neutral=10)
QUICK = {"draws": 150, "tune": 200, "chains": 2, "workers": 1, "progress": False}
MEAN, *_ = RELIGION_REDDIT  # the name of the parameter of the means of connections


LABEL = {"level": "overall", "name": "all", "contrast": "a - b"}
KEY = tuple(LABEL.values())


def intervals(ends, **more) -> list[dict]:
    return [
        {"method": "m", **LABEL, "estimate": (low + high) / 2, "low": low, "high": high, **more}
        for low, high in ends
    ]


def test_a_report_counts_what_its_rows_say():
    """Four intervals of a difference of 1: two hold it, three leave out zero, one of them on the wrong side."""
    rows = intervals([(0.5, 1.5), (-0.2, 1.2), (2.0, 3.0), (-2.0, -1.0)])
    rows += [{"method": "weat", **LABEL, "p_value": p} for p in (0.01, 0.2, 0.1, 0.12)]
    report = accounts(rows, {KEY: 1.0}, ["m", "weat", "absent"], 0.89).set_index("method")
    row = report.loc["m"]
    assert row[["coverage", "called", "wrong_sign"]].tolist() == [0.5, 0.75, 0.25]
    assert row["bias"] == pytest.approx((1.0 + 0.5 + 2.5 - 1.5) / 4 - 1)
    assert row["width"] == pytest.approx((1.0 + 1.4 + 1.0 + 1.0) / 4)
    assert row["bias_se"] == pytest.approx(np.std([1.0, 0.5, 2.5, -1.5], ddof=1) / 2)
    assert (report.loc["weat", "called"], report.loc["weat", "tables"]) == (0.5, 4)
    assert np.isnan(report.loc["weat", "coverage"])
    none = accounts(rows, {KEY: 0.0}, ["m"], 0.89).iloc[0]
    assert none["coverage"] == 0.25
    assert np.isnan(none["wrong_sign"])  # there is no direction to be wrong about
    below = accounts(rows[:3], {KEY: -1.0, ("class", "x", "a - b"): 0.0}, ["m"], 0.89)
    assert len(below) == 1
    assert below["wrong_sign"][0] == pytest.approx(2 / 3)  # above zero, where the truth is below
    assert below["rmse"][0] == pytest.approx(np.sqrt((2.0**2 + 1.5**2 + 3.5**2) / 3))
    assert below["coverage_se"][0] == standard_error_of_share(0.0, 3) > 0


@pytest.mark.claim
def test_errors_are_those_of_other_tables():
    """Of accounts of many sets of tables, each quantity varies as its error says."""
    rng = np.random.default_rng(shifted(4))
    n, sets, found = 60, 200, []
    for _ in range(sets):
        estimate, half = rng.normal(0.1, 0.2, n), rng.uniform(0.1, 0.4, n)
        rows = intervals(zip(estimate - half, estimate + half, strict=True))
        found.append(accounts(rows, {KEY: 0.05}, ["m"], 0.89).iloc[0])
    frame = pd.DataFrame(found)
    for name in ("coverage", "wrong_sign", "rmse", "width", "bias"):
        ratio = frame[name].std(ddof=1) / frame[f"{name}_se"].mean()
        # A standard deviation from so many sets is known to 1 / sqrt(2 n) of itself; shares add two of each kind.
        assert abs(np.log(ratio)) < 5 / np.sqrt(2 * sets), name


@pytest.mark.slow
def test_same_seed_same_report_whatever_the_batches(monkeypatch):
    monkeypatch.setattr(coverage, "_BATCH", 2)
    asked = {"tables": 4, "methods": ("crossed", "pairs_t"), "seed": shifted(3), **QUICK}
    parts = coverage_simulated(SMALL, **asked)
    monkeypatch.undo()
    assert coverage_simulated(SMALL, **asked).equals(parts)


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


@dataclass(frozen=True)
class Simulated:
    """Fits of tables whose truth was drawn from the prior, each row one table."""

    ranks: dict[str, np.ndarray]  # of the truth among KEPT thinned draws, by entry of a parameter
    covered: pd.DataFrame  # whether the interval of each method holds the true contrast


KEPT, THIN = 99, 10


# The short run has the smaller number of tables alone.
TABLES = [40]
if not os.environ.get("BAYESBIAS_TEST_SHORT"):
    TABLES.append(pytest.param(200, marks=pytest.mark.claim))


@pytest.fixture(scope="module", params=TABLES)
def simulated(request) -> Simulated:
    frame = simulate_table(SMALL, 0)
    spec = load_model("crossed")
    # Narrower priors than the shipped ones, so that few simulated tables are wild; the method is the same.
    parameters = {
        name: dataclasses.replace(p, args={**p.args, "lam": 12.0})
        if p.distribution == "Exponential"
        else p
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
        for name, values in fit.parameter_draws().items():
            chosen = values.reshape(len(values), -1)[::THIN][:KEPT]
            for k in (0, -1):
                ranks.setdefault(f"{name}[{k}]", []).append(
                    int((chosen[:, k] < one[name].ravel()[k]).sum())
                )
        true = dict(zip(design.coords["connection"], one[MEAN], strict=True))
        contrasts = fit.contrasts(estimand="population", level="overall")
        ends = contrasts[["contrast", "hpdi_low", "hpdi_high"]].to_numpy().tolist()
        rows = [("crossed", *row) for row in ends]
        rows += [
            ("pairs_t", row["contrast"], row["low"], row["high"])
            for row in coverage._by_t(table, "pairs_t", PROB)
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
        assert stats.binomtest(int(part.sum()), len(part), PROB).pvalue > 1e-4, (
            contrast,
            part.mean(),
        )


def test_weat_is_the_one_of_the_baseline():
    """And a table with a distance below 0, which normal noise makes now and then, is no reason to stop."""
    table = simulate_table(SMALL, 4)
    expected = weat(table, classes=("class0", "class1"), sides=2)
    (answer,) = coverage.analyse_table(table, "weat", 1, {"prob": PROB})
    assert answer["p_value"] == expected.p_value
    table.loc[0, "distance"] = -0.2
    (answer,) = coverage.analyse_table(table, "weat", 1, {"prob": PROB})
    assert 0 < answer["p_value"] <= 1


def test_a_method_without_an_answer_gives_none():
    with pytest.raises(InputError, match="two protected classes"):
        coverage_simulated(
            Scenario(words=(4,), attributes=(3,)), tables=3, methods=["weat"], **QUICK
        )
    lonely = {
        name: {c: x for c, x in value.items() if c != "different"}
        if isinstance(value, dict)
        else value
        for name, value in RELIGION_REDDIT.items()
    }
    single = Scenario(words=(1,), attributes=(1,), human=3, neutral=3, values=lonely)
    report = coverage_simulated(single, tables=3, methods=["averages_t", "pairs_t"], **QUICK)
    # One pair has no variance, and one word no difference to compare with others.
    assert set(report["contrast"]) == {"human - neutral"}
    assert set(report["method"]) == {"pairs_t"}


def test_a_lack_of_memory_in_a_batch_is_no_bad_input(monkeypatch):
    def without_memory(*arguments):
        raise MemoryError

    monkeypatch.setattr("bayesbias.simulation.coverage._analyse_batch", without_memory)
    with pytest.raises(bb.ResourceError, match=r"a batch of simulated tables failed: MemoryError"):
        bb.coverage_simulated(SMALL, tables=2, methods=["weat"], seed=1, workers=1)
