"""The protocol of an encoder, and encoders made of a function.

An encoder has a `name` and a method ``encode(sentences) -> (n, d) array``. Published results on
BERT moved from -0.11 to 1.16 by a fault in casing and pooling. So the `provenance` of an encoder
names tokenizer, casing, pooling, layer, versions and a hash of the weights.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from bayesbias.core import InputError, checks, files

BATCH_SIZE = 32


@runtime_checkable
class Encoder(Protocol):
    """What turns sentences into vectors.

    Any object with these two can be used. An encoder may also have

    ``options`` : str
        Its settings as ``key=value`` pairs joined by semicolons, for tables.
    ``provenance`` : mapping
        Where its vectors come from: model, tokenizer, pooling, versions, hashes.
    ``fingerprint`` : str or None
        Identifies all that the vectors depend on. Without it `encode` keeps no vectors on the disk.
    ``batch_size`` : int or None
        How many sentences it takes at once; None for all.
    ``account(sentences)`` -> dict
        Words that were not found, sentences that were cut.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesbias as bb
    >>> class Lengths:
    ...     name = "lengths"
    ...     def encode(self, sentences):
    ...         return np.array([[len(sentence), 1.0] for sentence in sentences])
    >>> isinstance(Lengths(), bb.encoders.Encoder)
    True
    >>> bb.encode(Lengths(), ["This is a nurse.", "A nurse."], cache=False).tolist()
    [[16.0, 1.0], [8.0, 1.0]]
    """

    @property
    def name(self) -> str:
        """Short name, for tables and figures."""

    def encode(self, sentences: Sequence[str], /) -> Any:
        """Return the vectors of n sentences, shape (n, d)."""


@dataclass(frozen=True, eq=False)
class BuiltEncoder:
    """An encoder made by one of the functions below; see `Encoder` for its parts."""

    name: str
    run: Callable[[list[str]], Any]
    options: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str | None = None
    batch_size: int | None = BATCH_SIZE
    look: Callable[[list[str]], dict[str, Any]] | None = None
    look_up: Callable[[list[str]], dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        checks.line(self.name, "name")

    def encode(self, sentences: Sequence[str], /) -> Any:
        """Return the vectors of n sentences."""
        return self.run(checks.several(sentences, "sentences"))

    def account(self, sentences: Sequence[str]) -> dict[str, Any]:
        """Return what became of the sentences."""
        sentences = checks.several(sentences, "sentences")
        return self.look(sentences) if self.look else {}

    def account_of_words(self, words: Sequence[str]) -> dict[str, Any]:
        """Return what is known about words: ``misspelled``, ``matched`` and ``notes`` of vectors.

        Of an encoder that does not look up words nothing.
        """
        words = checks.several(words, "words")
        return self.look_up(words) if self.look_up else {}

    def __repr__(self) -> str:
        return f"<Encoder {self.name!r}{': ' if self.options else ''}{self.options}>"


def describe_encoder(encoder: Encoder, sentences: Iterable[str] | None = None) -> dict[str, Any]:
    """Return what is known about an encoder.

    Parameters
    ----------
    encoder : Encoder
        The sentence encoder.
    sentences : iterable of str, optional
        Sentences to account for.

    Returns
    -------
    dict
        ``name``, ``options`` and ``provenance``. With `sentences` also ``account``: for a
        `cbow_encoder` ``missing`` (token -> number of sentences), ``matched`` (token -> spelling
        used) and ``lacking`` (sentence -> its tokens without a vector); for models ``cut``, the
        sentences longer than ``max_length`` tokens.

    Examples
    --------
    >>> from bayesbias.encoders import cbow_encoder
    >>> vectors = {"this": [1.0, 0.0], "is": [0.8, 0.6], "love": [0.0, 1.0]}
    >>> told = describe_encoder(cbow_encoder(vectors), ["This is love."])
    >>> told["name"], told["account"]["missing"], told["account"]["matched"]
    ('CBoW', {'.': 1}, {'This': 'this'})
    """
    out = {
        "name": encoder.name,
        "options": getattr(encoder, "options", ""),
        "provenance": dict(getattr(encoder, "provenance", {})),
    }
    if sentences is not None:
        account = getattr(encoder, "account", None)
        out["account"] = account(checked_sentences(sentences)) if account else {}
    return out


def checked_sentences(sentences: Iterable[str]) -> list[str]:
    """Return a list of sentences, each with more than blanks."""
    texts = checks.several(sentences, "sentences")
    for number, text in enumerate(texts, start=1):
        checks.text(text, f"sentence {number}")
    if not texts:
        raise InputError("expected one sentence or more, got none", where="sentences")
    return texts


def function_encoder(
    function: Callable[[list[str]], Any],
    *,
    name: str | None = None,
    version: str | None = None,
    batch_size: int = BATCH_SIZE,
    options: str = "",
) -> Encoder:
    """Make an encoder from a function.

    Parameters
    ----------
    function : callable
        Takes a list of n sentences, returns numbers of shape (n, d).
    name : str, optional
        Short name; by default that of the function.
    version : str, optional
        With a name and a version, `encode` keeps the vectors on the disk. Give another version when
        the function changes. One sentence is compared whenever new sentences join kept ones.
    batch_size : int
        Sentences in a call.
    options : str
        Settings, for tables.

    Returns
    -------
    Encoder

    Raises
    ------
    InputError
        For a version without a name.

    Notes
    -----
    A remote service is a callable as well. This one answers in the form that many of them share;
    busy and broken lines are tried again, and what was paid for is in the cache after each batch::

        import json
        import time
        import urllib.request

        def remote(sentences, url="https://api.example.org/v1/embeddings", key="", tries=5,
        wait=1.0):
            body = json.dumps({"model": "some-model", "input": sentences}).encode()
            head = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
            for attempt in range(1, tries + 1):
                try:
                    request = urllib.request.Request(url, body, head)
                    with urllib.request.urlopen(request, timeout=60) as answer:
                        rows = json.load(answer)["data"]
                    return [row["embedding"] for row in sorted(rows, key=lambda row: row["index"])]
                except OSError as error:  # no line, or an answer such as 429 or 503
                    final = getattr(error, "code", 500) in (400, 401, 403, 404)
                    if final or attempt == tries:
                        raise
                    time.sleep(wait * 2 ** (attempt - 1))

        encoder = function_encoder(remote, name="some-model", version="2025-01", batch_size=64)

    Examples
    --------
    >>> from bayesbias import encode
    >>> import tempfile
    >>> def letters(sentences):
    ...     return [[s.count("a"), s.count("e") + 1] for s in sentences]
    >>> encoder = function_encoder(letters, name="letters", version="1")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     encode(encoder, ["an apple", "a pear"], cache=f"{folder}/mine.sqlite")
    array([[2., 2.],
           [2., 2.]])
    """
    if version is not None and not name:
        raise InputError("expected a name beside a version, got none", where="name")
    checks.count(batch_size, "batch_size")
    own = name or getattr(function, "__name__", type(function).__name__).strip("<>")
    facts = {"source": "a callable", "callable": own}
    if hasattr(function, "__qualname__"):
        facts["callable"] = f"{function.__module__}.{function.__qualname__}"
    fingerprint = None
    if version is not None:
        facts["version"] = str(version)
        fingerprint = fingerprint_of({"callable": own, "version": str(version), "options": options})
    return BuiltEncoder(own, function, options, facts, fingerprint, batch_size)


def with_prompt(encoder: Encoder, prompt: str) -> Encoder:
    """Return an encoder that puts a prompt before each sentence.

    Parameters
    ----------
    encoder : Encoder
    prompt : str
        Such as ``"query: "``; blanks at its end count.

    Returns
    -------
    Encoder
        Its options and provenance name the prompt, and vectors kept on the disk are its own.

    Examples
    --------
    >>> def length(sentences):
    ...     return [[len(s), 1.0] for s in sentences]
    >>> with_prompt(function_encoder(length), "query: ").encode(["he"])
    [[9, 1.0]]
    """
    checks.text(prompt, "prompt")
    about = describe_encoder(encoder)
    fingerprint = getattr(encoder, "fingerprint", None)
    account = getattr(encoder, "account", None)

    def prompted(sentences: Sequence[str]) -> list[str]:
        return [prompt + sentence for sentence in sentences]

    return BuiltEncoder(
        encoder.name,
        lambda sentences: encoder.encode(prompted(sentences)),
        ";".join(filter(None, (about["options"], option_of_prompt(prompt)))),
        {**about["provenance"], "prompt": prompt},
        None if fingerprint is None else fingerprint_of({"of": fingerprint, "prompt": prompt}),
        getattr(encoder, "batch_size", BATCH_SIZE),
        look=None if account is None else lambda sentences: account(prompted(sentences)),
        look_up=getattr(encoder, "account_of_words", None),
    )


def option_of_prompt(prompt: str) -> str:
    """Return a prompt as a setting, for tables."""
    return f"prompt={prompt.strip()}"


def fingerprint_of(facts: Mapping[str, Any]) -> str:
    """Return a hash of facts."""
    return files.sha256_of(json.dumps(facts, sort_keys=True, default=str))
