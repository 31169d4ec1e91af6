"""Coverage of main effects, simple effects, interactions and families of answers about two crossed factors.

The tables are unbalanced: 2 x 4 cells of 3 to 7 words, and a fifth of the answers is missing. Intervals are for new
words and prompts. A family is all pairs of the second factor: its intervals hold if every one does.
"""

from concurrent.futures import ProcessPoolExecutor
from itertools import combinations

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.simulation.coverage import standard_error_of_share

PROB = 0.89
TABLES = 500
SAMPLING = {"draws": 250, "chains": 2, "engine": "quick", "progress": False}
FIRST, SECOND, TEMPLATES = "ab", "wxyz", 4
CELL_SD, WORD_SD, TEMPLATE_SD, CELL_BY_TEMPLATE_SD, ANSWER_SD = 0.1, 0.2, 0.1, 0.05, 0.15
MISSING = 0.2
PAIRS = tuple(combinations(range(len(SECOND)), 2))
ROWS = {
    "main": "a main effect",
    "simple": "a simple effect",
    "interaction": "an interaction",
    "family": "all six pairs of a factor together",
}


def drawn(rng):
    """Return a frame of answers, and the true mean of each cell."""
    means = rng.normal(0, CELL_SD, (len(FIRST), len(SECOND)))
    of_template = rng.normal(0, TEMPLATE_SD, TEMPLATES)
    rows = []
    for i, j in np.ndindex(means.shape):
        shared = means[i, j] + of_template + rng.normal(0, CELL_BY_TEMPLATE_SD, TEMPLATES)
        for word in range(rng.integers(3, 8)):
            answers = shared + rng.normal(0, WORD_SD) + rng.normal(0, ANSWER_SD, TEMPLATES)
            for template in np.flatnonzero(rng.random(TEMPLATES) >= MISSING):
                label = f"{FIRST[i]}{SECOND[j]}{word}"
                rows.append((FIRST[i], SECOND[j], label, f"t{template}", answers[template]))
    return pd.DataFrame(rows, columns=["first", "second", "word", "template", "outcome"]), means


def one(number):
    """Fit one table; return for each kind of row whether its interval holds the truth, and its width."""
    frame, means = drawn(np.random.default_rng([number, 43]))
    table = bb.responses_table(frame, group=["first", "second"])
    fit = bb.fit_responses(table, seed=number, **SAMPLING)
    contrasts = fit.contrasts(PROB, estimand="population", detail=True)
    contrasts = contrasts[contrasts["level"].isin(("main", "simple", "interaction"))]
    contrasts = contrasts.set_index("contrast")
    apart = means[0] - means[1]
    truths = {
        "main": ("a - b", apart.mean()),
        "simple": ("a - b (w)", apart[0]),
        "interaction": ("(a - b): w - others", apart[0] - apart[1:].mean()),
    }
    out = {}
    for kind, (label, truth) in truths.items():
        low, high = contrasts.loc[label, ["hpdi_low", "hpdi_high"]]
        out[kind], out[f"{kind} width"] = low <= truth <= high, high - low

    of_second = means.mean(axis=0)
    family = contrasts.loc[[f"{SECOND[i]} - {SECOND[j]}" for i, j in PAIRS]]
    truth = np.array([of_second[i] - of_second[j] for i, j in PAIRS])
    held = (family["low_family"] <= truth) & (truth <= family["high_family"])
    width = (family["high_family"] - family["low_family"]).mean()
    return {**out, "family": held.all(), "family width": width}


def run(share):
    """Simulate tables and fit them."""
    n = max(20, round(TABLES * share))
    with ProcessPoolExecutor() as pool:
        frame = pd.DataFrame(pool.map(one, range(n)))
    for kind, words in ROWS.items():
        covered = frame[kind].mean()
        error = standard_error_of_share(covered, n)
        reach = 3 * error if n < TABLES else 0.0
        least = 0.87 if kind == "family" else 0.83
        width = frame[f"{kind} width"].mean()
        yield (
            f"89 % intervals of `responses` include the truth of {words}: 2 x 4 cells, unbalanced.",
            f"{n:,} simulated tables, mean width {width:.3f}",
            f"{covered:.3f} (standard error {error:.3f})",
            f"at least {least:.2f}",
            covered >= least - reach,
        )
