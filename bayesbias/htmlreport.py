"""One HTML file that says what a fit or a comparison found: the answer first, then all it rests on.

The file loads nothing: figures are inline, the script is the package's own and named by its hash in a
Content-Security-Policy that forbids everything else, the network with it. Without the script all is still there.
Words are those of a user's list, and may hold anything; each is shown as text. The same run gives the same bytes.

Sentences come from `reporting` and from `Comparison`, numbers from the draws; here they are only laid out.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
import itertools
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bayesbias
from bayesbias import _canvas as canvas
from bayesbias._htmlparts import (
    _about,
    _base,
    _Cell,
    _clean,
    _Figure,
    _figure,
    _how_sampled,
    _interval,
    _interval_cell,
    _look_again,
    _lower,
    _minus,
    _not_trusted,
    _number,
    _parameters,
    _Part,
    _probability,
    _reproduction,
    _scientific,
    _sentence,
    _share,
    _shown,
    _signed,
    _Table,
)
from bayesbias._htmlreport_sentiment import of_sentiment
from bayesbias._reporting_sentiment import is_sentiment
from bayesbias._resources import data_dir, whole_file
from bayesbias._wording import number_of
from bayesbias.comparison import Comparison, Method, load_comparison
from bayesbias.errors import InputError, nearest
from bayesbias.posterior import CONTRASTS, PROB, ROPE, BiasFit, load_fit
from bayesbias.reporting import convergence, finding, in_words, shortcomings, verdict
from bayesbias.spec import CONNECTIONS, load_model
from bayesbias.wordlist import CONTROLS, shipped_controls, shipped_wordlists

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["write_report"]

_SUFFIXES = (".html", ".htm")
_OF_INTEREST = "associated - different"
_VALID = (
    "a folder that `bayesbias fit`, `compare` or `sentiment --bayes` wrote with --out, or a .nc file of a fit"
)
_KINDS = {
    "associated": "a word with a stereotype of its own class",
    "different": "a word with a stereotype of another class",
    "human": "a word with a control word about people",
    "neutral": "a word with a control word about neither people nor classes",
}


def write_report(
    run: BiasFit | Comparison | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    prob: float | None = None,
    rope: float | None = None,
) -> Path:
    """Write one self-contained HTML file on a fit or a comparison.

    Parameters
    ----------
    run : BiasFit, Comparison or path
        A fit of distances or of sentiment (see `with_analysis`). A path is a folder that ``bayesbias fit``,
        ``compare`` or ``sentiment --bayes`` wrote with ``--out``, or a ``.nc`` file.
    path : path
        Of the file, ``.html`` or ``.htm``; written whole or not at all.
    prob : float in (0, 1), optional
        Probability of the intervals. By default that of the tables in the folder, else 0.89.
    rope : float > 0, optional
        Half-width of the region of practical equivalence, in cosine distance. By default that of the tables in
        the folder, else `ROPE`. Sentiment has none.

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    InputError
        Where `run` holds no run, or a fit of something else than distances and sentiment; where the file cannot
        be written.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> result = bb.fit(table, seed=1, draws=200, chains=2, pointwise=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = bb.write_report(result, f"{folder}/religion.html").read_text(encoding="utf-8")
    >>> text[:15], "religion in minilm-static" in text
    ('<!DOCTYPE html>', True)
    """
    target = Path(path)
    if target.suffix.lower() not in _SUFFIXES:
        raise InputError("a report is an HTML file", where=target, found=target.suffix, valid=_SUFFIXES)
    if target.is_dir():
        raise InputError("is a folder, not a file", where=target)
    if not isinstance(run, BiasFit | Comparison):
        found, settings = _opened(Path(run))
        prob = settings.get("prob") if prob is None else prob
        rope = settings.get("rope") if rope is None else rope
    else:
        found = run
    prob, rope = float(PROB if prob is None else prob), float(ROPE if rope is None else rope)
    if not 0 < prob < 1:
        raise InputError("the probability of an interval must lie between 0 and 1", found=prob)
    if not (rope > 0 and math.isfinite(rope)):
        raise InputError("the half-width of the ROPE must be positive", found=rope)
    if isinstance(found, Comparison):
        text = _rendered_page(_of_comparison(found, prob, rope))
    elif is_sentiment(found):
        text = _rendered_page(of_sentiment(found, prob))
    else:
        text = _rendered_page(_of_fit(found, prob, rope))
    with whole_file(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return target


# -- what is reported -----------------------------------------------------------------------------


def _opened(path: Path) -> tuple[BiasFit | Comparison, dict[str, float]]:
    """Load a run; return it with the settings its tables were written with."""
    if path.is_dir():
        inside = sorted(item.name for item in path.iterdir())
        found = [name for name in ("comparison.json", "fit.nc") if name in inside]
        if len(found) == 2:
            raise InputError(
                "holds both a fit and a comparison",
                where=path,
                valid=f"{path / 'fit.nc'}, or a folder of one run",
            )
        if not found:
            fits = [name for name in inside if name.endswith(".nc")]
            hint = f"give one of its fits, such as {path / fits[0]}" if fits else None
            raise InputError("holds no run", where=path, found=inside[:6], valid=_VALID, hint=hint)
        run = load_comparison(path) if found[0] == "comparison.json" else load_fit(path / "fit.nc")
        settings = _settings(path / "contrasts.csv")
        return run, settings or _settings(path / "summary.csv", ("prob",))
    if path.name == "comparison.json" and path.is_file():
        return load_comparison(path.parent), _settings(path.parent / "contrasts.csv")
    if not path.exists():
        beside = [item.name for item in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError("no such file or folder", where=path, valid=_VALID, hint=nearest(path.name, beside))
    if path.suffix != ".nc":
        raise InputError("is no run", where=path, found=path.suffix, valid=_VALID)
    return load_fit(path), {}


def _settings(path: Path, names: Sequence[str] = ("prob", "rope")) -> dict[str, float]:
    """Return the probability and the ROPE of a table of contrasts, so that the report agrees with it."""
    import csv

    if not path.is_file():
        return {}
    try:
        with open(path, encoding="utf-8", newline="") as file:
            row = next(csv.DictReader(file), {})
        return {name: float(row[name]) for name in names}
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        raise InputError(
            f"is no table of {path.stem} as `bayesbias` writes it",
            where=path,
            valid=f"columns {' and '.join(names)} with a number in the first row",
            hint="remove it, and the report uses the defaults",
        ) from None


def _of_fit(fit: BiasFit, prob: float, rope: float) -> dict[str, Any]:
    if fit.spec.outcome != "distance":
        raise InputError(
            "a report on a single fit is about distances or sentiment",
            where=f"model {fit.spec.name}",
            found=fit.spec.outcome,
            valid="distance, difference, logit_difference",
            hint="for a fit of changes, give the folder of its comparison"
            if fit.spec.outcome == "change"
            else None,
        )
    frame = _contrasts(fit, prob, rope)
    name = _name(fit)
    said = in_words(fit, prob, rope) if frame is not None else []
    lacking = shortcomings(fit)
    state = fit.diagnostics()
    # The parts of `in_words` that are about trust have places of their own in the report.
    apart = {*(f"Look again: {text}." for text in lacking), *(state["problems"] or said[-1:])}
    # Nothing is concluded from a fit that has not converged; its tables stand below the warning.
    sentences = [text for text in said[1:] if text not in apart] if state["ok"] else []
    answer = (
        [finding(fit, prob, rope)]
        if frame is not None
        else [
            f"{name}: the table holds no two connections to hold against each other, only their mean distances."
        ]
    )
    return {
        "kicker": "Association in word vectors, pair by pair",
        "title": name,
        "question": _question(fit),
        "warnings": _not_trusted(state["problems"]),
        "answer": answer,
        "doubts": _look_again(lacking),
        "facts": _facts(fit, frame if state["ok"] else None, prob),
        "answer_tables": [],
        "sentences": sentences,
        "data": _data(fit.table, fit.provenance.get("coverage", {})),
        "sections": _fit_sections(fit, frame, prob, rope),
        "models": [_model(fit, prob, "")],
        "trust": _trust_of_fit(fit, lacking),
        "again": _again(fit, prob, rope),
        "glossary": _glossary(fit.table, fit.spec.outcome, prob, rope),
    }


def _of_comparison(run: Comparison, prob: float, rope: float) -> dict[str, Any]:
    several = len(run.methods) > 1
    state = run.diagnostics()
    warnings = _not_trusted([f"fit of {text}" for text in state["problems"]])
    answer: list[str] = []
    sentences: list[str] = []
    notes: list[str] = []
    for name, item in run.methods.items():
        lead = f"{name}: " if several else ""
        built = item.construction.sentences()
        if item.construction.found:
            warnings.append(
                {
                    "title": f"{lead}read this first, some of the result could not have come out otherwise"
                    if lead
                    else "Read this first: some of the result could not have come out otherwise",
                    "sentences": [_sentence(text) for text in built],
                }
            )
        elif built:
            sentences += [_sentence(text, lead) for text in built]
        notes += [_sentence(text, lead) for text in item.account["notes"]]
        # Of one method alone, so that no name stands before each sentence.
        alone = dataclasses.replace(run, methods={name: item}, between={})
        told = {*built, *item.account["notes"]}
        rest = [text for text in alone.sentences(prob, rope) if text.removesuffix(".") not in told]
        answer += [_sentence(text, lead) for text in rest[:1]]
        sentences += [_sentence(text, lead) for text in rest[1:]]
    for a, b in itertools.pairwise(run.provenance["order"]):
        sentences += _against(run, a, b, prob, rope)
    first = next(iter(run.methods.values()))
    facts = [] if several else _change_facts(run, first, prob, rope)
    data = _data(first.pairs, run.original.provenance.get("coverage", {}))
    data["notes"] = [*data["notes"], *notes]
    data["tables"].append(_raw_means(run))
    return {
        "kicker": "Original against debiased, pair by pair",
        "title": f"{run.provenance['original']}, debiased",
        "question": "Did debiasing close the gap between the stereotypes of a word's own class and those of other "
        "classes: for whom, by how much, and at what price to words that nobody meant to treat?",
        "warnings": warnings,
        "answer": answer,
        "doubts": [],
        "facts": facts,
        "answer_tables": [_methods_table(run, prob, rope)] if several else [],
        "sentences": sentences,
        "data": data,
        "sections": _comparison_sections(run, prob, rope),
        "models": _models_of(run, prob),
        "trust": _trust_of_comparison(run),
        "again": _again_comparison(run, prob, rope),
        "glossary": _glossary(run.original.table, "change", prob, rope),
    }


def _name(fit: BiasFit) -> str:
    return str(fit.provenance.get("table", {}).get("name", "A table of pairs"))


def _question(fit: BiasFit) -> str:
    present = _present(fit.table)
    if {"associated", "different"} <= set(present):
        return (
            "Do protected words lie nearer to the stereotypes of their own class than to the stereotypes of other "
            "classes, and how sure may we be?"
        )
    return f"How far do protected words lie from {' and '.join(present)} attributes, and how sure may we be?"


def _contrasts(fit: BiasFit, prob: float, rope: float) -> pd.DataFrame | None:
    present = _present(fit.table)
    if not any(a in present and b in present for a, b in CONTRASTS):
        return None
    return fit.contrasts(prob, rope)


def _facts(fit: BiasFit, frame: pd.DataFrame | None, prob: float) -> list[dict[str, str]]:
    facts = [{"label": "pairs of words", "value": f"{len(fit.table):,}"}]
    if frame is None:
        return facts
    row = frame[(frame["level"] == "overall") & (frame["estimand"] == "population")].iloc[0]
    return [
        {"label": f"{_minus(row['contrast'])}, in cosine distance", "value": _signed(row["mean"])},
        {"label": f"{prob:.0%} HPDI", "value": _interval(row["hpdi_low"], row["hpdi_high"], signed=True)},
        {"label": "probability that it is below zero (nearer)", "value": _probability(row["p_below_zero"])},
        *facts,
    ]


# -- the parts ------------------------------------------------------------------------------------


def _data(table: pd.DataFrame, coverage: Mapping[str, Any]) -> dict[str, Any]:
    words = table.groupby("protected_class", sort=False, observed=True)["protected_word"].unique()
    attributes = table.groupby("attribute_class", sort=False, observed=True)["attribute"].unique()
    n_words, n_attributes = table["protected_word"].nunique(), table["attribute"].nunique()
    sentences = [
        f"{len(table):,} pairs of {n_words} protected words in {number_of(len(words), 'class', 'classes')} "
        f"({', '.join(map(str, words.index))}) and {number_of(n_attributes, 'attribute')}. "
        "Each pair is one observation; nothing was averaged before the model saw it."
    ]
    rows = []
    for side, label in (("protected", "protected words"), ("attributes", "attributes")):
        for name, group in coverage.get(side, {}).items():
            rows.append(
                [
                    _Cell(str(name)),
                    _Cell(label),
                    _number(group["listed"], 0),
                    _number(group["found"], 0),
                    _Cell(", ".join(map(str, group["missing"])) or "none"),
                ]
            )
    if not rows:
        sentences.append("The table came without an account of words that were missing.")
    elif not coverage.get("missing"):
        sentences.append("Every listed word was found.")
    else:
        n = len(coverage["missing"])
        sentences.append(
            f"{number_of(n, 'listed word')} {'was' if n == 1 else 'were'} not found and {'makes' if n == 1 else 'make'} "
            "no pair; the table names them."
        )
    kinds = table["connection"].astype(str).value_counts()
    tables = [
        _Table(
            "t-pairs",
            "Pairs per connection",
            ["connection", "what is paired", "#pairs"],
            [[_Cell(c), _Cell(_KINDS[c]), _number(int(kinds[c]), 0)] for c in _present(table)],
        )
    ]
    if rows:
        head = ["class", "side", "#listed", "#found"]
        tables.append(_Table("t-coverage", "Words listed and found", [*head, "missing"], rows))
    notes = [_sentence(str(text)) for text in coverage.get("notes", ())]
    matched = coverage.get("matched") or {}
    if matched:
        pairs = ", ".join(f"{asked} as {found}" for asked, found in matched.items())
        notes.append(f"Found under another spelling: {pairs}.")
    if coverage.get("repeats"):
        notes.append(f"{number_of(int(coverage['repeats']), 'repeated row')} counted once.")
    groups = [
        {"title": f"Protected: {name}", "words": [str(w) for w in found]} for name, found in words.items()
    ]
    for name, found in attributes.items():
        kind = "Controls" if name in CONNECTIONS else "Stereotypes"
        groups.append({"title": f"{kind}: {name}", "words": [str(w) for w in found]})
    return {"sentences": sentences, "tables": tables, "notes": notes, "words": groups}


def _fit_sections(fit: BiasFit, frame: pd.DataFrame | None, prob: float, rope: float) -> list[_Part]:
    from bayesbias import figures as fg

    size = functools.partial(fg._size_contrasts, fit, contrasts=None)
    summary = fit.summary(prob)
    means = "; ".join(
        f"{r.connection} {r.mean:.3f} ({_interval(r.hpdi_low, r.hpdi_high)})" for r in summary.itertuples()
    )
    connections = _figure(
        "connections",
        lambda ax: fg.plot_connections(fit, prob, ax=ax),
        fg._size_connections(fit),
        "Mean distance per connection, for new words like these. The nearer to 0, the nearer two words.",
        f"Posterior mean and {prob:.0%} HPDI per connection: {means}.",
    )
    words = _figure(
        "words",
        lambda ax: fg.plot_words(fit, prob, ax=ax),
        fg._size_words(fit),
        "Every pair as a small point, and over the pairs what the model makes of each protected word.",
        f"One row per protected word with all {len(fit.table):,} pairs as points and the posterior mean and HPDI per "
        "connection; the numbers are in the table of means per word.",
    )
    by_word = _words_table(fit, frame, prob, rope)
    per_word = _means_per_word(fit, prob)
    levels = _Part("Mean distances per connection", figures=[connections], tables=[_summary_table(fit, prob)])
    if frame is None:
        return [
            dataclasses.replace(
                levels, folded=[_Part("Mean distance of every protected word", tables=[per_word])]
            ),
            _Part("Every protected word", figures=[words]),
        ]
    overall = frame[frame["level"] == "overall"]
    told = "; ".join(
        f"{_minus(r.contrast)} {_signed(r.mean)} ({_interval(r.hpdi_low, r.hpdi_high, signed=True)})"
        for r in overall[overall["estimand"] == "population"].itertuples()
    )

    def contrasts(level: str, caption: str, alt: str) -> _Figure:
        return _figure(
            "contrasts" if level == "overall" else f"contrasts-{level}",
            lambda ax: fg.plot_contrasts(fit, prob, rope, level, ax=ax),
            size(level),
            caption,
            alt,
        )

    first = _Part(
        "The differences overall",
        figures=[
            contrasts(
                "overall",
                "Differences between connections. The grey band is the region of practical equivalence: a difference "
                "inside it is too small to matter.",
                f"Posterior mean and {prob:.0%} HPDI of each difference, for new words like these: {told}.",
            )
        ],
        tables=[_contrast_table("t-overall", "Differences overall", overall, prob)],
    )
    of_classes = frame[frame["level"] == "class"]
    of_words = _at_level(frame, "word")
    classes = _Part(
        "Differences per class",
        figures=[
            contrasts(
                "class",
                "The same differences for each protected class.",
                "Posterior mean and HPDI of each difference, per protected class; the numbers are in the table below.",
            )
        ],
        tables=[_contrast_table("t-class", "Differences per protected class", of_classes, prob, "class")],
    )
    every = _Part(
        "Differences per word, all of them",
        figures=[
            contrasts(
                "word",
                "The first difference for each protected word.",
                "Posterior mean and HPDI of the first difference, per protected word; the numbers are in the tables.",
            )
        ],
        tables=[_contrast_table("t-word", "All differences per protected word", of_words, prob, "word")],
    )
    return [
        first,
        _Part(
            "Every protected word",
            figures=[words],
            tables=[by_word] if by_word is not None else [],
            folded=[classes, every, _Part("Mean distance of every protected word", tables=[per_word])],
        ),
        levels,
    ]


def _contrast_table(id_: str, caption: str, frame: pd.DataFrame, prob: float, level: str = "") -> _Table:
    head = [level] if level else []
    head += [
        "difference",
        "holds for",
        "#mean",
        f"#{prob:.0%} HPDI",
        "#P(below 0)",
        "#P(in ROPE)",
        "the first is",
    ]
    rows = []
    for r in frame.itertuples():
        row = [_Cell(str(r.name))] if level else []
        row += [
            _Cell(_minus(r.contrast)),
            _Cell(_holds_for(r.estimand, bool(level))),
            _number(r.mean, signed=True),
        ]
        row += [_interval_cell(r.hpdi_low, r.hpdi_high, signed=True)]
        row += [_share(r.p_below_zero), _share(r.p_in_rope)]
        rows.append([*row, _Cell(verdict(r.hpdi_low, r.hpdi_high, r.rope))])
    return _Table(id_, caption, head, rows)


def _at_level(frame: pd.DataFrame, level: str) -> pd.DataFrame:
    """Choose the rows of a level; of single words for one estimand only, since both would fill pages."""
    chosen = frame[frame["level"] == level]
    return chosen[chosen["estimand"] == "population"] if level == "word" else chosen


def _words_table(fit: BiasFit, frame: pd.DataFrame | None, prob: float, rope: float) -> _Table | None:
    if frame is None:
        return None
    name = str(frame["contrast"].iloc[0])
    chosen = frame[
        (frame["level"] == "word") & (frame["contrast"] == name) & (frame["estimand"] == "population")
    ]
    classes = _classes(fit.table)
    head = ["protected word", "class", f"#{_minus(name)}", f"#{prob:.0%} HPDI", "#P(below 0)", "the first is"]
    rows = [
        [
            _Cell(str(r.name)),
            _Cell(classes[str(r.name)]),
            _number(r.mean, signed=True),
            _interval_cell(r.hpdi_low, r.hpdi_high, signed=True),
            _share(r.p_below_zero),
            _Cell(verdict(r.hpdi_low, r.hpdi_high, rope)),
        ]
        for r in chosen.itertuples()
    ]
    return _Table(
        "t-words",
        f"Each protected word: {_minus(name)}",
        head,
        rows,
        "Held for new attributes like the listed ones.",
    )


def _summary_table(fit: BiasFit, prob: float) -> _Table:
    head = ["connection", "holds for", "#mean", "#sd", f"#{prob:.0%} HPDI", "#pairs"]
    rows = [
        [
            _Cell(str(r.connection)),
            _Cell(_holds_for(r.estimand, False)),
            _number(r.mean),
            _number(r.sd),
            _interval_cell(r.hpdi_low, r.hpdi_high),
            _number(r.n_pairs, 0),
        ]
        for estimand in ("population", "these_words")
        for r in fit.summary(prob, estimand).itertuples()
    ]
    return _Table("t-summary", "Mean cosine distance per connection", head, rows)


def _means_per_word(fit: BiasFit, prob: float) -> _Table:
    head = ["protected word", "class", "connection", "#mean", "#sd", f"#{prob:.0%} HPDI"]
    rows = [
        [
            _Cell(str(r.protected_word)),
            _Cell(str(r.protected_class)),
            _Cell(str(r.connection)),
            _number(r.mean),
            _number(r.sd),
            _interval_cell(r.hpdi_low, r.hpdi_high),
        ]
        for r in fit.words(prob).itertuples()
    ]
    note = "Held for new attributes like the listed ones."
    return _Table("t-means", "Mean cosine distance of each protected word", head, rows, note)


# -- comparisons ----------------------------------------------------------------------------------


def _gap(run: Comparison, name: str, prob: float, rope: float) -> Any:
    """Return the row of the first overall contrast of a method, or None where there is none."""
    present = _present(run.methods[name].pairs)
    if not any(a in present and b in present for a, b in CONTRASTS):
        return None
    frame = run.contrasts(prob, rope, "population", name)
    return next(iter(frame[frame["level"] == "overall"].itertuples()))


def _control_rms(item: Method) -> float | None:
    change = item.pairs.loc[item.pairs["connection"].isin(CONTROLS), "change"].to_numpy()
    return float(np.sqrt(np.mean(change**2))) if len(change) else None


def _change_facts(run: Comparison, item: Method, prob: float, rope: float) -> list[dict[str, str]]:
    row = _gap(run, item.name, prob, rope)
    rms = _control_rms(item)
    facts = []
    if row is not None:
        facts = [
            {"label": f"{_minus(row.contrast)}, before", "value": _signed(row.before)},
            {"label": f"{_minus(row.contrast)}, after", "value": _signed(row.after)},
            {
                "label": f"change, {prob:.0%} HPDI",
                "value": _interval(row.hpdi_low, row.hpdi_high, signed=True),
            },
        ]
    if rms is not None:
        facts.append({"label": "pairs with control words moved by (root mean square)", "value": f"{rms:.3f}"})
    return facts


def _methods_table(run: Comparison, prob: float, rope: float) -> _Table:
    rows = []
    contrast = _OF_INTEREST
    for rank, name in enumerate(run.provenance["order"], 1):
        row = _gap(run, name, prob, rope)
        cells = [_Cell(name), _number(rank, 0)]
        if row is None:
            cells += [_number(None)] * 4 + [_Cell("no two connections to compare")]
        else:
            contrast = row.contrast
            forced = ", by construction" if row.by_construction else ""
            cells += [
                _number(row.before, signed=True),
                _number(row.after, signed=True),
                _interval_cell(row.after_low, row.after_high, signed=True),
                _number(row.mean, signed=True),
                _Cell(f"{row.verdict_after}{forced}"),
            ]
        rows.append([*cells, _number(_control_rms(run.methods[name]))])
    head = [
        "method",
        "#rank",
        "#gap before",
        "#gap after",
        f"#after, {prob:.0%} HPDI",
        "#change",
        "what is left",
        "#controls moved by",
    ]
    return _Table(
        "t-methods",
        f"The methods, by what they leave of {_minus(contrast)}",
        head,
        rows,
        "Controls moved by: root mean square change of the pairs with control words, the price of the method.",
    )


def _against(run: Comparison, a: str, b: str, prob: float, rope: float) -> list[str]:
    """Say what tells a method from the next one in the ranking."""
    if not {"associated", "different"} <= set(_present(run.methods[a].pairs)):
        return []
    ranking = run.ranking(prob, rope)
    row = ranking[ranking["method"] == a].iloc[0]
    p = _probability(float(row["p_nearer_zero_than_next"]))
    return [f"{a} against {b}: {row['verdict_next']} (probability that {a} leaves the smaller gap: {p})."]


def _raw_means(run: Comparison) -> _Table:
    head = ["connection", "method", "#pairs", "#before"]
    rows = [
        [
            _Cell(str(r.connection)),
            _Cell(name),
            _number(r.n_pairs, 0),
            _number(r.before, 4),
            _number(r.after, 4),
        ]
        for name, item in run.methods.items()
        for r in item.construction.means.itertuples()
    ]
    return _Table("t-raw", "Raw mean distances, without a model", [*head, "#after"], rows)


def _comparison_sections(run: Comparison, prob: float, rope: float) -> list[_Part]:
    from bayesbias import _figures_comparison as fc

    sections = []
    if len(run.methods) > 1 and {"associated", "different"} <= set(_present(run.original.table)):
        ranking = run.ranking(prob, rope)
        told = "; ".join(
            f"{r.method} {_signed(r.gap)} ({_interval(r.gap_low, r.gap_high, signed=True)})"
            for r in ranking.itertuples()
        )
        figure = _figure(
            "ranking",
            lambda ax: fc.plot_ranking(run, prob, rope, ax=ax),
            (7.0, 1.6 + 0.46 * (1 + len(run.methods))),
            "What each method leaves of the gap, best first. The grey band is the region of practical equivalence.",
            f"Gap between associated and different after each method: {told}.",
        )
        sections.append(_Part("The methods, ranked", figures=[figure]))
    for number, name in enumerate(run.methods, 1):
        sections.append(_method_section(run, name, number, prob, rope))
    return sections


def _method_section(run: Comparison, name: str, number: int, prob: float, rope: float) -> _Part:
    from bayesbias import _figures_comparison as fc

    item = run.methods[name]
    tag = f"m{number}"
    rows = item.pairs["protected_word"].nunique() + canvas.HEAD * item.pairs["protected_class"].nunique()
    moved = _figure(
        f"changes-{tag}",
        lambda ax: fc.plot_changes(run, name, prob, ax=ax),
        canvas.size_rows(rows, 0.42, 0.17),
        f"From the original to {name}: an arrow per protected word and connection, with the interval of the change.",
        "One row per protected word, one arrow per connection from the mean distance before to that after; the "
        "numbers are in the table of changes per word.",
    )
    pairs = _figure(
        f"pairs-{tag}",
        lambda ax: fc.plot_raw_pairs(run, name, ax=ax),
        (6.0, 6.4),
        f"Every pair before and after ({name}). Pairs on the diagonal kept their distance.",
        f"All {len(item.pairs):,} pairs: cosine distance in the original against that in {name}; the mean distances "
        "per connection are in the table of raw means.",
    )
    changes = run.changes(prob, rope, method=name)
    contrasts = run.contrasts(prob, rope, method=name) if _gap(run, name, prob, rope) is not None else None

    def gaps(level: str) -> list[_Table]:
        if contrasts is None:
            return []
        return [_gap_table(f"t-gap-{level}-{tag}", _at_level(contrasts, level), level, prob)]

    def change(level: str) -> _Table:
        return _change_table(f"t-change-{level}-{tag}", _at_level(changes, level), level, prob)

    folded = [
        _Part("Every pair, before and after", figures=[pairs]),
        _Part("Changes and gaps per class", tables=[*gaps("class"), change("class")]),
        _Part("Changes and gaps per word", tables=[*gaps("word"), change("word")]),
    ]
    built = _construction_tables(item, tag)
    if built:
        folded.insert(0, _Part("What the method forces, and drift of the control words", tables=built))
    title = f"{name} against the original"
    return _Part(title, figures=[moved], tables=[*gaps("overall"), change("overall")], folded=folded)


def _gap_table(id_: str, frame: pd.DataFrame, level: str, prob: float) -> _Table:
    of = level != "overall"
    head = [level] if of else []
    head += [
        "gap",
        "holds for",
        "#before",
        "#change",
        f"#change, {prob:.0%} HPDI",
        "the change",
        "#after",
        "what is left",
    ]
    rows = []
    for r in frame.itertuples():
        row = [_Cell(str(r.name))] if of else []
        row += [_Cell(_minus(r.contrast)), _Cell(_holds_for(r.estimand, of)), _number(r.before, signed=True)]
        row += [_number(r.mean, signed=True), _interval_cell(r.hpdi_low, r.hpdi_high, signed=True)]
        forced = ", by construction" if r.by_construction else ""
        row += [_Cell(r.verdict), _number(r.after, signed=True), _Cell(f"{r.verdict_after}{forced}")]
        rows.append(row)
    caption = "Gaps between connections" + (f", per protected {level}" if of else "")
    return _Table(id_, caption, head, rows)


def _change_table(id_: str, frame: pd.DataFrame, level: str, prob: float) -> _Table:
    of = level != "overall"
    head = [level] if of else []
    head += [
        "connection",
        "holds for",
        "#change",
        f"#{prob:.0%} HPDI",
        "#P(below 0)",
        "#pairs",
        "what it means",
    ]
    rows = []
    for r in frame.itertuples():
        row = [_Cell(str(r.name))] if of else []
        row += [_Cell(str(r.connection)), _Cell(_holds_for(r.estimand, of)), _number(r.mean, signed=True)]
        row += [
            _interval_cell(r.hpdi_low, r.hpdi_high, signed=True),
            _share(r.p_below_zero),
            _number(r.n_pairs, 0),
        ]
        rows.append([*row, _Cell(r.verdict + (" (known exactly)" if r.exact else ""))])
    caption = "Change of the mean distance (debiased minus original)" + (
        f", per protected {level}" if of else ""
    )
    return _Table(id_, caption, head, rows)


def _construction_tables(item: Method, tag: str) -> list[_Table]:
    found = item.construction
    tables = []
    if len(found.sets):
        head = [
            "set of words",
            "#one distance to",
            "#largest gap before",
            "#after",
            "#gap to controls before",
            "#after",
        ]
        rows = [
            [
                _Cell(", ".join(map(str, r.words))),
                _Cell(f"{r.n_equal} of {r.n_attributes}", True, repr(int(r.n_equal))),
                _number(r.gap_before),
                _scientific(r.gap_after),
                _number(r.control_gap_before),
                _number(r.control_gap_after),
            ]
            for r in found.sets.itertuples()
        ]
        tables.append(
            _Table(
                f"t-sets-{tag}",
                "Sets of words to which stereotypes have one distance",
                head,
                rows,
                "One distance to: how many stereotypes have, after the method, the same distance to all words of the set.",
            )
        )
    if len(found.controls):
        head = [
            "protected word",
            "class",
            "controls",
            "#mean change",
            "#root mean square",
            "#largest",
            "with",
        ]
        rows = [
            [
                _Cell(str(r.protected_word)),
                _Cell(str(r.protected_class)),
                _Cell(str(r.connection)),
                _number(r.mean_change, signed=True),
                _number(r.rms_change),
                _number(r.max_change, signed=True),
                _Cell(str(r.attribute)),
            ]
            for r in found.controls.itertuples()
        ]
        tables.append(_Table(f"t-drift-{tag}", "Drift of the distances to control words", head, rows))
    if len(found.attributes):
        head = ["stereotype", "of", "#before", "#after", "#nearer than", "near everything"]
        rows = [
            [
                _Cell(str(r.attribute)),
                _Cell(str(r.attribute_class)),
                _number(r.before),
                _number(r.after),
                _Cell(f"{r.nearer_than:.0%}", True, repr(float(r.nearer_than))),
                _Cell("yes" if r.near_everything else "no"),
            ]
            for r in found.attributes.itertuples()
        ]
        note = (
            "Mean distance to all protected words; nearer than: the share of control words that lie farther."
        )
        tables.append(_Table(f"t-near-{tag}", "Stereotypes that lie near everything", head, rows, note))
    return tables


# -- model, trust, how to reproduce -----------------------------------------------------------------


def _model(fit: BiasFit, prob: float, use: str) -> dict[str, Any]:
    from bayesbias import figures as fg

    folded = [_parameters(fit, prob, f"-{fit.spec.name}" if use else "")]
    if not use:
        figure = _figure(
            "priors",
            lambda ax: fg.plot_priors(fit, ax=ax),
            canvas.size_ridges(len(_present(fit.table))),
            "What the model believed before it saw a pair, against the distances that are possible.",
            "Prior of the mean distance and prior predictive of a single pair, per connection.",
        )
        folded.insert(0, _Part("The priors, drawn", figures=[figure]))
    return _about(fit.spec, use) | {"folded": folded}


def _models_of(run: Comparison, prob: float) -> list[dict[str, Any]]:
    models = [_model(run.original, prob, "for the distances before and after")]
    change = next((item.change for item in run.methods.values() if item.change is not None), None)
    if change is None:
        models[0]["notes"] = [
            *models[0]["notes"],
            "No model of the changes was needed: within each connection every pair changed by the same number.",
        ]
        return models
    return [_model(change, prob, "for the changes of single pairs"), *models]


def _trust_of_fit(fit: BiasFit, lacking: Sequence[str]) -> _Part:
    from bayesbias import figures as fg

    problems = fit.diagnostics()["problems"]
    sentences = [_sentence(text) for text in problems] or ["The chains agree and no transition diverged."]
    sentences.append(convergence(fit))
    sentences.append(_how_sampled(fit))
    sentences += [f"Look again: {_lower(_sentence(text))}" for text in lacking] or [
        "The residuals show nothing that pairs share and the model leaves out."
    ]
    predictive = _figure(
        "predictive",
        lambda ax: fg.plot_predictive(fit, ax=ax),
        canvas.size_ridges(len(_present(fit.table))),
        "The observed distances against tables that the fitted model would make: where the coloured curve leaves "
        "the grey ones, the model misses something.",
        "Densities of the observed distances per connection over those of replicated tables.",
    )
    return _Part(sentences=sentences, folded=[_Part("Would the model make such data?", figures=[predictive])])


def _trust_of_comparison(run: Comparison) -> _Part:
    state = run.diagnostics()
    sentences = [_sentence(f"fit of {text}") for text in state["problems"]] or [
        "In every fit the chains agree and no transition diverged."
    ]
    sentences.append(f"The original: {convergence(run.original)}")
    head = ["fit", "#R-hat, at most", "#effective draws, at least", "#divergences", "verdict"]
    rows = [
        [
            _Cell(name),
            _number(found["max_r_hat"]),
            _number(found["min_ess_bulk"], 0),
            _number(found["divergences"], 0),
            _Cell("well" if found["ok"] else "not to be trusted yet"),
        ]
        for name, found in state["fits"].items()
    ]
    return _Part(sentences=sentences, tables=[_Table("t-fits", "The fits", head, rows)])


def _again(fit: BiasFit, prob: float, rope: float) -> dict[str, Any]:
    source = fit.provenance.get("table", {})
    arguments = ["bayesbias", "fit"]
    notes: list[str] = []
    if "wordlist" in source and "embedding" in source:
        arguments += ["--embedding", _base(source["embedding"].get("source", "EMBEDDING"))]
        arguments += _wordlist_arguments(source["wordlist"], notes)
    else:
        arguments += ["--distances", _base(source.get("source", "pairs.csv"))]
    return _reproduction(arguments, "--model", fit.spec, fit.provenance, {"": source}, notes, (prob, rope))


def _again_comparison(run: Comparison, prob: float, rope: float) -> dict[str, Any]:
    tables = run.provenance["tables"]
    arguments = ["bayesbias", "compare"]
    notes: list[str] = []
    first = tables["original"]
    if "wordlist" in first and "embedding" in first:
        arguments += ["--original", _base(first["embedding"].get("source", "ORIGINAL"))]
        for name in run.methods:
            arguments += ["--debiased", _base(tables[name].get("embedding", {}).get("source", name))]
        arguments += _wordlist_arguments(first["wordlist"], notes)
    else:
        arguments += ["--original-distances", _base(first.get("source", "original.csv"))]
        for name in run.methods:
            arguments += ["--debiased-distances", _base(tables[name].get("source", f"{name}.csv"))]
    change = next((item.change for item in run.methods.values() if item.change is not None), None)
    spec = change.spec if change is not None else load_model("change")
    return _reproduction(arguments, "--model", spec, run.provenance, tables, notes, (prob, rope))


def _wordlist_arguments(about: Mapping[str, Any], notes: list[str]) -> list[str]:
    name, controls = str(about.get("name", "WORDLIST")), str(about.get("controls", ""))
    if name not in shipped_wordlists():
        notes.append(f"The word list {name} is your own: the file whose hash is given below.")
        name = f"{name}.toml"
    known = controls in shipped_controls() or controls == "none"
    return ["--wordlist", name, *(["--controls", controls] if known else [])]


def _glossary(table: pd.DataFrame, outcome: str, prob: float, rope: float) -> list[dict[str, str]]:
    scatter = table.groupby("connection", observed=True)["distance"].std().median()
    entries = {
        "Cosine distance": "How far apart two words lie in the vectors: 0 in the same direction, 1 unrelated, 2 "
        "opposite. Nearness shows that words are used alike. It is association; whether it does harm is a judgement "
        "that no number makes.",
        "Connection": "What a pair joins: "
        + "; ".join(f"{name} – {_KINDS[name]}" for name in _present(table))
        + ". Controls show how near words lie for no particular reason.",
        f"{prob:.0%} HPDI": f"The narrowest interval that holds the value with a probability of {prob:.0%}, given the "
        "data and the model.",
        f"ROPE, ±{rope:g}": "The region of practical equivalence: differences so small that they do not matter. "
        + (
            f"Single pairs of one connection here scatter with a standard deviation of {scatter:.2f}."
            if math.isfinite(scatter)
            else ""
        ),
        "New words, these words": "“New words” (the population) is the answer for words like those listed; of one class or "
        "one word it is “new attributes”. “These words” is the answer for this list and no other, and is surer "
        "because it claims less.",
    }
    if outcome == "change":
        entries["Change"] = (
            "The distance after debiasing minus that before, of the same pair. Differences of single pairs are modelled, "
            "so that what both tables share cancels."
        )
        entries["By construction"] = (
            "What the method forces to come out, whatever the vectors were. It is no evidence that the method worked."
        )
    else:
        entries["P(below 0), the first is"] = (
            "Of a difference such as associated − different: the probability that the first of the two lies nearer, and "
            "what its interval says of it: nearer or farther where it leaves the ROPE, perhaps by little where it "
            "excludes zero alone, practically equal inside the ROPE, else unclear."
        )
    entries["R-hat and effective draws"] = (
        "Whether the chains of the sampler agree, and how many independent draws theirs are worth."
    )
    return [{"label": label, "value": text} for label, text in entries.items()]


# -- the page -------------------------------------------------------------------------------------


def _rendered_page(context: Mapping[str, Any]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    folder = data_dir("report")
    script = (folder / "report.js").read_text(encoding="utf-8")
    css = (folder / "report.css").read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["attribute"] = lambda text: Markup.escape(_clean(str(text)))
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return environment.get_template("report.html.j2").render(
        **context,
        css=Markup(css),
        script=Markup(script),
        script_hash=Markup(digest),
        version=bayesbias.__version__,
    )


# -- words ----------------------------------------------------------------------------------------


def _present(table: pd.DataFrame) -> list[str]:
    found = set(table["connection"].astype(str))
    return [name for name in CONNECTIONS if name in found]


def _classes(table: pd.DataFrame) -> dict[str, str]:
    first = table.drop_duplicates("protected_word")
    return dict(zip(first["protected_word"].astype(str), first["protected_class"].astype(str), strict=True))


def _holds_for(estimand: str, within: bool) -> str:
    new = "new attributes" if within else "new words"
    return {"population": new, "these_words": "these words"}[estimand]
