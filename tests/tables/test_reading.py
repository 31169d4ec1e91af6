"""Tables that are read: files and frames of our own, and every published one."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.plane import VECTORS
from helpers.seeds import shifted
from helpers.tables import grid

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.files import sha256_file
from bayesbias.models.spec import parse_model
from bayesbias.tables.distances import distance_table
from bayesbias.tables.pair_table import COLUMNS
from bayesbias.tables.reading import load_distances

QUICK = {"draws": 60, "tune": 60, "chains": 2, "seed": shifted(1)}


@pytest.fixture(scope="module")
def good() -> pd.DataFrame:
    return grid((2, 2), (2, 2), 2, 2)


# -- files and frames of our own -------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_saved_table_reads_back_the_same(hand, tmp_path, suffix):
    path = tmp_path / f"pairs{suffix}"
    hand.save(path)
    back = load_distances(path)
    assert list(back.frame.columns) == list(COLUMNS)
    for column in COLUMNS[:-1]:
        assert back.frame[column].astype(str).tolist() == hand.frame[column].astype(str).tolist()
    assert back.frame["distance"].tolist() == hand.frame["distance"].tolist()
    assert back.coverage.missing == ()
    assert back.provenance["name"] == "pairs"
    assert back.provenance["sha256"] == sha256_file(path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_words_that_look_like_missing_values_stay_words(tmp_path):
    odd = dict(zip(["nan", "null", "NA", "None", "n/a", "1"], VECTORS.values(), strict=False))
    words = {"x": {"protected": ["nan", "null"], "attributes": ["NA", "None"]}}
    table = distance_table(odd, words, controls={"neutral": ["n/a", "1"]})
    for suffix in (".csv", ".parquet"):
        table.save(tmp_path / f"odd{suffix}")
        back = load_distances(tmp_path / f"odd{suffix}").frame
        assert sorted(back["protected_word"].unique()) == ["nan", "null"]
        assert sorted(back["attribute"].unique()) == ["1", "NA", "None", "n/a"]
        assert back["distance"].tolist() == table.frame["distance"].tolist()


def bad(good: pd.DataFrame, row: int, column: str, value: object) -> pd.DataFrame:
    frame = good.astype({column: object})
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize(
    ("row", "column", "value", "said"),
    [
        (3, "distance", 9.0, r"row 3, column distance: expected a distance.*9\.0"),
        (3, "distance", "far", "row 3, column distance: expected a finite number, got 'far'"),
        (2, "attribute", " ", "row 2, column attribute: .*an empty cell"),
        (5, "connection", "diferent", "row 5, column connection: .*Did you mean 'different'"),
        (10, "protected_class", "class1", "row 10, .*one class of 'w01'"),
        (
            1,
            "connection",
            "different",
            r"the connection associated of 'w00'.*'a01'",
        ),
    ],
)
def test_bad_rows_are_refused_with_row_and_finding(good, tmp_path, row, column, value, said):
    frame = bad(good, row, column, value)
    with pytest.raises(InputError, match=said):
        load_distances(frame)
    frame.to_csv(tmp_path / "t.csv", index=False)
    line = said.replace(f"row {row}", f"line {row + 2}")
    with pytest.raises(InputError, match=line):
        load_distances(tmp_path / "t.csv")


def test_connections_turned_round_and_similarities_are_refused(good):
    turned = good["connection"].replace({"associated": "different", "different": "associated"})
    with pytest.raises(InputError, match=r"the connection associated.*got 'different'"):
        load_distances(good.assign(connection=turned))
    similarities = good.assign(distance=np.where(good.index == 3, -0.2, 0.5))
    with pytest.raises(InputError, match="A similarity"):
        load_distances(similarities)


def test_what_is_no_table_is_refused(good, tmp_path):
    with pytest.raises(InputError, match=r"the column 'attribute', got.*Did you mean 'atribute'"):
        load_distances(good.rename(columns={"attribute": "atribute"}))
    with pytest.raises(InputError, match="expected rows"):
        load_distances(good.iloc[:0])
    with pytest.raises(InputError, match="got nothing at this path"):
        load_distances(tmp_path / "absent.csv")
    vectors = pd.DataFrame({"d1": [1.0, 2.0], "d2": [2.0, 1.0]}, ["he", "she"])
    for given in (vectors, bb.load_embedding(vectors)):
        with pytest.raises(InputError, match="make a distance_table first"):
            bb.fit(given)


def test_frames_mappings_and_records_are_the_same_table(good):
    expected = load_distances(good).frame
    shuffled_index = good.set_index(np.arange(len(good))[::-1])
    for source in (good.to_dict("list"), good.to_dict("records"), shuffled_index):
        pd.testing.assert_frame_equal(load_distances(source).frame, expected)


# -- repeated rows ---------------------------------------------------------------------------------


def test_a_repeated_row_is_one_observation(good):
    many = pd.concat([good] * 16, ignore_index=True)
    once, kept = load_distances(many), load_distances(many, repeats="keep")
    pd.testing.assert_frame_equal(once.frame, load_distances(good).frame)
    assert (once.coverage.repeats, len(kept), kept.coverage.repeats) == (
        15 * len(good),
        len(many),
        0,
    )
    assert any("a repeated row is the same observation" in note for note in once.coverage.notes)
    again = pd.concat([good, good.iloc[[3]].assign(distance=0.5)], ignore_index=True)
    with pytest.raises(
        InputError,
        match=r"one distance of the pair 'w00', 'a11', got .* in row 3 and .* in row 32",
    ):
        load_distances(again)


@pytest.mark.slow
def test_fits_scores_and_comparisons_count_copies_once(good):
    many = pd.concat([good] * 16, ignore_index=True)
    one, fit = bb.fit(good, **QUICK), bb.fit(many, **QUICK)
    assert len(fit.table) == len(good)
    pd.testing.assert_frame_equal(one.contrasts(detail=True), fit.contrasts(detail=True))
    assert fit.provenance["coverage"]["repeats"] == 15 * len(good)
    assert bb.weat(good).p_value == bb.weat(many).p_value
    assert bb.mac(good).value == bb.mac(many).value
    after = many.assign(distance=many["distance"] * 0.99)
    assert len(bb.compare(many, after, **QUICK).methods["debiased"].pairs) == len(good)


@pytest.mark.slow
def test_repeats_are_kept_where_a_table_was_read_so(good):
    kept = load_distances(pd.concat([good, good]), repeats="keep")
    assert len(bb.fit(kept, **QUICK).table) == 2 * len(good)
    assert len(bb.fit(kept.frame, **QUICK).table) == 2 * len(good)  # the frame says so itself
    assert len(bb.compare(kept, kept, **QUICK).methods["debiased"].pairs) == 2 * len(good)


# -- other outcomes and columns of one's own -------------------------------------------------------


def test_simulated_distances_may_leave_the_range(good):
    with pytest.raises(InputError, match="from 0 to 2"):
        bb.fit(good.assign(distance=good["distance"] + 1.2), **QUICK)
    scenario = bb.simulation.Scenario(words=(2, 2), attributes=(2, 2), human=0, neutral=0)
    table = bb.simulation.simulate_table(scenario, seed=shifted(1))
    far = table.assign(distance=table["distance"] + 1.2)
    assert far["distance"].max() > 2
    assert len(bb.fit(far, **QUICK).table) == len(far)


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
    corpora = pd.concat(
        [good.assign(corpus="a"), good.assign(corpus="b", distance=good["distance"] / 2)]
    )
    assert len(bb.fit(corpora, own("distance", "corpus"), **QUICK).table) == 2 * len(good)
    assert len(bb.fit(corpora, own("distance", "connection", 'units = ["protected_word", "attribute", "corpus"]'),
                      **QUICK).table) == 2 * len(good)  # fmt: skip
    with pytest.raises(
        InputError,
        match=r"expected one distance of .* name the column .* \[likelihood\], key units",
    ):
        bb.fit(corpora, "crossed", **QUICK)
    # A column called distance that is none of words.
    cities = pd.DataFrame(
        {"city": ["a", "b"] * 10, "place": range(20), "distance": range(500, 520)}
    )
    copies = pd.concat([cities, cities])
    spec = own("distance", "city", 'units = ["city", "place"]')
    assert len(bb.fit(copies, spec, **QUICK).table) == 20


def test_sentiment_is_checked_by_its_own_range():
    table = bb.sentiment_table(bb.list_predictions("m1"))
    small = table[table["profession"].isin(table["profession"].unique()[:3])]
    fit = bb.fit(pd.concat([small, small]), "sentiment", **QUICK)
    assert (len(fit.table), fit.provenance["coverage"]["repeats"]) == (len(small), len(small))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", "frame"])
def test_columns_of_ones_own_stay_with_their_rows(hand, tmp_path, suffix):
    own = {
        "frequency": [1, 2],
        "share": [0.5, 1e-300],
        "code": ["007", "a,b"],
        "cosine_similarity": [0.5, 0.25],
    }
    frame = hand.frame.assign(**{name: values * 16 for name, values in own.items()})
    mixed = frame[[*reversed(list(own)), *COLUMNS]].sample(frac=1, random_state=0)
    if suffix == ".csv":
        mixed.to_csv(tmp_path / "a.csv")
    elif suffix == ".parquet":
        mixed.to_parquet(tmp_path / "a.parquet", index=False)
    table = load_distances(mixed if suffix == "frame" else tmp_path / f"a{suffix}")
    assert list(table.frame.columns) == [*COLUMNS, *reversed(list(own))]
    assert table.coverage.columns == tuple(reversed(list(own)))
    for name in own:
        assert table.frame[name].tolist() == mixed[name].tolist()
    with pytest.raises(InputError, match="'change', which is ours"):
        bb.tables.join_pairs(frame.assign(change=1), frame)


def test_columns_of_ones_own_of_both_tables_are_joined(hand):
    before = hand.frame.assign(code=["007"] * 32, share=0.5)
    after = before.assign(code=["007"] * 31 + ["moved"], extra=1).sample(frac=1, random_state=1)
    joined, account = bb.tables.join_pairs(before, after, "soft")
    own = ["code", "share", "extra"]
    assert list(joined.columns) == [*COLUMNS[:-1], "original", "debiased", "change", *own]
    assert account["columns"] == own
    assert joined["code"].tolist() == ["007"] * 32
    assert (joined["change"] == 0).all()


# -- published tables ------------------------------------------------------------------------------


PUBLISHED = {
    "google_2021/genderGoogle": (4116, 175, 175, 378, 3388),
    "google_2021/raceGoogle": (2840, 51, 99, 270, 2420),
    "google_2021/religionGoogle": (4200, 55, 110, 405, 3630),
    "reddit_pairs_2021/debiasedGenderReddit": (4116, 175, 175, 378, 3388),
    "reddit_pairs_2021/debiasedRaceReddit": (2840, 51, 99, 270, 2420),
    "reddit_pairs_2021/debiasedReligionReddit": (4200, 55, 110, 405, 3630),
    "reddit_pairs_2021/genderReddit": (4116, 175, 175, 378, 3388),
    "reddit_pairs_2021/raceReddit": (2840, 51, 99, 270, 2420),
    "reddit_pairs_2021/religionReddit": (4200, 55, 110, 405, 3630),
    "weat/weat_1_reddit": (11160, 763, 756, 2635, 7006),
    "weat/weat_7_reddit": (5232, 128, 128, 1360, 3616),
    "with_controls_2022/gender_group_reddit_dataset": (4704, 175, 175, 1190, 3164),
    "with_controls_2022/race_group_reddit_dataset": (3260, 51, 99, 850, 2260),
    "with_controls_2022/religion_group_glove_dataset": (4815, 55, 110, 1275, 3375),
    "with_controls_2022/religion_group_reddit_dataset": (4830, 55, 110, 1275, 3390),
}


def raw_rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_published_tables_are_read_whole(name, shared):
    path = shared / "data" / "bayesbias_distances" / f"{name}.csv"
    table = load_distances(path)
    frame = table.frame
    counts = frame["connection"].value_counts(sort=False).to_dict()
    assert (len(table), *counts.values()) == PUBLISHED[name]
    assert list(counts) == ["associated", "different", "human", "neutral"]
    # Row by row against the file, read with the standard library.
    expected = {}
    for row in raw_rows(path):
        if float(row["cosine_distance"]) >= 0:
            expected[row["protected_word"], row["word_to_compare"]] = (
                row["word_class"].removesuffix("_stereotype"),
                row["connection"].replace("none", "neutral"),
                float(row["cosine_distance"]),
            )
    keys = zip(frame["protected_word"], frame["attribute"], strict=True)
    values = zip(
        frame["attribute_class"], frame["connection"].astype(str), frame["distance"], strict=True
    )
    assert dict(zip(keys, values, strict=True)) == expected
    own = frame["connection"] == "associated"
    assert (frame.loc[own, "protected_class"] == frame.loc[own, "attribute_class"]).all()
    assert (frame.groupby("protected_word")["protected_class"].nunique() == 1).all()
    assert frame["distance"].between(0, 2).all()


def test_sentinels_become_missing_words(shared):
    tables = shared / "data" / "bayesbias_distances"
    glove = load_distances(tables / "with_controls_2022" / "religion_group_glove_dataset.csv")
    assert glove.coverage.missing == ("literaly",)
    assert glove.coverage.attributes["neutral"].as_dict() == {
        "listed": 226,
        "found": 225,
        "missing": ["literaly"],
    }
    assert any("(below -1): 15" in note for note in glove.coverage.notes)
    weat = load_distances(tables / "weat" / "weat_1_reddit.csv")
    groups = weat.coverage.protected
    words = [*groups["flowers"].missing, *groups["insects"].missing]
    raw = raw_rows(tables / "weat" / "weat_1_reddit.csv")
    by_word: dict[str, set[bool]] = {}
    for row in raw:
        by_word.setdefault(row["protected_word"], set()).add(row["cosine_distance"] == "-100")
    assert sorted(words) == sorted(word for word, gone in by_word.items() if gone == {True})
    assert len(words) == 19
    assert weat.coverage.missing == (*words, "caress")
    assert len(raw) - len(weat) == 6890  # the count in the README of the data


@pytest.mark.parametrize(
    ("name", "rows", "distinct"),
    [
        ("google_2021/raceGoogle", 5112, 2840),
        ("with_controls_2022/race_group_reddit_dataset", 5868, 3260),
    ],
)
def test_repeated_words_of_the_race_tables_count_once(name, rows, distinct, shared):
    path = shared / "data" / "bayesbias_distances" / f"{name}.csv"
    once, kept = load_distances(path), load_distances(path, repeats="keep")
    assert (len(kept), len(once), once.coverage.repeats) == (rows, distinct, rows - distinct)
    assert once.frame["protected_word"].nunique() == 10


PUBLISHED_HEADER = (
    ",protected_word,word_to_compare,word_class,cosine_distance,cosine_similarity,connection"
)


PUBLISHED_GOOD = [
    PUBLISHED_HEADER,
    "0,a1,kind,a_stereotype,0.5,0.5,associated",
    "1,a1,late,b_stereotype,0.6,0.4,different",
    "2,a1,door,neutral,0.7,0.3,none",
    "3,b1,kind,a_stereotype,0.8,0.2,different",
    "4,b1,late,b_stereotype,0.9,0.1,associated",
    "5,b1,door,neutral,1.0,0.0,none",
    "6,b2,kind,a_stereotype,1.2,-0.2,different",
    "7,b2,late,b_stereotype,0.4,0.6,associated",
    "8,b2,door,neutral,1.3,-0.3,none",
]


def written(tmp_path: Path, lines: list[str] | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(lines if isinstance(lines, bytes) else ("\n".join(lines) + "\n").encode())
    return path


def published_with(**lines: str) -> list[str]:
    out = list(PUBLISHED_GOOD)
    for key, text in lines.items():
        out[int(key.removeprefix("line")) - 1] = text
    return out


def test_the_published_layout(tmp_path):
    table = load_distances(written(tmp_path, PUBLISHED_GOOD))
    assert table.frame["attribute_class"].unique().tolist() == ["a", "b", "neutral"]
    assert table.frame["attribute_kind"].unique().tolist() == ["stereotype", "neutral"]
    assert table.frame["protected_class"].tolist() == ["a"] * 3 + ["b"] * 6
    assert table.frame["connection"].cat.categories.tolist() == [
        "associated",
        "different",
        "neutral",
    ]
    # Without the similarities, too.
    bare = [",".join(line.split(",")[:5] + line.split(",")[6:]) for line in PUBLISHED_GOOD]
    pd.testing.assert_frame_equal(load_distances(written(tmp_path, bare)).frame, table.frame)


def test_single_missing_pairs_are_said(tmp_path):
    lines = published_with(line8="6,b2,kind,a_stereotype,-100,-100,different")
    table = load_distances(written(tmp_path, lines))
    assert len(table) == 8
    assert table.coverage.missing == ()
    assert any(note.endswith("left out: 1") for note in table.coverage.notes)
    # A sentinel in one of the two columns is one.
    half = published_with(line8="6,b2,kind,a_stereotype,0.3,-100,different")
    pd.testing.assert_frame_equal(load_distances(written(tmp_path, half)).frame, table.frame)


BAD_PUBLISHED = {
    "no column": (
        [line.replace("connection", "conection") for line in PUBLISHED_GOOD],
        r"the column 'connection', got.*Did you mean 'conection'\?",
    ),
    "two classes": (
        published_with(line3="1,a1,late,b_stereotype,0.6,0.4,associated"),
        r"line 2: .*'a1'.*got a and b",
    ),
    "contradiction": (
        published_with(line8="6,b2,kind,a_stereotype,1.2,-0.2,human"),
        r"line 8: .*connection different of 'b2'.*got 'human'",
    ),
}


@pytest.mark.parametrize("case", list(BAD_PUBLISHED))
def test_bad_published_tables_are_refused(case, tmp_path):
    lines, said = BAD_PUBLISHED[case]
    with pytest.raises(InputError, match=said) as caught:
        load_distances(written(tmp_path, lines))
    assert str(caught.value).startswith(str(tmp_path / "t.csv"))
