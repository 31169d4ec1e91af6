"""Slopes on facts about words in sentence tests: which tests have which facts, and the model with slopes of each.

The words of a test are those of its sentences, so that a fact of a word is that of all sentences made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayesbias.basics import checks
from bayesbias.basics.errors import InputError
from bayesbias.basics.values import content_hash
from bayesbias.models.slopes import slopes_for
from bayesbias.models.spec import ModelSpec
from bayesbias.tables.fact_accounts import values_of
from bayesbias.tables.facts import columns_of_fact, join_facts
from bayesbias.tables.pair_table import PairTable
from bayesbias.tables.reading_facts import Given, facts_given
from bayesbias.words.sentence_tests import SETS, SentenceTest

__all__ = ["SlopesAsked", "slopes_of_tests"]

_LEAST = 3  # words with a fact, as `join_facts` asks for
_SIDES = {"protected": SETS[:2], "attribute": SETS[2:]}
_COLUMNS = (
    "protected_word", "protected_class", "protected_template", "attribute", "attribute_class", "attribute_template",
    "connection",
)  # fmt: skip


@dataclass(frozen=True)
class SlopesAsked:
    """Slopes on facts, as they are asked of every test.

    Attributes
    ----------
    facts : tuple of Given
    slopes : mapping
        Fact -> the columns that its slopes differ by; None for those that the model has.
    """

    facts: tuple[Given, ...]
    slopes: Mapping[str, Sequence[Any] | None]

    def __hash__(self) -> int:
        return content_hash(self)

    def of_test(self, table: PairTable, spec: ModelSpec) -> tuple[PairTable, ModelSpec, list[str]]:
        """Return the table of a test with the facts of its words, the model with slopes on them, and the facts it lacks."""
        lacking = []
        for given in self.facts:
            sides = [list(table.frame[column].unique()) for column in ("protected_word", "attribute")]
            if max(len(values_of(given, words)) for words in sides) >= _LEAST:
                table = join_facts(table, [given])
        for fact, by in self.slopes.items():
            columns = [name for name in columns_of_fact(table, fact) if name in table.frame.columns]
            if not columns:
                lacking.append(fact)
            for column in columns:
                spec = slopes_for(spec, table, column, by)
        return table, spec, lacking

    def account(self) -> dict[str, Any]:
        """Say for the provenance what was asked, and where the facts come from."""
        return {
            "facts": {one.name: {"source": one.source, "sha256": one.sha256} for one in self.facts},
            "slopes": {fact: None if by is None else list(by) for fact, by in self.slopes.items()},
        }


def slopes_of_tests(facts: Any, slopes: Any, tests: Sequence[SentenceTest]) -> SlopesAsked | None:
    """Read facts, and check what slopes are asked before any test is run; None where nothing is asked."""
    if facts is None and not slopes:
        return None
    if facts is None or not slopes:
        given, other = ("slopes", "facts") if slopes else ("facts", "slopes")
        raise InputError(
            f"{given} are given without {other}", where=given, found=list(slopes or [facts]), valid=other
        )
    read = tuple(facts_given(facts))
    asked = slopes if isinstance(slopes, Mapping) else dict.fromkeys(_names(slopes))
    of_fact = {name: one for one in read for name in (one.name, *(f"{side}_{one.name}" for side in _SIDES))}
    for name, by in asked.items():
        if name not in of_fact:
            raise checks.unknown(name, of_fact, "fact", "slopes")
        if not of_fact[name].numeric:
            raise InputError(
                "a slope needs numbers, and this fact is none",
                where=of_fact[name].source,
                found=f"{name}: {next(iter(of_fact[name].values.values()))}",
            )
        for column in (part for each in by or () for part in ((each,) if isinstance(each, str) else each)):
            checks.choice(column, _COLUMNS, "column of a table of sentences", "slopes")
        most = max(_known_words(of_fact[name], test) for test in tests)
        if most < _LEAST:
            words = list(dict.fromkeys(word for test in tests for word in test.frame["word"]))
            raise InputError(
                f"no test has the fact {name!r} of three words or more",
                where=of_fact[name].source,
                found=list(of_fact[name].values)[:6],
                valid=words[:6],
            )
    return SlopesAsked(read, dict(asked))


def _names(slopes: Any) -> list[str]:
    names = [slopes] if isinstance(slopes, str) else list(slopes)
    checks.texts(names, "slopes")
    return list(checks.distinct(names, "a fact", "slopes"))


def _known_words(given: Given, test: SentenceTest) -> int:
    """Count the words of one side of a test that have a fact."""
    return max(
        len(values_of(given, list(dict.fromkeys(test.frame.loc[test.frame["set"].isin(sets), "word"]))))
        for sets in _SIDES.values()
    )
