"""Which engine gave the draws: said as a value, saved, and printed."""

from __future__ import annotations

import numpy as np
import pytest
from bayesbias.report.again import sampler_settings
from bayesbias.report.parts import how_sampled
from helpers import monte_carlo as mc
from helpers.definitions import SETTINGS
from helpers.seeds import shifted
from scipy import stats

from bayesbias.core.errors import InputError
from bayesbias.inference import fitting
from bayesbias.inference.engine import Engine
from bayesbias.inference.fitting import fit, load_fit
from bayesbias.tables.reading import load_distances


@pytest.fixture(scope="module")
def quick(pairs):
    return fit(pairs, "crossed", engine="quick", **SETTINGS)


def test_contrasts_are_those_of_nuts(quick, crossed):
    assert crossed.engine == Engine()
    assert (quick.engine.name, quick.engine.asked, quick.engine.why_not) == ("quick", "quick", "")
    for estimand in ("population", "listed_words"):
        ours, theirs = (
            one.contrasts(estimand=estimand, level="overall") for one in (quick, crossed)
        )
        mc.assert_near(mc.mean_of_row(ours), mc.mean_of_row(theirs))


@pytest.mark.slow
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
    monkeypatch.setattr(fitting, "sample_pairwise", lambda *_: crossed.idata.copy())
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


PUBLISHED = [
    "google_2021/genderGoogle", "google_2021/raceGoogle", "google_2021/religionGoogle",
    "reddit_pairs_2021/debiasedGenderReddit", "reddit_pairs_2021/debiasedRaceReddit",
    "reddit_pairs_2021/debiasedReligionReddit", "reddit_pairs_2021/genderReddit", "reddit_pairs_2021/raceReddit",
    "reddit_pairs_2021/religionReddit", "weat/weat_1_reddit", "weat/weat_7_reddit",
    "with_controls_2022/gender_group_reddit_dataset", "with_controls_2022/race_group_reddit_dataset",
    "with_controls_2022/religion_group_glove_dataset", "with_controls_2022/religion_group_reddit_dataset",
]  # fmt: skip


@pytest.mark.claim
def test_most_published_tables_need_no_help(shared):
    tables = [load_distances(shared / f"data/bayesbias_distances/{name}.csv") for name in PUBLISHED]
    found = [
        fit(table, seed=shifted(5), engine="quick", draws=500, progress=False).engine
        for table in tables
    ]
    assert sum(how.name == "quick" for how in found) >= 12
    assert {how.why_not for how in found} <= {"", "pareto_k", "modes"}


@pytest.mark.claim
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_tables_have_the_answers_of_nuts(name, shared):
    """Means, spreads and ends of every contrast, within their Monte Carlo errors; ends by batches, of which there are 20."""
    table = load_distances(shared / f"data/bayesbias_distances/{name}.csv")
    fits = {
        engine: fit(table, seed=shifted(5), engine=engine, progress=False)
        for engine in ("quick", "nuts")
    }
    for estimand in ("population", "listed_words"):
        for level in ("overall", "class", "attribute_set"):
            ours, theirs = (
                fits[e].contrasts(estimand=estimand, level=level) for e in ("quick", "nuts")
            )
            mc.assert_near(mc.mean_of_row(ours), mc.mean_of_row(theirs), (estimand, level))
            mc.assert_near(mc.log_sd_of_row(ours), mc.log_sd_of_row(theirs), (estimand, level))
            for end in ("low", "high"):
                apart = np.abs(ours[f"hpdi_{end}"] - theirs[f"hpdi_{end}"])
                error = np.hypot(ours[f"mcse_{end}"], theirs[f"mcse_{end}"])
                assert (apart / error).max() < stats.t.isf(mc.CHANCE / 2 / len(ours), 19), (
                    estimand,
                    level,
                    end,
                )


def test_what_repeats_a_fit_names_the_engine(quick, crossed):
    assert sampler_settings(quick.provenance)["engine"] == "quick"
    assert "engine" not in sampler_settings(crossed.provenance)
