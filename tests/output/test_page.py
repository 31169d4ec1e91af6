"""The page: the result first, all else folded."""

import re

import pytest
from helpers.chromium import Chromium, browser

import bayesbias as bb
from bayesbias.output import page as page_module
from output.results import MAKERS, QUICK


def test_the_result_comes_first_and_all_else_is_folded(tmp_path):
    result = MAKERS["sentiment"]()
    page = bb.write_report(result, tmp_path / "page.html").read_text(encoding="utf-8")
    body = page[page.index("<body>") :]
    first = re.sub(r"(?s)<details.*?</details>", "", body)
    said = bb.interpret(result)
    assert said.headline in first
    for warning in said.warnings:
        assert warning.replace("<", "&lt;") in first
    assert len(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<script.*?</script>", "", first)).split()) < 250
    assert len(re.findall("<table", first)) == 1
    assert len(re.findall("<details", body)) > 5
    assert "width=device-width" in page


def page_of(result, folder):
    """Return the source of a page, and what its box and its terms are."""
    page = bb.write_report(result, folder / "page.html").read_text(encoding="utf-8")
    box = page[page.index('class="answer"') :].split("</div>")[0]
    return page, box, re.findall("<dt>(.*?)</dt>", page)


@pytest.mark.slow
def test_a_long_row_stays_inner_and_entries_without_pairs_are_not_listed(tmp_path):
    fit = bb.fit(bb.distance_table("minilm-static", "weat6", controls="none"), **QUICK)
    page, box, terms = page_of(fit, tmp_path)
    row = re.search('<th scope="row" class="(.*?)"><bdi> *male_names: career - family', page)
    assert {*row[1].split()} == {"inner", "long"}
    assert f"±{fit.default_rope():g} (the ROPE)" in box
    assert "associated, different" in terms
    assert "human, neutral" not in terms
    assert "Caliskan" in page[page.index('id="again"') :]  # the source of the list
    entries = fit.parameters().query("name == 'class_by_set'")["index"]
    pairs = fit.table[["protected_class", "attribute_class", "connection"]].astype(str)
    assert {*entries} == {*pairs.agg(", ".join, axis=1)}


def test_the_box_gives_no_advice_to_sample_more(tmp_path, monkeypatch):
    said = "No conclusion: the sampler has not converged. Raise --tune and --draws."
    known = bb.core.sections.Interpretation("toy", said)
    monkeypatch.setattr(page_module.registry, "interpretation", lambda *_: known)
    _, box, _ = page_of(MAKERS["sentiment"](), tmp_path)
    assert "converged." in box
    assert "aise" not in box


def test_reading_is_open_and_stands_before_the_first_table(tmp_path):
    page, _, terms = page_of(MAKERS["sentiment"](), tmp_path)
    reading = page.index('<details id="reading" open>')
    assert terms
    assert page.index('id="answer"') < reading < page.index("<table")


@pytest.mark.slow
def test_what_to_do_again_is_a_command_and_the_record_is_apart(tmp_path):
    fit = bb.fit(bb.distance_table("minilm-static", "weat6", controls="none"), **QUICK)
    command = ["fit", "--embedding", "minilm-static", "--wordlist", "weat6"]
    run = bb.output.store.Run(fit, bb.View(), "association", command, None)
    page, _, _ = page_of(run, tmp_path)
    again = page[page.index('id="again"') : page.index('id="record"')]
    assert "bayesbias fit --embedding minilm-static --wordlist weat6" in again
    sums = dict(re.findall(r"([0-9a-f]{64})  (.+)", again))
    assert set(sums.values()) == {"weat6", "minilm-static", "default"}  # list, vectors, model
    assert "{" not in again
    assert bb.methods_paragraph(fit)[:60] in page.replace("&#34;", '"')


@pytest.mark.slow
def test_a_comparison_has_a_predictive_check_of_each_fit(tmp_path):
    result = MAKERS["comparison"]()
    page, _, _ = page_of(result, tmp_path)
    for name in result.fits():
        assert f"Posterior predictive check: {name}" in page


@pytest.mark.slow
@pytest.mark.skipif(browser() is None, reason="needs Chromium, which is not installed")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_shows_its_first_figure_whole(tmp_path, width):
    path = bb.write_report(MAKERS["fit"](), tmp_path / "page.html")
    with Chromium(tmp_path / "profile", width) as window:
        window.open(path)
        shown = window.run(
            "[...document.querySelectorAll('figure svg')].map((svg) => svg.getBoundingClientRect())"
            ".filter((box) => box.width).map((box) => [box.left, box.right])"
        )
        assert window.run("document.documentElement.scrollWidth") == width
        assert window.errors == []
    left, right = shown[0]
    assert 0 <= left < right <= width


def test_words_that_are_missing_stand_once():
    missing = {"a": {"listed": 3, "found": 1, "missing": ["cat", "dog"]}}
    coverage = {"protected": missing, "attributes": {}, "missing": ["cat", "dog"]}
    text = page_module._made({"coverage": coverage, "provenance": {"coverage": coverage}})
    assert text.count('"cat"') == 1
    assert '[ "cat", "dog" ]' in text
