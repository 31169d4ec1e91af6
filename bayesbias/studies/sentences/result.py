"""The result of sentence tests on encoders: one row a test and encoder, in the layout of the paper.

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, with its supplement.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.files import whole_file
from bayesbias.core.formatting import number_of
from bayesbias.core.frames import write_csv
from bayesbias.studies.sentences.related import CONTEXTS, RELATED_TESTS, TABLE_4, base_of_test
from bayesbias.tables.sentences import encoder_label
from bayesbias.wordlists.sentence_tests import list_tests

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PUBLISHED_COLUMNS", "SeatResult"]

PUBLISHED_COLUMNS = (
    "model", "options", "test", "p_value", "effect_size", "num_targ1", "num_targ2", "num_attr1", "num_attr2",
)  # fmt: skip
"""The nine columns of the results published with the paper."""
_LABELS = ("covariate", "level", "name", "of")
"""What a slope is of; see `BiasFit.slopes`."""
_SIGNIFICANT = 0.01


_OF_CLASS = ("name", "estimand")
"""What associated - different of one set of targets is of; see `BiasFit.contrasts`."""


def _no_slopes() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns=["model", "options", "test", *_LABELS])


def _no_classes() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        columns=["model", "options", "test", *_OF_CLASS, "mean", "hpdi_low", "hpdi_high"]
    )


@dataclass(frozen=True, eq=False, repr=False)
class SeatResult:
    """Every test on every encoder.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row for each encoder and test: the nine published columns (``model, options, test,
        p_value, effect_size, num_targ1, num_targ2, num_attr1, num_attr2``), and ``level`` (word,
        sentence, unbleached, or text: sentences of which nobody said the words), ``statistic``,
        ``p_lower, p_upper, p_method`` (exact, bounds or montecarlo), ``p_words`` (missing where
        nobody said the words of the targets), ``p_holm``, ``dropped`` (examples without a vector of
        their own). With `bayes` also ``contrast, sd, hpdi_low, hpdi_high`` of associated -
        different for new words and templates (negative: targ1 lies nearer to attr1, targ2 to
        attr2), the same ``standardized`` by the standard deviation of its pairs, the
        ``probability_of_superiority`` (see `BiasFit.standardized`), ``prior_sensitivity`` (see
        `BiasFit.prior_sensitivity`) and ``prior`` (which moves the contrast most, of a sensitive
        one), the shares of variance ``share_word, share_template, share_sentence`` (what takes a
        word and a template together: one word in one template, or a word beside the template of the
        other sentence), ``share_residual``, and ``converged``, and the Monte Carlo error of each
        (``mcse_contrast, mcse_low, ...``). What does not exist is missing (NaN).
    failures : pandas.DataFrame
        ``model, options, test, reason``: what could not be run, and why. Nothing else is lost by
        it.
    dropped : pandas.DataFrame
        ``model, options, test, set, word, sentence``: examples whose own word the encoder lacks.
    notes : pandas.DataFrame
        ``model, options, test, note``: what a reader of a number has to know of it.
    provenance : dict
        Encoders, tests with their SHA-256, seed, samples, versions; with slopes also ``covariates``
        and ``slopes``.
    classes : pandas.DataFrame
        With `bayes`, associated - different of either set of targets, for new words and for those
        of the test: ``model, options, test, name, estimand`` and the other columns of
        `BiasFit.contrasts`.
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
    provenance: Mapping[str, Any] = field(default_factory=dict)
    slopes: pd.DataFrame = field(default_factory=_no_slopes)
    classes: pd.DataFrame = field(default_factory=_no_classes)

    def published(self) -> pd.DataFrame:
        """Return the nine published columns."""
        return self.frame[list(PUBLISHED_COLUMNS)].copy()

    def table(self, alpha: float = _SIGNIFICANT) -> pd.DataFrame:
        """Return effect sizes in the layout of the paper's Table 4; tests it leaves out follow those it has.

        Parameters
        ----------
        alpha : float in (0, 1)
            One star where ``p_value`` is below it, two where ``p_holm`` is. The paper takes 0.01. A
            dagger marks what `notes` say something of.

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
        import pandas as pd

        alpha = checks.probability(alpha, "alpha")
        named = self.named()
        columns = [
            encoder_label(*key)
            for key in zip(self.frame["model"], self.frame["options"], strict=True)
        ]
        index = pd.MultiIndex.from_frame(
            named[["title", "context"]].drop_duplicates(), names=["test", "context"]
        )
        out = pd.DataFrame("", index=index, columns=list(dict.fromkeys(columns)))
        noted = set(self.notes[["model", "options", "test"]].itertuples(index=False, name=None))
        for names, column, row in zip(
            named[["title", "context"]].itertuples(index=False, name=None),
            [columns[i] for i in named.index],
            self.frame.loc[named.index].itertuples(),
            strict=True,
        ):
            stars = "**" if row.p_holm < alpha else "*" if row.p_value < alpha else ""
            stars += "†" if (row.model, row.options, row.test) in noted else ""
            out.loc[names, column] = (
                "none" if pd.isna(row.effect_size) else f"{row.effect_size:.2f}"
            ) + stars
        return out

    def named(self) -> pd.DataFrame:
        """Return title and context of every row of `frame`, in the order of Table 4.

        Returns
        -------
        DataFrame
            Index that of `frame`; ``title`` (as in Table 4), ``context`` (word, sent, sent (u),
            text) and ``base`` (the word test that the test belongs to; the test itself where it is
            none of the published).
        """
        import pandas as pd

        published = set(list_tests()) | set(TABLE_4)
        rows = []
        for test, level in zip(self.frame["test"], self.frame["level"], strict=True):
            base, place = base_of_test(test) if test in published else (test, 0)
            rows.append((TABLE_4.get(base, base), CONTEXTS[level], base, place))
        out = pd.DataFrame(
            rows, columns=["title", "context", "base", "place"], index=self.frame.index
        )
        order = list(dict.fromkeys([*TABLE_4, *out["base"]]))
        return (
            out.assign(at=[order.index(base) for base in out["base"]])
            .sort_values(["at", "place"], kind="stable")
            .drop(columns=["at", "place"])
        )

    def consistency(self, alpha: float = _SIGNIFICANT) -> pd.DataFrame:
        """Ask whether related tests agree, as section 4 of the paper does.

        Tests 7 and 8 ask nearly the same; tests 3, 4 and 5 ask the same with ever fewer words, so
        that p-values should rise. What an encoder makes of them shows how far a single test may be
        trusted.

        Parameters
        ----------
        alpha : float in (0, 1)

        Returns
        -------
        DataFrame
            One row for each encoder, group and level of which at least two tests were run: ``model,
            options, group, level, tests, effect_sizes, p_values, p_words`` (tuples, in order),
            ``same_sign``, ``same_verdict`` (all p_values below `alpha`, or none), ``p_rises``
            (where it should; else missing), ``spread`` of effect sizes. ``p_values`` are upper
            bounds, where p is not known exactly.
        """
        import pandas as pd

        alpha = checks.probability(alpha, "alpha")
        rows = []
        for (model, options, level), part in self.frame.groupby(
            ["model", "options", "level"], sort=False
        ):
            published = part[part["test"].isin(list_tests())]
            bases = {base_of_test(row.test)[0]: row for row in published.itertuples()}
            for group, names, rising in RELATED_TESTS:
                run = [bases[name] for name in names if name in bases]
                if len(run) < 2 or any(pd.isna(row.effect_size) for row in run):
                    continue
                sizes = tuple(float(row.effect_size) for row in run)
                p = tuple(float(row.p_upper) for row in run)
                rows.append(
                    {
                        "model": model,
                        "options": options,
                        "group": group,
                        "level": level,
                        "tests": tuple(row.test for row in run),
                        "effect_sizes": sizes,
                        "p_values": p,
                        "p_words": tuple(float(row.p_words) for row in run),
                        "same_sign": len({math.copysign(1, size) for size in sizes}) == 1,
                        "same_verdict": len({value < alpha for value in p}) == 1,
                        "p_rises": all(a <= b for a, b in itertools.pairwise(p))
                        if rising
                        else pd.NA,
                        "spread": max(sizes) - min(sizes),
                    }
                )
        columns = [
            "model",
            "options",
            "group",
            "level",
            "tests",
            "effect_sizes",
            "p_values",
            "p_words",
        ]
        columns += ["same_sign", "same_verdict", "p_rises", "spread"]
        return pd.DataFrame(rows, columns=columns).astype({"p_rises": "boolean"})

    def write_tsv(self, path: str | os.PathLike[str]) -> Path:
        """Write the nine published columns, tab-separated, whole or not at all."""
        path = checks.path(path, "path", "the path of a file")
        with whole_file(path) as temporary:
            write_csv(self.published(), temporary, separator="\t")
        return Path(path)

    def __repr__(self) -> str:
        models = self.frame.groupby(["model", "options"], sort=False).ngroups
        tests = self.frame["test"].nunique()
        lines = [f"SeatResult: {number_of(tests, 'test')} on {number_of(models, 'encoder')}"]
        for (model, options), part in self.frame.groupby(["model", "options"], sort=False):
            clear = int((part["p_holm"] < _SIGNIFICANT).sum())
            lines.append(
                f"  {encoder_label(model, options)}: {clear} of {len(part)} below 0.01 after Holm's correction"
            )
            by_sentence = part[(part["level"] == "sentence") & part["p_words"].notna()]
            by_sentence = by_sentence[by_sentence["p_upper"] < _SIGNIFICANT]
            lost = int((by_sentence["p_words"] >= _SIGNIFICANT).sum())
            if lost:
                of = f"{lost} of {number_of(len(by_sentence), 'sentence test')}"
                lines.append(
                    f"    {of} {'is' if lost == 1 else 'are'} not, when each word counts once (p_words)"
                )
        for row in self.notes.itertuples():
            lines.append(f"  {encoder_label(row.model, row.options)}, {row.test}: {row.note}")
        if len(self.failures):
            lines.append(
                f"  {len(self.failures)} could not be run: {self.failures['reason'].iloc[0]}"
            )
        return "\n".join(lines)
