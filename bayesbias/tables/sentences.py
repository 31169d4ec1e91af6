"""The pair table of a sentence test: distance of every target sentence to every attribute sentence.

A test is encoded here for all who ask of it. An example whose own word the encoder lacks would be
nothing but its template: it is left out and accounted for.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, files, some
from bayesbias.embeddings.embedding import first_with_vector, units
from bayesbias.embeddings.spelling import note_on_misspelled, notes_of_spellings
from bayesbias.encoders.averages import cbow_tokens
from bayesbias.encoders.encoder import describe_encoder
from bayesbias.encoders.encoding import encode
from bayesbias.encoders.loading import load_encoder
from bayesbias.tables.covariates import join_covariates
from bayesbias.tables.coverage import Coverage, GroupCoverage
from bayesbias.tables.pair_table import (
    Groups,
    PairTable,
    SameVector,
    name_same_vectors,
)
from bayesbias.wordlists.sentence_tests import SETS, SentenceTest, sentence_test


@dataclass(frozen=True, eq=False)
class EncodedTest:
    """The examples of one test that an encoder has, with their unit vectors."""

    test: SentenceTest
    frame: pd.DataFrame
    vectors: np.ndarray  # (rows of the frame, d), of length 1
    dropped: pd.DataFrame
    notes: tuple[str, ...] = ()  # on the words of the test, as the encoder has them

    def of(self, name: str) -> np.ndarray:
        """Return the vectors of one set."""
        return self.vectors[(self.frame["set"] == name).to_numpy()]

    def scores(self) -> tuple[np.ndarray, np.ndarray]:
        """Return s(w, A, B) of both target sets."""
        gap = self.mean_of("attr1") - self.mean_of("attr2")
        # Row by row: a product of matrices rounds a row by its place.
        return (self.of("targ1") * gap).sum(axis=1), (self.of("targ2") * gap).sum(axis=1)

    def mean_of(self, name: str) -> np.ndarray:
        """Return the mean vector of a set, for any order of its words."""
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


def encode_test(
    test: SentenceTest, encoder: Any, encoded: Callable[[list[str]], np.ndarray]
) -> EncodedTest:
    """Encode the examples of a test whose own word the encoder has."""
    frame = test.frame
    with files.guarded(encoder.name, "an account of the sentences"):  # it may be anybody's code
        account = describe_encoder(encoder, checks.once(frame["sentence"]))["account"]
    lacking = account.get("lacking", {})
    # An example whose own word has no vector would be nothing but its template.
    lost = np.array(
        [
            sentence in lacking and not _own_tokens(template, sentence) - set(lacking[sentence])
            for template, sentence in zip(frame["template"], frame["sentence"], strict=True)
        ]
    )
    kept = frame[~lost].reset_index(drop=True)
    dropped = frame.loc[lost, ["set", "word", "sentence"]].reset_index(drop=True)
    empty = [name for name in SETS if not (kept["set"] == name).any()]
    if empty:
        words = checks.once(dropped.loc[dropped["set"] == empty[0], "word"])
        named = f"{empty[0]} ({test.categories[empty[0]]})"
        problem = f"expected words of {named} that the encoder knows, got none of {some(words, 8)}"
        raise InputError(problem, where=f"{encoder.name}, test {test.name}")
    vectors = np.asarray(encoded(kept["sentence"].tolist()), dtype=float)
    # In two steps, so that numbers near the largest there are do not overflow when they are
    # squared.
    vectors = units(vectors / np.abs(vectors).max(axis=1, keepdims=True), encoder.name)
    return EncodedTest(test, kept, vectors, dropped, _notes_of_words(test, encoder))


def _notes_of_words(test: SentenceTest, encoder: Any) -> tuple[str, ...]:
    """Return notes on misspelled words, other spellings and the file of the vectors."""
    look_up = getattr(encoder, "account_of_words", None)
    account = look_up(checks.once(test.frame["word"])) if look_up else {}
    notes = notes_of_spellings(account.get("matched", {}))
    if misspelled := account.get("misspelled"):
        notes.append(note_on_misspelled(misspelled))
    return (*notes, *account.get("notes", ()))


def encoding_with(
    encoder: Any,
    cache: bool | checks.FilePath,
    batch_size: int | None,
    progress: bool | None,
    most: int = 0,
) -> Callable[[list[str]], np.ndarray]:
    """Return a function that encodes and keeps up to `most` vectors."""
    known: dict[str, np.ndarray] = {}

    def encoded(sentences: list[str]) -> np.ndarray:
        held = dict(known)
        if new := [text for text in dict.fromkeys(sentences) if text not in known]:
            vectors = encode(encoder, new, cache=cache, batch_size=batch_size, progress=progress)
            held |= zip(new, vectors, strict=True)
        if len(known) < most:
            known.update(held)
        return np.array([held[text] for text in sentences])

    return encoded


def _own_tokens(template: str, sentence: str) -> set[str]:
    """Tokens of a sentence that are not of its template, articles apart."""
    bare = {token.casefold() for token in cbow_tokens(re.sub(r"\{\w+\}", " ", template))}
    bare |= {"a", "an"}
    words = [token for token in cbow_tokens(sentence) if re.search(r"\w", token)]
    return {token for token in words if token.casefold() not in bare} or set(words)


def sentence_table(
    test: Any,
    encoder: Any = "minilm-static",
    *,
    cache: bool | checks.FilePath = True,
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
        If the test, the encoder or the vectors are invalid, or no word of a set is known.

    Examples
    --------
    >>> table = sentence_table("sent-weat6")
    >>> len(table), list(table.frame.columns[:3])
    (20448, ['protected_word', 'protected_class', 'protected_template'])
    """
    checks.choice(duplicates, ("drop", "keep"), "duplicates")
    test = sentence_test(test)
    encoder = load_encoder(encoder)
    encoded = encode_test(test, encoder, encoding_with(encoder, cache, batch_size, progress))
    table = pairs_of_test(encoded, encoder, duplicates)
    return table if covariates is None else join_covariates(table, covariates)


def pairs_of_test(encoded: EncodedTest, encoder: Any, duplicates: str = "drop") -> PairTable:
    """Return the table of pairs of a test on one encoder."""
    test = encoded.test
    names = dict(test.categories)  # with the set where two have one name
    for pair in (SETS[:2], SETS[2:]):
        if names[pair[0]] == names[pair[1]]:
            names |= {name: f"{names[name]} ({name})" for name in pair}
    repeats = encoded.frame.duplicated(["set", "word", "template", "sentence"]).to_numpy()
    frame, vectors = encoded.frame[~repeats].reset_index(drop=True), encoded.vectors[~repeats]
    again = np.zeros(len(frame), dtype=bool)
    same: SameVector = ({}, {})
    if duplicates == "drop":
        frame, again, same = _one_row_a_vector(frame, vectors)
        frame, vectors = frame[~again], vectors[~again]
    groups: Groups = ({}, {})
    listed: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
    for name in SETS:
        words = checks.once(test.frame.loc[test.frame["set"] == name, "word"])
        there = set(encoded.frame.loc[encoded.frame["set"] == name, "word"])
        side, called = name.startswith("attr"), names[name]
        missing = tuple(word for word in words if word not in there)
        groups[side][called] = GroupCoverage(len(words), missing)
        listed[side][called] = words
    notes = list(encoded.notes)
    notes += [
        f"{what}: {n} of {len(test.frame)}"
        for n, what in (
            (len(encoded.dropped), "examples left out, since the encoder lacks their word"),
            (repeats.sum(), "examples that repeat another of their set count once"),
            (again.sum(), "sentences with the vector of another of their set count once with it"),
        )
        if n
    ]
    notes += name_same_vectors(groups, listed, same)
    which = frame["set"].astype(str).to_numpy()
    rows = np.flatnonzero(np.isin(which, SETS[:2]))
    columns = np.flatnonzero(np.isin(which, SETS[2:]))
    checks.number_of_pairs(len(rows), len(columns), f"test {test.name!r}")
    # Codes, not texts: a million pairs are a million small numbers.
    first, second = np.repeat(rows, len(columns)), np.tile(columns, len(rows))

    def labels(column: Any, at: np.ndarray) -> pd.Categorical:
        codes, distinct = pd.factorize(np.asarray(column, dtype=object)[at])
        return pd.Categorical.from_codes(codes, categories=[str(name) for name in distinct])

    named = [names[each] for each in which]
    other = (which == "targ1")[first] != (which == "attr1")[second]
    pairs = pd.DataFrame(
        {
            "protected_word": labels(frame["word"], first),
            "protected_class": labels(named, first),
            "protected_template": labels(frame["template"], first),
            "attribute": labels(frame["word"], second),
            "attribute_class": labels(named, second),
            "attribute_template": labels(frame["template"], second),
            "attribute_kind": pd.Categorical(["stereotype"]).repeat(len(first)),
            "connection": pd.Categorical.from_codes(other.astype(int), ["associated", "different"]),
            "distance": np.clip((1.0 - vectors[rows] @ vectors[columns].T).ravel(), 0.0, 2.0),
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
        Coverage(*groups, notes=tuple(notes)),
        {
            "name": f"{test.name} in {encoder_label(description['name'], description['options'])}",
            "test": {"name": test.name, "sha256": test.sha256, "origin": test.origin},
            "encoder": description,
        },
    )


def _one_row_a_vector(
    frame: pd.DataFrame, vectors: np.ndarray
) -> tuple[pd.DataFrame, np.ndarray, SameVector]:
    """Mark sentences whose vector an earlier one of their set has.

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


def encoder_label(model: str, options: str) -> str:
    """Return the name of an encoder with its options."""
    return f"{model} ({options})" if options else model
