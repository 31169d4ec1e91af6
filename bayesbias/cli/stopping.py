"""What a stopped command says about the files that it was to write."""

from pathlib import Path

import click

_WATCHED = "bayesbias.outputs"  # what was there before, by path
_KEPT = "bayesbias.kept"


class StoppedError(Exception):
    """Ctrl-C or SIGTERM.

    Parameters
    ----------
    line : str
        What is said about it.
    code : int
        The exit code.
    """

    def __init__(self, line: str, code: int) -> None:
        super().__init__(line)
        self.code = code


def watch(context: click.Context, *paths: Path) -> None:
    """Note the state of files and folders that the command may write."""
    watched = context.meta.setdefault(_WATCHED, {})
    for path in paths:
        watched[path] = _state(path)


def keep(context: click.Context, line: str) -> None:
    """Note what is kept of a command that is being stopped, and how to continue."""
    context.meta[_KEPT] = line


def stop_line(context: click.Context) -> str:
    """Return what is said when a command is stopped."""
    if _KEPT in context.meta:
        return f"Stopped. {context.meta[_KEPT]}"
    for path, before in context.meta.get(_WATCHED, {}).items():
        if _state(path) == before:
            continue
        if any(path.glob("unfinished-*")):
            return f"Stopped. Predictions are kept in {path}; the same command continues."
        if path.is_dir():
            return f"Stopped. {path} has changed: check it with `bayesbias verify {path}`."
        return f"Stopped. {path} was already written."
    return "Stopped. Nothing was written."


def _state(path: Path) -> tuple[tuple[int, int] | None, ...]:
    """Return what changes when a file, or a run in a folder, is written."""
    states: list[tuple[int, int] | None] = []
    for item in (path, path / "run.json"):
        try:
            found = item.stat()
        except OSError:
            states.append(None)
        else:
            states.append((found.st_ino, found.st_mtime_ns))
    return tuple(states)
