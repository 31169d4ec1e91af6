"""Tables that are read: our own, and every published one."""

from __future__ import annotations

import csv
import errno
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.plane import LIST, VECTORS

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.files import sha256_file
from bayesbias.tables.distances import distance_table
from bayesbias.tables.pair_table import COLUMNS
from bayesbias.tables.reading import load_distances


# -- files of our own ------------------------------------------------------------------------------
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


def test_saving_is_whole_or_not_at_all(hand, tmp_path, monkeypatch):
    path = tmp_path / "pairs.csv"
    path.write_text("old")

    def full(self, target, **_):
        Path(target).write_text("half a li")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    with pytest.raises(InputError, match=r"pairs\.csv: cannot be written: No space left on device"):
        hand.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["pairs.csv"]
    with pytest.raises(InputError, match=r"found: '\.xlsx'; valid: \.csv, \.parquet"):
        hand.save(tmp_path / "pairs.xlsx")


HEADER = ",".join(COLUMNS)


GOOD = [
    HEADER,
    "a1,a,kind,a,stereotype,associated,0.5",
    "a1,a,late,b,stereotype,different,0.6",
    "a1,a,hand,human,human,human,0.7",
    "b1,b,kind,a,stereotype,different,0.8",
    "b1,b,late,b,stereotype,associated,0.9",
    "b1,b,hand,human,human,human,1.0",
    "b1,b,loud,b,stereotype,associated,1.1",
]


def written(tmp_path: Path, lines: list[str] | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(lines if isinstance(lines, bytes) else ("\n".join(lines) + "\n").encode())
    return path


def with_line(number: int, text: str) -> list[str]:
    lines = list(GOOD)
    lines[number - 1] = text
    return lines


BAD_OWN = {
    "no number": (with_line(3, "a1,a,late,b,stereotype,different,far"), "line 3, column distance: .*'far'"),
    "comma": (
        with_line(3, 'a1,a,late,b,stereotype,different,"0,6"'),
        "column distance: .*'0,6'; decimal comma. write 0.6",
    ),
    "infinite": (with_line(3, "a1,a,late,b,stereotype,different,inf"), "line 3, column distance: .*'inf'"),
    "NaN": (with_line(3, "a1,a,late,b,stereotype,different,nan"), "line 3, column distance: .*'nan'"),
    "no distance": (
        with_line(3, "a1,a,late,b,stereotype,different,"),
        "line 3, column distance: an empty cell.*remove the row",
    ),
    "above two": (with_line(4, "a1,a,hand,human,human,human,2.1"), "line 4.*2.1; valid: 0 to 2$"),
    "similarities": (
        [HEADER, "a1,a,kind,a,stereotype,associated,0.9", "a1,a,late,b,stereotype,different,-0.2"],
        r"line 3, column distance: is out of range; .*a similarity\? distance = 1 - similarity",
    ),
    "percentages": (
        [HEADER, "a1,a,kind,a,stereotype,associated,90", "a1,a,late,b,stereotype,different,75.5"],
        r"line 2, column distance: .*a percentage\? divide by 100.*distance = 1 - similarity",
    ),
    "semicolons": ([line.replace(",", ";") for line in GOOD], "separated by ';'; save it with commas"),
    "semicolons and decimal commas": (
        [line.replace(",", ";").replace(".", ",") for line in GOOD],
        "separated by ';'; save it with commas",
    ),
    "tabs": ([line.replace(",", "\t") for line in GOOD], "separated by a tab; save it with commas"),
    "pickle": (pickle.dumps({"a": [0.5]}), "is a pickle; .*save the table as CSV or Parquet"),
    "netCDF 4": (b"\x89HDF\r\n\x1a\n" + b"\0" * 40, "is netCDF; .*a fit is read with load_fit"),
    "netCDF 3": (b"CDF\x01" + b"\0" * 40, "is netCDF; .*a fit is read with load_fit"),
    "Parquet": (b"PAR1" + b"\0" * 40, "is Parquet by its content; .*end in .parquet"),
    "zip": (b"PK\x03\x04" + b"\0" * 40, "is a zip archive .*save the table as CSV"),
    "UTF-16": ("\n".join(GOOD).encode("utf-16"), "is UTF-16 text; .*save it as UTF-8"),
    "UTF-32": ("\n".join(GOOD).encode("utf-32"), "is UTF-32 text; .*save it as UTF-8"),
    "UTF-16 without mark": ("\n".join(GOOD).encode("utf-16-le"), "is UTF-16 text; .*save it as UTF-8"),
    "below zero": (with_line(4, "a1,a,hand,human,human,human,-0.2"), "line 4.*-0.2; valid: 0 to 2$"),
    # The sentinel of the published tables is none of ours.
    "sentinel": (with_line(4, "a1,a,hand,human,human,human,-100"), "line 4.*-100.0; valid: 0 to 2"),
    "unknown connection": (
        with_line(5, "b1,b,kind,a,stereotype,diferent,0.8"),
        r"line 5, column connection: .*'diferent'; valid: .* did you mean 'different'\?",
    ),
    "contradictory connection": (
        with_line(8, "b1,b,loud,b,stereotype,different,1.1"),
        r"line 8: 'b1' \(b\) and 'loud' \(b\) contradict.*found: 'different'; valid: associated",
    ),
    "control in disguise": (
        [line.replace("human,human,human", "human,human,neutral") for line in GOOD],
        r"line 4: .*contradict.*found: 'neutral'; valid: human",
    ),
    "empty word": (with_line(3, "a1,a,,b,stereotype,different,0.6"), "line 3, column attribute: an empty"),
    "blank word": (with_line(3, " ,a,late,b,stereotype,different,0.6"), "line 3, column protected_word"),
    "empty class": (with_line(3, "a1,,late,b,stereotype,different,0.6"), "line 3, column protected_class"),
    "short line": (with_line(3, "a1,a,late"), "line 3: has 3 cells where the header has 7$"),
    "long line": (
        with_line(3, GOOD[2] + ",7,8"),
        "line 3: has 9 cells where the header has 7; a cell with a comma",
    ),
    "all lines longer": (
        [HEADER, *(f"1,{line}" for line in GOOD[1:])],
        "line 2: has 8 cells where the header has 7",
    ),
    "two classes": (
        [*GOOD, "a1,b,loud,b,stereotype,associated,0.3"],
        "line 9, column protected_class: .*'b'; valid: a",
    ),
    "contradictory repeat": (
        [*GOOD, "a1,a,kind,a,stereotype,associated,0.51"],
        r"'a1', 'kind'.*\(0.5, 0.51\)",
    ),
    "no column": (
        [line.rsplit(",", 1)[0] for line in GOOD],
        "column 'distance' is missing; found: .*valid: ",
    ),
    "another name": (
        [HEADER.replace("attribute_class", "atribute_class"), *GOOD[1:]],
        r"'attribute_class' is missing.*did you mean 'atribute_class'\?",
    ),
    "header only": (GOOD[:1], "the table has no rows, only a header; valid: protected_word, "),
    "empty": (b"", "is empty; valid: a table with the columns protected_word, "),
    "blank": (b"\n\n", "is empty; valid: a table with the columns protected_word, "),
    "not UTF-8": (
        "\n".join(GOOD).encode().replace(b"late", b"l\xe4te", 1),
        "line 3: is not valid UTF-8; save it as UTF-8",
    ),
    "binary": (bytes(range(256)) * 20, "cannot be read as a table|is not valid UTF-8|missing"),
}


@pytest.mark.parametrize("case", list(BAD_OWN))
def test_bad_tables_are_refused_with_file_line_and_finding(case, tmp_path):
    lines, said = BAD_OWN[case]
    path = written(tmp_path, lines)
    with pytest.raises(InputError, match=said) as caught:
        load_distances(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_table_of_few_words_says_so(hand, tmp_path):
    # Four stereotypes of a and two of b; one protected word of a. What the word list would say, the table shows.
    more = {"kind": "a", "rude": "a", "fond": "a", "warm": "a", "late": "b", "loud": "b"}
    lines = [
        f"{word},{of},{attribute},{kind},stereotype,{'associated' if of == kind else 'different'},0.{7 + i}"
        for i, (word, of) in enumerate([("a1", "a"), ("b1", "b"), ("b2", "b")])
        for attribute, kind in more.items()
    ]
    assert load_distances(written(tmp_path, [HEADER, *lines])).coverage.notes == (
        "only one protected word of a is in the table; its class rests on that word, and one word shows no scatter",
        "b has 2 protected words and 2 stereotypes: how far they vary is weakly known",
    )
    # A file of our own says of a thin table what the vectors said.
    hand.save(tmp_path / "pairs.csv")
    assert load_distances(tmp_path / "pairs.csv").coverage.notes == (
        "a has 2 protected words and 2 stereotypes: how far they vary is weakly known",
        "b has 2 protected words and 2 stereotypes: how far they vary is weakly known",
    )


def test_stereotypes_lost_to_the_vocabulary_are_said():
    attributes = ["kind", "rude", "hand", "neck"]
    words = {"a": {"protected": ["a1", "a2"], "attributes": attributes}, "b": LIST["b"]}
    notes = distance_table({w: v for w, v in VECTORS.items() if w != "neck"}, words).coverage.notes
    assert "a has 2 protected words and 3 stereotypes: how far they vary is weakly known" in notes
    lines = [
        *PUBLISHED_GOOD,
        *(
            f"9,{word},fond,a_stereotype,-100,-100,{connection}"
            for word, connection in (("a1", "associated"), ("b1", "different"), ("b2", "different"))
        ),
    ]
    raw = pd.DataFrame([line.split(",") for line in lines[1:]], columns=PUBLISHED_HEADER.split(","))
    notes = load_distances(raw).coverage.notes
    assert "only one stereotype of a is in the table; all it says rests on that word" in notes
    assert "3 rows carry the mark of a missing word (below -1)" in notes


def test_what_is_no_table_is_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder, not a table"):
        load_distances(tmp_path)
    written(tmp_path, GOOD, "pairs.csv")
    with pytest.raises(InputError, match=r"no such table; .*did you mean 'pairs\.csv'\?"):
        load_distances(tmp_path / "pair.csv")
    with pytest.raises(InputError, match=r"no such table; .*there is no folder"):
        load_distances(tmp_path / "nowhere" / "pairs.csv")
    with pytest.raises(InputError, match=r"t\.parquet: cannot be read as a table"):
        load_distances(written(tmp_path, GOOD, "t.parquet"))
    load_distances(tmp_path / "pairs.csv").save(tmp_path / "u.parquet")
    short = written(tmp_path, (tmp_path / "u.parquet").read_bytes()[:-40], "v.parquet")
    with pytest.raises(InputError, match=r"v\.parquet: cannot be read as a table"):
        load_distances(short)
    with pytest.raises(InputError, match=r"w\.toml: is a TOML file, not a table; .*load_wordlist"):
        load_distances(written(tmp_path, b"schema = 1", "w.toml"))
    with pytest.raises(InputError, match=r"p\.parquet: is a pickle"):
        load_distances(written(tmp_path, pickle.dumps([1]), "p.parquet"))
    with pytest.raises(InputError, match="found: 'twice'; valid: once, keep"):
        load_distances(tmp_path / "pairs.csv", repeats="twice")


def test_byte_order_mark_and_dos_line_ends_are_read(tmp_path):
    text = "\r\n".join(GOOD).encode()
    assert len(load_distances(written(tmp_path, b"\xef\xbb\xbf" + text))) == 7


def test_frames_are_read_by_row_whatever_their_index(tmp_path):
    frame = pd.read_csv(written(tmp_path, GOOD))
    shifted = frame.set_index(np.arange(7) * 10 + 3)
    pd.testing.assert_frame_equal(load_distances(shifted).frame, load_distances(tmp_path / "t.csv").frame)
    with pytest.raises(InputError, match=r"row 0, column distance: is not a finite number; found: nan"):
        load_distances(shifted.assign(distance=[np.nan, *frame["distance"][1:]]))
    with pytest.raises(InputError, match="row 1, column attribute: an empty cell"):
        load_distances(shifted.assign(attribute=["kind", None, *frame["attribute"][2:]]))
    with pytest.raises(InputError, match=r"a column stands twice; found: 'distance'"):
        load_distances(pd.concat([frame, frame[["distance"]]], axis=1))


def test_repeats_of_our_own_tables(tmp_path):
    path = written(tmp_path, [*GOOD, GOOD[1], GOOD[1]])
    once, kept = load_distances(path), load_distances(path, repeats="keep")
    assert (len(once), once.coverage.repeats) == (7, 2)
    assert (len(kept), kept.coverage.repeats) == (9, 0)
    assert "2 repeated rows counted once" in once.coverage.sentences()
    assert any("2 repeated rows are kept" in note for note in kept.coverage.notes)


# -- published tables ------------------------------------------------------------------------------
# Rows (with repeats counted once) and rows per connection, counted in the files with awk; see also the
# README of the data.
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
    values = zip(frame["attribute_class"], frame["connection"].astype(str), frame["distance"], strict=True)
    assert dict(zip(keys, values, strict=True)) == expected
    own = frame["connection"] == "associated"
    assert (frame.loc[own, "protected_class"] == frame.loc[own, "attribute_class"]).all()
    assert (frame.groupby("protected_word")["protected_class"].nunique() == 1).all()
    assert frame["distance"].between(0, 2).all()


def test_sentinels_become_missing_words(shared):
    tables = shared / "data" / "bayesbias_distances"
    glove = load_distances(tables / "with_controls_2022" / "religion_group_glove_dataset.csv")
    assert glove.coverage.missing == ("literaly",)
    assert glove.coverage.attributes["neutral"] == {"listed": 226, "found": 225, "missing": ["literaly"]}
    marks = sum(
        float(row["cosine_distance"]) < -1
        for row in raw_rows(tables / "with_controls_2022" / "religion_group_glove_dataset.csv")
    )
    assert marks == 15
    assert glove.coverage.notes == (
        "christian has 3 stereotypes: how far they vary is weakly known",
        "15 rows carry the mark of a missing word (below -1)",
    )

    weat = load_distances(tables / "weat" / "weat_1_reddit.csv")
    groups = weat.coverage.protected
    words = [*groups["flowers"]["missing"], *groups["insects"]["missing"]]
    raw = raw_rows(tables / "weat" / "weat_1_reddit.csv")
    by_word: dict[str, set[bool]] = {}
    for row in raw:
        by_word.setdefault(row["protected_word"], set()).add(row["cosine_distance"] == "-100")
    assert sorted(words) == sorted(word for word, gone in by_word.items() if gone == {True})
    assert len(words) == 19
    assert [groups[g]["listed"] for g in ("flowers", "insects")] == [25, 25]
    assert weat.coverage.missing == (*words, "caress")
    assert weat.coverage.attributes["flowers"]["missing"] == ["caress"]
    assert len(raw) - len(weat) == 6890  # the count in the README of the data
    assert not set(weat.frame["protected_word"]) & set(words)
    assert "caress" not in set(weat.frame["attribute"])


@pytest.mark.parametrize(
    ("name", "rows", "distinct"),
    [("google_2021/raceGoogle", 5112, 2840), ("with_controls_2022/race_group_reddit_dataset", 5868, 3260)],
)
def test_repeated_words_of_the_race_tables_count_once(name, rows, distinct, shared):
    path = shared / "data" / "bayesbias_distances" / f"{name}.csv"
    once, kept = load_distances(path), load_distances(path, repeats="keep")
    assert (len(kept), len(once), once.coverage.repeats) == (rows, distinct, rows - distinct)
    assert once.frame["protected_word"].nunique() == 10
    per_word = kept.frame["protected_word"].value_counts() // once.frame["protected_word"].value_counts()
    assert per_word.sum() == 18
    # africa and asian stand three times, america, asia, black and caucasian twice (README of the data).
    assert per_word[per_word == 3].index.sort_values().tolist() == ["africa", "asian"]
    assert per_word[per_word == 2].index.sort_values().tolist() == ["america", "asia", "black", "caucasian"]
    (note,) = [note for note in once.coverage.notes if "repeated" in note]
    assert all(word in note for word in per_word[per_word > 1].index)
    assert once.provenance["repeats"] == "once"


PUBLISHED_HEADER = ",protected_word,word_to_compare,word_class,cosine_distance,cosine_similarity,connection"


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
    assert table.frame["connection"].cat.categories.tolist() == ["associated", "different", "neutral"]
    # Without the similarities, too.
    bare = [",".join(line.split(",")[:5] + line.split(",")[6:]) for line in PUBLISHED_GOOD]
    pd.testing.assert_frame_equal(load_distances(written(tmp_path, bare)).frame, table.frame)


def test_single_missing_pairs_are_said(tmp_path):
    lines = published_with(line8="6,b2,kind,a_stereotype,-100,-100,different")
    table = load_distances(written(tmp_path, lines))
    assert len(table) == 8
    assert table.coverage.missing == ()
    assert table.coverage.notes == (
        "only one protected word of a is in the table; its class rests on that word, and one word shows no scatter",
        "a has 1 stereotype: how far they vary is weakly known",
        "b has 2 protected words and 1 stereotype: how far they vary is weakly known",
        "1 row carries the mark of a missing word (below -1)",
        "1 pair of words that are otherwise present has no distance and is left out",
    )
    # A sentinel in one of the two columns is one.
    half = published_with(line8="6,b2,kind,a_stereotype,0.3,-100,different")
    pd.testing.assert_frame_equal(load_distances(written(tmp_path, half)).frame, table.frame)


BAD_PUBLISHED = {
    "distance and similarity": (
        published_with(line3="1,a1,late,b_stereotype,0.6,0.3,different"),
        r"line 3.*found: \(0.6, 0.3\)|line 3.*add up to 1",
    ),
    "similarity out of range": (
        published_with(line3="1,a1,late,b_stereotype,0.6,1.4,different"),
        "line 3, column cosine_similarity: .*1.4; valid: -1 to 1",
    ),
    "distance out of range": (
        published_with(line3="1,a1,late,b_stereotype,2.6,-1,different"),
        "line 3, column cosine_distance: .*2.6; valid: 0 to 2",
    ),
    "no number": (
        published_with(line3="1,a1,late,b_stereotype,x,0.4,different"),
        "line 3, column cosine_distance: .*'x'",
    ),
    "no column": (
        [line.replace("connection", "conection") for line in PUBLISHED_GOOD],
        r"column 'connection' is missing.*did you mean 'conection'\?",
    ),
    "unknown connection": (
        published_with(line4="2,a1,door,neutral,0.7,0.3,non"),
        r"line 4, column connection: .*'non'; valid: .*neutral.*did you mean 'neutral'\?|'none'",
    ),
    "two classes": (
        published_with(line3="1,a1,late,b_stereotype,0.6,0.4,associated"),
        r"line 2, protected word 'a1': .*found: \['a', 'b'\]",
    ),
    "no class": (
        published_with(line2="0,a1,kind,a_stereotype,0.5,0.5,different"),
        r"line 2, protected word 'a1': .*no associated attribute",
    ),
    "contradiction": (
        published_with(line8="6,b2,kind,a_stereotype,1.2,-0.2,human"),
        r"line 8: 'b2' \(b\) and 'kind' \(a\) contradict.*found: 'human'; valid: different",
    ),
    "contradictory repeat": (
        [*PUBLISHED_GOOD, "9,b2,door,neutral,1.4,-0.4,none"],
        r"'b2', 'door' stands twice .*\(1.3, 1.4\)",
    ),
    "a class without a word": (
        published_with(
            line5="3,b1,kind,a_stereotype,-100,-100,different",
            line6="4,b1,late,b_stereotype,-100,-100,associated",
            line7="5,b1,door,neutral,-100,-100,none",
            line8="6,b2,kind,a_stereotype,-100,-100,different",
            line9="7,b2,late,b_stereotype,-100,-100,associated",
            line10="8,b2,door,neutral,-100,-100,none",
        ),
        "no word of the protected class 'b'",
    ),
}


@pytest.mark.parametrize("case", list(BAD_PUBLISHED))
def test_bad_published_tables_are_refused(case, tmp_path):
    lines, said = BAD_PUBLISHED[case]
    with pytest.raises(InputError, match=said) as caught:
        load_distances(written(tmp_path, lines))
    assert str(caught.value).startswith(str(tmp_path / "t.csv"))


def test_blanks_around_a_label_make_no_other_word(tmp_path):
    rows = [
        ("she", "w", "a", "w", "associated", 0.5), ("she", "w", "b", "m", "different", 0.7),
        ("he", "m", "a", "w", "different", 0.8), ("he", "m", "b", "m", "associated", 0.6),
        (" he\u00a0", "m ", "b", "\u3000m", "associated ", 0.6), ("her ", "w", "a", " w", "associated", 0.4),
    ]  # fmt: skip
    names = ["protected_word", "protected_class", "attribute", "attribute_class", "connection", "distance"]
    frame = pd.DataFrame(rows, columns=names).assign(rank=[" 1", "2", "3 ", "4", "5", "6"])
    for source in (frame, tmp_path / "t.csv"):
        frame.to_csv(tmp_path / "t.csv", index=False)
        table = load_distances(source)
        assert list(dict.fromkeys(table.frame["protected_word"])) == ["she", "he", "her"]
        assert set(table.frame["protected_class"]) == {"w", "m"} == set(table.frame["attribute_class"])
        assert (len(table), table.coverage.repeats) == (5, 1)
        noted = table.coverage.notes[0]
        assert noted.startswith("blanks around texts are left off: ' he\\xa0', 'her ', 'm ',"), noted
    assert table.frame["rank"].tolist() == [1, 2, 3, 4, 6]
    frame.loc[4, "distance"] = 0.61
    with pytest.raises(
        InputError, match=r"'he', 'b' stands twice with different distances, in row 3 and row 4"
    ):
        load_distances(frame)


def test_words_of_one_letter_in_two_spellings_are_one_word():
    rows = [
        ("ko\u0308nig", "m", "a", "m", "associated", 0.5), ("k\u00f6nig", "m", "b", "w", "different", 0.5),
        ("dame", "w", "a", "m", "different", 0.5), ("dame", "w", "b", "w", "associated", 0.5),
    ]  # fmt: skip
    names = ["protected_word", "protected_class", "attribute", "attribute_class", "connection", "distance"]
    table = load_distances([dict(zip(names, row, strict=True)) for row in rows])
    assert table.frame["protected_word"].unique().tolist() == ["k\u00f6nig", "dame"]
    odd = [
        {**dict(zip(names, row, strict=True)), "attribute": value} for row in rows for value in (["a"], {})
    ]
    with pytest.raises(
        InputError, match=r"row 0, column attribute: is none of what is taken here; found: a list"
    ):
        load_distances(odd)
    steered = [dict(zip(names, row, strict=True)) for row in rows]
    steered[2]["attribute"] = "a\x1b[1m"
    with pytest.raises(
        InputError, match=r"row 2, column attribute: holds a control character; found: '\\x1b'"
    ):
        load_distances(steered)


@pytest.mark.parametrize("index", [None, ["he", "she"]])
def test_vectors_in_the_place_of_a_table_are_told_what_to_do(index):
    frame = pd.DataFrame({"d1": [1.0, 2.0], "d2": [2.0, 1.0]}, index)
    vectors = frame if index else frame.assign(word=["he", "she"])
    for given in (vectors, bb.load_embedding(vectors)):
        with pytest.raises(InputError, match=r"seem to be word vectors.*make a distance_table first"):
            bb.fit(given)


@pytest.mark.parametrize("name", ["cosine_similarity", "cosine_distance"])
def test_numbers_beside_the_distance_are_a_column_of_ones_own(hand, name, tmp_path):
    """The reader of CSV makes numbers of columns of these names, which were then taken for texts."""
    frame = hand.frame.assign(**{name: 1 - hand.frame["distance"]})
    path = tmp_path / "table.csv"
    frame.drop(columns="attribute_kind", errors="ignore").to_csv(path, index=False)
    table = load_distances(path)
    assert table.frame[name].to_numpy() == pytest.approx(1 - table.frame["distance"].to_numpy())
    assert table.coverage.columns == (name,)
