"""Files for one small analysis: a word list and its vectors."""

from __future__ import annotations

import numpy as np

from helpers.seeds import shifted

WORDS = {
    "young": (["youth", "teen", "junior"], ["lively", "rash"]),
    "old": (["elder", "senior"], ["frail", "wise", "slow"]),
}


HUMAN, NEUTRAL = ["hand", "head", "neck"], ["door", "lamp", "leaf", "rock"]


QUICK = ["--draws", "200", "--tune", "200", "--chains", "2", "--seed", str(shifted(5))]


def wordlist_text(**changes) -> str:
    parts = {
        "name": '"age"',
        "classes": "\n".join(
            f'[[class]]\nname = "{name}"\nprotected = {protected}\nattributes = {attributes}'
            for name, (protected, attributes) in WORDS.items()
        ),
        "human": str(HUMAN),
        "neutral": str(NEUTRAL),
    } | changes
    return (
        f'schema = 1\nname = {parts["name"]}\ntitle = "Age"\nlanguage = "en"\nsource = "these tests"\n'
        f"edits = []\ndisagreements = []\n[controls]\nhuman = {parts['human']}\nneutral = {parts['neutral']}\n"
        f"{parts['classes']}\n"
    )


def listed() -> list[str]:
    classes = [word for group in WORDS.values() for words in group for word in words]
    return [*classes, *HUMAN, *NEUTRAL]


def vectors() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(12)
    out = {word: np.round(rng.normal(size=8), 4) for word in listed()}
    for protected, attributes in WORDS.values():
        for attribute in attributes:
            out[attribute] = np.round(out[attribute] + 0.4 * sum(out[word] for word in protected), 4)
    return out


def vector_text(x: dict[str, np.ndarray], header: str | None = None) -> str:
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in x.items()]
    return "\n".join([header or f"{len(x)} 8", *lines]) + "\n"


def classes(**groups: tuple[list[str], list[str]]) -> str:
    return "\n".join(
        f'[[class]]\nname = "{name}"\nprotected = {protected}\nattributes = {attributes}'
        for name, (protected, attributes) in groups.items()
    )
