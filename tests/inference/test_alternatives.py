"""The same table under several models, side by side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.seeds import shifted
from helpers.tables import grid

from bayesbias import load_distances
from bayesbias.core.errors import InputError
from bayesbias.inference import alternatives
from bayesbias.inference.alternatives import MODELS_COMPARED, answers_by_model
from bayesbias.inference.fitting import fit
from bayesbias.inference.prediction import loo
from bayesbias.models.loading import load_model

QUICK = {"draws": 200, "tune": 200, "chains": 2, "seed": shifted(1)}


@pytest.fixture(scope="module")
def table():
    return grid((3, 3), (3, 3), 4, 4)


@pytest.fixture(scope="module")
def own(table):
    return fit(table, "hierarchical", **QUICK)


@pytest.mark.claim
def test_each_model_answers_as_a_fit_of_its_own(table, own):
    frame = answers_by_model(own, prob=0.8)
    assert list(dict.fromkeys(frame["model"])) == ["hierarchical", "default", "crossed", "shared"]
    assert set(MODELS_COMPARED) == set(frame["model"])
    assert frame.columns.tolist() == [
        "model", "level", "name", "contrast", "words", "mean", "sd", "hpdi_low", "hpdi_high", "prob", "mcse_mean",
        "mcse_sd", "mcse_low", "mcse_high", "elpd", "elpd_diff", "se_diff", "mcse_elpd_diff", "mcse_se_diff",
        "high_pareto_k", "converged",
    ]  # fmt: skip
    found = {}
    for model in MODELS_COMPARED:
        alone = fit(table, model, **QUICK)
        found[model] = loo(alone)
        mine = frame[frame["model"] == model]
        assert mine["name"].tolist() == ["all", "class0", "class1"]
        assert mine["words"].tolist() == ["new", *2 * ["new" if model == "default" else "listed"]]
        for level in ("overall", "class"):
            expected = alone.contrasts(0.8, estimand="population", level=level)
            expected = expected[expected["contrast"] == "associated - different"]
            numbers = ["mean", "sd", "hpdi_low", "hpdi_high", "prob"]
            np.testing.assert_allclose(
                mine.loc[mine["level"] == level, numbers], expected[numbers], rtol=1e-9
            )
        assert mine["elpd"].unique() == pytest.approx([found[model].elpd])
        assert mine["converged"].unique().tolist() == [alone.diagnostics()["ok"]]
    best = max(found, key=lambda model: found[model].elpd)
    for model, of in found.items():
        (row,) = frame[(frame["model"] == model) & (frame["level"] == "overall")].itertuples()
        # Vehtari, Gelman & Gabry (2017), equation 24: pair by pair.
        apart = (of.elpd_i - found[best].elpd_i).to_numpy()
        assert row.elpd_diff == pytest.approx(apart.sum(), abs=1e-6)
        assert row.se_diff == pytest.approx(np.sqrt(len(apart)) * apart.std(), abs=1e-6)


def test_repeated_rows_that_the_fit_kept_are_kept_by_the_other_models(table):
    twice = pd.concat([table, table.head(4)], ignore_index=True)
    own = fit(load_distances(twice, repeats="keep"), "hierarchical", engine="quick", **QUICK)
    frame = answers_by_model(own, ["additive"])  # LOO compares models of the same rows alone
    assert frame["model"].unique().tolist() == ["hierarchical", "additive"]


def test_the_other_models_are_sampled_as_the_fit_was(table, monkeypatch):
    asked = {**QUICK, "engine": "quick", "target_accept": 0.97}
    own = fit(table, "hierarchical", **asked)
    seen = []
    monkeypatch.setattr(
        alternatives, "fit_model", lambda *given, **settings: seen.append(settings) or fit(*given, **settings)
    )
    answers_by_model(own, ["additive"])
    assert seen == [{**asked, "progress": False}]


def test_a_model_that_was_asked_for_is_not_fitted_twice(own):
    frame = answers_by_model(own, ["hierarchical"])
    assert frame["model"].unique().tolist() == ["hierarchical"]
    assert frame[["elpd_diff", "se_diff"]].to_numpy().tolist() == 3 * [[0.0, 0.0]]


def test_models_of_other_things_are_refused(own):
    with pytest.raises(InputError, match="models of one table are compared"):
        answers_by_model(own, ["change"])
    with pytest.raises(InputError, match=r"between 0 and 1"):
        answers_by_model(own, prob=2)


def test_two_models_of_one_name_are_refused(own, tmp_path):
    text = load_model("crossed").text.replace("lam = 2", "lam = 3")
    (tmp_path / "crossed.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="two models of one name; found: 'crossed'"):
        answers_by_model(own, ["crossed", tmp_path / "crossed.toml"])


@pytest.mark.slow
def test_a_model_made_from_a_shipped_one_stands_beside_it(table, tmp_path):
    text = load_model("hierarchical").text.replace("lam = 2", "lam = 3")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    frame = answers_by_model(fit(table, tmp_path / "mine.toml", **QUICK), ["hierarchical"])
    assert frame["model"].unique().tolist() == ["hierarchical", "hierarchical (shipped)"]
