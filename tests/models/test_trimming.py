"""What results are about, and models made smaller."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers.models import OWN, own

from bayesbias.core.errors import InputError
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model, parse_model
from bayesbias.models.variants import scaled, trimmed, with_scales_in_common, without_terms

RESULTS = """
[results]
group = "kind"
fixed = ["side"]
[results.level.person]
by = "person"
held = ["person", "team"]
[results.estimand.new_days]
held = ["person"]
"""


def test_results_are_read_and_have_defaults():
    spec = own()
    assert (spec.results.group, spec.results.fixed) == (
        "connection",
        ("connection", "attribute_kind"),
    )
    assert {name: (level.by, level.held) for name, level in spec.results.levels.items()} == {
        "class": ("protected_class", ("protected_word", "protected_class")),
        "word": ("protected_word", ("protected_word", "protected_class")),
    }
    results = parse_model((OWN + RESULTS).encode(), "own").results
    assert (results.group, results.fixed) == ("kind", ("kind", "side"))
    assert {name: (level.by, level.held) for name, level in results.levels.items()} == {
        "person": ("person", ("person", "team"))
    }
    assert results.estimands == {"new_days": ("person",)}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'group = "kind"',
            "group = 3",
            r"own.toml, \[results\], key group: expected a non-empty string",
        ),
        ('group = "kind"', "", r"own.toml, \[results\]: expected the key 'group'"),
        ("fixed", "fixd", r"key: expected .*'fixd'.*Did you mean 'fixed'"),
        ('by = "person"', "by = []", r"\[results.level.person\], key by"),
        ('held = ["person", "team"]', "held = 3", r"\[results.level.person\], key held"),
        (
            "new_days",
            "population",
            r"\[results.estimand.population\]: expected a name that is not taken",
        ),
        (
            '[results.level.person]\nby = "person"\nheld = ["person", "team"]',
            "level = 3",
            r"\[results\], key level: expected a table, got 3",
        ),
    ],
)
def test_bad_results_are_refused(old, new, said):
    text = OWN + RESULTS
    assert old in text
    with pytest.raises(InputError, match=said):
        parse_model(text.replace(old, new, 1).encode(), "own.toml")


def test_a_model_without_terms_keeps_only_what_is_used():
    spec = load_model("shared")
    less = without_terms(spec, ("class_by_attribute", "word_by_kind"), "why")
    assert less.mu == ("word_by_connection", "attribute_effect")
    assert list(less.parameters) == [
        "word_by_connection",
        "attribute_effect",
        "connection_mean",
        "word_by_connection_sd",
        "attribute_sd",
        "sigma",
    ]
    crossed = load_model("crossed")
    assert less.parameters == crossed.parameters
    assert less.notes == (*spec.notes, "why")
    again = parse_model(less.text.encode(), "again")  # its text says what it is
    assert (again.mu, again.parameters, again.sha256) == (less.mu, less.parameters, less.sha256)


@pytest.mark.parametrize(
    ("words", "templates", "kept"),
    [
        # each word in each template on both sides: nothing to leave out
        (3, 3, load_model("sentence").mu),
        # one template: sentences are words, pairs of words are single rows
        (3, 1, ("word_by_connection", "attribute_effect", "class_by_attribute", "word_effect")),
    ],
)
def test_terms_that_a_table_cannot_tell_apart_are_left_out(words, templates, kept):
    rows = [
        {
            "protected_word": f"{cls}{i}", "protected_class": cls, "protected_template": f"T{j}",
            "attribute": f"{own}a{k}", "attribute_kind": "stereotype", "attribute_template": f"A{m}",
            "connection": "associated" if own == cls else "different", "distance": float(i + j - k * m),
        }
        for cls in "xy" for i in range(words) for j in range(templates)
        for own in "xy" for k in range(words) for m in range(templates)
    ]  # fmt: skip
    spec = load_model("sentence")
    found = trimmed(spec, pd.DataFrame(rows))
    assert found.mu == kept
    assert (found is spec) == (len(kept) == len(spec.mu))
    if found is not spec:
        assert "word_by_attribute (from the noise)" in found.notes[-1]
        assert "template_effect (from no difference)" in found.notes[-1]
        assert "word_by_template (from word_effect)" in found.notes[-1]
        assert set(found.parameters) == {
            *kept,
            "connection_mean",
            "word_by_connection_sd",
            "attribute_sd",
            "class_by_attribute_sd",
            "word_sd",
            "sigma",
        }


def test_a_term_that_a_fixed_mean_determines_is_left_out():
    # Two models answer one template: each group and model has a mean, so no group by template.
    rows = [
        {"outcome": float(k), "group": g, "word": f"{g}{w}", "template": "T", "item": f"i{i}",
         "model": m, "arm": f"{g} {m}", "question": f"{w} {i} {m}", "answer_pattern": "all"}
        for g in "ab" for m in "xy" for w in range(3) for i in range(3) for k in (0, 1)
    ]  # fmt: skip
    found = trimmed(load_model("responses"), pd.DataFrame(rows))
    assert "group_by_template" not in found.mu
    assert "group_by_template (from arm_mean)" in found.notes[-1]
    assert "model_by_template (from arm_mean)" in found.notes[-1]
    assert {"word_effect", "group_by_item", "model_by_item", "group_by_item_by_model"} <= set(
        found.mu
    )


def test_scaled_priors_are_those_of_the_outcome_in_other_units():
    """Draws from them are draws from the given ones, times the SD and around the center."""
    labels = ("word", "template", "item", "model", "group", "arm")
    rows = [dict(zip(labels, (w, t, i, "m", w[0], f"m {w[0]}"), strict=True))
            for w in ("a1", "a2", "b1") for t in "tu" for i in "ij"]  # fmt: skip
    frame = pd.DataFrame(rows).assign(outcome=0.0, answer_pattern="all")
    frame["question"] = [f"q{k}" for k in range(len(frame))]
    spec = load_model("responses")
    given, other = (
        Design.of(each, frame).prior_draws(50, 3) for each in (spec, scaled(spec, 40.0, 2.5))
    )
    for name, values in given.items():
        center = 40.0 if name == "arm_mean" else 0.0
        np.testing.assert_allclose(other[name], center + 2.5 * values, rtol=1e-9)


def _answers(words: dict[str, int]) -> pd.DataFrame:
    """Return a row for each of so many words a group in two templates."""
    rows = [
        (group, f"{group}{k}", template)
        for group, number in words.items()
        for k in range(number)
        for template in ("t", "u")
    ]
    return pd.DataFrame(rows, columns=["group", "word", "template"])


def test_words_of_each_group_have_an_sd_where_there_are_three_in_each():
    spec = load_model("responses")
    assert with_scales_in_common(spec, _answers({"a": 3, "b": 5})) is spec


@pytest.mark.parametrize("words", [{"a": 3, "b": 2}, {"a": 1, "b": 9, "c": 9}])
def test_few_words_of_a_group_share_the_sd_of_all(words):
    spec = with_scales_in_common(load_model("responses"), _answers(words))
    assert spec.parameters["word_sd"].dims == ()
    assert spec.notes[-1] == "One SD for all groups, since some have too few: word_sd."


def test_words_that_groups_have_in_common_share_an_sd():
    frame = _answers({"a": 5, "b": 5}).assign(word=lambda rows: rows["word"].str[1:])
    spec = with_scales_in_common(load_model("responses"), frame)
    assert spec.parameters["word_sd"].dims == ()


def test_sds_by_a_label_of_their_own_effects_stay():
    spec = load_model("responses_paired")  # effects of words by series, and SDs by series
    frame = pd.DataFrame({"word": ["p", "q"], "series": ["m", "n"], "template": "", "item": ""})
    assert with_scales_in_common(spec, frame.assign(question="")) is spec
