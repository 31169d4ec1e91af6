"""Frequency as a rival explanation: both models side by side, and distances made of frequency alone."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from helpers.draws import made_up_fit
from helpers.seeds import shifted
from helpers.tables import grid

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.slopes import contrasts_at
from bayesbias.models.spec import load_model
from bayesbias.studies.association import frequency
from bayesbias.studies.association.frequency import (
    column_of,
    frequency_model,
    frequency_of,
    with_frequency,
)

MEAN = {column_of(side): 0.0 for side in ("protected", "attribute")}  # of both log frequencies


def counts_of(table, seed=1, without=()):
    rng = np.random.default_rng(seed)
    words = [*table["protected_word"].unique(), *table["attribute"].unique()]
    return {word: float(10 ** rng.normal(3, 1)) for word in words if word not in without}


@pytest.fixture
def quickly(monkeypatch):
    """Fits with made-up draws in the place of sampled ones."""
    made = []

    def fit(table, model, **settings):
        made.append((table, model))
        return made_up_fit(table, model)

    monkeypatch.setattr(frequency, "fit_model", fit)
    return made


def test_groups_have_the_frequency_of_their_words(quickly):
    table = grid(words=(6, 4), attributes=(5, 3))
    counts = counts_of(table)
    groups = frequency_of(with_frequency(made_up_fit(table), counts)).groups
    row = groups[groups["group"] == "class0"].iloc[0]
    own = table.loc[table["protected_class"] == "class0", "protected_word"].unique()
    logs = np.log10([counts[word] for word in own])
    assert (row["side"], row["n_words"]) == ("protected", 6)
    assert row["sd"] == pytest.approx(np.std(logs, ddof=1))


def test_the_model_has_slopes_on_both_sides():
    spec = frequency_model(load_model("default"), ["protected", "attribute"])
    slopes = {name: about for name, about in spec.parameters.items() if about.covariate}
    assert {about.dims: about.covariate for about in slopes.values()} == {
        (): "attribute_log_frequency",
        ("attribute_kind",): "protected_log_frequency",
        ("attribute",): "protected_log_frequency",
        ("protected_class",): "attribute_log_frequency",
        ("protected_word",): "attribute_log_frequency",
    }
    assert len(slopes) == 6
    assert frequency_model(load_model("default"), ["attribute"], ["attribute"]).covariates() == [
        "attribute_log_frequency"
    ]


def test_words_without_counts_are_in_neither_model(quickly):
    table = grid()
    fit = made_up_fit(table)
    found = frequency_of(with_frequency(fit, counts_of(table, without=("w00", "n1"))))
    left = table[~table["protected_word"].eq("w00") & ~table["attribute"].eq("n1")]
    assert [len(rows) for rows, _ in quickly] == [len(left)] * 2
    assert found.missing == ("w00", "n1")
    assert quickly[0][1] == fit.spec
    rows = quickly[1][0]
    for side, word in (("protected", "protected_word"), ("attribute", "attribute")):
        own = rows.drop_duplicates(word)[column_of(side)]
        assert (own.mean(), own.std(ddof=1)) == pytest.approx((0, 1))


@pytest.mark.slow
def test_with_all_counts_the_fit_itself_is_the_one_without(quickly):
    table = grid()
    fit = made_up_fit(table, "default")
    known = with_frequency(fit, counts_of(table))
    found = frequency_of(known)
    assert len(quickly) == 1
    own = fit.contrasts(estimand="population").set_index(["level", "name", "contrast"])
    adjusted = made_up_fit(*quickly[0])
    held = contrasts_at(adjusted, MEAN).set_index(["level", "name", "contrast"])
    assert set(found.contrasts["level"]) == {"overall", "class", "attribute_set"}
    for row in found.contrasts.itertuples():
        key = (row.level, row.name, row.contrast)
        assert row.without_mean == pytest.approx(own.loc[key, "mean"])
        assert row.with_mean == pytest.approx(held.loc[key, "mean"])
        assert row.change == pytest.approx(row.with_mean - row.without_mean)
    assert frequency_of(fit) is None
    assert known.provenance["frequency"] == json.loads(
        json.dumps(known.provenance["frequency"], allow_nan=False)
    )
    pd.testing.assert_frame_equal(found.contrasts, frequency_of(known).contrasts)
    bare = dataclasses.replace(known, provenance={})
    pd.testing.assert_frame_equal(found.contrasts, frequency_of(bare).contrasts)


def test_one_side_alone_may_have_counts_that_differ(quickly):
    table = grid()
    counts = {word: 10.0 for word in table["protected_word"].unique()} | {
        word: value for word, value in counts_of(table).items() if not word.startswith("w")
    }
    assert frequency_of(with_frequency(made_up_fit(table), counts)).model.endswith(
        "+ attribute_log_frequency"
    )
    assert "protected_log_frequency" not in quickly[0][0].columns


def test_counts_that_do_not_differ_are_refused(quickly):
    table = grid()
    with pytest.raises(InputError, match="whose counts differ"):
        with_frequency(made_up_fit(table), dict.fromkeys(counts_of(table), 10.0))


def of_frequency_alone(rng, product=0.03, additive=0.03):
    """Two classes and two lists, frequent and rare; distances fall with the product of both frequencies, and with each.

    What else there is, effects of words, attributes and of either with the other's class, has a mean of zero.
    """
    sign = {"a": 1.0, "b": -1.0}
    words = {f"{c}w{i}": (c, rng.normal(sign[c], 0.7)) for c in "ab" for i in range(8)}
    listed = {f"{c}s{i}": (c, rng.normal(sign[c], 0.7)) for c in "ab" for i in range(8)}
    listed |= {f"n{i}": ("neutral", rng.normal(0, 1)) for i in range(12)}
    of_word, of_listed = ({w: rng.normal(0, 0.05) for w in each} for each in (words, listed))
    rows = []
    for word, (own, x) in words.items():
        gap = {each: rng.normal(0, 0.03) for each in ("associated", "different", "neutral")}
        for attribute, (kind, z) in listed.items():
            connection = (
                "neutral" if kind == "neutral" else "associated" if kind == own else "different"
            )
            mean = 1 - product * x * z - additive * (x + z) + of_word[word] + of_listed[attribute]
            rows.append((word, own, attribute, kind, connection, mean + gap[connection], x, z))
    names = [
        "protected_word",
        "protected_class",
        "attribute",
        "attribute_class",
        "connection",
        "distance",
    ]
    table = pd.DataFrame(rows, columns=[*names, *MEAN])
    table["attribute_kind"] = np.where(
        table["attribute_class"] == "neutral", "neutral", "stereotype"
    )
    both = {
        pair: rng.normal(0, 0.04) for pair in set(zip(table["protected_class"], table["attribute"], strict=True))
    }  # fmt: skip
    joint = [both[pair] for pair in zip(table["protected_class"], table["attribute"], strict=True)]
    table["distance"] += joint + rng.normal(0, 0.1, len(table))
    for word, column in zip(("protected_word", "attribute"), MEAN, strict=True):
        own = table.drop_duplicates(word)[column]
        table[column] = (table[column] - own.mean()) / own.std(ddof=1)
    table.attrs["simulated"] = "of frequency alone"
    return table


TABLES = 300


@pytest.mark.full
@pytest.mark.claim
def test_distances_of_frequency_alone_have_no_contrast_at_equal_frequency():
    """In many tables the contrast with frequency holds zero at the rate of its intervals, and the one without does not."""
    rng, n = np.random.default_rng(shifted(2)), TABLES
    plainly = load_model("default")
    adjusted = frequency_model(plainly, ["protected", "attribute"])
    held = {"without": [], "with": []}
    means = []
    for seed in range(n):
        table = of_frequency_alone(rng)
        settings = {"seed": seed, "draws": 250, "chains": 2, "engine": "quick"}
        settings |= {"pointwise": False, "progress": False}
        one = (
            bb.fit(table, plainly, **settings)
            .contrasts(estimand="population", level="overall")
            .iloc[0]
        )
        two = contrasts_at(bb.fit(table, adjusted, **settings), MEAN, level="overall").iloc[0]
        for name, row in (("without", one), ("with", two)):
            assert row["contrast"] == "associated - different"
            held[name].append(row["hpdi_low"] < 0 < row["hpdi_high"])
        means.append((one["mean"], two["mean"]))
    error = np.sqrt(0.89 * 0.11 / n)
    assert np.mean(held["with"]) > 0.89 - 3 * error
    assert np.mean(held["with"]) < 0.99
    assert np.mean(held["without"]) < 0.5
    biased, left = np.abs(np.mean(means, axis=0))
    assert left < 0.2 * biased
