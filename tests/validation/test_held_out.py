"""Held-out predictions: a small source of each kind, and sources that are refused."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.responses import crossed
from helpers.tables import grid
from scipy import stats

from validation import held_out
from validation.__main__ import main

FIT = '[fit]\ndraws = 100\ntune = 100\nchains = 2\nengine = "quick"\n'


def source_of(folder, text):
    """Write a source, and return its path."""
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path


def answers_source(folder, new="words", more=""):
    """Write a table of answers and its source."""
    crossed(words=8, templates=4, items=1).to_csv(folder / "answers.csv", index=False)
    text = (
        f'title = "small"\nkind = "responses"\nnew = "{new}"\nseed = 3\n{more}\n'
        f'[table]\npath = "answers.csv"\n{FIT}'
    )
    return source_of(folder, text)


def run(path, folder, splits=3):
    return main(
        ["predictions", str(path), "--splits", str(splits), "--out", str(folder / "out"), "--quiet"]
    )


def test_splits_of_a_table_of_answers_are_kept_and_continued(tmp_path, capsys):
    path = answers_source(tmp_path)
    assert run(path, tmp_path, 2) == 0
    file = tmp_path / "out/small.jsonl"
    first = file.read_text()
    assert run(path, tmp_path, 3) == 0
    lines = file.read_text()
    assert lines.startswith(first)
    records = [json.loads(line) for line in lines.splitlines()]
    assert [record["split"] for record in records] == [0, 1, 2]
    assert all(sum(map(sum, record["units"])) == 16 for record in records)
    row = capsys.readouterr().out.splitlines()[-1]
    inside = np.mean([r["low"] <= r["observed"] <= r["high"] for r in records])
    assert row.startswith(f"| small | words | a - b | 3 | {inside:.3f} ± ")

    # Another text is another source, whose splits begin anew.
    path.write_text(path.read_text().replace("seed = 3", "seed = 4"), encoding="utf-8")
    assert run(path, tmp_path, 1) == 0
    assert len(file.read_text().splitlines()) == 4


def test_what_is_predicted_is_the_mean_of_the_other_half(tmp_path):
    source = held_out.read_source(answers_source(tmp_path))
    table, frame, predict = held_out.loaded(source)
    record = held_out.one(source, table, frame, predict, 0)
    halves = held_out.split(source, frame, 0)
    first, second = frame[halves.first], frame[halves.second]
    assert not set(first["word"]) & set(second["word"])
    assert len(first) + len(second) == len(frame)
    means = second.groupby("group")["outcome"].mean()
    assert record["observed"] == pytest.approx(means["a"] - means["b"])
    a, b = (first.loc[first["group"] == group, "outcome"] for group in "ab")
    low, high = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.89)
    assert (record["published_low"], record["published_high"]) == pytest.approx((low, high))


@pytest.mark.parametrize("new", ["words", "attributes"])
def test_a_table_of_pairs(tmp_path, new):
    table = grid((8, 6), (8, 6), 4, 6)
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.05, len(table))
    table.assign(distance=0.9 + noise).to_csv(tmp_path / "pairs.csv", index=False)
    text = f'title = "pairs"\nkind = "pairs"\nnew = "{new}"\n[table]\npath = "pairs.csv"\n'
    source = held_out.read_source(source_of(tmp_path, text + f"[sizes]\n{new} = 6\n" + FIT))
    rows, frame, predict = held_out.loaded(source)
    record = held_out.one(source, rows, frame, predict, 0)
    assert record["contrast"] == "overall all associated - different"
    halves = held_out.split(source, frame, 0)
    column = {"words": "protected_word", "attributes": "attribute"}[new]
    by = {"words": "protected_class", "attributes": "attribute_class"}[new]
    number = frame[halves.second].groupby(by)[column].nunique()
    assert halves.number == number.to_dict()
    assert set(number.iloc[:2]) == {3}
    means = frame[halves.second].groupby("connection", observed=True)["distance"].mean()
    assert record["observed"] == pytest.approx(means["associated"] - means["different"])
    first = frame[halves.first]
    a, b = (
        first.loc[first["connection"] == side, "distance"] for side in ("associated", "different")
    )
    low, high = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.89)
    assert (record["published_low"], record["published_high"]) == pytest.approx((low, high))


def test_the_error_is_that_of_splits_of_many_populations():
    """Of one split each it is the binomial error; splits of one population add less than others."""
    single = held_out.error_of_coverage([(10, 10)], 1)
    assert single == pytest.approx(np.sqrt(0.89 * 0.11), rel=0.15)
    many = held_out.error_of_coverage([(10, 10)], 200)
    assert np.sqrt(0.89 * 0.11 / 200) / 2 < many < single


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = 3 4", "small.toml: expected TOML"),
        ('title = "a"\nkind = "responses"\nnew = "words"\n', "expected the key 'table'"),
        ('title = "a"\nkind = "words"\nnew = "words"\n[table]\npath = "a"\n', "kind: expected"),
        (
            'title = "a"\nkind = "pairs"\nnews = "words"\n[table]\npath = "a"\n',
            "Did you mean 'new'",
        ),
        (
            'title = "a"\nkind = "pairs"\nnew = "words"\nsplits = 0\n[table]\npath = "a"\n',
            "splits: expected",
        ),
        (
            'title = "a"\nkind = "pairs"\nnew = "words"\n[table]\nfile = "a"\n',
            "table, key: expected",
        ),
    ],
)
def test_a_source_that_is_none_is_refused_in_one_line(tmp_path, capsys, text, message):
    assert run(source_of(tmp_path, text), tmp_path) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


def test_a_unit_that_the_table_lacks_is_refused(tmp_path, capsys):
    assert run(answers_source(tmp_path, new="sentence"), tmp_path) == 2
    assert "new: expected" in capsys.readouterr().err


def test_data_that_are_not_there_are_skipped(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv(held_out.VARIABLE, str(tmp_path))
    path = answers_source(tmp_path)
    (tmp_path / "answers.csv").unlink()
    assert run(path, tmp_path) == 0
    assert "skipped, there is no answers.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    "path", sorted(held_out.SOURCES.glob("*.toml")), ids=lambda path: path.stem
)
def test_shipped_sources_are_read(path):
    source = held_out.read_source(path)
    assert source.about["splits"] >= 100
    assert source.about["title"]


def test_intervals_of_published_methods():
    rng = np.random.default_rng(1)
    a, b = rng.normal(1, 2, 400), rng.normal(0, 1, 300)
    parts = [(1.0, a), (-1.0, b)]
    t = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.89)
    assert held_out.welch(parts, 0.89, "t_test", rng) == pytest.approx(tuple(t))
    half = stats.norm.ppf(0.945) * np.sqrt(a.var(ddof=1) / 400 + b.var(ddof=1) / 300)
    center = a.mean() - b.mean()
    assert held_out.welch(parts, 0.89, "harness", rng) == pytest.approx(
        (center - half, center + half)
    )
    boot = held_out.welch(parts, 0.89, "bootstrap", rng)
    assert np.diff(boot)[0] == pytest.approx(2 * half, rel=0.15)


def test_weights_of_contrasts():
    groups = ["a", "b", "c - d"]
    assert held_out.weights_of("a - c - d", groups) == {"a": 1.0, "c - d": -1.0}
    assert held_out.weights_of("c - d - others", groups) == {"c - d": 1.0, "a": -0.5, "b": -0.5}


def test_words_are_dealt_within_strata(tmp_path):
    frame = crossed(words=8, templates=2, items=1)
    frame["item"] = "i" + (frame["word"].str[1:].astype(int) % 2).astype(str)
    path = answers_source(tmp_path, more='strata = ["group", "item"]')
    frame.to_csv(tmp_path / "answers.csv", index=False)
    source = held_out.read_source(path)
    _, rows, _ = held_out.loaded(source)
    halves = held_out.split(source, rows, 0)
    counts = rows[halves.first].groupby(["group", "item"])["word"].nunique()
    assert isinstance(counts, pd.Series)
    assert set(counts) == {2}


def test_strata_that_share_words_are_refused(tmp_path, capsys):
    path = answers_source(tmp_path, more='strata = ["template"]')
    assert run(path, tmp_path) == 2
    assert "strata: expected strata that each have units of their own" in capsys.readouterr().err
