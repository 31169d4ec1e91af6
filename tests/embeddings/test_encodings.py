"""Words that are not UTF-8: the encoding that would read them is named, and taken if given."""

from __future__ import annotations

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.core.encodings import likely_encoding

RUSSIAN = ["он", "она", "мужчина", "женщина", "работа", "семья"]
POLISH = ["mężczyzna", "kobieta", "dziewczyna", "córka", "żona", "mąż"]
GREEK = ["άνδρας", "γυναίκα", "δουλειά", "σπίτι"]
FRENCH = ["père", "mère", "garçon", "fille"]
SAMPLES = {
    "cp1251": RUSSIAN,
    "koi8-r": RUSSIAN,
    "cp866": RUSSIAN,
    "cp1250": POLISH,
    "cp1253": GREEK,
    "cp1252": FRENCH,
    "gb18030": ["男人", "女人", "工作", "家庭"],
    "euc-kr": ["남자", "여자", "가족", "직업"],
}
ROWS = np.random.default_rng(2).normal(size=(6, 4)).round(3)


def file_of_vectors(folder, words, encoding, name="v.vec"):
    """Write vectors of words as GloVe text."""
    lines = [
        " ".join([word, *map(str, row)]) for word, row in zip(words, ROWS.tolist(), strict=False)
    ]
    path = folder / name
    path.write_bytes(("\n".join(lines) + "\n").encode(encoding))
    return path


@pytest.mark.parametrize("encoding", SAMPLES)
def test_the_encoding_of_words_is_told(encoding):
    words = [word.encode(encoding) for word in SAMPLES[encoding]]
    assert likely_encoding(words) == encoding
    assert likely_encoding(words, SAMPLES[encoding]) == encoding
    assert likely_encoding([b"he", "он".encode()]) is None
    if encoding != "gb18030":  # two such words may be Korean ones
        assert likely_encoding(words[:2]) == encoding


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "cp1250"])
def test_vectors_in_another_encoding(tmp_path, encoding):
    words = SAMPLES[encoding]
    foreign = [word for word in words if not word.isascii()]
    path = file_of_vectors(tmp_path, words, encoding)
    if encoding != "cp1250":
        said = f"such as '{words[0]}'.*not UTF-8: add --encoding {encoding}"
        with pytest.raises(bb.InputError, match=said):
            bb.load_embedding(path, foreign)
    read = bb.load_embedding(path, words, encoding=encoding)
    assert read.words == tuple(words)
    np.testing.assert_array_equal(read.vectors, ROWS)
    assert read.provenance["encoding"] == encoding
    assert not read.notes
    # UTF-8 stays UTF-8.
    plain = file_of_vectors(tmp_path, words, "utf-8", "u.vec")
    assert bb.load_embedding(plain, words, encoding=encoding).words == tuple(words)


def test_a_note_says_where_latin_1_was_taken(tmp_path):
    read = bb.load_embedding(file_of_vectors(tmp_path, FRENCH, "cp1252"), FRENCH)
    assert read.words == tuple(FRENCH)
    note = "3 words are not UTF-8, and read as Latin-1 (Windows-1252): père, mère, garçon"
    assert read.notes == (note,)


def test_a_note_where_only_ascii_words_were_found(tmp_path):
    words = ["radio", *RUSSIAN[:5]]
    read = bb.load_embedding(file_of_vectors(tmp_path, words, "koi8-r"), words)
    assert read.words == ("radio",)
    assert "--encoding koi8-r (encoding=) would read them (он)" in read.notes[0]


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r"])
def test_lists_and_tables_in_another_encoding(tmp_path, encoding):
    rows = ["word,class,kind"]
    rows += [f"{word},м,protected" for word in ("он", "мужчина")]
    rows += [f"{word},ж,protected" for word in ("она", "женщина")]
    rows += [f"{word},м,attribute" for word in ("работа", "офис")]
    rows += [f"{word},ж,attribute" for word in ("семья", "дом")]
    path = tmp_path / "list.csv"
    path.write_bytes("\n".join(rows).encode(encoding))
    with pytest.raises(bb.InputError, match=f"line 2: expected UTF-8.*--encoding {encoding}.*'он'"):
        bb.load_wordlist(path)
    listed = bb.load_wordlist(path, controls="none", encoding=encoding)
    assert listed.protected_words == ("он", "мужчина", "она", "женщина")

    vectors = dict(zip(listed.words, np.random.default_rng(1).normal(size=(8, 4)), strict=True))
    table = bb.distance_table(vectors, listed)
    table.frame.to_csv(tmp_path / "pairs.csv", index=False, encoding=encoding)
    with pytest.raises(bb.InputError, match=f"line 2: expected UTF-8.*{encoding}.*'он'"):
        bb.load_distances(tmp_path / "pairs.csv")
    back = bb.load_distances(tmp_path / "pairs.csv", encoding=encoding).frame
    assert back["attribute"].tolist() == table.frame["attribute"].tolist()
    assert back["distance"].tolist() == table.frame["distance"].tolist()


def test_an_encoding_that_there_is_not(tmp_path):
    with pytest.raises(bb.InputError, match=r"encoding: expected an encoding.*got 'cp12511'"):
        bb.load_embedding(file_of_vectors(tmp_path, RUSSIAN, "utf-8"), encoding="cp12511")
