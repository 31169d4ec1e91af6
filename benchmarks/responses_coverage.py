"""Coverage of the models of responses at spreads that were estimated of real answers, beside tests of single answers.

``python -m benchmarks.responses_coverage number --tables 1000`` and the same with ``choice``. Tables are numbered
from ``--first``, so that parts can run side by side; ``--out`` keeps a row a table. ``--spreads`` estimates
the spreads anew.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from scipy import stats

import bayesbias as bb

PROB = 0.89
# Numbers: probabilities of BERT (Bhaskaran & Bhallamudi 2019) for nouns and professions, items here.
NUMBER = {"item": 0.17, "word": 0.22, "group_by_item": 0.02, "sigma": 0.15}
# Choices: the age stereotype of a chat model (Bai et al. 2025), in log odds.
CHOICE = {"word": 1.65, "template": 0.6, "group_by_template": 0.87, "question": 0.33}
WORDS, ITEMS, TEMPLATES, ANSWERS = 8, 10, 4, 50


def number(rng: np.random.Generator) -> tuple[pd.DataFrame, float]:
    """Return a table of numbers, and the difference between its groups for new words and items."""
    true, of = float(rng.normal(0, 0.2)), NUMBER
    shared, own = rng.normal(0, of["item"], ITEMS), rng.normal(0, of["group_by_item"], (2, ITEMS))
    rows = []
    for g in range(2):
        for w, word in enumerate(rng.normal(0, of["word"], WORDS)):
            mean = true * (g == 0) + word + shared + own[g]
            for i, y in enumerate(rng.normal(mean, of["sigma"])):
                rows.append((f"g{g}", f"g{g}w{w}", f"i{i}", y))
    return pd.DataFrame(rows, columns=["group", "word", "item", "outcome"]), true


def choice(rng: np.random.Generator) -> tuple[pd.DataFrame, float]:
    """Return a table of choices, and the difference between its groups for new words and prompts."""
    true, level, of = float(rng.normal(0, 1.5)), float(rng.normal(0, 1)), CHOICE
    shared = rng.normal(0, of["template"], TEMPLATES)
    own = rng.normal(0, of["group_by_template"], (2, TEMPLATES))
    rows = []
    for g in range(2):
        for w, word in enumerate(rng.normal(0, of["word"], WORDS)):
            noise = rng.normal(0, of["question"], TEMPLATES)
            eta = level + (true / 2 if g == 0 else -true / 2) + word + shared + own[g] + noise
            for t, p in enumerate(1 / (1 + np.exp(-eta))):
                rows += [(f"g{g}", f"g{g}w{w}", f"t{t}", int(y)) for y in rng.random(ANSWERS) < p]
    return pd.DataFrame(rows, columns=["group", "word", "template", "outcome"]), true


def one(kind: str, k: int) -> dict[str, object]:
    """Simulate and fit table k."""
    frame, true = {"number": number, "choice": choice}[kind](np.random.default_rng([k, 99]))
    found = bb.studies.fit_responses(
        bb.responses_table(frame), seed=k, progress=False, draws=500, tune=500, chains=2,
        **({"engine": "quick"} if kind == "number" else {}),
    )  # fmt: skip
    rows = found.contrasts(PROB, "population", "overall").set_index("scale")
    row = rows.loc["outcome" if kind == "number" else "log_odds"]
    a, b = (frame.loc[frame["group"] == g, "outcome"] for g in ("g0", "g1"))
    if kind == "number":
        low, high = stats.ttest_ind(a, b, equal_var=False).confidence_interval(PROB)
    else:  # log odds of independent answers, after Wald, away from 0 and 1 by half an answer
        p, n = np.array([(own.sum() + 0.5) / (len(own) + 1) for own in (a, b)]), len(a)
        middle = np.subtract(*np.log(p / (1 - p)))
        half = stats.norm.ppf((1 + PROB) / 2) * np.sqrt((1 / (n * p * (1 - p))).sum())
        low, high = middle - half, middle + half
    return {
        "table": k, "true": true, "low": row["hpdi_low"], "high": row["hpdi_high"],
        "covers": row["hpdi_low"] <= true <= row["hpdi_high"],
        "test_covers": low <= true <= high, "test_width": high - low,
        "divergences": found.fit.diagnostics()["divergences"],
    }  # fmt: skip


def spreads() -> None:
    """Print the spreads of BERT's published predictions, and of the age stereotype."""
    from pathlib import Path

    shared = Path(__file__).parents[2] / "shared" / "data"
    rated = bb.load_predictions(shared / "gender_sentiment" / "predictions_bert.tsv").frame
    named = {"group": "gender", "word": "noun", "item": "profession", "outcome": "probability"}
    for table in (
        bb.responses_table(rated[~rated["control"]], **named),
        bb.studies.load_responses(sorted((shared / "choices/gpt4o").glob("gpt4o_age_*.csv"))),
    ):
        of = bb.studies.fit_responses(table, seed=1).fit.parameters().set_index("name")["mean"]
        print(of[of.index.str.endswith("_sd") | (of.index == "sigma")].round(3).to_string())


def main() -> None:
    """Run some tables and print coverage, its standard error and the mean width."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("number", "choice"), nargs="?", default="number")
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", help="a CSV file, added to after each table")
    parser.add_argument("--spreads", action="store_true", help="estimate the spreads, and stop")
    asked = parser.parse_args()
    if asked.spreads:
        return spreads()
    rows = []
    for k in range(asked.first, asked.first + asked.tables):
        rows.append(one(asked.kind, k))
        if asked.out:
            last = pd.DataFrame(rows[-1:])
            last.to_csv(asked.out, mode="a", index=False, header=len(rows) == 1)
    frame = pd.DataFrame(rows)
    for name, width in (
        ("covers", frame["high"] - frame["low"]),
        ("test_covers", frame["test_width"]),
    ):
        p = (frame[name].sum() + 2) / (len(frame) + 4)
        error = np.sqrt(p * (1 - p) / (len(frame) + 4))
        print(f"{name:12} {frame[name].mean():.3f} (SE {error:.3f}), width {width.mean():.3f}")
    print(f"divergences in {(frame['divergences'] > 0).sum()} of {len(frame)} tables")


if __name__ == "__main__":
    main()
