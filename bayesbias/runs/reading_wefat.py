"""A single-category test read back from its folder: the published half is held against the pairs that were fitted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.texts import read_json
from bayesbias.runs.accounts import hold_account
from bayesbias.runs.reading import read_table

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.inference.posterior import BiasFit
    from bayesbias.scores.factual import WefatScore
    from bayesbias.studies.wefat import WefatResult

FORMAT = 1
FILE, SCORES = "wefat.json", "scores.csv"
_TEXTS = ("dropped", "notes", "missing", "a", "b")
_NUMBERS = ("r", "r_low", "r_high")
_PUBLISHED = (
    "name", "dropped", "notes", "covariate", "classes", "r", "r_low", "r_high", "prob", "p_value", "p_method", "samples", "seed",
    "n", "missing", "scores", "covariates", "a", "b",
)  # fmt: skip
_OF_SCORES = ("word", "mean_a", "mean_b", "sd", "score", "covariate")
_OF_FIT = ("set_word", "set", "target", "covariate", "distance")
_SAME = 1e-6  # of numbers that were computed twice, once of them from vectors in single precision
_MOST_AGAIN = 100_000  # orders that are drawn again


def read_wefat(folder: Path) -> WefatResult:
    """Read the folder of a single-category test.

    Raises
    ------
    InputError
        Where a part is missing or damaged, or not that of the fit.
    """
    from bayesbias.inference.fitting import load_fit
    from bayesbias.studies.wefat import of_fit

    path = folder / FILE
    content = checks.table(read_json(path, as_written=True), path)
    if content.get("bayesbias_wefat") != FORMAT:
        raise InputError(
            "is a test in a form that this version does not know",
            where=path,
            found=content.get("bayesbias_wefat"),
            valid=str(FORMAT),
        )
    fitted = load_fit(folder / "fit.nc")
    checks.columns(fitted.table, _OF_FIT, folder / "fit.nc", "a fit of a single-category test")
    pairs = read_table(folder / SCORES, texts=("word",))
    checks.columns(pairs, _OF_SCORES, folder / SCORES, "the scores of a single-category test")
    published = _published(checks.table(content.get("published"), f"{path}: published"), pairs, path)
    targets = checks.texts(content.get("targets"), f"{path}: targets")
    _hold(published, pairs, fitted, targets, path)
    prob = checks.probability(content.get("prob"), f"{path}: prob")
    if prob != published.prob:
        raise _damaged("has two probabilities", path)
    seed = checks.seed(content.get("seed"), f"{path}: seed")
    about = hold_account(content.get("provenance"), f"{path}: provenance")
    return of_fit(published, fitted, list(targets), prob=prob, seed=seed, provenance=about)


def _published(known: Mapping[str, Any], pairs: pd.DataFrame, path: Path) -> WefatScore:

    at = f"{path}: published"
    checks.known_keys(known, _PUBLISHED, at, needed=_PUBLISHED)
    method = checks.choice(known["p_method"], ("exact", "montecarlo"), "p_method", at)
    least = 2 if method == "exact" else 1
    of_words = {
        key: {
            checks.text(word, f"{at}: {key}"): checks.finite(value, f"{at}: {key}, {word}")
            for word, value in checks.table(known[key], f"{at}: {key}").items()
        }
        for key in ("scores", "covariates")
    }
    out: dict[str, Any] = {
        **{key: checks.texts(known[key], f"{at}: {key}") for key in _TEXTS},
        **{key: checks.within(known[key], f"{at}: {key}", -1, 1) for key in _NUMBERS},
        **of_words,
        "name": checks.text(known["name"], f"{at}: name"),
        "covariate": checks.text(known["covariate"], f"{at}: covariate"),
        "classes": checks.texts(known["classes"], f"{at}: classes", 2),
        "prob": checks.probability(known["prob"], f"{at}: prob"),
        "p_value": checks.within(known["p_value"], f"{at}: p_value", 0, 1),
        "p_method": method,
        "n": checks.count(known["n"], f"{at}: n"),
        "samples": None if method == "exact" else checks.count(known["samples"], f"{at}: samples", least),
        "seed": None if known["seed"] is None else checks.seed(known["seed"], f"{at}: seed", most=None),
    }
    return WefatScore(**out, _pairs=pairs)


def _hold(
    published: WefatScore, pairs: pd.DataFrame, fitted: BiasFit, targets: tuple[str, ...], path: Path
) -> None:
    """Refuse words, covariates, scores and a correlation that are not those of the fitted pairs."""
    from bayesbias.scores.factual import again

    table = fitted.table.astype({"set_word": str, "set": str, "target": str})
    sides = {name: set(part["set_word"]) for name, part in table.groupby("set", sort=False)}
    words = sorted(set(table["target"]))
    if (
        sides != dict(zip(published.classes, (set(published.a), set(published.b)), strict=False))
        or sorted(targets) != words
        or any(sorted(each) != words for each in (published.covariates, published.scores, pairs["word"]))
        or published.n != len(words)
    ):
        raise _damaged("its words are not those that were fitted", path)
    covariates = np.array([published.covariates[word] for word in words])
    with np.errstate(all="ignore"):  # of what is no such number is told below
        standard = (covariates - covariates.mean()) / covariates.std(ddof=1)
    fitted_covariates = table.groupby("target")["covariate"].agg(["min", "max"]).loc[words]
    if not all(np.allclose(fitted_covariates[end], standard, rtol=0, atol=_SAME) for end in ("min", "max")):
        raise _damaged("its covariates are not those that were fitted", path)
    expected = _scores_of(table, published.classes).loc[words]
    beside = pairs.set_index("word").loc[words]
    for name in ("mean_a", "mean_b", "sd", "score"):
        # A score is divided by how much the cosines vary.
        near = _SAME * (1 + 1 / beside["sd"].abs()) if name == "score" else _SAME
        if not (np.abs(beside[name] - expected[name]) <= near).all():
            raise _damaged(f"{name} in {SCORES} is not that of the pairs that were fitted", path)
    if not np.allclose(beside["covariate"], covariates, rtol=1e-12, atol=0) or not np.allclose(
        beside["score"], [published.scores[word] for word in words], rtol=1e-9, atol=0
    ):
        raise _damaged(f"its scores and covariates are not those of {SCORES}", path)
    known = again(published, most=_MOST_AGAIN)
    for name in ("r", "r_low", "r_high", "p_value"):
        if not abs(getattr(known, name) - getattr(published, name)) <= _SAME:
            raise InputError(
                f"is damaged: {name} is not that of its scores",
                where=path,
                found=getattr(published, name),
                valid=f"{getattr(known, name):.6g}",
            )


def _scores_of(table: pd.DataFrame, classes: tuple[str, ...]) -> pd.DataFrame:
    """Return means, standard deviation and score of each target, from the pairs that were fitted."""
    cosine = table.assign(cosine=1 - table["distance"])
    means = cosine.groupby(["target", "set"])["cosine"].mean().unstack()[list(classes[:2])]
    means.columns = ["mean_a", "mean_b"]
    sd = cosine.groupby("target")["cosine"].std(ddof=1)
    return means.assign(sd=sd, score=(means["mean_a"] - means["mean_b"]) / sd)


def _damaged(problem: str, where: object) -> InputError:
    return InputError(f"is damaged: {problem}", where=where)
