"""Pickles, as gensim's own files are: recognized here, and read by gensim for those who trust them."""

from bayesbias.embeddings.readers.common import Format, Head, Layout


def _recognize(head: Head) -> Layout | None:
    return (
        Layout() if head.start[:1] == b"\x80" and head.start[1:2] in b"\x02\x03\x04\x05" else None
    )


FORMAT = Format(
    name="pickle",
    described_as="a gensim .kv or .model with allow_pickle=True",
    suffixes=(".kv", ".model"),
    recognize=_recognize,
    read=None,
)
