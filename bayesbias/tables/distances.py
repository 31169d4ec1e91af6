"""The pair table of vectors.

Cosine distance of every protected word to every attribute of a word list.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks, join_words
from bayesbias.embeddings.embedding import Embedding, check_dimensions, units
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.spelling import SHARED_VECTOR
from bayesbias.embeddings.static import STATIC_EMBEDDING
from bayesbias.tables import pair_table
from bayesbias.tables.counts import MATCHED, load_counts, matched_controls, pool_of
from bayesbias.tables.covariates import join_covariates
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.pair_table import SIDES, PairTable, SameVector, labels_within
from bayesbias.wordlists.foreign import FOREIGN_ENDINGS
from bayesbias.wordlists.listfile import Source, load_wordlist, pairs
from bayesbias.wordlists.wordlist import (
    CONNECTIONS,
    NOT_STATED,
    SHARED,
    WordList,
    check_number_of_pairs,
)


def distance_table(
    embedding: Any,
    wordlist: Source | WordList,
    *,
    controls: Any = None,
    covariates: Any = None,
    counts: Any = None,
    pool: Any = None,
    duplicates: str = "drop",
    postprocess: str | None = None,
) -> PairTable:
    """Compute the cosine distance of every pair that the word list makes.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
        Word vectors.
    wordlist : str, path, mapping or WordList
        A shipped name, a path, or a list of your own; see `load_wordlist`.
    controls : optional
        The control list to use in place of the list's own; see `load_wordlist`. With ``"matched"``
        neutral words are those as frequent as the stereotypes; see
        `bayesbias.tables.matched_controls`.
    covariates : optional
        Numbers or categories of words, such as a CSV file with a column ``word``; see
        `bayesbias.tables.join_covariates`. Those of the word list are joined in any case.
    counts : optional
        How frequent words are, for matched controls: a file, ``{word: count}``, ``"order"`` (of the
        words in the file of `embedding`) or ``"wordfreq"``; see `bayesbias.tables.load_counts`.
    pool : optional
        The neutral words that matched controls are chosen from: a control list, or a list of words.
        By default those of the word list.
    duplicates : {"drop", "keep"}
        Words with one vector, such as *Muslim* and *muslim* in uncased vectors, are one word. By
        default the first is kept, and the coverage names the others under ``same_vector``. An
        attribute that two classes then share is associated with both. Protected words of two
        classes that share a vector are kept once in each class, since neither class owns it.
    postprocess : {"center", "standardize", "abtt"}, optional
        What is done to the vectors first; see `load_embedding`.

    Returns
    -------
    PairTable
        Distances are ``1 - cosine similarity``, computed in float64.

    Raises
    ------
    InputError
        If the vectors have one dimension, so that every cosine is 1 or -1; or
        fewer than two classes have words and stereotypes in the vocabulary. If two remain, a class
        without either is left out, and the coverage names it.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("minilm-static"), "religion")
    >>> len(table), table.coverage.missing
    (4830, ())
    """
    checks.choice(duplicates, ("drop", "keep"), "duplicates")
    account: dict[str, Any] | None = None
    source = embedding
    if postprocess is not None:  # of all words, before some are chosen
        embedding = load_embedding(embedding, postprocess=postprocess)
    if isinstance(controls, str) and controls == MATCHED:
        words = load_wordlist(wordlist)
        choice = pool_of(words, pool)
        embedding = load_embedding(embedding, words=[*words.words, *choice])
        there = [word for word in choice if word in embedding]
        if counts is None:
            valid = "a file of words and counts, {word: count}, 'order' or 'wordfreq'"
            problem = "expected counts for matched controls, got none"
            raise InputError(problem, where="counts", valid=valid)
        frequent = load_counts(counts, [*words.attribute_words, *there], embedding=source)
        words, account = matched_controls(words, frequent, there)
    elif pool is not None or counts is not None:
        problem = f"expected {MATCHED!r} beside counts or a pool"
        raise InputError(f"{problem}, got {controls!r}", where="controls")
    else:
        words = load_wordlist(wordlist, controls=controls)
    check_number_of_pairs(words)  # before a large file of vectors is read
    embedding = load_embedding(embedding, words=words.words)
    check_dimensions(embedding.vectors, embedding.name)
    frame = pd.DataFrame(pairs(words))
    every = pair_table.words_in(frame)
    known = {word: word in embedding for word in every}
    matched = {word: found for word, found in embedding.matched.items() if known.get(word)}
    misspelled = misspelled_words(embedding, words)
    groups = pair_table.found_by_class(frame, known, matched, set(embedding.composed), misspelled)
    kept, lost = pair_table.without_lost_classes(
        frame, known, groups, f"embedding {embedding.name!r}"
    )
    frame = kept[kept["protected_word"].map(known) & kept["attribute"].map(known)]
    present = pair_table.words_in(frame)
    kept_as = {word: word for word in present}
    for group in embedding.same_vectors(present):
        kept_as |= dict.fromkeys(group, group[0])
    same: SameVector = ({}, {})
    if duplicates == "drop":
        frame, same = _one_row_a_vector(frame, kept_as)
    of_vectors = list(embedding.notes)
    if duplicates == "drop":  # the note on words with the same vector says it
        of_vectors = [note for note in of_vectors if not note.endswith(SHARED_VECTOR)]
    notes = [*words.notes, *of_vectors, *([account["note"]] if account else []), *lost]
    notes += pair_table.thin_classes(kept, known, groups, same)
    listed = tuple(labels_within(kept, label, word) for _, label, word in SIDES)
    notes += pair_table.name_same_vectors(groups, listed, same)
    if duplicates == "drop":
        notes += [
            "words of different classes have one vector, which cannot tell their classes apart: "
            f"{join_words(shared)}"
            for shared in embedding.same_vectors(frame["protected_word"].unique())
        ]
    # A pair with one vector is at distance 0 by construction, which is no observation.
    one = frame["protected_word"].map(kept_as) == frame["attribute"].map(kept_as)
    for word, attribute in frame.loc[one, ["protected_word", "attribute"]].itertuples(index=False):
        notes.append(f"one word with itself is no pair, and left out: {word} and {attribute}")
    frame = frame[~one].reset_index(drop=True)
    row, rows = pd.factorize(frame["protected_word"])
    column, attributes = pd.factorize(frame["attribute"])
    x, a = (units(embedding.vectors_of(list(words))) for words in (rows, attributes))
    # Rounding can leave a cosine a few units of the last place beyond 1.
    frame["distance"] = np.clip(1.0 - (x @ a.T)[row, column], 0.0, 2.0)
    coverage = Coverage(groups[0], groups[1], matched, 0, tuple(notes))
    about: dict[str, Any] = {
        "name": words.name,
        "source": words.source,
        "sha256": words.sha256,
        "controls": words.controls.name if words.controls else "none",
    }
    if words.factors:
        about["factors"] = words.factors
    if account:
        about["matched"] = account
    if words.origin.lower().endswith(FOREIGN_ENDINGS):
        about["file"] = Path(words.origin).name
    provenance = {
        "name": f"{words.name} in {embedding.name}",
        "wordlist": about,
        "embedding": {
            "name": embedding.name,
            **embedding.provenance,
            **({"notes": of_vectors} if of_vectors else {}),
        },
    }
    table = PairTable(pair_table.as_pair_columns(frame), coverage, provenance)
    if words.covariates:
        table = join_covariates(table, words.covariates)
    return table if covariates is None else join_covariates(table, covariates)


def misspelled_words(embedding: Embedding, words: WordList) -> dict[str, str]:
    """Return the words of a list that may be misspelled, and what each may stand for.

    The shipped vectors know English words only.
    """
    english = words.language == NOT_STATED or words.language.partition("-")[0] == "en"
    if embedding.provenance.get("source") == STATIC_EMBEDDING and not english:
        return {}
    return dict(embedding.misspelled)


def _one_row_a_vector(
    frame: pd.DataFrame, kept_as: Mapping[str, str]
) -> tuple[pd.DataFrame, SameVector]:
    """Return the pairs of distinct vectors, and the words dropped."""
    same: SameVector = ({}, {})
    for words in labels_within(frame, "protected_class", "protected_word").values():
        same[0].update(_dropped(words, kept_as))
    same[1].update(_dropped(frame["attribute"].unique(), kept_as))
    frame = frame[~frame["protected_word"].isin(same[0])]
    frame = frame.assign(attribute=frame["attribute"].replace(same[1]))
    # Of rows that become one pair the connection decides, as it does for an attribute of two
    # classes.
    rank = frame["connection"].map((*CONNECTIONS, SHARED).index).sort_values(kind="stable")
    once = (
        frame.loc[rank.index].drop_duplicates(["protected_word", "attribute"]).index.sort_values()
    )
    return frame.loc[once], same


def _dropped(words: Iterable[str], kept_as: Mapping[str, str]) -> dict[str, str]:
    first: dict[str, str] = {}
    kept = {word: first.setdefault(kept_as[word], word) for word in words}
    return {word: other for word, other in kept.items() if word != other}
