"""Words that stand inside the texts of a table without a column of words, such as names in prompts.

Texts with one name share whatever the name does, so that they are no independent answers.
"""

import re
from collections import Counter

import pandas as pd

WORD, REST = "word_in_text", "text_without_word"
"""Columns that users may name: the word of a text, and the text with a blank in its place."""
_BLANK = "{word}"
_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_MOST_TOKENS = 3  # of a word
_COVERED = 0.9  # share of the texts with a word of their group
_SHARED = 0.8  # share of the texts whose rest another group has too
_FEWEST_WORDS = 2  # of a group
_FEWEST_TEXTS = 2  # of a word, on average


def words_in_texts(texts: pd.Series, groups: pd.Series) -> pd.DataFrame | None:
    """Return the words by which texts of groups differ, and the texts without them.

    Parameters
    ----------
    texts, groups : Series
        A text and its group in each row.

    Returns
    -------
    DataFrame or None
        The columns ``word_in_text`` and ``text_without_word``. None where texts of groups differ by more,
        or not at all.

    Examples
    --------
    >>> names = {"a": ["Ebony", "Jamal"], "b": ["Amanda", "Jake"]}
    >>> rows = [(f"{n} is {s}.", g) for g in names for n in names[g] for s in ("sad", "glad")]
    >>> texts, groups = pd.DataFrame(rows).T.values
    >>> words_in_texts(pd.Series(texts), pd.Series(groups))["word_in_text"].unique().tolist()
    ['Ebony', 'Jamal', 'Amanda', 'Jake']
    """
    if groups.nunique() < 2 or texts.nunique() < 2 * _FEWEST_TEXTS:
        return None
    pairs = pd.DataFrame({"text": texts, "group": groups}).drop_duplicates()
    groups_of_token: dict[str, set[str]] = {}
    for text, group in zip(pairs["text"], pairs["group"], strict=True):
        for token in _TOKEN.findall(text):
            groups_of_token.setdefault(token, set()).add(group)
    alone = {token for token, members in groups_of_token.items() if len(members) == 1}

    parts = {text: _parts(text, alone) for text in pairs["text"].unique()}
    words = pairs["text"].map(lambda text: parts[text][0])
    rest = pairs["text"].map(lambda text: parts[text][1])
    if (words != "").mean() < _COVERED:
        return None
    counts = Counter(words[words != ""])
    if words.groupby(pairs["group"]).nunique().max() < _FEWEST_WORDS:
        return None  # the word is the group, such as a pronoun
    if len(pairs) < _FEWEST_TEXTS * len(counts):
        return None
    shared = pairs.groupby(rest)["group"].transform("nunique") > 1
    if shared.mean() < _SHARED:
        return None
    return pd.DataFrame(
        {
            WORD: texts.map(lambda text: parts[text][0]),
            REST: texts.map(lambda text: parts[text][1]),
        }
    )


def _parts(text: str, alone: set[str]) -> tuple[str, str]:
    """Return the first run of tokens that one group alone has, and the text with a blank for it."""
    tokens = [*_TOKEN.finditer(text)]
    own = [token for token in tokens if token.group() in alone]
    if not own:
        return "", text
    first = tokens.index(own[0])
    last = first
    while last + 1 < len(tokens) and tokens[last + 1].group() in alone:
        last += 1
    if last - first >= _MOST_TOKENS:
        return "", text
    word = text[tokens[first].start() : tokens[last].end()]
    pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
    return word, re.sub(pattern, lambda match: _BLANK, text)
