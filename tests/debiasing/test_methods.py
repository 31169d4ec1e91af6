"""Debiasing: the algebra of the published methods, and an account that says what happened."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import optimize

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.debiasing.methods import hard_debias, soft_debias
from bayesbias.embeddings.embedding import Embedding
from bayesbias.embeddings.loading import load_embedding
from bayesbias.wordlists.listfile import load_wordlist

THREE = [["a1", "b1", "c1"], ["a2", "b2", "c2"], ["a3", "b3", "c3"]]


def vectors(n_other: int = 20, d: int = 8, seed: int = 0) -> Embedding:
    rng = np.random.default_rng(seed)
    words = [w for group in THREE for w in group] + [f"w{i}" for i in range(n_other)]
    return Embedding("toy", tuple(words), rng.normal(size=(len(words), d)) + 0.3)


def unit(embedding: Embedding) -> np.ndarray:
    v = np.asarray(embedding.vectors, dtype=float)
    return v / np.linalg.norm(v, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "name", ["religion", *(pytest.param(n, marks=pytest.mark.claim) for n in ("gender", "race"))]
)
def test_hard_debiasing_of_the_embedded_default_keeps_its_promises(name):
    result = hard_debias("minilm-static", name)
    out = result.embedding
    neutral = out.vectors_of(result.neutralized)
    assert len(result.neutralized) == len(load_wordlist(name).attribute_words)
    assert np.abs(neutral @ result.subspace.T).max() < 1e-10
    for group in load_wordlist(name).definitional_sets:  # every set, those that overlap as well
        cosines = neutral @ out.vectors_of(group).T
        assert np.ptp(cosines, axis=1).max() < 1e-10
    assert np.allclose(np.linalg.norm(out.vectors, axis=1), 1, atol=1e-12)
    twice = hard_debias(out, name)
    assert np.abs(twice.embedding.vectors - out.vectors).max() < 1e-10
    assert twice.changed == ()


def test_two_classes_follow_the_published_formulas():
    he, she, nurse = (
        np.array([1.0, 0.2, 0.1]),
        np.array([-1.0, 0.4, 0.3]),
        np.array([-0.5, 1.0, 0.0]),
    )
    result = hard_debias(
        {"he": he, "she": she, "nurse": nurse}, sets=[["he", "she"]], neutralize=["nurse"]
    )
    he, she, nurse = (v / np.linalg.norm(v) for v in (he, she, nurse))
    b = (he - she) / np.linalg.norm(he - she)  # Bolukbasi et al. (2016), section 6, for one pair
    rest = nurse - (nurse @ b) * b
    mean = (he + she) / 2
    common = mean - (mean @ b) * b
    side = np.sqrt(1 - common @ common) * np.sign(he @ b - mean @ b) * b
    assert np.allclose(result.embedding["nurse"], rest / np.linalg.norm(rest), atol=1e-14)
    assert np.allclose(result.embedding["he"], common + side, atol=1e-14)
    assert np.allclose(result.embedding["she"], common - side, atol=1e-14)
    assert result.explained == pytest.approx([1.0])
    # The middle of two vectors of length 1 is orthogonal to their difference: alone, a pair is equal already.
    assert (result.changed, result.unchanged) == (("nurse",), ("he", "she"))


def test_signs_order_and_rotation_change_nothing(monkeypatch):
    e = vectors()
    plain = hard_debias(e, sets=THREE, neutralize=["w0", "w1"])
    assert plain.subspace.shape == (2, 8)
    real = np.linalg.svd

    def turned(*args, **kwargs):
        u, s, vt = real(*args, **kwargs)
        return -u, s, -vt

    monkeypatch.setattr(np.linalg, "svd", turned)
    other = hard_debias(e, sets=[group[::-1] for group in THREE[::-1]], neutralize=["w1", "w0"])
    assert np.abs(other.embedding.vectors - plain.embedding.vectors).max() < 1e-12
    soft = soft_debias(e, sets=THREE, neutralize=["w0", "w1"], lam=3.0)
    monkeypatch.undo()
    again = soft_debias(e, sets=THREE, neutralize=["w0", "w1"], lam=3.0)
    one, two = unit(soft.embedding), unit(again.embedding)
    assert np.abs(one @ one.T - two @ two.T).max() < 1e-9


def test_what_changed_is_what_was_treated():
    e = vectors()
    result = hard_debias(e, sets=THREE, neutralize=["w0", "w1"])
    assert set(result.changed) == {w for group in THREE for w in group} | {"w0", "w1"}
    assert set(result.unchanged) == {f"w{i}" for i in range(2, 20)}
    bare = hard_debias(e, sets=THREE, neutralize=["w0"], equalize=False)
    assert bare.changed == ("w0",)
    assert bare.equalized == ()
    every = hard_debias(e, sets=THREE, neutralize="all_others")
    assert every.unchanged == ()
    account = json.loads(json.dumps(result.as_dict()))
    assert (account["n_changed"], account["n_unchanged"]) == (11, 18)


def test_sets_that_overlap_are_merged_or_the_last_wins():
    e = vectors()
    sets = [["a1", "b1", "c1"], ["a2", "b1", "c1"]]
    merged = hard_debias(e, sets=sets, neutralize=["w0", "w1"])
    assert [set(g) for g in merged.equalized] == [{"a1", "b1", "c1", "a2"}]
    assert any("equalized as one" in note for note in merged.notes)
    last = hard_debias(e, sets=sets, neutralize=["w0", "w1"], overlap="last")
    cosines = (
        last.embedding.vectors_of(["w0", "w1"])
        @ last.embedding.vectors_of(["a1", "a2", "b1", "c1"]).T
    )
    assert np.ptp(cosines[:, 1:], axis=1).max() < 1e-10  # the last set is equal
    assert np.abs(cosines[:, 0] - cosines[:, 1]).min() > 1e-4  # the first lost two of its words
    assert any("a1/b1/c1" in note for note in last.notes)


def test_the_soft_map_solves_the_published_problem():
    e = vectors(n_other=6, d=3, seed=2)
    sets, neutral, lam = [["a1", "b1"], ["a2", "b2"]], ["w0", "w1", "w2"], 5.0
    result = soft_debias(e, sets=sets, neutralize=neutral, lam=lam, k=1)
    w = unit(e).T
    n, b = unit(e)[[e.words.index(x) for x in neutral]].T, result.subspace.T

    def loss(t):
        t = t.reshape(3, 3)
        return ((t @ w).T @ (t @ w) - w.T @ w).ravel() @ (
            (t @ w).T @ (t @ w) - w.T @ w
        ).ravel() + lam * np.sum(((t @ n).T @ (t @ b)) ** 2)

    best = min(
        (optimize.minimize(loss, np.eye(3).ravel() + s, tol=1e-12) for s in (0.0, 0.05)),
        key=lambda r: r.fun,
    )
    t = best.x.reshape(3, 3) @ w
    t /= np.linalg.norm(t, axis=0)
    found = result.embedding.vectors @ result.embedding.vectors.T
    assert np.abs(found - t.T @ t).max() < 1e-4
    assert result.settings["kept_in_subspace"] < 0.98


def test_the_bounded_soft_problem_meets_its_optimality_conditions():
    from bayesbias.debiasing.methods import _bounded, _unbounded

    rng = np.random.default_rng(1)
    e = np.linalg.qr(rng.normal(size=(5, 5)))[0][:2]
    p = rng.normal(size=(5, 3)) @ rng.normal(size=(3, 5))
    p, g, s, lam = p @ p.T, np.array([4.0, 1.0]), np.diag([1.0, 0.5, 0.2, 0.05, 0.01]), 20.0
    x = _unbounded(s, p, g, e, lam)
    q = (e.T * g) @ e
    assert np.allclose(x - s + lam / 2 * (p @ x @ q + q @ x @ p), 0, atol=1e-10)
    assert np.linalg.eigvalsh(x)[0] < -1e-3  # the bound matters here
    y, steps = _bounded(x, s, p, q, lam)
    gradient = y - s + lam / 2 * (p @ y @ q + q @ y @ p)
    assert steps > 1
    assert np.linalg.eigvalsh(y)[0] > -1e-12
    assert np.linalg.eigvalsh(gradient)[0] > -1e-8
    assert abs(np.trace(y @ gradient)) < 1e-8


def test_soft_debiasing_without_weight_changes_nothing_and_with_much_neutralizes():
    e = vectors(n_other=40)
    none = soft_debias(e, sets=THREE, neutralize=["w0"], lam=0)
    assert none.changed == ()
    parts = [
        soft_debias(e, sets=THREE, neutralize=["w0", "w1"], lam=lam).settings["kept_in_subspace"]
        for lam in (0.2, 20, 2000)
    ]
    assert 1 > parts[0] > parts[1] > parts[2]
    assert parts[2] < parts[0] / 2


def test_more_dimensions_than_words_leave_the_rest_alone():
    e = vectors(n_other=4, d=40)
    result = soft_debias(e, sets=THREE, neutralize=["w0"], lam=0.5)
    assert result.settings["kept_dimensions"] == 13
    assert np.isfinite(result.embedding.vectors).all()


def test_another_spelling_is_the_same_word():
    e = load_embedding({"he": [1, 0.2], "she": [-1, 0.4], "nurse": [-0.5, 1]})
    result = hard_debias(e, sets=[["He", "She"]], neutralize=["Nurse"])
    assert result.embedding.words == ("he", "she", "nurse")
    assert result.neutralized == ("nurse",)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sets": [["x", "y"]]}, "set with two words"),
        ({"sets": [["a1", "a1"]]}, "two or more different words"),
        ({"k": 9}, "k: expected a whole number from 1 to 6"),
        ({"neutralize": ["w0", "nope"]}, "in the vocabulary, got 'nope'"),
        ({"neutralize": ["a1"]}, "not equalized, got 'a1'"),
        ({"neutralize": "attribute"}, "Did you mean 'attributes'"),
    ],
)
def test_what_cannot_be_done_is_refused(change, says):
    with pytest.raises(InputError, match=says):
        hard_debias(vectors(), **{"sets": THREE, "neutralize": ["w0"]} | change)


def test_the_notes_name_what_was_missing_and_a_weight_that_does_nothing():
    result = hard_debias(vectors(), sets=[*THREE, ["a1", "gone"]], neutralize=["w0"])
    assert "the definitional set a1/gone is left out, for want of gone" in result.notes
    for lam, hardly in ((1e-3, True), (2000.0, False)):
        notes = soft_debias(vectors(), sets=THREE, neutralize=["w0", "w1"], lam=lam).notes
        assert any("hardly anything was removed" in note for note in notes) is hardly
    with pytest.raises(InputError, match="double precision"):
        soft_debias(vectors(), sets=THREE, neutralize=["w0"], lam=1e12)


def test_debiased_vectors_go_where_vectors_go(tmp_path):
    hard = bb.hard_debias("minilm-static", "gender")
    table = bb.distance_table(hard, "gender", controls="none")
    assert table.frame.equals(bb.distance_table(hard.embedding, "gender", controls="none").frame)
    bb.save_embedding(hard, tmp_path / "hard.npz")
    assert len(bb.load_embedding(tmp_path / "hard.npz")) == len(hard.embedding)
