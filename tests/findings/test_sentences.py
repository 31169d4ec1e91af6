"""What sentence tests say where the words of some are not known."""

from __future__ import annotations

import pandas as pd

from bayesbias.findings.of_result import findings_of
from bayesbias.studies.seat_result import SeatResult


def test_a_test_whose_words_are_not_known_does_not_count_as_clear_by_words():
    def found(*over_words):
        frame = pd.DataFrame(
            {
                "model": "m", "options": "", "test": [f"test {i}" for i in range(len(over_words))], "level": "sentence",
                "p_value": 1e-5, "p_upper": 1e-5, "p_method": "bounds", "p_words": over_words, "p_holm": 1e-4,
                "effect_size": 1.0, "num_targ1": 8, "num_targ2": 8, "num_attr1": 8, "num_attr2": 8,
            }
        )  # fmt: skip
        nothing = pd.DataFrame(
            columns=["model", "options", "test", "set", "word", "sentence", "note", "reason"]
        )
        result = SeatResult(frame, nothing, nothing, nothing)
        return findings_of(result), repr(result)

    both, shown = found(0.3, 0.001, float("nan"))
    assert both.headline.endswith(
        "in 3 of 3 tests on m, of which 1 when each word counts once and 1 with words that are not stated."
    )
    assert both.sentences[0].startswith("Of 2 sentence tests with p below 0.01, 1 keeps that")
    assert "1 of 2 sentence tests is not" in shown
    alone, _ = found(float("nan"))
    assert alone.headline.endswith("in 1 of 1 test on m, of which 1 with words that are not stated.")
    assert alone.sentences == ()
