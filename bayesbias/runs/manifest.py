"""``run.json``: what a run is, what made it, and the size and the SHA-256 of every file that belongs to it."""

from __future__ import annotations

import fnmatch
import json
import os
import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from bayesbias.core.errors import InputError
from bayesbias.core.opening import read_bytes
from bayesbias.core.seals import State, about_file, damaged, seal_of_json, sealed_json
from bayesbias.core.versions import own_version

MANIFEST = "run.json"
SCHEMA = 1


@dataclass(frozen=True)
class Manifest:
    """The content of ``run.json``, in a form that later versions will read.

    Its keys, all of which are there, the first but in files of the first versions:

    ``sha256_of_rest``
        Of the file itself, with 64 zeros in place of this.

    ``schema``
        1. It changes when a key changes its meaning.
    ``kind``
        ``words`` (a fit of distances), ``sentences`` (SEAT), ``sentiment`` (with or without a fit), ``change`` (a
        comparison), ``wefat`` or ``sweep``.
    ``versions``
        Program -> version, of those that wrote the run: ``bayesbias`` and ``python`` at least.
    ``settings``
        ``prob`` and ``rope`` of the tables, those of them that the kind has.
    ``command``
        The arguments of ``bayesbias`` that made the run, as a list of texts, with the command first and only those
        options that were given; null where it was written from Python.
    ``covariates``
        What the result holds beside its files, by kind; may be empty.
    ``files``
        Name (relative, with ``/``) -> ``bytes`` and ``sha256`` of every file of the run but this one.
    """

    kind: str
    settings: Mapping[str, float]
    command: tuple[str, ...] | None
    files: Mapping[str, Mapping[str, Any]]
    covariates: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    sealed: bool = False


def write_manifest(
    folder: Path,
    kind: str,
    *,
    settings: Mapping[str, float],
    command: Sequence[str] | None,
    covariates: Mapping[str, Any],
    versions: Mapping[str, str],
) -> Path:
    """Write ``run.json`` into a folder that holds the files of a run and nothing else; return its path."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    content = {
        "schema": SCHEMA,
        "kind": kind,
        "versions": {"bayesbias": own_version(), "python": platform.python_version(), **versions},
        "settings": dict(settings),
        "command": None if command is None else [str(word) for word in command],
        "covariates": dict(covariates),
        "files": {name: about_file(folder / name) for name in names},
    }
    path = folder / MANIFEST
    path.write_bytes(sealed_json(content, indent=2))
    return path


def read_manifest(folder: Path, kinds: Collection[str]) -> Manifest | None:
    """Read ``run.json``, whose kind must be one of `kinds`; None where there is none.

    Raises
    ------
    InputError
        Where it is damaged, or of a later version.
    """
    path = folder / MANIFEST
    if not os.path.lexists(path):
        return None
    written = read_bytes(path)
    seal = seal_of_json(written)
    if seal is State.DAMAGED:
        hint = "copy it again from a whole one; or remove it, and what it lists is read unverified"
        raise damaged(path, hint=hint)
    try:
        content = json.loads(written)
        schema = content["schema"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError("is damaged", where=path, valid="as `bayesbias` writes it") from None
    if schema != SCHEMA:
        raise InputError(
            "is a run in a form that this version does not know", where=path, found=schema, valid=str(SCHEMA)
        )
    try:
        return _checked(content, kinds, seal is State.INTACT)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError("is damaged", where=path, valid="as `bayesbias` writes it") from None


def _checked(content: Mapping[str, Any], kinds: Collection[str], sealed: bool) -> Manifest:
    command, files = content["command"], content["files"]
    if content["kind"] not in kinds or not all(map(_is_inside, files)):
        raise ValueError
    if command is not None and not all(isinstance(word, str) for word in command):
        raise ValueError
    return Manifest(
        kind=content["kind"],
        settings={name: float(value) for name, value in content["settings"].items()},
        command=None if command is None else tuple(command),
        files={name: {"bytes": int(of["bytes"]), "sha256": str(of["sha256"])} for name, of in files.items()},
        covariates=dict(content["covariates"]),
        versions={name: str(of) for name, of in content["versions"].items()},
        sealed=sealed,
    )


def _is_inside(name: str) -> bool:
    """Say whether a name stays in its folder, on every system: what a manifest names may be replaced and removed."""
    path = PurePosixPath(name)
    return (
        bool(path.parts)
        and not path.is_absolute()
        and ".." not in path.parts
        and not PureWindowsPath(name).drive
        and "\\" not in name
    )


def matching(names: Collection[str], patterns: Collection[str]) -> set[str]:
    """Return the names that one of the patterns describes; ``*`` stands for a part of a name without ``/``."""
    return {
        name
        for name in names
        for pattern in patterns
        if name.count("/") == pattern.count("/") and fnmatch.fnmatchcase(name, pattern)
    }
