"""Which files a kind of run has: a name, and what goes into it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesbias.runs.manifest import MANIFEST, Manifest


@dataclass(frozen=True)
class Content:
    """What a run is made of: the result and the settings of its tables.

    ``predictions`` and ``problem`` belong to an analysis of sentiment: the predictions themselves, and why no model was
    fitted to them. ``models`` belongs to a fit of distances: what other models answer. ``spreadsheet_safe``: see
    `bayesbias.core.sheets`.
    """

    result: Any
    prob: float
    rope: float
    standard_rope: float
    predictions: Sequence[Any] = ()
    problem: str | None = None
    models: Any = None
    spreadsheet_safe: bool = False


def _nothing(content: Content) -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, eq=False)
class Layout:
    """The files of one kind of run.

    Attributes
    ----------
    kind : str
        As in the manifest.
    files : Mapping of str to function
        Name -> what it holds, of the content of a run: a frame (``.csv``, ``.tsv``, ``.parquet``), a mapping
        (``.json``), a text, a fit (``.nc``), or None where this run has no such file.
    own : function, optional
        Writes files whose number depends on the result into the folder of the run.
    own_names : tuple of str
        Patterns of the names that `own` gives.
    figures : tuple of str
        Patterns of the names of its figures, without ending; none where there are no figures.
    known_by : tuple of str
        Files that tell a run of this kind in a folder without a manifest, as this version wrote at first; none where
        such a run has always had one.
    read : function
        Returns the result that a folder holds.
    sources : tuple of str
        Patterns of the names of the files that `read` takes the result from.
    settings, covariates, versions : function
        What goes into the manifest.
    """

    kind: str
    files: Mapping[str, Callable[[Content], Any]]
    read: Callable[[Path, Manifest | None], Any]
    sources: tuple[str, ...]
    known_by: tuple[str, ...] = ()
    own: Callable[[Content, Path], object] | None = None
    own_names: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    settings: Callable[[Content], Mapping[str, float]] = field(
        default=lambda of: {"prob": of.prob, "rope": of.rope}
    )
    covariates: Callable[[Content], Mapping[str, Any]] = _nothing
    versions: Callable[[Content], Mapping[str, str]] = _nothing

    def write(self, content: Content, folder: Path) -> None:
        """Write all files of a run into an empty folder."""
        for name, of in self.files.items():
            value = of(content)
            if value is not None:
                _write(folder / name, value, content.spreadsheet_safe)
        if self.own is not None:
            self.own(content, folder)
        if self.figures:
            from bayesbias.plots import saving

            saving.save_figures(content.result, folder / "figures", prob=content.prob, rope=content.rope)

    @property
    def names(self) -> tuple[str, ...]:
        """Names, or patterns of names, of all files that such a run may have."""
        figures = (f"figures/{name}.{kind}" for name in self.figures for kind in ("png", "svg", "pdf"))
        return (MANIFEST, *self.files, *self.own_names, *figures)


def _write(path: Path, value: Any, spreadsheet_safe: bool) -> None:
    from bayesbias.core.files import whole_file
    from bayesbias.core.sheets import write_csv
    from bayesbias.core.wording import literal

    if path.suffix == ".nc":
        value.save(path)
        return
    with whole_file(path) as temporary:
        if path.suffix in (".csv", ".tsv"):
            separator = "," if path.suffix == ".csv" else "\t"
            write_csv(value, temporary, separator=separator, spreadsheet_safe=spreadsheet_safe)
        elif path.suffix == ".parquet":
            value.to_parquet(temporary, index=False, write_page_checksum=True)
        else:
            text = (
                literal(value, lines=True) if isinstance(value, str) else json.dumps(value, indent=2) + "\n"
            )
            temporary.write_text(text, encoding="utf-8")
