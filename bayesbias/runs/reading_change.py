"""A comparison read back from its folder: every part is held against the fits beside it.

A folder without its manifest has no hashes, so what its files say of each other is all there is to go by.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.texts import read_json
from bayesbias.tables.checking import PAIR, TEMPLATES, source_is_simulated
from bayesbias.wordlists.pairing import CONNECTIONS

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.inference.posterior import BiasFit
    from bayesbias.studies.comparison import Comparison, Method

FORMAT = 1
FILE = "comparison.json"
_OF_FIT, _OF_PAIRS = re.compile(r"fit_\d+\.nc"), re.compile(r"pairs_\d+\.csv")
_COUNTS = ("pairs", "only_in_original", "only_in_debiased")
_LISTS = ("words_only_in_original", "words_only_in_debiased", "columns", "notes")
_SAME = 1e-9  # of distances that went through a text and back


def read_comparison(folder: Path) -> Comparison:
    """Read what `bayesbias.runs.change.write_comparison` wrote.

    Raises
    ------
    InputError
        Where the folder holds no comparison, or one whose parts do not belong together.
    """
    from bayesbias.studies.change import provenance_of_fits
    from bayesbias.studies.comparison import Comparison

    path = folder / FILE
    content = checks.table(read_json(path, as_written=True), path)
    if content.get("bayesbias_comparison") != FORMAT:
        raise InputError(
            "is a comparison in a form that this version does not know",
            where=path,
            found=content.get("bayesbias_comparison"),
            valid=str(FORMAT),
        )
    original = _fit(folder, content, "original", path, "distance")
    listed = _listed(content, "methods", path)
    if not listed:
        raise _damaged("it has no method", path)
    methods = [
        _method(folder, item, original, f"{path}: method {i}") for i, item in enumerate(listed, start=1)
    ]
    names = checks.distinct([item.name for item in methods], "method", path)
    by_name = dict(zip(names, methods, strict=True))
    about = _table(content, "provenance", path)
    order = checks.texts(about.get("order"), f"{path}: order")
    if sorted(order) != sorted(names):
        raise _damaged("its order is not one of its methods", path)
    between = {}
    for i, item in enumerate(_listed(content, "between", path), start=1):
        where = f"{path}: between, number {i}"
        a, b = (checks.text(item.get(key), f"{where}: {key}") for key in ("first", "second"))
        between[a, b] = _between(folder, item, (a, b), by_name, where)
    if list(between) != list(itertools.pairwise(order)):
        raise _damaged("it does not tell each method from the next", path)
    # Where no change had to be fitted, the model is known by its name alone.
    model = next((item.change.spec for item in methods if item.change is not None), None)
    named = _table(about, "model", path)
    named = {key: checks.text(named.get(key), f"{path}: model: {key}") for key in ("name", "sha256")}
    if model is not None:
        named = {"name": model.name, "sha256": model.sha256}
    provenance = provenance_of_fits(original, by_name, list(order), named)
    if json.loads(json.dumps(provenance)) != about:
        raise _damaged("its provenance is not that of its fits", path)
    return Comparison(original, by_name, between, provenance)


def _method(folder: Path, item: Mapping[str, Any], original: BiasFit, where: str) -> Method:
    from bayesbias.studies.comparison import Method
    from bayesbias.studies.construction import find_construction
    from bayesbias.tables.change import read_joined_pairs

    name = checks.text(item.get("name"), f"{where}: name")
    after = _fit(folder, item, "after", where, "distance")
    path = folder / _file(item, "pairs", where, _OF_PAIRS)
    pairs = read_joined_pairs(path, simulated=source_is_simulated(after.table))
    if not np.allclose(pairs["change"], pairs["debiased"] - pairs["original"], rtol=0, atol=_SAME):
        raise _damaged("change is not debiased less original in every row", path)
    _hold_fit(original, pairs, pairs["original"], path)
    _hold_fit(after, pairs, pairs["debiased"], path)
    change, exact = _changes(folder, item, "change", pairs, pairs["change"], path)
    return Method(
        name, pairs, _account(item, len(pairs), where), change, exact, after, find_construction(pairs)
    )


def _between(
    folder: Path, item: Mapping[str, Any], names: tuple[str, str], methods: Mapping[str, Method], where: str
) -> Any:
    from bayesbias.studies.change_fits import ChangesFit

    first, second = (methods[checks.choice(name, methods, "method", where)].pairs for name in names)
    label = _labels(first, second)
    if len(first) != len(second) or not first[label].astype(str).equals(second[label].astype(str)):
        raise _damaged("its methods have not the same pairs", where)
    apart = first["debiased"] - second["debiased"]
    return ChangesFit(*_changes(folder, item, "fit", first, apart, where))


def _changes(
    folder: Path, item: Mapping[str, Any], key: str, pairs: pd.DataFrame, values: pd.Series, where: object
) -> tuple[BiasFit | None, dict[str, float]]:
    """Return the fit of changes, None where none was needed, and what is known exactly."""
    from bayesbias.studies.construction import EXACT

    connection = pairs["connection"].astype(str)
    exact = {}
    for name, value in _table(item, "exact", where).items():
        at = f"{where}: exact: {checks.choice(name, CONNECTIONS, 'connection', where)}"
        exact[str(name)] = checks.finite(value, at)
        if not (np.abs(values[connection == name] - value) <= 2 * EXACT).all():
            raise _damaged("a change that is said to be exact is another in its pairs", at)
    rest = ~connection.isin(list(exact))
    if item.get(key) is None:
        if rest.any():
            raise _damaged("the fit of what is not known exactly is missing", where)
        return None, exact
    fit = _fit(folder, item, key, where, "change")
    _hold_fit(fit, pairs[rest], values[rest], where)
    return fit, exact


def _fit(folder: Path, content: Mapping[str, Any], key: str, where: object, outcome: str) -> BiasFit:
    from bayesbias.inference.fitting import load_fit

    path = folder / _file(content, key, where, _OF_FIT)
    fit = load_fit(path)
    if fit.spec.outcome != outcome:
        raise InputError("is a fit of something else", where=path, found=fit.spec.outcome, valid=outcome)
    return fit


def _hold_fit(fit: BiasFit, pairs: pd.DataFrame, values: pd.Series, path: object) -> None:
    """Refuse pairs that are not those of a fit, row by row; the order, which differs, aside."""
    label = _labels(pairs, fit.table)
    ours = pairs[label].astype(str).assign(value=values)
    theirs = fit.table[label].astype(str).assign(value=fit.table[fit.spec.outcome])
    if fit.spec.covariates():  # whose words without the covariate are not fitted
        ours = ours.merge(theirs[label].drop_duplicates(), on=label)
    by = [*label, "value"]
    ours, theirs = (frame.sort_values(by, ignore_index=True) for frame in (ours, theirs))
    if (
        len(ours) != len(theirs)
        or not ours[label].equals(theirs[label])
        or not np.allclose(ours["value"], theirs["value"], rtol=0, atol=_SAME)
    ):
        raise _damaged("these are not the pairs that were fitted", path)


def _labels(*frames: pd.DataFrame) -> list[str]:
    return [column for column in (*PAIR, *TEMPLATES) if all(column in frame for frame in frames)]


def _account(item: Mapping[str, Any], pairs: int, where: str) -> dict[str, Any]:
    account, at = _table(item, "account", where), f"{where}: account"
    checks.known_keys(account, [*_COUNTS, *_LISTS, "reordered"], at)
    counts = {key: checks.count(account.get(key), f"{at}: {key}", 0) for key in _COUNTS}
    if counts["pairs"] != pairs:
        raise InputError(
            "is damaged: it counts other pairs than there are",
            where=at,
            found=counts["pairs"],
            valid=str(pairs),
        )
    lists = {key: list(checks.texts(account.get(key), f"{at}: {key}")) for key in _LISTS}
    reordered = account.get("reordered")
    if not isinstance(reordered, bool):
        raise InputError("must be true or false", where=f"{at}: reordered", found=reordered)
    return {**account, **counts, **lists}


def _file(content: Mapping[str, Any], key: str, where: object, form: re.Pattern[str]) -> str:
    """Return the name of a file of the run, which lies in its folder."""
    name = content.get(key)
    if not (isinstance(name, str) and form.fullmatch(name)):
        example = "pairs_0.csv" if form is _OF_PAIRS else "fit_0.nc"
        raise InputError(
            "is damaged: names no file of a comparison", where=f"{where}: {key}", found=name, valid=example
        )
    return name


def _table(content: Mapping[str, Any], key: str, where: object) -> Mapping[str, Any]:
    return checks.table(content.get(key), f"{where}: {key}", "a table")


def _listed(content: Mapping[str, Any], key: str, where: object) -> list[Mapping[str, Any]]:
    items = content.get(key)
    if not isinstance(items, list):
        raise InputError("must be a list", where=f"{where}: {key}", found=items)
    return [checks.table(item, f"{where}: {key}, number {i}") for i, item in enumerate(items, start=1)]


def _damaged(problem: str, where: object) -> InputError:
    return InputError(f"is damaged: {problem}", where=where)
