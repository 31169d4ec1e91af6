"""Fits that were asked for frequency, with made-up draws."""

from __future__ import annotations

import copy
import dataclasses
import functools

import pandas as pd
import pytest

from bayesbias.inference.posterior import BiasFit
from bayesbias.studies.association import frequency
from helpers.draws import made_up_fit
from helpers.tables import grid


def counts_of(table: pd.DataFrame) -> dict[str, float]:
    """Give every word of a table a count."""
    words = [*table["protected_word"].unique(), *table["attribute"].unique()]
    return {word: 10.0 ** (1 + (7 * place) % 5) for place, word in enumerate(words)}


def counted(moved: float | None = None) -> BiasFit:
    """Return a fit that was asked for frequency; all contrasts move by `moved` at equal frequency, where it is given."""
    fit = _counted()
    tables = copy.deepcopy(fit.frequency)
    provenance = {**fit.provenance, "frequency": tables}
    fit = dataclasses.replace(fit, provenance=provenance, frequency=tables)
    if moved is not None:
        for row in tables["contrasts"]:
            row["with_mean"], row["change"] = row["without_mean"] + moved, moved
    return fit


@functools.cache
def _counted() -> BiasFit:
    table = grid()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frequency, "fit_model", lambda rows, model, **_: made_up_fit(rows, model))
        return frequency.with_frequency(made_up_fit(table, "default"), counts_of(table))
