"""A comparison of original and debiased vectors as a folder: fits, pairs, tables and figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics import checks
from bayesbias.basics.errors import InputError
from bayesbias.basics.files import whole_file
from bayesbias.basics.sheets import write_csv
from bayesbias.border.opening import read_bytes
from bayesbias.border.texts import parse_json
from bayesbias.runs.layout import Content, Layout
from bayesbias.runs.words import versions_of
from bayesbias.tables.checking import PAIR, TEMPLATES, source_is_simulated

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.inference.posterior import BiasFit
    from bayesbias.studies.comparison import Comparison

_FORMAT = 1
_FILE = "comparison.json"


def write_comparison(comparison: Comparison, folder: Path, *, spreadsheet_safe: bool = False) -> None:
    """Write fits, pairs and account into a folder, for `read_comparison`; texts as `bayesbias.basics.sheets` says."""
    stems = {}
    for number, (name, fit) in enumerate(comparison.fits().items()):
        stems[name] = f"fit_{number}.nc"
        fit.save(folder / stems[name])
    methods = []
    for number, (name, item) in enumerate(comparison.methods.items()):
        path = folder / f"pairs_{number}.csv"
        with whole_file(path) as temporary:
            write_csv(item.pairs, temporary, spreadsheet_safe=spreadsheet_safe)
        methods.append(
            {
                "name": name,
                "pairs": path.name,
                "account": dict(item.account),
                "exact": dict(item.exact),
                "change": stems.get(f"{name}, change"),
                "after": stems[f"{name}, after"],
            }
        )
    content = {
        "bayesbias_comparison": _FORMAT,
        "original": stems["original"],
        "methods": methods,
        "between": [
            {"first": a, "second": b, "exact": dict(changes.exact), "fit": stems.get(f"{a} against {b}")}
            for (a, b), changes in comparison.between.items()
        ],
        "provenance": dict(comparison.provenance),
    }
    with whole_file(folder / _FILE) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_comparison(folder: Path) -> Comparison:
    """Read what `write_comparison` wrote.

    Raises
    ------
    InputError
        Where the folder holds no comparison, or a damaged one.
    """
    from bayesbias.inference.fitting import load_fit
    from bayesbias.studies.change_fits import ChangesFit
    from bayesbias.studies.comparison import Comparison, Method
    from bayesbias.studies.construction import find_construction
    from bayesbias.tables.change import read_joined_pairs

    path = folder / _FILE
    content = checks.table(parse_json(read_bytes(path), path, as_written=True), path)
    if content.get("bayesbias_comparison") != _FORMAT:
        raise InputError(
            "is a comparison in a form that this version does not know",
            where=path,
            found=content.get("bayesbias_comparison"),
            valid=str(_FORMAT),
        )

    def fit_of(name: str | None) -> BiasFit | None:
        return None if name is None else load_fit(folder / name)

    methods = {}
    try:
        for item in content["methods"]:
            after, change = load_fit(folder / item["after"]), fit_of(item["change"])
            of_pairs = folder / item["pairs"]
            frame = read_joined_pairs(of_pairs, simulated=source_is_simulated(after.table))
            _hold_against(frame, after, change, item["exact"], of_pairs)
            methods[item["name"]] = Method(
                item["name"], frame, item["account"], change, item["exact"], after, find_construction(frame)
            )
        between = {
            (item["first"], item["second"]): ChangesFit(fit_of(item["fit"]), item["exact"])
            for item in content["between"]
        }
        return Comparison(load_fit(folder / content["original"]), methods, between, content["provenance"])
    except KeyError as error:
        raise InputError(f"is no complete comparison: {error} is missing", where=path) from None
    except (TypeError, AttributeError) as error:  # lists where tables should be, and the like
        raise InputError(f"is damaged ({error})", where=path) from None


def _hold_against(
    pairs: pd.DataFrame, after: BiasFit, change: BiasFit | None, exact: Mapping[str, float], path: Path
) -> None:
    """Refuse pairs that are not those of the fits beside them."""
    label = [column for column in (*PAIR, *TEMPLATES) if column in pairs and column in after.table]
    ours = pairs[[*label, "debiased"]].astype(dict.fromkeys(label, str))
    theirs = after.table[[*label, "distance"]].astype(dict.fromkeys(label, str))
    both = theirs.merge(ours.drop_duplicates(label), on=label, how="left")
    known = {*exact, *(() if change is None else map(str, change.table["connection"].unique()))}
    if not np.allclose(both["distance"], both["debiased"], rtol=0, atol=1e-9) or (
        set(pairs["connection"].astype(str)) - known
    ):
        raise InputError("is damaged: these are not the pairs that were fitted", where=path)


def _ranking(of: Content) -> pd.DataFrame | None:
    ranked = {"associated", "different"} <= set(of.result.original.table["connection"])
    return of.result.ranking(of.prob, of.rope) if ranked else None


def _construction(of: Content) -> dict[str, Any]:
    from bayesbias.findings.change import construction_account

    return {name: construction_account(item.construction) for name, item in of.result.methods.items()}


def _in_words(of: Content) -> str:
    from bayesbias.findings.change import findings_of_change

    return "\n".join(findings_of_change(of.result, of.prob, of.rope).lines()) + "\n"


LAYOUT = Layout(
    kind="change",
    files={
        "changes.csv": lambda of: of.result.changes(of.prob, of.rope),
        "contrasts.csv": lambda of: of.result.contrasts(of.prob, of.rope),
        "slopes.csv": lambda of: of.result.slopes(of.prob) if of.result.has_slopes else None,
        "geometry.csv": lambda of: of.result.geometry(of.prob),
        "ranking.csv": _ranking,
        "construction.json": _construction,
        "result.txt": _in_words,
    },
    own=lambda of, folder: write_comparison(of.result, folder, spreadsheet_safe=of.spreadsheet_safe),
    own_names=("comparison.json", "fit_[0-9]*.nc", "pairs_[0-9]*.csv"),
    figures=("changes", "changes_[0-9]*", "controls", "pairs", "pairs_[0-9]*", "ranking", "slopes"),
    known_by=("comparison.json", "changes.csv", "construction.json"),
    read=lambda folder, manifest: read_comparison(folder),
    sources=("comparison.json", "fit_[0-9]*.nc", "pairs_[0-9]*.csv"),
    versions=versions_of,
)
