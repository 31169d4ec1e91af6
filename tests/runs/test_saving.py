"""A result as a folder: of every kind, written, opened again, replaced, and described by its manifest."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import html
import inspect
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.covariates import made_up_test
from helpers.draws import made_up_comparison
from helpers.fits import made_up, pairs
from helpers.pages import without_figures, without_pictures
from helpers.seeds import shifted
from helpers.sweeps import made_up_sweep

import bayesbias as bb
from bayesbias.cli.main import cli
from bayesbias.core.errors import InputError
from bayesbias.core.seals import SEAL_KEY, State
from bayesbias.findings.of_result import FINDINGS, findings_of
from bayesbias.plots.saving import PLATES, plates_of
from bayesbias.report.page import PAGES
from bayesbias.runs.kinds import LAYOUTS, files_of_run
from bayesbias.runs.manifest import MANIFEST, matching
from bayesbias.studies.kinds import KINDS
from bayesbias.sweeps.kinds import kind_of_any
from bayesbias.sweeps.result import _CELL_COLUMNS, _ERRORS, _ROW_COLUMNS
from bayesbias.tables.coverage import Coverage

pytestmark = pytest.mark.slow  # figures of every kind are drawn

COMMAND = ["fit", "--embedding", "v.txt", "--prob", "0.8"]


@pytest.fixture(autouse=True)
def no_figures(monkeypatch):
    """Leave the drawing out, which takes seconds and is tested elsewhere."""
    without_figures(monkeypatch)


@pytest.fixture(scope="module")
def fit():
    return made_up(pairs(), values={"c": 0.9}, sd=0.01)


@pytest.fixture(scope="module")
def analysis():
    earnings = {"doctor": 2.0, "nurse": 1.0, "chef": 3.0, "clerk": 2.5}
    return bb.sentiment_analysis(bb.list_predictions("m1"), hypotheses=4, earnings=earnings)


@pytest.fixture(scope="module")
def sentiment_fit(analysis):
    return bb.studies.with_analysis(made_up(analysis.table, "sentiment"), analysis)


@pytest.fixture(scope="module")
def seat():
    result = bb.seat("weat6,sent-weat7", seed=shifted(1), cache=False)
    key = {"model": "minilm-static", "options": ""}
    frame = result.frame.assign(
        effect_size=[0.1 + 0.2, np.nan],
        **{name: [0.1 + 0.2, np.nan] for name in ("contrast", "sd", "standardized", "superiority")},
        **{f"hpdi_{end}": [by, np.nan] for end, by in (("low", -0.2), ("high", 0.9))},
        **{f"share_{of}": [0.25, np.nan] for of in ("word", "template", "sentence", "residual")},
        **{"converged": [True, np.nan], "prior_shift": [0.1, np.nan], "prior": ["cbar halved", ""]},
        test=["null", "NA"],
    )
    slopes = pd.DataFrame(
        [
            key
            | {
                "test": "null",
                "covariate": "NA",
                "level": "overall",
                "name": "all",
                "of": "null",
                "mean": 0.1 + 0.2,
            }
        ]
    )
    return dataclasses.replace(
        result,
        frame=frame,
        notes=pd.DataFrame([key | {"test": "null", "note": 'a, "note"\nof two lines'}]),
        dropped=pd.DataFrame([key | {"test": "null", "set": "targ1", "word": "NaN", "sentence": ""}]),
        failures=pd.DataFrame([key | {"test": "x", "reason": "none"}]),
        provenance={**result.provenance, "prob": 0.5},
        slopes=slopes,
    )


@pytest.fixture(scope="module")
def comparison():
    def of_two_words(seed):
        frame = pairs(seed=seed)
        return bb.load_distances(frame[frame["protected_word"].isin(["x0", "y0"])].reset_index(drop=True))

    return made_up_comparison(of_two_words(1), {"hard": of_two_words(2), "soft": of_two_words(3)})


@pytest.fixture(scope="module")
def wefat():
    return made_up_test(prob=0.7)


@pytest.fixture
def sweep(tmp_path):
    numbers = {"mean": 0.1 + 0.2, "prob": 0.89, "rope": 0.02}
    rows = [
        {"cell": "a", "embedding": "e", "seed": 1, "status": "ok", "trusted": False, **numbers},
        {"cell": "b", "embedding": "null", "status": "failed", "error": "no such file"},
    ]  # fmt: skip
    columns = {**_CELL_COLUMNS, **_ROW_COLUMNS, **_ERRORS}
    frame = pd.DataFrame({c: pd.array([row.get(c) for row in rows], dtype=t) for c, t in columns.items()})
    times = ["load_s", "sample_s", "fit_s", "summarise_s"]
    timing = pd.DataFrame([["a", 0.1, 0.2, 0.3, 0.4]], columns=["cell", *times])
    return bb.sweeps.SweepResult(frame, timing, tmp_path / "sweep", 1, 2)


# Without manifests once.
OLDEST = ["words", "sentences", "sentiment", "sentiment with a fit", "change", "sweep"]


# Six fits: where its files are gone through many times it is a claim.
QUICK = [pytest.param(k, marks=[pytest.mark.claim] * (k == "change")) for k in OLDEST]


@pytest.fixture(params=[*OLDEST, "wefat"])
def result(request):
    name = {
        "words": "fit",
        "sentences": "seat",
        "sentiment": "analysis",
        "sentiment with a fit": "sentiment_fit",
    }
    return request.param.split()[0], request.getfixturevalue(
        {**name, "change": "comparison"}.get(request.param, request.param)
    )


@pytest.fixture(scope="module")
def one_method(comparison):
    name, method = next(iter(comparison.methods.items()))
    tables = {which: comparison.provenance["tables"][which] for which in ("original", name)}
    provenance = {**comparison.provenance, "order": [name], "tables": tables}
    return dataclasses.replace(comparison, methods={name: method}, between={}, provenance=provenance)


def frames(result) -> dict[str, pd.DataFrame]:
    """Every table of a result."""
    if isinstance(result, bb.BiasFit):
        return {"table": result.table, "summary": result.summary(), "parameters": result.parameters()}
    if isinstance(result, bb.studies.Comparison):
        return {"changes": result.changes(), "contrasts": result.contrasts(), "ranking": result.ranking()}
    return {
        field.name: value
        for field in dataclasses.fields(result)
        if isinstance(value := getattr(result, field.name), pd.DataFrame)
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def same(opened, result) -> None:
    assert type(opened) is type(result)
    found, wanted = frames(opened), frames(result)
    assert list(found) == list(wanted)
    for name, frame in wanted.items():
        pd.testing.assert_frame_equal(
            found[name], frame, check_dtype=False, check_exact=True, check_categorical=False
        )
        empty = [c for c in frame if not frame[c].notna().any()]
        kinds = {c: frame[c].dtype.kind for c in frame if c not in empty and frame[c].dtype.kind in "iufb"}
        assert {c: found[name][c].dtype.kind for c in kinds} == kinds


# -- written and opened ----------------------------------------------------------------------------


def test_what_is_written_is_what_is_opened(result, tmp_path):
    kind, value = result
    files = bb.save_run(value, tmp_path / "run", prob=0.8, rope=0.05, command=COMMAND)
    run = bb.load_run(tmp_path / "run")
    same(run.result, value)
    assert (run.kind, run.command, run.path) == (kind, tuple(COMMAND), tmp_path / "run")
    assert (
        run.settings
        == {
            "words": {"prob": 0.8, "rope": 0.05, "standard_rope": 0.1},
            "change": {"prob": 0.8, "rope": 0.05},
            "sentiment": {"prob": 0.8},
            "sentences": {"prob": 0.5},
            "wefat": {"prob": 0.7},
            "sweep": {"prob": 0.89, "rope": 0.02},
        }[kind]
    )
    assert {"bayesbias", "python"} <= set(run.versions)
    assert f"Run of {kind} in {tmp_path / 'run'}, made by: bayesbias fit --embedding v.txt" in repr(run)
    # All that is there is in the manifest, as it is; and every name is one that such a run may have.
    stored = contents(tmp_path / "run")
    assert {path.relative_to(tmp_path / "run").as_posix() for path in files} == set(stored)
    assert stored.pop(MANIFEST)
    assert {name: (of["bytes"], of["sha256"]) for name, of in run.files.items()} == {
        name: (len(text), hashlib.sha256(text).hexdigest()) for name, text in stored.items()
    }
    assert matching(stored, LAYOUTS[kind].names) == set(stored)
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.kind = "other"


def test_names_of_figures_are_those_that_a_folder_is_checked_for(result, one_method):
    """Before the work: a figure that its layout does not know would be found in the way after it."""
    kind, value = result
    if kind == "sweep":
        assert plates_of(value) == []  # no cell has a contrast
        value = made_up_sweep([{"embedding": "a"}])
    values = [value]
    if kind == "change":
        values.append(one_method)
    for each in values:
        names = {plate.name for plate in plates_of(each)}
        assert names
        assert matching(names, LAYOUTS[kind].figures) == names


def test_the_same_result_gives_the_same_manifest_but_for_netcdf(analysis, tmp_path):
    for name in ("a", "b"):
        bb.save_run(analysis, tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert bb.load_run(tmp_path / "a").command is None


def test_an_analysis_comes_back_with_where_it_is_from(analysis, sentiment_fit, tmp_path):
    predictions = [bb.list_predictions("m1")]
    bb.save_run(analysis, tmp_path / "run", predictions=predictions, problem="no model was fitted")
    back = bb.load_run(tmp_path / "run").result
    assert back.provenance == analysis.provenance
    assert back.notes == analysis.notes
    read = bb.load_predictions(tmp_path / "run" / "predictions.csv")
    assert read.frame["probability"].tolist() == predictions[0].frame["probability"].tolist()
    stored = json.loads((tmp_path / "run" / "result.json").read_text())
    assert stored["problem"] == "no model was fitted"
    bb.save_run(sentiment_fit, tmp_path / "run")
    assert bb.studies.analysis_of(bb.load_run(tmp_path / "run").result).provenance == analysis.provenance


def test_a_fit_that_the_manifest_does_not_list_is_somebody_elses(analysis, fit, tmp_path):
    bb.save_run(analysis, tmp_path / "run")
    fit.save(tmp_path / "run" / "fit.nc")
    assert isinstance(bb.load_run(tmp_path / "run").result, bb.studies.SentimentAnalysis)


@pytest.mark.claim
def test_a_run_that_was_opened_has_the_page_of_its_folder(fit, tmp_path, monkeypatch):
    without_pictures(monkeypatch)
    bb.save_run(fit, tmp_path / "run", prob=0.5)
    opened = bb.load_run(tmp_path / "run")
    pages = [bb.write_report(run, tmp_path / "page.html").read_bytes() for run in (opened, tmp_path / "run")]
    assert pages[0] == pages[1]
    assert b"50%" in pages[0]


def test_coverage_is_written_where_the_fit_has_one(fit, tmp_path):
    bb.save_run(fit, tmp_path / "run")
    assert not (tmp_path / "run" / "coverage.csv").exists()
    group = {"listed": 2, "found": 1, "missing": ["a"], "matched": {"b": "B"}}
    account = Coverage({"x": group}, {"y": group}, notes=("thin",))
    with_account = dataclasses.replace(fit, provenance={**fit.provenance, "coverage": account.as_dict()})
    bb.save_run(with_account, tmp_path / "run")
    frame = pd.read_csv(tmp_path / "run" / "coverage.csv")
    pd.testing.assert_frame_equal(frame, account.frame(), check_dtype=False)


def test_a_fit_alone_is_a_run_too(fit, sentiment_fit, tmp_path):
    for value, kind in ((fit, "words"), (sentiment_fit, "sentiment")):
        value.save(tmp_path / "fit.nc")
        run = bb.load_run(tmp_path / "fit.nc")
        assert (run.kind, run.settings, run.command, dict(run.files)) == (kind, {}, None, {})


def test_every_kind_has_its_place(result):
    assert tuple(LAYOUTS) == (*KINDS, "sweep")
    assert all(kind == layout.kind for kind, layout in LAYOUTS.items())
    assert list(FINDINGS) == list(KINDS)
    assert tuple(PLATES) == tuple(PAGES) == (*KINDS, "sweep")
    for layout in LAYOUTS.values():
        assert set(layout.known_by) <= set(layout.names) | {"sweep.json"}
    kind, value = result
    assert [name for name, holds in KINDS.items() if holds(value)] == ([] if kind == "sweep" else [kind])
    assert kind_of_any(value) == kind
    if kind == "sweep":
        with pytest.raises(InputError, match="found: 'SweepResult'"):
            findings_of(value)
    for use in (findings_of, plates_of):
        with pytest.raises(InputError, match="found: 'dict'"):
            use({})


# -- replaced --------------------------------------------------------------------------------------


@pytest.mark.claim
def test_any_run_replaces_any_other_and_nothing_else(seat, analysis, sentiment_fit, fit, tmp_path):
    folder = tmp_path / "run"
    values = {"fit": sentiment_fit, "analysis": analysis, "seat": seat, "words": fit}
    for name, value in values.items():
        bb.save_run(value, tmp_path / name)
    for foreign in ({}, {"notes.txt": b"mine", "figures/mine.svg": b"mine"}):
        for kind in ("fit", "analysis", "seat", "words", "analysis"):
            value, names = values[kind], set(contents(tmp_path / kind))
            bb.save_run(value, folder)
            assert set(contents(folder)) == names | set(foreign)
            assert {name: contents(folder)[name] for name in foreign} == foreign
            assert files_of_run(folder) == names
            if not foreign:
                same(bb.load_run(folder).result, value)
        for name in ("notes.txt", "figures/mine.svg"):
            (folder / name).write_bytes(b"mine")


@pytest.mark.parametrize("result", QUICK, indirect=True)
def test_a_run_of_the_first_layout_is_opened_and_replaced(result, analysis, sweep, tmp_path):
    kind, value = result
    folder = tmp_path / "run"
    bb.save_run(value, folder, prob=0.8, rope=0.05)
    (folder / MANIFEST).unlink()
    if kind == "sweep":
        (folder / "sweep.json").write_text("{}")
    if kind == "sentiment":
        (folder / "provenance.json").unlink()
    run = bb.load_run(folder)
    assert run.kind == kind
    if kind == "sentiment" and not isinstance(value, bb.BiasFit):  # it did not say which earnings were taken
        published = bb.wordlists.load_occupations().earnings
        value = bb.sentiment_analysis(bb.list_predictions("m1"), hypotheses=4, earnings=published)
    same(run.result, value)
    assert (run.command, dict(run.files)) == (None, {})
    if kind in ("words", "change") or isinstance(value, bb.BiasFit):
        assert run.settings["prob"] == 0.8
    if kind == "sweep":
        return  # what it keeps stays, and it is written by a sweep alone
    (folder / "notes.txt").write_text("mine")
    bb.save_run(analysis, folder)
    bb.save_run(analysis, tmp_path / "fresh")
    assert contents(folder) == contents(tmp_path / "fresh") | {"notes.txt": b"mine"}


def test_the_folder_of_a_sweep_keeps_its_cells(sweep):
    cells = {"cells/a.json": b"{}", "cells/old.json": b"{}", "sweep.json": b"{}", "inputs.json": b"{}"}
    for name, text in cells.items():
        (sweep.out / name).parent.mkdir(parents=True, exist_ok=True)
        (sweep.out / name).write_bytes(text)
    sweep.frame.to_csv(sweep.out / "results.csv")  # as the sweep itself writes at its end
    with pytest.raises(InputError, match=r"a sweep that has not ended.*--resume"):
        bb.load_run(sweep.out)
    for _ in range(2):
        bb.save_run(sweep, sweep.out)
        tables = {"results.csv", "results.parquet", "timing.csv"}
        assert set(contents(sweep.out)) == {*cells, *tables, MANIFEST}
        run = bb.load_run(sweep.out)
        assert set(run.files) == tables
        assert (run.result.reused, run.result.others) == (1, 2)


# -- refused ---------------------------------------------------------------------------------------


def test_files_of_others_are_never_replaced(fit, seat, tmp_path):
    for name in ("words.csv", "fit.nc", "figures"):
        folder = tmp_path / name
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text("mine")
        with pytest.raises(InputError, match=rf"holds {name}, which no run wrote"):
            bb.save_run(fit, folder)
        assert contents(folder) == {name: b"mine"}
    bb.save_run(seat, tmp_path / "words.csv")  # which needs no such name
    assert (tmp_path / "words.csv" / "words.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("command", "worker"),
    [
        (["fit", "--distances", "TABLE"], "bayesbias.fit"),
        (
            ["compare", "--original-distances", "TABLE", "--debiased-distances", "TABLE"],
            "bayesbias.studies.change.compare",
        ),
        (["seat", "--tests", "weat6"], "bayesbias.studies.sentences.seat"),
        (["sentiment", "--predictions", "m1"], "bayesbias.studies.sentiment.sentiment_analysis"),
        (["demo"], "bayesbias.fit"),
    ],
)  # fmt: skip
def test_a_folder_is_checked_before_the_work(command, worker, tmp_path, monkeypatch):
    monkeypatch.setattr(worker, lambda *_, **__: pytest.fail("worked first"))
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / MANIFEST).write_text("mine")
    pairs().to_csv(tmp_path / "table.csv", index=False)
    arguments = [str(tmp_path / "table.csv") if word == "TABLE" else word for word in command]
    for out, says in (
        (tmp_path / "file", "the output must be a folder"),
        (tmp_path / "file" / "x", "the output must be a folder"),
        (tmp_path / "full", "run.json: is damaged"),
    ):
        done = CliRunner().invoke(cli, [*arguments, "--out", str(out)])
        assert isinstance(done.exception, InputError)
        assert says in str(done.exception)
    done = CliRunner().invoke(cli, [*arguments, "--out", ""])
    assert done.exit_code == 2
    assert "Invalid value for '--out': the path is empty" in done.stderr


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: {**c, "schema": 2}, "in a form that this version does not know; found: 2; valid: 1"),
        (lambda c: {**c, "kind": "other"}, "is damaged"),
        (lambda c: {**c, "files": {"../mine.txt": {"bytes": 1, "sha256": ""}}}, "is damaged"),
        (lambda c: {**c, "files": {"/mine.txt": {"bytes": 1, "sha256": ""}}}, "is damaged"),
        (lambda c: {**c, "files": {"C:mine.txt": {"bytes": 1, "sha256": ""}}}, "is damaged"),
        (lambda c: {**c, "files": ["pairs.csv"]}, "is damaged"),
        (lambda c: {**c, "command": [1]}, "is damaged"),
        (lambda c: {**c, "settings": {"prob": "high"}}, "is damaged"),
        (lambda c: {k: v for k, v in c.items() if k != "covariates"}, "is damaged"),
        (lambda c: [], "is damaged"),
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_said_and_nothing_is_touched(change, says, analysis, tmp_path):
    folder = tmp_path / "run"
    bb.save_run(analysis, folder)
    (tmp_path / "mine.txt").write_text("mine")
    content = json.loads((folder / MANIFEST).read_text())
    del content[SEAL_KEY]  # as first versions wrote it, and others do
    (folder / MANIFEST).write_text(json.dumps(change(content)))
    before = contents(tmp_path)
    for use in (lambda: bb.load_run(folder), lambda: bb.save_run(analysis, folder)):
        with pytest.raises(InputError, match=says):
            use()
    assert contents(tmp_path) == before


@pytest.mark.parametrize("result", [*QUICK, "wefat"], indirect=True)
def test_damage_to_any_file_is_seen(result, one_method, tmp_path):
    """Where the result is read from the file, it is refused; of any other file it is said, and the result is the same."""
    kind, value = result
    if kind == "change":
        value = one_method  # whose files are of every kind
    folder = tmp_path / "run"
    bb.save_run(value, folder)
    assert bb.load_run(folder).verified
    assert bb.runs.verify_run(folder).ok
    before = frames(bb.load_run(folder).result)
    stored = contents(folder)
    sources = matching(stored, LAYOUTS[kind].sources)
    others = sorted(set(stored) - set(sources) - {MANIFEST})  # passed over in one way: one is looked at
    looked_at = {*sources, MANIFEST, others[len(others) // 2]}
    for name, content in stored.items():
        if name not in looked_at:
            continue
        bad = bytearray(content)
        bad[len(bad) // 2] ^= 4
        (folder / name).write_bytes(bad)
        found = bb.runs.verify_run(folder)
        assert (found.files[0].name, found.files[0].state) == (name, State.DAMAGED)
        assert found.count(State.DAMAGED) == 1
        if name in sources or name == MANIFEST:
            with pytest.raises(InputError, match=f"{name}: is damaged"):
                bb.load_run(folder)
        else:
            with pytest.warns(UserWarning, match=f"{name} changed since the run was written"):
                again = bb.load_run(folder)
            for table, frame in frames(again.result).items():
                pd.testing.assert_frame_equal(frame, before[table], check_exact=True)
        (folder / name).write_bytes(content)
    assert sources
    for name in set(stored) - {MANIFEST}:  # and all at once
        (folder / name).write_bytes(stored[name] + b" ")
    assert bb.runs.verify_run(folder).count(State.DAMAGED) == len(stored) - 1


def test_runs_without_hashes_are_read_and_said_to_be_unverified(analysis, fit, tmp_path):
    for value, name in ((analysis, "sentiment"), (fit, "words")):
        folder = tmp_path / name
        bb.save_run(value, folder)
        content = json.loads((folder / MANIFEST).read_text())
        del content[SEAL_KEY]  # as the first manifests were
        (folder / MANIFEST).write_text(json.dumps(content, indent=2))
        run = bb.load_run(folder)
        assert not run.verified
        assert "unverified: written without hashes" in repr(run)
        found = bb.runs.verify_run(folder)
        assert (found.ok, found.files[0].name, found.count(State.UNVERIFIED)) == (True, MANIFEST, 1)
        (folder / MANIFEST).unlink()  # and there was none before
        assert "unverified" in repr(bb.load_run(folder))
        found = bb.runs.verify_run(folder)
        assert found.ok
        assert found.count(State.UNVERIFIED) > 5
        assert found.count(State.INTACT) == (name == "words")  # its fit is sealed in itself


def test_what_is_no_run_is_said(fit, analysis, tmp_path):
    bb.save_run(analysis, tmp_path / "run")
    (tmp_path / "run" / "pairs.csv").unlink()
    with pytest.raises(InputError, match=r"no complete run: pairs.csv is missing"):
        bb.load_run(tmp_path / "run")
    for value, says in (
        (None, "is no result; found: 'NoneType'"),
        (fit.table, "is no result; found: 'DataFrame'"),
    ):
        with pytest.raises(InputError, match=says):
            bb.save_run(value, tmp_path / "x")
    with pytest.raises(InputError, match="folder: must be a path; found: ''"):
        bb.save_run(fit, "")
    for settings in ({"prob": 1.0}, {"rope": 0.0}):
        with pytest.raises(InputError, match=r"between 0 and 1|rope: must be a finite number above 0"):
            bb.save_run(fit, tmp_path / "x", **settings)
    assert not (tmp_path / "x").exists()


# -- the command that made it ----------------------------------------------------------------------


def reproduced(value, run, tmp_path) -> str:
    """Of a folder's own words, beside the result that was written: what it answered once it need not compute again."""
    opened = dataclasses.replace(bb.load_run(run), result=value)
    page = bb.write_report(opened, tmp_path / "page.html").read_text(encoding="utf-8")
    at = page.index('<section id="again"')
    return html.unescape(page[page.index("<pre><code>", at) + 11 : page.index("</code></pre>", at)])


@pytest.mark.claim
def test_the_report_prints_the_command_that_made_the_run(
    fit, sentiment_fit, one_method, tmp_path, monkeypatch
):
    without_pictures(monkeypatch)
    given = ["fit", "--embedding", "/secret/my vectors.txt", "--wordlist", "C:\\mine.toml"]
    given += ["--out", "../a/run", "--prob", "0.8"]
    for value in (fit, sentiment_fit, one_method):
        bb.save_run(value, tmp_path / "run", command=given, prob=0.8)
        seed = value.provenance["sampler"]["seed"]
        wanted = f"bayesbias fit --embedding 'my vectors.txt' --wordlist mine.toml --out run --prob 0.8 --seed {seed}"
        assert reproduced(value, tmp_path / "run", tmp_path) == wanted
    given = [
        "sentiment",
        "--classifier",
        "transformers:org/model",
        "--classifier",
        "joblib:/a/b.joblib",
        "--seed",
        "7",
    ]
    bb.save_run(sentiment_fit, tmp_path / "run", command=given)
    assert reproduced(sentiment_fit, tmp_path / "run", tmp_path) == (
        "bayesbias sentiment --classifier transformers:org/model --classifier joblib:b.joblib --seed 7"
    )


@pytest.mark.claim
def test_a_run_from_python_is_made_again_in_python(fit, sentiment_fit, one_method, tmp_path, monkeypatch):
    """The lines are Python, and name functions and arguments that there are."""
    without_pictures(monkeypatch)
    about = {"wordlist": {"name": "religion", "controls": "2021"}, "embedding": {"source": "/a/v'.txt"}}
    of_vectors = dataclasses.replace(fit, provenance={**fit.provenance, "table": about})
    for value, wanted in (
        (fit, "bb.load_distances('pairs.csv')"),
        (
            of_vectors,
            "table = bb.distance_table(\"v'.txt\", 'religion', controls='2021')\nfit = bb.fit(table, 'crossed', seed=0",
        ),
        (sentiment_fit, "bb.sentiment_analysis(bb.list_predictions('m1'), hypotheses=4)"),
        (one_method, "after = {'hard': bb.load_distances("),
    ):
        bb.save_run(value, tmp_path / "run", prob=0.8)
        text = reproduced(value, tmp_path / "run", tmp_path)
        assert wanted in text
        assert text.endswith("'report.html', prob=0.8)")
        for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
            function = eval(ast.unparse(call.func), {"bb": bb})
            inspect.signature(function).bind(*call.args, **{word.arg: word.value for word in call.keywords})


def test_a_run_without_a_page_is_said(analysis, tmp_path):
    bb.save_run(analysis, tmp_path / "run")
    with pytest.raises(InputError, match="there is no page on such a run"):
        bb.write_report(tmp_path / "run", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()
