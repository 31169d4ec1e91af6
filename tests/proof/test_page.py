"""What the README quotes of the proof is what the record holds."""

from __future__ import annotations

import json
import re

from helpers.places import ROOT

RECORD = ROOT / "docs" / "proof.json"


def test_the_readme_quotes_the_record():
    every = json.loads(RECORD.read_text(encoding="utf-8"))["evidence"]
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Proof")[2].partition("\n## ")[0]
    text = " ".join(section.split())
    exact = next(e for e in every if (e["part"], e["name"]) == ("p-values", "exact"))
    bounds = next(e for e in every if (e["part"], e["name"]) == ("p-values", "bounds"))
    lme4 = [e for e in every if e["part"] == "second opinion"]
    assert f"in all of {exact['cases']:,} cases" in text
    assert exact["worst"] == 0.0
    assert bounds["worst"] == 1.0
    points, within = re.search(r"at (\d+) points lme4 .* to (\S+);", text).groups()
    assert int(points) == sum(e["cases"] for e in lme4)
    assert max(e["worst"] for e in lme4) <= float(within)
    own = next(e for e in every if e["name"] == "cells: coverage")
    details = own["details"]
    ends = " to ".join(f"{details[end]:.3f}".lstrip("0") for end in ("lowest", "highest"))
    assert f"on {own['cases']:,} tables" in text
    assert f"in {ends}, where" in text
    fixed = next(e for e in every if e["name"] == "cells: four truths")
    assert all(e["outcome"] == "held" for e in [exact, bounds, *lme4, own, fixed])
    assert f"covered in {fixed['worst']:.3f}".replace("0.", ".") in text


def test_a_failure_on_the_record_is_on_the_page():
    every = json.loads(RECORD.read_text(encoding="utf-8"))["evidence"]
    page = (ROOT / "docs" / "proof.md").read_text(encoding="utf-8")
    failed = sum(e["outcome"] == "failed" for e in every)
    assert f"{failed} failed" in page
    assert ("## Failed" in page) == bool(failed)
