"""Options of the commands that say how inputs are read."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.tables import grid

import bayesbias as bb
from bayesbias.cli.main import cli

PAIRS = [["she", "he"], ["woman", "man"], ["girl", "boy"]]
WORDS = ["she", "he", "woman", "man", "girl", "boy", "home", "office", "family", "career"]


def run(*arguments):
    """Run a command, and return its output."""
    done = CliRunner().invoke(cli, [*map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def vectors(folder, words=WORDS, encoding="utf-8"):
    """Write random vectors as GloVe text."""
    rows = np.random.default_rng(8).normal(size=(len(words), 6)).round(4)
    lines = [" ".join([word, *map(str, row)]) for word, row in zip(words, rows, strict=True)]
    path = folder / "v.vec"
    path.write_bytes("\n".join(lines).encode(encoding))
    return path


def test_debias_with_the_definitional_pairs_of_debiaswe(tmp_path):
    path = tmp_path / "definitional_pairs.json"
    path.write_text(json.dumps(PAIRS))
    source = vectors(tmp_path)
    expected = bb.hard_debias(source, sets=PAIRS, neutralize="all_others").embedding
    for option in ("--definitional-sets", "--wordlist"):
        out = tmp_path / f"{option.strip('-')}.npz"
        run("debias", "--embedding", source, option, path, "--out", out)
        written = bb.load_embedding(out, WORDS)
        np.testing.assert_allclose(written.vectors, expected.vectors_of(WORDS), atol=1e-12)

    # Beside a word list, whose attributes are neutralized.
    listed = {
        "women": {"protected": ["she", "woman"], "attributes": ["home", "family"]},
        "men": {"protected": ["he", "man"], "attributes": ["office", "career"]},
    }
    words = tmp_path / "list.json"
    words.write_text(json.dumps(listed))
    both = ("--wordlist", words, "--definitional-sets", path, "--controls", "none")
    run("debias", "--embedding", source, *both, "--out", tmp_path / "both.npz", "--words", "listed")
    of_list = bb.hard_debias(source, bb.load_wordlist(listed, controls="none"), sets=PAIRS)
    written = bb.load_embedding(tmp_path / "both.npz", WORDS)
    np.testing.assert_allclose(written.vectors, of_list.embedding.vectors_of(WORDS), atol=1e-12)


def test_definitional_sets_that_are_none(tmp_path):
    path = tmp_path / "sets.json"
    path.write_text('{"women": ["she"]}')
    arguments = ["debias", "--embedding", str(vectors(tmp_path)), "--out", str(tmp_path / "o.vec")]
    done = CliRunner().invoke(cli, [*arguments, "--definitional-sets", str(path)])
    assert "expected sets of words such as" in str(done.exception)


def test_the_encoding_of_vectors_and_lists(tmp_path):
    men, women = ["он", "мужчина"], ["она", "женщина"]
    work, home = ["работа", "офис"], ["семья", "дом"]
    source = vectors(tmp_path, [*men, *women, *work, *home], "koi8-r")
    listed = {
        "м": {"protected": men, "attributes": work},
        "ж": {"protected": women, "attributes": home},
    }
    words = tmp_path / "list.json"
    words.write_bytes(json.dumps(listed, ensure_ascii=False).encode("koi8-r"))
    inputs = ("--embedding", source, "--wordlist", words)
    answer = json.loads(run("score", *inputs, "--encoding", "koi8-r", "--scores", "weat", "--json"))
    expected = bb.scores.weat(bb.load_embedding(source, encoding="koi8-r"), listed)
    assert answer["scores"][0]["value"] == expected.value
    assert answer["provenance"]["embedding"]["encoding"] == "koi8-r"


def test_scores_of_a_table_of_similarities(tmp_path):
    frame = grid((2, 2), (2, 2), 2, 2)
    frame.to_csv(tmp_path / "distances.csv", index=False)
    similar = frame.assign(cos_sim=1 - frame["distance"]).drop(columns=["distance", "connection"])
    similar.to_csv(tmp_path / "similarities.csv", index=False)
    values = []
    for name in ("distances.csv", "similarities.csv"):
        arguments = ("score", "--distances", tmp_path / name, "--scores", "mac")
        values.append(json.loads(run(*arguments, "--json"))["scores"][0]["value"])
    assert values[0] == pytest.approx(values[1], abs=1e-12)
    screen = " ".join(run(*arguments).split())
    assert screen.count("istances are 1 - similarity, of the column cos_sim.") == 1
    assert screen.count("onnections are derived: by the names of their classes.") == 1


def test_a_prompt_for_all_encoders(tmp_path):
    answer = json.loads(
        run("seat", "--tests", "weat6", "--prompt", "query: ", "--samples", "99", "--json")
    )
    assert "prompt=query:" in json.dumps(answer)
