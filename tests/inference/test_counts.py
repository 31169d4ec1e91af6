"""Counts with normal effects in log odds: the compiled density against the model as stated, and what is sampled."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, optimize, stats

import bayesbias as bb
from bayesbias.inference import counts
from bayesbias.models.design import Design
from bayesbias.models.variants import trimmed

GROUPS = ("a", "b")


def table(groups=GROUPS, words=3, templates=4, items=4, n=20, seed=0, models=("m",)):
    rng = np.random.default_rng(seed)
    rows = [
        {"group": g, "word": f"{g}{w}", "template": f"t{t}", "item": f"i{i}", "model": m, "arm": f"{g} | {m}"}
        for g in groups for w in range(words) for t in range(templates) for i in range(items) for m in models
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    frame["question"] = [f"q{k}" for k in range(len(frame))]
    frame["answer_pattern"] = "all"
    p = 1 / (1 + np.exp(-rng.normal(0.3, 1, len(frame))))
    return frame.assign(answers=n, chosen=rng.binomial(n, p).astype(float))


CASES = {
    "two groups": {"items": 20},
    "three groups": {"groups": ("a", "b", "c")},
    "two models, few items": {"models": ("m", "n"), "items": 3},
    "three models": {"models": ("m", "n", "o"), "items": 12, "words": 2},
}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def laid(request):
    frame = table(**request.param)
    design = Design.of(trimmed(bb.load_model("responses_choice"), frame), frame).ordered()
    return design, counts.Layout.of(design)


def test_effects_of_the_same_units_are_sampled_together():
    frame = table(models=("m", "n"), items=3)
    design = Design.of(trimmed(bb.load_model("responses_choice"), frame), frame).ordered()
    layout = counts.Layout.of(design)
    assert {frozenset(family.entries) for family in layout.families} == {
        frozenset({"arm_mean", "item_effect", "group_by_item", "model_by_item", "group_by_item_by_model"}),
        frozenset({
            "template_effect", "item_by_template", "group_by_template", "model_by_template",
            "group_by_template_by_model", "group_by_item_by_template",
        }),
        frozenset({"word_effect"}),  # whose SD differs by group
        frozenset({"model_by_word"}),
    }  # fmt: skip
    assert layout.single == "question_effect"


def test_where_an_item_lacks_a_group_means_and_differences_of_items_are_apart():
    frame = table()
    frame = frame[(frame["item"] != "i0") | (frame["group"] == "a")]
    design = Design.of(trimmed(bb.load_model("responses_choice"), frame), frame).ordered()
    for family in counts.Layout.of(design).families:
        assert not {"item_effect", "group_by_item"} <= family.entries.keys()


def test_standard_deviations_of_single_questions_are_those_of_the_model(laid):
    """The variance of log odds and their covariances are the same, however effects are laid out."""
    design, layout = laid
    rng = np.random.default_rng(1)
    scales = {name: rng.uniform(0.5, 2, design.size(name)) for name in layout.scales}
    x = layout.matrix()
    sd = layout.sds(np.concatenate([scales[name] for name in layout.scales]))
    found = (x * sd) @ (x * sd).T
    expected = np.zeros_like(found)
    for name in design.spec.mu:
        if name == layout.single:
            continue
        sigma = design.spec.parameters[name].args["sigma"]
        entries, variance = design.index[name], sigma
        if isinstance(sigma, str):
            variance = scales[sigma][design.parent[name, "sigma"][entries]]
        expected += variance**2 * (entries[:, None] == entries)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_effects_have_their_own_variance_and_the_sum_that_was_drawn(laid):
    _, layout = laid
    rng, n = np.random.default_rng(5), 8_000
    for family in layout.families:
        units, cells = next(iter(family.entries.values())).shape
        sds = {name: np.full(units, rng.uniform(0.5, 2)) for name in family.entries}
        drawn, total = [], np.zeros((1, n, units, cells))
        for shares, contrasts in zip(family.share, family.contrasts, strict=True):
            sd = np.sqrt(sum(part * sds[name][0] ** 2 for name, part in shares.items()))
            block = sd * rng.standard_normal((1, n, contrasts.shape[1], units))
            drawn.append(block.reshape(1, n, -1))
            total += np.einsum("gk,cdks->cdsg", contrasts, block)
        found = family.effects(np.concatenate(drawn, axis=2), sds, rng)
        np.testing.assert_allclose(sum(found.values()), total, atol=1e-9)
        flat, own_sd = [], []
        for name, entries in family.entries.items():
            _, first = np.unique(entries, return_index=True)
            flat.append(found[name].reshape(n, -1)[:, first[:6]])
            own_sd += [sds[name][0]] * flat[-1].shape[1]
        values = np.concatenate(flat, axis=1) / own_sd
        covariance = values.T @ values / n
        np.testing.assert_allclose(covariance, np.eye(len(own_sd)), atol=6 * np.sqrt(2 / n))


def test_the_worked_example_of_the_module_is_right():
    """Its pilot, the mode, and what quadrature has at another SD."""
    mode = optimize.brentq(lambda z: 3 - 4 / (1 + np.exp(-z)) - z, -5, 5)
    p = 1 / (1 + np.exp(-mode))
    assert (mode, 4 * p * (1 - p)) == pytest.approx((0.505, 0.939), abs=5e-4)
    design = SimpleNamespace(y=np.array([3.0]), trials=np.array([4]))
    layout = counts.Layout(
        families=(), single="", scales=(), cell=np.zeros((1, 1), dtype=int), index=np.zeros((1, 1), dtype=int),
        weight=np.ones((1, 1)), share=np.zeros((1, 0)), fixed=np.ones(1), row_scale=np.array([-1]), offset=np.zeros(1),
    )  # fmt: skip
    found = counts.pilot(design, layout)
    assert found.center[0] == pytest.approx(mode, abs=1e-9)
    assert found.root[0, 0] == pytest.approx(0.718, abs=5e-4)
    assert found.working[0] == pytest.approx(1.043, abs=5e-4)

    def joint(effect: float, power: int = 0) -> float:
        likelihood = stats.binom.pmf(3, 4, 1 / (1 + np.exp(-effect)))
        return effect**power * likelihood * stats.norm.pdf(effect, 0, 2)

    whole, first, second = (integrate.quad(joint, -20, 20, args=(k,))[0] for k in range(3))
    mean = first / whole
    assert mean == pytest.approx(0.973, abs=5e-4)
    assert np.sqrt(second / whole - mean**2) == pytest.approx(1.033, abs=5e-4)


def test_the_worked_example_of_a_family_is_right():
    design = SimpleNamespace(
        y=np.zeros(2),
        index={"item": np.array([0, 0]), "group_by_item": np.array([0, 1])},
        codes={"group": np.array([0, 1])},
    )
    family = counts.Family.of(design, ["item", "group_by_item"], "item", ["group"])
    assert family.share == ({"item": 1.0, "group_by_item": 0.5}, {"group_by_item": 1.0})
    n, sds = 40_000, dict.fromkeys(family.entries, np.ones(1))
    sign = np.sign(family.contrasts[1][1, 0])
    drawn = np.broadcast_to([0.9, 0.6 * sign], (1, n, 2))
    effects = family.effects(drawn, sds, np.random.default_rng(2))
    total = sum(effects.values())[0, :, 0]
    np.testing.assert_allclose(total, np.broadcast_to([0.476, 1.324], (n, 2)), atol=5e-4)
    item = effects["item"][0, :, 0, 0]
    assert item.mean() == pytest.approx(0.6, abs=5 * np.sqrt(1 / 3 / n))
    assert item.var() == pytest.approx(1 / 3, abs=5 / 3 * np.sqrt(2 / n))


def test_the_gradient_is_that_of_the_density(laid, monkeypatch):
    design, layout = laid
    kept = {}
    monkeypatch.setattr(counts, "nuts", lambda n, callbacks, data, *_: kept.update(n=n, data=data))
    with pytest.raises(TypeError):  # nothing is sampled
        counts._sampled(design, layout, {"seed": 1, "thin": 1, "tune": 1, "draws": 1}, 1)
    words = kept["data"]

    def density(at):
        grad = np.zeros(kept["n"])
        return counts._density(words, words.view(np.float64), at, grad, np.empty(0)), grad

    at = np.random.default_rng(3).normal(0, 0.5, kept["n"])
    _, grad = density(at)
    for k in range(0, kept["n"], 7):
        step = np.zeros(kept["n"])
        step[k] = 1e-5
        slope = (density(at + step)[0] - density(at - step)[0]) / 2e-5
        assert slope == pytest.approx(grad[k], rel=1e-4, abs=1e-4)


@pytest.mark.slow
@pytest.mark.claim
def test_the_posterior_is_that_of_the_plain_model():
    frame = table(words=4, templates=3, items=1, n=30, seed=4)
    settings = {"seed": 1, "progress": False, "draws": 1500}
    ours = bb.fit(frame, "responses_choice", engine="nuts", **settings)
    plain = bb.fit(frame, "responses_choice", sampler="pairwise", **settings)
    methods = [fit.provenance["sampler"]["method"] for fit in (ours, plain)]
    assert methods == ["counts", "pairwise"]
    assert ours.diagnostics()["divergences"] == 0
    for name in ("word_sd", "question_sd", "arm_mean"):
        a, b = (fit.parameters().set_index(["name", "index"]).loc[name] for fit in (ours, plain))
        error = np.hypot(a["mcse_mean"], b["mcse_mean"])
        assert (np.abs(a["mean"] - b["mean"]) < 5 * error + 0.02).all(), name
    a, b = (
        fit.contrasts(estimand="population", level="overall", detail=True).iloc[0]
        for fit in (ours, plain)
    )
    assert abs(a["mean"] - b["mean"]) < 5 * np.hypot(a["mcse_mean"], b["mcse_mean"])


def test_counts_beyond_their_trials_are_refused():
    with pytest.raises(bb.InputError, match="trials"):
        bb.fit(table().assign(chosen=25.0), "responses_choice", seed=1)


def test_more_answers_than_one_leave_the_question_in(recwarn):
    one = table(n=1)
    assert "question_effect" not in trimmed(bb.load_model("responses_choice"), one).mu
    assert "question_effect" in trimmed(bb.load_model("responses_choice"), table()).mu


def test_settings_are_read_alone_and_the_sampler_says_what_it_did():
    frame = table(words=2, templates=2, items=2)
    design = Design.of(trimmed(bb.load_model("responses_choice"), frame), frame).ordered()
    settings = {"draws": 20, "tune": 50, "chains": 2, "seed": 1, "target_accept": 0.9}
    asked = dict(settings)
    sampled = counts.sample_counts(design, settings, 1)
    assert settings == asked
    assert (sampled.target_accept, sampled.thin, sampled.engine.name) == (0.9, 1, "nuts")
    assert sampled.idata["posterior"].sizes["draw"] == 20
