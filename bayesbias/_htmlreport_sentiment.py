"""The parts of the HTML report on a fit of sentiment; `htmlreport` puts them on the page."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from bayesbias._htmlparts import (
    _about,
    _Cell,
    _Figure,
    _figure,
    _how_sampled,
    _interval,
    _interval_cell,
    _look_again,
    _minus,
    _not_trusted,
    _number,
    _parameters,
    _Part,
    _reproduction,
    _sentence,
    _share,
    _signed,
    _Table,
)
from bayesbias._reporting_sentiment import (
    ESTIMANDS,
    analysis_of,
    between_classifiers,
    contrasts_or_why_not,
    sentiment_doubts,
    sentiment_finding,
    sentiment_in_words,
    verdict,
)
from bayesbias._wording import number_of
from bayesbias.posterior import ROPE, BiasFit
from bayesbias.reporting import convergence
from bayesbias.sentiment import SentimentAnalysis

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["of_sentiment"]

_SCALE = {"difference": "probability of the positive class", "logit_difference": "log odds"}
_UNITS = {
    "sentence_pair": "a sentence pair, as published",
    "noun_pair": "a noun pair (mean over professions)",
    "profession": "a profession (mean over noun pairs)",
}
_PUBLISHED = "Bhaskaran & Bhallamudi (2019)"


def of_sentiment(fit: BiasFit, prob: float) -> dict[str, Any]:
    """Return what the page of a report on a fit of sentiment holds."""
    analysis = analysis_of(fit)
    names = analysis.classifiers
    state = fit.diagnostics()
    doubts = sentiment_doubts(fit)
    answer = []
    sentences = []
    for name in names:
        finding = sentiment_finding(fit, name, prob)
        answer.append(f"{name}. {finding}")
        sentences += [text for text in sentiment_in_words(analysis, fit, prob, name) if text != finding]
    sentences += between_classifiers(fit, prob)
    tests = _tests_table(analysis)
    return {
        "kicker": "Sentiment of sentences about women and men, pair by pair",
        "title": str(fit.provenance.get("table", {}).get("name", "Sentiment")),
        "question": "Are sentences about women and about men in the same professions rated alike, and does the answer hold for "
        "more than these sentences?",
        "warnings": _not_trusted(state["problems"]),
        "answer": answer,
        "doubts": _look_again(doubts),
        "facts": _facts(analysis, fit, prob) if len(names) == 1 else [],
        "answer_tables": [tests] if len(names) == 1 else [_classifiers_table(analysis, fit, prob), tests],
        "sentences": sentences,
        "data": _data(analysis, fit),
        "sections": _sections(analysis, fit, prob),
        "models": [_about(fit.spec, "") | {"folded": [_parameters(fit, prob)]}],
        "trust": _trust(fit, doubts),
        "again": _again(analysis, fit, prob),
        "glossary": _glossary(fit, prob),
    }


def _facts(analysis: SentimentAnalysis, fit: BiasFit, prob: float) -> list[dict[str, str]]:
    said = analysis.as_dict()
    pairs = next(row for row in said["units"] if row["unit"] == "noun_pair")
    facts = [
        {"label": "female − male, in probability", "value": _signed(said["f_minus_m"])},
        {"label": f"p of the t-test over {said['n']} sentence pairs", "value": _p(said["p_value"])},
        {"label": f"p over {pairs['n']} noun pairs", "value": _p(pairs["p_value"])},
    ]
    if fit.diagnostics()["ok"]:
        row = fit.summary(prob).iloc[0]
        facts.append(
            {
                "label": f"{prob:.0%} HPDI for new nouns and professions"
                + (", log odds" if fit.spec.outcome == "logit_difference" else ""),
                "value": _interval(row["hpdi_low"], row["hpdi_high"], signed=True),
            }
        )
    return facts


def _p(value: float | None) -> str:
    return "no test" if value is None else f"{value:.2g}".replace("-", "−")


def _p_cell(value: float | None) -> _Cell:
    return _Cell(_p(value), True, repr(float("inf") if value is None else float(value)))


def _t_cell(value: float | None) -> _Cell:
    return _Cell("no test", True) if value is None else _number(value, 2, signed=True)


# -- tables --------------------------------------------------------------------------------------------------


def _tests_table(analysis: SentimentAnalysis) -> _Table:
    rows = []
    for name in analysis.classifiers:
        said = analysis.as_dict(name)
        for row in (said | {"unit": "sentence_pair"}, *said["units"]):
            rows.append(
                [
                    _Cell(name),
                    _Cell(_UNITS[row["unit"]]),
                    _number(row["n"], 0),
                    _number(row["f_minus_m"], 4, signed=True),
                    _t_cell(row["t"]),
                    _p_cell(row["p_value"]),
                    _p_cell(row["p_bonferroni"]),
                ]
            )
    head = [
        "classifier",
        "one observation is",
        "#n",
        "#female − male",
        "#t (male − female)",
        "#p",
        "#p, Bonferroni",
    ]
    k = analysis.provenance["hypotheses"]
    note = (
        f"Bonferroni's correction is for {number_of(k, 'test')}. The first row of a classifier is the published test "
        f"({_PUBLISHED}); the others let noun pairs or professions be what varies."
    )
    return _Table("t-tests", "Paired t-tests of male against female", head, rows, note)


def _classifiers_table(analysis: SentimentAnalysis, fit: BiasFit, prob: float) -> _Table:
    frame = fit.summary(prob).set_index("classifier")
    rows = []
    for name in analysis.classifiers:
        said, r = analysis.as_dict(name), frame.loc[name]
        pairs = next(row for row in said["units"] if row["unit"] == "noun_pair")
        rows.append(
            [
                _Cell(name),
                _number(said["f_minus_m"], signed=True),
                _p_cell(said["p_value"]),
                _p_cell(pairs["p_value"]),
                _number(r["mean"], signed=True),
                _interval_cell(r["hpdi_low"], r["hpdi_high"], signed=True),
                _Cell(verdict(r["hpdi_low"], r["hpdi_high"]) if fit.diagnostics()["ok"] else "no conclusion"),
            ]
        )
    head = ["classifier", "#female − male", "#p, sentence pairs", "#p, noun pairs", "#model, new sentences"]
    head += [f"#{prob:.0%} HPDI", "verdict"]
    note = f"The model is of the {_SCALE[fit.spec.outcome]}, the tests of the probability."
    return _Table("t-classifiers", "The classifiers", head, rows, note)


def _overall_table(fit: BiasFit, prob: float) -> _Table:
    rows = []
    names = list(dict.fromkeys(fit.table["classifier"].astype(str)))
    for name in names:
        for estimand, holds in ESTIMANDS.items():
            frame = fit.summary(prob, estimand)
            at = frame["classifier"].tolist().index(name)
            r = frame.iloc[at]
            keys, draws = fit._levels(estimand)
            below = float((draws[..., keys.index(("overall", "all", name))] < 0).mean())
            rows.append(
                [
                    _Cell(name),
                    _Cell(holds),
                    _number(r["mean"], signed=True),
                    _number(r["sd"]),
                    _interval_cell(r["hpdi_low"], r["hpdi_high"], signed=True),
                    _share(below),
                    _Cell(verdict(r["hpdi_low"], r["hpdi_high"])),
                ]
            )
    head = ["classifier", "holds for", "#mean", "#sd", f"#{prob:.0%} HPDI", "#P(below 0)", "verdict"]
    caption = f"Female − male by the crossed model, in {_SCALE[fit.spec.outcome]}"
    return _Table("t-overall", caption, head, rows)


def _shares_table(fit: BiasFit, prob: float) -> _Table:
    rows = [
        [
            _Cell(name),
            _Cell({"noun_pair": "noun pairs", "profession": "professions"}.get(r.source, "single pairs")),
            _Cell(f"{r.mean:.1%}", True, repr(float(r.mean))),
            _Cell(f"{r.hpdi_low:.1%} to {r.hpdi_high:.1%}", True, repr(float(r.hpdi_low))),
        ]
        for name in dict.fromkeys(fit.table["classifier"].astype(str))
        for r in fit.shares(prob, group=name).itertuples()
    ]
    head = ["classifier", "between", "#share of the variance", f"#{prob:.0%} HPDI"]
    note = (
        "Where one source holds most of it, its number, and not that of sentences, says how sure one may be."
    )
    return _Table("t-shares", "Where the differences come from", head, rows, note)


def _level_table(analysis: SentimentAnalysis, fit: BiasFit, level: str, prob: float) -> _Table:
    raw = analysis.professions if level == "profession" else analysis.noun_pairs
    raw = raw.set_index(["classifier", level])
    means = {
        e: fit.means(level, prob, e).set_index(["classifier", "name"]) for e in ("these_words", "population")
    }
    noun, other = ("profession", "nouns") if level == "profession" else ("noun pair", "professions")
    rows = []
    for key, r in raw.iterrows():
        these, new = (means[e].loc[key] for e in ("these_words", "population"))
        row = [_Cell(str(key[1])), _Cell(str(key[0])), _number(r["p_male"]), _number(r["p_female"])]
        if level == "profession":
            row.append(_number(r["sentiment"]))
        row += [
            _number(r["difference"], signed=True),
            _number(these["mean"], signed=True),
            _interval_cell(these["hpdi_low"], these["hpdi_high"], signed=True),
            _interval_cell(new["hpdi_low"], new["hpdi_high"], signed=True),
        ]
        rows.append(row)
    head = [noun, "classifier", "#male", "#female", *(["#sentiment"] if level == "profession" else [])]
    head += ["#female − male", "#model", f"#{prob:.0%} HPDI, these {other}", f"#{prob:.0%} HPDI, new {other}"]
    in_ = "" if fit.spec.outcome == "difference" else " The model's columns are in log odds."
    return _Table(
        f"t-{level.replace('_', '-')}s", f"Every {noun}", head, rows,
        f"Male, female: mean probability of the positive class.{in_} The model's intervals are of means without the noise of "
        f"single sentence pairs, and draw alike {noun}s together: a raw mean may lie outside them.",
    )  # fmt: skip


def _contrasts_table(frame: pd.DataFrame, prob: float) -> _Table:
    rows = [
        [
            _Cell(_minus(r.contrast)),
            _Cell(ESTIMANDS[r.estimand]),
            _number(r.mean, signed=True),
            _interval_cell(r.hpdi_low, r.hpdi_high, signed=True),
            _share(r.p_below_zero),
        ]
        for r in frame.itertuples()
    ]
    head = ["difference of female − male", "holds for", "#mean", f"#{prob:.0%} HPDI", "#P(below 0)"]
    note = "Compared sentence pair by sentence pair, so that what two classifiers share cancels."
    return _Table("t-contrasts", "One classifier against another", head, rows, note)


def _control_table(frame: pd.DataFrame) -> _Table:
    rows = []
    for r in frame.to_dict("records"):
        t, p = (None if r[k] != r[k] or r[k] is None else float(r[k]) for k in ("t", "p_value"))
        rows.append(
            [
                _Cell(str(r["classifier"])),
                _number(r["n"], 0),
                _number(r["p_male"]),
                _number(r["p_female"]),
                _number(r["f_minus_m"], signed=True),
                _t_cell(t),
                _p_cell(p),
            ]
        )
    head = ["classifier", "#pairs", "#male", "#female", "#female − male", "#t (male − female)", "#p"]
    note = "A difference here does not come from a profession. That the test finds none does not show that there is none."
    return _Table("t-control", "Sentences without a profession", head, rows, note)


def _earnings_table(frame: pd.DataFrame) -> _Table:
    rows = [
        [
            _Cell(str(r.classifier)),
            _Cell({"pearson": "Pearson", "spearman": "Spearman"}[str(r.method)]),
            _number(r.r, 2, signed=True),
            _interval_cell(r.low, r.high, signed=True),
            _p_cell(float(r.p_value)),
            _number(r.n, 0),
        ]
        for r in frame.itertuples()
    ]
    level = f"{float(frame['prob'].iloc[0]):.0%}"
    head = ["classifier", "correlation", "#r", f"#{level} interval", "#p", "#professions"]
    return _Table("t-earnings", "Earnings and sentiment", head, rows)


# -- sections ------------------------------------------------------------------------------------------------


def _sections(analysis: SentimentAnalysis, fit: BiasFit, prob: float) -> list[_Part]:
    from bayesbias import _figures_sentiment as fs

    names = analysis.classifiers
    several = len(names) > 1

    def each(id_: str, draw: Any, size: tuple[float, float], caption: str, alt: str) -> list[_Figure]:
        return [
            _figure(
                f"{id_}-{number}",
                functools.partial(draw, name),
                size,
                f"{name}: {caption}" if several else caption,
                f"{name}: {alt}",
            )
            for number, name in enumerate(names, 1)
        ]

    pairs = each(
        "noun-pairs",
        lambda name, ax: fs.plot_noun_pairs(fit, prob, ax, classifier=name),
        fs._size_forest(fit, "noun_pair", 1),
        "Female − male of every noun pair. What lies far from zero carries the mean.",
        "raw mean, posterior mean and HPDI of female minus male for each noun pair; the numbers are in the table.",
    )
    professions = each(
        "professions",
        lambda name, ax: fs.plot_professions(fit, prob, ax, classifier=name),
        fs._size_forest(fit, "profession", 1),
        "Female − male of every profession. With new nouns all professions share what those nouns would bring.",
        "raw mean, posterior mean and HPDI of female minus male for each profession; the numbers are in the table.",
    )
    genders = each(
        "genders",
        lambda name, ax: fs.plot_genders(analysis, ax, classifier=name),
        (7.0, 6.2),
        "The mean probability of male against that of female sentences, per profession.",
        "one point per profession, male against female mean probability; the numbers are in the table.",
    )
    parts = [
        _Part("Overall", tables=[_overall_table(fit, prob), _shares_table(fit, prob)]),
        _Part("Noun pairs", figures=pairs, tables=[_level_table(analysis, fit, "noun_pair", prob)]),
        _Part(
            "Professions",
            figures=professions,
            tables=[_level_table(analysis, fit, "profession", prob)],
            folded=[_Part("Male against female, drawn", figures=genders)],
        ),
    ]
    if several:
        frame, _ = contrasts_or_why_not(fit, prob)
        if frame is not None:
            parts.append(_Part("The classifiers against each other", tables=[_contrasts_table(frame, prob)]))
    if len(analysis.control):
        parts.append(_Part("Control experiment", tables=[_control_table(analysis.control)]))
    if len(analysis.earnings):
        earnings = analysis.provenance["earnings"]
        drawn = each(
            "earnings",
            lambda name, ax: fs.plot_earnings(analysis, earnings, ax=ax, classifier=name),
            (7.0, 4.8),
            "Median weekly earnings and mean sentiment of the professions that have earnings.",
            "one point per profession with the interval of its mean; the correlations are in the table.",
        )
        parts.append(
            _Part("Earnings and sentiment", figures=drawn, tables=[_earnings_table(analysis.earnings)])
        )
    return parts


def _data(analysis: SentimentAnalysis, fit: BiasFit) -> dict[str, Any]:
    table, names = fit.table, analysis.classifiers
    n = len(table) // max(1, len(names))
    pairs, professions = (list(dict.fromkeys(table[c].astype(str))) for c in ("noun_pair", "profession"))
    sentences = [
        f"{n:,} pairs of sentences, each of one noun pair and one profession: {number_of(len(pairs), 'noun pair')} and "
        f"{number_of(len(professions), 'profession')}, predicted by {number_of(len(names), 'classifier')} ({', '.join(names)}). "
        "The two sentences of a pair differ in gender alone; the difference female − male of their probabilities of "
        "the positive class is one observation."
    ]
    if not len(analysis.control):
        sentences.append("There are no predictions for control sentences.")
    about = analysis.provenance
    rows = [
        [_Cell(name), _Cell(str(of.get("kind", "not known"))), _Cell(_told(of))]
        for name, of in about.get("classifiers", {}).items()
    ]
    tables = []
    if rows:
        head = ["classifier", "is", "what is known of it"]
        tables.append(_Table("t-origin", "Where the predictions come from", head, rows))
    words = [{"title": "Noun pairs", "words": pairs}]
    for category in dict.fromkeys(table["category"].astype(str)):
        found = dict.fromkeys(table.loc[table["category"].astype(str) == category, "profession"].astype(str))
        words.append({"title": f"Professions: {category}", "words": list(found)})
    return {
        "sentences": sentences,
        "tables": tables,
        "notes": [_sentence(note) for note in analysis.notes],
        "words": words,
    }


def _told(about: dict[str, Any]) -> str:
    shown = {
        k: v for k, v in about.items() if k not in ("kind", "sha256") and isinstance(v, str | int | float)
    }
    return "; ".join(f"{k.replace('_', ' ')}: {v}" for k, v in shown.items()) or "nothing"


def _trust(fit: BiasFit, doubts: list[str]) -> _Part:
    from bayesbias import _canvas as canvas
    from bayesbias import _figures_sentiment as fs

    problems = fit.diagnostics()["problems"]
    sentences = [_sentence(text) for text in problems] or ["The chains agree and no transition diverged."]
    sentences += [convergence(fit), _how_sampled(fit)]
    sentences += [f"Look again: {_sentence(text, ' ').strip()}" for text in doubts]
    predictive = _figure(
        "predictive",
        lambda ax: fs.plot_sentiment_predictive(fit, ax=ax),
        canvas.size_ridges(fit.table["classifier"].nunique()),
        "The observed differences against tables that the fitted model would make: where the coloured curve leaves the "
        "grey ones, the model misses something.",
        "Densities of the observed differences per classifier over those of replicated tables.",
    )
    return _Part(sentences=sentences, folded=[_Part("Would the model make such data?", figures=[predictive])])


def _again(analysis: SentimentAnalysis, fit: BiasFit, prob: float) -> dict[str, Any]:
    about = analysis.provenance
    arguments = ["bayesbias", "sentiment"]
    notes: list[str] = []
    inputs: dict[str, Any] = {}
    files, others = [], []
    positive: set[str] = set()
    pickled = False
    for name in analysis.classifiers:
        of = about.get("classifiers", {}).get(name, {})
        source = str(of.get("file") or of.get("source") or of.get("folder") or f"{name}.csv")
        kind = str(of.get("kind", ""))
        if kind in ("", "predictions", "callable") or (
            "file" not in of and "source" not in of and "folder" not in of
        ):
            shipped = str(of.get("comment", "")).endswith("tools/predict_m1.py")
            files.append((name, "m1" if shipped else source))
        else:
            scheme = "transformers:" if kind == "Hugging Face model" else "joblib:" if "file" in of else ""
            others.append((name, f"{scheme}{source}"))
            if kind == "Hugging Face model" or "file" in of:
                positive.add(str(of.get("positive")))
            pickled = pickled or (scheme == "joblib:")
        if "sha256" in of:
            inputs[name] = {"sha256": of["sha256"], "source": source, "noun": kind or "predictions"}
    if any(about.get("classifiers", {}).get(name, {}).get("kind") in (None, "callable") for name, _ in files):
        notes.append(
            "Predictions that came from memory have to be saved to a file first (`Predictions.save`)."
        )
    for option, found in (("--predictions", files), ("--classifier", others)):
        for _, source in found:
            arguments += [option, source]
    for name, _ in [*files, *others]:
        arguments += ["--name", name]
    if len(positive) == 1 and "None" not in positive:
        arguments += ["--positive", *positive]
    arguments += ["--allow-pickle"] if pickled else []
    words = about.get("occupations", {})
    if words:
        if words.get("file") != "occupations.toml":
            arguments += ["--words", str(words.get("file") or "words.toml")]
        inputs["sentences"] = {"sha256": words["sha256"], "source": words["name"], "noun": "list"}
    if about["hypotheses"] != len(analysis.classifiers):
        arguments += ["--hypotheses", str(about["hypotheses"])]
    inputs = {re.sub(r"\s+", " ", name): of for name, of in inputs.items()}
    return _reproduction(arguments, "--model", fit.spec, fit.provenance, inputs, notes, (prob, ROPE))


def _glossary(fit: BiasFit, prob: float) -> list[dict[str, str]]:
    entries = {
        "Sentiment": "The probability that a classifier gives to the positive class, here of sentences that only say "
        "what somebody is. A difference shows that the classifier treats words differently; what harm that does "
        "depends on what it is used for.",
        "Female − male": "The probability of the female sentence minus that of the male one. The t of the published "
        "tests has the other sign, male − female.",
        "Noun pair": "The two nouns that make the sentences of a pair differ, such as My father / My mother. Each meets "
        "every profession, so its luck is in as many sentence pairs as there are professions.",
        f"{prob:.0%} HPDI": f"The narrowest interval that holds the value with a probability of {prob:.0%}, given the "
        "data and the model.",
        "Holds for": "New nouns and professions: for sentences like these made of other words. These sentences alone: for "
        "this list and no other, which is surer because it claims less.",
        "R-hat and effective draws": "Whether the chains of the sampler agree, and how many independent draws theirs are "
        "worth.",
    }
    if fit.spec.outcome == "logit_difference":
        entries["Log odds"] = (
            "The logarithm of the probability of the positive class over that of the negative one. It gives "
            "differences near 0 and 1 as much weight as those in the middle, where probabilities can move farther."
        )
    return [{"label": label, "value": text} for label, text in entries.items()]
