"""The result of sentence tests: one row for each test and encoder.

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, with its supplement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import FitError, join_words, number_of
from bayesbias.core.conventions import PUBLISHED_ALPHA
from bayesbias.core.result import Result
from bayesbias.inference.cross_validation import misfit
from bayesbias.inference.measured import Measured, with_coverage
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import PROB, ROUNDING, View
from bayesbias.tables.sentences import encoder_label
from bayesbias.wordlists.sentence_tests import LEVELS, list_tests, published_tests, seat_data

PUBLISHED_COLUMNS = (
    "model", "options", "test", "p_value", "effect_size", "num_targ1", "num_targ2", "num_attr1", "num_attr2",
)  # fmt: skip
"""The nine columns of the results published with the paper."""
_SHARES = ("share_word", "share_template", "share_sentence", "share_residual")
FITTED_COLUMNS = (
    "contrast", "sd", "hpdi_low", "hpdi_high", "standardized", "probability_of_superiority", "prior_sensitivity", "prior",
    *_SHARES, "converged", "misfit", "mcse_contrast", "mcse_sd", "mcse_low", "mcse_high", "mcse_standardized",
    "mcse_probability_of_superiority", *(f"mcse_{name}" for name in _SHARES),
)  # fmt: skip
"""The columns of a test with a fit; `fitted_row` gives their values."""
KEY = ["model", "options", "test"]
MOST_NAMED = 6  # tests in a methods paragraph
type Key = tuple[str, str, str]
"""Model, options and test."""
CONTEXTS = {"word": "word", "sentence": "sent", "unbleached": "sent (u)", "text": "text"}
# Tests that ask the same of other words or of fewer (section 4 of the paper, and the same of its
# variants b); the last says whether power falls from the first to the last, so that p-values should
# rise.
RELATED_TESTS = (
    ("European/African American names, pleasant", ("weat3", "weat4", "weat5"), True),
    ("European/African American terms, pleasant", ("weat3b", "weat5b"), True),
    ("math or science against arts, gender terms", ("weat7", "weat8"), False),
    ("math or science against arts, gender names", ("weat7b", "weat8b"), False),
)
_CONSISTENCY = (
    "model", "options", "group", "level", "tests", "effect_sizes", "p_values", "p_words",
    "same_sign", "same_verdict", "p_rises", "spread",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class SeatResult(Result):
    """Every test on every encoder.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row for each encoder and test: the nine published columns (``model, options, test,
        p_value, effect_size, num_targ1, num_targ2, num_attr1, num_attr2``), and ``level`` (word,
        sentence, unbleached, or text: sentences of which nobody said the words), ``statistic``,
        ``p_lower, p_upper, p_method`` (exact, bounds or montecarlo), ``p_words`` (missing where
        nobody said the words of the targets), ``p_holm, p_words_holm`` (``p_value`` and
        ``p_words``, corrected for all rows by Holm's method), ``dropped`` (examples without a
        vector of their own). With `bayes` also ``contrast, sd, hpdi_low, hpdi_high`` of associated
        - different for new words and templates (negative: targ1 leans to attr1 more than targ2
        does), the same ``standardized`` by the standard deviation of its pairs, the
        ``probability_of_superiority`` (see `BiasFit.standardized`), ``prior_sensitivity`` (see
        `BiasFit.prior_sensitivity`) and ``prior`` (which moves the contrast most, of a sensitive
        one), the shares of variance ``share_word, share_template, share_sentence`` (what takes a
        word and a template together: one word in one template, or a word beside the template of the
        other sentence), ``share_residual``, ``converged``, ``misfit`` (the share of pairs that the
        model puts elsewhere than they lie, see `plot_ppc`), and the Monte Carlo error of each
        (``mcse_contrast, mcse_low, ...``). What does not exist is missing (NaN).
    failures : pandas.DataFrame
        ``model, options, test, reason``: what could not be run, and why. Nothing else is lost by
        it.
    dropped : pandas.DataFrame
        ``model, options, test, set, word, sentence``: examples whose own word the encoder lacks.
    notes : pandas.DataFrame
        ``model, options, test, note``: what a reader of a number has to know of it.
    provenance : dict
        Encoders, tests with their SHA-256, seed, samples, the level ``alpha``, versions; with slopes also ``covariates``
        and ``slopes``.
    classes : pandas.DataFrame
        With `bayes`, associated - different of either set of targets, for new words and for those
        of the test: ``model, options, test, name, estimand`` and the other columns of
        `BiasFit.contrasts`.
    fitted : mapping of (model, options, test) to BiasFit
        With `bayes`, the fit of each test.
    slopes : pandas.DataFrame
        ``model, options, test`` and the columns of `BiasFit.slopes`: of every test whose words have
        the covariates of which slopes were asked; empty without.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.seat(["weat7", "sent-weat7"], "minilm-static", seed=1, cache=False)
    >>> found.frame[["test", "num_targ1"]].values.tolist(), len(found.failures)
    ([['weat7', 8], ['sent-weat7', 72]], 0)
    """

    study = "sentences"  # whose sections show it, see bayesbias.output

    frame: pd.DataFrame
    failures: pd.DataFrame
    dropped: pd.DataFrame
    notes: pd.DataFrame
    provenance: Mapping[str, Any]
    slopes: pd.DataFrame
    classes: pd.DataFrame
    fitted: Mapping[Key, BiasFit] = field(default_factory=dict)

    @property
    def alpha(self) -> float:
        """The level of significance of its tests."""
        return float(self.provenance.get("alpha", PUBLISHED_ALPHA))

    @property
    def has_rope(self) -> bool:
        """Whether its tables have a region of practical equivalence: those of fits."""
        return bool(self.fitted)

    @property
    def has_one_rope(self) -> bool:
        """Whether one default ROPE holds for all rows: each test has that of its fit."""
        return False

    def fits(self) -> dict[str, BiasFit]:
        """Return the fit of each test, by the name of the test and of its encoder."""
        several = len({key[:2] for key in self.fitted}) > 1
        return {
            f"{test} on {encoder_label(model, options)}" if several else test: fit
            for (model, options, test), fit in self.fitted.items()
        }

    def fits_to_check(self) -> dict[str, BiasFit]:
        """Return none: the column ``misfit`` has their predictive checks."""
        return {}

    def shown_with(self, view: View) -> tuple[SeatResult, View]:
        """Return the result with intervals and ROPE of a view, by default its own."""
        super().shown_with(view)
        prob = self.provenance.get("prob", PROB)
        view = view.resolved(prob=prob)
        if not self.fitted or (view.prob == prob and "rope" not in view.given):
            return self, view
        return self.cached(view, lambda: self._described(view)), view

    def _described(self, view: View) -> SeatResult:
        """Return the result with all intervals described again from its fits."""
        frame = self.frame.set_index(KEY)
        rope = view.rope if "rope" in view.given else None
        classes, slopes = [], []
        for key, fit in self.fitted.items():
            intervals = interval_of_test(fit, view.prob)
            frame.loc[key, intervals.index] = intervals.to_numpy()
            labels = dict(zip(KEY, key, strict=True))
            classes.append(classes_of_test(fit, view.prob, rope).assign(**labels))
            if fit.spec.covariates():
                slopes.append(fit.slopes(view.prob).assign(**labels))
        return replace(
            self,
            frame=frame.reset_index()[list(self.frame.columns)],
            classes=pd.concat(classes, ignore_index=True)[list(self.classes.columns)],
            slopes=pd.concat(slopes, ignore_index=True)[list(self.slopes.columns)]
            if slopes
            else self.slopes,
            provenance={**self.provenance, "prob": view.prob},
        )

    def measured(self, prob: float) -> dict[str, Measured]:
        """Return what limits are compared with: tests by name, fitted or as published."""
        shown, _ = self.shown_with(View(prob))
        frame = shown.frame
        used = frame.filter(like="num_").to_numpy().sum()
        coverage = with_coverage(used / (used + frame["dropped"].sum()))

        several = frame["model"].nunique() > 1
        rows = frame.assign(contrast=frame["test"], name=frame["model"])
        rows[["level", "estimand"]] = ["overall", "population"]
        rows["shown"] = frame["model"] if several else ""
        if "contrast" in frame:
            return {"": Measured(lambda: rows, bool(frame["converged"].all()), coverage)}
        rows["hpdi_low"] = rows["hpdi_high"] = frame["effect_size"]  # the published score
        return {"": Measured(lambda: rows, None, coverage)}

    def tests_in_words(self) -> str:
        """Describe the tests as published."""
        about, names = self.provenance, list(dict.fromkeys(self.frame["test"]))
        listed = join_words(names) if len(names) <= MOST_NAMED else f"{names[0]} to {names[-1]}"
        tests = number_of(len(names), "sentence encoder association test")
        encoders = join_words(dict.fromkeys(self.frame["model"]))
        return (
            f"We ran {tests} (SEAT: {listed}) on {encoders}. p is one-sided: of permuted sentences, "
            "and of permuted words. It is exact or bounded where possible, and otherwise from "
            f"{about['samples']:,} random partitions (seed {about['seed']}). Both were "
            f"corrected for the number of tests by Holm's method. The level is {self.alpha:g}."
        )

    def rope_in_words(self, view: View) -> str:
        """Return "": no sentence about the tests names the ROPE."""
        return ""

    def published(self) -> pd.DataFrame:
        """Return the nine published columns."""
        return self.frame[list(PUBLISHED_COLUMNS)].copy()

    def table(self) -> pd.DataFrame:
        """Return effect sizes in the layout of the paper's Table 4.

        One star where ``p_value`` is at most the level (by default 0.01, as in the paper), two where
        ``p_holm`` is. A dagger
        marks what `notes` say something of.

        Returns
        -------
        DataFrame
            Index ``test, context``; a column of text for each encoder; empty where a test was not
            run.

        Examples
        --------
        >>> from bayesbias import seat
        >>> seat("weat7,sent-weat7", seed=1, cache=False).table().iloc[:, 0].tolist()
        ['1.37**', '0.86**']
        """
        frame = self.named()
        noted = pd.MultiIndex.from_frame(self.notes[KEY])
        sizes = frame["effect_size"].map("{:.2f}".format, na_action="ignore").fillna("none")
        stars = np.where(
            frame["p_holm"] <= self.alpha, "**", np.where(frame["p_value"] <= self.alpha, "*", "")
        )
        daggers = np.where(pd.MultiIndex.from_frame(frame[KEY]).isin(noted), "†", "")
        frame = frame.assign(text=sizes + stars + daggers)
        rows = frame[["title", "context"]].drop_duplicates()
        table = frame.pivot_table("text", ["title", "context"], "encoder", aggfunc="last")
        encoders = dict.fromkeys(map(encoder_label, self.frame["model"], self.frame["options"]))
        table = table.reindex(index=pd.MultiIndex.from_frame(rows), columns=list(encoders))
        return table.fillna("").rename_axis(index=["test", "context"], columns=None)

    def named(self) -> pd.DataFrame:
        """Return `frame` with names for people, in the order of Table 4.

        Returns
        -------
        DataFrame
            `frame` and ``title`` (as in Table 4), ``context`` (word, sent, sent (u), text) and
            ``encoder`` (model and options).
        """
        titles, bases = seat_data("tests")["titles"], list(map(base_of_test, self.frame["test"]))
        order = list(dict.fromkeys([*titles, *(base for base, _ in bases)]))
        frame = self.frame.assign(
            title=[titles.get(base, base) for base, _ in bases],
            context=self.frame["level"].map(CONTEXTS),
            encoder=list(map(encoder_label, self.frame["model"], self.frame["options"])),
        )
        places = [(order.index(base), level) for base, level in bases]
        return frame.iloc[sorted(range(len(frame)), key=places.__getitem__)]

    def consistency(self) -> pd.DataFrame:
        """Ask whether related tests agree, as section 4 of the paper does.

        Tests 7 and 8 ask nearly the same; tests 3, 4 and 5 ask the same with ever fewer words, so
        that p-values should rise. What an encoder makes of them shows how far a single test may be
        trusted.

        Returns
        -------
        DataFrame
            One row for each encoder, group and level of which at least two tests were run: ``model,
            options, group, level, tests, effect_sizes, p_values, p_words`` (tuples, in order),
            ``same_sign`` (missing if an effect is zero), ``same_verdict`` (all p_values at most the
            level, or none), ``p_rises``
            (where it should; else missing), ``spread`` of effect sizes. ``p_values`` are upper
            bounds, where p is not known exactly.
        """
        rows = []
        listed = self.frame["test"].isin(list_tests()) & self.frame["effect_size"].notna()
        for labels, part in self.frame[listed].groupby(["model", "options", "level"], sort=False):
            by_base = part.set_index(part["test"].map(lambda test: base_of_test(test)[0]))
            for group, names, rising in RELATED_TESTS:
                run = by_base.loc[[name for name in names if name in by_base.index]]
                if len(run) < 2:
                    continue
                sizes, p = run["effect_size"], run["p_upper"]
                signs = signs_of(sizes)
                rows.append(
                    (
                        *labels[:2],
                        group,
                        labels[2],
                        *map(tuple, (run["test"], sizes, p, run["p_words"])),
                        signs.nunique() == 1 if signs.all() else pd.NA,
                        (p <= self.alpha).nunique() == 1,
                        p.is_monotonic_increasing if rising else pd.NA,
                        sizes.max() - sizes.min(),
                    )
                )
        return pd.DataFrame(rows, columns=_CONSISTENCY).astype(
            {"same_sign": "boolean", "p_rises": "boolean"}
        )


def signs_of(values: Any) -> Any:
    """Return the signs of numbers, 0 for those that are zero but for rounding."""
    return np.sign(values) * (np.abs(values) > ROUNDING)


def fitted_row(fitted: BiasFit, prob: float) -> dict[str, Any]:
    """Return what the row of a test says of its fit.

    What depends on `prob` belongs in `interval_of_test`, which is asked again for another one.
    """
    what: dict[str, Any] = {"prob": prob, "estimand": "population", "level": "overall"}
    gap, standard = fitted.contrast_rows(**what).iloc[0], fitted.standardized(**what).iloc[0]
    shares = fitted.variance_partition(prob)
    # What the model was fitted without has no share; it is not zero.
    shares = shares.groupby(shares["source"].map(_kind_of_source))[["mean", "mcse_mean"]].sum()
    try:
        prior = fitted.prior_sensitivity().iloc[0]
        sensitivity = {"prior_sensitivity": prior["prior"], "prior": prior["parameter"]}
    except FitError:  # of too few draws
        sensitivity = {"prior_sensitivity": math.nan, "prior": ""}
    superiority = "probability_of_superiority"
    return {
        "contrast": gap["mean"],
        "mcse_contrast": gap["mcse_mean"],
        **gap[["sd", "mcse_sd"]],
        **interval_of_test(fitted, prob),
        "standardized": standard["mean"],
        "mcse_standardized": standard["mcse_mean"],
        **standard[[superiority, f"mcse_{superiority}"]],
        **sensitivity,
        "converged": fitted.diagnostics()["ok"],
        "misfit": max(misfit(fitted).values(), default=0.0),
        **shares["mean"].add_prefix("share_"),
        **shares["mcse_mean"].add_prefix("mcse_share_"),
    }


def _kind_of_source(source: str) -> str:
    """Return what a share of variance is of; ``sentence`` is of a word and a template together."""
    columns = set(source.split(" x "))
    word = bool(columns & {"protected_word", "attribute"})
    if columns & {"protected_template", "attribute_template"}:
        return "sentence" if word else "template"
    return "word" if word else "residual"


def interval_of_test(fit: BiasFit, prob: float) -> pd.Series:
    """Return the interval of associated - different for new words, with its errors."""
    gap = fit.contrast_rows(prob, estimand="population", level="overall").iloc[0]
    return gap[["hpdi_low", "hpdi_high", "mcse_low", "mcse_high"]]


def classes_of_test(fit: BiasFit, prob: float, rope: float | None = None) -> pd.DataFrame:
    """Return associated - different of either set of targets."""
    return fit.contrast_rows(prob, rope, level="class").drop(columns=["level", "contrast"])


def base_of_test(name: str) -> tuple[str, int]:
    """Return the word test that a published name belongs to, and the place of its level."""
    base, level = published_tests().get(name, (name, "word"))
    return base.removesuffix("_one_word"), LEVELS.index(level)
