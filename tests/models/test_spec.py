"""Models as data: what a file may say, what it may not, and the index arrays every way of fitting shares."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.seeds import shifted
from scipy import stats

from bayesbias.basics.errors import FitError, InputError
from bayesbias.models.design import Design, labels_of
from bayesbias.models.distributions import DISTRIBUTIONS
from bayesbias.models.loading import load_model, parse_model, shipped_models
from bayesbias.models.trimming import trimmed, without_terms
from bayesbias.words.pairing import CONNECTIONS

# A model of one's own: a mean with three terms, a spread per kind, Student-t noise with numbers and parameters.
OWN = """\
schema = 1
name = "own"
description = "for the tests"
source = "these tests"
notes = ["one note"]

[likelihood]
outcome = "distance"
distribution = "StudentT"
nu = 4
mu = ["c", "v", "shift"]
sigma = "sigma"

[parameter.c]
dims = ["protected_word", "connection"]
distribution = "Normal"
mu = "cbar"
sigma = "csd"

[parameter.cbar]
dims = ["connection"]
distribution = "Normal"
mu = 1
sigma = 0.3

[parameter.csd]
dims = ["connection"]
distribution = "Exponential"
lam = 2

[parameter.v]
dims = ["attribute"]
distribution = "Normal"
mu = 0
sigma = "ws"

[parameter.ws]
dims = ["attribute_kind"]
distribution = "Exponential"
lam = 2

[parameter.shift]
distribution = "StudentT"
nu = 3
mu = 0
sigma = 0.1

[parameter.sigma]
dims = ["attribute_kind", "connection"]
distribution = "HalfNormal"
sigma = 0.5
"""
MODELS = [*shipped_models(), "own"]


def own(*edits: tuple[str, str], where: str = "own.toml"):
    text = OWN
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    return parse_model(text.encode(), where)


def spec_of(name: str):
    return own() if name == "own" else load_model(name)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """A ragged table in no particular order; the control words come first."""
    rng = np.random.default_rng(11)
    kinds = {"n1": "neutral", "n2": "neutral", "h1": "human", "sa": "a", "ta": "a", "sb": "b"}
    rows = [
        {
            "protected_word": word,
            "protected_class": word[0],
            "attribute": attribute,
            "attribute_class": kind,
            "attribute_kind": kind if kind in ("human", "neutral") else "stereotype",
            "connection": {"a": "associated", "b": "different"}.get(kind, kind)
            if word[0] == "a"
            else {"b": "associated", "a": "different"}.get(kind, kind),
            "distance": rng.normal(1, 0.2),
        }
        for word in ("b1", "a1", "a2")
        for attribute, kind in kinds.items()
    ]
    frame = pd.DataFrame(rows).sample(frac=0.9, random_state=3).reset_index(drop=True)
    return frame


# -- files -----------------------------------------------------------------------------------------

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
    "change": (
        "Normal",
        {
            "c": "Normal(cbar, csd)",
            "v": "Normal(0, ws)",
            "u": "Normal(0, us)",
            "m": "Normal(0, ms)",
            "cbar": "Normal(0, 0.3)",
            "csd": "Exponential(5)",
            "ws": "Exponential(5)",
            "us": "Exponential(5)",
            "ms": "Exponential(5)",
            "sigma": "Exponential(5)",
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
DOCUMENTED["sentence"] = (
    "Normal",
    {
        name: f"Normal({'cbar' if name == 'c' else '0'}, {sd})"
        for name, sd in (_WORDS | _SENTENCES | _BOTH).items()
    }
    | {"cbar": "Normal(1, 0.3)", "sigma": "Exponential(2)"}
    | {sd: "Exponential(2)" for sd in (_WORDS | _SENTENCES | _BOTH).values()},
)
for _name, _sd, _rate in (("sentiment", "0.2", "5"), ("sentiment_logit", "1", "1")):
    _scales = {sd: f"Exponential({_rate})" for sd in ("nsd", "psd", "sigma")}
    _effects = {"b": f"Normal(0, {_sd})", "n": "Normal(0, nsd)", "p": "Normal(0, psd)"}
    DOCUMENTED[_name] = ("Normal", _effects | _scales)
OUTCOMES = {"change": "change", "sentiment": "difference", "sentiment_logit": "logit_difference"}


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_shipped_models_are_the_documented_ones(name):
    spec = load_model(name)
    likelihood, priors = DOCUMENTED[name]
    written = {}
    for key, parameter in spec.parameters.items():
        values = [v if isinstance(v, str) else f"{v:g}" for v in parameter.args.values()]
        written[key] = f"{parameter.distribution}({', '.join(values)})"
    assert spec.name == name
    assert (spec.likelihood, written) == (likelihood, priors)
    assert spec.outcome == OUTCOMES.get(name, "distance")
    if name == "sentence":
        assert spec.units == ("protected_word", "protected_template", "attribute", "attribute_template")
    else:
        sentiment = ("classifier", "noun_pair", "profession")
        assert spec.units == (sentiment if "sentiment" in name else ("protected_word", "attribute"))
    assert spec.results.group == ("classifier" if "sentiment" in name else "connection")
    assert spec.parameters["sigma"].dims == (() if name == "additive" else (spec.results.group,))


def test_nothing_is_shipped_that_is_not_documented():
    assert shipped_models() == sorted(DOCUMENTED)


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
        InputError, match=r"unknown model; found: 'crosed'; valid: additive, change, crossed.*'crossed'\?"
    ):
        load_model("crosed")
    with pytest.raises(InputError, match="is a folder, not a model file"):
        load_model(tmp_path)
    with pytest.raises(InputError, match="no such model file"):
        load_model(tmp_path / "none.toml")
    with pytest.raises(InputError, match="unknown model; found: ''"):
        load_model("")


# -- designs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_index_arrays_equal_a_slow_loop(name, table):
    spec = spec_of(name)
    rng = np.random.default_rng(0)
    for outcome in OUTCOMES.values():  # any number serves here, and any label
        table = table.assign(**{outcome: table["distance"]})
    for column in ("protected_template", "attribute_template", "classifier", "noun_pair", "profession"):
        table = table.assign(**{column: rng.choice(["x", "y", "z"], len(table))})
    design = Design.of(spec, table)
    used = {*spec.mu, *(v for v in spec.noise.values() if isinstance(v, str))}
    assert used <= set(design.index)
    np.testing.assert_array_equal(design.y, table["distance"])

    def entry(parameter: str, row) -> int:
        position = 0
        for dim in spec.parameters[parameter].dims:
            labels = design.coords[dim]
            assert labels.count(row[dim]) == 1
            position = position * len(labels) + labels.index(row[dim])
        return position

    for parameter, index in design.index.items():
        assert index.dtype.kind == "i"
        assert index.tolist() == [entry(parameter, row) for _, row in table.iterrows()], parameter
    links = {
        (child, arg): value
        for child, p in spec.parameters.items()
        for arg, value in p.args.items()
        if isinstance(value, str)
    }
    assert set(design.parent) == set(links)
    for (child, arg), up in links.items():
        assert design.parent[child, arg].shape == (design.size(child),)
        for _, row in table.iterrows():
            assert design.parent[child, arg][entry(child, row)] == entry(up, row), (child, arg)


def test_entries_without_rows_have_the_parent_their_own_labels_name(table):
    design = Design.of(own(), table[~((table["protected_word"] == "b1") & (table["connection"] == "human"))])
    words, connections = design.coords["protected_word"], design.coords["connection"]
    parent = design.parent["c", "mu"].reshape(len(words), len(connections))
    np.testing.assert_array_equal(parent, np.tile(np.arange(len(connections)), (len(words), 1)))


def test_labels_come_in_the_order_of_the_table_and_connections_in_theirs(table):
    design = Design.of(load_model("crossed"), table)
    assert design.coords["connection"] == list(CONNECTIONS)
    assert design.coords["attribute"] == list(dict.fromkeys(table["attribute"]))
    assert design.shape("c") == (3, 4)
    assert design.size("ws") == 1
    only = Design.of(load_model("crossed"), table[table["connection"].isin(["neutral", "different"])])
    assert only.coords["connection"] == ["different", "neutral"]


def test_a_dimension_that_another_determines_is_found_and_any_other_refused(table):
    spec = own()
    design = Design.of(spec, table)
    kind = dict(zip(table["attribute"], table["attribute_kind"], strict=True))
    told = [design.coords["attribute_kind"][i] for i in design.parent["v", "sigma"]]
    assert told == [kind[word] for word in design.coords["attribute"]]
    for dim in ("connection", "protected_word"):
        other = own(('[parameter.ws]\ndims = ["attribute_kind"]', f'[parameter.ws]\ndims = ["{dim}"]'))
        with pytest.raises(InputError, match=rf"{dim}.*'ws' does not follow from those of 'v'.*attribute"):
            Design.of(other, table)
    # One attribute of two kinds: the kind no longer follows from the word.
    two = table.assign(attribute_kind=["other", *table["attribute_kind"][1:]])
    assert (two["attribute"] == two["attribute"].iloc[0]).sum() > 1
    with pytest.raises(InputError, match=r"attribute_kind.*does not follow"):
        Design.of(spec, two)


@pytest.mark.parametrize(
    ("edit", "error", "said"),
    [
        (lambda t: t.drop(columns="attribute"), InputError, "lacks; found: 'attribute'"),
        (lambda t: t.rename(columns={"distance": "distanc"}), InputError, "did you mean 'distanc'?"),
        (lambda t: t.assign(distance="far"), InputError, "'distance' is no column of numbers"),
        (lambda t: t.assign(distance=[1.0, np.nan, *t["distance"][2:]]), InputError, "row 1: .* found: nan"),
        (lambda t: t.assign(distance=[np.inf, *t["distance"][1:]]), InputError, "row 0: .* found: inf"),
        (lambda t: t.assign(attribute=[None, *t["attribute"][1:]]), InputError, "attribute, row 0: .*empty"),
        (lambda t: t[:0], FitError, "no rows"),
    ],
)
def test_tables_that_do_not_fit_the_model(edit, error, said, table):
    with pytest.raises(error, match=said):
        Design.of(load_model("crossed"), edit(table))


def test_a_column_that_is_not_there_is_traced_to_file_and_key(table, tmp_path):
    path = tmp_path / "mine.toml"
    for old, new, said in [
        (
            '[parameter.v]\ndims = ["attribute"]',
            '[parameter.v]\ndims = ["atribute"]',
            "[parameter.v], key dims: ",
        ),
        ('outcome = "distance"', 'outcome = "distence"', "[likelihood], key outcome: "),
        ('outcome = "distance"', 'outcome = "distance"\nunits = ["pear"]', "[likelihood], key units: "),
        ('outcome = "distance"', 'outcome = "attribute"', "[likelihood], key outcome: "),
    ]:
        text = load_model("crossed").text
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            Design.of(load_model(path), table)
        assert str(caught.value).startswith(f"model crossed ({path}), {said}")
    with pytest.raises(InputError, match=r"^model crossed, \[parameter\.v\], key dims: "):
        Design.of(load_model("crossed"), table.drop(columns="attribute"))
    # Where a model was read from is no part of what it is.
    path.write_text(load_model("crossed").text, encoding="utf-8")
    assert load_model(path) == load_model("crossed")


# -- densities and draws ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def values() -> dict[str, np.ndarray]:
    """Arbitrary parameter values for the own model, two chains of three draws."""
    rng = np.random.default_rng(5)
    shapes = {"c": (3, 4), "cbar": (4,), "csd": (4,), "v": (6,), "ws": (3,), "shift": (), "sigma": (3, 4)}
    return {
        name: np.exp(rng.normal(-1, 0.3, (2, 3, *shape)))
        if name in ("csd", "ws", "sigma")
        else rng.normal(0.5, 0.2, (2, 3, *shape))
        for name, shape in shapes.items()
    }


def by_hand(design, values, table):
    """Mean and sigma of each row, from the labels."""
    at = {dim: labels.index for dim, labels in design.coords.items()}
    mean, sigma = [], []
    for row in table.itertuples():
        k, w, a = (
            at["connection"](row.connection),
            at["protected_word"](row.protected_word),
            at["attribute"](row.attribute),
        )
        mean.append(values["c"][..., w, k] + values["v"][..., a] + values["shift"])
        sigma.append(values["sigma"][..., at["attribute_kind"](row.attribute_kind), k])
    return np.stack(mean, axis=-1), np.stack(sigma, axis=-1)


def test_mean_and_log_likelihood_equal_scipy(table, values):
    design = Design.of(own(), table)
    mean, sigma = by_hand(design, values, table)
    np.testing.assert_allclose(design.mean(values), mean, rtol=1e-13)
    expected = stats.t.logpdf(design.y, df=4, loc=mean, scale=sigma)
    np.testing.assert_allclose(design.log_likelihood(values), expected, rtol=1e-11)

    normal = own(('distribution = "StudentT"\nnu = 4', 'distribution = "Normal"'))
    expected = stats.norm.logpdf(design.y, loc=mean, scale=sigma)
    np.testing.assert_allclose(Design.of(normal, table).log_likelihood(values), expected, rtol=1e-12)

    with_nu = own(("nu = 4", 'nu = "nu"'), ("[parameter.csd]", NU + "[parameter.csd]"))
    nu = np.array([[2.5, 4.0, 30.0], [1.0, 7.0, 1e4]])
    expected = stats.t.logpdf(design.y, df=nu[..., None], loc=mean, scale=sigma)
    found = Design.of(with_nu, table).log_likelihood(values | {"nu": nu})
    np.testing.assert_allclose(found, expected, rtol=1e-9)

    fixed = own(('sigma = "sigma"', "sigma = 0.2"), (OWN[OWN.index("[parameter.sigma]") :], ""))
    expected = stats.t.logpdf(design.y, df=4, loc=mean, scale=0.2)
    np.testing.assert_allclose(Design.of(fixed, table).log_likelihood(values), expected, rtol=1e-11)


NU = '[parameter.nu]\ndistribution = "Gamma"\nalpha = 2\nbeta = 0.1\n'


def test_outcome_draws_have_mean_spread_and_shape_of_the_likelihood(table, values):
    design = Design.of(own(), table)
    many = {name: np.broadcast_to(value[1, 2], (4000, *value.shape[2:])) for name, value in values.items()}
    mean, sigma = (x[1, 2] for x in by_hand(design, values, table))
    drawn = design.outcome_draws(many, seed=shifted(1))
    assert drawn.shape == (4000, len(table))
    worst = min(stats.kstest(z, stats.t(4).cdf).pvalue for z in ((drawn - mean) / sigma).T)
    assert worst > mc.CHANCE / len(table)
    assert np.array_equal(drawn, design.outcome_draws(many, seed=shifted(1)))
    assert not np.array_equal(drawn, design.outcome_draws(many, seed=shifted(2)))

    normal = own(('distribution = "StudentT"\nnu = 4', 'distribution = "Normal"'))
    z = (Design.of(normal, table).outcome_draws(many, seed=shifted(1)) - mean) / sigma
    assert min(stats.kstest(column, "norm").pvalue for column in z.T) > mc.CHANCE / len(table)
    apart = abs(np.corrcoef(z.T)[np.triu_indices(len(table), 1)]) * np.sqrt(4000)
    assert apart.max() < mc.limit(apart.size)


# Arguments as PyMC has them, and the distribution function from SciPy.
LAWS = {
    "Normal": ({"mu": 1.0, "sigma": 0.3}, stats.norm(1, 0.3).cdf),
    "StudentT": ({"nu": 3.0, "mu": 0.5, "sigma": 2.0}, stats.t(3, 0.5, 2).cdf),
    "Exponential": ({"lam": 4.0}, stats.expon(scale=1 / 4).cdf),
    "Gamma": ({"alpha": 2.0, "beta": 0.1}, stats.gamma(2, scale=10).cdf),
    "HalfCauchy": ({"beta": 2.0}, stats.halfcauchy(scale=2).cdf),
    "HalfNormal": ({"sigma": 0.5}, stats.halfnorm(scale=0.5).cdf),
    "HalfStudentT": ({"nu": 3.0, "sigma": 0.5}, lambda x: 2 * stats.t(3, 0, 0.5).cdf(x) - 1),
    "InverseGamma": ({"alpha": 3.0, "beta": 0.5}, stats.invgamma(3, scale=0.5).cdf),
    "LogNormal": ({"mu": -1.0, "sigma": 0.4}, stats.lognorm(0.4, scale=np.exp(-1)).cdf),
}


@pytest.mark.parametrize("name", sorted(DISTRIBUTIONS))
def test_prior_draws_follow_their_distribution(name):
    arguments, cdf = LAWS[name]
    assert tuple(arguments) == DISTRIBUTIONS[name].args
    drawn = DISTRIBUTIONS[name].draw(np.random.default_rng(shifted(7)), **arguments, size=(2000, 3))
    assert drawn.shape == (2000, 3)
    if DISTRIBUTIONS[name].support == "positive":
        assert (drawn > 0).all()
    assert stats.kstest(drawn.ravel(), cdf).pvalue > mc.CHANCE


SCALES = {name: row for name, row in DISTRIBUTIONS.items() if row.support == "positive"}


@pytest.mark.parametrize("name", sorted(SCALES))
def test_the_compiled_density_is_that_of_the_row(name):
    from bayesbias.inference.kernel import log_prior

    arguments, cdf = LAWS[name]
    a, b = [*(arguments[arg] for arg in SCALES[name].args), 0.0][:2]
    for at in (0.07, 0.4, 1.3):
        step = 1e-5 * at
        density = (cdf(at + step) - cdf(at - step)) / (2 * step)
        value, slope = log_prior(SCALES[name].code, a, b, at)
        assert value == pytest.approx(np.log(density), abs=1e-6)
        near = [log_prior(SCALES[name].code, a, b, at + side * step)[0] for side in (-1, 1)]
        assert slope == pytest.approx((near[1] - near[0]) / (2 * step), rel=1e-5, abs=1e-6)


def test_codes_of_the_compiled_density_are_those_of_the_rows():
    from bayesbias.inference.kernel import log_prior

    codes = [row.code for row in SCALES.values()]
    assert sorted(codes) == list(range(len(codes)))
    assert all(row.code is None for row in DISTRIBUTIONS.values() if row.support == "real")
    assert all(np.isnan(log_prior(code, 1.0, 1.0, 1.0)).all() for code in (-1, len(codes)))


def test_a_new_distribution_is_one_row(monkeypatch, table):
    from bayesbias.inference.collapsed import NotCollapsible, collapse
    from bayesbias.inference.graph import pymc_model
    from bayesbias.models.distributions import Distribution

    row = Distribution(
        ("alpha", "beta"), "positive", lambda r, alpha, beta, size: beta * r.weibull(alpha, size)
    )
    monkeypatch.setitem(DISTRIBUTIONS, "Weibull", row)
    spec = own(('distribution = "Exponential"\nlam = 2', 'distribution = "Weibull"\nalpha = 2\nbeta = 0.3'))
    assert spec.parameters["csd"].positive
    assert spec.parameters["csd"].args == {"alpha": 2.0, "beta": 0.3}
    design = Design.of(spec, table)
    drawn = design.prior_draws(4000, seed=1)["csd"]
    assert stats.kstest(drawn.ravel(), stats.weibull_min(2, scale=0.3).cdf).pvalue > 0.001
    with pytest.raises(NotCollapsible):  # without a compiled density it is sampled pair by pair
        collapse(design)
    assert "csd" in {variable.name for variable in pymc_model(design).free_RVs}


def test_prior_draws_follow_their_parents(table):
    design = Design.of(own(), table)
    prior = design.prior_draws(3000, seed=shifted(4))
    assert list(prior) == list(design.spec.parameters)
    assert {name: x.shape for name, x in prior.items()} == {
        name: (3000, *design.shape(name)) for name in prior
    }
    # csd and cbar belong to a connection, the second dimension of c.
    z = (prior["c"] - prior["cbar"][:, None, :]) / prior["csd"][:, None, :]
    assert stats.kstest(z.ravel(), "norm").pvalue > mc.CHANCE
    scales = prior["ws"][:, design.parent["v", "sigma"]]
    assert stats.kstest((prior["v"] / scales).ravel(), "norm").pvalue > mc.CHANCE
    # Words of one kind share a spread, words of two kinds do not.
    kinds = np.array(design.parent["v", "sigma"])
    size = np.log(np.abs(prior["v"]))
    together = np.corrcoef(size.T)
    same = kinds[:, None] == kinds[None, :]
    off = ~np.eye(len(kinds), dtype=bool)
    assert together[same & off].min() > 0.3
    assert np.abs(together[~same]).max() * np.sqrt(3000) < mc.limit((~same).sum())
    # Moments by hand: E cbar = 1, sd 0.3; E csd = 1/2; var c = 0.09 + E csd^2 = 0.09 + 2/4.
    mc.assert_near(mc.mean_of(prior["cbar"]), 1)
    mc.assert_near(mc.log_sd_of(prior["cbar"]), np.log(0.3))
    mc.assert_near(mc.mean_of(prior["csd"]), 0.5)
    squares = (prior["c"].reshape(3000, -1) - 1) ** 2
    mc.assert_near(mc.mean_of(squares.mean(axis=1)), 0.59)  # entries of one draw share their parents
    again = design.prior_draws(3000, seed=shifted(4))
    assert all(np.array_equal(prior[name], again[name]) for name in prior)


# -- what results are about, and models made smaller -----------------------------------------------

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
    assert (spec.results.group, spec.results.fixed) == ("connection", ("connection", "attribute_kind"))
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
        ('group = "kind"', "group = 3", r"own.toml, \[results\], key group: must be the name of a column"),
        ('group = "kind"', "", r"own.toml, \[results\]: lacks the key 'group'"),
        ("fixed", "fixd", r"unknown key.*'fixd'.*did you mean 'fixed'"),
        ('by = "person"', "by = []", r"\[results.level.person\], key by"),
        ('held = ["person", "team"]', "held = 3", r"\[results.level.person\], key held"),
        ("new_days", "population", r"\[results.estimand.population\]: this name is taken"),
        (
            '[results.level.person]\nby = "person"\nheld = ["person", "team"]',
            "level = 3",
            r"\[results\], key level: must be a table; found: 3",
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
    less = without_terms(spec, ("u", "m"), "why")
    assert less.mu == ("c", "v")
    assert list(less.parameters) == ["c", "v", "cbar", "csd", "ws", "sigma"]
    crossed = load_model("crossed")
    assert less.parameters == crossed.parameters
    assert less.notes == (*spec.notes, "why")
    again = parse_model(less.text.encode(), "again")  # its text says what it is
    assert (again.mu, again.parameters, again.sha256) == (less.mu, less.parameters, less.sha256)


@pytest.mark.parametrize(
    ("words", "templates", "kept"),
    [
        # each word in each template on both sides: nothing to leave out
        (3, 3, ("c", "v", "u", "m", "p", "q", "pc", "qc", "s", "r", "sc", "rc", "w", "t", "wt", "tw")),
        # one template: sentences are words, pairs of words are single rows
        (3, 1, ("c", "v", "u", "m")),
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
        assert "w (from the noise)" in found.notes[-1]
        assert "p (from no difference)" in found.notes[-1]
        assert "s (from m)" in found.notes[-1]
        assert set(found.parameters) == {*kept, "cbar", "csd", "ws", "us", "ms", "sigma"}


@pytest.mark.parametrize("categorical", [False, True])
def test_labels_come_in_order_of_appearance_also_of_categories(categorical):
    column = pd.Series(["b", "a", "b", "c"])
    if categorical:
        column = column.astype(pd.CategoricalDtype(["a", "z", "c", "b"]))
    labels, codes = labels_of(column, "x")
    assert labels == ["b", "a", "c"]
    assert codes.tolist() == [0, 1, 0, 2]
    column = pd.Series(["neutral", "own", "associated"], dtype="category" if categorical else object)
    labels, codes = labels_of(column, "connection")
    assert labels == ["associated", "neutral", "own"]
    assert codes.tolist() == [1, 2, 0]
