"""A tiny encoder, and sentences for it."""

from __future__ import annotations

import sqlite3

import numpy as np

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


SENTENCES = [f"This is sentence {word}." for word in NUMBERS]


def vector_of(sentence):
    """Return three numbers that depend on the whole text."""
    return [len(sentence), sum(map(ord, sentence)) % 997 + 1, sentence.count("e") + 0.5]


class Fake:
    """A tiny encoder that counts what it is asked, and can be told to do wrong from some batch on."""

    name = "fake"
    fingerprint = "fake, version 1"

    def __init__(self, wrong=None, at=2):
        self.asked: list[list[str]] = []
        self.wrong, self.at = wrong, at

    def encode(self, sentences):
        self.asked.append(list(sentences))
        made = np.array([vector_of(s) for s in sentences])
        return self.wrong(made) if self.wrong and len(self.asked) >= self.at else made


def kept_in(path):
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
    connection.close()
    return rows
