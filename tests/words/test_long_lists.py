"""Lists of thousands of words: what is said of them stays short, and takes no longer than the list is long."""

from __future__ import annotations

import bayesbias.words.listchecks as room
from bayesbias.words.listfile import check_wordlist, load_wordlist


def long_list(n: int, second: int = 0, **more):
    """Two classes of n attributes each, some of which the second shares with the first."""
    first = [f"first{i}" for i in range(n)]
    other = first[:second] + [f"second{i}" for i in range(n - second)]
    return {
        "class": [
            {"name": "a", "protected": ["Ann", "Eve"], "attributes": first},
            {"name": "b", "protected": ["Tom", "Max"], "attributes": other},
        ],
        **more,
    }


def test_notes_of_many_words_are_one():
    few = load_wordlist(long_list(40, second=3)).notes
    assert sum("is a stereotype of 'a' and 'b'" in note for note in few) == 3
    (many,) = [
        note for note in load_wordlist(long_list(40, second=30)).notes if "stereotypes of several" in note
    ]
    assert many.startswith("30 attributes are stereotypes of several classes")
    assert many.endswith("'first11' and 18 more.")
    words = long_list(40)
    words["class"][0]["protected"] = words["class"][1]["attributes"][:30]
    notes = [note for note in load_wordlist(words).notes if "itself" in note or "paired twice" in note]
    assert len(notes) == 2
    assert notes[0].startswith("30 protected words are also attributes or control words")
    assert notes[1].startswith("Of those any two are paired twice")
    capitals = {"neutral": [f"FIRST{i}" for i in range(30)], "human": ["man", "boy"]}
    (note,) = [note for note in load_wordlist(long_list(40), capitals).notes if "capitals" in note]
    assert note.startswith("30 groups of words differ only in capitals")


def test_what_may_be_meant_is_looked_for_where_there_is_time(monkeypatch):
    """Each unknown word is compared with every word of the list: all of thousands would take minutes."""
    asked = []
    monkeypatch.setattr(room, "nearest", lambda word, options: asked.append(word) or "did you mean it?")
    spellings = {f"firts{i}": f"First{i}" for i in range(80)}
    facts = {"year": {word: 1.0 for word in spellings}}
    for more in ({"published_spellings": spellings}, {"facts": facts}):
        asked.clear()
        problems = check_wordlist(long_list(100, **more))
        assert len(problems) == 80
        assert len(asked) == 50
        assert ["did you mean" in problem for problem in problems] == [True] * 50 + [False] * 30
