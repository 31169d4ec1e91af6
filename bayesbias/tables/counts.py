"""How frequent words are, and neutral words that are as frequent as the stereotypes.

Counts come from a file, from the order of a file of vectors, or from wordfreq.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bayesbias.core import InputError, checks, files, number_of, packages, some
from bayesbias.embeddings.loading import ranks_of
from bayesbias.embeddings.readers.common import is_number
from bayesbias.embeddings.spelling import matched_spellings, with_keys
from bayesbias.tables.covariates import covariates_given
from bayesbias.wordlists.listfile import load_controls
from bayesbias.wordlists.wordlist import Controls, WordList

_COUNTS = (
    "count", "counts", "n", "freq", "freqs", "frequency", "frequencies", "occurrences", "fpmw"
)  # fmt: skip
_VALID = (
    "a .csv file with columns word and count, a file of lines with a word and its count, 'order', "
    "or 'wordfreq'"
)
MATCHED = "matched"
_FAR = 0.5  # powers of ten: a word three times as frequent is no match


@dataclass(frozen=True, eq=False)
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
        return (
            f"<WordCounts: {number_of(len(self.log_frequency), 'word')} from "
            f"{self.origin}{missing}>"
        )


def load_counts(
    source: Any, words: Sequence[str], *, embedding: Any = None, language: str = "en"
) -> WordCounts:
    """Find out how frequent words are.

    Parameters
    ----------
    source : path, mapping, WordCounts, "order" or "wordfreq"
        A ``.csv`` or ``.tsv`` file with a column ``word`` and one of counts, or any text with a
        word and its count a line, as word2vec and GloVe write their vocabulary, gzipped too;
        ``{word: count}``; ``"order"``: the rank of a word in the file of vectors `embedding`, which
        must list its words from the most frequent on; ``"wordfreq"``: the package of that name
        (extra ``frequency``).
    words : sequence of str
        Sought as `bayesbias.load_embedding` seeks words: as spelt, else in other cases and with
        other hyphens.
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
        If a file holds no counts, a count is negative, a word has two, no word is found, an order
        cannot mean frequency, or wordfreq is not installed or does not know the language.

    Notes
    -----
    By Zipf's law the logarithm of a word's frequency falls by that of its rank, so that of an order
    ``-log10(rank)`` stands for it. wordfreq gives powers of ten per billion words (the Zipf scale).
    A count of zero is no count.

    Examples
    --------
    >>> found = load_counts({"rabbi": 1000, "mosque": 10}, ["rabbi", "Mosque", "imam"])
    >>> found.log_frequency, found.missing
    ({'rabbi': 3.0, 'Mosque': 1.0}, ('imam',))
    """
    asked = checks.once(checks.words(words))
    named = source if isinstance(source, str) else ""
    kind: Any = named if named in ("order", "wordfreq") else "counts"
    matched: Mapping[str, str] = {}
    if isinstance(source, WordCounts):
        logs = {word: source.log_frequency[word] for word in asked if word in source.log_frequency}
        kind, where, digest = source.kind, source.source, source.sha256
        matched = {word: other for word, other in source.matched.items() if word in logs}
    elif kind == "order":
        if embedding is None:
            problem = "expected a file of vectors beside counts='order', got none"
            raise InputError(problem, where="embedding")
        ranks, matched, about = ranks_of(embedding, asked)
        logs = {word: -float(np.log10(rank)) for word, rank in ranks.items()}
        where, digest = about["source"], about["sha256"]
    elif kind == "wordfreq":
        package = packages.needed("frequency", "wordfreq", purpose="frequencies of words")
        checks.choice(language, sorted(package.available_languages("best")), "language")
        # Phrases are taken apart at blanks, as wordfreq has no others.
        zipf = {w: float(package.zipf_frequency(w.replace("_", " "), language)) for w in asked}
        logs = {word: value for word, value in zipf.items() if value > 0}
        where, digest = language, packages.versions_of("wordfreq")["wordfreq"]
    else:
        if isinstance(source, Mapping) or hasattr(source, "columns"):
            counts, where, digest = _of_covariate(source, "counts"), "mapping", ""
        else:
            path = files.path_of(source, "counts", _VALID)
            where, digest = str(path), files.sha256_file(path)
            tabular = path.suffix.lower() in (".csv", ".tsv")
            counts = _of_covariate(path, where) if tabular else _of_lines(path, asked)
        if below := [f"{word}: {count:g}" for word, count in counts.items() if count < 0]:
            raise InputError(f"expected counts of zero or more, got {below[0]}", where=where)
        spellings = matched_spellings(asked, {word for word, n in counts.items() if n > 0})
        logs = {word: float(np.log10(counts[spelling])) for word, spelling in spellings.items()}
        matched = {word: spelling for word, spelling in spellings.items() if spelling != word}
    if not logs:
        problem = f"expected a count for one word or more, got none for {some(asked, 6)}"
        raise InputError(problem, where=where or kind)
    missing = tuple(word for word in asked if word not in logs)
    return WordCounts(logs, kind, where, digest, missing, matched)


def _of_covariate(source: Any, where: str) -> dict[str, float]:
    """Return the counts of a table."""
    if isinstance(source, Mapping) and not any(isinstance(of, Mapping) for of in source.values()):
        source = {"count": source}
    given = [each for each in covariates_given(source) if each.numeric]
    chosen = [each for each in given if each.name.casefold() in _COUNTS] or given
    if len(chosen) != 1:
        found = some(each.name for each in chosen) or "none"
        raise InputError(f"expected one column of counts, got {found}", where=where)
    return {word: float(value) for word, value in chosen[0].values.items()}


def _of_lines(path: Path, asked: Sequence[str]) -> dict[str, float]:
    """Return the counts of words, from lines with a word and a number."""
    wanted = set(with_keys(asked, ()))
    counts: dict[str, float] = {}
    with files.opened(path, unpack=True, kind="a file of counts") as raw:
        for number, content in enumerate(raw, start=1):
            line = unicodedata.normalize("NFC", content.decode("utf-8-sig", "replace"))
            *parts, cell = line.split() or [""]
            if not is_number(cell.encode()) or not parts:
                if number == 1 or not cell:
                    continue  # a heading, or a blank line
                problem, place = "expected a word and its count", f"{path}, line {number}"
                raise InputError(problem, where=place, found=line.strip())
            word = " ".join(parts)
            if word in wanted and counts.setdefault(word, float(cell)) != float(cell):
                problem = f"expected one count of {word!r}"
                found, place = (counts[word], float(cell)), f"{path}, line {number}"
                raise InputError(problem, where=place, found=found)
    return counts


# -- matched controls ------------------------------------------------------------------------------


def pool_of(words: WordList, pool: Any = None) -> list[str]:
    """Return the neutral words that matched controls are chosen from.

    Parameters
    ----------
    words : WordList
        The word list.
    pool : optional
        What `load_controls` takes, or a sequence of words. By default the neutral words of the
        list's own controls.
    """
    if pool is None:
        neutral = words.controls.neutral if words.controls else ()
    elif isinstance(pool, list | tuple):
        neutral = checks.texts(list(pool), "pool")
    else:
        controls = load_controls(pool)
        neutral = controls.neutral if controls else ()
    if not neutral:
        of = words.name if pool is None else "the pool"
        problem = f"expected neutral words to choose from, got none of {of}"
        raise InputError(problem, where=f"controls {MATCHED}", hint="name a pool of neutral words")
    human = words.controls.human if words.controls else ()
    taken = {*words.protected_words, *words.attribute_words, *human}
    return [word for word in dict.fromkeys(neutral) if word not in taken]


def matched_controls(
    words: WordList, counts: WordCounts, pool: Any = None, *, per: int = 3
) -> tuple[WordList, dict[str, Any]]:
    """Choose the neutral words that are as frequent as the stereotypes.

    Each stereotype gets so many words of its own, chosen together so that the log frequencies of
    all lie as near as can be (an optimal assignment, by the sum of the gaps).

    Parameters
    ----------
    words : WordList
        The word list.
    counts : WordCounts
        Of the stereotypes and of the pool.
    pool : optional
        A control list (its neutral words), or a sequence of words; by default the neutral words of
        the list.
    per : int
        Neutral words for each stereotype; fewer where the pool is small.

    Returns
    -------
    words : WordList
        With the chosen words as its neutral ones; human ones stay.
    account : dict
        ``counts`` (the file, order or wordfreq), ``pool``, ``per``, ``pairs`` (stereotype -> the
        words chosen for it), ``mean_stereotypes``, ``mean_neutral`` and ``largest_gap`` in powers
        of ten, ``without_count`` (stereotypes) and ``note``, the same in a sentence.

    Raises
    ------
    InputError
        If there is no pool, no stereotype has a count, or the pool has fewer words with counts than
        there are stereotypes.

    Examples
    --------
    >>> import bayesbias as bb
    >>> words = bb.load_wordlist("weat7", controls="2021")
    >>> every = [*words.attribute_words, *words.control_words]
    >>> lengths = bb.tables.load_counts({word: 10.0 ** -len(word) for word in every}, every)
    >>> found, account = matched_controls(words, lengths)
    >>> len(found.controls.neutral), account["pairs"]["he"], account["largest_gap"]
    (48, ['cg', 'lox', 'pad'], 1.0)
    """
    from scipy.optimize import linear_sum_assignment

    checks.count(per, "per")
    logs = counts.log_frequency
    listed = [word for word in words.attribute_words if word in logs]
    candidates = pool_of(words, pool)
    choice = sorted(word for word in candidates if word in logs)
    if not listed or len(choice) < len(listed):
        problem = (
            f"expected as many neutral words with counts as stereotypes, got {len(choice)} neutral "
            f"words and {len(listed)} stereotypes"
        )
        hint = "name a larger pool"
        raise InputError(problem, where=f"controls {MATCHED}, {counts.origin}", hint=hint)
    per = min(per, len(choice) // len(listed))
    mine, theirs = (np.array([logs[word] for word in each]) for each in (listed, choice))
    gaps = np.abs(np.repeat(mine, per)[:, None] - theirs)
    rows, columns = linear_sum_assignment(gaps)
    pairs = checks.grouped(
        (listed[row // per], choice[column]) for row, column in zip(rows, columns, strict=True)
    )
    chosen = {word for each in pairs.values() for word in each}
    kept = [word for word in candidates if word in chosen]
    lost = [word for word in words.attribute_words if word not in logs]
    largest = float(gaps[rows, columns].max())
    account = {
        "counts": counts.source if counts.kind == "counts" else counts.kind,
        "pool": len(choice),
        "per": per,
        "pairs": pairs,
        "mean_stereotypes": float(mine.mean()),
        "mean_neutral": float(theirs[columns].mean()),
        "largest_gap": round(largest, 12),
        "without_count": lost,
    }
    account["note"] = (
        f"{len(kept)} of {len(choice)} neutral words are matched in frequency to the stereotypes, "
        f"{per} to each ({counts.origin}): mean log frequency {theirs[columns].mean():.2f} beside "
        f"{mine.mean():.2f}, largest gap {largest:.2f} powers of ten"
        + ("; a larger pool would match better" if largest > _FAR else "")
        + (f"; stereotypes without a count: {some(lost)}" if lost else "")
    )
    digest = files.sha256_of("\n".join((words.sha256, *kept)))
    controls = Controls(
        name=MATCHED,
        human=words.controls.human if words.controls else (),
        neutral=tuple(kept),
        language=words.language,
        source=f"matched in frequency, by {counts.origin}",
    )
    return replace(words, controls=controls, sha256=digest), account
