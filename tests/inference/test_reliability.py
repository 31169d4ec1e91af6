"""Generalizability coefficients, held to Cronbach's alpha, to replications drawn from the model, and to WEAT."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.fits import made_up, pairs
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.inference.reliability import LEFT_OUT, MEASURES, ScoreVariance, score_variances
from bayesbias.models.design import Design
from bayesbias.models.spec import ModelSpec, parse_model

# A mean of its own for every kind of term, some spreads by label: connection and list fixed, all else random.
_TERMS = {
    "d": (["connection"], "0.2"),
    "e": (["attribute_class"], "0.2"),
    "f": (["protected_class", "attribute_class"], "fs"),
    "word_by_connection": (["protected_word", "connection"], "cs"),
    "attribute_effect": (["attribute"], "vs"),
    "u": (["protected_class", "attribute"], "class_by_attribute_sd"),
    "m": (["protected_word", "attribute_kind"], "ms"),
}
_SPREADS = {
    "fs": [],
    "cs": ["connection"],
    "vs": ["attribute_class"],
    "class_by_attribute_sd": [],
    "ms": [],
    "sigma": ["connection"],
}


def _spec(*terms: str) -> ModelSpec:
    return parse_model(_text(*terms).encode(), "terms.toml")


def _text(*terms: str) -> str:
    chosen = {name: _TERMS[name] for name in terms or _TERMS}
    lines = [
        "schema = 1",
        'name = "terms"',
        'description = "for the tests"',
        'source = "these tests"',
    ]
    lines += ["[likelihood]", 'outcome = "distance"', 'distribution = "Normal"']
    lines += [f"mu = {list(chosen)}".replace("'", '"'), 'sigma = "sigma"']
    for name, (dims, spread) in chosen.items():
        sigma = spread if spread[0].isdigit() else f'"{spread}"'
        lines += [
            f"[parameter.{name}]",
            f"dims = {dims}".replace("'", '"'),
            'distribution = "Normal"',
        ]
        lines += ["mu = 0", f"sigma = {sigma}"]
    used = {spread for _, spread in chosen.values()} | {"sigma"}
    for name, dims in _SPREADS.items():
        if name in used:
            lines += [f"[parameter.{name}]", f"dims = {dims}".replace("'", '"')]
            lines += ['distribution = "Exponential"', "lam = 2"]
    return "\n".join(lines)


def _grid(classes: int, words: int, attributes: int) -> pd.DataFrame:
    """Each class has a list of stereotypes; every word meets all."""
    rows = [
        (
            f"w{c}.{i}",
            f"c{c}",
            f"a{a}.{j}",
            f"c{a}",
            "stereotype",
            "associated" if a == c else "different",
            0.0,
        )
        for c, i, a, j in itertools.product(
            range(classes), range(words), range(classes), range(attributes)
        )
    ]
    columns = [
        "protected_word",
        "protected_class",
        "attribute",
        "attribute_class",
        "attribute_kind",
    ]
    return pd.DataFrame(rows, columns=[*columns, "connection", "distance"])


def _spreads(design: Design) -> dict[str, np.ndarray]:
    """A different value for every entry of every spread."""
    rng = np.random.default_rng(1)
    used = [name for name in _SPREADS if name in design.spec.parameters]
    return {name: rng.uniform(0.05, 0.3, design.shape(name)) for name in used}


def _one_draw(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: value[None] for name, value in values.items()}


# -- Cronbach's alpha ------------------------------------------------------------------------------------


def _alpha(x: np.ndarray) -> float:
    """Cronbach (1951), equation 2: persons in rows, items in columns."""
    n = x.shape[1]
    return n / (n - 1) * (1 - x.var(axis=0, ddof=1).sum() / x.sum(axis=1).var(ddof=1))


def test_with_one_facet_it_is_cronbachs_alpha():
    """ScoreVariance of a two-way ANOVA, plugged in. One column of the matrix is a word's distance to an attribute of its
    own list less that to one of the other list."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(9, 1)) + rng.normal(size=6) + 0.9 * rng.normal(size=(9, 6))
    words, items = x.shape
    left = x - x.mean(axis=1, keepdims=True) - x.mean(axis=0) + x.mean()
    residual = (left**2).sum() / ((words - 1) * (items - 1))
    of_words = x.mean(axis=1).var(ddof=1) - residual / items
    of_items = x.mean(axis=0).var(ddof=1) - residual / words
    design = Design.of(_spec("word_by_connection", "attribute_effect"), _grid(2, words, items))
    half = {"cs": of_words, "vs": of_items, "sigma": residual}
    draws = {name: np.full((1, *design.shape(name)), np.sqrt(v / 2)) for name, v in half.items()}
    found = score_variances(design, draws)
    assert _part(found, "word", "relative").coefficient(1, items)[0] == pytest.approx(
        _alpha(x), abs=1e-12
    )
    # Phi has the variance of the items' means in its error: Brennan (2001), equation 1.13.
    phi = of_words / (of_words + (of_items + residual) / items)
    assert _part(found, "word", "absolute").coefficient(1, items)[0] == pytest.approx(
        phi, abs=1e-12
    )


def _part(found, measure: str, kind: str) -> ScoreVariance:
    part = found[measure, kind]
    assert isinstance(part, ScoreVariance)
    return part


# -- replications drawn from the model -------------------------------------------------------------------

N = 20_000
CLASSES, WORDS, ATTRIBUTES = 3, 2, 3


def _scores_by_definition(tables: np.ndarray) -> dict[str, np.ndarray]:
    """Return all scores of tables of shape (n, class, word, list, attribute): shape (n, objects), or of words one more."""
    s = tables.mean(axis=-1)  # (n, class, word, list)
    every = range(tables.shape[1])
    of_words = np.stack(
        [s[:, c, :, c] - np.mean([s[:, c, :, a] for a in every if a != c], axis=0) for c in every],
        axis=1,
    )
    t = s.mean(axis=2)  # (n, class, list)
    lists = [t[:, a, a] - np.mean([t[:, c, a] for c in every if c != a], axis=0) for a in every]
    # s(w) is the mean similarity to A less that to B, and similarity is 1 - distance.
    weats = [
        (t[:, x, y] - t[:, x, x]) - (t[:, y, y] - t[:, y, x])
        for x, y in itertools.combinations(every, 2)
    ]
    return {
        "word": of_words,
        "class": of_words.mean(axis=2),
        "attribute_set": np.stack(lists, axis=1),
        "weat": np.stack(weats, axis=1),
    }


def _replicated(keep: tuple[str, ...], constant: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """Draw the scores of N tables twice, and return the coefficients: some terms are the same in both, some in all."""
    frame = _grid(CLASSES, WORDS, ATTRIBUTES)
    design = Design.of(_spec(), frame)
    known = _spreads(design)
    first = design.prior_draws(N, shifted(11), known)
    known |= {name: first[name][0] for name in constant} | {name: first[name] for name in keep}
    out = []
    for seed in (12, 13):
        drawn = design.prior_draws(N, shifted(seed), known)
        y = design.outcome_draws(drawn, shifted(seed + 10))
        out.append(_scores_by_definition(y.reshape(N, CLASSES, WORDS, CLASSES, ATTRIBUTES)))
    as_such = {name: first[name][:1] for name in ("d", "e", "f")}
    return *out, score_variances(design, {**_one_draw(_spreads(design)), **as_such})


def _assert_ratio(
    product: np.ndarray, square: np.ndarray, part: ScoreVariance, words: float, label: object
):
    """Compare the ratio of two means with a coefficient; the error is that of a ratio (delta method)."""
    ratio = product.mean() / square.mean()
    error = (product - ratio * square).std(ddof=1) / np.sqrt(len(product)) / square.mean()
    expected = part.coefficient(words, ATTRIBUTES)[0]
    assert 0.02 < expected < 0.98, label  # else nothing is compared
    mc.assert_near(mc.Estimate(np.array(ratio), np.array(error)), expected, label)


def test_coefficients_of_words_are_correlations_of_replications():
    one, two, found = _replicated(keep=("word_by_connection", "m"), constant=("d", "e", "f"))
    centre = (one["word"].mean(axis=(0, 2)) + two["word"].mean(axis=(0, 2)))[None, :, None] / 2
    a, b = one["word"] - centre, two["word"] - centre
    _assert_ratio(
        (a * b).mean(axis=(1, 2)),
        (a**2 + b**2).mean(axis=(1, 2)) / 2,
        _part(found, "word", "absolute"),
        1,
        "Phi",
    )
    a, b = (x - x.mean(axis=2, keepdims=True) for x in (a, b))
    _assert_ratio(
        (a * b).sum(axis=(1, 2)),
        (a**2 + b**2).sum(axis=(1, 2)) / 2,
        _part(found, "word", "relative"),
        1,
        "rho",
    )


@pytest.mark.slow
def test_coefficients_against_zero_are_what_is_left_of_the_mean_square():
    one, two, found = _replicated(keep=(), constant=("d", "e", "f"))
    for measure in ("class", "attribute_set", "weat"):
        a, b = one[measure], two[measure]
        part = _part(found, measure, "against_zero")
        _assert_ratio((a * b).mean(axis=1), (a**2 + b**2).mean(axis=1) / 2, part, WORDS, measure)
    one, two, found = _replicated(keep=("word_by_connection", "m"), constant=("d", "e", "f"))
    a, b = one["word"], two["word"]
    part = _part(found, "word", "against_zero")
    _assert_ratio((a * b).mean(axis=(1, 2)), (a**2 + b**2).mean(axis=(1, 2)) / 2, part, 1, "word")


# -- the scores are those of the package -----------------------------------------------------------------


def test_scores_are_weat_and_gaps():
    """Of a table without noise, each distance that of its class and list, a score is what it is with endless words."""
    frame = _grid(3, 3, 4)
    design = Design.of(_spec(), frame)
    f = np.random.default_rng(4).uniform(0.5, 1.1, (1, 3, 3))
    zeros = {name: np.zeros((1, *design.shape(name))) for name in ("d", "e")}
    found = score_variances(design, {**_one_draw(_spreads(design)), **zeros, "f": f})
    class_of, list_of = (
        frame[column].str[1].astype(int) for column in ("protected_class", "attribute_class")
    )
    frame["distance"] = f[0][class_of, list_of]
    pairs_of_classes = itertools.combinations(["c0", "c1", "c2"], 2)
    weats = np.array([bb.weat(frame, classes=pair).statistic / 3 for pair in pairs_of_classes])
    assert _part(found, "weat", "against_zero").universe[0] == pytest.approx(
        (weats**2).mean(), rel=1e-12
    )
    gaps = np.array([f[0, c, c] - np.delete(f[0, c], c).mean() for c in range(3)])
    assert _part(found, "class", "against_zero").universe[0] == pytest.approx(
        (gaps**2).mean(), rel=1e-12
    )


# -- the table of a fit ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crossed():
    values = {
        "connection_mean": 0.9,
        "word_by_connection_sd": 0.1,
        "attribute_sd": 0.08,
        "sigma": 0.06,
    }
    return made_up(pairs(), values=values, sd=0.004, seed=5)


def test_the_table_has_a_row_for_each_measure_and_its_draws(crossed):
    frame = crossed.reliability(prob=0.8)
    named = list(zip(frame["measure"], frame["coefficient"], strict=True))
    assert named == [(measure, kind) for measure, kinds in MEASURES.items() for kind in kinds]
    assert set(frame["prob"]) == {0.8}
    assert set(frame["attributes"]) == {3.0}
    assert set(frame.loc[frame["measure"] == "word", "words"]) == {1.0}
    assert set(frame.loc[frame["measure"] != "word", "words"]) == {3.0}
    draws = crossed.table_draws("reliability")
    assert draws.dims == ("chain", "draw", "row")
    np.testing.assert_allclose(draws.mean(["chain", "draw"]), frame["mean"], rtol=1e-12)
    given = frame[frame["left_out"] == ""]
    low, high = (mc.shortest(draws.to_numpy()[..., i].ravel(), 0.8) for i in given.index[:2])
    assert given[["hpdi_low", "hpdi_high"]].iloc[0].tolist() == pytest.approx(low)
    assert given[["hpdi_low", "hpdi_high"]].iloc[1].tolist() == pytest.approx(high)
    # By hand: each of two means of three attributes, of words with their own effect on either.
    flat = {
        name: crossed.parameter_draws()[name] ** 2
        for name in ("word_by_connection_sd", "sigma", "attribute_sd")
    }
    words, noise = (flat[name][:, :2].sum(axis=1) for name in ("word_by_connection_sd", "sigma"))
    relative = words / (words + noise / 3)
    absolute = words / (words + (noise + 2 * flat["attribute_sd"]) / 3)
    assert frame["mean"].iloc[:2].tolist() == pytest.approx(
        [relative.mean(), absolute.mean()], rel=1e-9
    )


def test_what_a_model_lacks_is_left_out_with_its_reason():
    additive = made_up(pairs(), "additive").reliability().set_index(["measure", "coefficient"])
    assert (
        additive.loc[("word", "relative"), "left_out"] == "no_words"
    )  # a word is near to all or to none
    assert additive.loc[("attribute_set", "against_zero"), "left_out"] == "fixed_words"
    assert np.isnan(additive.loc[("attribute_set", "against_zero"), "mean"])
    table = pairs()
    alone = made_up(table[table["protected_class"] == "x"]).reliability()
    assert set(alone.loc[alone["measure"] == "weat", "left_out"]) == {"one_class"}
    controls = made_up(table[table["connection"] == "neutral"]).reliability()
    assert set(controls["left_out"]) == {"one_class"}
    kinds = set(additive["left_out"]) | set(alone["left_out"])
    assert kinds - {""} <= set(LEFT_OUT)
