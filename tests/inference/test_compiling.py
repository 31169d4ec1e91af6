"""Compiled code is kept on disk, and code from a damaged file is compiled again."""

import importlib.util
import os
import subprocess
import sys
import warnings

import pytest

from bayesbias.inference import compiling
from bayesbias.inference.compiling import CheckedCacheFile

SOURCE = """
from bayesbias.inference.compiling import compiled


@compiled
def cube(x):
    return x * x * x
"""
DAMAGES = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "one wrong bit": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "wrong first byte": lambda content: bytes([content[0] ^ 255]) + content[1:],
}


@pytest.fixture(autouse=True)
def _new_process():
    compiling._report_damage.cache_clear()


def module_of(folder):
    """Import a module with a compiled function anew, as another process would."""
    path = folder / "cubes.py"
    if not path.is_file():
        path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("cubes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compiled_files(folder, ending):
    return sorted((folder / "__pycache__").glob(f"*{ending}"))


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_reported_once_and_replaced(tmp_path, ending, damage):
    def cache():
        return CheckedCacheFile(str(tmp_path), "cubes.cube-5.py312", "stamp")

    cache().save("float64", b"code of doubles" * 9)
    cache().save("int64", b"code of integers" * 9)
    for path in tmp_path.glob(f"*{ending}"):
        path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(UserWarning, match="was damaged: it is compiled again") as reports:
        loaded = [cache().load(key) for key in ("float64", "int64")]
    assert loaded[0] is None
    assert len(reports) == 1

    # Warnings are errors: from here on nothing is reported.
    cache().save("float64", b"new code")
    assert cache().load("float64") == b"new code"
    assert cache().load("int64") is None  # its file, or its row of the index, is gone


def test_code_of_another_source_is_compiled_again_without_a_word(tmp_path):
    CheckedCacheFile(str(tmp_path), "name", "old").save("float64", "old code")
    new = CheckedCacheFile(str(tmp_path), "name", "new")
    assert new.load("float64") is None
    new.save("float64", "new code")
    assert new.load("float64") == "new code"
    new.flush()
    assert new.load("float64") is None


def test_a_full_disk_does_not_stop_a_fit(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    cache = CheckedCacheFile(str(tmp_path), "name", "stamp")
    cache.save("float64", "code")
    assert cache.load("float64") is None


def test_compiled_code_heals(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    first = module_of(tmp_path)
    assert first.cube(3) == 27
    second = module_of(tmp_path)
    assert second.cube(3) == 27
    assert second.cube.stats.cache_hits  # from the disk
    [code] = compiled_files(tmp_path, ".nbc")
    content = bytearray(code.read_bytes())
    content[len(content) // 2] ^= 1
    code.write_bytes(content)
    third = module_of(tmp_path)
    with pytest.warns(UserWarning, match="was damaged"):
        assert third.cube(3) == 27
    fourth = module_of(tmp_path)
    assert fourth.cube(3) == 27
    assert fourth.cube.stats.cache_hits


@pytest.mark.parametrize("caching", [None, type("Caching", (), {"IndexDataCacheFile": object})])
def test_another_numba_keeps_code_by_itself(tmp_path, monkeypatch, caching):
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setattr(compiling, "caching", caching)
    with warnings.catch_warnings():
        assert module_of(tmp_path).cube(3) == 27
    assert not compiled_files(tmp_path, "checked.nbi")


@pytest.mark.slow
def test_a_fit_with_damaged_code_has_the_same_numbers(tmp_path):
    command = [sys.executable, "-c", "from bayesbias.cli.main import main; main()", "fit"]
    command += ["--embedding", "minilm-static", "--wordlist", "religion", "--controls", "none"]
    command += ["--seed", "1", "--draws", "300", "--tune", "300", "--chains", "2"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def fitted():
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    whole = fitted()
    for number, path in enumerate(sorted(tmp_path.rglob("*.nb?"))):
        damage = [*DAMAGES.values()][number % len(DAMAGES)]
        path.write_bytes(damage(path.read_bytes()))
    damaged, healed = fitted(), fitted()
    assert damaged.stdout == whole.stdout == healed.stdout
    assert damaged.stdout
    assert damaged.stderr.count("was damaged") == 1
    assert healed.stderr == whole.stderr
