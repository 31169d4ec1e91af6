"""The record of the proof: what is kept, what is had again, and what its page says."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from proof.evidence import Evidence, Record
from proof.page import write_page

HELD = Evidence("p-values", "exact", "They are exact.", "held", 100, "sets", 0.0, "below 1e-12", 1, 2.0)


def test_evidence_of_this_version_is_not_had_again(tmp_path):
    file = tmp_path / "proof.json"
    Record(file, "1.0").add(HELD)
    record = Record(file, "1.0")
    assert record.known("p-values", "exact", 100)
    assert not record.known("p-values", "exact", 101)
    assert not record.known("p-values", "other", 1)
    assert not Record(file, "1.1").known("p-values", "exact", 1)
    assert not Record(file, "1.0", keep=False).known("p-values", "exact", 1)
    record.add(dataclasses.replace(HELD, outcome="failed"))
    assert not Record(file, "1.0").known("p-values", "exact", 1)


def test_what_was_not_run_replaces_nothing(tmp_path):
    record = Record(tmp_path / "proof.json", "1.0")
    record.add(HELD)
    record.add(dataclasses.replace(HELD, outcome="not run", cases=0))
    assert [one for one, _ in record] == [HELD]


def test_a_failure_stands_first_on_the_page(tmp_path):
    record = Record(tmp_path / "proof.json", "1.0")
    record.add(HELD)
    wrong = dataclasses.replace(
        HELD, name="bounds", claim="They hold | it.", outcome="failed", reason="3 of 9 do not"
    )
    record.add(wrong)
    write_page(record, tmp_path)
    text = (tmp_path / "proof.md").read_text()
    assert "**1 held, 1 failed, 0 not run.**" in text
    assert text.index("## Failed") < text.index("## P-values")
    assert "They hold \\| it." in text
    assert "3 of 9 do not" in text
    made = json.loads((tmp_path / "proof.json").read_text())["evidence"][0]["made"]
    assert made["version"] == "1.0"
    assert made["machine"]["cores"]


@pytest.mark.parametrize("commit", ["1234abc", ""])
def test_a_row_says_whether_it_stands_in_a_commit(tmp_path, monkeypatch, commit):
    monkeypatch.setattr("proof.evidence.commit", lambda: commit)
    record = Record(tmp_path / "proof.json", "1.0")
    record.add(HELD)
    write_page(record, tmp_path)
    assert f"1.0, {commit or 'no commit'}, 2" in (tmp_path / "proof.md").read_text()


@pytest.mark.parametrize(
    ("x", "y", "sides", "expected"), [([4, 3, 2], [3, 1, -2], 1, 0.15), ([1], [0], 2, 1.0)]
)
def test_brute_force_counts_partitions(x, y, sides, expected):
    from proof.pvalues import brute_force

    assert brute_force(x, y, sides) == expected


def test_p_values_are_tried_on_ties():
    from proof import pvalues

    held = list(pvalues.run(0.002, lambda *asked: False))
    assert [one.outcome for one in held] == ["held"] * 3


def test_cases_are_counted_from_the_names_of_tests():
    from proof.campaigns import cases_of, ran

    assert cases_of("test_x[npz-5000]", {}) == 5000
    assert cases_of("test_x[utf-8-40-2000]", {}) == 2000
    assert cases_of("test_kills[run]", {"test_kills": 60}) == 60
    assert cases_of("test_two", {"test_kills": 60}) == 1
    report = """<testsuites><testsuite><testcase name="a" time="1.5"/><testcase name="b"><failure/></testcase>
    <testcase name="c"><skipped/></testcase></testsuite></testsuites>"""
    assert ran(report) == [("a", "passed", 1.5), ("b", "failed", 0.0), ("c", "skipped", 0.0)]


def test_ranks_and_coverage_of_a_few_tables():
    from proof.calibration import farthest, one

    below, held, quick = one("crossed", 70)
    assert quick
    assert all(0 <= value <= 1 for value in below.values())
    assert any(name.startswith("scale ") for name in below)
    assert set(held) < set(below)
    assert farthest((np.arange(100) + 0.5) / 100) == pytest.approx(0.005)
    assert farthest(np.full(100, 0.5)) == pytest.approx(0.5)
