"""From a table and a model to a posterior, and the questions one may ask of it.

Read the modules in this order:

1. `fitting`: a table is checked, and the model is laid over it (`bayesbias.models.design`).
2. `likelihood` (compiled: `kernel`): effects are integrated out; the scales are left, exactly.
3. `sampling`: NUTS samples the scales, or importance sampling does.
4. Models without that reduction: `counts` samples binomial models (scales and effects together),
   and `graph` all others (``sampler="pairwise"``) by PyMC.
5. Effects are drawn from the scales when they are read (`sampling.with_effects`). Means and
   contrasts do not need them (6).
6. `linear`, `estimands`: means and contrasts are linear in the effects, so mixtures of normals.
7. `estimates`, `view`: one table for all of them, with HPDI, ROPE and verdict.
8. `posterior`: `BiasFit`, and what it is asked: also `slopes`, `spreads`, `reliability`, `priors`,
   `diagnostics` and `cross_validation`; `storage`, its file; `difference`, of two results.
"""

from bayesbias.core.packages import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
