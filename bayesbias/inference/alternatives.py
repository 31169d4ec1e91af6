"""The same table under several models, side by side: what each answers, and how well each predicts left-out pairs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.inference.estimands import PROB
from bayesbias.inference.fitting import fit as fit_model, settings_of_sampler
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.prediction import compare_models, loo, loo_error
from bayesbias.models.loading import list_models, load_model
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pandas as pd

_ESTIMATED = (
    "mean", "sd", "hpdi_low", "hpdi_high", "prob", "mcse_mean", "mcse_sd", "mcse_low", "mcse_high",
)  # fmt: skip

__all__ = ["MODELS_COMPARED", "WHAT_LOO_MISSES", "answers_by_model"]

MODELS_COMPARED = ("default", "crossed", "shared", "hierarchical")
"""The shipped models of distances whose noise and effects are normal, so that a fit takes seconds."""
WHAT_LOO_MISSES = (
    "LOO says how well a model predicts a left-out pair, not whether its intervals hold: models that predict pairs alike "
    "differ in how often their intervals of a class hold the value of its words. So look at what the answers have in common; "
    "a model is not chosen by elpd alone."
)
"""What a reader of such a table has to know."""


def answers_by_model(
    fit: BiasFit,
    models: Sequence[str | os.PathLike[str] | ModelSpec] = MODELS_COMPARED,
    prob: float = PROB,
) -> pd.DataFrame:
    """Fit other models to the rows of a fit, and say what each answers to the main question.

    For looking: see `WHAT_LOO_MISSES`.

    Parameters
    ----------
    fit : BiasFit
        Of pairs of words and attributes. Its model is the first; the others are sampled with its settings.
    models : sequence of str, path or ModelSpec
        The other models; one that the fit is of already is left out.
    prob : float in (0, 1)
        Probability of the intervals.

    Returns
    -------
    DataFrame
        For each model the first contrast of the table (``associated - different`` where there is one), overall and per class,
        under ``population``: ``model, level, name, contrast, words, mean, sd, hpdi_low, hpdi_high, prob,
        elpd, elpd_diff, se_diff, high_pareto_k, converged``. `words` is ``new`` or ``listed``: which words of a class the
        model means at that level. `elpd` is that of PSIS-LOO (Vehtari, Gelman & Gabry 2017), `elpd_diff` how much lower it is
        than that of the best model (0 or less), `se_diff` the standard error of that difference, ``mcse_elpd_diff`` and
        ``mcse_se_diff`` what the seed moves them by, and `high_pareto_k` the number of pairs for which LOO is not to be
        trusted.

    Raises
    ------
    InputError
        Where a model is of another outcome than the fit, and where two have one name.
    FitError
        Where the table holds nothing to contrast.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fit = bb.fit(bb.distance_table("minilm-static", "gender", controls="none"), seed=1, draws=200, chains=2)
    >>> frame = answers_by_model(fit, ["hierarchical"])
    >>> frame[["model", "name"]].apply(" ".join, axis=1).tolist()[:3]
    ['cells all', 'cells man', 'cells woman']
    >>> float(frame["elpd_diff"].max()), frame["converged"].dtype.kind
    (0.0, 'b')
    """
    import pandas as pd

    checks.instance(fit, BiasFit, "fit", "what bayesbias.fit returns")
    prob = checks.probability(prob)
    fits = {fit.spec.name: fit}
    settings = settings_of_sampler(fit.provenance["sampler"])
    for model, spec in [(model, load_model(model)) for model in models]:
        if spec.sha256 == fit.spec.sha256:
            continue
        if (spec.outcome, spec.results.group) != (fit.spec.outcome, fit.spec.results.group):
            raise InputError(
                "models of one table are compared",
                where=spec.label,
                found=spec.outcome,
                valid=fit.spec.outcome,
            )
        name = spec.name
        if name in fits and model in list_models():
            name = f"{name} (shipped)"  # beside a model file that was made from it and kept its name
        if name in fits:
            raise InputError(
                "two models of one name", where=spec.label, found=name, hint="give one another name"
            )
        fits[name] = fit_model(fit.table, spec, progress=False, **settings)
    contrast = fit.contrasts(prob, estimand="population", level="overall")["contrast"].iloc[0]
    levels = ["overall", *(level for level in fit.spec.results.levels if level == "class")]
    compared = compare_models(fits) if len(fits) > 1 else None
    parts = []
    for name, own in fits.items():
        frame = pd.concat(
            [
                own.contrasts(prob, estimand="population", level=level)
                for level in levels
                if _gives(own, level)
            ],
            ignore_index=True,
        )
        frame = frame.loc[
            frame["contrast"] == contrast,
            ["level", "name", "contrast", *_ESTIMATED],
        ]
        frame.insert(0, "model", name)
        frame.insert(4, "words", [_words_at(own, level) for level in frame["level"]])
        parts.append(frame)
    out = pd.concat(parts, ignore_index=True)
    about = {name: _predictive(own) for name, own in fits.items()}
    best = max(elpd for elpd, _ in about.values())
    out["elpd"] = [about[name][0] for name in out["model"]]
    out["elpd_diff"] = out["elpd"] - best
    out["se_diff"] = [0.0 if compared is None else float(compared.loc[name, "dse"]) for name in out["model"]]
    errors = {name: loo_error(own) for name, own in fits.items()}
    first = max(about, key=lambda name: about[name][0])
    apart = {
        name: 0.0 if name == first else float(np.hypot(error, errors[first]))
        for name, error in errors.items()
    }
    # The standard error of a difference is known no better than the difference.
    out["mcse_elpd_diff"] = out["mcse_se_diff"] = [apart[name] for name in out["model"]]
    out["high_pareto_k"] = [about[name][1] for name in out["model"]]
    out["converged"] = [bool(fits[name].diagnostics()["ok"]) for name in out["model"]]
    return out


def _gives(fit: BiasFit, level: str) -> bool:
    """Whether a model gives results at a level."""
    return level == "overall" or level in fit.spec.results.levels


def _words_at(fit: BiasFit, level: str) -> str:
    held = () if level == "overall" else fit.spec.results.levels[level].held
    return "listed" if "protected_word" in held else "new"


def _predictive(fit: BiasFit) -> tuple[float, int]:
    """Return elpd, and for how many pairs its estimate is not to be trusted."""
    accuracy = loo(fit)
    return float(accuracy.elpd), int((accuracy.pareto_k.to_numpy() > accuracy.good_k).sum())
