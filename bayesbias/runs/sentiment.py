"""An analysis of sentiment as a folder: tables, predictions, fit and figures, all or none of them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.basics.errors import BayesbiasError, InputError

if TYPE_CHECKING:
    from bayesbias.classifiers.prediction_files import Predictions
    from bayesbias.inference.posterior import BiasFit
    from bayesbias.studies.sentiment import SentimentAnalysis

_TABLES = (
    "predictions", "pairs", "tests", "professions", "noun_pairs", "control", "earnings", "summary", "shares", "effects",
    "classifiers",
)  # fmt: skip
_FIGURES = ("professions", "noun_pairs", "predictive", "genders", "earnings")
_ALL_FILES = (
    "fit.nc",
    *(f"{name}.csv" for name in _TABLES),
    *(f"figures/{name}.{kind}" for name in _FIGURES for kind in ("png", "svg")),
)


def write_sentiment(
    found: Sequence[Predictions],
    analysis: SentimentAnalysis,
    fit: BiasFit | None,
    out: Path,
    prob: float,
    payload: dict[str, Any],
) -> list[Path]:
    """Write predictions, tables, fit and figures into a folder; files of an earlier run stay until all are made."""
    import tempfile

    made = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the output folder cannot be made ({error.strerror})", where=out) from None
    try:
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=out) as name:
            inner = Path(name)
            files = _write_files(found, analysis, fit, inner, prob, payload)
            written = [path.relative_to(inner) for path in files]
            for path in written:
                (out / path).parent.mkdir(exist_ok=True)
                os.replace(inner / path, out / path)
            # What an earlier run left and this one does not make would be taken for its own.
            for path in {Path(name) for name in _ALL_FILES} - set(written):
                (out / path).unlink(missing_ok=True)
    except BayesbiasError as error:
        raise InputError(str(error).replace(name, str(out))) from error
    finally:
        if made and not any(out.iterdir()):
            out.rmdir()
    return [out / path for path in written]


def _write_files(
    found: Sequence[Predictions],
    analysis: SentimentAnalysis,
    fit: BiasFit | None,
    out: Path,
    prob: float,
    payload: dict[str, Any],
) -> list[Path]:
    import pandas as pd

    from bayesbias.basics.files import whole_file
    from bayesbias.figures.saving import save_figures
    from bayesbias.studies.sentiment_fit import SENTIMENT_ESTIMANDS, contrasts_or_why_not

    frames = {
        "predictions": pd.concat([p.frame for p in found], ignore_index=True),
        "pairs": analysis.table,
        "tests": analysis.tests,
        "professions": analysis.professions,
        "noun_pairs": analysis.noun_pairs,
        "control": analysis.control,
        "earnings": analysis.earnings,
    }
    files: list[Path] = []
    if fit is not None:
        files.append(out / "fit.nc")
        fit.save(files[0])
        names = analysis.classifiers
        frames["summary"] = pd.concat([fit.summary(prob, e) for e in SENTIMENT_ESTIMANDS], ignore_index=True)
        frames["shares"] = pd.concat(
            [fit.shares(prob, group=n).assign(classifier=n) for n in names], ignore_index=True
        )
        frames["effects"] = pd.concat(
            [
                fit.means(level, prob, e)
                for level in ("profession", "noun_pair")
                for e in ("these_words", "population")
            ],
            ignore_index=True,
        )
        if (compared := contrasts_or_why_not(fit, prob)[0]) is not None:
            frames["classifiers"] = compared
    for stem, frame in frames.items():
        if len(frame):
            files.append(out / f"{stem}.csv")
            with whole_file(files[-1]) as temporary:
                frame.to_csv(temporary, index=False)
    texts = {
        "result.json": json.dumps(payload, allow_nan=False, indent=2) + "\n",
        "result.txt": "\n".join(
            [
                *payload["sentences"],
                *(f"Look again: {doubt}." for doubt in payload.get("doubts", [])),
                *(f"Note: {note}." for note in payload["notes"]),
            ]
        )
        + "\n",
    }
    for stem, text in texts.items():
        files.append(out / stem)
        with whole_file(files[-1]) as temporary:
            temporary.write_text(text, encoding="utf-8")
    result = fit if fit is not None else analysis
    return [*files, *save_figures(result, out / "figures", prob=prob)]
