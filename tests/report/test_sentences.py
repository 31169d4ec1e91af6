"""The page on sentence tests, made of results by hand: no encoder, no fit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers.pages import Page, check_structure, without_pictures

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.studies.seat_result import SeatResult
from bayesbias.wordlists import list_tests
from bayesbias.wordlists.sentence_tests import write_test

EVIL = "<script>alert(1)</script>"
NAMES = ["model", "options", "test"]


def a_result(
    fitted: bool = True, encoders: tuple[str, ...] = ("one <b>encoder</b>",), **columns
) -> SeatResult:
    """Two published tests and one with a name that could pass for markup, on each encoder."""
    tests = {"weat7": "word", "sent-weat7": "sentence", EVIL: "sentence"}
    rows = []
    for number, encoder in enumerate(encoders):
        for place, (test, level) in enumerate(tests.items()):
            p = [0.002, 3e-8, 0.3][place]
            row = {
                "model": encoder, "options": "", "test": test, "p_value": max(p, 1e-5), "effect_size": 1.4 - place - number,
                "num_targ1": 8, "num_targ2": 9, "num_attr1": 10, "num_attr2": 11, "level": level, "statistic": 0.5,
                "p_lower": p, "p_upper": p, "p_method": ["exact", "bounds", "montecarlo"][place],
                "p_words": [0.002, 0.05, 0.4][place], "p_holm": min(1.0, 3 * p), "dropped": 0,
            }  # fmt: skip
            if fitted:
                row |= {
                    "contrast": [-0.03, 0.02, -0.001][place], "sd": 0.01, "hpdi_low": [-0.05, 0.01, -0.02][place],
                    "hpdi_high": [-0.01, 0.03, 0.02][place], "share_word": 0.7, "share_template": [np.nan, 0.2, 0.1][place],
                    "share_sentence": [np.nan, 0.05, 0.1][place], "share_residual": 0.1, "converged": True,
                }  # fmt: skip
            rows.append(row)
    frame = pd.DataFrame(rows).assign(**columns)
    dropped = pd.DataFrame(
        [(encoders[0], "", "weat7", "targ1", "<i>calculus</i>", "calculus")],
        columns=[*NAMES, "set", "word", "sentence"],
    )
    failures = pd.DataFrame([(encoders[0], "", "weat8", "no & vector")], columns=[*NAMES, "reason"])
    notes = pd.DataFrame([(encoders[0], "", "weat7", "2 examples repeat")], columns=[*NAMES, "note"])
    provenance = {
        "tests": [
            {
                "name": name,
                "sha256": bb.sentence_test(name).sha256 if name != EVIL else "0" * 64,
                "origin": "x",
            }
            for name in tests
        ],
        "encoders": [
            {
                "name": name,
                "options": "",
                "provenance": {"source": f"/vectors/mine/{name}.npz", "sha256": "1" * 64},
            }
            for name in encoders
        ],
        "seed": 7,
        "samples": 99_999,
        "versions": {"bayesbias": "0", "numpy": "0"},
    }
    if fitted:
        spec = bb.load_model("sentence")
        provenance |= {
            "model": {"name": spec.name, "sha256": spec.sha256},
            "prob": 0.8,
            "sampler": {"draws": 50, "tune": 60, "chains": 2},
        }
    return SeatResult(frame, failures, dropped, notes, provenance)


def read(result: SeatResult, path, **settings) -> Page:
    return Page(bb.write_report(result, path, **settings).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def raw(tmp_path_factory) -> str:
    encoders = ("one <b>encoder</b>", "two")
    path = tmp_path_factory.mktemp("page") / "seat.html"
    return bb.write_report(a_result(encoders=encoders), path).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_is_whole_in_itself_and_every_name_is_text(raw):
    parsed = check_structure(raw)
    assert [attrs["id"] for attrs in parsed.of("section")] == [
        "answer", "data", "details", "model", "trust", "again", "reading",
    ]  # fmt: skip
    text = parsed.all_text()
    for word in (EVIL, "one <b>encoder</b>", "<i>calculus</i>", "no & vector"):
        assert word in text, word
    assert not parsed.of("b")
    assert not parsed.of("i")
    figures = [attrs["id"] for attrs in parsed.of("figure")]
    assert figures == ["figure-seat", "figure-seat-contrasts-1", "figure-seat-contrasts-2"]
    assert "More figures" not in text
    assert "/vectors/mine" not in text


@pytest.mark.slow
def test_the_same_result_gives_the_same_bytes(raw, tmp_path):
    again = bb.write_report(a_result(encoders=("one <b>encoder</b>", "two")), tmp_path / "again.html")
    assert again.read_text(encoding="utf-8") == raw


def test_the_answer_has_p_of_words_beside_that_of_sentences_and_what_the_model_says(tmp_path, monkeypatch):
    without_pictures(monkeypatch)
    text = read(a_result(), tmp_path / "seat.html").all_text()
    answer = text[text.index("The answer") : text.index("Data and coverage", text.index("The answer") + 50)]
    assert "in 2 of 3 tests on one <b>encoder</b>, of which 1 when each word counts once" in answer
    assert "80% HPDI of associated - different lies below zero, as supposed, in 1 of 3, above in 1" in answer
    assert "3e−08" in answer
    assert "0.05" in answer
    assert "1 failure: not all of it was run" in answer
    for value in ("as the test supposes", "against what it supposes", "unclear"):
        assert value in text
    assert "−0.050 to −0.010" in text
    assert "Math against Arts" in text
    assert "lacks forms of 1 word" in text
    assert "† weat7: 2 examples repeat." in text
    assert bb.load_model("sentence").sha256 in text
    assert "seed=7, samples=99999, bayes=True, draws=50, tune=60, chains=2, prob=0.8)" in text


def test_without_a_fit_the_page_says_so(tmp_path, monkeypatch):
    without_pictures(monkeypatch)
    text = read(a_result(fitted=False), tmp_path / "seat.html").all_text()
    assert "No model was fitted" in text
    assert "HPDI" not in text
    assert "The hierarchical reading" not in text
    assert "bayes=True," not in text


def test_nothing_is_said_of_a_fit_that_has_not_converged(tmp_path, monkeypatch):
    without_pictures(monkeypatch)
    text = read(a_result(converged=[True, False, True]), tmp_path / "seat.html").all_text()
    top = text[text.index("The answer") :]
    assert top.index("Not to be trusted yet") < top.index("p is below 0.01")
    assert "as supposed, in 1 of 2)" in top
    assert "against what it supposes" not in text


@pytest.mark.slow
def test_the_page_of_a_folder_is_that_of_the_result(tmp_path, monkeypatch):
    without_pictures(monkeypatch)
    result = a_result(encoders=("one",))
    bb.save_run(result, tmp_path / "run", command=["seat", "--bayes", "--tests", "weat7"])
    read_back = bb.write_report(tmp_path / "run", tmp_path / "a.html").read_text(encoding="utf-8")
    direct = bb.write_report(result, tmp_path / "b.html").read_text(encoding="utf-8")
    split = '<section id="again"'
    assert read_back.split(split)[0] == direct.split(split)[0]
    assert "bayesbias seat --bayes --tests weat7 --seed 7" in read_back


def test_other_intervals_than_those_of_the_result_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"made with the result.*0\.5.*0\.8"):
        bb.write_report(a_result(), tmp_path / "seat.html", prob=0.5)
    assert not list(tmp_path.iterdir())


def test_the_lines_that_make_it_say_whether_tests_stop_where_the_published_files_do(tmp_path, monkeypatch):
    without_pictures(monkeypatch)
    for cut in (False, True):
        result = a_result()
        tests = [
            {"name": name, "sha256": bb.sentence_test(name, published_cut=cut).sha256, "origin": "shipped"}
            for name in list_tests()
        ]
        result = dataclasses.replace(result, provenance={**result.provenance, "tests": tests})
        text = bb.write_report(result, tmp_path / "page.html").read_text(encoding="utf-8")
        assert ("published_cut=True" in text) == cut


@pytest.mark.slow
def test_words_of_ones_own_test_are_on_the_page_and_failures_have_names(tmp_path):
    """An auditor's page could not be read without the files of the test."""
    whole = a_result(fitted=False)
    assert f"The words of {EVIL} are in the files" in read(whole, tmp_path / "before.html").all_text()
    *others, own = whole.provenance["tests"]
    sides = {"targ1": ["she", "<b>her"], "targ2": ["he"], "attr1": ["knitting"], "attr2": ["rugby"]}
    categories = {"targ1": "women", "targ2": "men", "attr1": "women", "attr2": "men"}
    about = {**whole.provenance, "tests": [*others, {**own, "words": sides, "categories": categories}]}
    text = read(dataclasses.replace(whole, provenance=about), tmp_path / "after.html").all_text()
    for said in (
        "<b>her",
        "knitting",
        "rugby",
        f"stereotypes of men ({EVIL})",
        "those of women against those of men",
    ):
        assert said in text, said
    assert "are in the files of these tests" not in text
    assert "one <b>encoder</b>, weat8: no & vector." in text


def test_only_words_of_ones_own_tests_are_kept(tmp_path):
    path = tmp_path / "mine.jsonl"
    write_test(bb.sentence_test("weat7"), path, parts=True)
    result = bb.seat(["weat7", str(path)], "minilm-static", seed=1, cache=False)
    shipped, own = result.provenance["tests"]
    assert "words" not in shipped
    assert (
        own["words"]["attr1"]
        == bb.sentence_test("weat7").frame.query("set == 'attr1'")["word"].unique().tolist()
    )
