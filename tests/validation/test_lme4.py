"""The exact reduction against stored answers of lme4 (R), an independent implementation; `make validation` asks lme4 again."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from validation.lme4 import largest_gaps, ours, reduced_of

STORED = json.loads(Path(__file__).with_name("lme4.json").read_text())


def test_restricted_likelihood_means_and_errors_are_those_of_lme4():
    reduced = reduced_of(bb.distance_table("minilm-static", "religion"))
    mine = pd.DataFrame([ours(reduced, np.array(theta)) for theta in STORED["theta"]])
    gaps = largest_gaps(mine, pd.DataFrame(STORED["answers"]))
    assert max(gaps.values()) < 1e-4, gaps
