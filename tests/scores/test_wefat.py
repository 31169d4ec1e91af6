"""The single-category test: the published correlation, and every number by another computation."""

from __future__ import annotations

import csv
import itertools
import math
import statistics

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.vectors import LIST, X, Y, cosine, vectors
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import InputError

JOBS = [f"job{i}" for i in range(7)]
VALUES = dict(zip(JOBS, (3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0), strict=True))
VECTORS = vectors(4, [*X, *Y, *JOBS])


def test_scores_and_r_word_by_word() -> None:
    result = bb.scores.wefat_score(VECTORS, LIST, {"share": VALUES}, prob=0.8)
    scores, gaps = {}, []
    for word in JOBS:
        near, far = ([cosine(VECTORS[word], VECTORS[u]) for u in side] for side in (X, Y))
        gaps.append(statistics.mean(near) - statistics.mean(far))
        scores[word] = (statistics.mean(near) - statistics.mean(far)) / statistics.stdev(
            [*near, *far]
        )
    assert result.scores == pytest.approx(scores, abs=1e-10)
    theirs = stats.pearsonr(list(scores.values()), list(VALUES.values()))
    assert result.r == pytest.approx(theirs.statistic, abs=1e-12)
    undivided = stats.pearsonr(gaps, list(VALUES.values())).statistic
    assert result.r_undivided == pytest.approx(undivided, abs=1e-12)
    orders = np.array(list(itertools.permutations(VALUES.values())))  # each of 5,040
    strengths = np.abs((orders - orders.mean(axis=1)[:, None]) @ np.array(gaps))
    at_least = np.abs(strengths) >= strengths[0] - 1e-9
    assert result.p_undivided == pytest.approx(at_least.mean())
    ends = theirs.confidence_interval(0.8)
    assert (result.low, result.high) == pytest.approx((ends.low, ends.high), abs=1e-10)
    assert (result.n["words"], result.missing, result.dropped, result.covariates) == (
        7,
        (),
        (),
        VALUES,
    )
    orders = [
        np.corrcoef(list(scores.values()), order)[0, 1]
        for order in itertools.permutations(VALUES.values())
    ]
    assert result.p_method == "exact"
    assert result.p_value == pytest.approx(np.mean(np.abs(orders) >= abs(result.r) - 1e-12))


def test_of_many_words_orders_are_drawn() -> None:
    words = [f"w{i}" for i in range(30)]
    held = vectors(6, [*X, *Y, *words])
    values = dict(zip(words, np.random.default_rng(1).normal(size=30).tolist(), strict=True))
    samples = 20_000
    result = bb.scores.wefat_score(held, LIST, {"f": values}, samples=samples, seed=shifted(3))
    expected = stats.pearsonr(list(result.scores.values()), list(values.values())).pvalue
    assert (
        abs(result.p_value - expected) < 5 * math.sqrt(expected * (1 - expected) / samples) + 0.01
    )
    assert (result.p_method, result.seed) == ("montecarlo", shifted(3))
    assert bb.scores.wefat_score(held, LIST, {"f": values}, samples=500).seed is not None


def test_the_order_of_the_classes_is_the_sign() -> None:
    one = bb.scores.wefat_score(VECTORS, LIST, {"f": VALUES})
    other = bb.scores.wefat_score(VECTORS, {"y": LIST["y"], "x": LIST["x"]}, {"f": VALUES})
    named = bb.scores.wefat_score(VECTORS, LIST, {"f": VALUES}, classes=("y", "x"))
    assert (named.r, named.classes) == (other.r, ("y", "x"))
    assert other.r == pytest.approx(-one.r)
    assert other.p_value == pytest.approx(one.p_value)


@pytest.mark.parametrize(
    ("covariates", "covariate", "said"),
    [
        ({"f": VALUES, "g": VALUES}, None, "the name of one of f, g"),
        ({"covariate": VALUES}, "covarate", "Did you mean 'covariate'"),
        ({"f": dict.fromkeys(JOBS, "a")}, None, "expected numbers"),
        ({"f": dict.fromkeys(JOBS, 2.0)}, None, "got 2 for all"),
        ({"f": {"job1": 1.0, "job2": 2.0, "job3": 3.0}}, None, "4 words or more"),
    ],
)
def test_what_cannot_be_correlated(covariates, covariate, said: str) -> None:
    with pytest.raises(InputError, match=said):
        bb.scores.wefat_score(VECTORS, LIST, covariates, covariate)


def occupations(shared) -> dict[str, float]:
    """Percent women of each occupation, over its rows by employment."""
    total: dict[str, float] = {}
    women: dict[str, float] = {}
    with open(
        shared / "data" / "facts" / "occupations_bls_2015.tsv", encoding="utf-8", newline=""
    ) as file:
        for row in csv.DictReader(file, delimiter="\t"):
            for label in {row[f"label{i}"] for i in range(1, 6)} - {"", None}:
                total[label] = total.get(label, 0) + float(row["TotalEmployed"])
                women[label] = women.get(label, 0) + float(row["TotalEmployed"]) * float(
                    row["Women"]
                )
    listed = bb.load_wordlist("wefat").attribute_words
    return {word: women[word] / total[word] for word in listed}


# Per cent of women and of men who bear the name: census of the United States, 1990.
NAMES = """
Willie .097 .302, Terry .08 .311, Jean .315 .035, Kelly .283 .063, Ashley .303 .014, Joan .306 .008, Tracy
.197 .048, Robin .208 .032, Leslie .154 .081, Bobby .008 .223, Shawn .024 .2, Chris .024 .197, Jamie .153
.066, Jesse .008 .209, Shannon .175 .04, Lee .051 .162, Carmen .195 .011, Kim .178 .028, Francis .039 .16,
Dale .016 .184, Lynn .135 .038, Marion .122 .048, Dana .122 .042, Jessie .098 .065, Eddie .011 .144, Stacy
.121 .017, Jackie .09 .043, Stacey .101 .011, Courtney .086 .019, Johnnie .039 .052, Billie .069 .017, Casey
.029 .054, Jaime .027 .055, Adrian .009 .069, Jimmie .017 .058, Bobbie .065 .01, Jordan .012 .056, Rene .016
.048, Pat .04 .022, Jody .038 .024, Frankie .022 .023, Alexis .03 .011, Morgan .022 .018, Ollie .027 .01,
Shelby .025 .011, Taylor .012 .024, Robbie .017 .016, Dominique .016 .008, Kris .011 .011, Carey .009 .013
"""


def test_the_published_correlation_of_names(shared) -> None:
    # Source: Caliskan et al. (2017), WEFAT 2: 50 names that women and men bear, r = .84.
    share = {}
    for entry in NAMES.replace("\n", " ").split(","):
        name, women, men = entry.split()
        share[name] = 100 * float(women) / (float(women) + float(men))
    vectors = shared / "data" / "vectors" / "glove840B_union_300d.txt"
    found = bb.scores.wefat_score(vectors, "wefat", {"percent_women": share}, seed=1, samples=999)
    assert (found.n["words"], found.missing, found.p_value) == (50, (), 1 / 1000)
    assert round(found.r, 4) == 0.8400
    assert round(found.r_undivided, 4) == 0.8341


@pytest.mark.slow
def test_the_published_correlation(shared) -> None:
    share = occupations(shared)
    vectors = shared / "data" / "vectors" / "glove840B_union_300d.txt"
    found = bb.scores.wefat_score(vectors, "wefat", {"percent_women": share}, seed=1, samples=999)
    assert (round(found.r, 4), round(found.r_undivided, 4)) == (0.9029, 0.8818)
    assert (round(found.low, 4), round(found.high, 4)) == (0.8495, 0.9380)
    assert (found.n["words"], found.missing, found.p_value) == (50, (), 1 / 1000)
    # The list's own two sets of occupations are those in which most are women, and the others.
    female, male = bb.load_wordlist("wefat").classes
    assert min(share[w] for w in female.attributes) > 50 > max(share[w] for w in male.attributes)
