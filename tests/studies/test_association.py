"""What a fit of distances shows and warns of."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.fits import made_up
from helpers.tables import grid

import bayesbias as bb
from bayesbias.inference.priors import prior_shift
from bayesbias.inference.view import TOO_CLOSE, Verdict, sure_side
from bayesbias.output import to_json, to_text
from bayesbias.studies.association import interpretation, sections
from bayesbias.studies.association.interpretation import _interval_warning, rows_of
from bayesbias.studies.association.sections import models_section
from bayesbias.studies.common import in_words

SMALL = {
    "a": {"protected": ["she", "woman"], "attributes": ["kind", "gentle"]},
    "b": {"protected": ["he", "man"], "attributes": ["strong", "tough"]},
}
QUICK = {"seed": 1, "engine": "quick", "draws": 500, "progress": False}


@pytest.fixture(scope="module")
def fit():
    return bb.fit(
        bb.distance_table("minilm-static", SMALL, controls="none"), **{**QUICK, "draws": 1000}
    )


def warned(fit, word):
    return [text for text in bb.interpret(fit).warnings if word in text]


@pytest.mark.slow
def test_other_models_are_shown_in_every_output(fit, tmp_path):
    more = [models_section(fit, 0.89)]
    assert "hierarchical" in to_text(fit, more=more)
    assert to_json(fit, more=more)["models"][0]["model"] == "default"
    files = bb.save_run(fit, tmp_path / "run", figures=[], more=more)
    assert "models.csv" in [path.name for path in files]
    assert "hierarchical" in (tmp_path / "run" / "result.txt").read_text()


@pytest.mark.slow
def test_frequency_is_shown_in_every_output(fit, tmp_path):
    words = [*fit.table["protected_word"], *fit.table["attribute"]]
    known = bb.studies.with_frequency(fit, {word: 10.0 ** -len(word) for word in words})
    assert "without and with slopes on log frequency" in to_text(known)
    assert {"frequency", "frequency_groups"} <= set(json.loads(json.dumps(to_json(known))))
    bb.save_run(known, tmp_path / "run", figures=[])
    again = bb.load_run(tmp_path / "run").result
    assert bb.studies.frequency_of(again) is not None


def test_a_result_that_rests_on_its_priors_has_a_warning(fit):
    """Of a difference that is drawn from its prior, half of log 2 of the SD goes with a doubled weight."""
    assert prior_shift(fit)[1] < -0.3
    assert len(warned(fit, "depends on the priors")) == 1
    table = bb.distance_table("minilm-static", "gender", controls="none")
    assert not warned(bb.fit(table, **QUICK), "depends on the priors")


def test_a_class_with_one_word_has_a_warning():
    table = grid(words=(1, 3), attributes=(3, 3))
    assert warned(made_up(table, "crossed"), "class0 has one word")
    assert not warned(made_up(grid(), "crossed"), "has one word")


def test_observed_differences_outside_their_intervals_have_a_warning():
    """The model hierarchical with draws that allow no word to differ, and words that do."""
    table = grid(words=(8, 8), attributes=(3, 3))
    none = made_up(table, "hierarchical", sd=0.0005)
    assert _interval_warning(none, bb.View())
    # The mean that is printed beside an interval lies in it; the observed one has a column of its own.
    words = none.contrasts(level="word", estimand="listed_words", detail=True)
    assert words["mean"].between(words["hpdi_low"], words["hpdi_high"]).all()
    assert not words["observed"].between(words["hpdi_low"], words["hpdi_high"]).all()
    by_kind = table.groupby(["protected_word", "connection"])["distance"].mean().unstack()
    sides = words["contrast"].str.split(" - ", expand=True)
    known = [
        by_kind.loc[name, a] - by_kind.loc[name, b]
        for name, a, b in zip(words["name"], sides[0], sides[1], strict=True)
    ]
    np.testing.assert_allclose(words["observed"], known, atol=1e-12)
    assert "observed" not in none.contrasts(estimand="population", detail=True)
    fitted = bb.fit(table, "hierarchical", **QUICK)
    assert not _interval_warning(fitted, bb.View())


@pytest.fixture(scope="module")
def gender():
    return bb.distance_table("minilm-static", "gender", controls="2021")


def changed(table, make):
    """Return the table with other distances."""
    rng = np.random.default_rng(1)
    return dataclasses.replace(
        table, frame=table.frame.assign(distance=make(rng, len(table.frame)))
    )


@pytest.mark.slow
def test_a_failed_predictive_check_is_in_every_output(gender):
    """Noise with two degrees of freedom has no normal shape; normal noise has."""
    heavy = changed(gender, lambda rng, n: np.clip(0.9 + 0.05 * rng.standard_t(2, n), 0, 2))
    fit = bb.fit(heavy, **QUICK)
    assert len(warned(fit, "Posterior predictive")) == 1
    assert "Posterior predictive" in to_text(fit)
    assert any("predictive" in text for text in to_json(fit)["interpretation"]["warnings"])
    normal = changed(gender, lambda rng, n: 0.9 + 0.05 * rng.standard_normal(n))
    assert not warned(bb.fit(normal, **QUICK), "Posterior predictive")


def test_vectors_in_one_direction_have_a_warning(gender):
    near = changed(gender, lambda rng, n: 0.65 + 0.05 * rng.standard_normal(n))
    assert "--postprocess center" in warned(bb.fit(near, **QUICK), "mean cosine")[0]
    far = changed(gender, lambda rng, n: 0.75 + 0.05 * rng.standard_normal(n))
    assert not warned(bb.fit(far, **QUICK), "mean cosine")


def test_mostly_missing_controls_have_a_warning(fit):
    controls = {"listed": 3, "found": 1, "missing": ["x", "y"]}
    known = {"listed": 3, "found": 3, "missing": []}
    coverage = {"protected": {"a": known}, "attributes": {"a": controls, "neutral": controls}}
    less = dataclasses.replace(fit, provenance={**fit.provenance, "coverage": coverage})
    (said,) = warned(less, "--controls")
    assert "attributes of a (1 of 3 found), neutral controls (1 of 3 found)" in said
    assert not warned(fit, "missing")


def test_contrasts_have_the_names_of_the_list(fit):
    """Only where sets have names of their own: those of gender are called like the classes."""
    classes = [
        {"name": name, "attribute_class": of, **SMALL[key]}
        for name, of, key in (("her", "soft", "a"), ("his", "hard", "b"))
    ]
    named = bb.distance_table("minilm-static", {"name": "small", "class": classes}, controls="none")
    text = to_text(bb.fit(named, **QUICK))
    assert "her: soft - hard" in text
    assert "hard: his - her" in text
    assert "class a" in to_text(fit)
    wide = to_text(bb.fit(bb.distance_table("minilm-static", "weat6", controls="2021"), **QUICK))
    assert "career: male_names - female_names" in wide  # numbers stand closer together
    assert max(map(len, wide.splitlines())) <= 80


def test_a_set_that_is_closer_to_both_classes_is_said_to_be(fit):
    lists = {
        "women": ("woman girl mother aunt wife", "home parents children family wedding"),
        "men": ("man boy father uncle husband", "executive salary office business career"),
    }
    listed = {
        name: {"protected": words.split(), "attributes": of.split()}
        for name, (words, of) in lists.items()
    }
    found = bb.fit(bb.distance_table("minilm-static", bb.load_wordlist(listed)), **QUICK)
    rows = found.contrasts(level="class", estimand="population").set_index("name")
    assert rows.loc["women", "hpdi_high"] < 0 < rows.loc["men", "hpdi_low"]
    said = bb.interpret(found).headline
    assert "both classes are closer to the attributes of women than" in said
    assert "both classes" not in bb.interpret(fit).headline


QUERY = {
    "target_sets": [["math", "algebra", "geometry"], ["poetry", "art", "dance"]],
    "target_sets_names": ["Science", "Arts"],
    "attribute_sets": [["he", "man", "son"], ["she", "woman", "daughter"]],
    "attribute_sets_names": ["Male terms", "Female terms"],
}


@pytest.fixture(scope="module")
def query():
    return bb.fit(bb.distance_table("minilm-static", QUERY), **{**QUICK, "draws": 1000})


def change_rows(monkeypatch, ends, verdict):
    """Give rows by class and attribute set other ends, and the overall row a clear verdict."""

    def changed_rows(fit, view, level, *more):
        rows = rows_of(fit, view, level, *more)
        if level == "overall":
            return rows.assign(mean=-0.069, hpdi_low=-0.095, hpdi_high=-0.043, verdict="below")
        if level not in ("class", "attribute_set"):
            return rows
        low, high = zip(*(ends.get(name, (-0.5, 0.5)) for name in rows["name"]), strict=True)
        return rows.assign(hpdi_low=low, hpdi_high=high, verdict=verdict)

    monkeypatch.setattr(interpretation, "rows_of", changed_rows)


def test_a_query_is_answered_in_its_names(query, monkeypatch):
    change_rows(monkeypatch, {}, "below")
    said = bb.interpret(query).headline
    assert said.startswith(
        "Science with Male terms and Arts with Female terms are closer than the opposite pairs by "
        "0.069 [0.043, 0.095] for new words, by more than the ROPE (±0.019)."
    )


UNCLEAR = "It is not clear that Arts are closer to Female terms than Science are "
OPPOSITE = "Science are closer to Female terms than Arts are "
EITHER = "It is not clear whether Arts or Science are closer to Female terms "


@pytest.mark.parametrize(
    ("arts", "female", "verdict", "warns", "headline"),
    [
        ((-0.14, -0.06), (-0.11, 0.01), "inconclusive", UNCLEAR, "class Science by itself."),
        ((-0.14, -0.06), (-0.11, -0.001), TOO_CLOSE, "", "class Science by itself."),
        ((-0.14, -0.06), (-0.01, 0.01), "negligible", UNCLEAR, "class Science by itself."),
        ((-0.14, -0.06), (0.01, 0.11), "above", OPPOSITE, "class Science by itself."),
        (
            (-0.14, 0.06),
            (-0.11, 0.01),
            "inconclusive",
            "",
            "on average, but for no class by itself.",
        ),
        ((-0.14, 0.06), (-0.11, -0.01), "inconclusive", "", "class Arts by itself, unlike the row"),
        ((0.06, 0.14), (0.01, 0.11), "above", "", "The other way for the class Arts."),
        ((0.06, 0.14), (-0.11, 0.01), "above", EITHER, "The other way for the class Arts."),
    ],
)
def test_classes_that_differ_from_the_result_or_from_their_sets_are_said(
    query, monkeypatch, arts, female, verdict, warns, headline
):
    """The interval that the table shows decides, and the warning names the row as it is printed."""
    change_rows(monkeypatch, {"Arts": arts, "Female terms": female}, verdict)
    found = warned(query, "Female terms")
    assert len(found) == bool(warns)
    assert all(text.startswith(warns) for text in found)
    assert headline in bb.interpret(query).headline
    ends = f"[{female[0]:+.3f}, {female[1]:+.3f}]"
    label = '(row "Female terms: Arts - Science": '
    assert all(label in text and ends in text for text in found)
    assert "  Female terms: Arts - Science" in to_text(query, detail=True)
    if found:  # a row that a warning names is on the screen
        assert "  Female terms: Arts - Science" in to_text(query)


def test_a_row_in_the_names_of_the_list_is_found_by_them(query):
    """As the description of `contrasts` has it."""
    row = query.contrasts(estimand="population", level="attribute_set").set_index("name")
    again = query.compare("Arts - Science", on="Female terms", estimand="population").iloc[0]
    found = row[row["contrast"] == "associated - different"].loc["Female terms"]
    assert again["mean"] == pytest.approx(found["mean"], abs=1e-12)
    assert again["hpdi_low"] == pytest.approx(found["hpdi_low"], abs=1e-4)


def test_figure_and_page_have_the_rows_that_a_warning_names(fit):
    """Also of more classes than the first table has rows for."""
    shown = sections.main_table(fit, bb.View())["label"].str.strip().tolist()
    (figure,) = (one for one in sections.sections(fit, bb.View()) if one.name == "groups")
    assert figure.shown_on("page")
    drawn = [text.get_text() for text in figure.draw().axes[0].get_yticklabels()]
    assert drawn[1:] == ["class a", "class b", "attributes of a", "attributes of b"]
    assert set(drawn[1:]) <= set(shown)


def test_of_many_classes_the_table_has_the_rows_of_warnings(fit, monkeypatch):
    monkeypatch.setattr(sections, "MOST_ROWS", 1)
    monkeypatch.setattr(sections, "doubted_sets", lambda fit, view: {"b": "closer"})
    shown = sections.main_table(fit, bb.View())["label"].str.strip().tolist()
    assert "attributes of b" in shown
    assert "class b" not in shown
    assert "attributes of a" not in shown


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("closer", "It is not clear that words of these classes are closer to their"),
        ("farther", "It is not clear whether words of these classes or other words are closer"),
    ],
)
def test_warnings_of_many_classes_share_a_sentence(fit, monkeypatch, way, words):
    monkeypatch.setattr(interpretation, "MOST_WARNED", 0)
    ends = {"a": (-0.2, 0.1), "b": (-0.2, 0.1)}
    change_rows(monkeypatch, ends, "inconclusive")
    monkeypatch.setattr(interpretation, "doubted_sets", lambda *_: dict.fromkeys("ab", way))
    (said,) = warned(fit, "not clear")
    assert said.startswith(words)
    assert said.count('row "attributes of ') == 2


def test_an_inconclusive_headline_names_contrast_mean_interval_and_scope():
    table = bb.distance_table("minilm-static", "religion", controls="2021")
    fit = bb.fit(table, seed=1, engine="quick", progress=False)
    row = fit.contrasts(estimand="population").iloc[0]
    said = bb.interpret(fit).headline
    assert said.startswith(
        f"Inconclusive for new words: associated minus different is {row['mean']:+.3f} "
        f"[{row['hpdi_low']:+.3f}, {row['hpdi_high']:+.3f}]. The interval includes 0"
    )


def test_a_verdict_that_draws_decide_asks_for_more_draws():
    row = SimpleNamespace(hpdi_low=-0.1, hpdi_high=-0.001, rope=0.02, verdict=TOO_CLOSE)
    assert "Raise --draws" in in_words(row)
    row.verdict = "inconclusive"
    assert in_words(row).startswith("inconclusive: [-0.100, -0.001] ends at 0")
    assert sure_side(row) is Verdict.BELOW
    row.mcse_low = row.mcse_high = 0.001
    assert sure_side(row) is Verdict.INCONCLUSIVE
    row.mcse_low = row.mcse_high = 0.01
    assert sure_side(row) is None
