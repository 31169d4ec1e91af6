"""A small word list, as mapping and as file."""

from __future__ import annotations

from pathlib import Path

from bayesbias.wordlists.listfile import pairs
from bayesbias.wordlists.wordlist import WordList

AGE = {
    "young": {"protected": ["young", "youth"], "attributes": ["reckless", "lively", "loud"]},
    "old": {"protected": ["old", "elderly"], "attributes": ["frail", "wise", "loud"]},
}


GOOD = """\
schema = 1
name = "age"
language = "en"

[controls]
human = ["breakfast", "journey"]
neutral = ["clock", "grass"]

[[class]]
name = "young"
protected = ["young", "youth"]
attributes = ["reckless", "lively"]

[[class]]
name = "old"
protected = ["old", "elderly"]
attributes = ["frail", "wise"]
"""


def rows(wordlist: WordList | dict) -> list[tuple[str, ...]]:
    return list(zip(*pairs(wordlist).values(), strict=True))


def write(folder: Path, text: str, name: str = "age.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
