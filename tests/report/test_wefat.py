"""The page on a single-category test."""

from __future__ import annotations

import dataclasses

import pytest
from helpers.covariates import made_up_test
from helpers.pages import Page, without_pictures

import bayesbias as bb


@pytest.mark.slow
def test_the_page_has_answer_line_and_targets(tmp_path, monkeypatch):
    without_pictures(monkeypatch)
    result = made_up_test(far=0.3)
    listed = {**result.provenance["wordlist"], "classes": ["female", "male"]}
    result = dataclasses.replace(result, provenance={**result.provenance, "wordlist": listed})
    text = bb.write_report(result, tmp_path / "page.html").read_text(encoding="utf-8")
    Page(text)
    assert f"{result.true_correlation.mean:.2f}" in text
    assert all(f">{target}<" in text for target in result.frame["target"])
    assert (
        "bb.wefat(&#39;v.txt&#39;, &#39;wefat&#39;, &#39;occupations.csv&#39;, &#39;percent_women&#39;, "
        "classes=[&#39;female&#39;, &#39;male&#39;], samples=999, " in text
    )
    assert "3" * 64 in text
    assert "89% HPDI" in text
    again = bb.write_report(result, tmp_path / "page.html", prob=0.5).read_text(encoding="utf-8")
    assert "50% HPDI" in again
    assert "89% HPDI" not in again
