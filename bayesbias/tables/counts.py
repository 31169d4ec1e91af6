"""How frequent words are: counts from a file, from the order of a file of vectors, or from wordfreq."""

from __future__ import annotations

import codecs
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import blocks_of_lines, kind_of, opened, path_of, sha256_file
from bayesbias.core.formatting import Shortened, number_of, some
from bayesbias.core.packages import needed, versions_of
from bayesbias.embeddings.loading import ranks_of
from bayesbias.embeddings.spelling import matched_spellings, spellings_of
from bayesbias.tables.covariates import covariates_given

__all__ = ["WordCounts", "load_counts"]

_COUNTS = (
    "count",
    "counts",
    "n",
    "freq",
    "freqs",
    "frequency",
    "frequencies",
    "occurrences",
    "fpmw",
)
_TABLES = (".csv", ".tsv")
_LIKE_A_NUMBER = re.compile(rb"[-+.]?[0-9]")
_LONGEST = 1 << 16  # bytes of a line: a word and a number
_VALID = "a .csv file with columns word and count, a file of lines with a word and its count, 'order', or 'wordfreq'"


@dataclass(frozen=True, eq=False, repr=False)
class WordCounts:
    """How frequent words are, in powers of ten.

    Attributes
    ----------
    log_frequency : Mapping of str to float
        The decimal logarithm of a word's count, up to a number that all words share.
    kind : {"counts", "order", "wordfreq"}
        Where it is from.
    source : str
        The file; of wordfreq the language.
    sha256 : str
        Of the file; of wordfreq its version.
    missing : tuple of str
        Words that were asked for and have no count.
    matched : Mapping of str to str
        Words found under another spelling, and which.

    Examples
    --------
    >>> WordCounts({"rabbi": 3.7, "mosque": 3.4}, "wordfreq", "en", missing=("imam",))
    <WordCounts: 2 words from wordfreq, language en, 1 missing (imam)>
    """

    log_frequency: Mapping[str, float]
    kind: Literal["counts", "order", "wordfreq"]
    source: str
    sha256: str = ""
    missing: tuple[str, ...] = ()
    matched: Mapping[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Where the frequencies are from, for a reader."""
        name = Path(self.source).name
        return {
            "counts": f"counts of {name}",
            "order": f"the order of words in {name}",
            "wordfreq": f"wordfreq, language {self.source}",
        }[self.kind]

    def __repr__(self) -> str:
        missing = f", {len(self.missing)} missing ({some(self.missing, 4)})" if self.missing else ""
        return f"<WordCounts: {number_of(len(self.log_frequency), 'word')} from {self.origin}{missing}>"


def load_counts(
    source: Any,
    words: Sequence[str],
    *,
    embedding: Any = None,
    language: str = "en",
) -> WordCounts:
    """Find out how frequent words are.

    Parameters
    ----------
    source : path, mapping, WordCounts, "order" or "wordfreq"
        A ``.csv`` or ``.tsv`` file with a column ``word`` and one of counts, or any text with a word and its count a line,
        as word2vec and GloVe write their vocabulary, gzipped too; ``{word: count}``; ``"order"``: the rank of a word
        in the file of vectors `embedding`, which must list its words from the most frequent on; ``"wordfreq"``: the
        package of that name (extra ``frequency``).
    words : sequence of str
        Sought as `bayesbias.load_embedding` seeks words: as spelt, else in other cases and with other hyphens.
    embedding : Embedding or path, optional
        For ``"order"``.
    language : str, default "en"
        For ``"wordfreq"``.

    Returns
    -------
    WordCounts

    Raises
    ------
    InputError
        For a file that holds no counts, a negative count, a word twice with different counts, words of which none is
        found; for an order that cannot mean frequency; where wordfreq is not installed or does not know the language.

    Notes
    -----
    By Zipf's law the logarithm of a word's frequency falls by that of its rank, so that of an order ``-log10(rank)``
    stands for it. wordfreq gives powers of ten per billion words (the Zipf scale). A count of zero is no count.

    Examples
    --------
    >>> found = load_counts({"rabbi": 1000, "mosque": 10}, ["rabbi", "Mosque", "imam"])
    >>> found.log_frequency, found.missing
    ({'rabbi': 3.0, 'Mosque': 1.0}, ('imam',))
    """
    asked = list(dict.fromkeys(checks.words(words)))
    if not checks.is_text(language):
        raise checks.wrong_kind(language, "language", "the code of a language, such as en")
    if isinstance(source, WordCounts):
        known = {word: source.log_frequency[word] for word in asked if word in source.log_frequency}
        return _made(known, asked, source.kind, source.source, source.sha256, source.matched)
    if isinstance(source, str) and source == "order":
        if embedding is None:
            raise InputError(
                "the order of vectors needs a file of vectors",
                where="counts",
                found="order",
                valid=_VALID,
            )
        ranks, matched, about = ranks_of(embedding, asked)
        logs = {word: -float(np.log10(rank)) for word, rank in ranks.items()}
        return _made(logs, asked, "order", about["source"], about["sha256"], matched)
    if isinstance(source, str) and source == "wordfreq":
        return _of_wordfreq(asked, language)
    if isinstance(source, Mapping) or hasattr(source, "columns"):
        counts, where, digest = _of_covariate(source, "counts"), "mapping", ""
    elif isinstance(source, str | os.PathLike):
        path = path_of(source, "counts", _VALID)
        digest, where = sha256_file(path), str(path)
        counts = (
            _of_covariate(path, where) if path.suffix.lower() in _TABLES else _of_lines(path, asked)
        )
    else:
        raise InputError("are no counts", where="counts", found=Shortened(source), valid=_VALID)
    for word, count in counts.items():
        if count < 0:
            raise InputError(
                "a count is below zero",
                where=where,
                found=f"{word}: {count:g}",
                valid="counts of at least 0",
            )
    spellings, _ = matched_spellings(asked, {word for word, count in counts.items() if count > 0})
    logs = {word: float(np.log10(counts[spelling])) for word, spelling in spellings.items()}
    matched = {word: spelling for word, spelling in spellings.items() if spelling != word}
    return _made(logs, asked, "counts", where, digest, matched)


def _made(
    logs: dict[str, float],
    asked: Sequence[str],
    kind: Any,
    source: str,
    digest: str,
    matched: Mapping[str, str],
) -> WordCounts:
    if not logs:
        raise InputError(
            "no word has a count",
            where=f"{source or kind}",
            found=some(asked, 6),
            valid="counts of the words",
        )
    missing = tuple(word for word in asked if word not in logs)
    return WordCounts(
        logs, kind, source, digest, missing, {w: s for w, s in matched.items() if w in logs}
    )


def _of_covariate(source: Any, where: str) -> dict[str, float]:
    """Return the counts of a table: of its only number, or the column that is called so."""
    if isinstance(source, Mapping) and not any(
        isinstance(value, Mapping) for value in source.values()
    ):
        source = {"count": source}
    given = [each for each in covariates_given(source) if each.numeric]
    named = [each for each in given if each.name.casefold() in _COUNTS]
    chosen = named or given
    if len(chosen) != 1:
        raise InputError(
            "holds no column of counts"
            if not chosen
            else "holds several columns that may be counts",
            where=where,
            found=[each.name for each in chosen] or None,
            valid="a column word, and a column count",
        )
    return {word: float(value) for word, value in chosen[0].values.items()}


def _of_lines(path: Path, asked: Sequence[str]) -> dict[str, float]:
    """Return the counts of the words that are asked for, out of lines with a word and a number."""
    wanted = {spelling for word in asked for spelling in spellings_of(word)}
    with opened(path, unpack=True, noun="file of counts", valid=_VALID) as stream:
        if (kind := kind_of(stream.read(8))) is not None:
            raise InputError(f"is {kind[0]}", where=path, valid=_VALID, hint=kind[1])
        stream.seek(0)
        return _counted(stream, path, wanted)


def _counted(stream: BinaryIO, path: Path, wanted: set[str]) -> dict[str, float]:
    counts: dict[str, float] = {}
    lines: dict[str, int] = {}
    number = 0
    for block in blocks_of_lines(stream, path, most=_LONGEST):
        for line in block:
            number += 1
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
            cells = line.replace(b"\t", b" ").split()
            if not cells:
                continue
            value = _number(cells[-1]) if len(cells) > 1 else None
            if value is None:
                if number == 1 and len(cells) > 1 and not _LIKE_A_NUMBER.match(cells[-1]):
                    continue  # a heading
                raise InputError(
                    "is no line of a word and its count",
                    where=f"{path}, line {number}",
                    found=line[:60].decode("utf-8", "replace"),
                    valid=_VALID,
                )
            word = _word(b" ".join(cells[:-1]), wanted, f"{path}, line {number}")
            if word not in wanted:
                continue
            if counts.setdefault(word, value) != value:
                raise InputError(
                    f"the word {word!r} has two counts",
                    where=f"{path}, lines {lines[word]} and {number}",
                    found=(counts[word], value),
                    valid="one count a word",
                )
            lines.setdefault(word, number)
    return counts


def _word(spelt: bytes, wanted: set[str], where: str) -> str:
    """Return a word that is sought or any other; refuse one that would be sought if its bytes were of another encoding.

    Lists of millions hold words that are cut within a letter, which nobody seeks.
    """
    try:
        return unicodedata.normalize("NFC", spelt.decode("utf-8"))
    except UnicodeDecodeError:
        if (word := spelt.decode("cp1252", "replace")) in wanted:
            hint = "save it as UTF-8: in Latin-1 or Windows-1252 its letters are other bytes"
            raise InputError("is not valid UTF-8", where=where, found=word, hint=hint) from None
        return ""


def _number(cell: bytes) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    if b"_" in cell:  # which Python alone takes for a digit's neighbour
        return None
    return value if np.isfinite(value) else None


def _of_wordfreq(asked: Sequence[str], language: str) -> WordCounts:
    package = needed(
        "frequency", "wordfreq", purpose="frequencies of words", instead="a file of counts"
    )
    known = package.available_languages("best")
    checks.choice(language, sorted(known), "language of wordfreq", "language")
    logs = {}
    for word in asked:
        # Phrases are taken apart at blanks, as wordfreq has no others.
        value = float(package.zipf_frequency(word.replace("_", " "), language))
        if value > 0:
            logs[word] = value
    return _made(logs, asked, "wordfreq", language, versions_of("wordfreq").get("wordfreq", ""), {})
