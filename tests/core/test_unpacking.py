"""Compressed files: whole ones read, damaged ones refused, and bombs refused soon and in little room."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import time
import zipfile

import pytest

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.opening import opened
from bayesbias.core.unpacking import compression_of, opened_zip, unpacked

PACK = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


def content_of(path, compression):
    with opened(path) as file, unpacked(file, path, compression) as stream:
        return stream.read()


@pytest.fixture(params=PACK)
def compression(request):
    return request.param


@pytest.mark.slow
def test_what_was_packed_is_unpacked(tmp_path, compression):
    content = os.urandom(300_000) + bytes(1_000_000)
    path = tmp_path / "a"
    path.write_bytes(PACK[compression](content))
    assert compression_of(path.read_bytes()[:6]) == compression
    assert content_of(path, compression) == content
    path.write_bytes(PACK[compression](content) * 2)  # as `cat a.gz b.gz` makes them
    assert content_of(path, compression) == content * 2


def test_a_part_is_read_from_anywhere(tmp_path):
    content = os.urandom(100_000)
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(content))
    with opened(path) as file, unpacked(file, path, chunk=1000) as stream:
        assert stream.seek(90_000) == 90_000
        assert stream.read(10) == content[90_000:90_010]
        assert stream.seek(5) == 5
        assert stream.read(10) == content[5:15]
        assert stream.seek(-5, os.SEEK_CUR) == 10
        assert stream.seek(1 << 40) == len(content)


def test_damage_is_told(tmp_path, compression):
    packed = PACK[compression](os.urandom(3000))
    path = tmp_path / "a"
    for cut in range(20, len(packed) - 1, 97):
        path.write_bytes(packed[:cut])
        with pytest.raises(InputError, match=rf"the {compression} file is (truncated|damaged)"):
            content_of(path, compression)
        path.write_bytes(packed[:cut] + bytes([packed[cut] ^ 255]) + packed[cut + 1 :])
        with pytest.raises(InputError, match=rf"the {compression} file is (truncated|damaged)"):
            content_of(path, compression)


LIMITED = """
import resource, sys, time
from pathlib import Path
import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.core.opening import opened
from bayesbias.core.unpacking import unpacked, opened_zip
path, compression = Path(sys.argv[1]), sys.argv[2]
resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))
started = time.process_time()
try:
    if compression == "zip":
        with opened_zip(path) as archive, archive.open(archive.namelist()[0]) as member:
            member.read()
    else:
        with opened(path) as file, unpacked(file, path, compression) as stream:
            if sys.argv[3] == "seek":
                stream.seek(1 << 40)
            while stream.read(1 << 20):
                pass
except InputError as error:
    print(time.process_time() - started, error)
"""


def bombed(path, compression, how="read"):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), compression, how],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    seconds, _, text = done.stdout.partition(" ")
    assert float(seconds) < 1
    assert "unpacks to far more" in text


@pytest.mark.parametrize("how", ["read", pytest.param("seek", marks=pytest.mark.slow)])
def test_a_bomb_is_refused_within_a_second_and_200_mb(tmp_path, how):
    part = gzip.compress(bytes(1 << 24))
    path = tmp_path / "bomb.gz"
    path.write_bytes(part * 400)  # 6.4 GB in as many kB
    bombed(path, "gzip", how)


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["bzip2", "xz"])
def test_other_bombs_are_refused_as_soon(tmp_path, compression):
    path = tmp_path / "bomb"
    path.write_bytes(PACK[compression](bytes(1 << 22)) * 400)
    bombed(path, compression)


@pytest.mark.parametrize("compression", PACK)
def test_parts_without_number_are_refused(tmp_path, compression):
    """Each takes its time; what is packed in blocks has tens of thousands of bytes in each."""
    path = tmp_path / "parts"
    for part, count, refused in ((b"a\n", 3_000, True), (b"", 3_000, True), (b"a\n" * 500, 1_200, False)):
        path.write_bytes(PACK[compression](part) * count)
        with open(path, "rb") as raw, unpacked(raw, path, compression) as stream:
            if refused:
                with pytest.raises(InputError, match="is packed in very many short parts"):
                    stream.read()
            else:
                assert stream.read() == part * count


def test_a_name_without_end_in_a_gzip_file_is_passed_at_once(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * 5_000_000)
    began = time.process_time()
    with (
        open(path, "rb") as raw,
        pytest.raises(InputError, match="the gzip file is truncated"),
        unpacked(raw, path) as stream,
    ):
        stream.read()
    assert time.process_time() - began < 0.3


@pytest.mark.slow
def test_a_member_of_a_zip_that_claims_too_much_is_refused(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(1 << 26))
    bombed(path, "zip")


def zipped(members, method=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("field", [20, 24], ids=["compressed size", "size"])
def test_sizes_made_huge_are_refused(tmp_path, field):
    content = bytearray(zipped({"a": b"abc"}))
    at = content.index(b"PK\x01\x02")
    content[at + field : at + field + 4] = b"\xf0\xff\xff\xff"
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    with pytest.raises(InputError, match="a member is larger than the file has room for"), opened_zip(path):
        pass


def test_lists_of_members_are_bounded(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({str(i): b"" for i in range(20)}))
    with pytest.raises(InputError, match="very many members"), opened_zip(path, most_members=19):
        pass
    path.write_bytes(zipped({"n" * 60_000 + str(i): b"" for i in range(20)}))
    with pytest.raises(InputError, match="very long list of members"), opened_zip(path):
        pass


def test_other_ways_of_packing_and_what_is_no_zip_are_refused(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"a": b"abc"}, zipfile.ZIP_LZMA))
    with pytest.raises(InputError, match="packed in a way"), opened_zip(path):
        pass
    for content in (b"", b"PK\x03\x04", zipped({"a": b"abc" * 50})[:60]):
        path.write_bytes(content)
        with pytest.raises(InputError, match="the zip file is damaged"), opened_zip(path):
            pass


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [b"\n", *(pytest.param(line, marks=pytest.mark.claim) for line in (b"a 1\n", b"aa 1 2\nab 1 2\n"))],
)
def test_short_lines_by_the_million_are_refused_before_they_are_read(line, tmp_path):
    """They unpack to two hundred times what they are, which may pass for numbers; a reader of lines takes minutes over them."""
    path = tmp_path / "v.txt.gz"
    path.write_bytes(gzip.compress(line * ((12 << 20) // len(line))))
    for read in (bb.load_embedding, lambda path: bb.tables.load_counts(path, ["a"])):
        began = time.process_time()
        with pytest.raises(InputError, match=r"unpacks to far more|is empty"):
            read(path)
        assert time.process_time() - began < 5
