"""The page: the result first, all else folded."""

import re

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


def test_words_that_are_missing_stand_once():
    missing = {"a": {"listed": 3, "found": 1, "missing": ["cat", "dog"]}}
    coverage = {"protected": missing, "attributes": {}, "missing": ["cat", "dog"]}
    text = page_module._made({"coverage": coverage, "provenance": {"coverage": coverage}})
    assert text.count('"cat"') == 1
    assert '[ "cat", "dog" ]' in text
