"""Models as data: what a file may say, and what it may not."""

from __future__ import annotations

import re

import pytest
from helpers.models import OWN, own, slopes_model

from bayesbias.core.errors import InputError
from bayesbias.models.spec import list_models, load_model, parse_model


def test_shipped_models_are_read():
    for name in list_models():
        spec = load_model(name)
        assert (spec.name, spec.origin) == (name, "")


def test_the_default_is_the_one_of_its_design():
    """Means have fixed priors: learned standard deviations shrink the class that differs most toward the others."""
    spec = load_model("default")
    fixed = [name for name in spec.location_parameters() if not spec.is_random(name)]
    assert fixed == ["intercept", "connection_mean", "set_mean", "class_by_set"]
    assert [spec.parameters[name].args["sigma"] for name in fixed] == [0.2, 0.15, 0.1, 0.1]
    assert list(spec.results.levels) == ["class", "attribute_set", "word"]
    some = {
        name: dict(parameter.only) for name, parameter in spec.parameters.items() if parameter.only
    }
    assert some == {
        "class_by_own_attribute": {"connection": "associated"},
        "word_to_stereotypes": {"attribute_kind": "stereotype"},
    }


def test_a_file_of_ones_own_is_read_by_path(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(OWN, encoding="utf-8")
    spec = load_model(path)
    assert spec.name == "own"
    assert spec.notes == ("one note",)
    assert spec.noise == {"nu": 4.0, "sigma": "sigma"}
    assert spec.text == OWN
    assert load_model(str(path)) == spec
    assert load_model(spec) is spec


@pytest.mark.parametrize(
    "change", [lambda t: b"\xef\xbb\xbf" + t, lambda t: t.replace(b"\n", b"\r\n")]
)
def test_byte_order_mark_and_dos_line_ends_are_read(change):
    assert parse_model(change(OWN.encode()), "own.toml").parameters == own().parameters


def test_order_of_terms_and_random_effects():
    spec = own()
    assert spec.location_parameters() == [
        "connection_mean",
        "word_by_connection",
        "attribute_effect",
        "shift",
    ]
    assert [name for name in spec.parameters if spec.is_random(name)] == [
        "word_by_connection",
        "attribute_effect",
    ]
    assert [name for name, p in spec.parameters.items() if p.positive] == [
        "word_by_connection_sd",
        "attribute_sd",
        "sigma",
    ]


BAD = {
    "missing argument": (
        [("lam = 2\n", "")],
        ["[parameter.word_by_connection_sd]", "expected the key 'lam'"],
    ),
    "unknown distribution": (
        [('"Exponential"', '"Exponental"')],
        [
            "[parameter.word_by_connection_sd]",
            "'Exponental'",
            "Did you mean 'Exponential'?",
            "HalfNormal",
        ],
    ),
    "unknown parameter in a prior": (
        [('mu = "connection_mean"', 'mu = "connection_meen"')],
        [
            "[parameter.word_by_connection], key mu",
            "'connection_meen'",
            "Did you mean 'connection_mean'?",
        ],
    ),
    "circle": (
        [("mu = 1\n", 'mu = "word_by_connection"\n')],
        ["circle", "word_by_connection -> connection_mean -> word_by_connection"],
    ),
    "unused": ([('"attribute_effect", "shift"]', '"attribute_effect"]')], ["all used", "shift"]),
    "noise that may be negative": (
        [('sigma = "sigma"', 'sigma = "shift"')],
        ["[likelihood], key sigma", "positive", "shift"],
    ),
    "a scale in the mean": (
        [('"shift"]', '"shift", "attribute_sd"]')],
        ["[likelihood], key mu", "negative", "'attribute_sd'"],
    ),
    "no term in the mean": (
        [('["word_by_connection", "attribute_effect", "shift"]', "[]")],
        ["[likelihood], key mu", "1 or more"],
    ),
    "negative spread": (
        [("sigma = 0.3", "sigma = -0.3")],
        ["[parameter.connection_mean], key sigma", "-0.3"],
    ),
    "NaN": (
        [("lam = 2", "lam = nan")],
        ["[parameter.word_by_connection_sd], key lam", "finite", "nan"],
    ),
    "a number as text": (
        [("sigma = 0.3", 'sigma = "0.3"')],
        ["[parameter.connection_mean]", "'0.3'"],
    ),
    "a dim of the draws": (
        [('["attribute"]', '["draw"]')],
        ["[parameter.attribute_effect], key dims", "draw"],
    ),
    "schema 2": ([("schema = 1", "schema = 2")], ["own.toml, schema", "2", "expected 1"]),
}


@pytest.mark.parametrize("case", list(BAD))
def test_bad_models_are_refused_with_file_key_and_finding(case):
    edits, said = BAD[case]
    with pytest.raises(InputError) as caught:
        own(*edits)
    message = str(caught.value)
    assert message.startswith("own.toml"), message
    assert [part for part in said if part not in message] == [], message


def test_invalid_toml_and_text_are_refused_with_their_line():
    with pytest.raises(InputError, match=r"own\.toml: expected TOML, .*line 8"):
        own(("[likelihood]\n", "[likelihood]\noutcome =\n"))
    with pytest.raises(InputError, match=r"own\.toml, line 3: expected UTF-8, got b'\\xff"):
        parse_model(OWN.encode().replace(b"for the", b"\xff", 1), "own.toml")
    with pytest.raises(InputError, match=r"own\.toml: expected the keys 'schema', 'name'"):
        parse_model(b"", "own.toml")


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('times = "frequency"', 'times = ""', ["key times", "non-empty"]),
        ('times = "frequency"', 'times = "attribute"', ["not of labels", "attribute"]),
        ('times = "frequency"', 'times = "distance"', ["not of labels or the outcome"]),
    ],
)
def test_what_cannot_be_multiplied_is_refused(old, new, parts):
    text = slopes_model("a").text
    assert old in text
    with pytest.raises(InputError) as error:
        parse_model(text.replace(old, new).encode(), "own.toml")
    assert all(part in str(error.value) for part in parts), error.value


def test_a_slope_names_its_column():
    spec = slopes_model("a", "y")
    assert spec.covariates() == ["frequency", "year"]
    assert spec.parameters["a"].covariate == "frequency"


ONLY = 'only = { attribute_kind = "stereotype" }'


def with_only(name: str, only: str = ONLY) -> str:
    """Return the text of crossed with one of its terms, or a spread, left to some rows."""
    lines = load_model("crossed").text.splitlines()
    lines.insert(lines.index(f"[parameter.{name}]") + 1, only)
    return "\n".join(lines)


def test_a_term_may_belong_to_some_rows_alone():
    spec = parse_model(with_only("attribute_effect").encode(), "own.toml")
    assert spec.parameters["attribute_effect"].only == {"attribute_kind": "stereotype"}
    assert spec.parameters["word_by_connection"].only == {}
    assert spec != parse_model(with_only("attribute_effect", "").encode(), "own.toml")


def test_the_outcome_is_no_dimension():
    text = load_model("hierarchical").text.replace(
        '"protected_word", "connection"', '"distance", "connection"'
    )
    with pytest.raises(
        InputError, match="a column that is no dimension of a parameter, got 'distance'"
    ):
        parse_model(text.encode(), "own.toml")


@pytest.mark.parametrize(
    ("name", "only", "parts"),
    [
        (
            "attribute_effect",
            'only = "stereotype"',
            ["[parameter.attribute_effect], key only", "table"],
        ),
        (
            "attribute_effect",
            "only = { attribute_kind = 1 }",
            ["key only, attribute_kind", "got 1"],
        ),
        (
            "attribute_effect",
            'only = { attribute_kind = "" }',
            ["key only, attribute_kind", "non-empty"],
        ),
        (
            "word_by_connection",
            ONLY,
            ["around zero", "[parameter.word_by_connection], key only"],
        ),
        ("attribute_sd", ONLY, ["a term of the mean", "[parameter.attribute_sd], key only"]),
    ],
)
def test_what_no_row_can_be_without_is_refused(name, only, parts):
    with pytest.raises(InputError) as error:
        parse_model(with_only(name, only).encode(), "own.toml")
    assert all(part in str(error.value) for part in parts), error.value


@pytest.mark.parametrize("name", ['""', '"  "', '"a\\nb"'])
def test_a_model_has_a_name_of_one_line(name):
    text = re.sub(
        r"(?m)^name = .*$", lambda _: f"name = {name}", load_model("crossed").text, count=1
    )
    with pytest.raises(InputError, match="key name"):
        parse_model(text.encode(), "own.toml")
