"""What is found is one value, and everybody prints that value."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.fits import made_up, pairs

import bayesbias
from bayesbias.cli.fitting import fit_json
from bayesbias.core.digits import ends_as_known
from bayesbias.core.errors import InputError
from bayesbias.findings.change import construction_sentences, findings_of_change
from bayesbias.findings.of_result import finding, findings_of
from bayesbias.findings.parts import Doubt, Effect, Findings
from bayesbias.findings.trust import convergence
from bayesbias.inference.engine import Engine
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.verdicts import Verdict, contrast_verdict, method_verdict, place, side
from bayesbias.runs.layout import Content
from bayesbias.runs.words import LAYOUT
from bayesbias.studies.comparison import Comparison, Method
from bayesbias.studies.construction import find_construction
from bayesbias.studies.sentiment import analysis_of_table
from bayesbias.studies.sentiment_fit import classifier_contrasts
from bayesbias.tables.change import join_pairs
from bayesbias.tables.sentiment import sentiment_table

pytestmark = pytest.mark.slow  # results of every kind are made

NEAR = {"associated": 0.5, "different": 0.9, "human": 0.95, "neutral": 1.0}


def crossed(table, mean, sd=0.005, **how):
    """Draws of the crossed model around a mean for each connection, or for each word and connection."""
    of = mean if callable(mean) else lambda word, connection: mean[connection]
    values = {
        "c": of,
        "cbar": lambda connection: np.mean([of(word, connection) for word in ("x0", "y0")]),
        "csd": 0.1, "ws": 0.1, "sigma": 0.1,
    }  # fmt: skip
    return made_up(table, "crossed", values, sd, **how)


# -- verdicts --------------------------------------------------------------------------------------


def test_an_interval_lies_in_one_of_six_ways():
    ends = [(-0.5, -0.1), (-0.1, -0.01), (-0.02, 0.02), (-0.1, 0.1), (0.01, 0.1), (0.1, 0.5)]
    assert [place(*pair) for pair in ends] == list(Verdict)
    assert [side(*pair) for pair in ends] == [
        Verdict.BELOW, Verdict.BELOW, Verdict.OPEN, Verdict.OPEN, Verdict.ABOVE, Verdict.ABOVE,
    ]  # fmt: skip
    words = [contrast_verdict(*pair) for pair in ends]
    assert words == [
        "nearer", "nearer, perhaps by little", "practically equal", "unclear", "farther, perhaps by little", "farther",
    ]  # fmt: skip
    assert [method_verdict(*pair) for pair in ends[3:]] == [
        "no evidence of a difference", "farther from zero, perhaps by little", "farther from zero",
    ]  # fmt: skip
    with pytest.raises(InputError, match="rope"):
        place(0, 1, 0)


# -- the value -------------------------------------------------------------------------------------


def test_the_value_is_frozen_equal_by_content_and_short_in_repr():
    doubt = Doubt(
        "word", "words go together", Effect.TOO_WIDE, contrast="associated - different", model="shared"
    )
    value = Findings(
        "a table",
        "near",
        ("by class",),
        ("first",),
        (doubt,),
        ("R-hat is 2",),
        notes=("missing: a ...",),
        trust="well",
    )
    assert value == dataclasses.replace(value)
    assert hash(value) == hash(dataclasses.replace(value))
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.headline = "far"  # type: ignore[misc]
    assert str(value) == "near"
    assert (
        repr(value) == "<Findings on a table: 1 sentence, 1 doubt, 1 problem, 1 note; to be read in .lines()>"
    )
    assert value.lines() == [
        "first", "near", "by class", "Look again: words go together.", "NOT TO BE TRUSTED YET: R-hat is 2.",
        "Note: missing: a ...",
    ]  # fmt: skip
    assert dataclasses.replace(value, problems=()).lines()[4] == "well"
    assert json.loads(json.dumps(value.as_dict()))["doubts"] == [
        {"kind": "word", "text": "words go together", "effect": "too wide", "level": None, "group": None,
         "contrast": "associated - different", "model": "shared", "parameter": None}
    ]  # fmt: skip


def test_lines_of_parts_bear_their_lead_and_come_first():
    parts = tuple(Findings(name, "closed", notes=("cut",), lead=f"{name}: ") for name in ("a", "b"))
    whole = Findings("both", "a: closed b: closed", ("a against b.",), parts=parts, problems=("a: bad",))
    assert whole.lines() == [
        "a: closed", "Note: a: cut.", "b: closed", "Note: b: cut.", "a against b.", "NOT TO BE TRUSTED YET: a: bad.",
    ]  # fmt: skip
    assert whole.statements() == ["a against b."]


# -- fits of distances -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("associated", "sd", "says"),
    [
        (0.5, 0.005, "are nearer than"),
        (1.3, 0.005, "are farther than"),
        (0.9, 0.002, "are practically as near as"),
        (0.87, 0.01, "are nearer, though perhaps by little, than"),
        (0.9, 0.1, "are not clearly nearer or farther than"),
    ],
)
def test_the_headline_says_what_the_interval_says(associated, sd, says):
    mean = NEAR | {"associated": associated}
    fit = crossed(pairs(mean), mean, sd)
    found = findings_of(fit)
    row = fit.contrasts(estimand="population").iloc[0]
    assert (
        f"made up: on average over new words like these, the stereotypes of a word's own class {says}"
        in found.headline
    )
    assert " to ".join(ends_as_known(row, signed=True)) in found.headline
    assert found.problems == found.notes == ()
    # Draws made up around one mean for all words are not those of the pairs.
    assert [doubt for doubt in found.doubts if doubt.kind != "observed_excluded"] == []
    assert found.lines()[0] == finding(fit) == found.headline
    assert found.lines()[-1] == found.trust == "The chains agree and no transition diverged."


def test_classes_that_disagree_are_in_the_headline():
    def mean(word, connection):
        return NEAR[connection] if connection != "associated" else 0.6 if word[0] == "x" else 1.2

    table = pairs(NEAR)
    table["distance"] = [
        mean(w, c) for w, c in zip(table["protected_word"], table["connection"], strict=True)
    ]
    found = findings_of(crossed(table, mean))
    assert "The classes disagree: nearer for x, farther for y." in found.headline
    assert "By class, own stereotypes less others (its listed words, new attributes): x -0.3" in " ".join(
        found.sentences
    )
    assert found.sentences[-1] == (
        "By word (new attributes), the interval lies below zero for 3 of 6 protected words (x0, x1, x2) and above it for 3 "
        "(y0, y1, y2)."
    )


def grouped(kind: str) -> pd.DataFrame:
    """A table in which pairs of a class and an attribute, or all pairs of a word, go together."""
    table = pairs(NEAR)
    rng = np.random.default_rng(3)
    if kind in ("class_and_attribute", "both"):
        groups = table.groupby(["protected_class", "attribute"], sort=False).ngroup()
        table["distance"] += rng.normal(0, 0.2, groups.max() + 1)[groups]
    if kind in ("word", "both"):
        groups = table.groupby("protected_word", sort=False).ngroup()
        table["distance"] += 0.15 * groups * np.where(table["connection"].isin(["human", "neutral"]), 0, 1)
    return table


@pytest.mark.parametrize(
    ("kind", "effects", "how"),
    [
        ("class_and_attribute", ["too narrow"], "leaves out:"),  # of classes, which the headline is not about
        ("word", ["too wide"], "leaves out, and this interval is too wide:"),
        ("both", [None, None], "leaves out:"),  # one makes it too narrow, the other too wide
    ],
)
def test_doubts_name_their_effect_and_the_model_as_data(kind, effects, how):
    table = grouped(kind)
    cell = table.groupby(["protected_word", "connection"])["distance"].mean()
    found = findings_of(crossed(table, lambda word, connection: cell[word, connection]))
    doubts = [doubt for doubt in found.doubts if doubt.kind in ("class_and_attribute", "word")]
    assert [doubt.effect for doubt in doubts] == effects
    assert {doubt.model for doubt in doubts} == {"default"}
    assert {doubt.kind: (doubt.level, doubt.contrast) for doubt in doubts}.items() <= {
        "class_and_attribute": ("class", None), "word": ("overall", "associated - different"),
    }.items()  # fmt: skip
    assert f"{how} fit the model cells as well." in found.headline
    assert [line for line in found.lines() if line.startswith("Look again: ")] == [
        f"Look again: {doubt.text}." for doubt in found.doubts
    ]
    kind_of = table["connection"].where(table["connection"].isin(["human", "neutral"]), "stereotype")
    with_terms = made_up(
        table.assign(attribute_kind=kind_of),
        "shared",
        {"c": lambda word, connection: cell[word, connection], "sigma": 0.2},
    )
    assert {doubt.kind for doubt in findings_of(with_terms).doubts} <= {"observed_excluded"}


def test_nothing_is_concluded_from_chains_that_lie_apart():
    fit = crossed(pairs(NEAR), NEAR, apart=0.1)
    found = findings_of(fit)
    assert found.headline.startswith(
        "made up: no conclusion, since the sampler cannot be believed yet: R-hat reaches"
    )
    assert found.sentences == ()
    assert found.problems == tuple(fit.diagnostics()["problems"]) != ()
    assert f"NOT TO BE TRUSTED YET: {found.problems[0]}." in found.lines()
    assert found.trust not in found.lines()


def test_missing_words_are_notes():
    coverage = {
        "notes": ["2 repeated rows counted once"],
        "protected": {"x": {"listed": 4, "found": 3, "missing": ["x3"]}},
        "attributes": {"y": {"listed": 13, "found": 3, "missing": list("abcdefghij")}},
        "matched": {"x0": "X0"},
    }
    assert findings_of(crossed(pairs(NEAR), NEAR, coverage=coverage)).notes == (
        "2 repeated rows counted once",
        "missing: 1 of 4 protected words of x: x3",
        "missing: 10 of 13 attributes of y: a, b, c, d, e, f, g, h ...",
        "1 word found in another spelling: x0 as X0",
    )


def test_a_table_without_two_connections_has_a_headline_too():
    found = findings_of(crossed(pairs({"neutral": 1.0}), {"neutral": 1.0}))
    assert "holds no two connections" in found.headline
    assert found.sentences == ()


def test_what_is_no_result_is_refused():
    with pytest.raises(InputError, match="says nothing by itself; found: 'DataFrame'"):
        findings_of(pairs())


def test_json_and_folder_hold_the_value(tmp_path):
    fit = crossed(grouped("word"), NEAR)
    found = findings_of(fit, 0.8, 0.05)
    payload = fit_json(fit, 0.8, 0.05, 0.2)
    assert payload["finding"] == found.headline
    assert payload["shortcomings"] == [doubt.text for doubt in found.doubts] != []
    assert payload["findings"] == found.as_dict()
    of = Content(fit, 0.8, 0.05, 0.2)
    assert LAYOUT.files["result.txt"](of).splitlines() == found.lines()


# -- comparisons -----------------------------------------------------------------------------------


def comparison(*shifts: float, apart: float = 0.0) -> Comparison:
    before = pairs(NEAR)
    original = crossed(before, NEAR)
    methods = {}
    for shift in shifts:
        name = f"by {shift:g}"
        mean = NEAR | {"associated": NEAR["associated"] + shift}
        after = before.assign(distance=before["distance"] + shift * (before["connection"] == "associated"))
        joined, account = join_pairs(before, after)
        account = {**account, "notes": ["one pair is left out"]}
        exact = {c: shift * (c == "associated") for c in NEAR}
        methods[name] = Method(
            name, joined, account, None, exact, crossed(after, mean, apart=apart), find_construction(joined)
        )
    provenance = {"original": "made up", "order": list(methods), "model": {"name": "change"}}
    return Comparison(original, methods, {}, provenance)


def test_a_comparison_says_construction_first_and_keeps_parts_apart():
    found = findings_of(comparison(0.4))
    (part,) = found.parts
    assert (part.subject, part.lead) == ("by 0.4", "")
    assert part.premises == (
        "no distance to a control word changed, so that no drift of the controls could come out.",
    )
    assert part.headline.startswith("of new words treated likewise, associated - different was -0.40")
    assert ": moved); it is now" in part.headline
    assert part.sentences[0].startswith("This is of words that the method treats as it treated these")
    assert [text.split(":")[0] for text in part.sentences][1:5] == [
        "By class, own stereotypes less others, after (its listed words, new attributes)",
        "human control words", "neutral control words", "control words, before and after",
    ]  # fmt: skip
    assert part.doubts == ()
    assert part.notes == ("one pair is left out",)
    assert found.lines() == [
        *part.premises, part.headline, *part.sentences, "Note: one pair is left out.", found.trust,
    ]  # fmt: skip
    assert found.headline == part.headline


def test_what_is_left_of_the_geometry_stands_before_everything_else():
    rng = np.random.default_rng(4)
    kept = comparison(0.4)
    item = kept.methods["by 0.4"]

    def of(debiased: np.ndarray, **labels: Any) -> Findings:
        pairs = item.pairs.assign(debiased=debiased, **labels)
        pairs["change"] = pairs["debiased"] - pairs["original"]
        other = dataclasses.replace(item, pairs=pairs)
        (part,) = findings_of(Comparison(kept.original, {"by 0.4": other}, {}, kept.provenance)).parts
        return part

    before = item.pairs["original"].to_numpy()
    noise = before.mean() + before.std() * rng.normal(size=len(before))
    for part, kind in (
        (of(noise), "geometry_unknown"),  # four control words are too few
        (of(noise, connection="associated"), "geometry_unknown"),
        (of(before), "identical"),
    ):
        (doubt,) = part.doubts
        assert (doubt.kind, doubt.decides, doubt.effect) == (kind, True, None)
        assert part.lines()[0] == part.statements()[0] == doubt.line
        assert doubt.line.startswith("READ THIS FIRST: ")
        assert part.lines().count(doubt.line) == 1
        assert part.as_dict()["doubts"][0]["kind"] == kind
    assert of(item.pairs["debiased"].to_numpy()).doubts == ()


def test_nothing_is_concluded_of_a_method_whose_fit_has_not_converged():
    found = findings_of_change(comparison(0.4, apart=0.1))
    assert found.parts[0].headline.startswith("no conclusion, since the sampler cannot be believed yet")
    assert found.parts[0].sentences == ()
    assert found.problems[0].startswith("by 0.4, after: R-hat")


def test_construction_has_a_short_repr_and_its_sentences_elsewhere():
    construction = comparison(0.4).methods["by 0.4"].construction
    assert repr(construction) == "Construction: controls_untouched"
    assert len(construction_sentences(construction)) == 1
    assert "sentences" not in construction.as_dict()


# -- sentiment -------------------------------------------------------------------------------------


def ratings(*classifiers: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        (name, f"sentence {i} {j} {gender}", gender, f"He {i} / She {i}", f"job {j}", "any", False,
         float(np.clip(0.5 + 0.05 * (gender == "female") + rng.normal(0, 0.02), 0, 1)))
        for name in classifiers for i in range(6) for j in range(5) for gender in ("male", "female")
    ]  # fmt: skip
    columns = [
        "classifier",
        "sentence",
        "gender",
        "noun_pair",
        "profession",
        "category",
        "control",
        "probability",
    ]
    return pd.DataFrame(rows, columns=columns)


def test_an_analysis_without_a_model_says_what_its_tests_say():
    found = findings_of(analysis_of_table(sentiment_table(ratings("a", "b"))))
    assert [part.subject for part in found.parts] == ["a", "b"]
    assert found.parts[0].headline.startswith("a: female sentences are rated 0.0")
    assert found.parts[0].premises == ()
    assert found.headline == " ".join(part.headline for part in found.parts)
    assert found.doubts == found.problems == ()


@pytest.mark.parametrize("apart", [0.0, 0.5])
def test_a_fit_of_sentiment_puts_what_was_observed_before_what_the_model_says(apart):
    table = sentiment_table(ratings("a"))
    fit = made_up(table, "sentiment", apart=apart)
    found = findings_of(fit)
    (part,) = found.parts
    assert part.premises[0].startswith("a: female sentences are rated")
    assert part.headline.startswith(
        "No conclusion from the model" if apart else "Crossed model: for new nouns"
    )
    assert bool(found.problems) == bool(apart)
    assert not any("HPDI" in text for text in found.lines()) or not apart
    assert found.headline == f"a: {part.headline[0].lower()}{part.headline[1:]}"


def test_the_fit_between_classifiers_is_made_once_and_said(monkeypatch):
    from bayesbias.inference import fitting

    fit = made_up(sentiment_table(ratings("a", "b")), "sentiment")
    calls = []

    def sampled(rows, spec, **how):
        calls.append(how)
        return made_up(rows.reset_index(drop=True), "sentiment")

    monkeypatch.setattr(fitting, "fit", sampled)
    assert classifier_contrasts(fit)["contrast"].unique().tolist() == ["a - b"]
    assert "a - b: compared sentence pair by sentence pair" in findings_of(fit).sentences[0]
    assert len(calls) == 1


def test_differences_however_small_are_printed_with_their_digits():
    one = ratings("a")
    female = one["gender"] == "female"
    other = one.assign(classifier="b", probability=one["probability"] - 0.00002 * female)
    fit = made_up(sentiment_table(pd.concat([one, other], ignore_index=True)), "sentiment")
    said = "a - b: the differences female - male of the two are the same but for +0.000020, in every sentence pair."
    assert said in findings_of(fit).sentences
    noise = np.random.default_rng(0).normal(0, 1e-6, len(one))
    near = one.assign(probability=0.5 + (0.00002 + noise) * female)
    fit = made_up(sentiment_table(near), "sentiment_logit")
    (text,) = [line for line in findings_of(fit).lines() if "Of log odds" in line]
    assert re.search(r"Of log odds \(female - male \+0\.0000\d{2}\)", text), text


# -- nobody reads prose back -----------------------------------------------------------------------

PACKAGE = Path(bayesbias.__file__).parent
READERS = ("inference", "studies", "findings", "sweeps", "figures", "runs", "report", "cli")
SEARCHES = {
    "startswith", "endswith", "removeprefix", "removesuffix", "find", "index", "partition", "split", "match", "search",
    "fullmatch", "findall", "count",
}  # fmt: skip
PROSE = re.compile(
    r"[A-Za-z]{2,} [A-Za-z]{2,}"
)  # two words; the names of contrasts have a minus between them
DATA = {"static tokens", "Hugging Face model"}  # identifiers of two words
FIELDS = {"headline", "premises", "sentences", "doubts", "problems", "line", "lines", "statements", "closing"}


def reads_prose(idata: ast.AST) -> list[int]:
    """Return the lines that compare or search texts of two words, or what a finding says."""

    def is_prose(node: ast.AST) -> bool:
        return any(
            (
                isinstance(part, ast.Constant)
                and isinstance(part.value, str)
                and part.value not in DATA
                and PROSE.search(part.value)
            )
            or (isinstance(part, ast.Attribute) and part.attr in FIELDS)
            for part in ast.walk(node)
        )

    lines = []
    for node in ast.walk(idata):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SEARCHES
        ):
            sides = [node.func.value, *node.args]
        else:
            continue
        if any(map(is_prose, sides)):
            lines.append(node.lineno)
    return lines


def test_the_search_for_readers_of_prose_finds_them():
    for code in (
        'any("too narrow" in doubt for doubt in doubts)',
        "text != found.headline",
        "[text for text in found.sentences if text not in other.sentences]",
        'doubt.line.startswith("Look again")',
        'text.removesuffix(" and more")',
    ):
        assert reads_prose(ast.parse(code)), code
    for code in ('name == "associated - different"', 'kind in ("fit", "change")', "if found.doubts: pass"):
        assert not reads_prose(ast.parse(code)), code


def test_no_room_decides_by_prose():
    rooms = [path for folder in READERS for path in (PACKAGE / folder).rglob("*.py")]
    assert len(rooms) > 50
    wrong = {
        str(path.relative_to(PACKAGE)): lines
        for path in rooms
        if (lines := reads_prose(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert wrong == {}


def test_weighted_draws_are_trusted_by_their_weights():
    mean = NEAR | {"associated": 0.85}
    made = crossed(pairs(mean), mean, 0.005)
    sampler = made.provenance["sampler"] | {
        "engine": Engine("quick", "quick", 0.31, 900.0, 2000, 1).as_dict()
    }
    fit = BiasFit(made.idata, made.table, made.spec, {**made.provenance, "sampler": sampler})
    assert findings_of(fit).trust == (
        "The weights of its draws can be trusted (Pareto k 0.31, limit 0.7), and independent samples agree."
    )
    assert "Pareto k is 0.31" in convergence(fit)
    assert "diverged" not in convergence(fit)
