"""Neutral words that are as frequent as the stereotypes they are held against, with an account of how near they come."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import sha256_of
from bayesbias.core.formatting import some
from bayesbias.tables.counts import WordCounts, load_counts
from bayesbias.wordlists.controls import load_controls
from bayesbias.wordlists.wordlist import Controls, WordList

__all__ = ["matched_controls"]

MATCHED = "matched"
PER = 3
"""Neutral words for each stereotype, where there are as many."""
_FAR = 0.5  # powers of ten: a word three times as frequent is no match


def pool_of(words: WordList, pool: Any = None) -> list[str]:
    """Return the neutral words to choose from: of a list, of a control list, or as given; no word of the list is among them.

    Parameters
    ----------
    words : WordList
    pool : optional
        What `load_controls` takes, or a sequence of words. By default the neutral words of the list's own controls.
    """
    if pool is None:
        neutral: Sequence[str] = words.controls.neutral if words.controls else ()
    elif isinstance(pool, list | tuple):
        neutral = checks.texts(list(pool), "pool")
    else:
        controls = load_controls(pool)
        neutral = controls.neutral if controls else ()
    if not neutral:
        raise InputError(
            "there are no neutral words to choose from",
            where=f"controls {MATCHED}",
            found=words.name if pool is None else pool,
            valid="a word list with neutral words, or a pool of them",
        )
    human = words.controls.human if words.controls else ()
    taken = {*words.protected_words, *words.attribute_words, *human}
    return [word for word in dict.fromkeys(neutral) if word not in taken]


def counts_for_matching(counts: Any, words: Sequence[str], embedding: Any) -> WordCounts:
    """Return how frequent some words are, or say what matched controls need."""
    if counts is None:
        raise InputError(
            "matched controls need to know how frequent words are",
            where="counts",
            valid="a file of words and counts, {word: count}, 'order' or 'wordfreq'",
        )
    return load_counts(counts, words, embedding=embedding)


def matched_controls(
    words: WordList, counts: WordCounts, pool: Any = None, *, per: int = PER
) -> tuple[WordList, dict[str, Any]]:
    """Choose the neutral words that are as frequent as the stereotypes.

    Each stereotype gets so many words of its own, chosen together so that the log frequencies of all lie as near as can be
    (an optimal assignment, by the sum of the gaps).

    Parameters
    ----------
    words : WordList
    counts : WordCounts
        Of the stereotypes and of the pool.
    pool : optional
        A control list (its neutral words), or a sequence of words; by default the neutral words of the list.
    per : int
        Neutral words for each stereotype; fewer where the pool is small.

    Returns
    -------
    words : WordList
        With the chosen words as its neutral ones; human ones stay.
    account : dict
        ``counts`` (the file, order or wordfreq), ``pool``, ``per``, ``pairs`` (stereotype -> the words chosen for it),
        ``mean_stereotypes``, ``mean_neutral`` and ``largest_gap`` in powers of ten, ``without_count`` (stereotypes) and
        ``note``, the same in a sentence.

    Raises
    ------
    InputError
        Where there is no pool, no stereotype has a count, or the pool has fewer words with counts than there are stereotypes.

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
    choice = sorted(word for word in pool_of(words, pool) if word in logs)
    if not listed or len(choice) < len(listed):
        raise InputError(
            "too few neutral words have a count to match the stereotypes",
            where=f"controls {MATCHED}, {counts.origin}",
            found=f"{len(choice)} neutral words, {len(listed)} stereotypes",
            valid="a pool of at least as many neutral words with counts as stereotypes",
        )
    per = min(per, len(choice) // len(listed))
    mine, theirs = (np.array([logs[word] for word in each]) for each in (listed, choice))
    gaps = np.abs(np.repeat(mine, per)[:, None] - theirs)
    rows, columns = linear_sum_assignment(gaps)
    pairs: dict[str, list[str]] = {word: [] for word in listed}
    for row, column in zip(rows, columns, strict=True):
        pairs[listed[row // per]].append(choice[column])
    chosen = {word for each in pairs.values() for word in each}
    kept = [word for word in pool_of(words, pool) if word in chosen]
    largest = float(gaps[rows, columns].max())
    account = {
        "counts": counts.source if counts.kind == "counts" else counts.kind,
        "pool": len(choice),
        "per": per,
        "pairs": pairs,
        "mean_stereotypes": float(mine.mean()),
        "mean_neutral": float(theirs[columns].mean()),
        "largest_gap": round(largest, 12),
        "without_count": [word for word in words.attribute_words if word not in logs],
    }
    account["note"] = _note(account, counts, len(kept))
    digest = sha256_of("\n".join((words.sha256, *kept)))
    controls = Controls(
        name=MATCHED,
        human=words.controls.human if words.controls else (),
        neutral=tuple(kept),
        language=words.language,
        source=f"matched in frequency, by {counts.origin}",
    )
    return dataclasses.replace(words, controls=controls, sha256=digest), account


def _note(account: Mapping[str, Any], counts: WordCounts, chosen: int) -> str:
    lost = account["without_count"]
    far = account["largest_gap"] > _FAR
    return (
        f"{chosen} of {account['pool']} neutral words are matched in frequency to the stereotypes, {account['per']} to each "
        f"({counts.origin}): mean log frequency {account['mean_neutral']:.2f} beside {account['mean_stereotypes']:.2f}, largest "
        f"gap {account['largest_gap']:.2f} powers of ten"
        + ("; a larger pool would match better" if far else "")
        + (f"; stereotypes without a count: {some(lost)}" if lost else "")
    )
