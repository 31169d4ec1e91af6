"""HDF5 and netCDF files, read in a process of their own with a limit of time and memory.

The library that reads HDF5 is written in C, follows the offsets in a file wherever they point, and can be kept busy for
ever by a damaged one. Files that carry the seal of this package, and are as they were written, are read at once.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core.cleaning import in_one_line
from bayesbias.core.errors import InputError
from bayesbias.core.guarding import guarded
from bayesbias.core.opening import state_of
from bayesbias.core.texts import parse_json
from bayesbias.core.unpacking import ALWAYS_ALLOWED, MOST_RATIO, believable

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

SCRIPT = Path(__file__).with_name("reading_hdf5.py")
PATIENCE_S = 60.0  # by the clock, for a machine that does much else; the processor's time is limited by the child itself
_BYTES_PER_S = 2e6
_MOST_LISTED = 1 << 26
_DAMAGED = "it is damaged"


def read_datasets(path: Path, names: Sequence[str]) -> tuple[dict[str, np.ndarray], dict[str, bool]]:
    """Read datasets at the top of an HDF5 file that is not ours.

    Returns
    -------
    dict of ndarray, dict of bool
        Each array by its name, texts as arrays of objects; and whether it was stored as text.

    Raises
    ------
    InputError
        Where it is no such file, lacks a dataset, claims to hold far more than it is, or takes too long to read.
    """
    size = state_of(path).st_size
    with _child(path, size, list(names)) as (listed, stream):
        for entry in listed:
            if "lacks" in entry:
                raise InputError(
                    f"lacks the dataset {entry['lacks']}",
                    where=path,
                    found=in_one_line(", ".join(map(str, entry["found"])), 100),
                    valid=", ".join(names),
                )
        arrays = {str(entry["name"]): _array(entry, stream, path) for entry in listed}
        if set(arrays) != set(names):
            raise InputError(f"cannot be read as HDF5 ({_DAMAGED})", where=path)
        return arrays, {entry["name"]: bool(entry["stored_as_text"]) for entry in listed}


def read_tree(path: Path, own: bool, valid: str | None = None) -> xr.DataTree:
    """Read a netCDF file with all its groups.

    Parameters
    ----------
    path : Path
    own : bool
        Whether it bears the seal of this package, which anyone can make. It is then read at once where nothing in it can be
        larger than the file, else in a process of its own.
    valid : str, optional
        What may stand there, for messages.
    """
    import xarray as xr

    size = state_of(path, valid=valid).st_size
    if own and _is_plain(path, valid):
        with (
            guarded(path, "cannot be read as netCDF", valid=valid),
            # A writer holds its lock until its file is in place, where it is whole: nobody need wait for it.
            xr.open_datatree(
                path, engine="h5netcdf", phony_dims="access", driver_kwds={"locking": False}
            ) as opened,
        ):
            return opened.load()
    with (
        _child(path, size, [], valid) as (listed, stream),
        guarded(path, "cannot be read as netCDF", valid=valid),
    ):
        groups: dict[str, dict[str, Any]] = {entry["group"]: {} for entry in listed if "group" in entry}
        facts = {entry["group"]: _attributes(entry) for entry in listed if "group" in entry}
        for entry in listed:
            if "in" in entry:
                values = _as_xarray_has(_array(entry, stream, path))
                variable = xr.Variable(entry["dims"], values, _attributes(entry))
                groups[entry["in"]][entry["name"]] = variable
        sets = {name: xr.decode_cf(xr.Dataset(held, attrs=facts[name])) for name, held in groups.items()}
        return xr.DataTree.from_dict(sets)


def _is_plain(path: Path, valid: str | None) -> bool:
    import h5py

    from bayesbias.core.reading_hdf5 import RefusedError, surveyed

    with guarded(path, "cannot be read as netCDF", valid=valid):
        try:
            with h5py.File(path, "r", locking=False) as file:
                return surveyed(file)
        except RefusedError as error:
            raise InputError(in_one_line(str(error), 200), where=path, valid=valid) from None


@contextlib.contextmanager
def _child(
    path: Path, size: int, names: list[str], valid: str | None = None
) -> Iterator[tuple[list[dict[str, Any]], Any]]:
    """Yield what a child tells of a file, and the stream of its arrays; end it when its time is over."""
    kind = "HDF5" if names else "netCDF"
    problem = f"cannot be read as {kind}"
    task = {"path": os.path.abspath(path), "names": names, "most": max(ALWAYS_ALLOWED, MOST_RATIO * size)}
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "HDF5_USE_FILE_LOCKING": "FALSE",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    with guarded(path, problem, valid=valid):
        process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", str(SCRIPT), json.dumps(task)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    late = threading.Timer(PATIENCE_S + size / _BYTES_PER_S, process.kill)
    late.daemon = True
    late.start()
    try:
        assert process.stdout is not None
        with process.stdout as stream:
            listed = _listed(stream, process, path, problem, valid)
            for entry in listed:
                if reason := entry.get("refused"):
                    raise InputError(in_one_line(str(reason), 200), where=path, valid=valid)
                if reason := entry.get("failed"):
                    raise InputError(f"{problem} ({in_one_line(str(reason), 120)})", where=path, valid=valid)
            yield listed, stream
    finally:
        late.cancel()
        process.kill()
        process.wait()


def _listed(
    stream: Any, process: subprocess.Popen[bytes], path: Path, problem: str, valid: str | None
) -> list[dict[str, Any]]:
    length = int.from_bytes(stream.read(8), "little")
    content = stream.read(min(length, _MOST_LISTED))
    if not length or len(content) < length:
        process.kill()
        code = process.wait()
        late = code in (-9, -24)  # ended by us, or by the system when its time on the processor was over
        why = "reading it takes for ever" if late else "its reader crashed"
        raise InputError(f"{problem} ({_DAMAGED}: {why})", where=path, valid=valid)
    listed = parse_json(content, path, as_written=True)
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise InputError(f"{problem} ({_DAMAGED})", where=path, valid=valid)
    return listed


def _array(entry: dict[str, Any], stream: Any, path: Path) -> np.ndarray:
    with guarded(path, f"cannot be read ({_DAMAGED})"):
        return _unpacked(entry, stream)


def _unpacked(entry: dict[str, Any], stream: Any) -> np.ndarray:
    import numpy as np

    content = stream.read(entry["bytes"])
    if len(content) != entry["bytes"]:
        raise EOFError("its reader broke off")
    shape = tuple(entry["shape"])
    if "texts" not in entry:
        return np.frombuffer(content, np.dtype(entry["type"])).reshape(shape).copy()
    count = math.prod(shape)
    ends = 8 * count + np.cumsum(np.frombuffer(content, "<i8", count))
    starts = [8 * count, *ends[:-1].tolist()]
    out = np.empty(count, dtype=object)
    out[:] = [content[start:end].decode() for start, end in zip(starts, ends.tolist(), strict=True)]
    return out.reshape(shape)


def _as_xarray_has(values: np.ndarray) -> np.ndarray:
    """Return texts in cells of one length, as xarray reads them, unless a single long one would fill the memory."""
    if values.dtype.kind != "O" or not values.size:
        return values
    longest = max(map(len, values.flat))
    return values.astype(str) if believable(4 * values.size * longest, values.size * 64) else values


def _attributes(entry: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    out: dict[str, Any] = {}
    for name, value in entry["attributes"].items():
        if "text" in value:
            out[name] = value["text"]
        elif "texts" in value:
            out[name] = value["texts"]
        else:
            array = np.array(value["numbers"], dtype=value["type"]).reshape(value["shape"])
            out[name] = array[()]
    return out
