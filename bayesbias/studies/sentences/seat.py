"""SEAT: sentence tests on sentence encoders, as published and fitted.

The scores are those of May et al. (2019): WEAT over the vectors of sentences. Beside the p-value
they sample stands one that is exact or rigorously bounded, and one over words: the sentences of one
word are not independent, and a partition that tears them apart is none that a new sample of words
could have given. The hierarchical reading keeps every pair of sentences and lets words and
templates vary.

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, with its supplement.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import BayesbiasError, InputError, checks, files, packages
from bayesbias.core.conventions import PROB, PUBLISHED_ALPHA
from bayesbias.core.progress import ticking
from bayesbias.encoders.encoder import describe_encoder
from bayesbias.encoders.loading import load_encoder
from bayesbias.inference.fitting import fit
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.models.variants import slopes_for
from bayesbias.scores.association import effect_size
from bayesbias.scores.resampling import holm, permutation_test
from bayesbias.studies.sentences.result import (
    FITTED_COLUMNS,
    KEY,
    PUBLISHED_COLUMNS,
    Key,
    SeatResult,
    classes_of_test,
    fitted_row,
    signs_of,
)
from bayesbias.tables.covariates import (
    Given,
    columns_of_covariate,
    covariates_given,
    join_covariates,
    values_of,
)
from bayesbias.tables.pair_table import PairTable
from bayesbias.tables.sentences import (
    EncodedTest,
    encode_test,
    encoder_label,
    encoding_with,
    pairs_of_test,
)
from bayesbias.wordlists.sentence_tests import (
    SETS,
    SentenceTest,
    list_tests,
    published_tests,
    sentence_test,
)

_OWN_COLUMNS = (
    "level", "statistic", "p_lower", "p_upper", "p_method", "p_words", "p_holm", "p_words_holm", "dropped",
)  # fmt: skip
# As many partitions as the authors enumerate; more are sampled (supplement, appendix A).
_ENUMERATED = 100_000
# Certain bounds at most this far apart, relative to p: no verdict hangs on a twentieth of a
# p-value, and a fifth of that would take twice as long.
_WIDTH = 0.1
_MOST_KEPT = 20_000  # vectors of sentences, which several tests share, in memory
# The tables of a result, and the columns after the labels of a test where they have no row.
_PARTS = {
    "failures": ["reason"],
    "dropped": ["set", "word", "sentence"],
    "notes": ["note"],
    "slopes": ["covariate", "level", "name", "of"],
    "classes": ["name", "estimand", "mean", "hpdi_low", "hpdi_high", "p_below_zero", "p_in_rope"],
}
_LEAST = 3  # words with a covariate, as `join_covariates` asks for
_SIDES = {"protected": SETS[:2], "attribute": SETS[2:]}
_MOST_THREADS = 4  # each may hold tables of counts of some 400 MB


def _notes_of_test(encoded: EncodedTest) -> list[str]:
    """Return what a reader of the numbers of one test on one encoder should know."""
    test, frame = encoded.test, encoded.frame
    out = list(encoded.notes)
    if test.unstated:
        no_p = "p_words is missing, and " if "targets" in test.unstated else ""
        out.append(
            f"the words of its {' and '.join(test.unstated)} are not stated, so each example "
            f"counts as a word: {no_p}p and intervals are too narrow if examples share words"
        )
    for name in SETS:
        listed, left = (
            each.loc[each["set"] == name, "word"].nunique() for each in (test.frame, frame)
        )
        if left < listed / 2:
            out.append(f"the encoder has only {left} of {listed} words of {test.categories[name]}")
    distinct = ~frame.duplicated("sentence").to_numpy()
    keys = [row.tobytes() for row in encoded.vectors[distinct].round(12)]
    same = frame.loc[distinct, ["word"]].assign(key=keys).duplicated(keep=False)
    gap = encoded.mean_of("attr1") - encoded.mean_of("attr2")
    if len(set(keys)) == 1:
        out.append("all vectors are the same, so that there is nothing to test")
    elif np.abs(gap).max() < 1e-12:
        out.append(
            "the two sets of attributes have the same mean vector, so that there is nothing to test"
        )
    elif effect_size(*encoded.scores()) is None:
        out.append(
            "all targets are equally close to the attributes, so that there is no effect size"
        )
    if len(set(keys)) > 1 and same.any():
        out.append(
            f"{same.sum()} of {len(keys)} sentences have the same vector as another sentence of "
            "their word; the scores count each, the fit counts a vector once"
        )
    if repeats := frame.duplicated(["set", "sentence"]).sum():
        out.append(f"{repeats} examples repeat another of their set; the scores count each")
    if frame["set"].isin(SETS[:2]).sum() == 2:
        out.append("with one target in each set the effect size is always 1.41 or -1.41")
    return out


def leave_one_out(
    test: Any,
    encoder: Any = "minilm-static",
    *,
    cache: bool | checks.FilePath = True,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Return how the effect size moves without one word or one template.

    Parameters
    ----------
    test, encoder, cache, progress
        As for `sentence_table`.

    Returns
    -------
    DataFrame
        The largest move first: ``part`` (targets or attributes), ``kind`` (word or template),
        ``left_out``, ``effect_size`` without it, ``change`` (against all), ``sign_changes`` (missing for an effect of zero),
        ``examples`` (how many were left out). What cannot be left out, since a set would be empty,
        has no row.

    Examples
    --------
    >>> leave_one_out("weat6", cache=False).iloc[0][["part", "kind", "left_out"]].tolist()
    ['targets', 'word', 'Greg']
    """
    test, encoder = sentence_test(test), load_encoder(encoder)
    encoded = encode_test(test, encoder, encoding_with(encoder, cache, None, progress))
    whole = effect_size(*encoded.scores())
    if whole is None:
        raise InputError("expected scores that differ, got equal ones", where=test.name)
    targets = encoded.frame["set"].isin(SETS[:2])
    rows = []
    for part, mine in (("targets", targets), ("attributes", ~targets)):
        for kind in ("word", "template"):
            labels = encoded.frame[kind].where(mine)
            for label in labels.dropna().unique():
                kept = (labels != label).to_numpy()
                frame, vectors = encoded.frame[kept].reset_index(drop=True), encoded.vectors[kept]
                if frame["set"].nunique() < len(SETS):
                    continue
                rest = dataclasses.replace(encoded, frame=frame, vectors=vectors)
                size, left_out = effect_size(*rest.scores()), int((~kept).sum())
                rows.append((part, kind, label, size, left_out))
    table = pd.DataFrame(rows, columns=["part", "kind", "left_out", "effect_size", "examples"])
    table = table.dropna(subset="effect_size").astype({"effect_size": float})
    table.insert(4, "change", table["effect_size"] - whole)
    signs = signs_of(table["effect_size"])
    known = signs.ne(0) & bool(signs_of(whole))  # an effect of zero has no sign
    changes = pd.array(signs != signs_of(whole), dtype="boolean")
    table.insert(5, "sign_changes", pd.Series(changes, table.index).where(known))
    return table.sort_values("change", key=abs, ascending=False, kind="stable", ignore_index=True)


def seat(
    tests: Any = "all",
    encoders: Any = "minilm-static",
    *,
    published_cut: bool = False,
    samples: int = 99_999,
    seed: int | None = None,
    bayes: bool = False,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    prob: float = PROB,
    alpha: float = PUBLISHED_ALPHA,
    covariates: Any = None,
    slopes: Mapping[str, Sequence[Any] | None] | Sequence[str] = (),
    cache: bool | checks.FilePath = True,
    batch_size: int | None = None,
    progress: bool | None = None,
    prompt: str | None = None,
) -> SeatResult:
    """Run sentence tests on sentence encoders.

    Parameters
    ----------
    tests : str, path, SentenceTest, or a sequence of them
        ``"all"`` for every shipped test; names, joined by commas or in a list; paths of tests
        (``.jsonl``) or of word lists; whatever `sentence_test` takes.
    encoders : Encoder, callable, str, or a sequence of them
        Whatever `load_encoder` takes.
    published_cut : bool
        Whether tests that are named leave out the sentences that the authors dropped at random, as
        `sentence_test` does.
    samples : int
        How many partitions the published p-value samples where there are more than 100,000.
    seed : int, optional
        Recorded in the provenance. Each test has a seed of its own made from it, so that results do
        not depend on what else is run.
    bayes : bool
        Whether to fit the model ``sentence`` to every test as well. A test with one template for
        each word is fitted without the terms for templates (`trimmed`).
    draws, tune, chains : int
        For `bayes`; as for `fit`.
    prob : float in (0, 1)
        Probability of the intervals.
    alpha : float in (0, 1)
        Level of significance of the tests; by default that of the paper.
    covariates : optional
        Numbers of words of targets or attributes; see `bayesbias.tables.join_covariates`.
    slopes : sequence of str, or mapping
        Which of the covariates the model gets slopes on (`bayesbias.models.slopes_for`), perhaps
        with the columns that they differ by: ``{"log_count": ["protected_class"]}``, None for those
        that the model has. A covariate that words on both sides have has slopes on both. A test of
        which fewer than three words have it is fitted without, and a note says so. Implies `bayes`.
    cache, batch_size, progress
        As for `encode`.
    prompt : str, optional
        A text before each sentence, for all encoders that name none; see `load_encoder`.

    Returns
    -------
    SeatResult

    Raises
    ------
    InputError
        If a test, encoder or setting is unknown, or no test could be run on any encoder. A test that
        fails on one encoder is reported in ``failures``, and the others go on. If only its fit
        fails, its row lacks the columns of the fit.

    Notes
    -----
    Statistic and effect size: appendix A of the supplement, the standard deviation with n - 1.
    ``p_value`` is the published one: all partitions up to 100,000, else `samples` of them drawn
    with replacement and one more counted as at least as extreme, which cannot fall below 1 /
    (samples + 1). ``p_lower`` and ``p_upper`` enclose the p-value over all partitions
    (`permutation_test`), within a tenth of it where that takes seconds. ``p_words`` is the p-value
    over words, each with the mean score of its sentences. ``p_holm`` is Holm's correction over all
    rows of the result, of p_upper where it is certain and of the sampled p_value where not.
    ``p_words_holm`` is the same correction of p_words.

    An example whose own word the encoder lacks is left out and counted (``dropped``): a
    `cbow_encoder` would give it the mean of its template. What only its template lacks costs
    nothing but the template.

    Sets of unequal size (six published tests before the authors cut them) are defined: partitions
    have the sizes of the sets, and the effect size is a difference of means.

    Examples
    --------
    >>> result = seat(["weat6", "sent-weat6"], seed=1, cache=False)
    >>> result.frame[["test", "num_targ1", "p_method"]].values.tolist()
    [['weat6', 8, 'exact'], ['sent-weat6', 64, 'bounds']]
    """
    chosen, models = chosen_tests(tests, published_cut), _chosen_encoders(encoders, prompt)
    checks.count(samples, "samples")
    checks.sampling(draws, tune, chains)
    prob, alpha = checks.probability(prob), checks.probability(alpha, "alpha")
    seed = checks.seed_or_new(seed)
    asked = slopes_of_tests(covariates, slopes, chosen)
    spec = load_model("sentence") if bayes or asked.slopes else None
    sampler = {"draws": draws, "tune": tune, "chains": chains}
    rows: list[dict[str, Any]] = []
    fits: dict[Key, BiasFit] = {}
    parts: dict[str, list[pd.DataFrame]] = {name: [] for name in _PARTS}

    def keep(
        part: str, labels: Mapping[str, str], frame: pd.DataFrame | dict[str, list[str]]
    ) -> None:
        if len(frame := pd.DataFrame(frame)):
            parts[part].append(pd.DataFrame({**labels, **frame}))

    def fail(labels: Mapping[str, str], error: Exception, lead: str = "") -> None:
        kind = "" if isinstance(error, BayesbiasError) else f"{type(error).__name__}: "
        keep("failures", labels, {"reason": [f"{lead}{kind}{error}"]})

    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    # Partitions are counted by numpy, which lets other threads run.
    with (
        ticking("sentence tests", 2 * len(chosen) * len(models), progress) as tick,
        ThreadPoolExecutor(max_workers=threads) as pool,
    ):
        for encoder in models:
            about = describe_encoder(encoder)
            encode = encoding_with(encoder, cache, batch_size, False, most=_MOST_KEPT)
            ready = []
            for test in chosen:
                labels = {"model": about["name"], "options": about["options"], "test": test.name}
                try:
                    encoded = encode_test(test, encoder, encode)
                except BayesbiasError as error:
                    fail(labels, error)
                    tick(2)
                    continue
                keep("notes", labels, {"note": _notes_of_test(encoded)})
                keep("dropped", labels, encoded.dropped)
                own = _seed_of_test(seed, test)
                ready.append((labels, encoded, own, pool.submit(_scored, encoded, samples, own)))
                tick(1)
            for labels, encoded, own, job in ready:
                tick(1)
                try:
                    row = {**labels, **job.result()}
                except Exception as error:  # whatever it is, the other tests go on
                    fail(labels, error)
                    continue
                rows.append(row)
                if spec is None:
                    continue
                try:
                    fitted, notes = _fitted(encoded, encoder, spec, asked, {"seed": own, **sampler})
                    row |= fitted_row(fitted, prob)
                    keep("classes", labels, classes_of_test(fitted, prob))
                    keep("notes", labels, {"note": notes})
                    if fitted.spec.covariates():
                        keep("slopes", labels, fitted.slopes(prob))
                    # A copy is without the tables that were made.
                    fits[labels["model"], labels["options"], labels["test"]] = dataclasses.replace(
                        fitted
                    )
                except Exception as error:  # as above
                    fail(labels, error, "the model could not be fitted: ")
    if not rows:
        reason = parts["failures"][0]["reason"][0]
        raise InputError(f"expected a test that can be run, got none ({reason})", where="tests")
    columns = [*PUBLISHED_COLUMNS, *_OWN_COLUMNS, *(FITTED_COLUMNS if spec is not None else ())]
    frame = pd.DataFrame(rows).reindex(columns=columns)
    certain = frame["p_method"].isin(["exact", "bounds"])
    frame["p_holm"] = holm(frame["p_upper"].where(certain, frame["p_value"]))
    over_words = frame["p_words"].notna()
    if over_words.any():
        frame.loc[over_words, "p_words_holm"] = holm(frame.loc[over_words, "p_words"])
    tables = {
        name: pd.concat(found, ignore_index=True)
        if found
        else pd.DataFrame(columns=[*KEY, *_PARTS[name]])
        for name, found in parts.items()
    }
    provenance = {
        "tests": [_about_test(test) for test in chosen],
        "encoders": [describe_encoder(encoder) for encoder in models],
        "seed": seed,
        "samples": samples,
        "alpha": alpha,
        "versions": {
            **packages.versions_of("bayesbias", "numpy", "pandas"),
            "python": platform.python_version(),
        },
    }
    if spec is not None:
        provenance |= {
            "model": {"name": spec.name, "sha256": spec.sha256},
            "prob": prob,
            "sampler": sampler,
        }
    if asked.slopes:
        provenance["covariates"] = {
            one.name: {"source": one.source, "sha256": one.sha256} for one in asked.covariates
        }
        provenance["slopes"] = {
            n: None if by is None else list(by) for n, by in asked.slopes.items()
        }
    return SeatResult(frame=frame, provenance=provenance, fitted=fits, **tables)


def _scored(encoded: EncodedTest, samples: int, seed: int) -> dict[str, Any]:
    """Return sizes, statistic, effect size and p-values, over sentences and over words."""
    test, (x, y), words = encoded.test, encoded.scores(), encoded.words()
    how: dict[str, Any] = {"samples": samples, "seed": seed}
    few = math.comb(len(x) + len(y), len(x)) <= _ENUMERATED
    published = permutation_test(x, y, method="exact" if few else "montecarlo", **how)
    ours = published if few else permutation_test(x, y, rel_width=_WIDTH, **how)
    if "targets" in test.unstated:
        p_words = math.nan
    elif [len(each) for each in words] == [len(x), len(y)]:
        p_words = ours.p_value
    else:
        p_words = permutation_test(*words, rel_width=_WIDTH, **how).p_value
    return {
        **encoded.frame["set"].value_counts(sort=False).add_prefix("num_").to_dict(),
        "level": level_of_test(test),
        "dropped": len(encoded.dropped),
        "p_value": published.p_value,
        "effect_size": effect_size(x, y),
        "statistic": ours.statistic,
        "p_lower": ours.p_lower,
        "p_upper": ours.p_upper,
        "p_method": ours.method,
        "p_words": p_words,
    }


def _fitted(
    encoded: EncodedTest,
    encoder: Any,
    spec: ModelSpec,
    asked: SlopesAsked,
    how: Mapping[str, Any],
) -> tuple[BiasFit, list[str]]:
    """Fit the model to one test; return also notes on the covariates of its slopes."""
    plain = pairs_of_test(encoded, encoder)
    table, spec, lacking = asked.of_test(plain, spec)
    fitted = fit(table, spec, pointwise=False, **how)
    notes = [
        f"fewer than three of its words have {name}, so that it has no slope" for name in lacking
    ]
    found = fitted.provenance["coverage"].get("notes", ())
    return fitted, [*notes, *(note for note in found if note not in plain.coverage.notes)]


def _chosen_encoders(encoders: Any, prompt: str | None = None) -> list[Any]:
    several = isinstance(encoders, Sequence) and not isinstance(encoders, str)
    given = encoders if several else [encoders]
    out = [load_encoder(encoder, prompt=prompt) for encoder in given]
    if not out:
        raise InputError("encoders: expected one encoder or more, got none")
    described = map(describe_encoder, out)
    labels = [encoder_label(about["name"], about["options"]) for about in described]
    checks.distinct(labels, "encoder", "encoders")
    return out


def _seed_of_test(seed: int, test: SentenceTest) -> int:
    """Return a seed that depends on nothing but the examples of a test."""
    examples = sorted(zip(test.frame["set"], test.frame["sentence"], strict=True))
    own = files.sha256_of(json.dumps([test.categories, examples], sort_keys=True))
    return checks.derived_seed(seed, int(own[:8], 16))


def _about_test(test: SentenceTest) -> dict[str, Any]:
    """Return name, hash and origin of a test, and the words of one that is not shipped."""
    about = {name: getattr(test, name) for name in ("name", "sha256", "origin")}
    about["categories"] = dict(test.categories)
    if test.name not in list_tests() or not test.origin.startswith("wordlists/"):
        words = test.frame.groupby("set", observed=True)["word"].unique()
        about["words"] = {name: words[name].tolist() for name in SETS}
    return about


def chosen_tests(tests: Any, published_cut: bool = False) -> list[SentenceTest]:
    """Read tests by name, path, or value; "all" stands for every shipped one."""
    if isinstance(tests, str) and not os.path.isfile(tests):
        tests = [name.strip() for name in tests.split(",") if name.strip()]
    elif isinstance(tests, str | SentenceTest | os.PathLike):
        tests = [tests]
    named: list[Any] = []
    for name in checks.several(tests, "tests"):
        named += list_tests() if isinstance(name, str) and name == "all" else [name]
    if not named:
        raise InputError("tests: expected all, or names of tests, got none")
    out = [sentence_test(each, published_cut=published_cut) for each in named]
    for place, test in enumerate(out):
        is_file = Path(test.origin).suffix in (".jsonl", ".json") and os.path.isfile(test.origin)
        if is_file and test.name in list_tests():  # a file of another content says so
            same = {sentence_test(test.name, published_cut=cut).sha256 for cut in (False, True)}
            if test.sha256 not in same:
                out[place] = dataclasses.replace(test, name=f"{test.name} (file)")
    checks.distinct([test.name for test in out], "test", "tests")
    return out


def level_of_test(test: SentenceTest) -> str:
    """Return the level of a test: of a shipped one by its name, of any other by its templates."""
    if test.name in published_tests():
        return published_tests()[test.name][1]
    words = test.frame.groupby(["set", "word"], observed=True).size()
    if (test.frame["template"] == "{word}").all():
        return "text" if test.unstated else "word"
    return "sentence" if (words > 1).any() else "unbleached"


@dataclasses.dataclass(frozen=True)
class SlopesAsked:
    """Slopes on covariates, as they are asked of every test.

    Attributes
    ----------
    covariates : tuple of Given
    slopes : mapping
        Covariate -> the columns that its slopes differ by; None for those that the model has.
    """

    covariates: tuple[Given, ...]
    slopes: Mapping[str, Sequence[Any] | None]

    def of_test(self, table: PairTable, spec: ModelSpec) -> tuple[PairTable, ModelSpec, list[str]]:
        """Return table and model with the slopes, and the covariates that the test lacks."""
        lacking, own = [], [table.frame[name].unique() for name in ("protected_word", "attribute")]
        for given in self.covariates:
            if any(len(values_of(given, list(words))) >= _LEAST for words in own):
                table = join_covariates(table, [given])
        for covariate, by in self.slopes.items():
            columns = columns_of_covariate(table, covariate)
            columns = [name for name in columns if name in table.frame]
            lacking += [] if columns else [covariate]
            for column in columns:
                spec = slopes_for(spec, table, column, by)
        return table, spec, lacking


def slopes_of_tests(covariates: Any, slopes: Any, tests: Sequence[SentenceTest]) -> SlopesAsked:
    """Read covariates, and check the slopes before any test is run."""
    if covariates is None and not slopes:
        return SlopesAsked((), {})
    if covariates is None or not slopes:
        raise InputError("expected covariates and slopes, got one of the two", where="slopes")
    read = tuple(covariates_given(covariates))
    names = [slopes] if isinstance(slopes, str) else slopes
    asked = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names)
    named = {one.name: one for one in read}
    named |= {f"{side}_{one.name}": one for side in _SIDES for one in read}
    for name in asked:
        given = named[checks.choice(name, named, "slopes")]
        if not given.numeric:
            raise InputError(f"expected numbers, got texts as {name}", where="slopes")
        words = [
            test.frame.loc[test.frame["set"].isin(sets), "word"].unique().tolist()
            for test in tests
            for sets in _SIDES.values()
        ]
        if not any(len(values_of(given, of)) >= _LEAST for of in words):
            problem = f"expected {name} of three words of a test or more"
            listed = [word for of in words for word in of]
            raise InputError(problem, where=given.source, found=[*given.values][:6], valid=listed)
    return SlopesAsked(read, asked)
