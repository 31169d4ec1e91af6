"""The words of a matrix, in a file of their own: a word a line, a table, JSON, or a tokenizer."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core.errors import InputError
from bayesbias.core.files import guarded, parse_json, read_bytes
from bayesbias.embeddings.readers.common import is_number

CONVERT = "convert it where that is safe"
_STEMS = ("vocab", "words", "vocabulary", "tokens", "metadata")
_ENDINGS = (".txt", ".tsv", ".csv", ".json", ".npy", "", ".pkl")


def words_of_rows(path: Path, given: Path | None, count: int) -> list[Any]:
    """Return the words of a matrix, from the file given or one beside it.

    Raises
    ------
    InputError
        If there is no such file, it is a pickle, or it has another number of words.
    """
    file = given or vocabulary_of(path)
    if file is None:
        valid = "vocab.txt or words.txt beside it, or --vocab FILE (vocab=)"
        raise InputError("expected a file with its words, got none", where=path, valid=valid)
    words = _words_in(file)
    if len(words) == count + 1 and not file.name.endswith((".json", ".npy")):
        words = words[1:]  # a header
    if len(words) != count:
        found = f"{len(words):,} words for {count:,} rows"
        raise InputError(f"does not fit {path.name}", where=file, found=found)
    return words


def vocabulary_of(path: Path) -> Path | None:
    """Return the file of words that lies beside a matrix."""
    stem = path.stem
    bare = re.sub(r"(\.words|-w|[-_.]vectors?)$", "", stem)
    names = [f"{stem}.vocab", f"{bare}.vocab"]
    for start in (f"{bare}-", f"{bare}_", f"{bare}.", ""):
        names += [f"{start}{kind}{ending}" for kind in _STEMS for ending in _ENDINGS]
    names += [f"{stem}{ending}" for ending in _ENDINGS] + ["tokenizer.json"]
    every = (path.with_name(name) for name in names)
    return next((file for file in every if file != path and file.is_file()), None)


def pickled_words(path: Path) -> InputError:
    """Return the error for words in a pickle, with the lines that convert it."""
    file = path.name if len(path.name) < 30 else "FILE"
    code = (
        f"import json, pickle; words = pickle.load(open('{file}', 'rb')); "
        f"json.dump(list(words), open('{Path(file).stem}.json', 'w'))"
    )
    return InputError(
        "holds the words as a pickle, which can run code", where=path, hint=f"{CONVERT}: {code}"
    )


def _words_in(file: Path) -> list[Any]:
    content = read_bytes(file, noun="file of words")
    if re.match(rb"\x80[\2-\5]|\(l|\(d|[\]}]", content) and file.suffix not in (".txt", ".tsv"):
        raise pickled_words(file)
    if content.startswith(b"\x93NUMPY"):
        with guarded(file, valid="an array of texts"):
            return np.load(file, allow_pickle=False).tolist()
    if content.lstrip()[:1] in (b"{", b"[") and file.suffix == ".json":
        return _words_of_json(parse_json(content, file), file)
    lines = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    # A word and its count, or its number and the word.
    mark = next((m for m in (b"\t", b",", b" ") if all(m in line for line in lines)), None)
    cells = [] if mark is None else [_split(line, mark) for line in lines]
    if cells and all(is_number(last) for _, last in cells[1:]):
        return [first for first, _ in cells]
    if cells and all(first.isdigit() for first, _ in cells[1:]):
        return [last for _, last in cells]
    return [first for first, _ in cells] if mark == b"\t" else lines


def _split(line: bytes, mark: bytes) -> tuple[bytes, bytes]:
    first, _, last = line.partition(mark) if mark == b"\t" else line.rpartition(mark)
    return first, last.partition(b"\t")[0]


def _words_of_json(data: Any, file: Path) -> list[Any]:
    """Return the words of a list, of a table of places, or of a tokenizer."""
    if isinstance(data, dict) and isinstance(data.get("model"), dict):
        data = data["model"].get("vocab")
    if isinstance(data, list):
        return [entry[0] if isinstance(entry, list) else entry for entry in data]
    with guarded(file, "has no words of rows", valid="a list of words, or a table word -> row"):
        if all(key.isdigit() for key in data) and not isinstance(next(iter(data.values())), int):
            return [data[key] for key in sorted(data, key=int)]
        if sorted(data.values()) != list(range(len(data))):
            raise ValueError("rows are missing or named twice")
        return sorted(data, key=data.__getitem__)
