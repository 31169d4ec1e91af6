"""Slopes on covariates about words in sentence tests.

The words of a test are those of its sentences, so that a covariate of a word is that of all
sentences made of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.models.spec import ModelSpec
from bayesbias.models.variants import slopes_for
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

    def account(self) -> dict[str, Any]:
        """Say for the provenance what was asked, and where the covariates come from."""
        about = {one.name: {"source": one.source, "sha256": one.sha256} for one in self.covariates}
        slopes = {name: None if by is None else list(by) for name, by in self.slopes.items()}
        return {"covariates": about, "slopes": slopes}


def slopes_of_tests(
    covariates: Any, slopes: Any, tests: Sequence[SentenceTest]
) -> SlopesAsked | None:
    """Read covariates, and check the slopes before any test is run; None if there are neither."""
    if covariates is None and not slopes:
        return None
    if covariates is None or not slopes:
        raise InputError("expected covariates and slopes, got one of the two", where="slopes")
    read = tuple(covariates_given(covariates))
    names = (
        [slopes]
        if isinstance(slopes, str)
        else checks.distinct(list(slopes), "a covariate", "slopes")
    )
    asked = dict(slopes) if isinstance(slopes, Mapping) else dict.fromkeys(names)
    named = {one.name: one for one in read}
    named |= {f"{side}_{one.name}": one for side in _SIDES for one in read}
    for name in asked:
        given = named[checks.choice(name, named, "covariate", "slopes")]
        if not given.numeric:
            raise InputError("slopes: expected a covariate of numbers, got texts", found=name)
        if not any(len(words) >= _LEAST for test in tests for words in _known_words(given, test)):
            raise InputError(
                f"slopes: expected {name} of three words of a test or more",
                where=given.source,
                found=list(given.values)[:6],
                valid=list(dict.fromkeys(word for test in tests for word in test.frame["word"]))[
                    :6
                ],
            )
    return SlopesAsked(read, asked)


def _known_words(given: Given, test: SentenceTest) -> list[dict[str, Any]]:
    """Return the values of the words on either side of a test."""
    frame = test.frame.drop_duplicates(["set", "word"])
    return [
        values_of(given, frame.loc[frame["set"].isin(sets), "word"].tolist())
        for sets in _SIDES.values()
    ]
