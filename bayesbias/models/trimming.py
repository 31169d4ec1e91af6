"""A model without the terms of which a table can say nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayesbias.core.files import toml_text
from bayesbias.models.design import Design
from bayesbias.models.loading import parse_model
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["trimmed"]


def trimmed(spec: ModelSpec, frame: pd.DataFrame) -> ModelSpec:
    """Return the model without the terms of which a table can say nothing.

    A term goes where its entries divide the rows as those of another location parameter do, or not
    at all, or into single rows as the noise does: the effect of a template where every word stands
    in the same one, or of a word's sentence where each word has one sentence. Kept, such a term
    would have the spread of its prior, and all that is said of new templates with it.

    Parameters
    ----------
    spec : ModelSpec
    frame : DataFrame
        The rows to be fitted.

    Returns
    -------
    ModelSpec
        The same model where every term is needed; else a note names what was left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesbias import load_model
    >>> frame = pd.DataFrame({"protected_word": ["she", "he"] * 2, "attribute": ["nurse"] * 2 + ["boss"] * 2,
    ...     "connection": ["associated", "different"] * 2, "distance": [0.7, 0.8, 0.9, 0.7]})
    >>> trimmed(load_model("crossed"), frame).mu
    ('word_by_connection', 'attribute_effect')
    """
    design = Design.of(spec, frame)
    # A slope divides rows as a mean may, and says something else.
    level = [name for name in spec.location_parameters() if spec.parameters[name].covariate is None]
    free = [
        name
        for name in spec.mu
        if name in level
        and spec.is_random(name)
        and not isinstance(spec.parameters[name].args["mu"], str)
    ]
    n = len(design.y)
    seen = {
        _partition(np.zeros(n, dtype=np.int64)): "no difference",
        _partition(np.arange(n)): "the noise",
    }
    gone = {}
    for name in [*(name for name in level if name not in free), *free]:
        own = design.index[name]
        key = _partition(np.where(design.only[name], own + 1, 0) if name in design.only else own)
        if name in free and key in seen:
            gone[name] = seen[key]
        seen.setdefault(key, name)
    if not gone:
        return spec
    terms = ", ".join(f"{name} (from {twin})" for name, twin in gone.items())
    return without_terms(
        spec, gone, f"Left out, since the table cannot tell these terms from others: {terms}."
    )


def without_terms(spec: ModelSpec, terms: Collection[str], note: str) -> ModelSpec:
    """Return the model without some terms of its mean, and without what only they used.

    Parameters
    ----------
    spec : ModelSpec
    terms : collection of str
        Terms of the mean.
    note : str
        Why; the last of the notes of the model that is returned.
    """
    kept = [name for name in spec.mu if name not in terms]
    used = {value for value in spec.noise.values() if isinstance(value, str)}
    waiting = list(kept)
    while waiting:
        name = waiting.pop()
        used.add(name)
        parameter = spec.parameters[name]
        waiting += [value for value in parameter.args.values() if isinstance(value, str)]
    document = tomllib.loads(spec.text)
    document["likelihood"]["mu"] = kept
    document["notes"] = [*spec.notes, note]
    document["parameter"] = {
        name: document["parameter"][name] for name in spec.parameters if name in used
    }
    text = toml_text(document).encode("utf-8")
    return replace(parse_model(text, spec.origin or spec.name), origin=spec.origin)


def _partition(index: np.ndarray) -> bytes:
    """Return how flat entries divide the rows, whatever the entries are called."""
    first, codes = np.unique(index, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[codes].tobytes()
