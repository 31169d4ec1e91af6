"""Tables written without quoting: a word with a quotation mark must not swallow the rows up to the next one."""

from __future__ import annotations

import random

import pytest

import bayesbias as bb
from bayesbias.core.separated import separated
from bayesbias.tables.covariates import join_covariates

FIRST, SECOND = ('"she', "\"o'clock"), ('"', '"hers')
WORDS = [f"word{i}" for i in range(12)]


def odd_words(number):
    """Return words of which two begin with a quotation mark that nothing closes in their own cell."""
    rng = random.Random(number)
    words = list(WORDS)
    first, second = sorted(rng.sample(range(1, len(words)), 2))
    words[first], words[second] = rng.choice(FIRST), rng.choice(SECOND)
    return words


def vectors(folder, words, mark, ending):
    file = folder / f"v{ending}"
    rows = [("word", "d1", "d2"), *((word, str(i + 1), "1") for i, word in enumerate(words))]
    file.write_text("\n".join(mark.join(row) for row in rows) + "\n")
    return set(bb.load_embedding(file).words)


def distances(folder, words, mark, ending):
    file = folder / f"d{ending}"
    rows = [("protected_word", "protected_class", "attribute", "attribute_class", "connection", "distance")]
    for i, word in enumerate(words):
        own = "ab"[i % 2]
        for j in range(4):
            theirs = "ab"[j % 2]
            connection = "associated" if own == theirs else "different"
            rows.append((word, own, f"attribute{j}", theirs, connection, str(0.5 + i / 100 + j / 10)))
    file.write_text("\n".join(mark.join(row) for row in rows) + "\n")
    frame = bb.load_distances(file).frame
    assert len(frame) == len(rows) - 1
    return set(frame["protected_word"].astype(str))


def facts(folder, words, mark, ending):
    file = folder / f"f{ending}"
    file.write_text(
        "\n".join(mark.join(row) for row in [("word", "number"), *((w, str(i)) for i, w in enumerate(words))])
        + "\n"
    )
    frame = bb.distance_table(
        {word: [1.0, i + 1.0] for i, word in enumerate([*words, "p", "q", "r", "s"])},
        {
            "a": {"protected": words[:6], "attributes": ["p", "q"]},
            "b": {"protected": words[6:], "attributes": ["r", "s"]},
        },
    )
    found = join_covariates(frame, file).coverage.facts["number"]
    return set(words) - set(found.missing)


def lists(folder, words, mark, ending):
    file = folder / f"l{ending}"
    rows = [("word", "class", "kind")]
    rows += [(word, "ab"[i % 2], "protected") for i, word in enumerate(words)]
    rows += [(f"attribute{i}", "ab"[i % 2], "attribute") for i in range(4)]
    file.write_text("\n".join(mark.join(row) for row in rows) + "\n")
    read = bb.load_wordlist(file)
    return {word for each in read.classes for word in each.protected}


@pytest.mark.parametrize("read", [vectors, distances, facts, lists])
@pytest.mark.parametrize("number", range(6))
def test_no_row_is_lost_without_a_word(tmp_path, read, number):
    mark, ending = (",", ".csv") if read is distances or number % 2 else ("\t", ".tsv")
    words = odd_words(number)
    with pytest.raises(bb.InputError, match=r"line \d+") as refused:
        assert read(tmp_path, words, mark, ending) == set(words)
    assert "quotation mark" in str(refused.value)


@pytest.mark.parametrize("read", [vectors, distances, lists])
def test_words_that_are_quoted_as_they_should_be_are_read(tmp_path, read):
    quoted = ['"""she"', '"a ""b"" c"', '"d,e"', *WORDS[3:]]
    assert read(tmp_path, quoted, ",", ".csv") >= {'"she', 'a "b" c', "d,e"}


def test_lines_are_counted_from_where_the_text_begins():
    assert list(separated(["a,b", "", "c,d"], ",", "x", first=5)) == [(5, ["a", "b"]), (7, ["c", "d"])]
    with pytest.raises(bb.InputError, match=r"^x, line 6: a cell goes on"):
        list(separated(["a,b", '"c', 'd",e'], ",", "x", first=5))
    with pytest.raises(bb.InputError, match=r"^x, line 6: is not a table"):
        list(separated(["a,b", '"c'], ",", "x", first=5))


def test_predictions_name_the_line_of_a_mark_that_nothing_closes(tmp_path):
    file = tmp_path / "p.csv"
    file.write_text('# by hand\nprobability,sentence\n0.5,"This is\n0.4,a man."\n')
    with pytest.raises(bb.InputError, match="line 3: a cell goes on in the next line"):
        bb.load_predictions(file)
