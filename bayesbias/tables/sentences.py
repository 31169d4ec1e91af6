"""The pair table of a sentence test: distance of every target sentence to every attribute sentence.

A test is encoded here for all who ask of it. An example whose own word the encoder lacks would be
nothing but its template: it is left out and accounted for.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import checks
from bayesbias.core.errors import BayesbiasError, InputError
from bayesbias.core.formatting import number_of, some
from bayesbias.encoders.averages import cbow_tokens
from bayesbias.encoders.encoder import describe_encoder
from bayesbias.encoders.encoding import encode
from bayesbias.encoders.loading import load_encoder
from bayesbias.tables.covariates import join_covariates
from bayesbias.tables.coverage import Coverage, SameVector, said_of_same_vectors
from bayesbias.tables.distances import first_with_vector
from bayesbias.tables.pair_table import PairTable
from bayesbias.wordlists.sentence_tests import SETS, SentenceTest, sentence_test

__all__ = ["sentence_table"]


@dataclass(frozen=True, eq=False)
class EncodedTest:
    """The examples of one test that an encoder has, with their unit vectors."""

    test: SentenceTest
    frame: pd.DataFrame
    vectors: np.ndarray  # (rows of the frame, d), of length 1
    dropped: pd.DataFrame

    def of(self, name: str) -> np.ndarray:
        return self.vectors[(self.frame["set"] == name).to_numpy()]

    def scores(self) -> tuple[np.ndarray, np.ndarray]:
        """s(w, A, B) of both target sets: the mean of unit vectors gives the mean of cosines."""
        gap = self.mean_of("attr1") - self.mean_of("attr2")
        # Row by row: a product of matrices rounds a row by its place.
        return (self.of("targ1") * gap).sum(axis=1), (self.of("targ2") * gap).sum(axis=1)

    def mean_of(self, name: str) -> np.ndarray:
        """Return the mean vector of a set, added up in the order of the alphabet: the same for any order of its words."""
        order = np.argsort(
            self.frame.loc[self.frame["set"] == name, "sentence"].to_numpy(str), kind="stable"
        )
        return self.of(name)[order].mean(axis=0)

    def words(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean score of each word of both target sets."""
        sets, words = self.frame["set"].astype(str), self.frame["word"]
        x, y = (
            pd.Series(scores, words[sets == name]).sort_values().groupby(level=0).mean().to_numpy()
            for name, scores in zip(SETS[:2], self.scores(), strict=True)
        )
        return x, y

    @property
    def sizes(self) -> dict[str, int]:
        counts = self.frame["set"].value_counts()
        return {name: int(counts[name]) for name in SETS}


def encode_test(
    test: SentenceTest, encoder: Any, encoded: Callable[[list[str]], np.ndarray]
) -> EncodedTest:
    """Encode the examples of a test by `encoded`, without those whose own word the encoder lacks."""
    frame = test.frame
    try:
        lacking = describe_encoder(encoder, list(dict.fromkeys(frame["sentence"])))["account"].get(
            "lacking", {}
        )
    except Exception as error:  # an encoder may be anybody's code
        if isinstance(error, BayesbiasError):
            raise
        problem = f"cannot account for the sentences: {type(error).__name__}: {error}"
        raise InputError(problem, where=encoder.name) from error
    lost = np.zeros(len(frame), dtype=bool)
    if lacking:
        # An example whose own word has no vector would be nothing but its template.
        for i, (template, sentence) in enumerate(
            zip(frame["template"], frame["sentence"], strict=True)
        ):
            if sentence in lacking:
                lost[i] = not _own_tokens(template, sentence) - set(lacking[sentence])
    kept = frame[~lost].reset_index(drop=True)
    dropped = frame.loc[lost, ["set", "word", "sentence"]].reset_index(drop=True)
    empty = [name for name in SETS if not (kept["set"] == name).any()]
    if empty:
        words = list(dict.fromkeys(dropped.loc[dropped["set"] == empty[0], "word"]))
        raise InputError(
            f"no word of {empty[0]} ({test.categories[empty[0]]}) is known to the encoder (listed: {some(words, 8)})",
            where=f"{encoder.name}, test {test.name}",
        )
    vectors = np.asarray(encoded(kept["sentence"].tolist()), dtype=float)
    # In two steps, so that numbers near the largest there are do not overflow when they are squared.
    vectors = vectors / np.abs(vectors).max(axis=1, keepdims=True)
    return EncodedTest(
        test, kept, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dropped
    )


def encoding_with(
    encoder: Any,
    cache: bool | str | os.PathLike[str],
    batch_size: int | None,
    progress: bool | None,
    most: int = 0,
) -> Callable[[list[str]], np.ndarray]:
    """Return a function that encodes, and keeps up to `most` vectors: tests share many of their sentences."""
    known: dict[str, np.ndarray] = {}
    dims: set[int] = set()

    def encoded(sentences: list[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(sentences) if text not in known]
        vector_of: dict[str, np.ndarray] = {}
        if new:
            vectors = encode(encoder, new, cache=cache, batch_size=batch_size, progress=progress)
            if dims and vectors.shape[1] not in dims:
                raise InputError(
                    "the encoder changed its dimension from one test to another",
                    where=f"encoder {encoder.name!r}",
                    found=vectors.shape[1],
                    valid=f"{min(dims)}, as before",
                )
            dims.add(vectors.shape[1])
            vector_of = dict(zip(new, vectors, strict=True))
        if len(known) < most:
            known.update(vector_of)
        return np.array(
            [vector_of[text] if text in vector_of else known[text] for text in sentences]
        )

    return encoded


def _own_tokens(template: str, sentence: str) -> set[str]:
    """Tokens of a sentence that are not of its template, articles apart."""
    bare = {token.casefold() for token in cbow_tokens(re.sub(r"\{\w+\}", " ", template))} | {
        "a",
        "an",
    }
    words = [token for token in cbow_tokens(sentence) if re.search(r"\w", token)]
    return {token for token in words if token.casefold() not in bare} or set(words)


def sentence_table(
    test: Any,
    encoder: Any = "minilm-static",
    *,
    cache: bool | str | os.PathLike[str] = True,
    batch_size: int | None = None,
    progress: bool | None = None,
    covariates: Any = None,
    duplicates: str = "drop",
) -> PairTable:
    """Return the distance of every target sentence to every attribute sentence.

    Parameters
    ----------
    test : SentenceTest, str, path or word list
        Whatever `sentence_test` takes.
    encoder : Encoder, callable or str
        Whatever `load_encoder` takes.
    cache, batch_size, progress
        As for `encode`.
    covariates : optional
        Numbers or categories of the words of targets or attributes; see
        `bayesbias.tables.join_covariates`.
    duplicates : {"drop", "keep"}
        Sentences of a set with one vector, as of *Muslim* and *muslim* on an uncased encoder, are
        one observation. By default the first is kept, and the coverage names words of which no
        sentence is left under ``same_vector``.

    Returns
    -------
    PairTable
        The columns of a pair table, with ``protected_template`` and ``attribute_template``;
        protected words are the words of the targets, classes the names of the sets. The first
        targets are associated with the first attributes, the second with the second. All columns
        but the distance hold codes, so that a million pairs take some 20 MB. A sentence that stands
        twice in a set is one observation and counts once. The coverage names the words that the
        encoder lacks.

    Raises
    ------
    InputError
        Where the test, the encoder or the vectors are at fault, or no word of a set is known.

    Examples
    --------
    >>> table = sentence_table("sent-weat6")
    >>> len(table), list(table.frame.columns[:3])
    (20448, ['protected_word', 'protected_class', 'protected_template'])
    """
    checks.choice(
        duplicates, ("drop", "keep"), "treatment of sentences with one vector", "duplicates"
    )
    test = test if isinstance(test, SentenceTest) else sentence_test(test)
    encoder = load_encoder(encoder)
    encoded = encode_test(test, encoder, encoding_with(encoder, cache, batch_size, progress))
    table = pairs_of_test(encoded, encoder, duplicates)
    return table if covariates is None else join_covariates(table, covariates)


def pairs_of_test(encoded: EncodedTest, encoder: Any, duplicates: str = "drop") -> PairTable:
    test = encoded.test
    names = _set_names(test)
    repeats = encoded.frame.duplicated(["set", "word", "template", "sentence"]).to_numpy()
    frame, vectors = encoded.frame[~repeats].reset_index(drop=True), encoded.vectors[~repeats]
    again = np.zeros(len(frame), dtype=bool)
    same: SameVector = ({}, {})
    if duplicates == "drop":
        frame, again, same = _one_row_a_vector(frame, vectors)
    frame, vectors = frame[~again], vectors[~again]
    which = frame["set"].astype(str).to_numpy()
    rows = np.flatnonzero(np.isin(which, SETS[:2]))
    columns = np.flatnonzero(np.isin(which, SETS[2:]))
    # Codes, not texts: a million pairs are a million small numbers.
    first, second = np.repeat(rows, len(columns)), np.tile(columns, len(rows))

    def labels(column: Any, at: np.ndarray, side: np.ndarray) -> pd.Categorical:
        codes, distinct = pd.factorize(np.asarray(column, dtype=object)[side])
        place = np.zeros(len(frame), dtype=np.int64)
        place[side] = codes
        return pd.Categorical.from_codes(place[at], categories=[str(name) for name in distinct])

    named = [names[each] for each in which]
    own = (which == "targ1")[first] == (which == "attr1")[second]
    distance = 1.0 - vectors[rows] @ vectors[columns].T
    pairs = pd.DataFrame(
        {
            "protected_word": labels(frame["word"], first, rows),
            "protected_class": labels(named, first, rows),
            "protected_template": labels(frame["template"], first, rows),
            "attribute": labels(frame["word"], second, columns),
            "attribute_class": labels(named, second, columns),
            "attribute_template": labels(frame["template"], second, columns),
            "attribute_kind": pd.Categorical.from_codes(
                np.zeros(len(first), dtype=np.int8), ["stereotype"]
            ),
            "connection": pd.Categorical.from_codes(
                np.where(own, 0, 1), ["associated", "different"]
            ),
            "distance": np.clip(distance.ravel(), 0.0, 2.0),
        }
    )
    # An attribute of both sets is one word, and associated with both classes.
    unit = ["protected_word", "protected_template", "attribute", "attribute_template"]
    if pairs.duplicated(unit).any():
        once = pairs.sort_values("connection", kind="stable").drop_duplicates(unit)
        pairs = pairs.loc[once.index.sort_values()].reset_index(drop=True)
    description = describe_encoder(encoder)
    return PairTable(
        pairs,
        _coverage_of_test(encoded, names, int(repeats.sum()), int(again.sum()), same),
        {
            "name": f"{test.name} in {encoder_label(description['name'], description['options'])}",
            "test": {"name": test.name, "sha256": test.sha256, "origin": test.origin},
            "encoder": description,
        },
    )


def _set_names(test: SentenceTest) -> dict[str, str]:
    """Return a name of each set; two target sets of one category are told apart, and so are two of attributes."""
    out = dict(test.categories)
    for pair in (SETS[:2], SETS[2:]):
        if out[pair[0]] == out[pair[1]]:
            out |= {name: f"{out[name]} ({name})" for name in pair}
    return out


def _one_row_a_vector(
    frame: pd.DataFrame, vectors: np.ndarray
) -> tuple[pd.DataFrame, np.ndarray, SameVector]:
    """Mark sentences whose vector an earlier one of their set has; one in both sets of attributes gets one word.

    The last returned are, of either side, the words of which no sentence is left, with the words
    kept for them.
    """
    sets, words = frame["set"].astype(str).to_numpy(), frame["word"].to_numpy(dtype=object)
    first = np.arange(len(frame))
    again = np.zeros(len(frame), dtype=bool)
    one_word = words.copy()
    same: SameVector = ({}, {})
    for side, kept_as in zip((SETS[:2], SETS[2:]), same, strict=True):
        rows = np.flatnonzero(np.isin(sets, side))
        first[rows] = rows[first_with_vector(vectors[rows], 1e-5)]
        if side == SETS[2:]:
            one_word[rows] = words[first[rows]]
        for name in side:
            own = np.flatnonzero(sets == name)
            _, at, of = np.unique(first[own], return_index=True, return_inverse=True)
            kept = own[at][of]
            again[own] = kept != own
            left = set(words[kept])
            kept_as.update(
                {words[i]: words[k] for i, k in zip(own, kept, strict=True) if words[i] not in left}
            )
    return frame.assign(word=one_word), again, same


def _coverage_of_test(
    encoded: EncodedTest, names: Mapping[str, str], repeats: int, again: int, same: SameVector
) -> Coverage:
    frame, test = encoded.frame, encoded.test
    groups: list[dict[str, Any]] = [{}, {}]
    for name in SETS:
        listed = list(dict.fromkeys(test.frame.loc[test.frame["set"] == name, "word"]))
        words_of_set = set(frame.loc[frame["set"] == name, "word"])
        missing = [word for word in listed if word not in words_of_set]
        groups[name.startswith("attr")][names[name]] = {
            "listed": len(listed),
            "found": len(listed) - len(missing),
            "missing": missing,
        }
        kept_as = same[name.startswith("attr")]
        for word in listed:
            if word in kept_as and word not in missing:
                of = groups[name.startswith("attr")][names[name]].setdefault("same_vector", {})
                of.setdefault(kept_as[word], []).append(word)
    some = len(encoded.dropped)
    notes = (
        [f"{some} of {len(test.frame)} examples left out: the encoder lacks their word"]
        if some
        else []
    )
    if repeats:
        repeat = "repeats" if repeats == 1 else "repeat"
        notes.append(
            f"{number_of(repeats, 'example')} that {repeat} another of the set counted once"
        )
    if again:
        has = "sentence has" if again == 1 else "sentences have"
        notes.append(
            f"{again} {has} the vector of another sentence of the set and count once with it"
        )
    return Coverage(groups[0], groups[1], notes=(*notes, *said_of_same_vectors(same)))


def encoder_label(model: str, options: str) -> str:
    return f"{model} ({options})" if options else model
