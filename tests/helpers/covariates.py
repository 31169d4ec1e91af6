"""A single-category test made by hand: cosines with a known line, and draws of the spreads; no sampler."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pandas as pd
from scipy.stats import pearsonr

from bayesbias.scores.score import Score
from bayesbias.studies.wefat.result import WefatResult, of_published
from helpers.fits import made_up

SPREADS = {
    "sigma": 0.02,
    "word_sd": 0.02,
    "target_sd": 0.03,
    "target_by_set_sd": 0.004,
    "word_slope_sd": 0.003,
}


def made_up_test(
    slope: float = 0.04,
    *,
    far: float = 0.0,
    targets: int = 12,
    seed: int = 3,
    prob: float = 0.89,
    apart: float = 0.0,
) -> WefatResult:
    """Return a test of targets t0, t1, ... in the order of their covariate, the middle one of which, t6, lies `far` off the line."""
    rng = np.random.default_rng(seed)
    names, covariate = [f"t{k}" for k in range(targets)], np.linspace(5, 95, targets)
    x = (covariate - covariate.mean()) / covariate.std(ddof=1)
    a, b = ("she", "her", "woman"), ("he", "him", "man")
    side = np.repeat([0.5, -0.5], 3)[:, None]
    cosines = (
        0.2
        + side * (slope * x + far * (np.arange(targets) == targets // 2))
        + rng.normal(0, 0.02, (6, targets))
    )
    gap, sd = cosines[:3].mean(axis=0) - cosines[3:].mean(axis=0), cosines.std(axis=0, ddof=1)
    scores = dict(zip(names, (gap / sd).tolist(), strict=True))
    found = pearsonr(list(scores.values()), covariate)
    r = float(found.statistic)
    pairs = pd.DataFrame(
        {
            "word": names,
            "mean_a": cosines[:3].mean(axis=0),
            "mean_b": cosines[3:].mean(axis=0),
            "sd": sd,
        }
    ).assign(score=list(scores.values()), covariate=covariate)
    low, high = found.confidence_interval(prob)
    published = Score(
        name="wefat", data="made up", label="r", value=r, low=low, high=high, prob=prob, p_value=0.001, p_method="montecarlo",
        n={"words": targets, "a": 3, "b": 3}, classes=("female", "male"), dropped=("hers",), notes=("a note",),
        details={
            "covariate": "percent_women", "r_undivided": float(np.corrcoef(gap, covariate)[0, 1]), "samples": 999, "seed": 1,
            "p_undivided": 0.002,
            "missing": ("zzx",), "scores": scores, "covariates": dict(zip(names, covariate.tolist(), strict=True)),
            "a": a, "b": b,
        },
        table=pairs,
    )  # fmt: skip
    frame = pd.DataFrame(
        {
            "set_word": np.repeat([*a, *b], targets),
            "set": np.repeat(published.classes, 3 * targets),
            "target": np.tile(names, 6),
            "covariate": np.tile(x, 6),
            "distance": 1 - cosines.ravel(),
        }
    )
    about = {
        "embedding": {"name": "v", "source": "/x/v.txt", "sha256": "1" * 64},
        "wordlist": {"name": "wefat", "sha256": "2" * 64},
    }
    covariates = {
        "percent_women": {"of": "percent_women", "source": "/x/occupations.csv", "sha256": "3" * 64}
    }
    fit = made_up(frame, "wefat", SPREADS, sd=0.0005, apart=apart)
    # Effects follow from the SDs.
    fit = replace(fit, sampling=replace(fit.sampling, method="collapsed"))
    about = {"name": "made up", **about, "covariates": covariates}
    with mock.patch("bayesbias.inference.fitting.fit", return_value=fit):
        return of_published(published, cosines, names, prob, 1, about)
