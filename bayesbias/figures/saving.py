"""Figures as bytes and as files: the same for the same figure on any day, all written or none."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.basics.errors import InputError, nearest
from bayesbias.basics.files import whole_file
from bayesbias.figures.style import SETTINGS, no_glyph_warnings, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMATS = ("pdf", "png", "svg")
type Plot = tuple[Callable[[Figure], object], tuple[float, float]]  # what draws, and inches


@styled
def write_figures(
    plots: Mapping[str, Plot], folder: str | os.PathLike[str], formats: str | Iterable[str]
) -> list[Path]:
    """Draw figures and write them into a folder, all or none; return the paths, figure by figure.

    Parameters
    ----------
    plots : mapping of str to (function, size)
        Name of the file -> what draws on the figure it is given, and its size in inches.
    folder : path
    formats : str or iterable of str
        Of ``pdf``, ``png`` and ``svg``.

    Raises
    ------
    InputError
        For an unknown format, or where the folder cannot be written.
    """
    from matplotlib.figure import Figure

    wanted = (formats,) if isinstance(formats, str) else tuple(dict.fromkeys(formats))
    for kind in wanted:
        if kind not in _FORMATS:
            hint = nearest(str(kind).strip("."), _FORMATS)
            raise InputError("unknown figure format", found=kind, valid=_FORMATS, hint=hint)
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file, not a folder", where=folder)
    made: dict[Path, bytes] = {}
    for name, (draw, size) in plots.items():
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        # Laid out once, so that each format has the same places and takes half the time.
        engine = figure.get_layout_engine()
        assert engine is not None
        with no_glyph_warnings():
            for _ in range(2):  # labels may take less room once the Axes have moved
                engine.execute(figure)
        figure.set_layout_engine("none")
        for kind in wanted:
            made[folder / f"{name}.{kind}"] = rendered(figure, kind)
    with _nothing_new_left(folder, made):
        for path, content in made.items():
            with whole_file(path) as temporary:
                temporary.write_bytes(content)
    return list(made)


@contextlib.contextmanager
def _nothing_new_left(folder: Path, files: Iterable[Path]) -> Iterator[None]:
    """Where the block fails, remove the files and folders that were not there before it."""
    new = [path for path in files if not path.exists()]
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        for path in made:
            # Not there, or something else has been put in since: then it is not ours to remove.
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def rendered(figure: Figure, kind: str) -> bytes:
    """Return the bytes of a figure: the same for the same figure, on any day."""
    import matplotlib as mpl

    settings: Any = {**SETTINGS, "svg.fonttype": "none", "svg.hashsalt": "bayesbias", "pdf.fonttype": 42}
    undated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    buffer = io.BytesIO()
    with mpl.rc_context(settings), no_glyph_warnings():
        figure.savefig(buffer, format=kind, dpi=200, facecolor="white", metadata=undated[kind])
    return buffer.getvalue()
