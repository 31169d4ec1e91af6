"""The reader of Parquet and Arrow: a column of words, and one of vectors or one a dimension."""

from typing import Any

from bayesbias.core.files import guarded
from bayesbias.embeddings.readers.common import Format, Head, Layout, Reading, Rows
from bayesbias.embeddings.readers.tables import rows_of_matrix, words_and_vectors


def read_columnar(reading: Reading) -> Rows:
    """Read Parquet, an Arrow file (Feather) or an Arrow stream."""
    import pyarrow as pa
    from pyarrow import parquet

    with guarded(reading.path, valid="Parquet or Arrow"), pa.OSFile(str(reading.path)) as file:
        start = file.read(6)
        file.seek(0)
        table: Any
        if start[:4] == b"PAR1":
            table = parquet.read_table(file)
        elif start == b"ARROW1":
            table = pa.ipc.open_file(file).read_all()
        else:
            table = pa.ipc.open_stream(file).read_all()
        words, vectors = words_and_vectors(table.to_pandas(), reading.path)
    return rows_of_matrix(reading, words, vectors)


def _recognize(head: Head) -> Layout | None:
    known = head.start.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"))
    return Layout() if known and not head.compressed else None


_ENDINGS = (".parquet", ".feather", ".arrow")
FORMAT = Format("Parquet or Arrow", _ENDINGS, _recognize, read_columnar)
