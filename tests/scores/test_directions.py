"""What the sign of a score says: the same for every order, and nothing where it is not clear."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.vectors import cosine

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.scores import (
    direct_bias,
    ect,
    mac,
    relative_norm_distance,
    ripa,
    rnsb,
    sc_weat,
    weat,
)
from bayesbias.scores.resampling import percentile_interval
from bayesbias.scores.score import SCORES
from bayesbias.tables.distances import distance_table
from bayesbias.wordlists.listfile import load_wordlist
from bayesbias.wordlists.wordlist import WordList

FEW = {"resamples": 99, "seed": shifted(1)}
MEN, WOMEN = ["he", "him", "man"], ["she", "her", "woman"]
CAREER, FAMILY = ["career", "salary", "office"], ["home", "kids", "wedding"]
PAIRS = [("he", "she"), ("man", "woman"), ("son", "daughter"), ("king", "queen")]


def made_up(seed: int = 3, d: int = 6) -> dict[str, np.ndarray]:
    """Return vectors with a common difference of the pairs, and attributes that lean along it."""
    random = np.random.default_rng(seed)
    axis = np.eye(d)[0]
    out = {}
    for words, lean in ((MEN, 3.0), (WOMEN, -3.0), (CAREER, 2.0), (FAMILY, -2.0)):
        out |= {word: random.normal(size=d) + lean * axis for word in words}
    for first, second in PAIRS[2:]:
        out[second] = random.normal(size=d)
        out[first] = out[second] + (3 + random.random()) * axis + 0.1 * random.normal(size=d)
    return out


def listed(men=MEN, women=WOMEN, career=CAREER, family=FAMILY, pairs=PAIRS) -> WordList:
    words = {
        "men": {"protected": list(men), "attributes": list(career)},
        "women": {"protected": list(women), "attributes": list(family)},
    }
    return replace(load_wordlist(words), definitional_sets=tuple(pairs))


def all_scores(vectors, words, **options):
    table = distance_table(vectors, words)
    held = bb.load_embedding(vectors)
    out = []
    for row in SCORES.values():
        out += row.compute(table, held, words, **FEW, **options)
    return out


def test_no_score_depends_on_an_order() -> None:
    v = made_up()
    plain = all_scores(v, listed())
    turned = [PAIRS[2][::-1], PAIRS[0], PAIRS[3][::-1], PAIRS[1]]
    others = [
        listed(pairs=[pair[::-1] for pair in PAIRS]),
        listed(pairs=turned),
        listed(men=MEN[::-1], women=[WOMEN[1], WOMEN[0], WOMEN[2]]),
        listed(career=CAREER[::-1], family=[*FAMILY[1:], FAMILY[0]], pairs=turned),
    ]
    for words in others:
        for score, other in zip(plain, all_scores(v, words), strict=True):
            assert other.name == score.name
            assert other.value == pytest.approx(score.value, abs=1e-12)
            assert other.p_value == score.p_value
            assert other.reading == score.reading
            assert (other.low is None) == (score.low is None)
            if score.low is not None:
                assert (other.low, other.high) == pytest.approx((score.low, score.high), abs=1e-12)


def test_classes_the_other_way_round_turn_the_signs() -> None:
    v, words = made_up(), listed()
    same = {"weat", "mac", "direct_bias", "ripa", "ect"}  # of WEAT and RIPA both sides turn
    for score, other in zip(
        all_scores(v, words), all_scores(v, words, classes=("women", "men")), strict=True
    ):
        if score.name in same:
            assert other.value == pytest.approx(score.value, abs=1e-12)
        if score.name == "relative_norm_distance":
            assert other.value == pytest.approx(-score.value, abs=1e-12)
    by_class, other_way = sc_weat(v, words), sc_weat(v, words, classes=("women", "men"))
    assert other_way["men"].value == pytest.approx(-by_class["men"].value)


def test_ripa_turns_each_pair_toward_x() -> None:
    v = made_up()
    mean_x, mean_y = (np.mean([v[w] for w in words], axis=0) for words in (MEN, WOMEN))
    rows = [v[a] - v[b] for a, b in PAIRS]
    rows = [row if row @ mean_x > row @ mean_y else -row for row in rows]
    _, axes = np.linalg.eigh(sum(np.outer(row, row) for row in rows))
    b = axes[:, -1] * np.sign(sum(rows) @ axes[:, -1])
    expected = np.mean([v[w] @ b for w in CAREER]) - np.mean([v[w] @ b for w in FAMILY])
    result = ripa(v, listed(pairs=[PAIRS[0][::-1], *PAIRS[1:]]), **FEW)
    assert result.value == pytest.approx(expected)
    assert (result.towards[0], result.away[0]) == ("he", "she")
    plain = ripa(v, listed(), **FEW)  # a reversed pair does not let the draws cancel
    assert (result.low, result.high) == pytest.approx((plain.low, plain.high))
    assert result.low > 0
    assert result.reading == "toward X"


def test_ripa_refuses_a_pair_that_cannot_be_turned() -> None:
    v = {
        "he": [1.0, 1, 0], "she": [-1.0, 1, 0], "up": [0.0, 5, 0], "down": [0.0, -5, 0],
        "him": [1.0, 0, 1], "her": [-1.0, 0, 1], "career": [0.5, 0, 1], "home": [-0.5, 0, 1],
        "salary": [0.5, 1, 1], "kids": [-0.5, 1, 1],
    }  # fmt: skip
    words = listed(men=["he", "him"], women=["she", "her"])
    with pytest.raises(InputError, match=r"pair up/down: expected words that differ as the class"):
        ripa(v, words, sets=[("he", "she"), ("up", "down")], **FEW)
    twin = {**v, "up": v["down"]}
    with pytest.raises(InputError, match=r"pair up/down: expected two vectors, got one for both"):
        ripa(twin, words, sets=[("he", "she"), ("up", "down")], **FEW)


def test_direct_bias_of_pairs_that_cancel() -> None:
    v = made_up()
    values = [
        direct_bias(v, words=CAREER, sets=[a[:: 1 if k & 1 else -1], b[:: 1 if k & 2 else -1]])
        for k, (a, b) in itertools.product(range(4), [PAIRS[:2]])
    ]
    assert len({value.value for value in values}) == 1
    couple = {
        "he": [1.0, 0],
        "she": [-1.0, 0],
        "man": [-1.0, 0.1],
        "woman": [1.0, 0.1],
        "a": [1, 1],
    }
    result = direct_bias(couple, words=["a"], sets=[("he", "she"), ("man", "woman")])
    assert result.value == pytest.approx(math.sqrt(0.5), abs=1e-2)
    assert set(result.towards) in ({"he", "woman"}, {"she", "man"})


def mirrored() -> dict[str, np.ndarray]:
    """Return vectors of which both classes are equally near to every attribute, up to rounding."""
    random = np.random.default_rng(8)
    out = {}
    for man, woman in zip(MEN, WOMEN, strict=True):
        rest = random.normal(size=5)
        out |= {man: np.r_[1.5, rest], woman: np.r_[-1.5, rest]}
    for word in (*CAREER, *FAMILY):
        out[word] = np.r_[0.0, random.normal(size=5)]
    turn, _ = np.linalg.qr(random.normal(size=(6, 6)))
    return {word: vector @ turn for word, vector in out.items()}


def test_a_zero_has_no_direction() -> None:
    v, words = mirrored(), listed(pairs=list(zip(MEN, WOMEN, strict=True)))
    for result in (weat(v, words), relative_norm_distance(v, words), ripa(v, words, **FEW)):
        assert result.value == 0
        assert result.reading == "no clear direction"
        assert "no clear direction" in repr(result)
        assert json.loads(json.dumps(result.as_dict()))["direction"] is None
    ends = ripa(v, words, **FEW)
    assert (ends.low, ends.high) == (0, 0)


def test_equal_attributes_have_no_direction() -> None:
    words = {
        "men": {"protected": MEN, "attributes": CAREER},
        "women": {"protected": WOMEN, "attributes": CAREER},
    }
    for result in (weat(made_up(), words), *sc_weat(made_up(), words).values()):
        assert result.reading == "no clear direction"
        assert result.as_dict()["direction"] is None
        assert (result.p_value, result.p_opposite) == (1, 1)


def test_p_and_interval_decide_on_the_direction() -> None:
    v, words = made_up(), listed()
    result = weat(v, words)
    assert result.p_value == pytest.approx(1 / math.comb(6, 3))
    assert (result.reading, result.as_dict()["direction"]) == ("X leans to A more than Y",) * 2
    strict = weat(v, words, alpha=0.04)
    assert (strict.alpha, strict.reading) == (0.04, "no clear direction")
    # One-sided, p near 1 is as clear the other way.
    other = weat(v, listed(career=FAMILY, family=CAREER))
    assert (other.p_value, other.reading) == (1, "Y leans to A more than X")
    assert other.p_opposite == pytest.approx(1 / 20)
    assert weat(v, listed(career=FAMILY, family=CAREER), sides=2).p_opposite is None
    # Of one word each, a p of 1 is as far from the other side as it can be.
    few = weat(v, listed(men=["she", "her"], women=["he", "him"]))
    assert (few.p_value, few.reading) == (1, "no clear direction")
    assert few.p_opposite == pytest.approx(1 / 6)


def test_sc_weat_of_the_other_side_flips_the_signs() -> None:
    v = made_up()
    for sign, (name, words) in zip((1, -1), {"men": MEN, "women": WOMEN}.items(), strict=True):
        differences = [
            np.mean([cosine(v[w], v[a]) for a in CAREER])
            - np.mean([cosine(v[w], v[a]) for a in FAMILY])
            for w in words
        ]
        flips = np.array(list(itertools.product([1, -1], repeat=3))) @ differences * sign
        seen = sign * sum(differences)
        score = sc_weat(v, listed())[name]
        assert score.p_value == pytest.approx(np.mean(flips >= seen - 1e-12))
        assert score.p_opposite == pytest.approx(np.mean(flips <= seen + 1e-12))


def test_an_interval_holds_its_estimate() -> None:
    found, notes = percentile_interval(
        lambda counts: float(counts.max()), [20], 0.89, 200, shifted(1), estimate=1.0
    )
    assert (found["low"], found["high"]) == (None, None)
    assert notes == ["no interval, since that of the bootstrap does not include the value"]
    # The means of both classes are equal, those of drawn words are not.
    random = np.random.default_rng(8)
    words = {
        "x": {"protected": [f"x{k}" for k in range(5)], "attributes": [f"a{k}" for k in range(15)]},
        "y": {"protected": [f"y{k}" for k in range(5)], "attributes": [f"b{k}" for k in range(15)]},
    }
    v = {w: random.normal(size=6) for c in words.values() for side in c.values() for w in side}
    v["y4"] = sum(v[f"x{k}"] for k in range(5)) - sum(v[f"y{k}"] for k in range(4))
    result = ect(v, words, resamples=199, seed=shifted(1))
    assert result.value == pytest.approx(1)
    assert (result.low, result.high, result.as_dict()["low"]) == (None, None, None)
    assert "does not include the value" in " ".join(result.notes)


def test_one_vector_counts_once_in_every_score() -> None:
    v, words = made_up(), listed()
    doubled = {**v, "He": v["he"], "HER": v["her"], "Career": v["career"], "Kids": v["kids"]}
    more = listed(
        men=[*MEN, "He"], women=["HER", *WOMEN], career=["Career", *CAREER], family=[*FAMILY, "Kids"],
        pairs=[*PAIRS, ("woman", "man"), ("she", "He")],
    )  # fmt: skip
    for score, again in zip(all_scores(v, words), all_scores(doubled, more), strict=True):
        assert again.value == pytest.approx(score.value, abs=1e-12), score.name
        assert again.n == score.n
        assert (again.low, again.high) == pytest.approx((score.low, score.high), nan_ok=True)
    for name in ("relative_norm_distance", "ect", "rnsb", "ripa"):
        (result,) = SCORES[name].compute(None, doubled, more, **FEW)
        assert any("with the same vector count once" in note for note in result.notes), name


def test_rnsb_refuses_one_vector_on_both_sides() -> None:
    v = made_up()
    words = listed(career=[*CAREER, "Home"])
    with pytest.raises(InputError, match="of one class each"):
        rnsb({**v, "Home": v["home"]}, words, **FEW)


@pytest.mark.parametrize(
    "score", [weat, mac, sc_weat, direct_bias, relative_norm_distance, ripa, ect, rnsb]
)
def test_one_dimension_makes_no_cosines(score) -> None:
    v = {word: vector[:1] for word, vector in made_up().items()}
    with pytest.raises(InputError, match="two dimensions or more, got one"):
        score(v, listed())


def test_other_functions_refuse_one_dimension() -> None:
    v = {word: vector[:1] for word, vector in made_up().items()}
    many = {f"w{k}": [float(k + 1)] for k in range(40)}
    for function, arguments in (
        (distance_table, (v, listed())),
        (bb.hard_debias, (v, listed())),
        (bb.embeddings.describe_vectors, (many,)),
    ):
        with pytest.raises(InputError, match="mapping: expected two dimensions or more, got one"):
            function(*arguments)
