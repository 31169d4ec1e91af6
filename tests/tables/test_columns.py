"""A reader's own columns stay with their rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted

from bayesbias.core.errors import InputError
from bayesbias.tables.change import join_pairs
from bayesbias.tables.columns import numbers_of_texts
from bayesbias.tables.pair_table import COLUMNS
from bayesbias.tables.reading import load_distances

OWN = {
    "frequency": [1, 2, 3],
    "share": [0.5, 0.25, 1e-300],
    "code": ["007", "12", "a,b"],
    "note / why?": ["", "naïve", "nan"],
}


@pytest.fixture
def with_own(hand):
    frame = hand.frame.reset_index(drop=True)
    return frame.assign(**{name: [values[i % 3] for i in range(len(frame))] for name, values in OWN.items()})


@pytest.mark.parametrize("suffix", [".csv", ".parquet", "frame"])
def test_columns_of_ones_own_stay_with_their_rows(with_own, tmp_path, suffix):
    mixed = with_own[[*reversed(list(OWN)), *COLUMNS]].sample(frac=1, random_state=0)
    if suffix == "frame":
        table = load_distances(mixed)
    else:
        mixed.to_csv(tmp_path / "a.csv", index=False) if suffix == ".csv" else mixed.to_parquet(
            tmp_path / "a.parquet"
        )
        table = load_distances(tmp_path / f"a{suffix}")
        table.save(tmp_path / f"again{suffix}")
        table = load_distances(tmp_path / f"again{suffix}")
    assert list(table.frame.columns) == [*COLUMNS, *reversed(list(OWN))]
    assert table.coverage.columns == tuple(reversed(list(OWN)))
    assert table.coverage.as_dict()["columns"] == list(reversed(list(OWN)))
    for name in OWN:
        assert table.frame[name].tolist() == mixed[name].tolist()
    assert table.frame["frequency"].dtype.kind == "i"
    assert table.frame["share"].dtype.kind == "f"
    assert sum("of your own" in sentence for sentence in table.coverage.sentences()) == 1
    assert load_distances(with_own[list(COLUMNS)]).coverage.columns == ()


@pytest.mark.parametrize(
    ("default", "kept"),
    [
        (["1", "2", "3"], [1, 2, 3]),
        (["1", "", "3.5"], [1.0, None, 3.5]),
        (["-1e3", ".5", "2."], [-1000.0, 0.5, 2.0]),
        (["007", "1", "2"], ["007", "1", "2"]),
        (["1", "2", "12345678901234567890"], ["1", "2", "12345678901234567890"]),
        (["nan", "1", "2"], ["nan", "1", "2"]),
        (["inf", "1", "2"], ["inf", "1", "2"]),
        (["", "", ""], ["", "", ""]),
        (["1,5", "2", "3"], ["1,5", "2", "3"]),
        (["True", "False", "True"], ["True", "False", "True"]),
    ],
)
def test_numbers_in_a_file_are_numbers_and_codes_are_texts(cells, kept):
    values = numbers_of_texts(pd.Series(cells))
    assert [None if value != value else value for value in values] == kept
    assert {type(value) for value in values} == {type(value) for value in kept if value is not None}


def test_columns_of_ones_own_of_the_published_layout(tmp_path):
    lines = [
        ",protected_word,frequency,word_to_compare,word_class,cosine_distance,connection",
        "17,a1,5,kind,a_stereotype,0.5,associated",
        "3,a1,5,late,b_stereotype,0.6,different",
        "8,b1,9,late,b_stereotype,0.6,associated",
        "9,b1,9,kind,a_stereotype,0.9,different",
    ]
    path = tmp_path / "published.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = load_distances(path)  # the numbers of the rows are no column
    assert list(table.frame.columns) == [*COLUMNS, "frequency"]
    assert table.frame["frequency"].tolist() == [5, 5, 9, 9]
    path.write_text("\n".join(lines).replace("frequency", "distance", 1), encoding="utf-8")
    with pytest.raises(InputError, match="a column of your own is called 'distance', which is ours"):
        load_distances(path)
    path.write_text("\n".join(lines).replace("frequency", "", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"published\.csv, column 3: a column has no name"):
        load_distances(path)
    path.write_text("\n".join(lines).replace("frequency", "connection", 1), encoding="utf-8")
    with pytest.raises(InputError, match="a column stands twice; found: 'connection'"):
        load_distances(path)


def test_repeats_that_differ_in_a_column_of_ones_own_say_so(with_own):
    twice = pd.concat([with_own, with_own.iloc[:2].assign(code="other")])
    table = load_distances(twice)
    assert len(table) == len(with_own)
    assert table.frame["code"].tolist() == with_own["code"].tolist()
    assert any(
        "repeated rows differ in code; what the first of them says is kept" in n for n in table.coverage.notes
    )
    assert not any(
        "differ" in note for note in load_distances(pd.concat([with_own, with_own])).coverage.notes
    )
    assert load_distances(twice, repeats="keep").frame["code"].tolist() == twice["code"].tolist()


@pytest.mark.claim
def test_columns_of_ones_own_travel_with_a_fit_and_a_comparison(with_own, tmp_path):
    import bayesbias as bb

    odd = with_own.assign(row=True, **{"a/b": [{"x": 1}] * len(with_own)})
    table = load_distances(odd)
    assert table.frame["a/b"].tolist() == ["{'x': 1}"] * len(odd)
    fit = bb.fit(table, draws=50, tune=50, chains=2, seed=shifted(1))
    assert list(fit.table.columns) == [*COLUMNS, *OWN, "row", "a/b"]
    assert fit.provenance["coverage"]["columns"] == [*OWN, "row", "a/b"]
    fit.save(tmp_path / "fit.nc")
    back = bb.load_fit(tmp_path / "fit.nc")
    assert list(back.table.columns) == list(fit.table.columns)
    for name in (*OWN, "row", "a/b"):
        assert back.table[name].tolist() == fit.table[name].tolist()
        assert back.table[name].dtype.kind == fit.table[name].dtype.kind

    rng = np.random.default_rng(0)
    after = with_own.assign(distance=with_own["distance"] * rng.uniform(0.9, 1, len(with_own)), extra=1)
    after.loc[2, "code"] = "moved"
    joined, account = join_pairs(table, after.sample(frac=1, random_state=1), "soft")
    own = [*OWN, "row", "a/b", "code_debiased", "extra"]
    assert list(joined.columns) == [*COLUMNS[:-1], "original", "debiased", "change", *own]
    assert account["columns"] == own
    assert "code differs in soft; what that says stands beside it, in code_debiased" in account["notes"]
    assert joined["code"].tolist() == with_own["code"].tolist()
    assert joined["code_debiased"].tolist() == after["code"].tolist()
    with pytest.raises(InputError, match="'change', which is ours"):
        join_pairs(with_own.assign(change=1), after)

    found = bb.compare(table, after, draws=50, tune=50, chains=2, seed=shifted(1))
    assert list(found.original.table.columns) == [*COLUMNS, *own]
    bb.save_run(found, tmp_path / "run")
    pairs = bb.load_run(tmp_path / "run").result.methods["debiased"].pairs
    assert list(pairs.columns) == list(joined.columns)
    assert pairs["frequency"].tolist() == joined["frequency"].tolist()
    assert pairs["code_debiased"].tolist() == joined["code_debiased"].tolist()
