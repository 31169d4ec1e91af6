"""The command that writes the lesson."""

import json

from click.testing import CliRunner

from bayesbias.cli.main import cli


def run(*words):
    return CliRunner().invoke(cli, ["lesson", *words])


def test_page_and_kit_are_written_and_named(tmp_path):
    page, folder = tmp_path / "averaging.html", tmp_path / "class"
    done = run("--out", str(page), "--kit", str(folder), "--json")
    assert done.exit_code == 0
    written = json.loads(done.stdout)["written"]
    files = {str(path) for path in tmp_path.rglob("*") if path.is_file()}
    assert set(written) == files
    assert str(page) in written


def test_neither_page_nor_kit_is_refused():
    done = run()
    assert done.exit_code != 0
    assert "--out FILE.html or --kit DIR" in str(done.exception)


def test_only_a_page_is_written(tmp_path):
    done = run("--out", str(tmp_path / "averaging.html"))
    assert "It needs no network" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["averaging.html"]
