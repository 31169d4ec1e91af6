"""Comparing debiased tables with the original, pair by pair.

The tables are joined pair by pair and the *differences* are modelled, so that what they share, such as
words that lie near everything, cancels; methods that follow each other in the ranking are told apart the
same way.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import FitError, InputError
from bayesbias.core.formatting import number_of
from bayesbias.inference.estimates import contrast_draws
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.loading import DEFAULT_MODEL, load_model
from bayesbias.models.spec import ModelSpec
from bayesbias.studies.debiasing.comparison import Comparison, Method
from bayesbias.studies.debiasing.construction import find_construction
from bayesbias.studies.debiasing.fits import fit_changes, fit_distances
from bayesbias.tables.change import common_pairs, join_pairs
from bayesbias.tables.covariates import with_covariates_known
from bayesbias.tables.pair_table import PairTable
from bayesbias.tables.reading import as_pair_table, holds_tables

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["compare"]


def compare(
    original: PairTable | pd.DataFrame | str | os.PathLike[str],
    debiased: Any,
    model: str | os.PathLike[str] | ModelSpec = "change",
    *,
    level_model: str | os.PathLike[str] | ModelSpec = DEFAULT_MODEL,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    seed: int | None = None,
    cores: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare debiased tables with the original, pair by pair.

    Parameters
    ----------
    original : PairTable, DataFrame or path
        Distances before; see `load_distances`.
    debiased : PairTable, DataFrame or path, or a mapping of names to them
        Distances after. Only pairs that all tables have are compared.
    model : str, path or ModelSpec
        For the differences; its outcome must be ``change``. A covariate that it has slopes on is a column of the original.
    level_model : str, path or ModelSpec
        For the distances of either table, from which the gaps before and after are told; by default that of `fit`.
    draws, tune, chains, seed, cores
        As in `fit`.
    progress : bool, optional
        A bar on the terminal; by default where standard error is one and it pays.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        Where tables cannot be joined (see `join_pairs`) or the model has another outcome.

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion", controls="2021")
    >>> vectors = bb.hard_debias("minilm-static", "religion").embedding
    >>> after = bb.distance_table(vectors, "religion", controls="2021")
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> found.methods["debiased"].construction.flags
    ('equalized', 'controls_moved')
    """
    from bayesbias.core.progress import ticking

    spec = load_model(model)
    if spec.outcome != "change":
        raise InputError(
            "a model of differences has the outcome 'change'",
            where=f"model {spec.name}",
            found=spec.outcome,
            valid="change, or a copy of it",
        )
    level_spec = load_model(level_model)
    if isinstance(original, Mapping) and holds_tables(original):
        raise InputError(
            "one table is the original",
            found=f"a mapping of {number_of(len(original), 'table')}",
            valid="what distance_table or load_distances returns",
            hint="tables after debiasing come second, by names",
        )
    for given in (original, *(debiased.values() if holds_tables(debiased) else (debiased,))):
        if isinstance(given, BiasFit):
            raise InputError(
                "compare takes tables of distances",
                found=type(given).__name__,
                valid="what distance_table or load_distances returns, or a data frame",
                hint="fits of one table are compared with compare_models",
            )
    tables = _tables_by_name(debiased)
    whole = _table(original, "original")
    first = with_covariates_known(whole, spec.covariates())
    covariates = first.provenance.get("covariates", {})
    gone = _pairs_of(whole).difference(
        _pairs_of(first), sort=False
    )  # words without the covariates, which no table may then have
    joined = {name: join_pairs(first, _without(table, gone), name) for name, table in tables.items()}
    for _, account in joined.values():
        known = set(whole.coverage.notes)
        account["notes"] = [*(note for note in first.coverage.notes if note not in known), *account["notes"]]
    pairs, accounts = common_pairs(joined)
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    settings: dict[str, Any] = {
        "draws": draws,
        "tune": tune,
        "chains": chains,
        "seed": seed,
        "cores": cores,
        "pointwise": False,
    }
    joint = next(iter(pairs.values()))
    with ticking("fitting", 3 * len(pairs), progress) as tick:
        with _said_of("original"):
            before = fit_distances(joint, "original", first, level_spec, settings)
        tick(1)
        methods = {}
        for name, frame in pairs.items():
            with _said_of(f"method {name!r}"):
                changes = fit_changes(
                    frame, "change", spec, settings, f"{name} against the original", covariates
                )
                tick(1)
                after = fit_distances(frame, "debiased", tables[name], level_spec, settings)
                tick(1)
            methods[name] = Method(
                name, frame, accounts[name], changes.fit, changes.exact, after, find_construction(frame)
            )
        order = _best_first(methods)
        between = {}
        for a, b in itertools.pairwise(order):
            frame = pairs[a].copy()
            frame["change"] = pairs[a]["debiased"].to_numpy() - pairs[b]["debiased"].to_numpy()
            with _said_of(f"methods {a!r} and {b!r}"):
                between[a, b] = fit_changes(frame, "change", spec, settings, f"{a} against {b}", covariates)
            tick(1)
    of_changes = {"name": spec.name, "sha256": spec.sha256}
    provenance = provenance_of_fits(before, methods, order, of_changes)
    return Comparison(before, methods, between, provenance)


def provenance_of_fits(
    original: BiasFit, methods: Mapping[str, Method], order: list[str], model: Mapping[str, str]
) -> dict[str, Any]:
    """Return what is known of where a comparison is from: what its fits know, and the model of its changes."""
    tables = {"original": original, **{name: item.after for name, item in methods.items()}}
    of_tables = {name: dict(fit.provenance["table"]) for name, fit in tables.items()}
    return {
        "original": str(of_tables["original"].get("name", "original")),
        "tables": of_tables,
        "model": dict(model),
        "level_model": {"name": original.spec.name, "sha256": original.spec.sha256},
        "sampler": original.provenance["sampler"],
        "versions": original.provenance["versions"],
        "order": order,
    }


def _tables_by_name(debiased: Any) -> dict[str, PairTable]:
    """Return the debiased tables, checked, by the names of their methods."""
    if isinstance(debiased, list | tuple) and any(
        isinstance(one, PairTable) or hasattr(one, "columns") for one in debiased
    ):
        raise InputError(
            "several tables are told apart by names",
            found=f"a {type(debiased).__name__} of tables",
            valid="a mapping of names to tables, {'hard': table, 'soft': another}",
        )
    if not holds_tables(debiased):
        return {"debiased": _table(debiased, "debiased")}
    if not debiased:
        raise InputError("nothing to compare the original with", found="an empty mapping")
    names = checks.names(debiased, "method")
    if "original" in names:
        raise InputError(
            "a method cannot be called as the table before it is", found="original", hint="take another name"
        )
    return {
        name: _table(table, f"method {name!r}") for name, table in zip(names, debiased.values(), strict=True)
    }


def _table(source: Any, called: str) -> PairTable:
    """Return a table of distances, checked; an error says which of the tables it is about."""
    try:
        return as_pair_table(source)
    except InputError as error:
        raise error.retold(called) from None


@contextmanager
def _said_of(which: str) -> Iterator[None]:
    """Say which of the tables cannot be fitted."""
    try:
        yield
    except FitError as error:
        raise FitError(f"{which}: {error}") from error


def _pairs_of(table: PairTable) -> pd.MultiIndex:
    import pandas as pd

    return pd.MultiIndex.from_frame(table.frame[["protected_word", "attribute"]].astype(str))


def _without(table: PairTable, gone: pd.MultiIndex) -> PairTable:
    """Return a table without some pairs."""
    if not len(gone):
        return table
    return replace(table, frame=table.frame[~_pairs_of(table).isin(gone)].reset_index(drop=True))


def _best_first(methods: Mapping[str, Method]) -> list[str]:
    """Order the methods by what they leave of the overall gap for new words; those without one keep theirs.

    Methods that destroyed the geometry stand last, since noise has no gap.
    """
    left = {}
    for name, item in methods.items():
        gaps = contrast_draws(item.after.draws_of("means", level="overall"), [("associated", "different")])
        gap = abs(float(gaps.to_numpy().mean())) if gaps.sizes["row"] else 0.0
        left[name] = (item.geometry.left.destroyed, gap)
    return sorted(methods, key=lambda name: left[name])
