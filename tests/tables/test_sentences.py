"""The table of pairs of a sentence test."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from helpers.seeds import shifted
from helpers.sentences import cosine, own, toy

from bayesbias.studies.sentences.seat import seat
from bayesbias.tables.sentences import sentence_table
from bayesbias.wordlists.sentence_tests import SETS


@pytest.mark.slow
def test_the_table_equals_a_slow_loop():
    test = own()
    table = sentence_table(test, toy)
    rows = []
    sides = {name: test.frame[test.frame["set"] == name] for name in SETS}
    for targets in SETS[:2]:
        for one in sides[targets].itertuples():
            for attributes in SETS[2:]:
                rows += [
                    (
                        one.word, one.category, one.template, other.word, other.category, other.template,
                        "associated" if targets[-1] == attributes[-1] else "different",
                        1 - cosine(toy([one.sentence])[0], toy([other.sentence])[0]),
                    )
                    for other in sides[attributes].itertuples()
                ]  # fmt: skip
    columns = [
        "protected_word",
        "protected_class",
        "protected_template",
        "attribute",
        "attribute_class",
    ]
    slow = pd.DataFrame(rows, columns=[*columns, "attribute_template", "connection", "distance"])
    fast = table.frame[slow.columns].astype({c: str for c in slow.columns[:-1]})
    pd.testing.assert_frame_equal(
        fast, slow.astype({c: str for c in slow.columns[:-1]}), atol=1e-12, rtol=0
    )
    assert table.frame["distance"].between(0, 2).all()
    assert table.provenance["test"]["sha256"] == test.sha256


def test_a_repeated_example_is_one_observation(tmp_path):
    sets = {
        "targ1": ["he", "she", "he"],
        "targ2": ["it", "they"],
        "attr1": ["a", "b"],
        "attr2": ["c", "d"],
    }
    path = tmp_path / "again.jsonl"
    path.write_text(json.dumps({k: {"category": "same", "examples": v} for k, v in sets.items()}))
    table = sentence_table(str(path), toy)
    assert len(table) == 4 * 4
    assert "examples that repeat another of their set count once: 1 of 9" in table.coverage.notes
    # Sets of one name are told apart.
    assert table.frame["protected_class"].cat.categories.tolist() == [
        "same (targ1)",
        "same (targ2)",
    ]
    assert set(table.coverage.protected) == {"same (targ1)", "same (targ2)"}
    assert seat(str(path), toy, seed=shifted(1)).frame["num_targ1"].tolist() == [
        3
    ]  # the published score counts it


def test_words_of_targets_may_have_covariates():
    """Joined by code, not by text; the coverage names words without it."""
    plain = sentence_table(own(), toy)
    words = list(dict.fromkeys(map(str, plain.frame["protected_word"])))
    values = {word: float(2 * place) for place, word in enumerate(words[:-1])}
    table = sentence_table(own(), toy, covariates={"rank": values})
    expected = plain.frame["protected_word"].astype(str).map(values)
    mean, sd = pd.Series(values).mean(), pd.Series(values).std(ddof=1)
    pd.testing.assert_series_equal(table.frame["rank"], (expected - mean) / sd, check_names=False)
    assert table.coverage.covariates["rank"] == {
        "side": "protected",
        "listed": len(words),
        "found": len(words) - 1,
        "missing": [words[-1]],
    }
    kinds = table.frame.dtypes.drop(["distance", "rank"])
    assert all(isinstance(kind, pd.CategoricalDtype) for kind in kinds)


def test_sentences_with_one_vector_are_one_observation(tmp_path):
    sets = {
        "targ1": ["Muslim", "muslim", "imam"],
        "targ2": ["priest", "nun"],
        "attr1": ["bad", "evil", "Odd"],
        "attr2": ["good", "odd"],
    }
    path = tmp_path / "capitals.jsonl"
    path.write_text(json.dumps({k: {"category": k, "examples": v} for k, v in sets.items()}))

    def uncased(sentences):
        return toy([sentence.lower() for sentence in sentences])

    table = sentence_table(str(path), uncased)
    assert len(table) == 4 * 4
    assert table.coverage.protected["targ1"].same_vector == {"Muslim": ("muslim",)}
    # An attribute of both sets is one word.
    assert set(table.frame["attribute"]) == {"bad", "evil", "Odd", "good"}
    assert any("the vector of another" in note for note in table.coverage.notes)
    assert len(sentence_table(str(path), uncased, duplicates="keep")) == 5 * 5
