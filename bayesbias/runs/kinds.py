"""The kinds of runs there are, and what a folder holds of one."""

from __future__ import annotations

from pathlib import Path

from bayesbias.core.errors import InputError
from bayesbias.runs import change, sentences, sentiment, sweep, wefat, words
from bayesbias.runs.layout import Layout
from bayesbias.runs.manifest import MANIFEST, matching, read_manifest

LAYOUTS: dict[str, Layout] = {
    room.LAYOUT.kind: room.LAYOUT for room in (words, sentences, sentiment, change, wefat, sweep)
}


def files_of_run(folder: Path) -> set[str]:
    """Return the names of the files in a folder that belong to a run; empty where there is none.

    A run without a manifest, as this version wrote at first, is told by files that such a run always has; then its
    files are those with names that it may have.

    Raises
    ------
    InputError
        Where the manifest is damaged, so that nobody can say.
    """
    manifest = read_manifest(folder, LAYOUTS)
    if manifest is not None:
        return {MANIFEST, *manifest.files}
    names = {
        path.relative_to(folder).as_posix()
        for path in (*folder.glob("*"), *folder.glob("figures/*"))
        if path.is_file()
    }
    files: set[str] = set()
    for layout in LAYOUTS.values():
        if layout.known_by and all(name in names for name in layout.known_by):
            files |= matching(names, layout.names)
    return files


def check_run_folder(folder: Path, kind: str) -> None:
    """Refuse, before the work and not after it, a folder that a run of this kind cannot be written into.

    Raises
    ------
    InputError
        Where it is a file, cannot be made or written, or holds a file that no run wrote under a name that this run
        may need.
    """
    from bayesbias.core.files import check_folder
    from bayesbias.runs.transaction import settle

    check_folder(folder)
    if not folder.is_dir():
        return
    settle(folder)
    names = {path.relative_to(folder).as_posix() for path in (*folder.glob("*"), *folder.glob("figures/*"))}
    taken = matching(names, LAYOUTS[kind].names) - files_of_run(folder)
    if (folder / "figures").exists() and not (folder / "figures").is_dir():
        taken.add("figures")
    if taken:
        raise InputError(
            f"holds {', '.join(sorted(taken)[:4])}, which no run wrote",
            where=folder,
            hint="move it away, or name another folder",
        )
