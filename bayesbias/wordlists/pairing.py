"""The pairs of a word list and their connections: associated, different, human and neutral."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import WordList

__all__ = ["pairs"]


def pairs(wordlist: str | os.PathLike[str] | Mapping[str, Any] | WordList) -> dict[str, list[str]]:
    """Derive every pair of a word list, with its connection.

    The rules, and why:

    * One row for each distinct protected word and attribute. A pair of words has one distance, so a
      second row for it would be the same observation counted twice.
    * A pair with an attribute of a set that belongs to no class is ``shared``.
    * Otherwise a pair is ``associated`` if the attribute is a stereotype of the protected word's
      own class, else ``different`` if it is one of another class, else ``human`` or ``neutral``.
      The own class comes first: whoever else a stereotype is told of, for this word it is its own.
    * An attribute listed for two classes is one word. It has one row with each protected word; its
      `attribute_class` there is the class that gives the connection: the word's own where the
      pair is associated, else the first that lists it.
    * A stereotype that is also a control word stays a stereotype, and a word in both control lists
      stays human: the control groups answer "near for a reason other than the stereotype?", which
      a stereotype cannot answer, nor a word about people the question of neutral ones. Both are
      dropped when the list is loaded, and noted there.
    * A protected word that is itself an attribute or control is not paired with itself: that
      distance is 0 whatever the embedding. Its pairs with other words stay. Noted when the list is
      loaded.

    Parameters
    ----------
    wordlist : WordList, or what `load_wordlist` takes

    Returns
    -------
    dict of str to list of str
        Columns of equal length, ready for ``pandas.DataFrame``: ``protected_word``,
        ``protected_class``, ``attribute``, ``attribute_class`` (``human`` and ``neutral`` for
        control words), ``attribute_kind`` (``stereotype``, ``shared``, ``human``, ``neutral``) and
        ``connection`` (``associated``, ``different``, ``shared``, ``human``, ``neutral``). Rows run
        over the protected words in the order of the list; within one, over stereotypes, sets of no
        class, human and neutral words in the order of the list.

    Examples
    --------
    >>> table = pairs("religion")
    >>> len(table["connection"])  # 15 protected words with 11 + 85 + 226
    4830
    >>> [column[0] for column in table.values()]
    ['judaism', 'judaism', 'greedy', 'judaism', 'stereotype', 'associated']
    """
    wordlist = load_wordlist(wordlist)
    first_class: dict[str, str] = {}
    for c in wordlist.classes:
        for word in c.attributes:
            first_class.setdefault(word, c.attribute_class)
    others = [(w, name, SHARED) for name, words in wordlist.attribute_sets.items() for w in words]
    if controls := wordlist.controls:
        others += [(word, "human", "human") for word in controls.human]
        others += [(word, "neutral", "neutral") for word in controls.neutral]
    attributes = [*first_class, *(word for word, _, _ in others)]
    other_classes, other_kinds = [name for _, name, _ in others], [kind for _, _, kind in others]
    kinds = ["stereotype"] * len(first_class) + other_kinds
    position = {word: i for i, word in enumerate(attributes)}

    names = ("protected_word", "protected_class", "attribute", "attribute_class", "attribute_kind")
    columns: dict[str, list[str]] = {name: [] for name in (*names, "connection")}
    for c in wordlist.classes:
        # Everything but the protected word is the same for all words of a class.
        own = set(c.attributes)
        classes = [c.attribute_class if w in own else first for w, first in first_class.items()]
        connections = ["associated" if w in own else "different" for w in first_class]
        rows = (attributes, [*classes, *other_classes], kinds, [*connections, *other_kinds])
        for word in c.protected:
            itself = position.get(word)
            kept = rows if itself is None else tuple(r[:itself] + r[itself + 1 :] for r in rows)
            count = len(kept[0])
            values = ([word] * count, [c.name] * count, *kept)
            for column, value in zip(columns.values(), values, strict=True):
                column.extend(value)
    return columns


CONNECTIONS = ("associated", "different", "human", "neutral")
SHARED = "shared"
"""Connection and kind of attributes that belong to no class."""
