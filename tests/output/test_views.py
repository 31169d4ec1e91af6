"""Every kind of result obeys the view: interval, ROPE, and the contract of its study."""

import ast
import inspect
import json
import os
import re

import numpy as np
import pytest
from helpers.pages import unrendered
from helpers.places import PACKAGE

import bayesbias as bb
from bayesbias.core.result import Result
from bayesbias.output import registry
from bayesbias.studies.study import Study
from output.results import MAKERS, sweep

INTERVAL = re.compile(r"\[([-+\N{MINUS SIGN}]?[\d.]+), ([-+\N{MINUS SIGN}]?[\d.]+)\]")
KINDS = {
    "association": "fit",
    "groups": "groups",
    "corpora": "corpora",
    "debiasing": "comparison",
    "replicates": "replicates",
    "sentences": "seat_with_fits",
    "sentiment": "sentiment_with_fit",
    "wefat": "wefat",
    "responses": "responses",
    "sweep": "sweep",
}


# The short run of continuous integration takes those that once showed an interval of their own.
SHORT = ("sentences", "sentiment", "wefat", "sweep")


@pytest.fixture(
    scope="module", params=SHORT if os.environ.get("BAYESBIAS_TEST_SHORT") else registry.KINDS
)
def result(request, tmp_path_factory):
    name = KINDS[request.param]
    made = sweep(str(tmp_path_factory.mktemp("sweep"))) if name == "sweep" else MAKERS[name]()
    assert made.study == request.param
    return made


# All values lie in the one ROPE, and practically none in the other.
WIDE, NARROW = 100.0, 1e-6
WIDTH_OF_A_ROPE = re.compile(r"\(\N{PLUS-MINUS SIGN}[^)]*\)")
WITHOUT_ROWS_OF_A_ROPE = ("sentiment",)
# The published test of SEAT asks whether there is an effect, not whether it is large: its headline
# has no ROPE. The tables of the fits beside it have one.
WITHOUT_A_ROPE_IN_ITS_HEADLINE = ("sentences",)


def rows_with_a_rope(answer: object) -> list[dict]:
    """Return the rows of JSON that have a probability of lying in the ROPE."""
    rows = []

    def visit(value: object) -> None:
        if isinstance(value, dict):
            if "p_in_rope" in value:
                rows.append(value)
            for part in value.values():
                visit(part)
        elif isinstance(value, list):
            for part in value:
                visit(part)

    visit(answer)
    return rows


def width_of_text(text: str) -> float:
    """Return the mean width of all intervals of a text, or of a page without scripts and records."""
    text = re.sub(r"(?s)<(style|script|pre)\b.*?</\1>", "", text)
    ends = np.array(
        [
            [float(end.replace("\N{MINUS SIGN}", "-")) for end in pair]
            for pair in INTERVAL.findall(text)
        ]
    )
    return float(np.ptp(ends, axis=1).mean())


def width_of_json(answer: object) -> float:
    """Return the mean width of all intervals in the rows of JSON."""
    widths = []

    def visit(value: object) -> None:
        if isinstance(value, dict):
            for name in ("hpdi", "standardized"):
                if isinstance(value.get(f"{name}_low"), float):
                    widths.append(value[f"{name}_high"] - value[f"{name}_low"])
            for part in value.values():
                visit(part)
        elif isinstance(value, list):
            for part in value:
                visit(part)

    visit(answer)
    return float(np.mean(widths))


@pytest.mark.slow
def test_every_kind_shows_the_probability_that_is_asked_for(result, tmp_path, monkeypatch):
    unrendered(monkeypatch)
    widths = {}
    for prob in (0.5, 0.89):
        view = bb.View(prob=prob)
        folder = tmp_path / f"run-{prob}"
        bb.save_run(result, folder, view=view, figures=())
        terminal = bb.output.to_text(result, view)
        page = bb.write_report(result, tmp_path / "page.html", view=view).read_text("utf-8")
        assert f"{prob:.0%} HPDI" in terminal or f"{prob:.0%} interval" in terminal
        assert bb.output.to_text(bb.load_run(folder).result, view) == terminal
        assert json.loads((folder / "run.json").read_text())["view"]["prob"] == prob
        widths[prob] = {
            "terminal": width_of_text(terminal),
            "page": width_of_text(page),
            "json": width_of_json(bb.output.to_json(result, view)),
            "folder": width_of_text((folder / "result.txt").read_text("utf-8")),
        }
    # An interval of 50 % of a normal posterior is .42 times as wide as one of 89 %.
    for output, width in widths[0.5].items():
        assert 0.3 < width / widths[0.89][output] < 0.6, output


@pytest.mark.slow
def test_a_rope_is_obeyed_or_refused(result):
    if not result.has_rope:
        with pytest.raises(bb.InputError, match="ROPE"):
            bb.output.to_text(result, bb.View(rope=0.5))
        return
    headlines = {}
    for rope in (WIDE, NARROW):
        answer = bb.output.to_json(result, bb.View(rope=rope, standard_rope=rope))
        rows = rows_with_a_rope(answer)
        assert bool(rows) == (result.study not in WITHOUT_ROWS_OF_A_ROPE)
        for row in rows:
            assert row["rope"] == rope
            assert row["p_in_rope"] > 0.999 if rope == WIDE else row["p_in_rope"] < 0.01
            assert (row["verdict"] == "negligible") == (rope == WIDE)
        headlines[rope] = WIDTH_OF_A_ROPE.sub("", answer["interpretation"]["headline"])
    differ = headlines[WIDE] != headlines[NARROW]
    assert differ == (result.study not in WITHOUT_A_ROPE_IN_ITS_HEADLINE)


@pytest.mark.slow
def test_a_result_has_the_methods_of_its_contract(result):
    assert isinstance(result, Result)
    if result.fits():
        measured = result.measured(0.89)
        assert measured
        assert all(of.converged for of in measured.values())
    else:
        with pytest.raises(bb.InputError, match="a result with a model"):
            result.measured(0.89)
    assert result.tests_in_words() or result.rows_in_words() or not result.fits()


@pytest.mark.parametrize("kind", registry.KINDS)
def test_a_registered_study_keeps_the_contract(kind):
    study = registry.study_named(kind)
    assert isinstance(study, Study)
    for name, function in inspect.getmembers(Study, inspect.isfunction):
        if name.startswith("_"):
            continue
        expected = list(inspect.signature(function).parameters)[1:]
        assert len(inspect.signature(getattr(study, name)).parameters) == len(expected), name
    assert study.QUESTION.endswith("?")
    assert all(isinstance(part, type) for part in study.TYPES)


def test_nobody_asks_for_the_name_of_a_study_but_its_folder_the_registry_and_its_command():
    """A comparison or look-up by the name of a kind would have to be found for each new kind."""
    allowed = {
        "output/registry.py",
        "cli/responses.py",
        "cli/compare.py",
        "cli/fit.py",
        "cli/seat.py",
        "cli/score.py",
        "cli/planning.py",
    }
    classes = {
        part.__name__ for kind in registry.KINDS for part in registry.study_named(kind).TYPES
    }
    names = {*registry.KINDS, *classes, "BiasFit"}
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if place in allowed:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and _asks_for_a_kind(node, names):
                wrong.append(f"{place}:{node.lineno}")
    assert not wrong


def _asks_for_a_kind(node: ast.Compare, names: set[str]) -> bool:
    """Whether a comparison has the attribute `study` or `__name__`, and the name of a kind."""
    sides = [part for side in (node.left, *node.comparators) for part in ast.walk(side)]
    attributes = {side.attr for side in sides if isinstance(side, ast.Attribute)}
    texts = {side.value for side in sides if isinstance(side, ast.Constant)}
    by_attribute = attributes & {"study", "__name__"} or "study" in texts
    return bool(by_attribute) and bool(texts & names)
