"""The section on frequency of a page."""

from __future__ import annotations

import pytest
from helpers.counted import counted
from helpers.draws import made_up_fit
from helpers.tables import grid

from bayesbias.columns.frequency import frequency_columns, unequal_columns
from bayesbias.report.frequency import frequency_part
from bayesbias.studies.frequency import frequency_of


@pytest.mark.slow
def test_the_section_has_both_tables_and_says_what_moved():
    fit = counted(moved=0.05)
    part = frequency_part(fit, 0.02, [], ["it moves"])
    found = frequency_of(fit)
    assert part.tables[0].id == "t-frequency"
    assert len(part.tables[0].rows) == len(found.contrasts)
    assert {row[-2].text for row in part.tables[0].rows} == {"yes"}
    crossings = {"as before", "no more", "only now", "on the other side", "not clear"}
    assert {row[-1].text for row in part.tables[0].rows} <= crossings
    assert len(part.folded[0].tables[0].rows) == len(found.unequal)
    assert "it moves" in part.sentences
    assert {row[-2].text for row in frequency_part(fit, 0.06, [], []).tables[0].rows} == {"no"}
    assert frequency_part(made_up_fit(grid()), 0.02, [], []) is None


def test_problems_stand_in_the_place_of_what_was_found():
    fit = counted(moved=0.05)
    fit.provenance["frequency"]["problems"] = ["R-hat is 1.2"]
    sentences = frequency_part(fit, 0.02, [], ["it moves"]).sentences
    assert "it moves" not in sentences
    assert any("R-hat is 1.2" in sentence for sentence in sentences)


def test_what_is_unequal_is_said_only_where_it_is_known():
    column = unequal_columns(0.89)[-1]
    rows = list(frequency_of(counted()).unequal.itertuples())
    said = {(row.of, row.side, row.group): column.cell(row).text for row in rows}
    assert said["connection", "attribute", "associated"] == "–"  # nothing it is held against
    assert set(said.values()) <= {"yes", "no", "not clear", "–"}
    assert [each.heading for each in frequency_columns(0.89, 0.02)][-2:] == [
        "more than 0.02",
        "leaves out zero",
    ]
