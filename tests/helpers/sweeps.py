"""A small plan with its inputs."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.inference.view import verdict
from bayesbias.sweeps.result import CELL_COLUMNS, SweepResult, frame_of
from helpers.seeds import shifted

QUICK = {"draws": 100, "tune": 100, "chains": 2, "seed": shifted(7)}


LISTS = {
    "pets": (
        ("cat", "kitten", "tom"),
        ("aloof", "sly", "quiet"),
        ("dog", "puppy", "hound"),
        ("loyal", "loud", "keen"),
    ),
    "meals": (
        ("soup", "stew", "broth"),
        ("warm", "thin", "quiet"),
        ("cake", "tart", "bun"),
        ("sweet", "soft", "sly"),
    ),
}


def write_inputs(folder: Path) -> Path:
    """Write two embeddings, two word lists and a plan of all with two models; return the plan."""
    words = sorted({word for groups in LISTS.values() for group in groups for word in group})
    for number in range(2):
        vectors = np.random.default_rng(number).normal(size=(len(words), 12))
        np.savez(folder / f"e{number}.npz", words=np.array(words), vectors=vectors)
    for name, (x, a, y, b) in LISTS.items():
        classes = [
            f'[[class]]\nname = "{title}"\nprotected = {json.dumps(p)}\nattributes = {json.dumps(s)}\n'
            for title, p, s in (("one", x, a), ("two", y, b))
        ]
        (folder / f"{name}.toml").write_text("schema = 1\n" + "\n".join(classes), encoding="utf-8")
    write_plan(folder)
    return folder / "plan.toml"


def arrays_of(path: Path) -> dict[str, np.ndarray]:
    """Read all arrays of an npz file, and close it."""
    with np.load(path) as held:
        return dict(held)


def write_plan(folder: Path, **changes) -> None:
    """Write the plan with some of its keys changed; a key that is None is left out."""
    plan = {
        "embeddings": ["e0.npz", "e1.npz"],
        "wordlists": ["pets.toml", "meals.toml"],
        "models": ["additive", "crossed"],
        **changes,
    }
    settings = {**QUICK, **plan.pop("settings", {})}
    lines = [
        "schema = 1",
        *(f"{key} = {json.dumps(value)}" for key, value in plan.items() if value is not None),
    ]
    lines += ["[settings]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
    (folder / "plan.toml").write_text("\n".join(lines), encoding="utf-8")


def results(out: Path) -> tuple[bytes, bytes]:
    return (out / "results.csv").read_bytes(), (out / "results.parquet").read_bytes()


def cell_files(out: Path) -> dict[str, int]:
    """Return when each file of cells was written; a temporary one may go while it is looked at."""
    times = {}
    for path in (out / "cells").iterdir():
        with contextlib.suppress(FileNotFoundError):
            times[path.name] = path.stat().st_mtime_ns
    return times


def made_up_sweep(
    cells: list[dict[str, Any]], contrast: str = "associated - different"
) -> SweepResult:
    """Return a sweep with one contrast in each cell: labels, ``standardized`` and ``distance`` with the ends 0.3 and 0.05 away.

    ``classes`` gives the distance of each class, with ends as far away.
    A cell whose ``standardized`` is None has none, as with Student-t noise; one with an ``error`` has failed.
    """
    rows = []
    for at, given in enumerate(cells):
        about = {
            "cell": str(at),
            "wordlist": "pets.toml",
            "model": "crossed",
            "seed": 7,
            "status": "ok",
            "trusted": True,
        }
        about |= {name: value for name, value in given.items() if name in CELL_COLUMNS}
        if "error" in given:
            rows.append({**about, "status": "failed", "trusted": None})
            continue
        same = {
            "level": "overall",
            "name": "all",
            "term": contrast,
            "estimand": "population",
            "prob": 0.89,
        }
        for quantity, default, width in (("contrast", -0.05, 0.05), ("standardized", -0.5, 0.3)):
            mean = given.get("distance" if quantity == "contrast" else quantity, default)
            if mean is None:
                continue
            row = {
                **about,
                **same,
                "quantity": quantity,
                "mean": mean,
                "hpdi_low": mean - width,
                "hpdi_high": mean + width,
            }
            row |= {
                "p_below_zero": 0.875,
                "p_in_rope": 0.1,
                "rope": 0.02,
                "unit": "cosine distance",
            }
            if quantity == "standardized":
                row |= {"rope": 0.1, "unit": given.get("unit", "sd of neutral pairs")}
                row["verdict"] = verdict(row["hpdi_low"], row["hpdi_high"], 0.1)
                row |= {
                    "probability_of_superiority": 0.64,
                    "probability_of_superiority_low": 0.55,
                    "probability_of_superiority_high": 0.73,
                }
            rows.append(row)
        for name, mean in given.get("classes", {}).items():
            ends = {"hpdi_low": mean - 0.05, "hpdi_high": mean + 0.05}
            row = {
                **about,
                **same,
                "level": "class",
                "name": name,
                "quantity": "contrast",
                "mean": mean,
            }
            rows.append(row | ends)
    return SweepResult(frame_of(rows), Path("out"), 0)
