"""Files of vectors, written as word2vec writes them."""

from __future__ import annotations

WORDS = ["rabbi", "priest", "imam", "naïve", "New_York", "日本"]


def text_file(path, rows, header=True, end="\n"):
    lines = [f"{len(rows)} {len(rows[0][1])}"] if header else []
    lines += [f"{word} {' '.join(map(str, numbers))}" for word, numbers in rows]
    path.write_bytes((end.join(lines) + end).encode())
    return path


def binary_file(path, words, vectors, count=None, newline=b""):
    parts = [b"%d %d\n" % (count or len(words), vectors.shape[1])]
    for word, row in zip(words, vectors, strict=True):
        raw = word if isinstance(word, bytes) else word.encode()
        parts.append(raw + b" " + row.astype("<f4").tobytes() + newline)
    path.write_bytes(b"".join(parts))
    return path


GOOD = [("rabbi", [1.0, 2.0, 3.0]), ("priest", [4.0, 5.0, 6.0]), ("imam", [7.0, 8.0, 9.0])]


LINES = b"rabbi 1 2 3\npriest 4 5 6\nimam 7 8 9\n"
