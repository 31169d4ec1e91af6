"""Damage done to files, and runs of every kind with made-up files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from bayesbias.runs.kinds import LAYOUTS
from bayesbias.runs.layout import Layout
from bayesbias.runs.manifest import write_manifest

from bayesbias.core.seals import seal_bytes

SETTINGS = {"prob": 0.89, "rope": 0.02}


def flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content with one bit another."""
    out = bytearray(content)
    out[rng.integers(len(out))] ^= 1 << int(rng.integers(8))
    return bytes(out)


def harmed(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content as disks and copies leave it: a bit flipped, a block of zeros, cut off, longer, or a part twice."""
    way, at = rng.integers(6), int(rng.integers(len(content)))
    length = int(rng.integers(1, 1 + min(512, len(content) - at)))
    if way == 0:
        zeroed = content[:at] + bytes(length) + content[at + length :]
        return zeroed if zeroed != content else flipped(content, rng)
    if way == 1:
        return content[:at]
    if way == 2:
        return content + rng.bytes(length)
    if way == 3:
        return content[: at + length] + content[at:]
    return flipped(content, rng)


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def cases(
    folder: Path, count: int, rng: np.random.Generator, suffix: str = ""
) -> Iterator[tuple[Path, bytes]]:
    """Damage one file of a folder after the other, each time another one; give the file and what is wrong with it now.

    Every file has its turn; afterwards it is as it was.
    """
    files = [path for path in files_in(folder) if path.name.endswith(suffix)]
    for number in range(count):
        path = files[number % len(files)]
        whole = path.read_bytes()
        bad = harmed(whole, rng) if number % 2 else flipped(whole, rng)
        path.write_bytes(bad)
        try:
            yield path, bad
        finally:
            path.write_bytes(whole)


def _made_up(name: str) -> bytes:
    text = f"{name} of a run\n" * 20
    if name.endswith(".json"):
        return json.dumps({"text": text}).encode()
    return text.encode() + seal_bytes(text.encode()) if name.endswith(".nc") else text.encode()


def made_up_run(folder: Path, layout: Layout) -> Path:
    """Write a folder with all files that a run of a kind has, whose content means nothing, and its manifest."""
    names = [*layout.files, *(name.replace("[0-9]*", "0") for name in layout.own_names)]
    names += [f"figures/{name.replace('[0-9]*', '0').replace('*', 'x')}.svg" for name in layout.figures]
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(_made_up(name))
    write_manifest(folder, layout.kind, settings=SETTINGS, command=["fit"], covariates={}, versions={})
    return folder


KINDS = tuple(LAYOUTS)
