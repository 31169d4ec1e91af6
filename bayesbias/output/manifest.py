"""``run.json``, which lists the files of a run: read, and checked before anything trusts it.

A folder may come from somebody else. Every name in it must lie inside the folder, also after
symbolic links, since the files are read, hashed and, when the run is replaced, removed.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from bayesbias.core import InputError, checks
from bayesbias.core.files import read_json
from bayesbias.inference.view import View
from bayesbias.output.registry import KINDS

MANIFEST = "run.json"
PAYLOAD = "result.json"
SCHEMA = 2
_NEEDED = ("kind", "view", "command", "files", "schema")
_VIEW = ("prob", "rope", "standard_rope")
_HASH = re.compile("[0-9a-f]{64}")


def read_manifest(folder: Path) -> Mapping[str, Any]:
    """Return the content of ``run.json``.

    Raises
    ------
    InputError
        If the file is missing, has wrong keys or types, or names a file outside the folder.
    """
    path = folder / MANIFEST
    if not os.path.isfile(path):
        raise InputError(
            "expected a folder with run.json",
            where=folder,
            hint="give the folder that was named with --out",
        )
    check_inside(folder, [MANIFEST], path)
    content = checks.table(read_json(path), path)
    checks.known_keys(content, (*_NEEDED, "versions", "inputs"), path, needed=_NEEDED)
    checks.schema(content, SCHEMA, path)
    checks.choice(content["kind"], KINDS, f"{path}, kind")

    view = checks.table(content["view"], f"{path}, view")
    checks.known_keys(view, _VIEW, f"{path}, view", needed=("prob",))
    try:
        View(**view)
    except InputError as error:
        raise error.retold(f"{path}, view") from None

    if content["command"] is not None:
        _check_arguments(content["command"], f"{path}, command")
    for key in ("versions", "inputs"):
        if content.get(key) is not None:
            checks.table(content[key], f"{path}, {key}")

    files = checks.table(content["files"], f"{path}, files")
    if PAYLOAD not in files:
        raise InputError(f"expected {PAYLOAD} among the names", where=f"{path}, files")
    for name, digest in files.items():
        if not (isinstance(digest, str) and _HASH.fullmatch(digest)):
            expected = "expected a SHA-256 of 64 hexadecimal digits"
            raise InputError(expected, where=f"{path}, files, {name}", found=digest)
    check_inside(folder, files, f"{path}, files")
    return content


def _check_arguments(value: Any, where: str) -> None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InputError("expected a list of texts or null", where=where, found=value)


def check_inside(folder: Path, names: Iterable[str], where: object) -> None:
    """Refuse names that are not relative, or that lead out of the folder.

    Examples
    --------
    >>> check_inside(Path("run"), ["figures/contrasts.png"], "run.json")
    >>> check_inside(Path("run"), ["../notes.txt"], "run.json")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: run.json: expected names of files inside the folder, got '../notes.txt'.
    """
    top = os.path.realpath(folder)
    for name in names:
        parts = name.split("/")
        plain = not {"", ".", ".."} & set(parts) and not re.search(r"[\\\0]", name)
        rooted = PurePosixPath(name).is_absolute() or bool(os.path.splitdrive(name)[0])
        if plain and not rooted:
            place = os.path.realpath(os.path.join(top, *parts))
            if place.startswith(os.path.join(top, "")):
                continue
        problem = "expected names of files inside the folder"
        raise InputError(problem, where=where, found=name)
