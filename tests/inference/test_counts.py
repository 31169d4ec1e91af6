"""Counts with normal effects in log odds: the compiled density against the model as stated, and what is sampled."""

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.inference import counts
from bayesbias.models.design import Design
from bayesbias.models.variants import trimmed

GROUPS = ("a", "b")


def table(groups=GROUPS, words=3, templates=4, items=4, n=20, seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        {"group": g, "word": f"{g}{w}", "template": f"t{t}", "item": f"i{i}", "model": "m", "arm": f"{g} | m"}
        for g in groups for w in range(words) for t in range(templates) for i in range(items)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    frame["question"] = [f"q{k}" for k in range(len(frame))]
    p = 1 / (1 + np.exp(-rng.normal(0.3, 1, len(frame))))
    return frame.assign(answers=n, chosen=rng.binomial(n, p).astype(float))


@pytest.fixture(scope="module", params=[2, 3])
def laid(request):
    frame = table(("a", "b", "c")[: request.param])
    design = Design.of(trimmed(bb.load_model("responses_choice"), frame), frame).ordered()
    return design, counts.Layout.of(design)


def test_the_pairs_are_what_groups_share_and_differ_in(laid):
    _, layout = laid
    assert {pair[:2] for pair in layout.pairs} == {
        ("item_effect", "group_by_item"), ("template_effect", "group_by_template"),
    }  # fmt: skip
    assert layout.single == "question_effect"


def test_standard_deviations_of_single_questions_are_those_of_the_model(laid):
    """The variance of log odds and their covariances are the same, however effects are laid out."""
    design, layout = laid
    rng = np.random.default_rng(1)
    scales = {name: float(rng.uniform(0.5, 2)) for name in layout.scales}
    x = np.zeros((len(design.y), len(layout.scale_of)))
    x[np.arange(len(design.y))[None, :], layout.index] = layout.weight
    sd = layout.sds(np.array([scales[name] for name in layout.scales]))
    found = (x * sd) @ (x * sd).T
    expected = np.zeros_like(found)
    for name in design.spec.mu:
        if name == layout.single:
            continue
        sigma = design.spec.parameters[name].args["sigma"]
        own = scales.get(sigma, sigma)
        expected += own**2 * (design.index[name][:, None] == design.index[name])
    np.testing.assert_allclose(found, expected, atol=1e-12)


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
    for k in range(0, kept["n"], 3):
        step = np.zeros(kept["n"])
        step[k] = 1e-5
        slope = (density(at + step)[0] - density(at - step)[0]) / 2e-5
        assert slope == pytest.approx(grad[k], rel=1e-4, abs=1e-4)


@pytest.mark.slow
@pytest.mark.claim
def test_the_posterior_is_that_of_the_plain_model():
    frame = table(words=4, templates=3, items=1, n=30, seed=4)
    settings = {"seed": 1, "progress": False, "draws": 1500}
    ours = bb.fit(frame, "responses_choice", **settings)
    plain = bb.fit(frame, "responses_choice", sampler="pairwise", **settings)
    methods = [fit.provenance["sampler"]["method"] for fit in (ours, plain)]
    assert methods == ["counts", "pairwise"]
    assert ours.diagnostics()["divergences"] == 0
    for name in ("word_sd", "question_sd", "arm_mean"):
        a, b = (fit.parameters().set_index(["name", "index"]).loc[name] for fit in (ours, plain))
        error = np.hypot(a["mcse_mean"], b["mcse_mean"])
        assert (np.abs(a["mean"] - b["mean"]) < 5 * error + 0.02).all(), name
    a, b = (fit.contrasts(estimand="population", level="overall").iloc[0] for fit in (ours, plain))
    assert abs(a["mean"] - b["mean"]) < 5 * np.hypot(a["mcse_mean"], b["mcse_mean"])


def test_counts_beyond_their_trials_are_refused():
    with pytest.raises(bb.InputError, match="trials"):
        bb.fit(table().assign(chosen=25.0), "responses_choice", seed=1)


def test_more_answers_than_one_leave_the_question_in(recwarn):
    one = table(n=1)
    assert "question_effect" not in trimmed(bb.load_model("responses_choice"), one).mu
    assert "question_effect" in trimmed(bb.load_model("responses_choice"), table()).mu
