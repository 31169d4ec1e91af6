"""SEAT: sentence tests run on sentence encoders, and their hierarchical reading.

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
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import BayesbiasError, FitError, InputError
from bayesbias.core.files import sha256_of
from bayesbias.core.formatting import number_of
from bayesbias.core.packages import with_python
from bayesbias.core.progress import ticking
from bayesbias.encoders.encoder import describe_encoder
from bayesbias.encoders.loading import load_encoder
from bayesbias.inference.fitting import fit
from bayesbias.inference.view import PROB
from bayesbias.models.loading import load_model
from bayesbias.scores.association import effect_size
from bayesbias.scores.permutation import holm, permutation_test
from bayesbias.studies.sentences.related import chosen_tests, level_of_test, refuse_twice
from bayesbias.studies.sentences.result import PUBLISHED_COLUMNS, SeatResult
from bayesbias.studies.sentences.slopes import SlopesAsked, slopes_of_tests
from bayesbias.tables.sentences import (
    EncodedTest,
    encode_test,
    encoder_label,
    encoding_with,
    pairs_of_test,
)
from bayesbias.wordlists.sentence_tests import SETS, SentenceTest, list_tests, sentence_test

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.inference.posterior import BiasFit

__all__ = ["leave_one_out", "seat"]

_OWN_COLUMNS = (
    "level",
    "statistic",
    "p_lower",
    "p_upper",
    "p_method",
    "p_words",
    "p_holm",
    "dropped",
)
_BAYES_COLUMNS = (
    "contrast", "sd", "hpdi_low", "hpdi_high", "standardized", "probability_of_superiority", "prior_sensitivity", "prior",
    "share_word", "share_template", "share_sentence", "share_residual", "converged",
    "mcse_contrast", "mcse_sd", "mcse_low", "mcse_high", "mcse_standardized", "mcse_probability_of_superiority",
    "mcse_share_word", "mcse_share_template", "mcse_share_sentence", "mcse_share_residual",
)  # fmt: skip
# As many partitions as the authors enumerate; more are sampled (supplement, appendix A).
_ENUMERATED = 100_000
# Certain bounds at most this far apart, relative to p: no verdict hangs on a twentieth of a p-value, and a fifth of
# that would take twice as long.
_WIDTH = 0.1
_MOST_KEPT = 20_000  # vectors of sentences, which several tests share, in memory
_MOST_THREADS = 4  # each may hold tables of counts of some 400 MB


def _notes_of_test(encoded: EncodedTest) -> list[str]:
    """Say what a reader of the numbers of one test on one encoder has to know."""
    test, frame, vectors = encoded.test, encoded.frame, encoded.vectors
    out = []
    if test.unstated:
        whose = (
            "its words and templates"
            if len(test.unstated) == 2
            else f"words and templates of its {test.unstated[0]}"
        )
        of_p = (
            "p takes them for independent, there is no p_words, and "
            if "targets" in test.unstated
            else ""
        )
        out.append(
            f"{whose} are not stated, so that every example counts as a word of its own: {of_p}an interval is too narrow where "
            "they share words; a test file may hold lists words and templates beside examples"
        )
    cut = []
    for name in SETS:
        listed = test.frame.loc[test.frame["set"] == name, "word"].nunique()
        left = frame.loc[frame["set"] == name, "word"].nunique()
        if left < listed / 2:
            cut.append(f"{left} of {listed} words of {name} ({test.categories[name]})")
    if cut:
        out.append(f"the encoder has only {', '.join(cut)}")
    distinct = ~frame.duplicated("sentence").to_numpy()
    keys = [row.tobytes() for row in vectors[distinct].round(12)]
    same = (
        frame.loc[distinct, "word"]
        .to_frame()
        .assign(key=keys)
        .duplicated(["word", "key"], keep=False)
    )
    if len(set(keys)) == 1:
        out.append("all vectors are the same, so that there is nothing to test")
    elif same.any():
        out.append(
            f"{int(same.sum())} of {len(keys)} sentences have the same vector as another sentence of their word: the encoder "
            "does not see what their templates add; the scores count each, the table and the fit count a vector once"
        )
    gap = encoded.mean_of("attr1") - encoded.mean_of("attr2")
    if len(set(keys)) > 1 and np.abs(gap).max() < 1e-12:
        out.append(
            "the two sets of attributes have the same mean vector, so that there is nothing to test"
        )
    elif len(set(keys)) > 1 and effect_size(*encoded.scores()) is None:
        out.append(
            "all targets lie equally near to the attributes, so that there is no effect size"
        )
    repeats = int(frame.duplicated(["set", "sentence"]).sum())
    if repeats:
        out.append(
            f"{repeats} examples repeat another of their set, and count again; sentence_table counts each once"
        )
    if encoded.sizes["targ1"] == encoded.sizes["targ2"] == 1:
        out.append(
            "with one target in each set the effect size is 1.41 or -1.41, whatever the vectors are"
        )
    return out


def leave_one_out(
    test: Any,
    encoder: Any = "minilm-static",
    *,
    cache: bool | str | os.PathLike[str] = True,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Return how far the effect size moves when one word or one template is left out.

    Parameters
    ----------
    test, encoder, cache, progress
        As for `sentence_table`.

    Returns
    -------
    DataFrame
        The largest move first: ``part`` (targets or attributes), ``kind`` (word or template),
        ``left_out``, ``effect_size`` without it, ``change`` (against all), ``sign_changes``,
        ``examples`` (how many were left out). What cannot be left out, since a set would be empty,
        has no row.

    Examples
    --------
    >>> leave_one_out("weat6", cache=False).iloc[0][["part", "kind", "left_out"]].tolist()
    ['targets', 'word', 'Greg']
    """
    import pandas as pd

    test = test if isinstance(test, SentenceTest) else sentence_test(test)
    encoder = load_encoder(encoder)
    encoded = encode_test(test, encoder, encoding_with(encoder, cache, None, progress))
    whole = effect_size(*encoded.scores())
    if whole is None:
        raise InputError("all scores are equal; there is no effect size to move", where=test.name)
    sets = encoded.frame["set"].astype(str)
    part = sets.where(sets.isin(SETS[2:]), "targets").where(sets.isin(SETS[:2]), "attributes")
    rows = []
    for side in ("targets", "attributes"):
        for kind in ("word", "template"):
            labels = encoded.frame[kind].where(part == side)
            for label in labels.dropna().unique():
                gone = (labels == label).to_numpy()
                rest = dataclasses.replace(
                    encoded,
                    frame=encoded.frame[~gone].reset_index(drop=True),
                    vectors=encoded.vectors[~gone],
                )
                if rest.frame["set"].nunique() < len(SETS):
                    continue
                size = effect_size(*rest.scores())
                if size is not None:
                    rows.append(
                        (
                            side,
                            kind,
                            label,
                            size,
                            size - whole,
                            (size > 0) != (whole > 0),
                            int(gone.sum()),
                        )
                    )
    columns = ["part", "kind", "left_out", "effect_size", "change", "sign_changes", "examples"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values("change", key=abs, ascending=False, kind="stable", ignore_index=True)


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
    covariates: Any = None,
    slopes: Mapping[str, Sequence[Any] | None] | Sequence[str] = (),
    cache: bool | str | os.PathLike[str] = True,
    batch_size: int | None = None,
    progress: bool | None = None,
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
    covariates : optional
        Numbers of words of targets or attributes; see `bayesbias.tables.join_covariates`.
    slopes : sequence of str, or mapping
        Which of the covariates the model gets slopes on (`bayesbias.models.slopes_for`), perhaps
        with the columns that they differ by: ``{"log_count": ["protected_class"]}``, None for those
        that the model has. A covariate that words on both sides have has slopes on both. A test of
        which fewer than three words have it is fitted without, and a note says so. Implies `bayes`.
    cache, batch_size, progress
        As for `encode`.

    Returns
    -------
    SeatResult

    Raises
    ------
    InputError
        For unknown tests, encoders or settings, before anything is run; and where no test could be
        run on any encoder. A test that fails on one encoder, for whatever reason, is reported in
        ``failures``, and the others go on. Where only its fit fails, it is in both, and its row
        lacks the columns of the fit.

    Notes
    -----
    Statistic and effect size: appendix A of the supplement, the standard deviation with n - 1. ``p_value`` is
    the published one: all partitions up to 100,000, else `samples` of them drawn with replacement and
    one more counted as at least as extreme, which cannot fall below 1 / (samples + 1). ``p_lower`` and
    ``p_upper`` enclose the p-value over all partitions (`permutation_test`), within a tenth of it where that takes
    seconds. ``p_words`` is the p-value over words, each with the mean score of its sentences. ``p_holm``
    is Holm's correction over all rows of the result, of p_upper where it is certain and of the sampled
    p_value where not.

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
    import pandas as pd

    chosen = chosen_tests(tests, published_cut)
    models = _chosen_encoders(encoders)
    checks.count(samples, "samples", most=checks.MOST_SAMPLES)
    checks.sampling(draws, tune, chains)
    prob = checks.probability(prob)
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else checks.seed(seed)
    asked = slopes_of_tests(covariates, slopes, chosen)
    spec = load_model("sentence") if bayes or asked is not None else None
    sloped: list[pd.DataFrame] = []
    by_class: list[pd.DataFrame] = []
    rows: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    dropped: list[pd.DataFrame] = []

    def fail(names: dict[str, str], error: Exception, lead: str = "") -> None:
        description = (
            str(error) if isinstance(error, BayesbiasError) else f"{type(error).__name__}: {error}"
        )
        failures.append(names | {"reason": lead + description})

    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    # Two steps a test. An encoder has the machine to itself; then counting partitions is numpy at work, which
    # lets other threads run.
    with (
        ticking("sentence tests", 2 * len(chosen) * len(models), progress) as tick,
        ThreadPoolExecutor(max_workers=threads) as pool,
    ):
        for encoder in models:
            description = describe_encoder(encoder)
            encode = encoding_with(encoder, cache, batch_size, False, most=_MOST_KEPT)
            ready: list[tuple[dict[str, Any], SentenceTest, Any, EncodedTest | None]] = []
            for test in chosen:
                names = {
                    "model": description["name"],
                    "options": description["options"],
                    "test": test.name,
                }
                try:
                    encoded = encode_test(test, encoder, encode)
                except BayesbiasError as error:
                    fail(names, error)
                    tick(2)
                    continue
                about = {
                    **{f"num_{name}": count for name, count in encoded.sizes.items()},
                    "level": level_of_test(test),
                    "dropped": len(encoded.dropped),
                }
                notes += [names | {"note": note} for note in _notes_of_test(encoded)]
                if len(encoded.dropped):
                    dropped.append(encoded.dropped.assign(**names))
                scores = encoded.scores(), encoded.words()
                ready.append((names | about, test, scores, encoded if spec is not None else None))
                tick(1)
            jobs = [
                pool.submit(
                    _tested_row,
                    scores,
                    None if "targets" in test.unstated else words,
                    samples,
                    _seed_of_test(seed, test),
                )
                for _, test, (scores, words), _ in ready
            ]
            for (row, test, _, held), job in zip(ready, jobs, strict=True):
                names = {key: row[key] for key in ("model", "options", "test")}
                try:
                    row |= job.result()
                except (
                    Exception
                ) as error:  # whatever it is, it must not take the other tests with it
                    fail(names, error)
                    tick(1)
                    continue
                if spec is not None and held is not None:
                    try:
                        how = {
                            "seed": _seed_of_test(seed, test),
                            "draws": draws,
                            "tune": tune,
                            "chains": chains,
                        }
                        fitted, remarks = _fitted(held, encoder, spec, asked, how)
                        row |= _fitted_row(fitted, prob)
                        own = fitted.contrasts(prob, level="class").drop(
                            columns=["level", "contrast"]
                        )
                        by_class.append(pd.DataFrame(names, index=[0]).merge(own, how="cross"))
                        notes += [names | {"note": note} for note in remarks]
                        if fitted.spec.covariates():
                            sloped.append(
                                pd.DataFrame(names, index=[0]).merge(
                                    fitted.slopes(prob), how="cross"
                                )
                            )
                    except Exception as error:  # as above
                        fail(names, error, "the model could not be fitted: ")
                rows.append(row)
                tick(1)
    if not rows:
        raise InputError(
            "no test could be run",
            found=failures[0]["reason"],
            hint=number_of(len(failures), "such failure"),
        )
    columns = [*PUBLISHED_COLUMNS, *_OWN_COLUMNS, *(_BAYES_COLUMNS if spec is not None else ())]
    frame = pd.DataFrame(rows).reindex(columns=[c for c in columns if c != "p_holm"])
    certain = frame["p_method"].isin(["exact", "bounds"])
    frame.insert(
        columns.index("p_holm"), "p_holm", holm(frame["p_upper"].where(certain, frame["p_value"]))
    )
    key = ["model", "options", "test"]
    lost = (
        pd.concat(dropped, ignore_index=True)
        if dropped
        else pd.DataFrame(columns=["set", "word", "sentence", *key])
    )
    return SeatResult(
        frame=frame,
        failures=pd.DataFrame(failures, columns=[*key, "reason"]),
        dropped=lost[[*key, "set", "word", "sentence"]],
        notes=pd.DataFrame(notes, columns=[*key, "note"]),
        **({"slopes": pd.concat(sloped, ignore_index=True)} if sloped else {}),
        **({"classes": pd.concat(by_class, ignore_index=True)} if by_class else {}),
        provenance=_provenance(chosen, models, seed, samples, prob, spec, (draws, tune, chains))
        | ({} if asked is None else asked.account()),
    )


def _tested_row(
    scores: tuple[np.ndarray, np.ndarray],
    words: tuple[np.ndarray, np.ndarray] | None,
    samples: int,
    seed: int,
) -> dict[str, Any]:
    """Statistic, effect size and p-values of the scores of two target sets and of their words."""
    x, y = scores
    how: dict[str, Any] = {"samples": samples, "seed": seed}
    few = math.comb(len(x) + len(y), len(x)) <= _ENUMERATED
    published = permutation_test(x, y, method="exact" if few else "montecarlo", **how)
    ours = published if few else permutation_test(x, y, rel_width=_WIDTH, **how)
    if words is None:
        over_words = math.nan
    elif [len(w) for w in words] == [len(x), len(y)]:
        over_words = ours.p_value
    else:
        over_words = permutation_test(*words, rel_width=_WIDTH, **how).p_value
    return {
        "p_value": published.p_value,
        "effect_size": effect_size(x, y),
        "statistic": ours.statistic,
        "p_lower": ours.p_lower,
        "p_upper": ours.p_upper,
        "p_method": ours.method,
        "p_words": over_words,
    }


def _fitted(
    encoded: EncodedTest, encoder: Any, spec: Any, asked: SlopesAsked | None, how: Mapping[str, Any]
) -> tuple[BiasFit, list[str]]:
    """Fit the hierarchical model to one test, with slopes where they are asked; return what is to be noted of their covariates too."""
    table = pairs_of_test(encoded, encoder)
    if asked is None:
        return fit(table, spec, pointwise=False, **how), []
    known = set(table.coverage.notes)
    table, spec, lacking = asked.of_test(table, spec)
    fitted: BiasFit = fit(table, spec, pointwise=False, **how)
    notes = [
        f"fewer than three of its words have {covariate}, so that it has no slope"
        for covariate in lacking
    ]
    return fitted, [
        *notes,
        *(note for note in fitted.provenance["coverage"].get("notes", ()) if note not in known),
    ]


def _words_of_own(test: SentenceTest) -> dict[str, Any]:
    """Return the words of a test of one's own, set by set; those of a shipped one are told by its name and hash."""
    if test.name in list_tests() and test.origin.startswith("wordlists/"):
        return {}
    words = test.frame.groupby("set", observed=True)["word"].unique()
    return {"words": {name: words[name].tolist() for name in SETS}}


def _fitted_row(fitted: BiasFit, prob: float) -> dict[str, Any]:
    """Return what the row of a test says of its fit."""
    gap = fitted.contrasts(prob, estimand="population", level="overall").iloc[0]
    standard = fitted.standardized(prob, estimand="population", level="overall").iloc[0]
    shares = fitted.variance_partition(prob)
    kinds = dict.fromkeys(("word", "template", "sentence", "residual"), math.nan)
    errors = dict(kinds)
    for row in shares.itertuples():
        of_word = {"protected_word", "attribute"} & set(row.source.split(" x "))
        of_template = {"protected_template", "attribute_template"} & set(row.source.split(" x "))
        kind = (
            "sentence"
            if of_word and of_template
            else "word"
            if of_word
            else "template"
            if of_template
            else "residual"
        )
        # What the model was fitted without has no share; it is not zero.
        kinds[kind] = float(row.mean) + (0.0 if math.isnan(kinds[kind]) else kinds[kind])
        errors[kind] = float(row.mcse_mean) + (0.0 if math.isnan(errors[kind]) else errors[kind])
    return {
        "contrast": gap["mean"],
        **{column: gap[column] for column in ("sd", "hpdi_low", "hpdi_high")},
        "standardized": standard["mean"],
        "probability_of_superiority": standard["probability_of_superiority"],
        **_prior_sensitivity(fitted),
        **{f"share_{kind}": value for kind, value in kinds.items()},
        "converged": fitted.diagnostics()["ok"],
        "mcse_contrast": gap["mcse_mean"],
        **{f"mcse_{of}": gap[f"mcse_{of}"] for of in ("sd", "low", "high")},
        "mcse_standardized": standard["mcse_mean"],
        "mcse_probability_of_superiority": standard["mcse_probability_of_superiority"],
        **{f"mcse_share_{kind}": error for kind, error in errors.items()},
    }


def _prior_sensitivity(fitted: BiasFit) -> dict[str, Any]:
    """Return the sensitivity of the overall contrast to the priors, and the prior that moves it most."""
    try:
        row = fitted.prior_sensitivity().iloc[0]
    except FitError:  # of too few draws
        return {"prior_sensitivity": math.nan, "prior": ""}
    return {"prior_sensitivity": row["prior"], "prior": row["parameter"]}


def _chosen_encoders(encoders: Any) -> list[Any]:
    several = (
        encoders if isinstance(encoders, Sequence) and not isinstance(encoders, str) else [encoders]
    )
    out = [load_encoder(encoder) for encoder in several]
    if not out:
        raise InputError("no encoder was named", where="encoders", found=encoders)
    refuse_twice(
        [encoder_label(about["name"], about["options"]) for about in map(describe_encoder, out)],
        "two encoders have one name and the same options",
        "name one, such as PATH?name=NAME",
    )
    return out


def _seed_of_test(seed: int, test: SentenceTest) -> int:
    """Return a seed of the test's own, whatever its place among others and the order of its examples."""
    examples = sorted(zip(test.frame["set"], test.frame["sentence"], strict=True))
    own = sha256_of(json.dumps([test.categories, examples], sort_keys=True))
    return int(np.random.SeedSequence([seed, int(own[:8], 16)]).generate_state(1)[0])


def _provenance(
    tests: list[SentenceTest],
    encoders: list[Any],
    seed: int,
    samples: int,
    prob: float,
    spec: Any,
    sampler: tuple[int, int, int],
) -> dict[str, Any]:
    out: dict[str, Any] = {
        "tests": [
            {
                "name": test.name,
                "sha256": test.sha256,
                "origin": test.origin,
                "categories": dict(test.categories),
                **_words_of_own(test),
            }
            for test in tests
        ],
        "encoders": [describe_encoder(encoder) for encoder in encoders],
        "seed": seed,
        "samples": samples,
        "versions": with_python("bayesbias", "numpy", "pandas"),
    }
    if spec is not None:
        out["model"] = {"name": spec.name, "sha256": spec.sha256}
        out["prob"] = prob
        out["sampler"] = dict(zip(("draws", "tune", "chains"), sampler, strict=True))
    return out
