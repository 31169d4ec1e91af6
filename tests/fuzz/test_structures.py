"""Structures that hypothesis makes: every reader uses them or refuses them in one line, and what is refused is made small.

The other fuzzers change what is whole. These are built from nothing, of the keys, labels and numbers that a reader knows and of
any text beside them; where one fails, hypothesis looks for the smallest that does.
"""

from __future__ import annotations

import csv
import io
import json
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.fits import made_up, pairs
from helpers.seeds import shifted
from hypothesis import HealthCheck, given, seed, settings, strategies as st

import bayesbias as bb
from bayesbias.core.errors import BayesbiasError, InputError
from bayesbias.sweeps.plan import load_plan
from bayesbias.tables.covariates import join_covariates
from bayesbias.wordlists.occupations import load_occupations
from bayesbias.wordlists.sentence_tests import SETS, read_test

COUNTS = [100, pytest.param(2000, marks=pytest.mark.claim)]
MOST_SECONDS = 5.0

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(
        ["", " ", "she\u200b", "Ko\u0308nig", "[bold]x", "=1+1", "\u202ea", "a\nb", "\x1b[1m", "nan", "1_0"]
    ),
)
WORD = st.one_of(st.sampled_from(["he", "she", "nurse", "door", "a", "b"]), ODD)


def any_of(*keys: str, within: Any = ODD) -> Any:
    """Return a strategy for tables of some known keys and perhaps another, whose values nest."""
    known = st.sampled_from(keys)
    value = st.recursive(
        within,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(known | st.text(max_size=4), inner, max_size=3)
        ),
        max_leaves=12,
    )
    return st.dictionaries(known | st.text(max_size=3), value, max_size=len(keys))


WORDS = st.lists(WORD, max_size=5)
CLASS = st.fixed_dictionaries(
    {"name": WORD, "protected": WORDS, "attributes": WORDS}, optional={"attribute_class": WORD, "odd": ODD}
)
LISTS = st.one_of(
    st.fixed_dictionaries(
        {"schema": st.just(1) | ODD, "class": st.lists(CLASS, max_size=3)},
        optional={
            "name": WORD,
            "controls": any_of("human", "neutral", within=WORD) | WORD,
            "definitional_sets": st.lists(WORDS),
            "evaluation_sets": st.lists(WORDS),
            "published_spellings": any_of("he", "she"),
            "covariates": any_of("x", "he", "she"),
        },
    ),
    any_of("T1", "T2", "A1", "A2", "targ1", "attr1", "schema", "class", within=WORDS),
)
PLANS = st.fixed_dictionaries(
    {"schema": st.just(1) | ODD},
    optional={
        **dict.fromkeys(("embeddings", "wordlists", "distances", "models", "controls"), WORDS | ODD),
        "settings": any_of("draws", "tune", "chains", "seed", "prob", "rope", "keep_fits"),
    },
)
JOBS = st.fixed_dictionaries(
    {"noun_pairs": st.lists(any_of("male", "female", within=WORD), max_size=3), "professions": WORDS},
    optional={
        "schema": ODD,
        "name": WORD,
        "template": WORD,
        "control": WORD,
        "categories": any_of("a", "nurse"),
    },
)
PART = st.fixed_dictionaries(
    {"category": WORD, "examples": WORDS}, optional={"words": WORDS, "templates": WORDS}
)
TESTS = st.fixed_dictionaries(dict.fromkeys(SETS, PART))
LABEL = st.sampled_from(["associated", "different", "human", "neutral", "none", "a", "b", "he", ""]) | ODD
NUMBER = st.floats(-0.5, 2.5) | st.sampled_from(["0.5", "1,5", "1e-400", "inf", "x", ""]) | ODD
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            **dict.fromkeys(("protected_word", "attribute"), WORD),
            **dict.fromkeys(("protected_class", "attribute_class", "connection"), LABEL),
            "distance": NUMBER,
        }
    ),
    max_size=6,
)
GRID = st.lists(st.lists(WORD | NUMBER, max_size=4), max_size=5)


IN_MEMORY: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "list": (bb.load_wordlist, LISTS),
    "plan": (load_plan, PLANS),
    "occupations": (load_occupations, JOBS),
    "rows": (bb.load_distances, ROWS),
    "covariates": (
        lambda given: join_covariates(bb.load_distances(pairs()), given),
        any_of("he", "she", "x", "word"),
    ),
    "pairs of a fit": (lambda rows: bb.fit(rows, "additive", draws=4, tune=4, chains=1, seed=1), ROWS),
}


def spelled(rows: list[list[Any]], mark: str) -> bytes:
    """Write cells as a table, quoted where they must be."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=mark).writerows([["" if c is None else c for c in row] for row in rows])
    return stream.getvalue().encode("utf-8", "replace")


def as_table(*heads: list[str]) -> Any:
    """Return a strategy for the bytes of a table that begins with one of some headings, or with none."""
    head = st.sampled_from([*map(list, heads), []])
    return st.builds(
        lambda first, rest, mark: spelled([first, *rest], mark), head, GRID, st.sampled_from(",;\t")
    )


def as_json(made: Any) -> Any:
    return made.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


PAIR = ["protected_word", "protected_class", "attribute", "attribute_class", "connection", "distance"]
OCCUPATIONS = {"noun_pairs": [{"male": "He", "female": "She"}], "professions": ["nurse"]}
FILES: dict[str, tuple[Callable[[Path], Any], str, Any]] = {
    "list.json": (bb.load_wordlist, ".json", as_json(LISTS)),
    "list.csv": (bb.load_wordlist, ".csv", as_table(["word", "class", "kind"], ["T1", "T2", "A1", "A2"], ["a", "b"])),
    "test": (read_test, ".jsonl", as_json(TESTS)),
    "table": (bb.load_distances, ".csv", as_table(PAIR, PAIR[:-1])),
    "vectors": (bb.load_embedding, ".txt", as_table(["2", "3"], ["word", "x", "y"])),
    "predictions": (
        lambda path: bb.load_predictions(path, OCCUPATIONS),
        ".csv",
        as_table(["sentence", "probability"], ["negative", "positive"]),
    ),
    "covariates": (lambda path: join_covariates(bb.load_distances(pairs()), path), ".csv", as_table(["word", "x"], ["word", "kind", "x"])),
}  # fmt: skip


def acts(text: str) -> bool:
    """Say whether a text does something on a terminal: ends a line, steers it, or turns it round."""
    return any(
        unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") or c in "\u202a\u202b\u202d\u202e\u2066\u2067"
        for c in text
    )


def tried(read: Callable[[Any], Any], given_to: Any) -> None:
    """Use what was made, or see that it is refused as everything is."""
    begun = time.process_time()
    try:
        read(given_to)
    except BayesbiasError as error:
        said = str(error)
    else:
        said = ""
    assert len(said) <= 300, said
    assert not acts(said), ascii(said)
    assert time.process_time() - begun < MOST_SECONDS


def campaign(strategy: Any, check: Callable[[Any], None], count: int) -> None:
    """Run a check on so many structures; with one seed the same ones, and none that an earlier run has left."""
    run = given(strategy)(check)
    run = settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )(run)
    seed(shifted(77))(run)()


@pytest.mark.filterwarnings("ignore:.*chains:UserWarning")
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", IN_MEMORY)
def test_a_structure_in_memory_is_used_or_refused(kind, count):
    read, strategy = IN_MEMORY[kind]
    campaign(strategy, lambda made: tried(read, made), count)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", FILES)
def test_a_structure_in_a_file_is_read_or_refused(kind, count, tmp_path):
    read, ending, strategy = FILES[kind]
    path = tmp_path / f"file{ending}"

    def check(content: bytes) -> None:
        path.write_bytes(content)
        tried(read, path)

    campaign(strategy, check, count)


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.claim)])
def test_bytes_put_anywhere_into_a_saved_fit_are_seen(count, tmp_path):
    made_up(pairs(), values={"c": 0.9}).save(tmp_path / "fit.nc")
    whole = (tmp_path / "fit.nc").read_bytes()
    places = st.lists(
        st.tuples(st.integers(0, len(whole) - 1), st.binary(min_size=1, max_size=9)), min_size=1, max_size=3
    )
    path = tmp_path / "damaged.nc"

    def check(changes: list[tuple[int, bytes]]) -> None:
        content = bytearray(whole)
        for at, put in changes:
            content[at : at + len(put)] = put
        path.write_bytes(content)
        if bytes(content[: len(whole)]) == whole and len(content) == len(whole):
            return
        with pytest.raises(InputError, match="damaged"):
            bb.load_fit(path)

    campaign(places, check, count)


def test_a_reader_that_throws_otherwise_is_seen():
    def careless(made: Any) -> Any:
        return np.float64(made["x"])

    with pytest.raises(KeyError):
        campaign(st.just({}), lambda made: tried(careless, made), 5)
