"""Pickles, as gensim's own files are: told here, and read by gensim for those who trust them."""

from __future__ import annotations

from bayesbias.embeddings.readers.rows import Format, Head, Kind


def _tells(head: Head) -> Kind | None:
    protocol = head.start[:1] == b"\x80" and head.start[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    return Kind(PICKLE.name, head.compressed) if protocol else None


PICKLE = Format(
    name="pickle",
    told_as="a gensim .kv or .model with allow_pickle=True",
    suffixes=(".kv", ".model"),
    tells=_tells,
    read=None,
    magic=True,
    gzipped=False,
)
