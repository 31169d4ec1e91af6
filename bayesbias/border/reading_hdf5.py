"""What runs in a process of its own, started by `border.hdf5` as a script: HDF5 and netCDF files read into plain arrays.

It writes to its standard output a length of eight bytes, a list in JSON of so many bytes, and the bytes of all arrays that
the list names, one after the other. It imports nothing of this package, so that it starts soon.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

_MEMORY = 1 << 29  # bytes beyond what the libraries take, until it is known how large the arrays are
_MOST_GROUPS = 1000
_SECONDS = 2  # of the processor, beyond those for the size
_BYTES_PER_S = 20_000_000


class RefusedError(Exception):
    """What is wrong with a file; told to the parent as it is."""


def limited(seconds: float, memory: int) -> None:
    """Have the system end this process once it took so much more of the processor, and refuse it more memory."""
    try:
        import resource
    except ImportError:  # on Windows; there the parent's clock is the only limit
        return
    spent = resource.getrusage(resource.RUSAGE_SELF)
    # Where the system knows no such limit, the parent's clock remains.
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        until = int(spent.ru_utime + spent.ru_stime + seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (now + memory, resource.RLIM_INFINITY))


def text_of(value: Any) -> str:
    """Return a text out of a file."""
    if not isinstance(value, str | bytes):
        raise RefusedError(f"holds {type(value).__name__} where text is expected")
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def attribute(value: Any) -> dict[str, Any]:
    """Return an attribute as JSON can hold it: a text, texts, or numbers with their type and shape."""
    import numpy as np

    if isinstance(value, str | bytes):
        return {"text": text_of(value)}
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        return {"texts": [text_of(one) for one in array.ravel().tolist()]}
    if array.dtype.kind not in "biuf":
        raise RefusedError(f"has an attribute of type {array.dtype}")
    return {"numbers": array.ravel().tolist(), "type": array.dtype.str, "shape": list(array.shape)}


def packed(values: Any) -> tuple[dict[str, Any], list[bytes]]:
    """Return how an array is described, and its bytes; texts are joined, with the length of each in front."""
    import numpy as np

    array = np.asarray(values)
    about: dict[str, Any] = {"shape": list(array.shape)}
    if array.dtype.kind in "OSU":
        texts = [text_of(one).encode() for one in array.ravel().tolist()]
        lengths = np.array([len(text) for text in texts], dtype="<i8")
        parts = [lengths.tobytes(), b"".join(texts)]
        about["texts"] = len(texts)
    elif array.dtype.kind in "biuf":
        array = np.ascontiguousarray(array)
        parts = [array.tobytes()]
        about["type"] = array.dtype.str
    else:
        raise RefusedError(f"holds an array of type {array.dtype}")
    about["bytes"] = sum(map(len, parts))
    return about, parts


def all_inside(file: Any) -> None:
    """Refuse a file that shows what lies elsewhere: by links to other files or names, or by datasets kept in others.

    Whoever sends such a file would have others read what they never meant to give. Nothing that is read here has any.
    """
    import h5py

    waiting, seen = [file], set()
    while waiting:
        group = waiting.pop()
        for name in group:
            called = f"{group.name.rstrip('/')}/{name}"[:80]
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise RefusedError(
                    f"holds a link to another place, {called!r}; only what is in the file itself is read"
                )
            held = group.get(name)
            if isinstance(held, h5py.Dataset):
                if held.is_virtual or held.external:
                    raise RefusedError(
                        f"keeps {called!r} in other files; only what is in the file itself is read"
                    )
            elif isinstance(held, h5py.Group):
                place = h5py.h5o.get_info(held.id).addr
                if place not in seen:
                    seen.add(place)
                    waiting.append(held)
            if len(seen) > _MOST_GROUPS:
                raise RefusedError(f"holds more than {_MOST_GROUPS} groups")


def datasets(path: str, names: list[str], most: int, entries: list[Any]) -> Iterator[bytes]:
    """Read datasets at the top of an HDF5 file."""
    import h5py

    with h5py.File(path, "r") as file:
        all_inside(file)
        held = {name: file.get(name) for name in names}
        top = sorted(map(str, file))[:100]
        if lacking := [name for name in names if not isinstance(held[name], h5py.Dataset)]:
            entries.append({"lacks": lacking[0], "found": top})
            return
        measured([(name, held[name].shape, held[name].dtype.itemsize) for name in names], most)
        for name in names:
            text = h5py.check_string_dtype(held[name].dtype) is not None
            about, parts = packed(held[name][...])
            entries.append({"name": name, "stored_as_text": text, **about})
            yield from parts


def tree(path: str, most: int, entries: list[Any]) -> Iterator[bytes]:
    """Read all groups and variables of a netCDF file."""
    import h5netcdf
    import h5py

    with h5py.File(path, "r") as whole:
        all_inside(whole)
    with h5netcdf.File(path, "r", phony_dims="access") as file:
        groups, waiting = [], [file]
        while waiting:
            group = waiting.pop()
            groups.append(group)
            if len(groups) > _MOST_GROUPS:
                raise RefusedError(f"holds more than {_MOST_GROUPS} groups")
            waiting += [group[name] for name in group.groups]
        variables = [(group, name) for group in groups for name in group.variables]
        measured(
            [
                (name, g[name].shape, g[name].dtype.itemsize if g[name].dtype is not str else 16)
                for g, name in variables
            ],
            most,
        )
        for group in groups:
            attributes = {key: attribute(value) for key, value in group.attrs.items()}
            entries.append({"group": group.name, "attributes": attributes})
        for group, name in variables:
            variable = group[name]
            about, parts = packed(variable[...])
            attributes = {key: attribute(value) for key, value in variable.attrs.items()}
            entries.append(
                {
                    "in": group.name,
                    "name": name,
                    "dims": list(variable.dimensions),
                    "attributes": attributes,
                    **about,
                }
            )
            yield from parts


def measured(arrays: list[tuple[str, Any, int]], most: int) -> None:
    """Refuse arrays that claim to be larger than the file makes believable, before room is made for them."""
    total = 0
    for name, shape, size in arrays:
        count = size
        for length in shape or ():
            count *= int(length)
        total += count
        if total > most:
            raise RefusedError(
                f"claims to hold {total:,} bytes or more, up to {str(name)[:40]!r}; at most {most:,} are believed"
            )
    limited(_SECONDS + 3 * total / _BYTES_PER_S, _MEMORY + 4 * total)


def main() -> None:
    """Read the file named, and write what it holds."""
    import h5netcdf  # noqa: F401 - what is imported now takes nothing of the limits

    task = json.loads(sys.argv[1])
    path, most = task["path"], task["most"]
    limited(_SECONDS + os.path.getsize(path) / _BYTES_PER_S, _MEMORY)
    entries: list[Any] = []
    parts = datasets(path, task["names"], most, entries) if task["names"] else tree(path, most, entries)
    try:
        content = list(parts)
    except RefusedError as error:
        entries, content = [{"refused": str(error)}], []
    except Exception as error:
        entries, content = [{"failed": f"{type(error).__name__}: {str(error)[:1000]}"}], []
    listed = json.dumps(entries).encode()
    out = sys.stdout.buffer
    out.write(len(listed).to_bytes(8, "little"))
    out.write(listed)
    for part in content:
        out.write(part)
    out.flush()
    os._exit(0)  # what a damaged file left open is not closed: that too may take for ever


if __name__ == "__main__":
    main()
