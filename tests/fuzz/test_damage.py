"""Damaged files are seen: bits flipped, blocks zeroed, ends cut, in every file of every kind of run."""

from __future__ import annotations

import numpy as np
import pytest
from bayesbias.runs.kinds import LAYOUTS
from bayesbias.runs.manifest import MANIFEST, matching
from helpers.damage import KINDS, cases, files_in, harmed, made_up_run
from helpers.fits import made_up, pairs
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.seals import State, seal_bytes, seal_of_file, seal_of_json, sealed_json

COUNTS = [100, pytest.param(1000, marks=pytest.mark.claim)]


def one_line(error: InputError) -> bool:
    return "\n" not in str(error) and "damaged" in str(error)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_file_of_every_kind_of_run(kind, count, tmp_path):
    folder, rng = made_up_run(tmp_path / "run", LAYOUTS[kind]), np.random.default_rng(shifted(1))
    assert bb.runs.verify_run(folder).ok
    sources = matching({p.name for p in files_in(folder)}, LAYOUTS[kind].sources)
    for path, _ in cases(folder, count, rng):
        name = path.relative_to(folder).as_posix()
        found = bb.runs.verify_run(folder)
        assert not found.ok
        assert found.files[0].name == name
        assert found.files[0].state is State.DAMAGED
        assert found.count(State.DAMAGED) == 1
        if name in sources or name == MANIFEST:
            with pytest.raises(InputError, match="damaged") as caught:
                bb.load_run(folder)
            assert str(path) in str(caught.value)
            assert one_line(caught.value)
    assert bb.runs.verify_run(folder).count(State.INTACT) == len(files_in(folder))


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("saved") / "fit.nc"
    made_up(pairs(), values={"c": 0.9}).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.slow
def test_no_damaged_fit_is_read(saved, count, tmp_path):
    """Whatever is changed in the file: never a number, always one line."""
    path, rng = tmp_path / "fit.nc", np.random.default_rng(shifted(2))
    for _ in range(count):
        bad = harmed(saved, rng)
        path.write_bytes(bad)
        with pytest.raises(InputError) as caught:
            bb.load_fit(path)
        assert "\n" not in str(caught.value)
        if len(bad) == len(saved):
            # Where the seal is hit beyond recognition it counts as none, and the library refuses what is left.
            seen = "is damaged" in str(caught.value)
            assert seen or "cannot be read as netCDF" in str(caught.value)
            assert seen is not bb.runs.verify_run(path).ok


@pytest.mark.parametrize("indent", [None, 2])
def test_every_bit_of_sealed_json(indent):
    """Each of them, the seal's own among them."""
    content = sealed_json({"kind": "words", "prob": 0.89, "rows": [1, 2.5e-300, None, "ä"]}, indent=indent)
    assert seal_of_json(content) is State.INTACT
    for bit in range(8 * len(content)):
        bad = bytearray(content)
        bad[bit // 8] ^= 1 << bit % 8
        assert seal_of_json(bytes(bad)) is State.DAMAGED
    for other in (b"", b"{}", b"[]", b'{"schema": 1, "kind": "words"}', b'{\n  "schema": 1\n}\n'):
        assert seal_of_json(other) is State.UNVERIFIED


def test_every_byte_of_a_sealed_file(tmp_path):
    whole = b"\x89HDF\r\n" + bytes(range(50))
    whole, path = whole + seal_bytes(whole), tmp_path / "file"
    path.write_bytes(whole)
    assert seal_of_file(path) is State.INTACT
    for at in range(len(whole)):
        bad = bytearray(whole)
        bad[at] ^= 1 << at % 8
        path.write_bytes(bad)
        assert seal_of_file(path) is State.DAMAGED
    for other in (b"", b"\x89HDF", b"x" * 500):
        path.write_bytes(other)
        assert seal_of_file(path) is State.UNVERIFIED
