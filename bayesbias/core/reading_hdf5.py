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

_MEMORY = 1 << 27  # bytes beyond what the libraries take, until it is known how large the arrays are
_MOST_GROUPS, _MOST_DEPTH, _MOST_NAMES = 100, 20, 5000  # a saved fit has ten, three, and some hundred
_MOST_ATTRIBUTES = 100  # of one group or dataset
_MOST_IN_ATTRIBUTES = 1 << 18  # numbers and texts in all of them
_MOST_CHUNK = 1 << 24  # bytes beyond those of its dataset
_REFERENCE = 16  # bytes that a text of any length takes in its dataset, with its length in the first four
_TEXT = 64  # bytes that a text takes where it is read, whatever its length
_MANY_CHUNKS, _SMALLEST_CHUNK = 10_000, 256  # bytes of the file for each chunk beyond these
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
        _lower(resource.RLIMIT_CPU, until)
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        _lower(resource.RLIMIT_AS, now + memory)


def _lower(which: int, limit: int) -> None:
    """Set a limit, no higher than whoever runs us allows."""
    import resource

    allowed = resource.getrlimit(which)[1]
    limit = limit if allowed == resource.RLIM_INFINITY else min(limit, allowed)
    resource.setrlimit(which, (limit, allowed))


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


def surveyed(file: Any) -> bool:
    """Look at all that a file says it holds, before any of it is read; refuse what no such file has.

    Links to other files or names, and datasets kept in others, show what lies elsewhere: whoever sends such a file would have
    others read what they never meant to give. Names, groups in groups, attributes and chunks without end keep its reader busy.

    Returns
    -------
    bool
        Whether all is stored as it is, neither packed nor in chunks, so that nothing in it is larger than the file: as this
        package writes it.
    """
    import h5py

    size = os.fstat(file.id.get_vfd_handle()).st_size
    waiting, seen, names, numbers, texts, cells, plain = [(file, 0)], set(), 0, 0, 0, 0, True
    while waiting:
        group, depth = waiting.pop()
        numbers += _in_attributes(group)
        names += group.id.get_num_objs()
        if names > _MOST_NAMES:
            raise RefusedError(f"holds more than {_MOST_NAMES} names")
        for name in group:
            called = f"{group.name.rstrip('/')}/{name}"[:80]
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise RefusedError(
                    f"holds a link to another place, {called!r}; only what is in the file itself is read"
                )
            held = group.get(name)
            if isinstance(held, h5py.Dataset):
                numbers += _in_attributes(held)
                if held.is_virtual or held.external:
                    raise RefusedError(
                        f"keeps {called!r} in other files; only what is in the file itself is read"
                    )
                _check_chunks(held, called, size)
                length = _length_of_texts(held)
                plain = plain and length is not None
                texts += length or 0
                cells += held.nbytes  # what is read by two names is read twice
            elif isinstance(held, h5py.Group):
                place = h5py.h5o.get_info(held.id).addr
                if place not in seen:
                    seen.add(place)
                    waiting.append((held, depth + 1))
            if len(seen) > _MOST_GROUPS or depth > _MOST_DEPTH:
                raise RefusedError(
                    f"holds more than {_MOST_GROUPS} groups"
                    if depth <= _MOST_DEPTH
                    else f"holds groups in groups, more than {_MOST_DEPTH} levels of them"
                )
    if numbers > _MOST_IN_ATTRIBUTES:
        raise RefusedError(f"holds {numbers:,} numbers or texts in attributes")
    if texts > size:  # several of them lie at one place
        raise RefusedError(f"holds texts of {texts:,} bytes, for which the file has no room")
    return plain and cells <= size


def _in_attributes(held: Any) -> int:
    """Return how many numbers and texts the attributes of a group or dataset hold."""
    import h5py

    count = h5py.h5a.get_num_attrs(held.id)
    if count > _MOST_ATTRIBUTES:
        raise RefusedError(f"has {count:,} attributes where at most {_MOST_ATTRIBUTES} are read")
    cells = 0
    for place in range(count):
        attribute = h5py.h5a.open(held.id, index=place)
        cells += max(attribute.get_storage_size() // 16, 1)
    return cells


def _check_chunks(dataset: Any, called: str, size: int) -> None:
    """Refuse chunks that are larger than their dataset and any file has, or that are more than the file has room for."""
    if not dataset.chunks:
        return
    number, room = 1, dataset.dtype.itemsize
    for length, chunk in zip(dataset.shape, dataset.chunks, strict=True):
        number *= -(-length // chunk)
        room *= chunk
    if number > _MANY_CHUNKS + size // _SMALLEST_CHUNK:
        raise RefusedError(f"keeps {called!r} in {number:,} chunks, for which the file has no room")
    if room > _MOST_CHUNK + dataset.nbytes:
        raise RefusedError(f"keeps {called!r} in chunks of {room:,} bytes, and it holds {dataset.nbytes:,}")


def _length_of_texts(dataset: Any) -> int | None:
    """Return how many bytes the texts of a dataset say they have, 0 for numbers; None where that cannot be told at once.

    A text of any length is stored by four bytes of its length and where it lies (HDF5 file format specification, version 3.0,
    "Variable-length"), and any number of them may lie at one place.
    """
    import h5py
    import numpy as np

    stored = dataset.id.get_create_plist()
    if stored.get_layout() == h5py.h5d.CHUNKED or stored.get_nfilters():
        return None
    kind = dataset.id.get_type()
    if kind.get_class() == h5py.h5t.STRING and not kind.is_variable_str():
        return 0
    if kind.get_class() in (h5py.h5t.INTEGER, h5py.h5t.FLOAT, h5py.h5t.ENUM):
        return 0
    if kind.get_class() != h5py.h5t.STRING or dataset.shape is None:
        return None
    room, offset = dataset.id.get_storage_size(), dataset.id.get_offset()
    if room == 0:  # nothing is written
        return 0
    if offset is None or room != _REFERENCE * dataset.size:  # such as in the header of the dataset
        return None
    stored_at = np.memmap(dataset.file.filename, "<u4", "r", offset, (dataset.size, _REFERENCE // 4))
    return int(stored_at[:, 0].sum(dtype=np.int64))


def datasets(path: str, names: list[str], most: int, entries: list[Any]) -> Iterator[bytes]:
    """Read datasets at the top of an HDF5 file."""
    import h5py

    with h5py.File(path, "r") as file:
        surveyed(file)
        held = {name: file.get(name) for name in names}
        top = sorted(map(str, file))[:100]
        for name in names:
            if isinstance(held[name], h5py.Group):
                raise RefusedError(f"holds a group {name!r} where a dataset is expected")
            if isinstance(held[name], h5py.Dataset) and held[name].shape is None:
                raise RefusedError(f"holds nothing in the dataset {name!r}")
        if lacking := [name for name in names if not isinstance(held[name], h5py.Dataset)]:
            entries.append({"lacks": lacking[0], "found": top})
            return
        measured([(name, held[name].shape, room_of(held[name].dtype)) for name in names], most)
        for name in names:
            text = h5py.check_string_dtype(held[name].dtype) is not None
            values = held[name][...]
            if values.dtype.kind == "O" and not text:
                raise RefusedError(
                    f"holds values of type {held[name].dtype} in {name!r} where numbers or texts are expected"
                )
            about, parts = packed(values)
            entries.append({"name": name, "stored_as_text": text, **about})
            yield from parts


def tree(path: str, most: int, entries: list[Any]) -> Iterator[bytes]:
    """Read all groups and variables of a netCDF file."""
    import h5netcdf
    import h5py

    with h5py.File(path, "r") as whole:
        surveyed(whole)
    with h5netcdf.File(path, "r", phony_dims="access") as file:
        groups, waiting = [], [file]
        while waiting:
            group = waiting.pop()
            groups.append(group)
            if len(groups) > _MOST_GROUPS:
                raise RefusedError(f"holds more than {_MOST_GROUPS} groups")
            waiting += [group[name] for name in group.groups]
        variables = [(group, name) for group in groups for name in group.variables]
        measured([(name, g[name].shape, room_of(g[name].dtype)) for g, name in variables], most)
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


def room_of(dtype: Any) -> int:
    """Return how many bytes a cell takes, at least, where it is read."""
    return _TEXT if dtype is str or dtype.hasobject else dtype.itemsize


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
