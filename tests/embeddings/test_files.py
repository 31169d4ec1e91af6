"""Files as people have them: matrices with words beside them, folders, archives, odd lines, odd keys."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import pickle
import tarfile
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from helpers.vector_files import GOOD, LINES, binary_file, text_file
from safetensors.numpy import save_file

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.embeddings.loading import ranks_of

WORDS = [word for word, _ in GOOD]
MATRIX = np.array([row for _, row in GOOD])
ASKED = ["imam", "rabbi"]


def is_read(path, **options):
    e = bb.load_embedding(path, ASKED, **options)
    assert e.words == tuple(ASKED)
    np.testing.assert_allclose(e.vectors, MATRIX[[2, 0]])
    return e


# -- a matrix, and its words beside it ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "vocabulary", "content"),
    [
        ("vectors.npy", "vocab.txt", "\n".join(WORDS)),
        ("vectors.npy", "words.txt", "\r\n".join([*WORDS, ""])),
        ("mine.npy", "mine.vocab", "rabbi 10\npriest 9\nimam 8\n"),
        ("mine.npy", "mine.txt", "word\tcount\nrabbi\t10\npriest\t9\nimam\t8\n"),
        ("x.words.npy", "x.words.vocab", "rabbi 10\npriest 9\nimam 8\n"),
        ("1990-w.npy", "1990-vocab.txt", "\n".join(WORDS)),
        ("embeddings.npy", "vocab.json", json.dumps({w: i for i, w in enumerate(WORDS)})),
        ("embeddings.npy", "words.json", json.dumps(WORDS)),
        ("vectors.tsv", "metadata.tsv", "word\tfrequency\nrabbi\t10\npriest\t9\nimam\t8\n"),
        ("vectors.safetensors", "vocab.txt", "0 rabbi\n1 priest\n2 imam\n"),
        ("m.npy", "vocab.json", json.dumps(dict(enumerate(WORDS)))),
        (
            "m.npy",
            "tokenizer.json",
            json.dumps({"model": {"vocab": dict(zip(WORDS, range(3), strict=True))}}),
        ),
        ("m.npy", "words.npy", WORDS),
    ],
)
def test_a_matrix_finds_its_words(tmp_path, matrix, vocabulary, content):
    path = tmp_path / matrix
    if path.suffix == ".npy":
        np.save(path, MATRIX)
    elif path.suffix == ".tsv":
        np.savetxt(path, MATRIX, delimiter="\t")
    else:
        save_file({"anything": MATRIX}, path)
    if vocabulary.endswith(".npy"):
        np.save(tmp_path / vocabulary, content)
    else:
        (tmp_path / vocabulary).write_text(content)
    is_read(path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / vocabulary).rename(elsewhere / vocabulary)
    is_read(path, vocab=elsewhere / vocabulary)
    if path.suffix != ".tsv":
        with pytest.raises(InputError, match=r"its words, got none.*--vocab FILE"):
            bb.load_embedding(path)


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # open(...) in a line
def test_words_that_do_not_fit_or_are_pickled_are_refused(tmp_path):
    np.save(tmp_path / "1990-w.npy", MATRIX)
    (tmp_path / "vocab.txt").write_text("rabbi\n")  # of another matrix
    with pytest.raises(InputError, match=r"vocab.txt: expected 3 words.*got 1"):
        bb.load_embedding(tmp_path / "1990-w.npy", ASKED)
    own = tmp_path / "1990-vocab.pkl"
    own.write_bytes(pickle.dumps(WORDS))
    for options in ({}, {"vocab": own}):
        with pytest.raises(InputError, match=r"1990-vocab.pkl: .*pickle.*json.dump\(") as error:
            bb.load_embedding(tmp_path / "1990-w.npy", ASKED, **options)
    code = (
        str(error.value).partition("is safe: ")[2].strip("`").replace("'1990", f"'{tmp_path}/1990")
    )
    exec(code)
    is_read(tmp_path / "1990-w.npy")
    np.save(tmp_path / "d.npy", {"rabbi": [1.0]}, allow_pickle=True)
    with pytest.raises(InputError, match=r"a pickle.*np\.savez"):
        bb.load_embedding(tmp_path / "d.npy", ["rabbi"])


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # open(...) in a line
@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickled_dict_is_refused_with_lines_that_convert_it(tmp_path, monkeypatch, protocol):
    path = tmp_path / "glove.pkl"
    path.write_bytes(pickle.dumps(dict(zip(WORDS, MATRIX, strict=True)), protocol))
    for options in ({}, {"allow_pickle": True}):
        with pytest.raises(InputError, match=r"a pickle\. It can run code") as error:
            bb.load_embedding(path, ASKED, **options)
    monkeypatch.chdir(tmp_path)
    exec(str(error.value).partition("is safe: ")[2].strip("`"))
    is_read(tmp_path / "vectors.npz")


def test_other_pickles_are_refused(tmp_path):
    path = tmp_path / "vectors.pt"
    with zipfile.ZipFile(path, "w") as archive:  # as torch.save writes
        archive.writestr("vectors/data.pkl", pickle.dumps({"a": 1}))
        archive.writestr("vectors/version", "3")
    with pytest.raises(InputError, match=r"pickle.*torch.*np\.savez"):
        bb.load_embedding(path, ASKED)
    pd.DataFrame(MATRIX, WORDS).to_pickle(tmp_path / "frame.pkl")
    with pytest.raises(InputError, match=r"read_pickle.*to_parquet"):
        bb.load_embedding(tmp_path / "frame.pkl", ASKED)
    with tarfile.open(tmp_path / "v.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "frame.pkl")
    with pytest.raises(InputError, match="tar archive"):
        bb.load_embedding(tmp_path / "v.tar.gz", ASKED)
    (tmp_path / "v.txt").write_text(LINES.decode(), encoding="utf-16")
    with pytest.raises(InputError, match="UTF-16"):
        bb.load_embedding(tmp_path / "v.txt", ASKED)


# -- folders, tables and archives -------------------------------------------------------------------


def tokenizer():
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    vocabulary = {w: i for i, w in enumerate(["[UNK]", *WORDS, "##s"])}
    out = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    out.normalizer, out.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    return out


@pytest.mark.parametrize(
    ("folder", "tensor"), [("", "embeddings"), ("0_StaticEmbedding", "embedding.weight")]
)
def test_a_folder_of_a_static_model_builds_words_from_tokens(tmp_path, folder, tensor):
    inner = tmp_path / "model" / folder
    inner.mkdir(parents=True)
    rows = np.vstack([np.zeros(3), MATRIX, [0.5, 0, 0]]).astype("f4")
    save_file({tensor: rows}, inner / "model.safetensors")
    tokenizer().save(str(inner / "tokenizer.json"))
    for path in (tmp_path / "model", inner / "model.safetensors"):
        e = bb.load_embedding(path, ["Rabbi", "imams", "church"])
        assert (e.matched, e.composed, e.missing) == ({"Rabbi": "rabbi"}, ("imams",), ("church",))
        np.testing.assert_allclose(e.vectors, [MATRIX[0], (MATRIX[2] + [0.5, 0, 0]) / 2])
    assert bb.load_embedding(tmp_path / "model", ["imam"]).name == "model"


def test_weights_and_shared_rows_of_model2vec(tmp_path):
    tensors = {
        "embeddings": MATRIX.astype("f4"),
        "mapping": np.array([0, 0, 1, 2, 2]),
        "weights": np.array([0, 1, 1, 1, 0.5]),
    }
    save_file(tensors, tmp_path / "model.safetensors")
    tokenizer().save(str(tmp_path / "tokenizer.json"))
    e = bb.load_embedding(tmp_path, ["imam", "imams"])
    np.testing.assert_allclose(e.vectors, [MATRIX[2], (MATRIX[2] + MATRIX[2] / 2) / 2])


def test_other_folders(tmp_path):
    save_file({"center_vectors": MATRIX, "variances": MATRIX}, tmp_path / "v.safetensors")
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
    is_read(tmp_path)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "v.txt").write_bytes(LINES)
    is_read(tmp_path / "plain")
    save_file({"layer.0": MATRIX, "layer.1": MATRIX}, tmp_path / "v.safetensors")
    with pytest.raises(InputError, match=r"expected one matrix.*layer.0, layer.1.*--encoder"):
        bb.load_embedding(tmp_path, ASKED)


@pytest.mark.parametrize("columns", ["dimensions", "lists", "index", "another name"])
@pytest.mark.parametrize("ending", [".parquet", ".feather", ".arrow"])
def test_parquet_and_arrow(tmp_path, columns, ending):
    path = tmp_path / f"v{ending}"
    frame = pd.DataFrame(MATRIX, columns=["d0", "d1", "d2"]).assign(token=WORDS)
    if columns == "lists":
        frame = pd.DataFrame({"word": WORDS, "embeddings": list(MATRIX)})
    if columns == "another name":
        frame = frame.rename(columns={"token": "lemma of it"})
    if columns == "index":
        frame = frame.set_index("token")
    if ending == ".parquet":
        frame.to_parquet(path)
    else:
        table = pa.Table.from_pandas(frame)
        make = pa.ipc.new_file if ending == ".feather" else pa.ipc.new_stream
        with make(str(path), table.schema) as writer:
            writer.write_table(table)
    assert is_read(path).provenance["format"] == "Parquet or Arrow"


RECORDS = [{"word": word, "vector": row} for word, row in GOOD]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(dict(GOOD)),
        json.dumps(RECORDS, indent=1),
        json.dumps({"vectors": MATRIX.tolist(), "words": WORDS}),
        "\n".join(map(json.dumps, RECORDS)),
        "\n".join(json.dumps({"token": word, "pos": "X", "embedding": row}) for word, row in GOOD),
        "\n".join(json.dumps({"object": "x", "embedding": row, "input": w}) for w, row in GOOD),
        "\n".join(json.dumps({word: row}) for word, row in GOOD),
    ],
)
def test_json(tmp_path, content):
    (tmp_path / "v.jsonl").write_text(content)
    assert is_read(tmp_path / "v.jsonl").provenance["format"] == "JSON"


def test_npz_with_an_array_for_each_word(tmp_path):
    np.savez(tmp_path / "v.npz", **dict(zip(WORDS, MATRIX, strict=True)))
    is_read(tmp_path / "v.npz")


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zip"])
def test_packed_text(tmp_path, kind):
    path = tmp_path / f"glove.txt.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("glove.txt", LINES)
            archive.writestr("__MACOSX/glove.txt", b"x")
    else:
        pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[kind]
        path.write_bytes(pack(LINES))
    e = is_read(path)
    assert (e.name, e.provenance["format"]) == ("glove", "GloVe text, compressed")


def test_a_zip_of_several_files_needs_a_name(tmp_path):
    path = tmp_path / "glove.6B.zip"
    binary = binary_file(tmp_path / "b.bin", WORDS, MATRIX.astype("f4"), newline=b"\n")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("glove.50d.txt", LINES)
        archive.writestr("more/b.bin", binary.read_bytes())
    with pytest.raises(InputError, match=r"zip archive of one file.*glove.50d.txt, more/b.bin"):
        bb.load_embedding(path, ASKED)
    assert is_read(f"{path}:glove.50d.txt").name == "glove.50d"
    is_read(f"{path}:more/b.bin")
    with pytest.raises(InputError, match="member: expected"):
        bb.load_embedding(f"{path}:glove.300d.txt", ASKED)


# -- lines ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (b"4 3\n" + LINES, "the header of v.vec states 4 words, and the file has 3"),
        (b"2000000 3\n" + LINES, "states 2,000,000 words"),
        (b"3 3\n" + LINES.replace(b"priest", b""), "skipped 1 line (line 3)"),
        (LINES + b"odd 1 2\nodder 1 2 3 4\n", "skipped 2 lines (line 4, line 5)"),
        (LINES + b"Rabbi nan nan nan\n", ""),
        (LINES.replace(b"priest 4 5 6", b"priest 4 5 x"), "skipped 1 line (line 2)"),
        (b"word,a,b,c\n" + LINES.replace(b" ", b",") + b"odd,1\n", "skipped 1 line (line 5)"),
        (b"w,a,b,c\n" + LINES.replace(b" ", b",").replace(b"6", b"x"), "skipped 1 line (line 3)"),
        (LINES.replace(b"priest 4 5 6", b"priest 0 0 0"), "1 word with only zeros"),
        (b'"V1" "V2" "V3"\n' + LINES, "skipped 1 line (line 1)"),
        (LINES.replace(b" ", b","), ""),  # without a header
        (b",a,b,c,token\n0,1,2,3,rabbi\n1,4,5,6,priest\n2,7,8,9,imam\n", ""),
        (b'word,vector\nrabbi,"[1, 2, 3]"\npriest,"[4 5 6]"\nimam,"[7, 8, 9]"\n', ""),
        (
            b'x,lemma,v\n0,rabbi,"[1.\n 2. 3.]"\n1,priest,"[4. 5.\n 6.]"\n2,imam,"[7. 8.\n 9.]"\n',
            "",
        ),
        (b'w,v\nrabbi,"[np.float64(1), 2, 3]"\npriest,"[4, 5, 6]"\nimam,"[7, 8, 9]"\n', ""),
        (b"lemma,a,b,c\n" + LINES.replace(b" ", b","), ""),
        (b'"";"V1";"V2";"V3"\nrabbi;1,0;2;3\npriest;4;5;6\nimam;7;8,0;9\n', ""),
    ],
)
def test_what_cannot_be_read_is_skipped_and_counted(tmp_path, content, note):
    path = tmp_path / "v.vec"
    path.write_bytes(content)
    e = bb.load_embedding(path, ["rabbi", "priest", "imam"])
    np.testing.assert_array_equal(e.vectors_of(ASKED), MATRIX[[2, 0]])
    assert note in "; ".join(e.notes)
    if note:
        with pytest.raises(InputError):
            bb.load_embedding(path, ["rabbi", "priest", "imam"], on_bad_lines="error")


def test_the_coverage_counts_skipped_lines(tmp_path):
    words = bb.load_wordlist("gender", controls="none").words
    rows = np.random.default_rng(0).normal(size=(len(words), 4))
    path = text_file(
        tmp_path / "v.vec", [(w, r.tolist()) for w, r in zip(words, rows, strict=True)]
    )
    path.write_bytes(path.read_bytes() + b"odd 1 2\n")
    coverage = bb.distance_table(bb.load_embedding(path, words), "gender", controls="none").coverage
    assert any("skipped 1 line" in note for note in coverage.notes)


def test_a_truncated_binary_file_is_refused(tmp_path):
    path = binary_file(tmp_path / "v.bin", WORDS, MATRIX.astype("f4"))
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match="whole records"):
        bb.load_embedding(path, ASKED)


def test_words_in_latin_1(tmp_path):
    path = tmp_path / "v.txt"
    path.write_bytes("Mädchen 1 2\nnaïve 3 4\nhe 5 6\n".encode("latin-1"))
    e = bb.load_embedding(path, ["mädchen", "naïve", "he"])
    assert e.vectors.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert bb.load_embedding(path).words == ("Mädchen", "naïve", "he")


# -- keys -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("/c/en/{word}", '--key "/c/en/{word}"'),
        ("{word}_NOUN", '--key "{word}_NOUN"'),
        ("{word}.n.01", '--key "{word}.n.01"'),
        ('"{word}"', "--key '\"{word}\"'"),
        ("en:{word}", '--key "en:{word}"'),
        ("b'{word}'", "--key \"b'{word}'\""),
    ],
)
@pytest.mark.parametrize("header", [True, False])
def test_words_in_another_form(tmp_path, form, shown, header):
    rows = [(form.replace("{word}", word), row) for word, row in GOOD]
    path = text_file(tmp_path / "v.txt", rows, header)
    with pytest.raises(InputError, match=r"any of 2 words .*got words such as") as error:
        bb.load_embedding(path, ASKED)
    assert shown in str(error.value)
    assert repr(rows[0][0]) in str(error.value)
    e = is_read(path, key=form)
    assert (e.matched, e.provenance["key"]) == ({}, form)
    assert bb.load_embedding(path, key=form).words == tuple(WORDS)
    is_read({word: row for word, row in rows}, key=form)
    assert ranks_of(e, ["imam"])[0] == {"imam": 3}


def test_columns_that_are_no_dimension(tmp_path):
    frame = pd.DataFrame(MATRIX, columns=["d0", "d1", "d2"])
    frame = frame.assign(freq=[3, 2, 1], id=[0, 1, 2], lemma=WORDS)
    frame.to_csv(tmp_path / "v.csv")
    is_read(tmp_path / "v.csv")
    is_read(frame)
    for column, values in {"pos": ["N", "N", "V"], "year": [1, 2, 3]}.items():
        frame.assign(**{column: values}).to_csv(tmp_path / "v.csv")
        for source in (tmp_path / "v.csv", frame.assign(**{column: values})):
            with pytest.raises(InputError, match=f"a dimension in each column, got '{column}'"):
                bb.load_embedding(source, ASKED)


def test_a_folder_of_spacy_is_refused_with_the_line_that_converts_it(tmp_path):
    (tmp_path / "vocab").mkdir()
    (tmp_path / "vocab" / "key2row").write_bytes(b"\x80")
    with pytest.raises(InputError, match=r"vectors of spaCy.*np\.savez"):
        bb.load_embedding(tmp_path, ASKED)


def test_the_first_of_several_forms_is_used(tmp_path):
    path = text_file(
        tmp_path / "v.txt", [("run_VERB", [1.0, 2]), ("run_NOUN", [3.0, 4]), ("red_ADJ", [5.0, 6])]
    )
    e = bb.load_embedding(path, ["run", "red"], key=["{word}_NOUN", "{word}_VERB", "{word}_ADJ"])
    assert e.vectors.tolist() == [[3, 4], [5, 6]]
    with pytest.raises(InputError, match="once, such as"):
        bb.load_embedding(path, ["run"], key="_NOUN")


# -- several vectors a word ---------------------------------------------------------------------------


def test_several_vectors_of_a_word(tmp_path):
    path = tmp_path / "contexts.csv"
    path.write_text("word,a,b\nrabbi,1,2\nrabbi,3,4\nimam,1,1\n")
    e = bb.load_embedding(path, ["Rabbi", "imam"])
    assert e.vectors.tolist() == [[2, 3], [1, 1]]
    assert "1 word with several vectors" in e.notes[0]
    with pytest.raises(InputError, match="'Rabbi', got several vectors"):
        bb.load_embedding(path, ["Rabbi"], on_bad_lines="error")
    held = bb.embeddings.load_contexts(path, ["Rabbi", "imam", "priest"])
    assert {word: rows.tolist() for word, rows in held.items()} == {
        "Rabbi": [[1, 2], [3, 4]],
        "imam": [[1, 1]],
    }
    with pytest.raises(InputError, match="expected the word"):
        bb.embeddings.load_contexts(path, ["church"])
    keyed = tmp_path / "keyed.txt"
    keyed.write_text("a_VERB 9 9\na_NOUN 1 2\na_NOUN 3 4\nb_VERB 5 6\n")
    held = bb.embeddings.load_contexts(keyed, ["a", "b"], key=["{word}_NOUN", "{word}_VERB"])
    assert (held["a"].tolist(), held["b"].tolist()) == ([[1, 2], [3, 4]], [[5, 6]])


# -- the cases of public bug reports ----------------------------------------------------------------


CASES = {
    "04_npy_and_vocab/vectors.npy": {},
    "04_npy_and_vocab/x.words.npy": {},
    "05_header_off_by_one/subword.vec": {},
    "05_header_off_by_one/headn.vec": {},
    "08_model2vec_folder/potion-like": {},
    "08_model2vec_folder/potion-like/model.safetensors": {},
    "08_model2vec_folder/glove-v-like": {},
    "08_model2vec_folder/glove-v-like/vectors.safetensors": {},
    "09_no_word_found_no_example/numberbatch.txt": {"key": "/c/en/{word}"},
    "09_no_word_found_no_example/rusvectores.txt": {"key": "{word}_NOUN"},
    "09_no_word_found_no_example/quoted.txt": {"key": '"{word}"'},
}


@pytest.mark.parametrize("case", CASES)
def test_cases_give_one_table(shared, case):
    folder = shared / "data" / "cases"
    words = bb.load_wordlist(folder / case.partition("/")[0] / "list.toml", controls="none")
    right = bb.load_embedding(folder / "05_header_off_by_one" / "headn.vec", words.words)
    e = bb.load_embedding(folder / case, words.words, **CASES[case])
    assert not e.missing
    np.testing.assert_allclose(e.vectors, right.vectors_of(e.words), atol=1e-4)


@pytest.mark.parametrize(
    ("case", "says"),
    [
        ("03_pickled_dict/glove_dict.pkl", "np.savez"),
        ("04_npy_and_vocab/1990-w.npy", "1990-vocab.pkl: expected words, got a pickle"),
        ("04_npy_and_vocab/1990-vocab.pkl", "json.dump"),
        ("09_no_word_found_no_example/numberbatch.txt", "'/c/en/he'"),
        ("09_no_word_found_no_example/rusvectores.txt", "'he_NOUN'"),
    ],
)
def test_cases_that_are_refused_say_what_to_do(shared, case, says):
    folder = shared / "data" / "cases" / case.partition("/")[0]
    with pytest.raises(InputError, match=says):
        bb.load_embedding(
            shared / "data" / "cases" / case, bb.load_wordlist(folder / "list.toml").words
        )
