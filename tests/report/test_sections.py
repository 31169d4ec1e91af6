"""What pages share: the account of the data, with covariates about words."""

from __future__ import annotations

from helpers.tables import grid

from bayesbias.report.sections import data_part


def test_the_data_of_a_page_say_which_words_lack_a_covariate():
    account = {"side": "protected", "listed": 7, "found": 6, "missing": ["w00"]}
    data = data_part(grid(), {"covariates": {"year": account}})
    (table,) = [each for each in data.tables if each.id == "t-covariates"]
    assert [cell.text for cell in table.rows[0]] == ["year", "protected words", "7", "6", "w00"]
    assert not [each for each in data_part(grid(), {}).tables if each.id == "t-covariates"]
