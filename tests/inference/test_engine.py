"""Which engine gave the draws: said as a value, saved, and printed."""

from __future__ import annotations

import pytest
from helpers import monte_carlo as mc
from helpers.definitions import SETTINGS

from bayesbias.basics.errors import InputError
from bayesbias.inference import fitting
from bayesbias.inference.engine import Engine
from bayesbias.inference.fitting import fit, load_fit
from bayesbias.report.parts import how_sampled


@pytest.fixture(scope="module")
def quick(pairs):
    return fit(pairs, "crossed", engine="quick", **SETTINGS)


def test_contrasts_are_those_of_nuts(quick, crossed):
    assert crossed.engine == Engine()
    assert (quick.engine.name, quick.engine.asked, quick.engine.why_not) == ("quick", "quick", "")
    for estimand in ("population", "these_words"):
        ours, theirs = (one.contrasts(estimand=estimand, level="overall") for one in (quick, crossed))
        mc.assert_near(mc.mean_of_row(ours), mc.mean_of_row(theirs))


def test_it_is_kept_in_the_file(quick, tmp_path):
    quick.save(tmp_path / "fit.nc")
    again = load_fit(tmp_path / "fit.nc")
    assert again.engine == quick.engine
    assert again.contrasts().equals(quick.contrasts())


def test_it_is_said_where_the_fit_is_printed(quick, crossed):
    assert quick.engine.in_words() in repr(quick)
    assert quick.engine.in_words() in how_sampled(quick)
    assert crossed.engine.in_words() == ""
    assert quick.provenance["sampler"]["name"] == "importance sampling"


@pytest.mark.parametrize("why", ["pareto_k", "modes", "effective", "no mode", "pairwise"])
def test_nuts_in_its_place_says_why(why):
    said = Engine("nuts", "quick", None, 12.3, 1000, 4, why).in_words()
    assert said.startswith("NUTS in place of the quick engine, since ")


def test_a_model_without_reduction_says_so(pairs, crossed, monkeypatch):
    monkeypatch.setattr(fitting, "sample_pairwise", lambda *_: crossed.tree.copy())
    result = fit(pairs, "crossed", sampler="pairwise", engine="quick", seed=1)
    assert result.engine == Engine(asked="quick", why_not="pairwise")


def test_fits_of_earlier_versions_were_by_nuts():
    assert (
        Engine.of({"draws": 1})
        == Engine()
        == Engine.of(Engine().as_dict() and {"engine": Engine().as_dict()})
    )


def test_an_unknown_engine_is_refused(pairs):
    with pytest.raises(InputError, match="quick"):
        fit(pairs, "crossed", engine="quik")
