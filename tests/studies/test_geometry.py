"""What is left of the vectors, told by distances to control words."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.studies.debiasing.geometry import Related, find_geometry, left_of
from bayesbias.tables.joining import join_pairs


def crossed_pairs(
    rng: np.random.Generator,
    words: int = 8,
    attributes: int = 25,
    sds: tuple[float, float, float] = (0.03, 0.06, 0.08),
    correlations: tuple[float, float, float] = (0.9, 0.8, 0.6),
) -> pd.DataFrame:
    """Return joined pairs whose effects of words, of attributes and of pairs correlate before and after."""
    before, after = np.zeros((words, attributes)), np.zeros((words, attributes))
    shapes = ((words, 1), (1, attributes), (words, attributes))
    for sd, r, shape in zip(sds, correlations, shapes, strict=True):
        x = rng.normal(size=shape)
        before = before + sd * x
        after = after + sd * (r * x + np.sqrt(1 - r**2) * rng.normal(size=shape))
    frame = pd.DataFrame(
        [
            (f"w{i}", f"a{j}", "human" if j % 3 else "neutral", 1 + before[i, j], 1 + after[i, j])
            for i in range(words)
            for j in range(attributes)
        ],
        columns=["protected_word", "attribute", "connection", "original", "debiased"],
    )
    return frame.assign(change=frame["debiased"] - frame["original"])


# -- the numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0, 30])
def test_correlations_and_slope_are_those_of_an_independent_computation(missing):
    rng = np.random.default_rng(5)
    pairs = crossed_pairs(rng)
    pairs = pairs.drop(index=rng.choice(len(pairs), missing, replace=False))
    found = find_geometry(pairs)
    x, y = pairs["original"].to_numpy(), pairs["debiased"].to_numpy()
    assert found.correlation.value == pytest.approx(stats.pearsonr(x, y)[0], abs=1e-10)
    assert found.slope.value == pytest.approx(np.polyfit(x, y, 1)[0], abs=1e-10)
    # What is left of a least-squares fit of a mean per word and per attribute.
    dummies = pd.get_dummies(pairs[["protected_word", "attribute"]]).to_numpy(dtype=float)
    left = [v - dummies @ np.linalg.lstsq(dummies, v, rcond=None)[0] for v in (x, y)]
    assert found.relations.value == pytest.approx(stats.pearsonr(*left)[0], abs=1e-6)
    assert found.rms == pytest.approx(np.sqrt(np.mean((y - x) ** 2)), abs=1e-12)
    assert (found.sd_before, found.sd_after) == pytest.approx((x.std(), y.std()), abs=1e-12)
    assert (found.n_words, found.n_attributes, found.n_pairs) == (8, 25, 200 - missing)
    assert found.largest == np.abs(y - x).max()


@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (0.4, 0.9), (-0.2, 0.0)])
def test_the_yardstick_is_what_distances_that_were_dealt_anew_give(shift, scale):
    pairs = crossed_pairs(np.random.default_rng(5))
    x = pairs["original"].to_numpy()
    y = 1 + shift + scale * (pairs["debiased"].to_numpy() - 1)
    found = find_geometry(pairs.assign(debiased=y, change=y - x))
    # Every distance before beside every one after: none has to do with the other.
    dealt = np.sqrt(np.mean((y[None, :] - x[:, None]) ** 2))
    assert found.rms_unrelated == pytest.approx(dealt, abs=1e-12)
    if (
        scale
    ):  # related vectors that all moved away are nearer to those before than unrelated ones are
        assert found.rms < found.rms_unrelated


def test_the_interval_is_that_of_a_jackknife_done_the_long_way():
    pairs = crossed_pairs(np.random.default_rng(6), words=5, attributes=9)

    def variance(keys: list[str]) -> float:
        labels = pairs[keys].agg("-".join, axis=1)
        z = [
            np.arctanh(
                stats.pearsonr(*pairs.loc[labels != one, ["original", "debiased"]].to_numpy().T)[0]
            )
            for one in labels.unique()
        ]
        return (len(z) - 1) / len(z) * np.sum((z - np.mean(z)) ** 2)

    parts = [
        variance(keys)
        for keys in (["protected_word"], ["attribute"], ["protected_word", "attribute"])
    ]
    total = max(parts[0] + parts[1] - parts[2], parts[2])
    found = find_geometry(pairs, 0.8).correlation
    half = stats.t.ppf(0.9, 4) * np.sqrt(total)
    expected = np.tanh(np.arctanh(found.value) + np.array([-half, half]))
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-9)


def test_a_repeated_pair_counts_once():
    pairs = crossed_pairs(np.random.default_rng(7))
    assert find_geometry(pd.concat([pairs, pairs])) == find_geometry(pairs)


MANY = 250 if os.environ.get("BAYESBIAS_TEST_SHORT") else 1000


@pytest.mark.parametrize("tables", [40, pytest.param(MANY, marks=pytest.mark.claim)])
@pytest.mark.parametrize(
    ("words", "attributes", "sds", "correlations"),
    [
        (6, 30, (0.3, 0.6, 0.8), (0.9, 0.9, 0.7)),  # as few words as one finds
        # Attributes weigh most; noise.
        pytest.param(
            14, 60, (0.1, 0.6, 0.6), (0.5, 0.9, 0.3), marks=[pytest.mark.claim, pytest.mark.full]
        ),
        pytest.param(14, 60, (0.3, 0.3, 1.0), (0.0, 0.0, 0.0), marks=pytest.mark.claim),
    ],
)
@pytest.mark.slow
def test_intervals_hold_the_truth_at_least_as_often_as_they_say(
    tables, words, attributes, sds, correlations
):
    """Measured over 1,000 tables: .87 to .97, the wide ones with few words."""
    rng = np.random.default_rng(11)
    share = np.array(sds) ** 2 / np.sum(np.array(sds) ** 2)
    whole = float(share @ np.array(correlations))
    truth = {"correlation": whole, "slope": whole, "relations": correlations[2]}
    held = dict.fromkeys(truth, 0)
    for _ in range(tables):
        found = find_geometry(crossed_pairs(rng, words, attributes, sds, correlations))
        for name, value in truth.items():
            related = getattr(found, name)
            held[name] += related.low < value < related.high
    # The tables are always these. Fewer than this would have a probability below .01 if an interval held .87.
    least = stats.binom.ppf(0.01, tables, 0.87)
    assert min(held.values()) >= least, held


# -- what is decided -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("least", "largest", "pairs", "left"),
    [
        ((1.0, 1.0, 1.0), 1e-7, 9, "identical"),
        ((1.0, 1.0, 1.0), 1e-3, 9, "kept"),
        ((0.8, 0.70, 0.9), 0.3, 9, "kept"),
        ((0.8, 0.69, 0.9), 0.3, 9, "partly_kept"),
        ((0.51, 0.2, 0.7), 0.3, 9, "partly_kept"),
        ((0.49, 0.2, 0.7), 0.3, 9, "mostly_destroyed"),
        ((0.3, 0.11, 0.45), 0.3, 9, "mostly_destroyed"),
        ((0.3, 0.10, 0.45), 0.3, 9, "unrelated"),
        ((-0.6, -0.8, -0.3), 0.3, 9, "unrelated"),
        ((0.3, 0.10, 0.50), 0.3, 9, "too_few"),
        ((np.nan, np.nan, np.nan), 0.3, 9, "too_few"),
        ((np.nan, np.nan, np.nan), 0.3, 0, "no_controls"),
    ],
)
def test_thresholds(least, largest, pairs, left):
    assert left_of(Related(*least), largest, pairs) is left


def test_without_control_words_nothing_can_be_known():
    pairs = crossed_pairs(np.random.default_rng(1)).assign(connection="associated")
    found = find_geometry(pairs)
    assert (found.left, found.n_pairs) == ("no_controls", 0)
    few = crossed_pairs(np.random.default_rng(1), words=2, attributes=2)
    assert find_geometry(few).left == "too_few"


def test_distances_that_became_one_number_are_unrelated():
    pairs = crossed_pairs(np.random.default_rng(3)).assign(debiased=1.0)
    found = find_geometry(pairs.assign(change=pairs["debiased"] - pairs["original"]))
    assert found.left == "unrelated"
    assert (found.correlation.value, found.correlation.high, found.sd_after) == (0, 0, 0)
    same_before = crossed_pairs(np.random.default_rng(3)).assign(original=1.0)
    found = find_geometry(same_before.assign(change=same_before["debiased"] - 1))
    assert found.left == "too_few"


# -- real vectors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group", "left", "correlation"),
    [
        ("religion", "partly_kept", 0.695),
        ("gender", "kept", 0.860),
        ("race", "partly_kept", 0.782),
    ],
)
def test_what_is_left_of_the_published_tables(shared, group, left, correlation):
    folder = shared / "data/bayesbias_distances/reddit_pairs_2021"
    pairs, _ = join_pairs(
        folder / f"{group}Reddit.csv", folder / f"debiased{group.title()}Reddit.csv"
    )
    found = find_geometry(pairs)
    assert found.left == left
    assert found.correlation.value == pytest.approx(correlation, abs=5e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "left"),
    [
        ("hard", "kept"),
        ("half noise", "mostly_destroyed"),
        ("noise", "unrelated"),
        ("protected words shuffled", "unrelated"),
    ],
)
def test_what_is_left_of_real_vectors(how, left):
    words = bb.load_wordlist("religion", controls="2021")
    loaded = bb.load_embedding("minilm-static", words=words.words)
    unit = loaded.vectors / np.linalg.norm(loaded.vectors, axis=1, keepdims=True)
    rng = np.random.default_rng(1)
    noise = rng.normal(size=unit.shape) / np.sqrt(unit.shape[1])
    after = dict(zip(loaded.words, noise if how == "noise" else unit + noise, strict=True))
    before = dict(zip(loaded.words, unit, strict=True))
    if how == "hard":
        after = bb.hard_debias(before, words).embedding
    elif how == "protected words shuffled":
        protected = [word for word in words.protected_words if word in before]
        moved = [before[word] for word in rng.permutation(protected)]
        after = {**before, **dict(zip(protected, moved, strict=True))}
    pairs, _ = join_pairs(bb.distance_table(before, words), bb.distance_table(after, words))
    assert find_geometry(pairs).left == left
