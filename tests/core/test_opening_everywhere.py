"""No other folder opens, unpacks or parses a file from outside: all of them go by the border."""

from __future__ import annotations

import ast

import pytest
from helpers.places import PACKAGE, rooms

# What reads bytes, under the names by which files call it. Writing is not held here.
READERS = {
    "np.load", "np.fromfile", "np.loadtxt", "np.genfromtxt", "np.memmap",
    "pd.read_csv", "pd.read_table", "pd.read_parquet", "pd.read_pickle", "pd.read_json", "pd.read_excel",
    "pq.ParquetFile", "pq.read_table", "pq.read_schema", "pq.read_metadata", "pc.read_csv",
    "xr.open_dataset", "xr.open_datatree", "xr.load_dataset",
    "json.load", "tomllib.load", "tomllib.loads", "pickle.load", "pickle.loads",
    "gzip.open", "bz2.open", "lzma.open", "zipfile.ZipFile", "zipfile.is_zipfile",
}  # fmt: skip
METHODS = {"read_text", "read_bytes"}  # of a path; the border's own are functions
PARSERS = {"h5py", "h5netcdf", "netCDF4", "zipfile", "bz2", "lzma", "tomllib", "pickle", "shelve", "marshal"}
# What is read elsewhere, and why that is no byte from outside, or how it is held.
ALLOWED = {
    "basics.files": {"open"},  # the file that it has just written, to put its hash beside it
    "cli.shipped": {"read_text"},  # files of this package
    "report.page": {"read_text"},
    "words.listfile": {"read_text"},
    "sweeps.work": {"read_bytes"},  # the fit that it has just written
    "runs.transaction": {"read_text"},  # its own list of what to put in place, under its own lock
    "vectors.file_index": {"np.memmap"},  # mapped, never copied; its size is held against what its head says
    "encoders.encoder": {"json.load"},  # the answer of a package index over the network
    "vectors.writing": {"import zipfile", "zipfile.ZipFile"},  # the archive that it writes
    "runs.reading": {"pd.read_csv"},  # of bytes that came by the border
    "sweeps.result": {"pd.read_csv"},  # likewise
    "tables.change": {"pd.read_csv"},  # likewise
}


def reads(call: ast.Call) -> str | None:
    """Return under what name a call reads a file, or None."""
    name = ast.unparse(call.func)
    if name in READERS:
        return name
    if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS:
        return call.func.attr
    if name != "open" and not (
        isinstance(call.func, ast.Attribute) and call.func.attr == "open" and not call.args
    ):
        return None
    modes = [*call.args[1:2], *(word.value for word in call.keywords if word.arg == "mode")]
    mode = modes[0].value if modes and isinstance(modes[0], ast.Constant) else "r"
    return "open" if isinstance(mode, str) and not set(mode) & set("wax+") else None


def read_in(module: ast.Module) -> set[str]:
    found = {reads(node) for node in ast.walk(module) if isinstance(node, ast.Call)}
    for node in ast.walk(module):
        names = (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        found |= {f"import {name}" for name in names if name.split(".")[0] in PARSERS}
    return {name for name in found if name}


@pytest.mark.parametrize("room", [room for room in rooms() if not room.startswith("border.")])
def test_no_other_folder_reads_what_comes_from_outside(room):
    path = PACKAGE / f"{room.replace('.', '/')}.py"
    found = read_in(ast.parse(path.read_text(encoding="utf-8")))
    assert found <= ALLOWED.get(room, set())


def test_what_reads_would_be_seen():
    text = """
import h5py
from zipfile import ZipFile
open(path)
open(path, "rb")
open(path, mode="r")
path.open()
path.read_text()
np.load(path)
pd.read_csv(path)
tomllib.load(file)
"""
    assert read_in(ast.parse(text)) == {
        "import h5py", "import zipfile", "open", "read_text", "np.load", "pd.read_csv", "tomllib.load",
    }  # fmt: skip
    assert (
        read_in(
            ast.parse("open(path, 'w')\nopen(path, 'rb+')\nread_bytes(path)\nwith opened(path) as x: pass")
        )
        == set()
    )
