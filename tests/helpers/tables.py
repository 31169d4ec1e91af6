"""Tables of pairs with simulated distances."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bayesbias.wordlists.wordlist import CONNECTIONS


def grid(words=(3, 2, 2), attributes=(2, 3, 2), human=3, neutral=4, seed=0) -> pd.DataFrame:
    """Return a complete grid of pairs with simulated distances."""
    rng = np.random.default_rng(seed)
    rows = []
    kinds = [
        (f"a{k}{i}", f"class{k}", "stereotype") for k, n in enumerate(attributes) for i in range(n)
    ]
    kinds += [(f"h{i}", "human", "human") for i in range(human)]
    kinds += [(f"n{i}", "neutral", "neutral") for i in range(neutral)]
    effect = {name: rng.normal(0, 0.1) for name, _, _ in kinds}
    for k, n in enumerate(words):
        for i in range(n):
            own = dict(zip(CONNECTIONS, rng.normal(0, 0.06, 4), strict=True))
            for name, cls, kind in kinds:
                connection = (
                    kind
                    if kind != "stereotype"
                    else "associated"
                    if cls == f"class{k}"
                    else "different"
                )
                mean = {"associated": 0.85, "different": 0.9, "human": 0.92, "neutral": 0.97}[
                    connection
                ]
                rows.append(
                    (
                        f"w{k}{i}",
                        f"class{k}",
                        name,
                        cls,
                        kind,
                        connection,
                        mean + own[connection] + effect[name] + rng.normal(0, 0.1),
                    )
                )
    names = ["protected_word", "protected_class", "attribute", "attribute_class", "attribute_kind"]
    return pd.DataFrame(rows, columns=[*names, "connection", "distance"])


def table(rows: list[tuple[str, str, str, str, str, float]]) -> pd.DataFrame:
    names = [
        "protected_word",
        "protected_class",
        "attribute",
        "attribute_class",
        "connection",
        "distance",
    ]
    return pd.DataFrame(rows, columns=names)


def two_by_two(distances: dict[str, tuple[float, float]]) -> pd.DataFrame:
    """One attribute in either set; words that begin with x are of class x."""
    rows = []
    for word, (to_a, to_b) in distances.items():
        c = word[0]
        rows.append((word, c, "a", "x", "associated" if c == "x" else "different", to_a))
        rows.append((word, c, "b", "y", "associated" if c == "y" else "different", to_b))
    return table(rows)


def with_covariates(frame: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return a table with two numbers of each word, which differ between classes, and one of each attribute."""
    rng = np.random.default_rng(seed)
    words = {word: k for k, word in enumerate(frame["protected_word"].unique())}
    attributes = {name: k for k, name in enumerate(frame["attribute"].unique())}
    frequency, age = rng.normal(0.3, 1, len(words)), rng.normal(0, 2, len(attributes))
    year = rng.integers(-1, 2, len(words)).astype(float)
    word, attribute = frame["protected_word"].map(words), frame["attribute"].map(attributes)
    return frame.assign(frequency=frequency[word], year=year[word], age=age[attribute])


def sentences(seed=0) -> pd.DataFrame:
    """Two targets and two attributes whose words stand in templates, words of one kind in fewer of them."""
    rng = np.random.default_rng(seed)
    words = {"x": (2, 3), "y": (3, 3)}
    rows = [
        (f"{t}{i}", t, f"T{j}", f"{a}a{k}", "stereotype", f"A{m}", "associated" if a == t else "different")
        for t in words for i in range(words[t][0]) for j in range(2 if i == 0 else 3)
        for a in words for k in range(3) for m in range(2 if k < 2 else 3)
    ]  # fmt: skip
    names = [
        "protected_word",
        "protected_class",
        "protected_template",
        "attribute",
        "attribute_kind",
    ]
    frame = pd.DataFrame(rows, columns=[*names, "attribute_template", "connection"])
    return frame.assign(distance=rng.normal(0.9, 0.2, len(frame)))


def opinions(seed=0) -> pd.DataFrame:
    """Two classifiers on pairs of nouns and professions; one of them lacks two pairs."""
    rng = np.random.default_rng(seed)
    rows = [(c, f"n{i}", f"p{j}") for c in "ab" for i in range(5) for j in range(4)]
    frame = pd.DataFrame(rows, columns=["classifier", "noun_pair", "profession"])
    return (
        frame.assign(difference=rng.normal(0, 0.2, len(frame)))
        .drop(index=[22, 37])
        .reset_index(drop=True)
    )
