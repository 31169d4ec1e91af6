"""A run folder in the place of a result: where fits are taken, and what `load_run` returns."""

import pandas as pd
import pytest
from helpers.draws import made_up_fit
from helpers.every_figure import DATA
from helpers.tables import grid

import bayesbias as bb
from bayesbias.core import InputError

KEYS = ["level", "name", "contrast", "estimand"]


@pytest.fixture(scope="module")
def fit():
    return made_up_fit(grid(), "crossed")


@pytest.fixture(scope="module")
def folder(fit, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    files = fit.save(folder)
    assert files[-1] == folder / "run.json"
    return folder


def test_a_fit_is_saved_as_one_file_or_as_a_run(fit, folder, tmp_path):
    path = tmp_path / "fit.nc"
    assert fit.save(path) == [path]
    expected = fit.contrasts(detail=True)
    for again in (bb.load_fit(path), bb.load_fit(str(folder)), bb.load_run(folder).result):
        pd.testing.assert_frame_equal(again.contrasts(detail=True), expected)
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_folder_of_another_result_holds_no_fit(tmp_path):
    DATA["plot_earnings"][1]().save(tmp_path / "run")
    with pytest.raises(InputError, match=r"expected the run of a fit.*sentiment.*load_run"):
        bb.load_fit(tmp_path / "run")
    for plot in (bb.plot_words, bb.plot_contrasts):
        with pytest.raises(InputError, match="expected a fit"):
            plot(tmp_path / "run")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"run\.json"):
        bb.load_fit(tmp_path / "empty")


def test_a_run_has_its_tables(folder):
    run = bb.load_run(folder)
    assert set(run.tables) == {path.stem for path in folder.glob("*.csv")}
    assert next(iter(run.tables)) == "contrasts"
    assert "contrasts" in repr(run.tables)
    for name, frame in run.tables.items():
        written = pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""])
        assert list(frame) == list(written)
        assert len(frame) == len(written)
    written = pd.read_csv(folder / "contrasts.csv").set_index(KEYS)
    contrasts = run.tables["contrasts"].set_index(KEYS)
    assert contrasts["mean"].tolist() == pytest.approx(written["mean"].tolist(), abs=1e-6)
    with pytest.raises(KeyError, match="contrasts, "):
        run.tables["contrast"]


def test_a_table_beside_those_of_the_study_is_read_from_its_file(fit, tmp_path):
    from bayesbias.core.sections import Section

    extra = Section("extra", "More", lambda: pd.DataFrame({"x": [1, 2]}))
    bb.save_run(fit, tmp_path / "run", more=[extra])
    assert bb.load_run(tmp_path / "run").tables["extra"]["x"].tolist() == [1, 2]


def test_a_run_has_its_figures_sentences_and_page(fit, folder, tmp_path):
    run = bb.load_run(folder)
    assert run.interpret().headline == fit.interpret().headline
    frame = run.plot("words").data
    pd.testing.assert_frame_equal(frame, fit.plot("words").data)
    with pytest.raises(InputError, match="words"):
        run.plot("word")
    page = run.report(tmp_path / "run.html")
    assert "<html" in page.read_text(encoding="utf-8")
    assert {"interpret", "plot", "report", "tables", "result"} <= set(dir(run))


@pytest.mark.slow
def test_a_run_is_shown_with_its_own_intervals(fit, tmp_path):
    bb.save_run(fit, tmp_path / "run", view=bb.View(prob=0.5))
    run = bb.load_run(tmp_path / "run")
    assert set(run.tables["contrasts"]["prob"]) == {0.5}
    assert "50%" in run.plot().data.attrs["note"]
    assert run.interpret().headline == fit.interpret(prob=0.5).headline


@pytest.mark.parametrize(
    "plot", [bb.plot_contrasts, bb.plot_connections, bb.plot_words, bb.plot_ppc, bb.plot_priors]
)
def test_a_figure_of_a_fit_takes_its_run(plot, fit, folder):
    expected = plot(fit).data
    for given in (folder, str(folder), bb.load_run(folder)):
        pd.testing.assert_frame_equal(plot(given).data, expected)


def test_several_runs_are_drawn_side_by_side(fit, folder):
    ax = bb.plot_contrasts({"one": folder, "two": fit})
    assert set(ax.data["fit"]) == {"one", "two"}
    assert bb.plot_contrasts([folder, fit]).data["fit"].nunique() == 2


@pytest.mark.parametrize(
    "figure", [pytest.param("plot_changes", marks=pytest.mark.slow), "plot_earnings"]
)
def test_figures_of_other_results_take_their_runs(figure, tmp_path):
    plot, make = DATA[figure]
    result = make()
    result.save(tmp_path / "run")
    pd.testing.assert_frame_equal(plot(tmp_path / "run").data, plot(result).data)


def test_what_compares_fits_takes_their_runs(fit, folder):
    other = made_up_fit(grid(), "crossed", seed=8)
    pd.testing.assert_frame_equal(
        bb.difference(folder, other).table, bb.difference(fit, other).table
    )
    expected = bb.compare_models({"a": fit, "b": other})
    pd.testing.assert_frame_equal(bb.compare_models({"a": str(folder), "b": other}), expected)
    assert bb.inference.loo(folder).elpd == bb.inference.loo(fit).elpd
    with pytest.raises(InputError, match="expected a fit"):
        bb.compare_models({"a": folder, "b": "nowhere"})


def test_limits_are_checked_on_a_run(fit, folder):
    limits = "converged, associated - different>-0.5"
    asked = bb.studies.check_requirements
    # What is not known is NaN, which equals nothing.
    assert repr(asked(str(folder), limits)) == repr(asked(fit, limits))


@pytest.mark.parametrize("name", ["plot_contrasts", "plot_words", "plot_ppc", "plot_controls"])
def test_axes_name_their_figure(name):
    plot, make = DATA[name]
    ax = plot(make())
    title = ax.get_title(loc="left")
    assert repr(ax) == f"Axes: {' '.join(title.split())}"
    ax.set_title("Mine")
    assert repr(ax) == "Axes: Mine"
