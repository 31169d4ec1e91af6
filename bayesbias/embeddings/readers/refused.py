"""Files that look like word vectors and hold none: what they are, and what to do about it."""

import csv
import io
import itertools
import re

from bayesbias.core import InputError, files
from bayesbias.embeddings.readers.common import Head
from bayesbias.embeddings.readers.tables import is_word_column, shortened

# Words, dimensions, lengths of subwords, hashes, seed, and marks of the ends of a word.
_FLORET = re.compile(rb"\d+ \d+ \d+ \d+ \d+ \d+ \S+ \S+\s*\n")
_OVER_LINES = re.compile(rb"\d+\t[^\t\n]+\t\[[^\]\n]*\n")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{60,}={0,2}")
_SHOWN = 40  # characters of a cell


def refuse_if_known(head: Head) -> None:
    """Refuse a file that another format would misread."""
    if _FLORET.match(head.start):
        problem = "expected word vectors, got floret's table of subwords, which holds no words"
        hint = (
            "convert it with spaCy (`spacy init vectors LANG FILE FOLDER --mode floret`), then "
            "write {word: nlp.vocab[word].vector for word in words}"
        )
        raise InputError(problem, where=head.path, hint=hint)
    if _OVER_LINES.match(head.start):
        problem = "expected a word and its numbers in a line, got vectors over several lines"
        file = str(head.path)
        hint = (
            "join them: `import re; from pathlib import Path; "
            f"text = Path({file!r}).read_text(encoding='utf-8'); "
            "text = re.sub(r'\\n(?!\\d+\\t)', ' ', text); text = re.sub(r'(?m)^\\d+\\t', '', text); "
            "Path('vectors.tsv').write_text(text, encoding='utf-8')`"
        )
        raise InputError(problem, where=head.path, hint=hint)


def unknown_file(head: Head) -> InputError | None:
    """Return the error for a file of no known format, where its content says what it is."""
    path, size = head.path, head.path.stat().st_size
    text = not re.search(rb"[\x00-\x08\x0e-\x1f]", head.start[:4096])
    if not text and head.vocab is not None and not head.compressed:
        words = len(files.read_bytes(head.vocab).splitlines())
        if words and size % (16 * words) == 0:
            problem = "expected word vectors, got what looks like binary output of GloVe"
            hint = (
                "run glove with -binary 0, or convert it: `import numpy as np; "
                f"m = np.fromfile({str(path)!r}).reshape({2 * words}, -1)[:, :-1]; "
                f"np.save('vectors.npy', m[:{words}] + m[{words}:])`"
            )
            return InputError(problem, where=path, hint=hint)
    return _unknown_cell(head) if text else None


def _unknown_cell(head: Head) -> InputError | None:
    """Return the error for a table whose first row has no numbers."""
    start = head.start[: 1 << 16].decode("utf-8", "replace")
    mark, of_excel = files.separator_of(start)
    table = csv.reader(io.StringIO(start[of_excel:]), delimiter=mark)
    try:
        rows = list(itertools.islice(table, 2))
    except csv.Error:
        return None
    if len(rows) < 2 or len(rows[0]) < 2 or len(rows[0]) != len(rows[1]):
        return None
    for name, cell in zip(rows[0], rows[1], strict=True):
        if error := shortened(cell, f"{head.path}, line 2, column {name!r}"):
            return error
    if not any(map(is_word_column, filter(None, rows[0]))):
        return None
    cell, hint = rows[1][-1], None
    if _BASE64.fullmatch(cell):
        hint = "it looks like base64: np.frombuffer(base64.b64decode(cell), 'float32') reads it"
    problem = f"expected word vectors, got {cell[:_SHOWN]!r} in the column {rows[0][-1]!r}"
    return InputError(problem, where=f"{head.path}, line 2", hint=hint)
