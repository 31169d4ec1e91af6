"""The draws behind the tables of a result: one labelled row for each row of a table.

Each function returns an ``xarray.DataArray`` with the dimensions ``chain, draw, row``. The coordinates of `row`
are the columns that label the rows of the table, in their order; a table is nothing but these draws described.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import FitError
from bayesbias.inference.diagnostics import (
    batches_of,
    describe_draws,
    end_to_mean,
    error_of_share,
    joined_chains,
)
from bayesbias.inference.estimands import CONTRASTS, ESTIMANDS, PREDICTIVE, level_means
from bayesbias.inference.mixtures import Mixtures
from bayesbias.inference.spreads import check_normal_noise, noise_variance, term_variances
from bayesbias.models.design import Design, labels_of
from bayesbias.models.spec import ModelSpec, Results

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def labelled_draws(draws: np.ndarray, labels: Mapping[str, str | Sequence[str]]) -> xr.DataArray:
    """Return draws of shape (chain, draw, row) with the labels of their rows; a single text labels all."""
    import xarray as xr

    rows = draws.shape[-1]
    columns = {
        name: ("row", np.array([values] * rows if isinstance(values, str) else list(values), dtype=str))
        for name, values in labels.items()
    }
    return xr.DataArray(draws, dims=("chain", "draw", "row"), coords=columns)


def labels_of_rows(draws: xr.DataArray) -> dict[str, list[str]]:
    """Return the labels of the rows, column by column."""
    return {str(name): labels.to_numpy().tolist() for name, labels in draws.coords.items()}


def keys_of_rows(draws: xr.DataArray, *columns: str) -> list[tuple[str, ...]]:
    """Return the labels of the rows, row by row, of some columns."""
    return list(zip(*(draws[name].to_numpy().tolist() for name in columns), strict=True))


def chosen_rows(draws: xr.DataArray, **labels: str) -> xr.DataArray:
    """Return the rows that bear some labels, such as ``level="overall"``, in their order."""
    mine = np.ones(draws.sizes["row"], dtype=bool)
    for name, label in labels.items():
        mine &= draws[name].to_numpy() == label
    return taken_rows(draws, np.flatnonzero(mine).tolist())


def taken_rows(draws: xr.DataArray, rows: Sequence[int]) -> xr.DataArray:
    """Return some rows, in this order."""
    columns = {name: [values[i] for i in rows] for name, values in labels_of_rows(draws).items()}
    return labelled_draws(draws.to_numpy()[..., list(rows)], columns)


def joined_rows(parts: Sequence[xr.DataArray]) -> xr.DataArray:
    """Return the rows of some arrays of the same columns, one after the other."""
    labels = [labels_of_rows(part) for part in parts]
    columns = {name: [label for own in labels for label in own[name]] for name in labels[0]}
    return labelled_draws(np.concatenate([part.to_numpy() for part in parts], axis=-1), columns)


def relabelled(draws: xr.DataArray, **labels: Sequence[str] | None) -> xr.DataArray:
    """Return the draws with other columns of labels; None takes one away, and new ones come first, in this order."""
    kept = {name: values for name, values in labels_of_rows(draws).items() if name not in labels}
    given = {name: values for name, values in labels.items() if values is not None}
    return labelled_draws(draws.to_numpy(), {**given, **kept})


def draws_with(
    result: Any, makers: Mapping[str, Callable[..., xr.DataArray]], table: str, arguments: Mapping[str, Any]
) -> xr.DataArray:
    """Return the draws behind a table of a result: its arguments and their defaults are those of its method.

    A maker takes the arguments it has names for; how draws are described is none of its.
    """
    checks.choice(table, makers, "table of draws")
    signature = inspect.signature(getattr(result, table))
    valid = list(signature.parameters)
    for name in arguments:
        checks.choice(name, valid, "argument", f"{table}()")
    given = signature.bind(**arguments)
    given.apply_defaults()
    taken = inspect.signature(makers[table]).parameters
    draws = makers[table](**{name: given.arguments[name] for name in taken})
    draws.name = table
    return draws


def described(draws: xr.DataArray, prob: float, mixtures: Mixtures | None = None) -> pd.DataFrame:
    """Return labels, mean, sd, HPDI, each with its Monte Carlo error, effective draws and R-hat of every row.

    Where the rows are known as normal mixtures, mean, sd and HPDI are those of the mixtures, and not of the draws.
    """
    prob = checks.probability(prob)
    frame = describe_draws(draws.to_numpy(), prob)
    if mixtures is not None:
        for column, values in described_mixtures(mixtures, prob).items():
            frame[column] = values
    for place, (name, labels) in enumerate(labels_of_rows(draws).items()):
        frame.insert(place, name, labels)
    return frame


def described_mixtures(mixtures: Mixtures, prob: float) -> dict[str, np.ndarray]:
    """Return mean, sd and HPDI of normal mixtures, and their Monte Carlo errors from batches of draws.

    Where draws are too few for batches the errors are those of so many draws of the whole mixture, which are larger.
    """
    named = {"mean": "mean", "sd": "sd", "hpdi_low": "low", "hpdi_high": "high"}
    whole = mixtures.described(prob)
    out = {column: whole[key][0] for column, key in named.items()}
    chains, draws = mixtures.mean.shape[:2]
    batches = batches_of(chains, draws)
    if batches > 1:
        each = mixtures.described(prob, batches)
        errors = {key: each[key].std(axis=0, ddof=1) / np.sqrt(batches) for key in named.values()}
    else:
        error = out["sd"] / np.sqrt(chains * draws)
        end = error * end_to_mean(prob)
        errors = {"mean": error, "sd": error / np.sqrt(2), "low": end, "high": end}
    return out | {f"mcse_{key}": error for key, error in errors.items()}


def described_with_rope(
    draws: xr.DataArray, prob: float, rope: float, mixtures: Mixtures | None = None
) -> pd.DataFrame:
    """Return `described`, and the probabilities of being below zero and within the ROPE, with their errors."""
    rope = checks.positive(rope, "rope")
    frame = described(draws, prob, mixtures)
    if mixtures is None:
        flat = joined_chains(draws.to_numpy())
        shares = (flat < 0).mean(axis=0), (np.abs(flat) < rope).mean(axis=0)
        errors = [error_of_share(share, frame["ess_bulk"]) for share in shares]
    else:
        shares = _shares_of(mixtures, rope)
        batches = batches_of(*mixtures.mean.shape[:2])
        each = zip(*(_shares_of(part, rope) for part in mixtures.in_batches(batches)), strict=True)
        errors = [
            np.std(of, axis=0, ddof=1) / np.sqrt(batches)
            if batches > 1
            else error_of_share(share, frame["ess_bulk"])
            for share, of in zip(shares, each, strict=True)
        ]
    for name, share, error in zip(("p_below_zero", "p_in_rope"), shares, errors, strict=True):
        frame[name], frame[f"mcse_{name}"] = share, error
    frame["rope"] = rope
    return frame


def beside(frame: pd.DataFrame, name: str) -> dict[str, pd.Series]:
    """Return mean and HPDI of described rows as columns of another table, ``name, name_low, name_high``, and their errors."""
    ends = {"": "mean", "_low": "hpdi_low", "_high": "hpdi_high"}
    values = {f"{name}{end}": frame[column] for end, column in ends.items()}
    errors = {
        f"mcse_{name}{end}": frame[f"mcse_{column.removeprefix('hpdi_')}"] for end, column in ends.items()
    }
    return values | errors


def _shares_of(mixtures: Mixtures, rope: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of being below zero and within the ROPE."""
    return mixtures.below(0.0), mixtures.below(rope) - mixtures.below(-rope)


def level_draws(
    design: Design, table: pd.DataFrame, draws: Mapping[str, np.ndarray], estimand: str, chains: int = 1
) -> xr.DataArray:
    """Return draws of the mean of the outcome at every level, labelled ``level, name, connection, estimand``.

    The third label has the name of what the model gives results for. `draws` are those of the parameters,
    chains joined.
    """
    keys, means = level_means(design, table, draws, estimand)
    levels, names, groups = zip(*keys, strict=True)
    labels = {"level": levels, "name": names, design.spec.results.group: groups, "estimand": estimand}
    return labelled_draws(means.reshape(chains, -1, len(keys)), labels)


def contrasted_groups(group: str, labels: Iterable[str]) -> Sequence[tuple[str, str]]:
    """Return what is contrasted with what: certain connections, or each label with each that follows."""
    if group == "connection":
        return CONTRASTS
    return list(itertools.combinations(dict.fromkeys(labels), 2))


def contrast_draws(
    means: xr.DataArray, pairs: Sequence[tuple[str, str]] = CONTRASTS, group: str = "connection"
) -> xr.DataArray:
    """Return draws of the differences between groups wherever both stand: ``level, name, contrast, estimand``."""
    values = means.to_numpy()
    keys = keys_of_rows(means, "level", "name", group, "estimand")
    at = {key: i for i, key in enumerate(keys)}
    labels, columns = [], []
    for level, name, estimand in dict.fromkeys((level, name, estimand) for level, name, _, estimand in keys):
        for a, b in pairs:
            first, second = at.get((level, name, a, estimand)), at.get((level, name, b, estimand))
            if first is not None and second is not None:
                labels.append((level, name, f"{a} - {b}", estimand))
                columns.append(values[..., first] - values[..., second])
    names = ("level", "name", "contrast", "estimand")
    return labelled_draws(
        np.stack(columns, axis=-1) if columns else np.empty((*values.shape[:2], 0)),
        {column: [row[place] for row in labels] for place, column in enumerate(names)},
    )


def share_draws(
    design: Design, table: pd.DataFrame, draws: Mapping[str, np.ndarray], chains: int, group: str | None
) -> xr.DataArray:
    """Return draws of the shares of the variance around the means, labelled ``source``; see `BiasFit.shares`."""
    spec = design.spec
    check_normal_noise(spec, "shares of variance")
    labels, codes = labels_of(table[spec.results.group], spec.results.group)
    if group is not None:
        checks.choice(group, labels, str(spec.results.group).replace("_", " "))
    rows = np.ones(len(codes), dtype=bool) if group is None else codes == labels.index(group)

    sources: dict[str, Any] = {}
    for name, variance in term_variances(design, draws, rows).items():
        dims = [dim for dim in spec.parameters[name].dims if dim not in spec.results.fixed]
        source = " x ".join(sorted(dims)) or name
        sources[source] = sources.get(source, 0) + variance
    sources["residual"] = noise_variance(design, draws, rows)
    n = np.zeros(len(next(iter(draws.values()))))
    parts = np.stack(np.broadcast_arrays(n, *sources.values())[1:], axis=-1)
    shares = (parts / parts.sum(axis=-1, keepdims=True)).reshape(chains, -1, len(sources))
    return labelled_draws(shares, {"source": list(sources)})


def parameter_draws(design: Design, table: pd.DataFrame, posterior: xr.Dataset) -> xr.DataArray:
    """Return draws of every entry of every parameter but the per-attribute ones, labelled ``name, index``.

    Entries come in the order of their labels in the table.
    """
    shown = {
        dim: [design.coords[dim].index(label) for label in labels_of(table[dim], dim)[0]]
        for dim in design.coords
        if dim != "attribute"
    }
    names, indices, columns = [], [], []
    for name, parameter in design.spec.parameters.items():
        if "attribute" in parameter.dims:
            continue
        values = posterior[name].transpose("chain", "draw", ...).to_numpy()
        labels = [design.coords[dim] for dim in parameter.dims]
        for entry in itertools.product(*(shown[dim] for dim in parameter.dims)):
            names.append(name)
            indices.append(", ".join(labels[k][i] for k, i in enumerate(entry)))
            where: tuple[Any, ...] = (slice(None), slice(None), *entry)
            columns.append(values[where])
    return labelled_draws(np.stack(columns, axis=-1), {"name": names, "index": indices})


def words_draws(means: xr.DataArray, table: pd.DataFrame) -> xr.DataArray:
    """Return draws of the means of words, labelled ``protected_word, protected_class`` and what the results are for."""
    words = [word for (word,) in keys_of_rows(means, "name")]
    classes = labels_by(table, "protected_word", "protected_class")
    own = [classes[word] for word in words]
    return relabelled(means, protected_word=words, protected_class=own, level=None, name=None)


def check_level(spec: ModelSpec, level: str) -> None:
    """Refuse a level that a model gives no results at."""
    checks.choice(level, ("overall", *spec.results.levels), "level", spec.label)


def check_estimand(spec: ModelSpec, estimand: str) -> None:
    """Refuse an estimand that a model does not declare."""
    checks.choice(estimand, (*ESTIMANDS, *PREDICTIVE, *spec.results.estimands), "estimand")


def no_new_words(level: str, estimand: str) -> FitError:
    """Say that a level has no new words."""
    return FitError(f"{estimand} is given overall and for the classes of words, and not at the level {level}")


def no_contrasts(spec: ModelSpec) -> FitError:
    """Say that a table holds nothing to contrast, and what to ask for in its place."""
    group = spec.results.group
    hint = "" if group == "connection" else "; see means() and summary(), and for sentiment findings_of()"
    return FitError(f"the table holds no two {group}s that are contrasted with each other{hint}")


def rows_per_label(table: pd.DataFrame, results: Results, level: str, frame: pd.DataFrame) -> list[int]:
    """Return how many rows of the table each row of a frame of means rests on."""
    columns = [results.group] if level == "overall" else [results.levels[level].by, results.group]
    counts = table.groupby(columns, observed=True, sort=False).size()
    by_labels = {
        tuple(map(str, np.atleast_1d(np.array(key, dtype=object)))): int(n) for key, n in counts.items()
    }
    names, groups = frame["name"], frame[results.group]
    keys = [(group,) for group in groups] if level == "overall" else zip(names, groups, strict=True)
    return [by_labels[key] for key in keys]


def labels_by(table: pd.DataFrame, key: str, column: str) -> dict[str, str]:
    """Return a label of each key, such as the class of each word."""
    first = table.drop_duplicates(key)
    return dict(zip(first[key].astype(str), first[column].astype(str), strict=True))
