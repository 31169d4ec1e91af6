"""Coverage of changes: tables simulated at the SDs of a real comparison, and slopes with crossed trends.

``python -m benchmarks.changes BEFORE AFTER`` reads two tables of distances, fits `change` to them, and simulates changes
at the posterior means of its parameters. Without files it simulates slopes over six corpora, in which each word and
each attribute has a trend of its own, and compares `change` with least squares over the averages of the corpora.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

import bayesbias as bb
from bayesbias.inference.estimands import mean_quantities
from bayesbias.inference.fitting import prepare
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model
from bayesbias.simulation.scenario import Scenario, scenario_from_fit
from bayesbias.studies.debiasing.comparison import fit_changes

LEVELS = ["overall", "class", "attribute_set", "word"]
SETTINGS = {"draws": 500, "tune": 500, "chains": 2, "engine": "quick"}
PROB = 0.89


def of_comparison(before: str, after: str, tables: int) -> pd.DataFrame:
    """Return the coverage by level of changes like those between two tables."""
    pairs, _ = bb.tables.join_pairs(before, after)
    settings = {**SETTINGS, "draws": 1000, "seed": 1}
    found = fit_changes(pairs, load_model("change"), settings, "changes")[0]
    assert found is not None
    scenario = scenario_from_fit(found)
    frame = scenario.frame.drop(columns="distance").assign(change=0.0)
    spec = load_model("change")
    design, laid = Design.of(spec, frame), prepare(spec, frame, LEVELS)
    assert laid is not None
    given = given_values(scenario, design)
    rows = []
    for number in range(tables):
        seed, noise = np.random.SeedSequence([7, number]).generate_state(2).tolist()
        drawn = design.prior_draws(1, seed, given)
        y = design.outcome_draws({name: own[0] for name, own in drawn.items()}, seed=noise)
        means = mean_quantities(design, "population")
        true = dict(zip(means.keys, means.linear.draws(drawn)[0], strict=True))
        answers = laid.intervals(y, {**SETTINGS, "seed": seed}, PROB)
        assert answers is not None
        for (level, name, contrast), ends in answers[0]:
            a, b = (true[level, name, side] for side in contrast.split(" - "))
            rows.append(("change", level, ends["low"] <= a - b <= ends["high"]))
    return pd.DataFrame(rows, columns=["method", "level", "coverage"])


def given_values(scenario: Scenario, design: Design) -> dict[str, np.ndarray]:
    """Return the values of a scenario in the order of the labels of a design."""

    def in_order(value: object, labels: Sequence[Sequence[str]]) -> object:
        return (
            [in_order(value[x], labels[1:]) for x in labels[0]]
            if isinstance(value, dict)
            else value
        )

    parameters = design.spec.parameters
    return {
        name: np.broadcast_to(
            np.array(in_order(value, [design.coords[dim] for dim in parameters[name].dims])),
            design.shape(name),
        )
        for name, value in scenario.values.items()
    }


def of_slopes(tables: int, corpora: int = 6) -> pd.DataFrame:
    """Return the coverage by level of slopes over corpora, by `change` and by least squares over averages."""
    pairs = Scenario(words=(7, 7), attributes=(12, 12), human=20, neutral=60).frame
    frame = pairs.drop(columns="distance").assign(change=0.0)
    laid = prepare(load_model("change"), frame, LEVELS[:3])
    assert laid is not None
    steps = np.arange(corpora) - (corpora - 1) / 2
    weights = steps / (steps**2).sum()
    scale = np.sqrt(2 / (weights**2).sum())
    own, of_set, kind = (
        frame[name].to_numpy() for name in ("protected_class", "attribute_class", "connection")
    )
    word, attribute, connection, group = (
        pd.factorize(frame[name])[0]
        for name in ("protected_word", "attribute", "connection", "protected_class")
    )
    cell = pd.factorize(own + of_set)[0]
    rows = []
    for number in range(tables):
        rng = np.random.default_rng([5, number])
        mean = rng.normal(0, 0.01, cell.max() + 1)[cell]
        slope = mean + rng.normal(0, 0.008, (word.max() + 1, 4))[word, connection]
        slope += rng.normal(0, 0.005, word.max() + 1)[word]
        slope += rng.normal(0, 0.008, attribute.max() + 1)[attribute]
        slope += rng.normal(0, 0.006, (attribute.max() + 1, 2))[attribute, group]
        level = rng.normal(0.9, 0.1, len(frame))[:, None]
        distances = level + slope[:, None] * steps + rng.normal(0, 0.08, (len(frame), corpora))
        answers = laid.intervals(scale * (distances @ weights), {**SETTINGS, "seed": number}, PROB)
        assert answers is not None
        for (at, name, contrast), ends in answers[0]:
            here = {"overall": kind == kind, "class": own == name, "attribute_set": of_set == name}
            first, second = (here[at] & (kind == side) for side in contrast.split(" - "))
            true = mean[first].mean() - mean[second].mean()
            rows.append(("change", at, ends["low"] / scale <= true <= ends["high"] / scale))
            line = stats.linregress(steps, distances[first].mean(0) - distances[second].mean(0))
            half = stats.t.ppf((1 + PROB) / 2, corpora - 2) * line.stderr
            rows.append(("least squares", at, abs(line.slope - true) <= half))
    return pd.DataFrame(rows, columns=["method", "level", "coverage"])


def main(arguments: Sequence[str] = ()) -> None:
    """Print coverage by method and level."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", metavar="BEFORE AFTER")
    parser.add_argument("--tables", type=int, default=400)
    asked = parser.parse_args(arguments)
    found = of_comparison(*asked.files, asked.tables) if asked.files else of_slopes(asked.tables)
    print(found.groupby(["method", "level"], sort=False)["coverage"].agg(["mean", "size"]).round(3))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
