"""The coverage of a table: which words were listed, which were found, and what was done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from bayesbias.core import files, number_of, some

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class GroupCoverage:
    """The listed words of one class, attribute set or kind of controls.

    Attributes
    ----------
    listed : int
        The number of listed words.
    missing : tuple of str
        The words that were not found.
    matched : Mapping of str to str
        Words found under another spelling, and which.
    composed : tuple of str
        Words built from subwords.
    misspelled : Mapping of str to str
        Of the words built from subwords those that may be misspelled, and what they may stand for.
    left_out : bool
        Whether a protected class was not used, since no word or no stereotype of it was found.
    same_vector : Mapping of str to tuple of str
        Kept word -> the words that have its vector, which count once with it.
    not_in : Mapping of str to tuple of str
        Name of another table -> the words that it lacks, and that are missing for this reason.

    Examples
    --------
    >>> group = GroupCoverage(3, ("imam",), composed=("rabbis",))
    >>> group.found, group.mostly_missing
    (2, False)
    >>> group.as_dict()
    {'listed': 3, 'found': 2, 'missing': ['imam'], 'composed': ['rabbis']}
    """

    listed: int
    missing: tuple[str, ...] = ()
    matched: Mapping[str, str] = field(default_factory=dict)
    composed: tuple[str, ...] = ()
    misspelled: Mapping[str, str] = field(default_factory=dict)
    left_out: bool = False
    same_vector: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    not_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the coverage that `as_dict` stored."""
        return cls(
            listed=stored["listed"],
            missing=tuple(stored["missing"]),
            matched=dict(stored.get("matched", {})),
            composed=tuple(stored.get("composed", ())),
            misspelled=dict(stored.get("misspelled", {})),
            left_out=bool(stored.get("left_out", False)),
            same_vector=_tuples(stored.get("same_vector", {})),
            not_in=_tuples(stored.get("not_in", {})),
        )

    @property
    def found(self) -> int:
        """The number of words that were found."""
        return self.listed - len(self.missing)

    @property
    def mostly_missing(self) -> bool:
        """Whether more than half of the words are missing."""
        return 2 * len(self.missing) > self.listed

    def as_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists, for JSON, without empty fields."""
        out = {"listed": self.listed, "found": self.found, "missing": self.missing}
        for name in ("matched", "composed", "misspelled", "left_out", "same_vector", "not_in"):
            value = getattr(self, name)
            if value:
                out[name] = value
        plain: dict[str, Any] = files.plain(out)
        return plain


def _tuples(stored: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(words) for name, words in stored.items()}


@dataclass(frozen=True)
class Coverage:
    """Which words were listed, which were found, and what was done.

    Attributes
    ----------
    protected, attributes : Mapping of str to GroupCoverage
        Per protected class; and per attribute class, attribute set and kind of controls.
    matched : Mapping of str to str
        Words found under another spelling, and which.
    repeats : int
        Rows that repeat another row and were counted once.
    notes : tuple of str
        Sentences on anything else a reader should know.
    columns : tuple of str
        Columns of the reader's own, which the rows keep.
    covariates : Mapping of str to Mapping
        Per column of a covariate that was joined: ``side`` (``protected``, ``attribute``,
        ``profession`` or ``noun_pair``), ``listed`` and ``found`` (counts of words), ``missing``
        (the words without it).
    """

    protected: Mapping[str, GroupCoverage]
    attributes: Mapping[str, GroupCoverage]
    matched: Mapping[str, str] = field(default_factory=dict)
    repeats: int = 0
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    covariates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any] | None) -> Self:
        """Return the coverage that `as_dict` stored, as in the provenance of a result."""
        stored = stored or {}
        protected = stored.get("protected", {})
        attributes = stored.get("attributes", {})
        return cls(
            protected={name: GroupCoverage.from_dict(group) for name, group in protected.items()},
            attributes={name: GroupCoverage.from_dict(group) for name, group in attributes.items()},
            matched=dict(stored.get("matched", {})),
            repeats=int(stored.get("repeats", 0)),
            notes=tuple(stored.get("notes", ())),
            columns=tuple(stored.get("columns", ())),
            covariates=dict(stored.get("covariates", {})),
        )

    def __repr__(self) -> str:
        lines = []
        for noun, groups in (("protected words", self.protected), ("attributes", self.attributes)):
            listed = sum(group.listed for group in groups.values())
            found = sum(group.found for group in groups.values())
            lines.append(f"{found:,} of {listed:,} {noun}")
        lines = [f"Coverage: {' and '.join(lines)} found"]
        counted = [(name, group.listed, group.missing) for _, name, group in self.groups()]
        for name, covariate in self.covariates.items():
            counted.append((name, covariate["listed"], covariate["missing"]))
        for name, n_listed, missing in counted:
            if missing:
                lines.append(f"{name}: {len(missing)} of {n_listed} missing: {some(missing)}")
        if self.repeats:
            lines.append(f"{number_of(self.repeats, 'repeated row')} counted once")
        return "\n  ".join([*lines, *self.notes])

    def groups(self) -> Iterator[tuple[str, str, GroupCoverage]]:
        """Yield side, name and coverage of each group of words.

        The side is ``protected`` or ``attributes``.
        """
        for name, group in self.protected.items():
            yield "protected", name, group
        for name, group in self.attributes.items():
            yield "attributes", name, group

    @property
    def missing(self) -> tuple[str, ...]:
        """All missing words."""
        words = (word for _, _, group in self.groups() for word in group.missing)
        return tuple(dict.fromkeys(words))

    def as_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists, for JSON."""
        return {
            "protected": {name: group.as_dict() for name, group in self.protected.items()},
            "attributes": {name: group.as_dict() for name, group in self.attributes.items()},
            "matched": files.plain(self.matched),
            "repeats": files.plain(self.repeats),
            "notes": list(self.notes),
            "columns": list(self.columns),
            "covariates": files.plain(self.covariates),
            "missing": list(self.missing),
        }

    def frame(self) -> pd.DataFrame:
        """Return one row for each class, with its counts and words."""
        import pandas as pd

        rows = []
        for side, name, group in self.groups():
            matched = ", ".join(f"{word} as {by}" for word, by in group.matched.items())
            row = {
                "side": "protected" if side == "protected" else "attribute",
                "class": name,
                "listed": group.listed,
                "found": group.found,
                "missing": ", ".join(group.missing),
                "matched": matched,
            }
            rows.append(row)
        return pd.DataFrame(rows)
