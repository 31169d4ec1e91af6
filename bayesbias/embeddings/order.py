"""The rank of words in a source of vectors whose order means frequency."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from bayesbias.core.errors import InputError
from bayesbias.core.opening import as_plain_file, path_of, sha256_file
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.gensim import GENSIM_DATA, fetched_from_gensim
from bayesbias.embeddings.readers import formats
from bayesbias.embeddings.readers.rows import Reading
from bayesbias.embeddings.spelling import matched_spellings, spellings_of
from bayesbias.embeddings.static import list_embeddings

__all__ = ["ranks_of"]

_LEAST = 5  # words of which alphabetical order is no accident
_VALID = "a file of vectors that lists its words from the most frequent on, or a gensim KeyedVectors object"


def ranks_of(source: Any, words: Sequence[str]) -> tuple[dict[str, int], dict[str, str], dict[str, Any]]:
    r"""Return the place of words in the order of a source of vectors, counted from 1.

    word2vec, fastText and GloVe write their words from the most frequent on. Whether a file does, it does not say: who
    asks for this says so.

    Parameters
    ----------
    source : path, name of the gensim-data collection, Embedding or gensim KeyedVectors
        An Embedding is taken for the file that it was read from.
    words : sequence of str

    Returns
    -------
    ranks, matched : dict
        Of the words that are in the source as listed; and the spellings under which they were found, where others.
    about : dict
        ``source`` and ``sha256`` of the file.

    Raises
    ------
    InputError
        For a source without an order of its own (a mapping, shipped vectors that are composed of parts), and for one whose
        words stand in the order of the alphabet.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "v.txt").write_text("the 0.1 0.2\nof 0.3 0.1\nrabbi 0.2 0.2\n")
    ...     ranks_of(f"{folder}/v.txt", ["Rabbi", "of"])[0]
    {'Rabbi': 3, 'of': 2}
    """
    if isinstance(source, Embedding):
        source = _file_behind(source)
    if hasattr(source, "key_to_index") or hasattr(getattr(source, "wv", None), "key_to_index"):
        known = {str(word): place + 1 for word, place in getattr(source, "wv", source).key_to_index.items()}
        return _found(known, words, type(source).__name__, {"source": type(source).__name__, "sha256": ""})
    if not isinstance(source, str | os.PathLike):
        raise _no_order(type(source).__name__)
    if os.fspath(source) in list_embeddings():
        raise _no_order(os.fspath(source), "its words are composed of parts of words")
    if isinstance(source, str) and source in GENSIM_DATA and not os.path.lexists(source):
        path = fetched_from_gensim(source, None)
    else:
        path = path_of(os.fspath(source), "source", _VALID)
    with as_plain_file(path, noun="vector file", valid=formats.valid_formats()) as plain:
        form, kind = formats.recognise(plain)
        if form.read is None:
            raise _no_order(str(path), "a pickle is loaded by gensim: give its KeyedVectors object")
        wanted = {spelling for word in words for spelling in spellings_of(word)}
        rows = form.read(Reading(plain, kind, wanted, lambda _: None, skip_invalid=True))
        digest = sha256_file(plain)
    # The first line of a text with a header holds no word.
    before = 1 if rows.unit == "line" and kind.count is not None else 0
    known = {
        word: place - before for word, place in zip(rows.words, rows.places, strict=True) if place > before
    }
    return _found(known, words, str(path), {"source": str(path), "sha256": digest})


def _found(
    known: dict[str, int], words: Sequence[str], where: str, about: dict[str, Any]
) -> tuple[dict[str, int], dict[str, str], dict[str, Any]]:
    matched, _ = matched_spellings(words, known)
    places = sorted((known[spelling], spelling) for spelling in set(matched.values()))
    spelt = [spelling.casefold() for _, spelling in places]
    if len(spelt) >= _LEAST and spelt in (sorted(spelt), sorted(spelt, reverse=True)):
        raise InputError(
            "the words stand in the order of the alphabet, which says nothing of their frequency",
            where=where,
            found=", ".join(spelt[:4]),
            valid=_VALID,
        )
    ranks = {word: known[spelling] for word, spelling in matched.items()}
    return ranks, {word: spelling for word, spelling in matched.items() if word != spelling}, about


def _file_behind(embedding: Embedding) -> str:
    source = str(embedding.provenance.get("source", ""))
    if embedding.name in list_embeddings():
        return embedding.name
    if not os.path.isfile(source):
        raise _no_order(f"embedding {embedding.name}", "it was not read from a file")
    return source


def _no_order(found: str, why: str | None = None) -> InputError:
    return InputError(
        "has no order that could mean frequency", where="counts from the order of vectors", found=found,
        valid=_VALID, hint=why,
    )  # fmt: skip
