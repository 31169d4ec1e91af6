"""Bad rows are refused in the same words by every door: file, frame, mapping, records, a table that was changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted
from helpers.tables import grid

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.models.loading import parse_model
from bayesbias.tables.pair_table import PairTable
from bayesbias.tables.reading import load_distances

QUICK = {"draws": 60, "tune": 60, "chains": 2, "seed": shifted(1), "pointwise": False}
SHORT = {key: value for key, value in QUICK.items() if key != "pointwise"}


@pytest.fixture(scope="module")
def good() -> pd.DataFrame:
    return grid((2, 2), (2, 2), 2, 2)


def with_cell(frame: pd.DataFrame, row: int, **cells: Any) -> pd.DataFrame:
    frame = frame.astype(dict.fromkeys(cells, object))
    for column, value in cells.items():
        frame.loc[row, column] = value
    return frame


FAULTS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "truth value": (
        lambda f: with_cell(f, 3, distance=True),
        r"(row 3|line 5), column distance: is not a (finite )?number; found: '?True",
    ),
    "distance of nine": (
        lambda f: f.assign(distance=np.where(f.index == 3, 9.0, f["distance"])),
        r"(row 3|line 5), column distance: is out of range; found: 9\.0; valid: 0 to 2",
    ),
    "negative": (
        lambda f: f.assign(distance=np.where(f.index == 3, -0.2, f["distance"])),
        r"(row 3|line 5), column distance: is out of range; found: -0\.2",
    ),
    "times a hundred": (
        lambda f: f.assign(distance=f["distance"] * 100),
        r"(row 0|line 2), column distance: is out of range.* a percentage\? divide by 100",
    ),
    "no number": (
        lambda f: with_cell(f, 4, distance="far"),
        r"(row 4|line 6), column distance: is not a finite number; found: 'far'",
    ),
    "infinite": (
        lambda f: f.assign(distance=np.where(f.index == 3, np.inf, f["distance"])),
        r"(row 3|line 5), column distance: is not a finite number; found: '?inf",
    ),
    "an empty word": (
        lambda f: with_cell(f, 2, attribute=" "),
        "(row 2|line 4), column attribute: an empty cell",
    ),
    "an empty class": (
        lambda f: with_cell(f, 2, protected_class=None),
        "(row 2|line 4), column protected_class: an empty cell",
    ),
    "unknown connection": (
        lambda f: with_cell(f, 5, connection="diferent"),
        r"(row 5|line 7), column connection: unknown connection; found: 'diferent'; .*did you mean 'different'",
    ),
    "two classes": (
        lambda f: with_cell(f, 10, protected_class="class1"),
        r"'w01' stands in another class in (row 8|line 10); found: 'class1'; valid: class0",
    ),
    "a connection against the classes": (
        lambda f: with_cell(f, 1, connection="different"),
        r"(row 1|line 3): 'w00' \(class0\) and 'a01' \(class0\) contradict .*found: 'different'; valid: associated",
    ),
    "all connections turned round": (
        lambda f: f.assign(
            connection=f["connection"].replace({"associated": "different", "different": "associated"})
        ),
        r"(row 0|line 2): 'w00' .*contradict.*found: 'different'; valid: associated",
    ),
    "a control in disguise": (
        lambda f: with_cell(f, 5, connection="neutral"),
        r"(row 5|line 7): .*contradict .*found: 'neutral'; valid: human",
    ),
    "another kind": (
        lambda f: f.assign(attribute_kind="stereotype"),
        r"(row 4|line 6), column attribute_kind: .*contradicts its connection; found: 'stereotype'; valid: human",
    ),
    "a repeat that contradicts": (
        lambda f: pd.concat([f, f.iloc[[3]].assign(distance=0.5)], ignore_index=True),
        r"'w00', 'a11' stands twice with different distances, in (row 3 and row 32|line 5 and line 34)",
    ),
}


def changed(frame: pd.DataFrame) -> PairTable:
    """A table that was made of good rows, and got these in their place."""
    return dataclasses.replace(load_distances(grid((2, 2), (2, 2), 2, 2), name="pairs"), frame=frame)


def as_file(frame: pd.DataFrame, folder: Path) -> str:
    frame.to_csv(folder / "pairs.csv", index=False)
    return str(folder / "pairs.csv")


DOORS: Mapping[str, Callable[[pd.DataFrame, Path], Any]] = {
    "frame": lambda frame, _: frame,
    "file": as_file,
    "mapping": lambda frame, _: {str(name): frame[name].tolist() for name in frame.columns},
    "records": lambda frame, _: frame.to_dict("records"),
    "changed table": lambda frame, _: changed(frame),
}
ASKED: Mapping[str, Callable[[Any, pd.DataFrame], Any]] = {
    "load_distances": lambda given, _: bb.load_distances(given),
    "fit": lambda given, _: bb.fit(given, "crossed", **QUICK),
    "compare": lambda given, good: bb.compare(good, given, **SHORT),
    "compare original": lambda given, good: bb.compare(given, good, **SHORT),
    "weat": lambda given, _: bb.weat(given),
    "mac": lambda given, _: bb.mac(given),
    "mac against": lambda given, good: bb.mac(good, against=given),
}


# load_distances makes tables and takes none; a fit takes no file, and says to read it.
WAYS = [
    (door, asked)
    for door in DOORS
    for asked in ASKED
    if (door, asked) not in (("changed table", "load_distances"), ("file", "fit"))
]


@pytest.mark.parametrize(("door", "asked"), WAYS)
@pytest.mark.parametrize("fault", list(FAULTS))
def test_every_door_refuses_the_same_rows(fault, door, asked, good, tmp_path):
    spoil, said = FAULTS[fault]
    given = DOORS[door](spoil(good), tmp_path)
    with pytest.raises(InputError, match=said) as caught:
        ASKED[asked](given, good)
    assert "\n" not in str(caught.value)


def sixteen(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([frame] * 16, ignore_index=True)


@pytest.mark.parametrize("door", [door for door in DOORS if door != "file"])
@pytest.mark.slow
def test_sixteen_copies_of_every_row_are_one_table(door, good, tmp_path):
    one = bb.fit(DOORS[door](good, tmp_path), **QUICK)
    many = bb.fit(DOORS[door](sixteen(good), tmp_path), **QUICK)
    assert len(many.table) == len(good)
    pd.testing.assert_frame_equal(one.contrasts(), many.contrasts())
    assert many.provenance["coverage"]["repeats"] == 15 * len(good)
    assert any("a repeated row is the same observation" in note for note in bb.findings_of(many).notes)
    assert "repeats" not in " ".join(bb.findings_of(one).notes)


@pytest.mark.slow
def test_scores_and_comparisons_count_copies_once(good):
    once, many = bb.weat(good), bb.weat(sixteen(good))
    assert (once.statistic, once.n, once.p_value) == (many.statistic, many.n, many.p_value)
    assert bb.mac(changed(sixteen(good))).value == bb.mac(good).value
    rng = np.random.default_rng(0)
    after = good.assign(distance=good["distance"] + rng.normal(0, 0.01, len(good)))
    found = bb.compare(changed(sixteen(good)), sixteen(after), **SHORT)
    assert len(found.methods["debiased"].pairs) == len(good)


@pytest.mark.slow
def test_repeats_are_kept_where_a_table_was_read_so(good):
    kept = load_distances(pd.concat([good, good]), repeats="keep")
    assert len(bb.fit(kept, **QUICK).table) == 2 * len(good)
    # The frame says so itself; what is put together anew says nothing, and counts each pair once.
    assert len(bb.fit(kept.frame, **QUICK).table) == 2 * len(good)
    assert len(bb.fit(pd.DataFrame(kept.frame.to_dict("list")), **QUICK).table) == len(good)
    assert len(bb.compare(kept, kept, **SHORT).methods["debiased"].pairs) == 2 * len(good)


def test_a_good_table_passes_as_it_is(good):
    table = load_distances(good)
    before = table.frame.copy()
    fit = bb.fit(table, **QUICK)
    pd.testing.assert_frame_equal(table.frame, before)
    assert fit.table.equals(before)
    assert fit.provenance["coverage"] == table.coverage.as_dict()


def test_ends_of_the_range_are_drawn_in_by_rounding_alone(good):
    table = load_distances(good.assign(distance=[-5e-7, 2 + 5e-7, *good["distance"][2:]]))
    assert table.frame["distance"].tolist()[:2] == [0.0, 2.0]
    with pytest.raises(InputError, match="out of range"):
        load_distances(good.assign(distance=[2 + 2e-6, *good["distance"][1:]]))


def test_the_kind_of_an_attribute_follows_from_its_connection(good):
    fit = bb.fit(good.drop(columns="attribute_kind"), "shared", **QUICK)
    assert fit.table["attribute_kind"].tolist() == good["attribute_kind"].tolist()


def test_simulated_distances_may_leave_the_range(good):
    with pytest.raises(InputError, match="out of range"):
        bb.fit(good.assign(distance=good["distance"] + 1.2), **QUICK)
    scenario = bb.simulation.Scenario(words=(2, 2), attributes=(2, 2), human=0, neutral=0)
    table = bb.simulation.simulate_table(scenario, seed=shifted(1))
    far = table.assign(distance=table["distance"] + 1.2)
    assert far["distance"].max() > 2
    assert len(bb.fit(far, **QUICK).table) == len(far)
    far.loc[0, "distance"] = np.nan
    with pytest.raises(InputError, match="row 0, column distance: is not a finite number"):
        bb.fit(far, **QUICK)


OWN = """
schema = 1
name = "own"
description = "of one's own"
[likelihood]
outcome = "OUTCOME"
distribution = "Normal"
mu = ["m"]
sigma = "s"
UNITS
[parameter.m]
dims = ["DIM"]
distribution = "Normal"
mu = 0
sigma = 50
[parameter.s]
distribution = "Exponential"
lam = 0.1
[results]
group = "DIM"
"""


def own(outcome: str, dim: str, units: str = "") -> Any:
    text = OWN.replace("OUTCOME", outcome).replace("DIM", dim).replace("UNITS", units)
    return parse_model(text.encode(), "own.toml")


@pytest.mark.slow
def test_a_model_of_ones_own_takes_columns_of_its_own(good):
    rng = np.random.default_rng(1)
    # Not cosine distances, not our connections, several measurements of a pair.
    frame = pd.concat([good] * 3, ignore_index=True)
    frame = frame.assign(
        loss=rng.integers(1, 6, len(frame)) * 20.0, country=["x", "y", "z", "x"] * 24, distance=17.0
    )
    assert len(bb.fit(frame, own("loss", "country"), **QUICK).table) == len(frame)
    # Two rows of a pair in two corpora are two observations; the same in one are one.
    corpora = pd.concat([good.assign(corpus="a"), good.assign(corpus="b", distance=good["distance"] / 2)])
    assert len(bb.fit(corpora, own("distance", "corpus"), **QUICK).table) == 2 * len(good)
    assert len(bb.fit(corpora, own("distance", "connection", 'units = ["protected_word", "attribute", "corpus"]'),
                      **QUICK).table) == 2 * len(good)  # fmt: skip
    with pytest.raises(InputError, match=r"stands twice .* name the column .* \[likelihood\], key units"):
        bb.fit(corpora, "crossed", **QUICK)
    # A column called distance that is none of words.
    cities = pd.DataFrame({"city": ["a", "b"] * 10, "place": range(20), "distance": rng.normal(500, 9, 20)})
    assert len(bb.fit(cities, own("distance", "city", 'units = ["city", "place"]'), **QUICK).table) == 20
    copies = pd.concat([cities, cities])
    assert len(bb.fit(copies, own("distance", "city", 'units = ["city", "place"]'), **QUICK).table) == 20


def test_a_frame_without_a_column_that_the_model_does_not_need(good):
    less = good.drop(columns=["attribute_class", "protected_class"])
    assert len(bb.fit(sixteen(less), "hierarchical", **QUICK).table) == len(less)
    with pytest.raises(InputError, match="row 3, column distance: is out of range"):
        bb.fit(
            less.assign(distance=np.where(less.index == 3, 9.0, less["distance"])), "hierarchical", **QUICK
        )
    with pytest.raises(InputError, match=r"needs a column that the table lacks.*attribute"):
        bb.fit(less.drop(columns="attribute"), "crossed", **QUICK)


def test_sentiment_and_sentences_are_checked_by_their_own_ranges():
    table = bb.sentiment_table(bb.list_predictions("m1"))
    small = table[table["profession"].isin(table["profession"].unique()[:3])]
    fit = bb.fit(pd.concat([small, small]), "sentiment", **QUICK)
    assert len(fit.table) == len(small)
    assert fit.provenance["coverage"]["repeats"] == len(small)
    with pytest.raises(
        InputError, match=r"row 1, column difference: is out of range; found: 1\.5; valid: -1 to 1"
    ):
        bb.fit(small.assign(difference=[0.1, 1.5, *small["difference"][2:]]), "sentiment", **QUICK)
    changed_logit = small.assign(
        difference=9.0, logit_difference=np.random.default_rng(0).normal(0, 9, len(small))
    )
    assert len(bb.fit(changed_logit, "sentiment_logit", **QUICK).table) == len(small)
