"""An analysis of sentiment as a folder: predictions, tables, what the screen says, figures, and the fit if there is one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import records
from bayesbias.core.guarding import guarded
from bayesbias.core.ranges import NUMBER, SHARE, Range, hold_to_ranges
from bayesbias.core.texts import read_json
from bayesbias.inference.posterior import BiasFit
from bayesbias.runs.layout import Content, Layout
from bayesbias.runs.manifest import Manifest
from bayesbias.runs.reading import read_table
from bayesbias.tables.sentiment import CLIP, logit_difference

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.studies.sentiment import SentimentAnalysis

_SAME = 1e-9
_TEXTS = ("classifier", "noun_pair", "profession", "category")


def sentiment_as_json(analysis: SentimentAnalysis, fit: BiasFit | None, prob: float) -> dict[str, Any]:
    """Return all that an analysis says, for JSON: ``result.json``, and what ``bayesbias sentiment --json`` prints."""
    from bayesbias.findings.sentiment import findings_of_sentiment
    from bayesbias.studies.sentiment_fit import contrasts_or_why_not

    findings = findings_of_sentiment(analysis if fit is None else fit, prob)
    each = [_of_classifier(analysis, fit, name, prob) for name in analysis.classifiers]
    out: dict[str, Any] = dict(each[0]) if len(each) == 1 else {"classifiers": each}
    out |= {
        "words": analysis.provenance.get("occupations", {}),
        "hypotheses": analysis.provenance["hypotheses"],
        "directions": {"f_minus_m": "female - male", "t": "male - female"},
        "sentences": [
            *(text for part in (*findings.parts, findings) for text in part.statements()),
            *findings.problems,
        ],
        "findings": findings.as_dict(),
        "notes": list(analysis.notes),
    }
    if fit is None:
        return out | {"provenance": {"classifiers": analysis.provenance["classifiers"]}}
    if len(each) > 1:
        compared, _ = contrasts_or_why_not(fit, prob)
        out["contrasts"] = [] if compared is None else records(compared)
    provenance = dict(fit.provenance)
    provenance.pop("timing", None)
    provenance["classifiers"] = analysis.provenance["classifiers"]
    return out | {
        "model": fit.spec.name,
        "outcome": fit.spec.outcome,
        **({"slopes": records(fit.slopes(prob))} if fit.spec.covariates() else {}),
        "diagnostics": fit.diagnostics(),
        "doubts": [doubt.text for doubt in findings.doubts],
        "provenance": provenance,
    }


def _of_classifier(
    analysis: SentimentAnalysis, fit: BiasFit | None, name: str, prob: float
) -> dict[str, Any]:
    account = analysis.as_dict(name)
    account.pop("notes")
    if fit is None:
        return account
    for key, estimand in (
        ("overall", "listed_words"),
        ("new_nouns", "new_nouns"),
        ("new_professions", "new_professions"),
        ("population", "population"),
    ):
        account[key] = first_of_tests(fit.summary(prob, estimand), name)
    account["shares"] = {
        row["source"]: {k: row[k] for k in ("mean", "sd", "hpdi_low", "hpdi_high", "prob")}
        for row in records(fit.shares(prob, group=name))
    }
    for level, rows in (("profession", account["professions"]), ("noun_pair", account["noun_pairs"])):
        for estimand in ("listed_words", "population"):
            frame = fit.means(level, prob, estimand)
            frame = frame[frame["classifier"] == name].set_index("name")
            for row in rows:
                row[estimand] = _interval_of(frame.loc[row[level]].to_dict())
    return account


def first_of_tests(frame: pd.DataFrame, name: str) -> dict[str, Any]:
    """Return the numbers of one classifier in a table with a row for each."""
    (row,) = records(frame[frame["classifier"] == name])
    return _interval_of(row) | {k: row[k] for k in ("estimand", "ess_bulk", "r_hat")}


def _interval_of(row: dict[str, Any]) -> dict[str, Any]:
    return {k: float(row[k]) for k in ("mean", "sd", "hpdi_low", "hpdi_high", "prob")}


def _fit(of: Content) -> BiasFit | None:
    return of.result if isinstance(of.result, BiasFit) else None


def _analysis(of: Content) -> SentimentAnalysis:
    from bayesbias.studies.sentiment_fit import analysis_of

    return analysis_of(of.result) if isinstance(of.result, BiasFit) else of.result


def _unless_empty(frame: pd.DataFrame) -> pd.DataFrame | None:
    return frame if len(frame) else None


def _predictions(of: Content) -> pd.DataFrame | None:
    import pandas as pd

    return pd.concat([p.frame for p in of.predictions], ignore_index=True) if of.predictions else None


def _summary(of: Content) -> pd.DataFrame | None:
    import pandas as pd

    from bayesbias.studies.sentiment_fit import SENTIMENT_ESTIMANDS

    if (fit := _fit(of)) is None:
        return None
    return pd.concat([fit.summary(of.prob, e) for e in SENTIMENT_ESTIMANDS], ignore_index=True)


def _shares(of: Content) -> pd.DataFrame | None:
    import pandas as pd

    if (fit := _fit(of)) is None:
        return None
    shares = [fit.shares(of.prob, group=n).assign(classifier=n) for n in _analysis(of).classifiers]
    return pd.concat(shares, ignore_index=True)


def _effects(of: Content) -> pd.DataFrame | None:
    import pandas as pd

    if (fit := _fit(of)) is None:
        return None
    levels, estimands = ("profession", "noun_pair"), ("listed_words", "population")
    return pd.concat([fit.means(level, of.prob, e) for level in levels for e in estimands], ignore_index=True)


def _between_classifiers(of: Content) -> pd.DataFrame | None:
    from bayesbias.studies.sentiment_fit import contrasts_or_why_not

    return None if (fit := _fit(of)) is None else contrasts_or_why_not(fit, of.prob)[0]


def _slopes(of: Content) -> pd.DataFrame | None:
    fit = _fit(of)
    return fit.slopes(of.prob) if fit is not None and fit.spec.covariates() else None


def _payload(of: Content) -> dict[str, Any]:
    payload = sentiment_as_json(_analysis(of), _fit(of), of.prob)
    return payload if of.problem is None else payload | {"problem": of.problem}


def _in_words(of: Content) -> str:
    from bayesbias.findings.sentiment import findings_of_sentiment

    return "\n".join(findings_of_sentiment(of.result, of.prob).lines()) + "\n"


def _provenance(of: Content) -> dict[str, Any]:
    from bayesbias.studies.sentiment_fit import origin_of

    fit = _fit(of)
    return {**(dict(fit.provenance) if fit is not None else {}), "sentiment": origin_of(_analysis(of))}


def _versions(of: Content) -> dict[str, str]:
    return dict(of.result.provenance.get("versions", {}))


def _read(folder: Path, manifest: Manifest | None) -> BiasFit | SentimentAnalysis:
    from bayesbias.inference.fitting import load_fit
    from bayesbias.studies.sentiment_fit import analysis_from

    # A file of this name that the manifest does not list belongs to somebody else.
    fitted = (folder / "fit.nc").is_file() if manifest is None else "fit.nc" in manifest.files
    if fitted:
        return load_fit(folder / "fit.nc")
    path = folder / "pairs.csv"
    table, origin = read_table(path, texts=_TEXTS, whole=["clipped"]), _origin(folder)
    with guarded(folder, "its account is no account of an analysis of sentiment"):
        _hold(table, path, float(origin.get("clip", CLIP)))
        _hold_origin(origin, folder, set(table["classifier"]))
        return analysis_from(table, origin)


def _hold(table: pd.DataFrame, path: Path, clip: float) -> None:
    """Refuse pairs of sentences whose numbers do not agree with each other."""
    import numpy as np

    needed = (*_TEXTS, "p_male", "p_female", "difference", "logit_difference", "clipped")
    checks.columns(table, needed, path, "pairs of sentences")
    share = Range(0, 1, missing=False)
    hold_to_ranges(
        table,
        path,
        {"p_male": share, "p_female": share},
        texts=("classifier", "noun_pair", "profession"),
        once=("classifier", "noun_pair", "profession"),
    )
    male, female = (table[name].to_numpy(dtype=float) for name in ("p_male", "p_female"))
    logits, clipped = logit_difference(male, female, clip)
    for name, expected in (("difference", female - male), ("logit_difference", logits), ("clipped", clipped)):
        other = np.abs(table[name].to_numpy(dtype=float) - expected) > _SAME
        if other.any() or table[name].isna().any():
            row = int(np.argmax(other | table[name].isna().to_numpy()))
            raise InputError(
                "is damaged: not what its probabilities make",
                where=f"{path}, line {row + 2}, column {name}",
                found=table[name].iloc[row],
                valid=f"{expected[row]:.6g}",
            )


_OF_CONTROL = {
    **dict.fromkeys(("p_male", "p_female"), Range(0, 1, missing=False)),
    "f_minus_m": Range(-1, 1, missing=False),
    **dict.fromkeys(("n", "df"), Range(0, 1e9, missing=False)),
    "t": NUMBER,
    "p_value": SHARE,
}


def _hold_origin(origin: Mapping[str, Any], where: Path, classifiers: set[str]) -> None:
    """Refuse what is no account of an analysis."""
    for key in ("classifiers", "occupations"):
        for name, about in checks.table(origin.get(key, {}), f"{where}: {key}").items():
            if key == "classifiers":
                checks.table(about, f"{where}: classifiers: {name}")
    checks.texts(origin.get("notes", []), f"{where}: notes")
    if origin.get("hypotheses") is not None:
        checks.count(origin["hypotheses"], f"{where}: hypotheses")
    control = origin.get("control") or []
    if not isinstance(control, list):
        raise InputError("must be a list", where=f"{where}: control", found=control)
    for i, row in enumerate(control, start=1):
        at = f"{where}: control, number {i}"
        checks.choice(checks.table(row, at).get("classifier"), classifiers, "classifier", at)
        for name, allowed in _OF_CONTROL.items():
            if not allowed.takes(row.get(name)):
                raise InputError("is damaged", where=f"{at}: {name}", found=row.get(name), valid=str(allowed))
        if (row.get("t") is None) != (row.get("p_value") is None):
            raise InputError("is damaged: t and its p stand together, or neither does", where=at)


def _origin(folder: Path) -> dict[str, Any]:
    """Return where an analysis comes from; of a run of the first layout, as far as its result says."""
    name = "provenance.json" if (folder / "provenance.json").is_file() else "result.json"
    try:
        content = read_json(folder / name, as_written=True)
        if name == "provenance.json":
            return dict(content["sentiment"])
        each = content.get("classifiers", [content])
        return {
            "classifiers": content["provenance"]["classifiers"],
            "occupations": content["words"],
            "hypotheses": content["hypotheses"],
            "control": [
                {"classifier": one["classifier"], **one["control"]} for one in each if one["control"]
            ],
            "notes": content["notes"],
        }
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"is damaged ({error})", where=folder / name) from None


LAYOUT = Layout(
    kind="sentiment",
    files={
        "predictions.csv": _predictions,
        "pairs.csv": lambda of: _analysis(of).table,
        "tests.csv": lambda of: _unless_empty(_analysis(of).tests),
        "professions.csv": lambda of: _unless_empty(_analysis(of).professions),
        "noun_pairs.csv": lambda of: _unless_empty(_analysis(of).noun_pairs),
        "control.csv": lambda of: _unless_empty(_analysis(of).control),
        "earnings.csv": lambda of: _unless_empty(_analysis(of).earnings),
        "fit.nc": _fit,
        "summary.csv": _summary,
        "shares.csv": _shares,
        "effects.csv": _effects,
        "classifiers.csv": _between_classifiers,
        "slopes.csv": _slopes,
        "result.json": lambda of: json.dumps(_payload(of), allow_nan=False, indent=2) + "\n",
        "result.txt": _in_words,
        "provenance.json": _provenance,
    },
    figures=("professions", "noun_pairs", "predictive", "genders", "earnings", "slopes"),
    known_by=("result.json", "tests.csv", "pairs.csv"),
    read=_read,
    sources=("fit.nc", "pairs.csv", "provenance.json"),
    settings=lambda of: {"prob": of.prob},
    versions=_versions,
)
