"""How the time of a fit grows with the number of words, attributes, pairs, answers, groups and models.

``python -m benchmarks.growth FIGURE.svg`` fits each size once (three times below a second), and prints seconds by the clock and the
exponent: the slope of log time on log size over the last factor of ten or more.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.plots.style import COLOR

LONGEST = 60.0  # seconds of a fit, after which no larger size of its kind is tried
SAMPLING = {"seed": 1, "progress": False}


def labels(letter: str, number: np.ndarray) -> pd.Categorical:
    """Return labels such as w0, w1 for numbers."""
    return pd.Categorical.from_codes(number, [f"{letter}{n}" for n in range(number.max() + 1)])


def pairs(words: int, attributes: int) -> Callable[[], object]:
    """Return a fit of the default to a complete grid: four classes, half of the attributes stereotypes."""
    rng = np.random.default_rng(0)
    w, a = (axis.ravel() for axis in np.indices((words, attributes)))
    of_word, of_attribute = rng.normal(0, 0.02, words), rng.normal(0, 0.1, attributes)
    own = np.where(w % 4 == a % 4, "associated", "different")
    control = np.where(a % 4 < 2, "human", "neutral")
    is_stereotype = a < attributes // 2
    kind = np.where(is_stereotype, "stereotype", control)
    table = pd.DataFrame({
        "protected_word": labels("w", w), "protected_class": labels("class", w % 4),
        "attribute": labels("a", a),
        "attribute_class": np.where(is_stereotype, np.char.add("class", (a % 4).astype(str)), kind),
        "attribute_kind": kind, "connection": np.where(is_stereotype, own, control),
        "distance": 0.9 + of_word[w] + of_attribute[a] + rng.normal(0, 0.1, len(w)),
    })  # fmt: skip
    return lambda: bb.fit(table, **SAMPLING)


def answers(
    groups: int, words: int, items: int, models: int = 1, asked: int = 0
) -> Callable[[], object]:
    """Return a fit to numbers of groups of so many words each; `asked` items a word, without it all."""
    rng = np.random.default_rng(0)
    g, w, i = (axis.ravel() for axis in np.indices((groups, words, items)))
    if asked:
        chosen = np.stack([rng.choice(items, asked, replace=False) for _ in range(groups * words)])
        g, w = (np.repeat(axis.ravel(), asked) for axis in np.indices((groups, words)))
        i = chosen.ravel()
    m = np.tile(np.arange(models), len(g))
    g, w, i = (np.repeat(axis, models) for axis in (g, g * words + w, i))
    of_word, of_item = rng.normal(0, 0.2, groups * words), rng.normal(0, 0.3, items)
    y = 0.1 * g / groups + of_word[w] + of_item[i] + rng.normal(0, 0.1, (models, groups))[m, g]
    table = pd.DataFrame({
        "group": labels("g", g), "word": labels("w", w), "item": labels("i", i),
        "model": labels("m", m), "outcome": y + rng.normal(0, 0.5, len(g)),
    })  # fmt: skip
    read = bb.responses_table(table)
    return lambda: bb.fit_responses(read, **SAMPLING)


KINDS = {
    "words": (range(2, 6), lambda n: pairs(n, 20)),
    "attributes": (range(2, 6), lambda n: pairs(20, n)),
    "pairs": (range(2, 8), lambda n: pairs(round(n**0.5 / 2), 2 * round(n**0.5))),
    "answers": (range(2, 6), lambda n: answers(2, n // 20, 100, asked=10)),
    "groups": ((0.31, 1, 1.5, 2), lambda n: answers(n, 5, 10)),
    "models": ((0.31, 1, 1.5), lambda n: answers(2, 5, 10, models=n)),
}


def measured(kind: str) -> Iterator[tuple[int, float]]:
    """Yield sizes of a kind and the seconds of a fit."""
    exponents, fit_of = KINDS[kind]
    for exponent in exponents:
        size = round(10**exponent)
        fit, seconds = fit_of(size), []
        while not seconds or (len(seconds) < 3 and seconds[-1] < 1):
            began = time.perf_counter()
            fit()
            seconds.append(time.perf_counter() - began)
        yield size, float(np.median(seconds))
        if seconds[-1] > LONGEST:
            return


def drawn(found: pd.DataFrame, path: str) -> None:
    """Draw seconds against size, one line of each kind."""
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    colors = [*COLOR.values(), "#009E73", "#56B4E9"]
    for (kind, rows), color, marker in zip(
        found.groupby("of", sort=False), colors, "osD^vP", strict=True
    ):
        axes.plot(rows["size"], rows["seconds"], color=color, marker=marker, ms=4, label=kind)
    axes.set(xscale="log", yscale="log", xlabel="number", ylabel="seconds of a fit")
    axes.grid(color="#DDDDDD", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, ncols=2)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    pairs(20, 20)()  # imports and compiled functions
    answers(2, 20, 20, asked=5)()
    rows = []
    for kind in KINDS:
        for size, seconds in measured(kind):
            rows.append((kind, size, seconds))
            print(f"{kind:>10} {size:>10,} {seconds:8.2f} s", flush=True)
        sizes, times = (
            np.array(x) for x in zip(*[row[1:] for row in rows if row[0] == kind], strict=True)
        )
        last = sizes >= sizes[-1] / 10
        exponent = np.polyfit(np.log(sizes[last]), np.log(times[last]), 1)[0]
        print(f"{kind:>10} exponent {exponent:.2f}", flush=True)
    if sys.argv[1:] and sys.argv[1].endswith(".svg"):
        drawn(pd.DataFrame(rows, columns=["of", "size", "seconds"]), sys.argv[1])


if __name__ == "__main__":
    main()
