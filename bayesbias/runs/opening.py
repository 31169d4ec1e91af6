"""A run read back from its folder or file, with the settings that its tables were written with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bayesbias.basics.errors import InputError, nearest
from bayesbias.inference.fitting import load_fit
from bayesbias.inference.posterior import BiasFit
from bayesbias.studies.comparison import Comparison, load_comparison

_VALID_RUNS = (
    "a folder that `bayesbias fit`, `compare` or `sentiment --bayes` wrote with --out, or a .nc file of a fit"
)


def open_run(path: Path) -> tuple[BiasFit | Comparison, dict[str, float]]:
    """Load a run; return it with the settings its tables were written with."""
    if path.is_dir():
        inside = sorted(item.name for item in path.iterdir())
        found = [name for name in ("comparison.json", "fit.nc") if name in inside]
        if len(found) == 2:
            raise InputError(
                "holds both a fit and a comparison",
                where=path,
                valid=f"{path / 'fit.nc'}, or a folder of one run",
            )
        if not found:
            fits = [name for name in inside if name.endswith(".nc")]
            hint = f"give one of its fits, such as {path / fits[0]}" if fits else None
            raise InputError("holds no run", where=path, found=inside[:6], valid=_VALID_RUNS, hint=hint)
        run = load_comparison(path) if found[0] == "comparison.json" else load_fit(path / "fit.nc")
        settings = _settings_of(path / "contrasts.csv")
        return run, settings or _settings_of(path / "summary.csv", ("prob",))
    if path.name == "comparison.json" and path.is_file():
        return load_comparison(path.parent), _settings_of(path.parent / "contrasts.csv")
    if not path.exists():
        beside = [item.name for item in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(
            "no such file or folder", where=path, valid=_VALID_RUNS, hint=nearest(path.name, beside)
        )
    if path.suffix != ".nc":
        raise InputError("is no run", where=path, found=path.suffix, valid=_VALID_RUNS)
    return load_fit(path), {}


def _settings_of(path: Path, names: Sequence[str] = ("prob", "rope")) -> dict[str, float]:
    """Return the probability and the ROPE of a table of contrasts, so that the report agrees with it."""
    import csv

    if not path.is_file():
        return {}
    try:
        with open(path, encoding="utf-8", newline="") as file:
            row = next(csv.DictReader(file), {})
        return {name: float(row[name]) for name in names}
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        raise InputError(
            f"is no table of {path.stem} as `bayesbias` writes it",
            where=path,
            valid=f"columns {' and '.join(names)} with a number in the first row",
            hint="remove it, and the report uses the defaults",
        ) from None
