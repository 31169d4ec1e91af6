"""The pair table of vectors: cosine distance of every protected word to every attribute of a word list."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.tables.covariates import join_covariates
from bayesbias.tables.coverage import Coverage, found_by_class, thin_classes, without_lost_classes
from bayesbias.tables.matching import MATCHED, counts_for_matching, matched_controls, pool_of
from bayesbias.tables.pair_table import COLUMNS, PairTable, as_pair_columns
from bayesbias.wordlists.foreign import FOREIGN_ENDINGS
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.pairing import pairs
from bayesbias.wordlists.wordlist import WordList

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.embeddings.embedding import Embedding

__all__ = ["distance_table"]


def distance_table(
    embedding: Embedding | Any,
    wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList,
    *,
    controls: Any = None,
    covariates: Any = None,
    counts: Any = None,
    pool: Any = None,
) -> PairTable:
    """Compute the cosine distance of every pair that the word list makes.

    Parameters
    ----------
    embedding : Embedding, or anything `load_embedding` reads
    wordlist : str, path, mapping or WordList
        A shipped name, a path, or a list of your own; see `load_wordlist`.
    controls : optional
        The control list to use in place of the list's own; see `load_wordlist`. With ``"matched"`` neutral words are those as
        frequent as the stereotypes; see `bayesbias.tables.matched_controls`.
    covariates : optional
        Numbers or categories of words, such as a CSV file with a column ``word``; see `bayesbias.tables.join_covariates`. Those
        of the word list are joined in any case.
    counts : optional
        How frequent words are, for matched controls: a file, ``{word: count}``, ``"order"`` (of the words in the file of
        `embedding`) or ``"wordfreq"``; see `bayesbias.tables.load_counts`.
    pool : optional
        The neutral words that matched controls are chosen from: a control list, or a list of words. By default those of the
        word list.

    Returns
    -------
    PairTable
        Distances are ``1 - cosine similarity``, computed in float64.

    Raises
    ------
    InputError
        Where fewer than two classes have words and stereotypes in the vocabulary. A class without either is left out
        where two remain, and control words that are not there take their contrasts with them; the coverage says so.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("minilm-static"), "religion")
    >>> len(table), table.coverage.missing
    (4830, ())
    """
    import pandas as pd

    from bayesbias.embeddings.loading import load_embedding

    account: dict[str, Any] | None = None
    if isinstance(controls, str) and controls == MATCHED:
        words = load_wordlist(wordlist)
        choice = pool_of(words, pool)
        source, embedding = embedding, load_embedding(embedding, words=[*words.words, *choice])
        there = [word for word in choice if word in embedding]
        frequent = counts_for_matching(counts, [*words.attribute_words, *there], source)
        words, account = matched_controls(words, frequent, there)
    elif pool is not None or counts is not None:
        raise InputError(
            "counts and a pool are for matched controls", where="controls", found=controls, valid=MATCHED
        )
    else:
        words = load_wordlist(wordlist, controls=controls)
    embedding = load_embedding(embedding, words=words.words)
    columns = pairs(words)
    frame = pd.DataFrame({name: columns[name] for name in COLUMNS[:-1]})
    known = {
        word: word in embedding for word in dict.fromkeys([*frame["protected_word"], *frame["attribute"]])
    }
    matched = {word: found for word, found in embedding.matched.items() if known.get(word)}
    groups = found_by_class(frame, known, matched, set(embedding.composed))
    kept, lost = without_lost_classes(frame, known, groups, embedding.name)
    thin = thin_classes(kept, known, groups, "is in the vocabulary")
    notes = [
        *words.notes,
        *embedding.notes,
        *([account["note"]] if account else []),
        *lost,
        *thin,
    ]
    spelling = {word: embedding.matched.get(word, word) for word in known}
    frame = kept[kept["protected_word"].map(known) & kept["attribute"].map(known)]
    # Two spellings of one vector (Billy, billy) are at distance 0 by construction, which is no observation.
    one = frame["protected_word"].map(spelling) == frame["attribute"].map(spelling)
    for word, attribute in frame.loc[one, ["protected_word", "attribute"]].itertuples(index=False):
        notes.append(f"{word} and {attribute} are one word in {embedding.name}; their pair is left out")
    frame = frame[~one].reset_index(drop=True)
    frame["distance"] = _distances(embedding, frame)
    coverage = Coverage(groups[0], groups[1], matched, 0, tuple(notes), thin=tuple(thin))
    provenance = {
        "name": f"{words.name} in {embedding.name}",
        "wordlist": {
            "name": words.name,
            "sha256": words.sha256,
            "controls": words.controls.name if words.controls else "none",
            **({"matched": account} if account else {}),
            **({"file": Path(words.origin).name} if words.origin.lower().endswith(FOREIGN_ENDINGS) else {}),
        },
        "embedding": {"name": embedding.name, **{str(k): v for k, v in embedding.provenance.items()}},
    }
    table = PairTable(as_pair_columns(frame), coverage, provenance)
    if words.covariates:
        table = join_covariates(table, words.covariates)
    return table if covariates is None else join_covariates(table, covariates)


def _distances(embedding: Embedding, frame: pd.DataFrame) -> np.ndarray:
    import pandas as pd

    row, rows = pd.factorize(frame["protected_word"])
    column, attributes = pd.factorize(frame["attribute"])
    x = np.asarray(embedding.vectors_of(list(rows)), dtype=float)
    a = np.asarray(embedding.vectors_of(list(attributes)), dtype=float)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    # Rounding can leave a cosine a few units of the last place beyond 1.
    return np.clip(1.0 - (x @ a.T)[row, column], 0.0, 2.0)
