"""The reduction is exact: against dense linear algebra, the plain PyMC model, and simulated truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.models import slopes_model
from helpers.seeds import shifted
from helpers.tables import grid, opinions, sentences, with_covariates
from scipy import stats

from bayesbias.inference.likelihood import NotCollapsible, collapse, collapse_grid
from bayesbias.inference.sampling import laplace
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model, parse_model
from bayesbias.models.variants import slopes_for, with_slopes

NORMAL_MODELS = ("additive", "crossed", "shared", "hierarchical", "default", "groups")

# A user's own model: two crossed zero-mean effects, a class-level mean, every scale prior of the allow-list.
OWN = b"""
schema = 1
name = "own"
description = "for the test"
[likelihood]
outcome = "distance"
distribution = "Normal"
mu = ["word_by_connection", "attribute_effect", "w"]
sigma = "sigma"
[parameter.word_by_connection]
dims = ["protected_class", "connection"]
distribution = "Normal"
mu = "connection_mean"
sigma = "word_by_connection_sd"
[parameter.connection_mean]
dims = ["connection"]
distribution = "Normal"
mu = 1
sigma = 0.3
[parameter.attribute_effect]
dims = ["attribute"]
distribution = "Normal"
mu = 0
sigma = "attribute_sd"
[parameter.w]
dims = ["protected_word"]
distribution = "Normal"
mu = 0.1
sigma = "wsd"
[parameter.attribute_sd]
dims = ["attribute_kind"]
distribution = "HalfNormal"
sigma = 0.4
[parameter.word_by_connection_sd]
dims = ["connection"]
distribution = "InverseGamma"
alpha = 3
beta = 0.5
[parameter.wsd]
distribution = "Gamma"
alpha = 2
beta = 9
[parameter.sigma]
dims = ["attribute_kind"]
distribution = "HalfStudentT"
nu = 4
sigma = 0.5
"""


def dense(
    design: Design, scales: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and covariance of the outcome by hand, and its noise variances."""
    n = len(design.y)
    mean, cov = np.zeros(n), np.zeros((n, n))
    for name in design.spec.location_parameters():
        args = design.spec.parameters[name].args
        sigma = args["sigma"]
        if isinstance(sigma, str):
            sd = np.ravel(scales[sigma])[design.parent[name, "sigma"]]
        else:
            sd = np.full(design.size(name), sigma)
        incidence = np.zeros((n, design.size(name)))
        factor = 1.0
        if (covariate := design.spec.parameters[name].covariate) is not None:
            factor = design.covariates[covariate]
        factor = factor * design.only.get(name, 1.0)
        incidence[np.arange(n), design.index[name]] = factor
        cov += (incidence * sd**2) @ incidence.T
        if not isinstance(args["mu"], str):
            mean += args["mu"] * incidence.sum(axis=1) if name in design.spec.mu else args["mu"]
    noise = np.broadcast_to(design.noise(scales, "sigma"), n) ** 2
    return mean, cov, noise


def spec_of(name: str):
    if name == "slopes":
        return slopes_model()
    if name == "added slopes":
        words = with_slopes("default", "frequency", ["attribute_class"], varying=["attribute"])
        return with_slopes(
            words, "age", ["protected_class"], varying=[("protected_word", "attribute_kind")]
        )
    if name.endswith(" with slopes"):
        model = name.removesuffix(" with slopes")
        table, covariate = SLOPED[model]
        return slopes_for(model, TABLES[table], covariate)
    return parse_model(OWN, "own") if name == "own" else load_model(name)


TABLES = {
    "grid": grid(),
    "holes": grid().drop(index=[0, 17, 40]).reset_index(drop=True),
    "repeats": pd.concat([grid(), grid().iloc[:16], grid().iloc[:5]], ignore_index=True),
    "uneven": grid(words=(1, 4), attributes=(1, 3), human=0, neutral=2),
    "sentences": sentences(),
    "opinions": opinions(),
    "covariates": with_covariates(grid()),
    "covariates and holes": with_covariates(grid().drop(index=[0, 17, 40]).reset_index(drop=True)),
    "sentences and a covariate": with_covariates(sentences()),
    "opinions and a covariate": opinions().assign(
        pay=lambda own: own["profession"].map({"p0": -1.2, "p1": 0.3, "p2": 0, "p3": 0.9})
    ),
    "change and covariates": with_covariates(grid()).assign(
        change=lambda own: own["distance"] - 0.9
    ),
    "few and covariates": with_covariates(
        grid(words=(1, 2), attributes=(1, 3), human=0, neutral=2)
    ),
}
CASES = [
    (model, table)
    for model in (*NORMAL_MODELS, "own")
    for table in ("grid", "holes", "repeats", "uneven")
]
CASES += [("sentence", "sentences"), ("sentiment", "opinions")]
CASES += [
    ("slopes", "covariates"),
    ("slopes", "covariates and holes"),
    ("slopes", "few and covariates"),
]
CASES += [("added slopes", "covariates")]
# The shipped models with the slopes that the commands add.
SLOPED = {
    "change": ("change and covariates", "year"),
    "sentence": ("sentences and a covariate", "frequency"),
    "sentiment": ("opinions and a covariate", "pay"),
}
WITH_SLOPES = [(f"{model} with slopes", table) for model, (table, _) in SLOPED.items()]


@pytest.mark.parametrize(("model", "table"), CASES + WITH_SLOPES)
@pytest.mark.slow
def test_log_density_equals_dense_marginal(model, table):
    design = Design.of(spec_of(model), TABLES[table])
    reduced = collapse(design)
    rng = np.random.default_rng(5)
    for _ in range(5):
        theta = rng.normal(-2, 0.7, reduced.n_theta)
        scales = reduced.scales_of(theta)
        mean, cov, noise = dense(design, scales)
        expected = stats.multivariate_normal.logpdf(design.y, mean, cov + np.diag(noise))
        for name in reduced.scales:
            parameter, s = design.spec.parameters[name], np.ravel(scales[name])
            prior = {
                "Exponential": lambda a: stats.expon(scale=1 / a["lam"]),
                "HalfCauchy": lambda a: stats.halfcauchy(scale=a["beta"]),
                "HalfNormal": lambda a: stats.halfnorm(scale=a["sigma"]),
                "InverseGamma": lambda a: stats.invgamma(a["alpha"], scale=a["beta"]),
                "Gamma": lambda a: stats.gamma(a["alpha"], scale=1 / a["beta"]),
                "LogNormal": lambda a: stats.lognorm(a["sigma"], scale=np.exp(a["mu"])),
                # a half t is a t folded at zero: twice its density
                "HalfStudentT": lambda a: stats.t(a["nu"], scale=a["sigma"]),
            }[parameter.distribution](parameter.args)
            fold = np.log(2) if parameter.distribution == "HalfStudentT" else 0.0
            expected += np.sum(prior.logpdf(s) + fold + np.log(s))
        assert reduced.log_density(theta)[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("model", "table"), CASES)
def test_gradient_equals_differences(model, table):
    reduced = collapse(Design.of(spec_of(model), TABLES[table]))
    theta = np.random.default_rng(1).normal(-2, 0.5, reduced.n_theta)
    step = 1e-5 * np.eye(reduced.n_theta)
    numeric = [
        (reduced.log_density(theta + s)[0] - reduced.log_density(theta - s)[0]) / 2e-5 for s in step
    ]
    np.testing.assert_allclose(reduced.log_density(theta)[1], numeric, atol=2e-6, rtol=2e-6)


@pytest.mark.parametrize(("model", "table"), CASES)
def test_many_at_once_are_the_same(model, table):
    """Densities worked out side by side are those one by one; what lies beyond floating point has none."""
    reduced = collapse(Design.of(spec_of(model), TABLES[table]))
    thetas = np.random.default_rng(2).normal(-2, 0.7, (11, reduced.n_theta))
    one_by_one = [reduced.log_density(theta) for theta in thetas]
    found = reduced.log_densities(thetas)
    np.testing.assert_allclose(found, [value for value, _ in one_by_one], rtol=1e-11, atol=1e-8)
    thetas[3, 0], thetas[5, -1] = 200.0, -160.0
    again = reduced.log_densities(thetas)
    assert np.isneginf(again[[3, 5]]).all()
    np.testing.assert_array_equal(np.delete(again, [3, 5]), np.delete(found, [3, 5]))


@pytest.mark.parametrize(
    ("model", "table"),
    [("shared", "grid"), ("own", "holes"), ("sentiment", "opinions"), ("default", "holes")],
)
def test_the_function_behind_a_pointer_is_the_same(model, table):
    """What the sampler calls through C gives the density of its coordinates, and says where there is none.

    A scale is m h(u) with h(u) = -log(1 - Phi(u)); u is the mode plus a matrix times what is sampled.
    """
    import ctypes

    from bayesbias.inference.kernel import expand_callback, logp_callback, packed

    reduced = collapse(Design.of(spec_of(model), TABLES[table]))
    normal, n = laplace(reduced), reduced.n_theta
    data = packed([*reduced.arrays, normal.log_m, normal.mode, normal.root])
    pointer = ctypes.POINTER(ctypes.c_double)
    call = ctypes.CFUNCTYPE(
        ctypes.c_int64, ctypes.c_uint64, pointer, pointer, pointer, ctypes.c_void_p
    )
    expand = ctypes.CFUNCTYPE(
        ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, pointer, pointer, ctypes.c_void_p
    )

    def called(at):
        at, grad, value, theta = np.ascontiguousarray(at), np.empty(n), np.empty(1), np.empty(n)
        places = [x.ctypes.data_as(pointer) for x in (at, grad, value, theta)]
        code = call(logp_callback.address)(n, *places[:3], data.ctypes.data)
        expand(expand_callback.address)(n, n, places[0], places[3], data.ctypes.data)
        return code, value[0], grad, theta

    def by_hand(at):
        u = normal.mode + normal.root @ at
        h = -np.log(stats.norm.sf(u))
        theta = normal.log_m + np.log(h)
        volume = np.log(stats.norm.pdf(u) / stats.norm.sf(u) / h).sum()
        return reduced.log_density(theta)[0] + volume, theta

    rng = np.random.default_rng(4)
    for _ in range(3):
        at = rng.normal(0, 1, n)
        code, value, grad, theta = called(at)
        assert code == 0
        assert value == pytest.approx(by_hand(at)[0], rel=1e-10)
        np.testing.assert_allclose(theta, by_hand(at)[1], rtol=1e-9, atol=1e-9)
        numeric = [(by_hand(at + s)[0] - by_hand(at - s)[0]) / 2e-5 for s in 1e-5 * np.eye(n)]
        np.testing.assert_allclose(grad, numeric, rtol=1e-4, atol=1e-4)
        u = (normal.mode + normal.root @ at)[None]
        assert normal.log_densities(reduced, u)[0] == pytest.approx(value, rel=1e-10)
        minus, slope = normal.minus(reduced, u[0])
        assert -minus == pytest.approx(value, rel=1e-10)
        np.testing.assert_allclose(-normal.root.T @ slope, grad, rtol=1e-7, atol=1e-7)
    assert called(np.full(n, 1e3))[0] != 0


@pytest.mark.parametrize("model", ["crossed", "default"])
@pytest.mark.parametrize("far", [-1e3, -200.0, 160.0, 1e3, np.nan])
def test_a_wild_step_has_density_zero_and_raises_nothing(far, model):
    reduced = collapse(Design.of(load_model(model), grid()))
    for position in range(reduced.n_theta):
        theta = np.full(reduced.n_theta, -2.0)
        theta[position] = far
        assert reduced.log_density(theta)[0] == -np.inf


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "table"),
    [
        pytest.param(*case, marks=[pytest.mark.claim] * case[0].endswith("slopes"))
        for case in CASES
        if case[1] not in ("uneven", "covariates", "few and covariates")
    ],
)
def test_effects_are_drawn_from_their_conditional(model, table):
    """First and second moments of the fitted means against the closed form."""
    design = Design.of(spec_of(model), TABLES[table])
    reduced = collapse(design)
    n = 4_000
    theta = np.random.default_rng(2).normal(-2, 0.3, reduced.n_theta)
    drawn = reduced.draw_effects(np.tile(theta, (n, 1)), np.random.default_rng(shifted(3)))
    mean, cov, noise = dense(design, reduced.scales_of(theta))
    gain = cov @ np.linalg.inv(cov + np.diag(noise))
    expected, spread = mean + gain @ (design.y - mean), cov - gain @ cov
    fitted = design.mean(reduced.scales_of(np.tile(theta, (n, 1))) | drawn)
    sd = np.sqrt(np.diag(spread))
    assert np.abs((fitted.mean(axis=0) - expected) / (sd / np.sqrt(n))).max() < mc.limit(len(sd))
    error = np.sqrt((np.outer(sd, sd) ** 2 + spread**2) / n)  # of a covariance of normal draws
    assert np.abs((np.cov(fitted.T) - spread) / error).max() < mc.limit(spread.size)
    for name in design.spec.location_parameters():
        assert drawn[name].shape == (n, *design.shape(name))


@pytest.mark.slow
def test_entries_without_data_keep_their_prior():
    table = grid()
    table = table[
        ~((table.protected_word == "w00") & (table.connection == "associated"))
    ].reset_index(drop=True)
    design = Design.of(load_model("hierarchical"), table)
    reduced = collapse(design)
    theta = np.full(reduced.n_theta, -1.5)
    drawn = reduced.draw_effects(np.tile(theta, (20_000, 1)), np.random.default_rng(shifted(0)))
    w, k = (
        design.coords["protected_word"].index("w00"),
        design.coords["connection"].index("associated"),
    )
    rest = drawn["word_by_connection"][:, w, k] - drawn["connection_mean"][:, k]
    mc.assert_near(mc.mean_of(rest), 0)
    mc.assert_near(mc.log_sd_of(rest), -1.5)


def test_size_depends_on_orbits_not_on_words():
    small = collapse(Design.of(load_model("crossed"), grid()))
    large = collapse(Design.of(load_model("crossed"), grid((20, 15, 30), (10, 20, 30), 40, 50)))
    assert small.component_sizes == large.component_sizes
    # 3 protected classes x 3 lists of stereotypes; nothing connects those with the controls, as g does in cells.
    assert sorted(small.component_sizes)[-3:] == [3, 3, 9]
    assert max(collapse(Design.of(load_model("default"), grid())).component_sizes) == 15


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            'distribution = "Normal"\nmu = ["word_by_connection", "attribute_effect", "w"]',
            'distribution = "StudentT"\nnu = 4\nmu = ["word_by_connection", "attribute_effect", "w"]',
            "StudentT",
        ),
        (
            '[parameter.attribute_effect]\ndims = ["attribute"]\ndistribution = "Normal"',
            '[parameter.attribute_effect]\ndims = ["attribute"]\ndistribution = "StudentT"\nnu = 4',
            "effect attribute_effect",
        ),
        (
            'mu = ["word_by_connection", "attribute_effect", "w"]',
            'mu = ["word_by_connection", "attribute_effect", "w", "connection_mean"]',
            "more than one way",
        ),
        (
            'distribution = "HalfNormal"\nsigma = 0.4',
            'distribution = "HalfNormal"\nsigma = "wsd"',
            "parameters of its own",
        ),
    ],
)
def test_what_cannot_be_reduced_is_said(old, new, reason):
    text = OWN.decode()
    assert old in text
    spec = parse_model(text.replace(old, new).encode(), "own")
    with pytest.raises(NotCollapsible, match=reason):
        collapse_grid(Design.of(spec, grid()))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"a": "protected_word"}, "a has an entry of its own for whatever has one frequency"),
        ({}, "differs between rows of one"),
    ],
)
def test_a_covariate_that_cannot_be_rotated_is_said(changed, reason):
    text = slopes_model("a").text
    table = with_covariates(grid())
    if changed:
        text = text.replace(
            '[parameter.a]\ndims = ["connection"]', '[parameter.a]\ndims = ["protected_word"]'
        )
    else:
        table["frequency"] = np.random.default_rng(0).normal(0, 1, len(table))
    with pytest.raises(NotCollapsible, match=reason):
        collapse_grid(Design.of(parse_model(text.encode(), "own"), table))


@pytest.mark.slow
def test_a_ragged_table_is_not_reduced():
    rng = np.random.default_rng(0)
    table = grid((20, 20, 20), (10, 10, 10), 30, 30)
    table = table[rng.random(len(table)) < 0.6].reset_index(drop=True)
    with pytest.raises(NotCollapsible, match="is no grid"):
        collapse_grid(Design.of(load_model("crossed"), table))


def spread_of(design, name, scales):
    """The prior standard deviation of each entry of an effect."""
    sd = design.spec.parameters[name].args["sigma"]
    if isinstance(sd, str):
        return np.ravel(scales[sd])[design.parent[name, "sigma"]]
    return np.full(design.size(name), sd)


def standard(design, name, effects, scales):
    """The standard normals behind effects."""
    mu = design.spec.parameters[name].args["mu"]
    center = np.ravel(effects[mu])[design.parent[name, "mu"]] if isinstance(mu, str) else mu
    own = (np.ravel(effects[name]) - center) / spread_of(design, name, scales)
    return own.reshape(design.shape(name))


# The plain model of each is compiled, which takes seconds on a new machine.
@pytest.mark.parametrize(
    ("model", "table"),
    [
        pytest.param(
            m,
            "grid",
            marks=[pytest.mark.slow] if m in ("additive", "hierarchical", "groups") else [],
        )
        for m in NORMAL_MODELS
    ]
    + [pytest.param("sentence", "sentences", marks=pytest.mark.claim)]
    + [pytest.param("slopes", "covariates", marks=pytest.mark.slow)],
)
def test_log_density_differences_equal_the_plain_pymc_model(model, table):
    """log p(y, effects, scales) of PyMC less log p(effects | y, scales) is the collapsed density."""
    from bayesbias.inference.fitting import build

    design = Design.of(spec_of(model), TABLES[table])
    reduced = collapse(design)
    plain = build(spec_of(model), TABLES[table])
    point = plain.initial_point()
    # Four values are sooner computed than compiled for; the larger model has more terms than that way can add.
    logp = plain.compile_logp(mode=None if model == "sentence" else "FAST_COMPILE")
    rng = np.random.default_rng(11)
    names = design.spec.location_parameters()
    differences = []
    for _ in range(4):
        theta = rng.normal(-2, 0.5, reduced.n_theta)
        scales = reduced.scales_of(theta)
        # Near the posterior, so that the two large terms do not cancel digits.
        drawn = reduced.draw_effects(theta[None], rng)
        effects = {name: drawn[name][0] for name in names}
        values = dict(point)
        for name in names:
            if f"{name}_standard" in values:
                values[f"{name}_standard"] = standard(design, name, effects, scales)
            else:
                values[name] = effects[name]
        for name in reduced.scales:
            values[f"{name}_log__"] = np.log(scales[name])
        # The density of effects is that of their standard normals by the standard deviations.
        volume = sum(
            np.log(spread_of(design, name, scales)).sum()
            for name in names
            if f"{name}_standard" in point
        )
        joint = float(logp({key: values[key] for key in point})) - volume
        # The conditional of all effects, by hand: precision and shift of a normal.
        size = {name: design.size(name) for name in names}
        start = dict(zip(names, np.cumsum([0, *size.values()]), strict=False))
        total = sum(size.values())
        root, right = np.zeros((total, total)), np.zeros(total)
        for name in names:
            args = design.spec.parameters[name].args
            sd = (
                np.ravel(scales[args["sigma"]])[design.parent[name, "sigma"]]
                if isinstance(args["sigma"], str)
                else np.full(size[name], args["sigma"])
            )
            for entry in range(size[name]):
                row = np.zeros(total)
                row[start[name] + entry] = 1
                centre = args["mu"]
                if isinstance(centre, str):
                    row[start[centre] + design.parent[name, "mu"][entry]] = -1
                    centre = 0.0
                root += np.outer(row, row) / sd[entry] ** 2
                right += row * centre / sd[entry] ** 2
        noise = np.broadcast_to(design.noise(scales, "sigma"), len(design.y)) ** 2
        for pair in range(len(design.y)):
            row = np.zeros(total)
            for name in design.spec.mu:
                covariate = design.spec.parameters[name].covariate
                factor = 1.0 if covariate is None else design.covariates[covariate][pair]
                factor = factor * design.only[name][pair] if name in design.only else factor
                row[start[name] + design.index[name][pair]] = factor
            root += np.outer(row, row) / noise[pair]
            right += row * design.y[pair] / noise[pair]
        flat = np.concatenate([np.ravel(effects[name]) for name in names])
        centre = np.linalg.solve(root, right)
        conditional = (
            0.5 * np.linalg.slogdet(root)[1]
            - 0.5 * total * np.log(2 * np.pi)
            - 0.5 * (flat - centre) @ root @ (flat - centre)
        )
        differences.append(reduced.log_density(theta)[0] - (joint - conditional))
    # Constant, and zero but for a constant of PyMC's HalfCauchy that is computed in single precision.
    np.testing.assert_allclose(differences, differences[0], atol=1e-8)
    assert differences[0] == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("table", ["grid", "holes"])
def test_another_outcome_of_the_same_pairs_is_reduced_as_from_the_start(table):
    design = Design.of(spec_of("default"), TABLES[table]).ordered()
    other = replace(design, y=np.sin(10 * design.y))
    again = collapse(design).of_outcome(other.y)
    anew = collapse(other)
    assert again.design.y is other.y
    for mine, its in zip(again.arrays, anew.arrays, strict=True):
        np.testing.assert_array_equal(mine, its)
    for mine, its in zip(again.components, anew.components, strict=True):
        np.testing.assert_array_equal(mine.gram_root, its.gram_root)
        assert (mine.data is None) == (its.data is None)
        if mine.data is not None:
            np.testing.assert_array_equal(mine.data, its.data)
