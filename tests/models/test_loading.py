"""Models as data: what a file may say, and what it may not."""

from __future__ import annotations

import re

import pytest
from helpers.models import OUTCOMES, OWN, own, slopes_model

from bayesbias.core.errors import InputError
from bayesbias.models.loading import list_models, load_model, parse_model

DOCUMENTED = {  # the table of models in the design notes; the paper's section 4 for the first
    "additive": ("Normal", {"m": "Normal(1, 0.5)", "co": "Normal(0, 0.5)", "sigma": "HalfCauchy(1)"}),
    "hierarchical": (
        "Normal",
        {
            "c": "Normal(cbar, csd)",
            "cbar": "Normal(1, 0.3)",
            "csd": "Exponential(2)",
            "sigma": "Exponential(2)",
        },
    ),
    "crossed": (
        "Normal",
        {
            "c": "Normal(cbar, csd)",
            "v": "Normal(0, ws)",
            "cbar": "Normal(1, 0.3)",
            "csd": "Exponential(2)",
            "ws": "Exponential(2)",
            "sigma": "Exponential(2)",
        },
    ),
    "shared": (
        "Normal",
        {
            "c": "Normal(cbar, csd)",
            "v": "Normal(0, ws)",
            "u": "Normal(0, us)",
            "m": "Normal(0, ms)",
            "cbar": "Normal(1, 0.3)",
            "csd": "Exponential(2)",
            "ws": "Exponential(2)",
            "us": "Exponential(2)",
            "ms": "Exponential(2)",
            "sigma": "Exponential(2)",
        },
    ),
    "robust": (
        "StudentT",
        {
            "c": "Normal(cbar, csd)",
            "v": "Normal(0, ws)",
            "cbar": "Normal(1, 0.3)",
            "csd": "Exponential(2)",
            "ws": "Exponential(2)",
            "sigma": "Exponential(2)",
            "nu": "Gamma(2, 0.1)",
        },
    ),
}


_WORDS = {"c": "csd", "v": "ws", "u": "us", "m": "ms"}


_SENTENCES = {"p": "ps", "q": "qs", "pc": "pcs", "qc": "qcs", "s": "ss", "r": "rs", "sc": "scs", "rc": "rcs"}


_BOTH = {"w": "wws", "t": "tts", "wt": "wts", "tw": "tws"}


DOCUMENTED["default"] = (
    "Normal",
    {"g": "Normal(1, 0.2)", "d": "Normal(0, 0.15)", "e": "Normal(0, 0.1)", "f": "Normal(0, fsd)"}
    | {
        "c": "Normal(0, csd)",
        "v": "Normal(0, ws)",
        "u": "Normal(0, us)",
        "o": "Normal(0, os)",
        "m": "Normal(0, ms)",
        "b": "Normal(0, bs)",
    }
    | {sd: "Exponential(10)" for sd in ("fsd", "csd", "sigma")}
    | {sd: "Exponential(20)" for sd in ("ws", "os", "ms", "bs")}
    | {"us": "Exponential(80)"}
    | {factor: "LogNormal(0, 0.4)" for factor in ("ka", "kw")},
)
_CHANGE = {name: written for name, written in DOCUMENTED["default"][1].items() if name != "ka"}
DOCUMENTED["change"] = (
    "Normal",
    _CHANGE | {"g": "Normal(0, 0.25)"} | {sd: "Exponential(10)" for sd in ("us", "os", "ws", "ms")},
)
DOCUMENTED["sentence"] = (
    "Normal",
    {
        name: f"Normal({'cbar' if name == 'c' else '0'}, {sd})"
        for name, sd in (_WORDS | _SENTENCES | _BOTH).items()
    }
    | {"cbar": "Normal(1, 0.3)", "sigma": "Exponential(2)"}
    | {sd: "Exponential(2)" for sd in (_WORDS | _SENTENCES | _BOTH).values()},
)


DOCUMENTED["covariate"] = (
    "Normal",
    {"g": "Normal(1, 0.25)", "d": "Normal(0, 0.1)", "s": "Normal(0, 0.1)"}
    | {effect: f"Normal(0, {effect}sd)" for effect in ("w", "t", "b", "r")}
    | {sd: "Exponential(10)" for sd in ("wsd", "tsd", "bsd", "rsd", "sigma")},
)


for _name, _sd, _rate in (("sentiment", "0.2", "5"), ("sentiment_logit", "1", "1")):
    _scales = {sd: f"Exponential({_rate})" for sd in ("nsd", "psd", "sigma")}
    _effects = {"b": f"Normal(0, {_sd})", "n": "Normal(0, nsd)", "p": "Normal(0, psd)"}
    DOCUMENTED[_name] = ("Normal", _effects | _scales)


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_list_models_are_the_documented_ones(name):
    spec = load_model(name)
    likelihood, priors = DOCUMENTED[name]
    own = {"connection": "associated"}
    written = {}
    for key, parameter in spec.parameters.items():
        values = [v if isinstance(v, str) else f"{v:g}" for v in parameter.args.values()]
        written[key] = f"{parameter.distribution}({', '.join(values)})"
    assert spec.name == name
    some = {"default": {"m": {"attribute_kind": "stereotype"}, "o": own}, "change": {"o": own}}.get(name, {})
    assert {key: dict(parameter.only) for key, parameter in spec.parameters.items() if parameter.only} == some
    assert (spec.likelihood, written) == (likelihood, priors)
    assert spec.outcome == OUTCOMES.get(name, "distance")
    pair, group = ("protected_word", "attribute"), "connection"
    units = {
        "sentence": ("protected_word", "protected_template", "attribute", "attribute_template"),
        "sentiment": ("classifier", "noun_pair", "profession"),
        "sentiment_logit": ("classifier", "noun_pair", "profession"),
        "covariate": ("set_word", "target"),
    }
    groups = {"sentiment": "classifier", "sentiment_logit": "classifier", "covariate": "set"}
    assert spec.units == units.get(name, pair)
    assert spec.results.group == groups.get(name, group)
    assert spec.parameters["sigma"].dims == (() if name == "additive" else (spec.results.group,))


def test_nothing_is_shipped_that_is_not_documented():
    assert list_models() == sorted(DOCUMENTED)


def test_crossed_records_how_its_spread_of_attributes_was_chosen():
    notes = " ".join(load_model("crossed").notes)
    assert "PSIS-LOO" in notes
    assert "attribute_kind" in notes
    assert load_model("crossed").parameters["ws"].dims == ()


def test_additive_says_that_its_coefficients_are_set_by_their_priors():
    assert "0.5 / sqrt(J + 4)" in " ".join(load_model("additive").notes)


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


@pytest.mark.parametrize("change", [lambda t: b"\xef\xbb\xbf" + t, lambda t: t.replace(b"\n", b"\r\n")])
def test_byte_order_mark_and_dos_line_ends_are_read(change):
    assert parse_model(change(OWN.encode()), "own.toml").parameters == own().parameters


def test_order_of_terms_and_random_effects():
    spec = own()
    assert spec.location_parameters() == ["cbar", "c", "v", "shift"]
    assert [name for name in spec.parameters if spec.is_random(name)] == ["c", "v"]
    assert [name for name, p in spec.parameters.items() if p.positive] == ["csd", "ws", "sigma"]


BAD = {
    "unknown key at the top": ([("source =", "sources =")], ["own.toml", "'sources'", "'source'"]),
    "unknown key of a parameter": (
        [('dims = ["attribute"]', 'dim = ["attribute"]')],
        ["[parameter.v]", "'dim'", "did you mean 'dims'?"],
    ),
    "unknown key of the likelihood": ([("nu = 4", "nuu = 4")], ["[likelihood]", "did you mean 'nu'?"]),
    "missing key": ([('description = "for the tests"\n', "")], ["own.toml", "lacks the key 'description'"]),
    "missing argument": ([("lam = 2\n", "")], ["[parameter.csd]", "lacks the key 'lam'"]),
    "unknown distribution": (
        [('"Exponential"', '"Exponental"')],
        ["[parameter.csd]", "'Exponental'", "did you mean 'Exponential'?", "HalfNormal"],
    ),
    "distribution is a list": ([('"Exponential"', '["Exponential"]')], ["[parameter.csd]", "unknown dist"]),
    "unknown likelihood": (
        [('distribution = "StudentT"', 'distribution = "Student"')],
        ["[likelihood]", "'Student'", "did you mean 'StudentT'?"],
    ),
    "likelihood without nu": ([("nu = 4\n", "")], ["[likelihood]", "StudentT needs it"]),
    "normal with nu": ([('distribution = "StudentT"', 'distribution = "Normal"')], ["belongs to StudentT"]),
    "unknown parameter in a prior": (
        [('mu = "cbar"', 'mu = "cbr"')],
        ["[parameter.c], key mu", "'cbr'", "did you mean 'cbar'?"],
    ),
    "unknown parameter in the mean": (
        [('"shift"]', '"shft"]')],
        ["[likelihood], key mu", "did you mean 'shift'?"],
    ),
    "unknown parameter of the noise": (
        [('sigma = "sigma"', 'sigma = "sigm"')],
        ["[likelihood], key sigma", "did you mean 'sigma'?"],
    ),
    "circle": ([("mu = 1\n", 'mu = "c"\n')], ["circle", "c -> cbar -> c"]),
    "centred on itself": ([("mu = 1\n", 'mu = "cbar"\n')], ["circle", "cbar -> cbar"]),
    "unused": ([('"v", "shift"]', '"v"]')], ["never used", "shift"]),
    "spread that may be negative": (
        [('sigma = "csd"', 'sigma = "shift"')],
        ["[parameter.c], key sigma", "positive", "'shift'"],
    ),
    "centred on a spread": (
        [("mu = 1\n", 'mu = "csd"\n')],
        ["[parameter.cbar], key mu", "free to be negative", "csd"],
    ),
    "noise that may be negative": (
        [('sigma = "sigma"', 'sigma = "shift"')],
        ["[likelihood], key sigma", "positive", "shift"],
    ),
    "a scale in the mean": ([('"shift"]', '"shift", "ws"]')], ["[likelihood], key mu", "negative", "'ws'"]),
    "no term in the mean": ([('["c", "v", "shift"]', "[]")], ["[likelihood], key mu", "at least one"]),
    "mean as text": ([('["c", "v", "shift"]', '"c"')], ["[likelihood], key mu", "list of texts"]),
    "a term twice": ([('"shift"]', '"shift", "c"]')], ["[likelihood], key mu", "twice"]),
    "negative spread": ([("sigma = 0.3", "sigma = -0.3")], ["[parameter.cbar], key sigma", "-0.3"]),
    "spread of zero": (
        [("sigma = 0.3", "sigma = 0")],
        ["[parameter.cbar], key sigma", "must be a finite number above 0"],
    ),
    "NaN": ([("lam = 2", "lam = nan")], ["[parameter.csd], key lam", "finite", "nan"]),
    "infinity": ([("mu = 1\n", "mu = -inf\n")], ["[parameter.cbar], key mu", "finite", "-inf"]),
    "a number beyond floats": ([("lam = 2", "lam = 1" + "0" * 400)], ["[parameter.csd], key lam", "finite"]),
    "true for a number": ([("lam = 2", "lam = true")], ["[parameter.csd], key lam", "True"]),
    "a list for a number": ([("lam = 2", "lam = [2]")], ["[parameter.csd], key lam", "[2]"]),
    "a number as text": (
        [("sigma = 0.3", 'sigma = "0.3"')],
        ["[parameter.cbar]", "unknown parameter", "'0.3'"],
    ),
    "dims as text": ([('dims = ["attribute"]', 'dims = "attribute"')], ["[parameter.v], key dims", "list"]),
    "dims of numbers": (
        [('dims = ["attribute"]', "dims = [1]")],
        ["[parameter.v], key dims, number 1", "found: 1"],
    ),
    "a dim twice": ([('["attribute"]', '["attribute", "attribute"]')], ["[parameter.v], key dims", "twice"]),
    "a dim of the draws": ([('["attribute"]', '["draw"]')], ["[parameter.v], key dims", "draw"]),
    "schema 2": ([("schema = 1", "schema = 2")], ["own.toml, schema", "2", "valid: schema = 1"]),
    "schema true": ([("schema = 1", "schema = true")], ["own.toml, schema", "True"]),
    "name as number": ([('name = "own"', "name = 3")], ["key name", "string", "3"]),
    "outcome as number": ([('outcome = "distance"', "outcome = 3")], ["key outcome", "column", "3"]),
    "notes as text": ([('notes = ["one note"]', 'notes = "one note"')], ["key notes", "list of texts"]),
    "no units": ([("nu = 4", "nu = 4\nunits = []")], ["[likelihood], key units", "at least one"]),
    "a parameter named like a dimension": (
        [("[parameter.shift]", "[parameter.attribute]"), ('"shift"]', '"attribute"]')],
        ["[parameter.attribute]", "name of a dimension"],
    ),
    "a parameter named like the outcome": (
        [("[parameter.shift]", "[parameter.distance]"), ('"shift"]', '"distance"]')],
        ["[parameter.distance]", "outcome"],
    ),
    "a parameter named chain": (
        [("[parameter.shift]", "[parameter.chain]"), ('"shift"]', '"chain"]')],
        ["[parameter.chain]"],
    ),
    "a name that is no identifier": (
        [("[parameter.shift]", '[parameter."a shift"]')],
        ["'a shift'", "identifier"],
    ),
    "a parameter that is no table": ([("[parameter.c]", "[parameter]\nq = 3\n[parameter.c]")], ["q", "3"]),
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
    with pytest.raises(InputError, match=r"own\.toml: is not valid TOML: .*line 8"):
        own(("[likelihood]\n", "[likelihood]\noutcome =\n"))
    with pytest.raises(InputError, match=r"own\.toml, line 3: is not valid UTF-8; found: b'\\xff"):
        parse_model(OWN.encode().replace(b"for the", b"\xff", 1), "own.toml")
    with pytest.raises(InputError, match=r"own\.toml: lacks the keys 'schema', 'name', 'description'"):
        parse_model(b"", "own.toml")


def test_unknown_models_are_refused(tmp_path):
    with pytest.raises(
        InputError,
        match=r"unknown model; found: 'crosed'; valid: additive, cells, change, crossed.*'crossed'\?",
    ):
        load_model("crosed")
    with pytest.raises(InputError, match="is a folder, not a model file"):
        load_model(tmp_path)
    with pytest.raises(InputError, match="no such model file"):
        load_model(tmp_path / "none.toml")
    with pytest.raises(
        InputError, match="model: must be a path; found: ''; valid: the name of a shipped model"
    ):
        load_model("")


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('times = "frequency"', 'times = ""', ["key times", "column of numbers"]),
        ('times = "frequency"', 'times = "attribute"', ["holds labels", "attribute"]),
        ('times = "frequency"', 'times = "distance"', ["holds labels, or the outcome"]),
        (
            'mu = 0\nsigma = 0.1\ntimes = "frequency"',
            'mu = "g"\nsigma = 0.1\ntimes = "fsdd"',
            ["around a number", "fsd"],
        ),
        (
            'dims = ["attribute"]\ndistribution = "Normal"\nmu = 0\n',
            'dims = ["attribute"]\ndistribution = "Normal"\nmu = 0.3\n',
            ["scatters around zero", "may have a factor", "v"],
        ),
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
    assert spec.parameters["a"].times is None
    assert set(spec.factors()) == {"ka", "kw"}


ONLY = 'only = { attribute_kind = "stereotype" }'


def with_only(name: str, only: str = ONLY) -> str:
    """Return the text of crossed with one of its terms, or a spread, left to some rows."""
    lines = load_model("crossed").text.splitlines()
    lines.insert(lines.index(f"[parameter.{name}]") + 1, only)
    return "\n".join(lines)


def test_a_term_may_belong_to_some_rows_alone():
    spec = parse_model(with_only("v").encode(), "own.toml")
    assert spec.parameters["v"].only == {"attribute_kind": "stereotype"}
    assert spec.parameters["c"].only == {}
    assert spec != parse_model(with_only("v", "").encode(), "own.toml")


def test_a_factor_is_no_spread_of_the_same_term():
    text = load_model("crossed").text.replace('sigma = "ws"', 'sigma = "ws"\ntimes = "ws"')
    with pytest.raises(InputError, match="key times: is the spread already; found: 'ws'"):
        parse_model(text.encode(), "own.toml")


def test_the_outcome_is_no_dimension():
    text = load_model("hierarchical").text.replace(
        '"protected_word", "connection"', '"distance", "connection"'
    )
    with pytest.raises(
        InputError, match="the outcome cannot be a dimension of a parameter; found: 'distance'"
    ):
        parse_model(text.encode(), "own.toml")


@pytest.mark.parametrize(
    ("name", "only", "parts"),
    [
        ("v", 'only = "stereotype"', ["[parameter.v], key only", "table"]),
        ("v", "only = { attribute_kind = 1 }", ["key only", "attribute_kind must be a label"]),
        ("v", 'only = { attribute_kind = "" }', ["key only", "must be a label"]),
        ("c", ONLY, ["scatters around zero", "[parameter.c], key only"]),
        ("ws", ONLY, ["a term of the mean", "[parameter.ws], key only"]),
    ],
)
def test_what_no_row_can_be_without_is_refused(name, only, parts):
    with pytest.raises(InputError) as error:
        parse_model(with_only(name, only).encode(), "own.toml")
    assert all(part in str(error.value) for part in parts), error.value


@pytest.mark.parametrize("name", ['""', '"  "', '"a\\nb"'])
def test_a_model_has_a_name_of_one_line(name):
    text = re.sub(r"(?m)^name = .*$", lambda _: f"name = {name}", load_model("crossed").text, count=1)
    with pytest.raises(InputError, match="key name"):
        parse_model(text.encode(), "own.toml")
