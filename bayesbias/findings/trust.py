"""Whether a sampler can be believed, in sentences."""

from __future__ import annotations

from bayesbias.core.wording import number_of
from bayesbias.inference.diagnostics import MAX_R_HAT, MIN_ESS_PER_CHAIN
from bayesbias.inference.importance import MOST_PARETO_K
from bayesbias.inference.posterior import BiasFit

__all__ = ["AGREED", "ALL_AGREED", "agreed", "convergence", "no_conclusion"]

AGREED = "The chains agree and no transition diverged."
"""What is said of a fit without problems."""
ALL_AGREED = "In every fit the chains agree and no transition diverged."
"""What is said of several fits without problems."""


def agreed(fit: BiasFit) -> str:
    """Say that a fit without problems can be believed, by what speaks for it: chains, or weights."""
    engine = fit.engine
    if engine.name != "quick":
        return AGREED
    return (
        f"The weights of its draws can be trusted (Pareto k {engine.pareto_k:.2f}, limit {MOST_PARETO_K:g}), and independent "
        "samples agree."
    )


def no_conclusion(problem: str) -> str:
    """Say that nothing is concluded, and why."""
    return f"no conclusion, since the sampler cannot be believed yet: {problem}."


def convergence(fit: BiasFit) -> str:
    """Say how the fit was sampled and what its diagnostics are, beside what they should be.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> text = convergence(bb.fit(table, seed=1, draws=200, chains=2, pointwise=False))
    >>> text.split(":")[0]
    '2 chains of 200 draws each'
    """
    state = fit.diagnostics()
    sizes = fit.idata["posterior"].sizes
    r_hat = (
        "R-hat cannot be told"
        if state["max_r_hat"] is None
        else f"R-hat is at most {state['max_r_hat']:.3f} (chains agree below {MAX_R_HAT})"
    )
    ess = (
        "the number of effective draws cannot be told"
        if state["min_ess_bulk"] is None
        else f"every parameter has at least {state['min_ess_bulk']:,.0f} effective draws "
        f"({MIN_ESS_PER_CHAIN * sizes['chain']:,} are wanted)"
    )
    count = state["divergences"]
    if fit.engine.name == "quick":
        k = f"Pareto k is {fit.engine.pareto_k:.2f} (weights can be trusted up to {MOST_PARETO_K:g})"
        samples = f"{sizes['chain']} samples of {sizes['draw']:,} weighted draws each, resampled"
        return f"{samples}: {k}, {r_hat}, and {ess}."
    return (
        f"{sizes['chain']} chains of {sizes['draw']:,} draws each: {r_hat}, {ess}, and "
        f"{number_of(count, 'transition') if count else 'no transition'} diverged."
    )
