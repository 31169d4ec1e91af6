"""Which words were listed and which were found, and what that means for what can be learned.

A word the vectors lack makes no row and no hole: it is named here, and its pairs do not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from bayesbias.basics.errors import InputError
from bayesbias.basics.values import Shown, content_hash
from bayesbias.basics.wording import some
from bayesbias.words.wordlist import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Coverage"]

# Fewer stereotypes than this say little of how stereotypes vary; word lists note the same.
_FEW = 4


@dataclass(frozen=True, repr=False)
class Coverage(Shown):
    """Which words were listed, which were found, and what was done about the rest.

    Attributes
    ----------
    protected, attributes : Mapping of str to Mapping
        Per protected class and per attribute class: ``listed`` (count), ``found`` (count), ``missing``
        (the words) and, where there are any, ``matched`` (words found under another spelling, and which).
    matched : Mapping of str to str
        Words found under another spelling, and which.
    repeats : int
        Rows of a published table that repeat another row and were counted once.
    notes : tuple of str
        Sentences on anything else a reader should know.
    columns : tuple of str
        Columns of the reader's own, which the rows keep; a note names them.
    """

    protected: Mapping[str, Mapping[str, Any]]
    attributes: Mapping[str, Mapping[str, Any]]
    matched: Mapping[str, str] = field(default_factory=dict)
    repeats: int = 0
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return content_hash(self)

    def __repr__(self) -> str:
        sides = []
        for noun, groups in (("protected words", self.protected), ("attributes", self.attributes)):
            listed, present = (sum(group[key] for group in groups.values()) for key in ("listed", "found"))
            sides.append(f"{present:,} of {listed:,} {noun}")
        return "\n  ".join([f"Coverage: {' and '.join(sides)} found", *self.sentences()])

    @property
    def missing(self) -> tuple[str, ...]:
        """All missing words."""
        groups = [*self.protected.values(), *self.attributes.values()]
        return tuple(dict.fromkeys(word for group in groups for word in group["missing"]))

    def as_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists, for JSON."""
        lists = {"notes": self.notes, "columns": self.columns, "missing": self.missing}
        return {**asdict(self), **{name: list(values) for name, values in lists.items()}}

    def frame(self) -> pd.DataFrame:
        """One row per class: ``side, class, listed, found, missing, matched`` (words joined by ", ").

        ``matched`` says which words were found under another spelling: "lamp as Lamp".
        """
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "side": side,
                    "class": name,
                    "listed": group["listed"],
                    "found": group["found"],
                    "missing": ", ".join(group["missing"]),
                    "matched": ", ".join(f"{word} as {by}" for word, by in group.get("matched", {}).items()),
                }
                for side, groups in (("protected", self.protected), ("attribute", self.attributes))
                for name, group in groups.items()
            ]
        )

    def sentences(self) -> list[str]:
        """Say what is missing and what was changed, one sentence each."""
        out = []
        for side, groups in (("protected words", self.protected), ("attributes", self.attributes)):
            for name, group in groups.items():
                if group["missing"]:
                    words = list(group["missing"])
                    out.append(f"{name}: {len(words)} of {group['listed']} {side} missing: {some(words)}")
        if self.matched:
            shown = ", ".join(f"{asked} as {found}" for asked, found in list(self.matched.items())[:12])
            out.append(f"found under another spelling: {shown}" + (" ..." if len(self.matched) > 12 else ""))
        if self.repeats:
            out.append(f"{self.repeats} repeated rows counted once")
        return [*out, *self.notes]


def found_by_class(
    frame: pd.DataFrame, known: Mapping[str, bool], matched: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    out = []
    for label, word in (("protected_class", "protected_word"), ("attribute_class", "attribute")):
        groups: dict[str, Any] = {}
        for name, words in frame.groupby(label, sort=False, observed=True)[word].unique().items():
            missing = [str(w) for w in words if not known[w]]
            groups[str(name)] = {"listed": len(words), "found": len(words) - len(missing), "missing": missing}
            other = {str(w): matched[w] for w in words if w in matched}
            if other:
                groups[str(name)]["matched"] = other
        out.append(groups)
    return out[0], out[1]


def thin_classes(
    frame: pd.DataFrame,
    known: Mapping[str, bool],
    groups: tuple[dict[str, Any], dict[str, Any]],
    place: str,
    *,
    by_missing: bool = False,
) -> list[str]:
    """Say which classes rest on few words; with `by_missing` only of stereotypes that were more when listed."""
    notes = [
        f"only one protected word of {name} is in the {place}; its class rests on that word"
        for name, group in groups[0].items()
        if group["found"] == 1
    ]
    # An attribute of two classes stands in one attribute class, but is associated with both.
    own = frame[frame["connection"].astype(str) == "associated"]
    for name, words in (
        own.groupby("protected_class", sort=False, observed=True)["attribute"].unique().items()
    ):
        known_words = sum(known[w] for w in words)
        if known_words == 1 < len(words):
            notes.append(f"only one stereotype of {name} is in the {place}; all it says rests on that word")
        elif known_words < _FEW and (len(words) >= _FEW or not by_missing):
            notes.append(
                f"{name} has {known_words} stereotype{'' if known_words == 1 else 's'}: how far they vary is weakly known"
            )
    for name in CONTROLS:
        group = groups[1].get(name)
        if group and group["found"] == 1 < group["listed"]:
            notes.append(f"only one {name} control word is in the {place}; that group says little")
    return notes


def refuse_empty_classes(groups: tuple[dict[str, Any], dict[str, Any]], source: str) -> None:
    for side, of in zip(("protected class", "attribute class"), groups, strict=True):
        for name, group in of.items():
            if group["found"] == 0:
                control = name in CONTROLS
                what = f"{name} control word" if control else f"word of the {side} {name!r}"
                raise InputError(
                    f"no {what} is in the vocabulary (listed: {some(group['missing'], 8)})",
                    where=source,
                    valid="at least one word of every class",
                    hint="leave the control words out (--controls none), or name another list of them"
                    if control
                    else "does the vocabulary spell words otherwise, or is it in another language?",
                )
