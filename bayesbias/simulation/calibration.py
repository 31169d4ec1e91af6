"""Does the method keep its promises? Simulated tables with a known truth, each analysed by every method.

`coverage_simulated` reports how often intervals cover the truth, how often a difference is called that is not
there, and how often one is called that is.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.packages import own_version
from bayesbias.core.workers import Hands
from bayesbias.inference.engine import ENGINES
from bayesbias.inference.estimands import PROB
from bayesbias.models.loading import DEFAULT_MODEL, list_models, load_model
from bayesbias.simulation.accounting import accounts
from bayesbias.simulation.answers import AVERAGED, analyse_batch
from bayesbias.simulation.batches import batch_folder, in_batches
from bayesbias.simulation.scenario import Scenario, true_contrasts
from bayesbias.simulation.yardsticks import YARDSTICKS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["coverage_simulated"]

WITHOUT_MODEL = (*AVERAGED, *YARDSTICKS)
_COLUMNS = (
    "method",
    "contrast",
    "truth",
    "tables",
    "coverage",
    "coverage_se",
    "called",
    "called_se",
    "wrong_sign",
    "wrong_sign_se",
    "bias",
    "bias_se",
    "width",
    "width_se",
    "quick",
)


def coverage_simulated(
    scenario: Scenario,
    *,
    tables: int = 1000,
    methods: Sequence[str] = (DEFAULT_MODEL, "crossed", "hierarchical", *AVERAGED, *YARDSTICKS),
    seed: int = 0,
    prob: float = PROB,
    draws: int = 500,
    tune: int = 500,
    chains: int = 2,
    engine: str = "quick",
    workers: int | None = None,
    dask: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Simulate tables, analyse each by every method, and hold the answers to the truth.

    Parameters
    ----------
    scenario : Scenario
    tables : int
    methods : sequence of str
        Models (names or paths), any of `AVERAGED` and any of `YARDSTICKS`.
    seed : int
    prob : float in (0, 1)
        Probability of the intervals. A difference is called where its interval leaves out zero; a test calls at
        ``p < 1 - prob``.
    draws, tune, chains : int
        Of each fit.
    engine : {"quick", "nuts"}
        What samples the fits, as of `fit`.
    workers : int, optional
        Processes; by default one per core. With 1 this process does the work itself.
    dask : str, optional
        The address of a Dask scheduler that does the work instead (extra ``dask``), as of `run_sweep`.
    out : path, optional
        A folder for finished batches, so that a run which was cut short can be resumed.
    resume : bool
        Go on with the batches in `out`.

    Returns
    -------
    DataFrame
        One row per method and contrast: ``method, contrast, truth, tables, coverage, coverage_se, called, called_se,
        wrong_sign, wrong_sign_se, bias, bias_se, width, width_se, quick``.
        `called` is the share of tables in which a difference is called: the false-alarm rate where `truth` is 0, the
        power elsewhere. `wrong_sign` is the part of it that is called in the wrong direction. WEAT has no interval and no
        direction: those columns are empty. `tables` counts those for which the method has an answer, `quick` is the share
        of them that the quick engine fitted, NUTS the others. Standard errors of shares are those of Agresti and Coull
        (1998), which are not zero at 0 and 1.

    Examples
    --------
    >>> import bayesbias as bb
    >>> small = bb.simulation.Scenario(human=10, neutral=10)
    >>> found = bb.coverage_simulated(small, tables=4, methods=["weat"], seed=1, workers=1, progress=False)
    >>> found["method"].unique().tolist(), int(found["tables"].max())
    (['weat'], 4)
    """
    methods = checked_methods(methods)
    checks.instance(
        scenario, Scenario, "scenario", "a Scenario", "real vectors are what coverage_on_pools takes"
    )
    checks.count(tables, "tables", most=checks.MOST_TABLES)
    checks.sampling(draws, tune, chains)
    hands = Hands(workers, dask)
    checks.seed(seed, most=None)
    prob = checks.probability(prob)
    checks.choice(engine, ENGINES, "engine")
    if "weat" in methods and len(scenario.words) < 2:
        raise InputError(
            "WEAT compares two classes", where="methods", found="a scenario with one", hint="leave out weat"
        )
    truth = true_contrasts(scenario)
    settings = {"prob": prob, "draws": draws, "tune": tune, "chains": chains, "engine": engine}
    identity = {
        "scenario": dataclasses.asdict(scenario),
        "model_sha256": model_hashes([scenario.model, *methods]),
        "methods": list(methods),
        "seed": seed,
        "bayesbias": own_version(),
        **settings,
    }
    folder = batch_folder(out, identity, resume)
    work = functools.partial(analyse_batch, scenario, methods, seed, settings=settings)
    with hands:
        rows = in_batches(work, tables, folder, hands, "simulated tables", progress)
    by_label = {(contrast,): value for contrast, value in truth.items()}
    return accounts(rows, by_label, methods, prob, ["contrast"])[list(_COLUMNS)]


def model_hashes(methods: Sequence[str]) -> dict[str, str]:
    """Return the hashes of the models among some methods."""
    return {m: load_model(m).sha256 for m in methods if m not in WITHOUT_MODEL}


def checked_methods(methods: Sequence[str]) -> list[str]:
    """Return methods, each once; every one is a model, or one of those that need none."""
    known = [*list_models(), *WITHOUT_MODEL]
    names = []
    for method in checks.several(methods, "method"):
        name = os.fspath(method) if isinstance(method, str | os.PathLike) else repr(method)
        if name not in known and not os.path.isfile(name):
            raise InputError(
                "unknown method", found=name, valid=[*known, "or a model file"], hint=nearest(name, known)
            )
        names.append(name)
    if not names:
        raise InputError("no method is named", where="methods", valid=[*known, "or a model file"])
    return list(dict.fromkeys(names))
