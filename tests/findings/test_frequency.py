"""What is said of frequency: nothing where no contrast moves, and one sentence with two readings where one does."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from helpers.counted import counted
from helpers.draws import made_up_fit
from helpers.tables import grid

from bayesbias.columns.frequency import frequency_columns
from bayesbias.core.digits import as_known
from bayesbias.findings.frequency import frequency_doubts, frequency_notes, frequency_sentences
from bayesbias.findings.words import findings_of_words
from bayesbias.inference.posterior import BiasFit
from bayesbias.report.frequency import frequency_part
from bayesbias.studies.frequency import frequency_of


def test_a_contrast_that_moves_is_a_doubt_with_a_kind():
    fit = counted(moved=0.05)
    (doubt,) = frequency_doubts(fit)
    assert (doubt.kind, doubt.level, doubt.contrast, doubt.group) == (
        "frequency",
        "overall",
        "associated - different",
        None,
    )
    assert (doubt.effect, doubt.model, doubt.decides) == (None, None, False)


@pytest.mark.slow
def test_the_doubt_stands_in_the_findings():
    fit = counted(moved=0.05)
    assert frequency_doubts(fit)[0] in findings_of_words(fit).doubts


def test_what_moves_less_is_no_doubt():
    assert frequency_doubts(counted(moved=0.05), rope=0.06) == []
    assert frequency_doubts(counted(moved=0.0)) == []
    assert frequency_doubts(made_up_fit(grid())) == []


def test_what_moves_by_no_more_than_its_error_beyond_the_region_is_no_doubt():
    fit = counted(moved=0.05)
    for row in fit.provenance["frequency"]["contrasts"]:
        row["mcse_change"] = 0.02
    assert frequency_doubts(fit) == []
    (column,) = [each for each in frequency_columns(0.89, 0.02) if each.heading == "more than 0.02"]
    cells = [column.cell(SimpleNamespace(change=c, mcse_change=0.001)).text for c in (0.023, -0.0215, 0.01)]
    assert cells == ["yes", "not clear", "no"]
    for row in fit.provenance["frequency"]["contrasts"]:
        row["mcse_change"] = 0.014
    assert len(frequency_doubts(fit)) == 1


def test_of_contrasts_that_move_the_farthest_is_named():
    fit = counted(moved=0.0)
    rows = fit.provenance["frequency"]["contrasts"]
    chosen = [row for row in rows if row["level"] == "class"][:2]
    for row, change in zip(chosen, (0.03, -0.04), strict=True):
        row["change"] = change
    (doubt,) = frequency_doubts(fit)
    assert (doubt.level, doubt.group, doubt.contrast) == ("class", chosen[1]["name"], chosen[1]["contrast"])


def test_models_that_have_not_converged_say_nothing():
    fit = counted(moved=0.05)
    fit.provenance["frequency"]["problems"] = ["R-hat is 1.2"]
    assert frequency_doubts(fit) == []


@pytest.mark.parametrize("moved", [0.05, -0.05])
def test_the_sentence_is_conditional_and_has_both_numbers(moved):
    row = counted(moved=moved).provenance["frequency"]["contrasts"][0]
    text = frequency_doubts(counted(moved=moved))[0].text
    assert f" is {as_known(row, 'with_mean', signed=True)} " in text
    assert f" and not {as_known(row, 'without_mean', signed=True)}:" in text
    assert "if frequency is a nuisance" in text
    assert "if it is itself the social covariate" in text


def few_counted() -> BiasFit:
    """Return a fit of whose second list one word of three has a count."""
    fit = counted()
    kept = fit.provenance["frequency"]
    kept["missing"] = ["a10", "a11"]
    kept["words"] = [row for row in kept["words"] if row["word"] not in kept["missing"]]
    kept["n_pairs"] -= 14
    return fit


def test_a_comparison_of_few_words_is_noted_and_called_so():
    (note,) = frequency_notes(few_counted())
    assert "few have one: 1 of 3 stereotypes of class1;" in note
    assert frequency_notes(counted()) == frequency_notes(made_up_fit(grid())) == []
    for fit, called in ((few_counted(), "as it is (counted words)"), (counted(), "as it is")):
        part = frequency_part(fit, 0.02, [], [])
        assert part is not None
        assert called in [head.text for head in part.tables[0].head]


@pytest.mark.slow
def test_the_note_stands_in_the_findings():
    fit = few_counted()
    assert set(frequency_notes(fit)) <= set(findings_of_words(fit).notes)


def with_ends(fit: BiasFit, level: str, ends: tuple[float, ...], error: float = 1e-4) -> str:
    """Give the first row of the main contrast at a level other intervals, without and with frequency; return its name."""
    rows = fit.provenance["frequency"]["contrasts"]
    row = next(each for each in rows if (each["level"], each["contrast"]) == (level, rows[0]["contrast"]))
    names = ("without_low", "without_high", "with_low", "with_high")
    row.update(zip(names, ends, strict=True))
    row.update({f"mcse_{name}": error for name in names})
    return str(row["name"])


def settled() -> BiasFit:
    """Return a fit none of whose intervals is another at equal frequency."""
    fit = counted()
    for row in fit.provenance["frequency"]["contrasts"]:
        names = ("without_low", "without_high", "with_low", "with_high")
        row.update(zip(names, (-0.3, -0.1, -0.2, -0.1), strict=True))
        row.update({f"mcse_{name}": 1e-4 for name in names})
    return fit


def test_intervals_that_begin_or_cease_to_hold_zero_at_equal_frequency_are_named():
    (said,) = frequency_sentences(settled())
    assert said.endswith(", none begins or ceases to hold zero.")
    fit = settled()
    with_ends(fit, "overall", (-0.3, -0.1, -0.2, 0.1))
    name = with_ends(fit, "class", (-0.3, 0.1, -0.3, -0.1))
    other = with_ends(fit, "stereotype", (-0.3, -0.1, 0.1, 0.2))
    (said,) = frequency_sentences(fit)
    assert "that of all words begins to hold zero" in said
    assert f"that of the class {name} ceases to hold zero" in said
    assert f"that of the list {other} lies on the other side of zero" in said
    assert "none begins" not in said
    found = frequency_of(fit)
    assert found is not None
    (column,) = [each for each in frequency_columns(0.89, 0.02) if each.heading == "leaves out zero"]
    cells = [column.cell(row).text for row in found.contrasts.itertuples()]
    assert {"no more", "only now", "on the other side", "as before"} == set(cells)
    part = frequency_part(fit, 0.02, [], [])
    assert part is not None
    assert said in part.sentences
    fit.provenance["frequency"]["problems"] = ["R-hat is 1.2"]
    (said,) = frequency_sentences(fit)
    assert said.endswith(" nothing is concluded: R-hat is 1.2.")
    assert frequency_sentences(made_up_fit(grid())) == []


def test_an_end_within_its_error_of_zero_is_not_called_a_change():
    fit = settled()
    with_ends(fit, "overall", (-0.3, -0.1, -0.2, 0.001), error=0.001)
    (said,) = frequency_sentences(fit)
    assert "none begins or ceases to hold zero and that of all words has an end too near to zero" in said


@pytest.mark.slow
def test_the_sentence_on_zero_stands_in_the_findings():
    fit = settled()
    assert set(frequency_sentences(fit)) <= set(findings_of_words(fit).sentences)
