"""Counts against stored answers of lme4's glmer (R), by maximum likelihood: glmer.R makes them."""

import json
from pathlib import Path

import pytest

import bayesbias as bb

STORED = json.loads(Path(__file__).with_name("glmer.json").read_text())
ANSWERS = Path(__file__).parents[2].parent / "shared" / "data" / "choices" / "gpt4o"


@pytest.mark.claim
@pytest.mark.parametrize("stereotype", ["age", "eating", "weapon"])
def test_contrasts_and_spreads_are_those_of_glmer(stereotype):
    files = sorted(ANSWERS.glob(f"gpt4o_{stereotype}_*.csv"))
    if not files:
        pytest.skip("needs the folder shared beside the checkout")
    found = bb.fit_responses(bb.studies.load_responses(files), seed=1, progress=False)
    theirs = STORED[stereotype]
    rows = found.contrasts(estimand="population", level="overall", detail=True).set_index("scale")
    ours = rows.loc["log_odds"]
    assert abs(ours["mean"] - theirs["contrast"]) < 0.5 * ours["sd"]
    assert ours["sd"] > 0.8 * theirs["se"]  # the posterior knows that spreads are estimated
    scales = found.fit.parameters(0.95).set_index("name")
    words = scales.loc[["word_sd"]]  # one of each group; lme4 has one of all
    assert words["hpdi_low"].min() - 0.1 <= theirs["word_sd"] <= words["hpdi_high"].max()
