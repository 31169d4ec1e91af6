"""Saved figures are whole, undated and the same."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots import predictive, saving
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.saving import save_figures

ALL = (
    "priors",
    "connections",
    "words",
    "contrasts",
    "contrasts_class",
    "contrasts_word",
    "predictive",
)


@pytest.mark.claim
def test_both_formats_are_the_same_each_time(fit: BiasFit, tmp_path: Path) -> None:
    both = [save_figures(fit, tmp_path / name) for name in ("a", "b")]
    assert [path.read_bytes() for path in both[0]] == [path.read_bytes() for path in both[1]]


@pytest.mark.claim
def test_saved_figures_are_whole_undated_and_the_same(fit: BiasFit, tmp_path: Path) -> None:
    from PIL import Image

    open_figures = plt.get_fignums()
    first = save_figures(fit, tmp_path / "a")
    assert first == [tmp_path / "a" / f"{name}.{kind}" for name in ALL for kind in ("png", "svg")]
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == sorted(p.name for p in first)
    for path, again in zip(first[1::2], save_figures(fit, tmp_path / "b", "svg"), strict=True):
        assert path.read_bytes() == again.read_bytes()
    with Image.open(tmp_path / "a" / "words.png") as image:
        assert image.width == 1400
        assert image.info["dpi"] == pytest.approx((200, 200), abs=0.1)
    svg = (tmp_path / "a" / "words.svg").read_text(encoding="utf-8")
    assert ">hers<" in svg
    assert "<dc:date>" not in svg
    assert plt.get_fignums() == open_figures


def test_a_bar_counts_the_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said: list[object] = []

    @contextlib.contextmanager
    def ticking(*arguments: object) -> Iterator[Callable[[int], None]]:
        said.append(arguments)
        yield said.append

    plates = [Plate(name, lambda figure: figure.subplots(), (3, 2), "", "") for name in "ab"]
    monkeypatch.setattr(saving, "ticking", ticking)
    monkeypatch.setattr(saving, "plates_of", lambda *_: plates)
    saving._save(object(), tmp_path, ("png",), 0.89, 0.02)  # type: ignore[arg-type]
    assert said == [("drawing figures", 2), 1, 1]


@pytest.mark.claim
def test_nothing_is_left_behind_where_saving_fails(
    fit: BiasFit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match="did you mean 'png'"):
        save_figures(fit, out, ["pngs"])
    with monkeypatch.context() as patch:
        patch.setattr(predictive, "plot_ppc", lambda fit, ax=None: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            save_figures(fit, out, "svg")
    assert not out.exists()
    # What is drawn does not matter from here on.
    plain = Plate("", on_axes(lambda *_, ax: ax, None), (2, 2), "caption", "alt")
    few = [dataclasses.replace(plain, name=plate.name) for plate in saving.plates_of(fit)]
    monkeypatch.setattr(saving, "plates_of", lambda *_: few)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="No space left"):
            save_figures(fit, out, "svg")
    assert not out.exists()
    deep = tmp_path / "new" / "deeper"
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "words.svg").write_text("older")
    calls = 0

    def full_later(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 4:  # three files are written by then, one of them over an older one
            full(descriptor)

    for folder in (deep, tmp_path / "kept"):
        calls = 0
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full_later)
            with pytest.raises(InputError, match="No space left"):
                save_figures(fit, folder, "svg")
        assert calls == 5
    assert not (tmp_path / "new").exists()
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["words.svg"]
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="is a file"):
        save_figures(fit, file)


def test_a_run_that_was_opened_is_drawn_as_its_result(
    fit: BiasFit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bb.save_run(fit, tmp_path / "run")
    run = bb.load_run(tmp_path / "run")
    drawn = []
    monkeypatch.setattr(saving, "plates_of", lambda result, *_: drawn.append(result) or [])
    assert save_figures(run, tmp_path / "figures", "csv") == []
    assert drawn == [run.result]
