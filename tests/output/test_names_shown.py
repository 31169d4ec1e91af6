"""What the tab key shows of results: the questions and the data, not the machinery of the package."""

import pytest
from helpers.every_figure import DATA

FIT = [
    "compare", "contrasts", "default_rope", "diagnostics", "frequency", "idata", "interpret", "means", "new_words",
    "parameters", "plot", "predict_mean", "prior_sensitivity", "probability_of_superiority", "provenance",
    "reliability", "report", "save", "slopes", "spec", "standardized", "summary", "table",
    "variance_partition", "words",
]  # fmt: skip
KINDS = {  # study: a figure that is drawn from such a result
    "association": "plot_contrasts",
    "debiasing": "plot_changes",
    "corpora": "plot_corpora",
    "replicates": "plot_replicates",
    "sentences": "plot_seat",
    "sentiment": "plot_earnings",
    "wefat": "plot_covariate",
    "sweep": "plot_sweep",
    "responses": "plot_response_items",
}
MACHINERY = {
    "cached", "fits_to_check", "has_rope", "measured", "rope_in_words", "rows_in_words",
    "shown_with", "study", "table_draws", "tests_in_words", "MACHINERY",
}  # fmt: skip


def shown(names):
    return sorted(name for name in names if not name.startswith("_"))


def result_of(study):
    result = DATA[KINDS[study]][1]()
    assert result.study == study
    return result


@pytest.mark.parametrize("study", KINDS)
def test_a_result_shows_what_users_do_with_it_and_no_machinery(study):
    result = result_of(study)
    for names in (dir(result), dir(type(result))):
        assert {"interpret", "plot", "report", "save"} <= set(names)
        assert not MACHINERY & set(names)
    assert all(hasattr(result, name) for name in result.MACHINERY)


def test_a_fit_shows_its_tables_and_data():
    assert shown(dir(result_of("association"))) == FIT


def test_a_kernel_completes_the_same_names():
    dir2 = pytest.importorskip("IPython.utils.dir2").dir2
    assert shown(dir2(result_of("association"))) == FIT


def test_results_of_many_fits_show_their_fits():
    for study in ("debiasing", "corpora", "replicates"):
        assert "fits" in dir(result_of(study))
