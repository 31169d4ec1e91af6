"""Slopes on covariates about words in sentence tests: which tests have which covariates, and the model with slopes of each.

The words of a test are those of its sentences, so that a covariate of a word is that of all
sentences made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.models.slopes import slopes_for
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.covariates import (
    Given,
    columns_of_covariate,
    covariates_given,
    join_covariates,
    values_of,
)
from bayesbias.tables.pair_table import PairTable
from bayesbias.wordlists.sentence_tests import SETS, SentenceTest

__all__ = ["SlopesAsked", "slopes_of_tests"]

_LEAST = 3  # words with a covariate, as `join_covariates` asks for
_SIDES = {"protected": SETS[:2], "attribute": SETS[2:]}
_COLUMNS = (
    "protected_word", "protected_class", "protected_template", "attribute", "attribute_class", "attribute_template",
    "connection",
)  # fmt: skip


@dataclass(frozen=True)
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
        """Return the table of a test with the covariates of its words, the model with slopes on them, and the covariates it lacks."""
        lacking = []
        for given in self.covariates:
            sides = [
                list(table.frame[column].unique()) for column in ("protected_word", "attribute")
            ]
            if max(len(values_of(given, words)) for words in sides) >= _LEAST:
                table = join_covariates(table, [given])
        for covariate, by in self.slopes.items():
            columns = [
                name
                for name in columns_of_covariate(table, covariate)
                if name in table.frame.columns
            ]
            if not columns:
                lacking.append(covariate)
            for column in columns:
                spec = slopes_for(spec, table, column, by)
        return table, spec, lacking

    def account(self) -> dict[str, Any]:
        """Say for the provenance what was asked, and where the covariates come from."""
        return {
            "covariates": {
                one.name: {"source": one.source, "sha256": one.sha256} for one in self.covariates
            },
            "slopes": {
                covariate: None if by is None else list(by) for covariate, by in self.slopes.items()
            },
        }


def slopes_of_tests(
    covariates: Any, slopes: Any, tests: Sequence[SentenceTest]
) -> SlopesAsked | None:
    """Read covariates, and check what slopes are asked before any test is run; None where nothing is asked."""
    if covariates is None and not slopes:
        return None
    if covariates is None or not slopes:
        given, other = ("slopes", "covariates") if slopes else ("covariates", "slopes")
        raise InputError(
            f"{given} are given without {other}",
            where=given,
            found=list(slopes or [covariates]),
            valid=other,
        )
    read = tuple(covariates_given(covariates))
    asked = slopes if isinstance(slopes, Mapping) else dict.fromkeys(_names(slopes))
    of_covariate = {
        name: one for one in read for name in (one.name, *(f"{side}_{one.name}" for side in _SIDES))
    }
    for name, by in asked.items():
        if name not in of_covariate:
            raise checks.unknown(name, of_covariate, "covariate", "slopes")
        if not of_covariate[name].numeric:
            raise InputError(
                "a slope needs numbers, and this covariate is none",
                where=of_covariate[name].source,
                found=f"{name}: {next(iter(of_covariate[name].values.values()))}",
            )
        for column in (
            part for each in by or () for part in ((each,) if isinstance(each, str) else each)
        ):
            checks.choice(column, _COLUMNS, "column of a table of sentences", "slopes")
        most = max(_known_words(of_covariate[name], test) for test in tests)
        if most < _LEAST:
            words = list(dict.fromkeys(word for test in tests for word in test.frame["word"]))
            raise InputError(
                f"no test has the covariate {name!r} of three words or more",
                where=of_covariate[name].source,
                found=list(of_covariate[name].values)[:6],
                valid=words[:6],
            )
    return SlopesAsked(read, dict(asked))


def _names(slopes: Any) -> list[str]:
    names = [slopes] if isinstance(slopes, str) else list(slopes)
    checks.texts(names, "slopes")
    return list(checks.distinct(names, "a covariate", "slopes"))


def _known_words(given: Given, test: SentenceTest) -> int:
    """Count the words of one side of a test that have a covariate."""
    return max(
        len(
            values_of(
                given, list(dict.fromkeys(test.frame.loc[test.frame["set"].isin(sets), "word"]))
            )
        )
        for sets in _SIDES.values()
    )
