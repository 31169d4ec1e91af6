"""Where new words and listed words contradict each other about one list, it is said, and nowhere else."""

from __future__ import annotations

import pandas as pd
import pytest
from helpers.fits import made_up, pairs

from bayesbias.findings import words
from bayesbias.findings.of_result import findings_of
from bayesbias.findings.pooling import pooling_doubts
from bayesbias.models.loading import load_model, parse_model

CONTRAST = "associated - different"


ONE_SPREAD = parse_model(
    load_model("default").text.replace('fsd]\ndims = ["connection"]', "fsd]").encode(), "one_spread.toml"
)


def rows(new, listed, level="stereotype", name="x", error=0.0):
    """Make the two rows of one list, each (mean, low, high), and one of a control word."""
    each = [
        {
            "level": level, "name": name, "contrast": CONTRAST, "estimand": which, "prob": 0.89,
            "mean": mean, "hpdi_low": low, "hpdi_high": high, "mcse_mean": error, "mcse_low": error, "mcse_high": error,
        }
        for which, (mean, low, high) in (("population", new), ("listed_words", listed))
    ]  # fmt: skip
    return pd.DataFrame([*each, each[0] | {"contrast": "human - neutral", "level": "overall"}])


@pytest.mark.parametrize(
    ("new", "listed", "error", "found"),
    [
        ((-0.03, -0.07, 0.02), (-0.08, -0.11, -0.05), 0, True),  # leaves it out
        ((-0.03, -0.07, 0.02), (-0.08, -0.11, -0.05), 0.004, False),  # within two Monte Carlo errors
        (
            (-0.055, -0.10, -0.012),
            (-0.03, -0.07, 0.01),
            0,
            False,
        ),  # clear against open: the other lists tell the rest
        ((-0.055, -0.10, -0.012), (-0.01, -0.05, 0.03), 0, True),
        ((-0.055, -0.10, -0.012), (-0.01, -0.05, 0.03), 0.002, False),
        ((-0.055, -0.10, 0.001), (-0.09, -0.10, -0.08), 0, False),  # wider about new words, as it should be
        ((-0.05, -0.10, -0.01), (0.05, 0.02, 0.08), 0, True),
    ],
)
@pytest.mark.parametrize("level", ["stereotype", "class"])
def test_contradictions_beyond_monte_carlo_error_are_doubted(new, listed, error, found, level):
    doubts = pooling_doubts(load_model("default"), rows(new, listed, level, error=error))
    assert [(d.kind, d.level, d.contrast, d.group) for d in doubts] == (
        [("drawn_together", level, CONTRAST, "x")] if found else []
    )
    assert all(doubt.model is None and doubt.effect is None for doubt in doubts)


def test_both_numbers_are_named_with_their_intervals_and_what_to_read():
    frame = pd.concat(
        [rows((-0.03, -0.07, 0.02), (-0.08, -0.11, -0.05), name=name) for name in ("x", "y", "z", "w", "v")]
    )
    (doubt,) = pooling_doubts(ONE_SPREAD, frame)
    assert doubt.group is None
    text = (
        "x -0.030 (-0.070 to +0.020) for new words, -0.080 (-0.110 to -0.050) for the listed ones",
        "lists of stereotypes to each other (partial pooling)", "; 2 more; make a claim", "(listed_words), or from a copy",
        'fsd has dims = ["attribute_kind"]',
    )  # fmt: skip
    assert all(part in doubt.text for part in text)
    # Without control words there is one kind alone, and such a copy would be the same model.
    (alone,) = pooling_doubts(ONE_SPREAD, frame[frame["contrast"] == CONTRAST])
    assert "copy of the model" not in alone.text
    # The default keeps connections apart already.
    (apart,) = pooling_doubts(load_model("default"), frame)
    assert "copy of the model" not in apart.text


def test_nothing_is_said_of_models_without_such_a_spread():
    frame = rows((-0.03, -0.07, 0.02), (-0.08, -0.11, -0.05), "class")
    assert pooling_doubts(load_model("crossed"), frame) == []


def _fit(**own):
    """A fit of a list whose words lie nearer by 0.2, which the model holds for that of the list or of its attributes."""
    table = pairs(noise=0.01)
    near = (table["connection"] == "associated") & (table["protected_class"] == "x")
    table.loc[near, "distance"] -= 0.2
    kind = table["connection"].where(table["connection"].isin(["human", "neutral"]), "stereotype")
    return made_up(
        table.assign(attribute_kind=kind),
        "default",
        {"g": 0.9, "sigma": 0.05, "ka": 1, "kw": 1} | own,
        sd=0.0002,
        seed=1,
    )


def test_a_fit_that_draws_a_list_to_the_others_says_so(monkeypatch):
    for slow in ("word_doubts", "unexamined_priors"):
        monkeypatch.setattr(words, slow, lambda fit: [])
    fit = _fit(u=lambda group, attribute: -0.2 * (group == "x" and attribute[0] == "p"))
    found = findings_of(fit)
    doubts = [doubt for doubt in found.doubts if doubt.kind == "drawn_together"]
    assert [doubt.level for doubt in doubts] == ["class", "stereotype"]
    assert [doubt.line in found.lines() for doubt in doubts] == [True, True]
    assert "fit the model" not in found.headline


def test_a_fit_that_leaves_a_list_where_it_lies_does_not():
    fit = _fit(f=lambda group, listed, connection: -0.2 * (group == listed == "x"))
    assert pooling_doubts(fit.spec, fit.contrasts()) == []
