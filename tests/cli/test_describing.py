"""`bayesbias describe`, and `--postprocess` of the commands that take vectors."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner
from helpers.vectors import LIST, A, B, X, Y, vectors

from bayesbias.cli.main import cli
from bayesbias.core.errors import InputError
from bayesbias.embeddings import describe_vectors
from bayesbias.embeddings.loading import load_embedding
from bayesbias.embeddings.writing import save_embedding
from bayesbias.plots.style import style_now
from bayesbias.scores.association import weat

WORDS = [*X, *Y, *A, *B, *(f"n{i}" for i in range(10))]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "v.txt"
    save_embedding(load_embedding({w: v + 0.5 for w, v in vectors(3, WORDS).items()}), path)
    return path


def run(*args: object) -> str:
    result = CliRunner().invoke(cli, [str(a) for a in args], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.slow
def test_describe_tells_each_version(file, tmp_path) -> None:
    printed = json.loads(run("describe", "--embedding", file, "--top", 2, "--neighbours", 4, "--json"))
    assert list(printed["shapes"]) == ["as they are", "center", "standardize", "abtt"]
    shape = describe_vectors(file, top=2, neighbours=4)
    assert printed["findings"] == shape.in_words()
    assert (printed["provenance"]["top"], printed["provenance"]["embedding"]["name"]) == (2, shape.name)
    assert {"bayesbias", "python"} < set(printed["provenance"]["versions"])
    assert printed["shapes"]["as they are"] == json.loads(json.dumps(shape.as_dict()))
    assert printed["shapes"]["center"]["provenance"]["postprocess"]["method"] == "center"
    text = run("describe", "--embedding", file, "--out", tmp_path / "shape")
    assert f"{shape.mean_cosine:.4f} ({shape.words.se:.4f})" in text
    said = describe_vectors(load_embedding(file)).in_words()
    assert text.splitlines()[: len(said)] == said  # before the table
    written = sorted(path.name for path in (tmp_path / "shape").iterdir())
    assert written == ["cosines.png", "cosines.svg", "dimensions.png", "dimensions.svg", "shape.json"]


@pytest.mark.slow
def test_figures_are_drawn_for_what_they_are_asked_for(file, tmp_path) -> None:
    args = ["describe", "--embedding", file, "--out", tmp_path]
    run(*args, "--figure-width", 120, "--figure-style", "journal")  # in any order
    written = sorted(path.name for path in tmp_path.glob("*.*") if path.stem in ("cosines", "dimensions"))
    assert written == ["cosines.pdf", "cosines.svg", "dimensions.pdf", "dimensions.svg"]
    (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ", (tmp_path / "cosines.pdf").read_bytes())
    assert float(box) / 72 * 25.4 == pytest.approx(120, abs=0.01)
    assert style_now().name == "report"
    for wrong, said in (("3", "not the width of a figure"), ("wide", "not a valid float")):
        done = CliRunner().invoke(cli, [*map(str, args), "--figure-width", wrong])
        assert done.exit_code != 0
        assert said in done.output + str(done.exception)


def test_every_command_that_writes_figures_can_be_told_for_what() -> None:
    for name, command in cli.commands.items():
        options = {option: p for p in command.params for option in p.opts}
        out = getattr(options.get("--out"), "help", "") or ""
        assert ("--figure-style" in options) == ("igures" in out or name == "sweep"), name


def test_vectors_are_moved_before_a_score_is_taken(file, tmp_path) -> None:
    listed = tmp_path / "list.json"
    listed.write_text(json.dumps(LIST))
    args = ["measure", "--embedding", file, "--wordlist", listed, "--measure", "weat", "--json"]
    expected = weat(load_embedding(file, postprocess="abtt"), LIST)
    moved, plain = (json.loads(run(*args, *more))["measures"] for more in (("--postprocess", "abtt"), ()))
    assert moved["weat"]["statistic"] == pytest.approx(expected.statistic)
    assert plain["weat"]["statistic"] != pytest.approx(expected.statistic)
    with pytest.raises(InputError, match="--postprocess moves vectors, and --distances holds none"):
        run("fit", "--distances", "x.csv", "--postprocess", "center")
    with pytest.raises(InputError, match="do not mix"):
        run("compare", "--original-distances", "x.csv", "--postprocess", "center")
    with pytest.raises(InputError, match="nothing to compare"):
        run("compare", "--original", file, "--postprocess", "center")


def test_compare_takes_the_original_moved(file, tmp_path) -> None:
    from bayesbias.cli import comparing

    listed = tmp_path / "list.json"
    listed.write_text(json.dumps(LIST))
    before, after = comparing._tables(
        str(file), (), ("center", "abtt"), str(listed), None, None, (), False, "error"
    )
    assert list(after) == ["center", "abtt"]
    assert before.provenance["embedding"].get("postprocess") is None
    assert after["abtt"].provenance["embedding"]["postprocess"]["method"] == "abtt"


@pytest.mark.parametrize("dimensions", [1, 2])
def test_few_words_of_few_dimensions_are_described_as_they_are(dimensions, tmp_path, recwarn) -> None:
    path = tmp_path / "v.csv"
    head = ",".join(["word", "x", "y"][: dimensions + 1])
    rows = [",".join(row[: dimensions + 1]) for row in (["a", "1", "2"], ["b", "2", "1"], ["c", "1", "1"])]
    path.write_text("\n".join([head, *rows]) + "\n")
    printed = json.loads(run("describe", "--embedding", path, "--json"))
    assert list(printed["shapes"]) == ["as they are"]
    assert (printed["provenance"]["top"], printed["provenance"]["neighbours"]) == (dimensions, 2)
    assert [str(each.message).split(":")[0] for each in recwarn] == [
        f"not after {way}" for way in ("center", "standardize", "abtt")
    ]
