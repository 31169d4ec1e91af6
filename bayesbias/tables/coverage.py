"""Which words were listed and which were found, and what that means for what can be learned.

A word the vectors lack makes no row and no hole: it is named here, and its pairs do not exist.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import join_words, number_of, some
from bayesbias.tables.rows import labels_within
from bayesbias.wordlists.wordlist import CONTROLS, FEW_WORDS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Coverage", "Loss", "LossKind", "losses"]

LOW_SHARE = 0.5
"""Of a list of which less was found, most was not looked at: what is said of it is said of a minority of its words."""
LEAST_LEFT = 3
"""Two words have one difference, from which no spread can be told; of a list that lost words, fewer than this is little."""


FACT_NOUNS = {
    "protected": "protected words",
    "attribute": "attributes",
    "profession": "professions",
    "noun_pair": "pairs of nouns",
}
"""What has a covariate, by the side that the account of it names."""
SameVector = tuple[dict[str, str], dict[str, str]]
"""Of protected words and of attributes, dropped word -> the word that is kept for its vector."""
_NOUNS = {"protected": "protected words", "attribute": "stereotypes", "example": "examples"}


class LossKind(enum.StrEnum):
    """How much of a list was lost.

    Examples
    --------
    >>> import bayesbias as bb
    >>> [kind.value for kind in bb.tables.LossKind]
    ['gone', 'most', 'few left']
    """

    GONE = "gone"
    MOST = "most"
    FEW_LEFT = "few left"


@dataclass(frozen=True)
class Loss:
    """A list of which so little was found that a result has to say so.

    Attributes
    ----------
    kind : LossKind
        ``gone``: no word was found. ``most``: fewer than half of the words were. ``few left``: half or more, but fewer
        than three words.
    side : str
        ``protected`` or ``attribute``; ``example`` of a set of a sentence test.
    name : str
        Of the protected class, the attribute class, ``human`` and ``neutral``, or the set.
    listed, found : int
        Words; of a set, examples.
    covariate : str
        The covariate that the others of the list lack, where a model needs it; empty where it is vectors that they lack. Then
        those are listed that have a vector.

    Examples
    --------
    >>> from bayesbias.tables import Loss, LossKind
    >>> loss = Loss(LossKind.MOST, "protected", "jewish", listed=5, found=2)
    >>> loss.kind.value, loss.listed - loss.found
    ('most', 3)
    """

    kind: LossKind
    side: str
    name: str
    listed: int
    found: int
    covariate: str = ""

    @property
    def left_out(self) -> bool:
        """Whether the class is left out, for want of any word or stereotype."""
        return self.kind is LossKind.GONE and not self.control

    @property
    def control(self) -> bool:
        """Whether the list is one of control words."""
        return self.side == "attribute" and self.name in CONTROLS

    @property
    def noun(self) -> str:
        """What is listed, for a reader."""
        return (
            f"{self.name} control words" if self.control else f"{_NOUNS[self.side]} of {self.name}"
        )

    @property
    def text(self) -> str:
        """The same for a reader, without a full stop."""
        words = self.noun
        if self.covariate:
            one, several = (
                f"has the covariate {self.covariate}",
                f"have the covariate {self.covariate}",
            )
        else:
            one, several = "was found", "were found"
        if self.kind is LossKind.GONE:
            return f"none of {self.listed} {words} {one}"
        return f"only {self.found} of {self.listed} {words} {one if self.found == 1 else several}"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON; the covariate where there is one."""
        fields = {**asdict(self), "kind": self.kind.value}
        return (
            fields
            if self.covariate
            else {name: value for name, value in fields.items() if name != "covariate"}
        )


def loss_of(side: str, name: str, listed: int, found: int) -> Loss | None:
    """Return the loss of a list; None where enough of it was found, and where nothing is missing.

    Examples
    --------
    >>> loss_of("attribute", "islam", 16, 5).text
    'only 5 of 16 stereotypes of islam were found'
    >>> loss_of("attribute", "islam", 2, 2) is None
    True
    """
    if found >= listed or (found >= LEAST_LEFT and found >= LOW_SHARE * listed):
        return None
    kind = (
        LossKind.GONE
        if not found
        else LossKind.MOST
        if found < LOW_SHARE * listed
        else LossKind.FEW_LEFT
    )
    return Loss(kind, side, name, int(listed), int(found))


def words_of_groups(frame: pd.DataFrame, group: str, word: str) -> dict[str, int]:
    """Return how many words of a column each group of another has."""
    counted = frame.groupby(frame[group].astype(str))[word].nunique()
    return {str(name): int(n) for name, n in counted.items()}


def losses_for_covariates(
    coverage: Mapping[str, Any], covariates: Collection[str], left: Mapping[str, Mapping[str, int]]
) -> tuple[Loss, ...]:
    """Return the lists of which too little has the covariates that a model needs, among the words that have a vector.

    Parameters
    ----------
    coverage : what `Coverage.as_dict` returns
    covariates : collection of str
        The columns of them. A list can lack those of its own side alone.
    left : Mapping of str to Mapping
        Under ``protected`` and ``attributes``, how many words of each list are left.

    Examples
    --------
    >>> coverage = {"attributes": {"islam": {"listed": 16, "found": 12, "missing": []}}}
    >>> [loss.text for loss in losses_for_covariates(coverage, ["age"], {"attributes": {"islam": 5}})]
    ['only 5 of 12 stereotypes of islam have the covariate age']
    """
    there = {
        key: {
            name: {"listed": group["found"], "found": left.get(key, {}).get(name, 0)}
            for name, group in coverage.get(key, {}).items()
        }
        for key in ("protected", "attributes")
    }
    sides = {name: about.get("side") for name, about in coverage.get("covariates", {}).items()}
    out = []
    for loss in losses(there):
        if own := [
            covariate for covariate in covariates if sides.get(covariate, loss.side) == loss.side
        ]:
            out.append(replace(loss, covariate=" and ".join(own)))
    # The words of a class that goes for want of stereotypes lack nothing themselves.
    silent = {loss.name for loss in out if loss.side == "attribute" and loss.left_out}
    return tuple(loss for loss in out if loss.side != "protected" or loss.name not in silent)


def losses(coverage: Coverage | Mapping[str, Any]) -> tuple[Loss, ...]:
    """Return the lists of which too little was found, those first of which the smallest share was.

    Parameters
    ----------
    coverage : Coverage, or what its `as_dict` returns

    Examples
    --------
    >>> group = {"listed": 16, "found": 5, "missing": []}
    >>> [loss.kind.value for loss in losses(Coverage({}, {"islam": group}))]
    ['most']
    """
    sides = (
        coverage.as_dict() if isinstance(coverage, Coverage) else checks.table(coverage, "coverage")
    )
    out = [
        loss
        for side, key in (("protected", "protected"), ("attribute", "attributes"))
        for name, group in sides.get(key, {}).items()
        if (loss := loss_of(side, str(name), group["listed"], group["found"]))
    ]
    return tuple(sorted(out, key=lambda loss: loss.found / loss.listed))


@dataclass(frozen=True, repr=False)
class Coverage:
    """Which words were listed, which were found, and what was done about the rest.

    Attributes
    ----------
    protected, attributes : Mapping of str to Mapping
        Per protected class and per attribute class: ``listed`` (count), ``found`` (count), ``missing``
        (the words) and, where there are any, ``matched`` (words found under another spelling, and which) and ``composed``
        (words whose vector is made of pieces of words, as that of a misspelt word would be) and ``same_vector`` (kept word -> the
        words that have its vector, which count once with it). ``left_out`` is true of a protected
        class whose words were not used, since no word or no stereotype of it was found.
    matched : Mapping of str to str
        Words found under another spelling, and which.
    repeats : int
        Rows of a published table that repeat another row and were counted once.
    notes : tuple of str
        Sentences on anything else a reader should know.
    thin : tuple of str
        Those of the notes that say which lists have few words; they are written anew where words are left out of a fit.
    columns : tuple of str
        Columns of the reader's own, which the rows keep; a note names them.
    covariates : Mapping of str to Mapping
        Per column of a covariate that was joined: ``side`` (``protected``, ``attribute``, ``profession`` or ``noun_pair``), ``listed``
        and ``found`` (counts of words), ``missing`` (the words without it).
    """

    protected: Mapping[str, Mapping[str, Any]]
    attributes: Mapping[str, Mapping[str, Any]]
    matched: Mapping[str, str] = field(default_factory=dict)
    repeats: int = 0
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    covariates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    thin: tuple[str, ...] = ()

    def __repr__(self) -> str:
        sides = []
        for noun, groups in (("protected words", self.protected), ("attributes", self.attributes)):
            listed, present = (
                sum(group[key] for group in groups.values()) for key in ("listed", "found")
            )
            sides.append(f"{present:,} of {listed:,} {noun}")
        return "\n  ".join([f"Coverage: {' and '.join(sides)} found", *self.sentences()])

    @property
    def missing(self) -> tuple[str, ...]:
        """All missing words."""
        groups = [*self.protected.values(), *self.attributes.values()]
        return tuple(dict.fromkeys(word for group in groups for word in group["missing"]))

    def as_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists, for JSON."""
        lists = {
            "notes": self.notes,
            "columns": self.columns,
            "missing": self.missing,
            "thin": self.thin,
        }
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
                    "matched": ", ".join(
                        f"{word} as {by}" for word, by in group.get("matched", {}).items()
                    ),
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
                    out.append(
                        f"{name}: {len(words)} of {group['listed']} {side} missing: {some(words)}"
                    )
        for name, covariate in self.covariates.items():
            without = f"; not of {some(covariate['missing'])}" if covariate["missing"] else ""
            out.append(
                f"{name}: known of {covariate['found']} of {covariate['listed']} {FACT_NOUNS[covariate['side']]}{without}"
            )
        if self.matched:
            shown = ", ".join(
                f"{asked} as {found}" for asked, found in list(self.matched.items())[:12]
            )
            out.append(
                f"found under another spelling: {shown}"
                + (" ..." if len(self.matched) > 12 else "")
            )
        if pieces := composed_in_words(self.as_dict()):
            out.append(pieces)
        if self.repeats:
            out.append(f"{number_of(self.repeats, 'repeated row')} counted once")
        return [*out, *self.notes]


def composed_in_words(coverage: Mapping[str, Any]) -> str | None:
    """Say which words are made of pieces of words; control words, of which there are many, are counted.

    Examples
    --------
    >>> group = {"listed": 2, "found": 2, "missing": [], "composed": ["teenagr"]}
    >>> controls = {**group, "composed": ["doorknob"]}
    >>> composed_in_words({"protected": {"young": group}, "attributes": {"neutral": controls}})
    '2 words are made of pieces, as misspelt ones would be: teenagr; and 1 control word'
    """
    own: dict[str, None] = {}
    controls: dict[str, None] = {}
    for side in ("protected", "attributes"):
        for name, group in coverage.get(side, {}).items():
            (controls if side == "attributes" and name in CONTROLS else own).update(
                dict.fromkeys(group.get("composed", ()))
            )
    besides = [word for word in controls if word not in own]
    many = len(own) + len(besides)
    if not many:
        return None
    parts = [some(own)] if own else []
    if besides:
        parts.append(number_of(len(besides), "control word"))
    lead = (
        "1 word is made of pieces, as a misspelt one"
        if many == 1
        else f"{many} words are made of pieces, as misspelt ones"
    )
    return f"{lead} would be: {'; and '.join(parts)}"


def found_by_class(
    frame: pd.DataFrame,
    known: Mapping[str, bool],
    matched: Mapping[str, str],
    composed: Collection[str] = (),
) -> tuple[dict[str, Any], dict[str, Any]]:
    out = []
    for label, word in (("protected_class", "protected_word"), ("attribute_class", "attribute")):
        groups: dict[str, Any] = {}
        for name, words in labels_within(frame, label, word).items():
            missing = [w for w in words if not known[w]]
            groups[name] = {
                "listed": len(words),
                "found": len(words) - len(missing),
                "missing": missing,
            }
            other = {w: matched[w] for w in words if w in matched}
            if other:
                groups[name]["matched"] = other
            if pieces := [w for w in words if w in composed]:
                groups[name]["composed"] = pieces
        out.append(groups)
    return out[0], out[1]


def name_same_vectors(
    groups: tuple[dict[str, Any], dict[str, Any]], frame: pd.DataFrame, same: SameVector
) -> None:
    """Enter under ``same_vector`` of each class the words that stand for others: kept word -> dropped words."""
    sides = (("protected_class", "protected_word"), ("attribute_class", "attribute"))
    for of, kept_as, (label, word) in zip(groups, same, sides, strict=True):
        for name, words in labels_within(frame, label, word).items():
            for dropped in words:
                if dropped in kept_as:
                    others = of[name].setdefault("same_vector", {}).setdefault(kept_as[dropped], [])
                    others.append(dropped)


def said_of_same_vectors(same: SameVector) -> list[str]:
    """Say which words have the vector of another, one sentence a side.

    Examples
    --------
    >>> said_of_same_vectors(({"Muslim": "muslim", "MUSLIM": "muslim"}, {}))
    ['2 protected words have the vector of another word and count once with it: muslim (Muslim, MUSLIM)']
    """
    notes = []
    for kept_as, noun in zip(same, ("protected word", "attribute"), strict=True):
        dropped: dict[str, list[str]] = {}
        for word, kept in kept_as.items():
            dropped.setdefault(kept, []).append(word)
        if dropped:
            have = "has" if len(kept_as) == 1 else "have"
            named = some(f"{kept} ({some(words)})" for kept, words in dropped.items())
            notes.append(
                f"{number_of(len(kept_as), noun)} {have} the vector of another word and count"
                f"{'s' if have == 'has' else ''} once with it: {named}"
            )
    return notes


def thin_classes(
    frame: pd.DataFrame,
    known: Mapping[str, bool],
    groups: tuple[dict[str, Any], dict[str, Any]],
    there: str,
    same: SameVector = ({}, {}),
) -> list[str]:
    """Say which classes rest on few words, and of which control words there is one.

    Parameters
    ----------
    frame : DataFrame
        The pairs of the classes that are not left out.
    known : Mapping of str to bool
        Whether a word was found, or fitted.
    groups : tuple of dict
        What `found_by_class` returns.
    there : str
        What is said of a word that was: ``is in the vocabulary``.
    same : tuple of dict
        Of either side, dropped word -> the word of the same vector.
    """
    # An attribute of two classes stands in one attribute class, but is associated with both.
    own = frame.loc[frame["connection"] == "associated", ["protected_class", "attribute"]]
    stereotypes = labels_within(own, "protected_class", "attribute")
    of_class = labels_within(frame, "protected_class", "protected_word")
    notes = []
    for name, words in stereotypes.items():
        protected = len({same[0].get(w, w) for w in of_class[name] if known[w]})
        if protected == 1:
            notes.append(
                f"only one protected word of {name} {there}; its class rests on that word, and one word shows no scatter"
            )
        known_words = len({same[1].get(w, w) for w in words if known[w]})
        if known_words == 1 < len(words):
            notes.append(f"only one stereotype of {name} {there}; all it says rests on that word")
        few = [
            number_of(count, noun)
            for count, noun, one_said in (
                (protected, "protected word", True),
                (known_words, "stereotype", len(words) > 1),
            )
            if (2 if one_said else 1) <= count < FEW_WORDS
        ]
        if few:
            notes.append(f"{name} has {join_words(few)}: how far they vary is weakly known")
    for name in CONTROLS:
        control = groups[1].get(name)
        if control and control["found"] - _dropped_of(control) == 1 < control["listed"]:
            notes.append(f"only one {name} control word {there}; that group says little")
    return notes


def _dropped_of(group: Mapping[str, Any]) -> int:
    return sum(map(len, group.get("same_vector", {}).values()))


def without_silent_classes(
    before: pd.DataFrame, left: pd.DataFrame, covariate: str
) -> tuple[pd.DataFrame, list[str]]:
    """Leave out the classes of which no stereotype has a covariate, as `without_lost_classes` does; return the rows and their names.

    Their words would stand on one side of a difference alone, so that what sets them apart from other classes on all words
    enters it.

    Parameters
    ----------
    before, left : DataFrame
        The pairs with and without those of the words that lack the covariate.
    covariate : str
        Its column, for messages.

    Raises
    ------
    InputError
        Where fewer than two classes have stereotypes left. Of a sentence test, whose two sets are held against each other, all
        stays.
    """
    if (
        not {"connection", "protected_class"} <= set(before.columns)
        or "protected_template" in before.columns
    ):
        return left, []
    own = [
        dict.fromkeys(
            map(str, rows.loc[rows["connection"] == "associated", "protected_class"].unique())
        )
        for rows in (before, left)
    ]
    there = set(map(str, left["protected_class"].unique()))
    silent = [name for name in own[0] if name not in own[1] and name in there]
    if silent and len(own[1]) < 2:
        raise InputError(
            f"no stereotype of {join_words(silent)} has the covariate, and one class alone has no other to be held against",
            where=f"covariate {covariate!r}",
            valid="stereotypes with the covariate in at least two classes",
            hint="fit without it, or a list of the other class and control words",
        )
    return left[~left["protected_class"].astype(str).isin(silent)] if silent else left, silent


def fitted_alone(coverage: Coverage, frame: pd.DataFrame, fitted: pd.DataFrame) -> Coverage:
    """Return the coverage of a table of which only some rows are fitted: what is thin is said of the words of those.

    Parameters
    ----------
    coverage : Coverage
    frame, fitted : DataFrame
        The pairs of the table, and those that are fitted.
    """
    columns = ["protected_class", "protected_word", "attribute_class", "attribute", "connection"]
    # Sets of sentences are counted by examples.
    if (
        not set(columns) <= set(frame.columns)
        or not coverage.protected
        or "protected_template" in frame.columns
    ):
        return coverage
    frame, fitted = frame[columns].astype(str), fitted[columns].astype(str)
    frame = frame[frame["protected_class"].isin(fitted["protected_class"])]
    left = {*fitted["protected_word"], *fitted["attribute"]}
    known = {word: word in left for word in {*frame["protected_word"], *frame["attribute"]}}
    notes = thin_classes(frame, known, found_by_class(frame, known, {}), "was fitted")
    rest = [note for note in coverage.notes if note not in coverage.thin]
    return replace(coverage, notes=(*rest, *notes), thin=tuple(notes))


def without_lost_classes(
    frame: pd.DataFrame,
    known: Mapping[str, bool],
    groups: tuple[dict[str, Any], dict[str, Any]],
    source: str,
) -> tuple[pd.DataFrame, list[str]]:
    """Leave out the classes and control words of which no word was found, and say so.

    Without its stereotypes a class has nothing that it could be nearer to, so that its words go as well. The
    stereotypes of a class without words stay: for other classes they are those of another class. Without control words
    there are no contrasts with them, and all others stand.

    Parameters
    ----------
    frame : DataFrame
        The pairs that are listed.
    known : Mapping of str to bool
        Whether a word was found.
    groups : tuple of dict
        What `found_by_class` returns; the protected classes that are left out are marked in it.
    source : str

    Raises
    ------
    InputError
        Where fewer than two classes have words and stereotypes left, or no pair is left.
    """
    notes = [
        f"no {name} control word was found ({group['listed']} listed): contrasts with {name} control words are left out"
        for name, group in groups[1].items()
        if name in CONTROLS and not group["found"]
    ]
    own = frame.loc[frame["connection"] == "associated", ["protected_class", "attribute"]]
    stereotypes = labels_within(own, "protected_class", "attribute")
    silent = [name for name, words in stereotypes.items() if not any(known[w] for w in words)]
    wordless = [name for name, group in groups[0].items() if not group["found"]]
    left = [name for name in groups[0] if name not in (*silent, *wordless)]
    if (silent or wordless) and len(left) < 2:
        what, missing = (
            (f"word of the protected class {wordless[0]!r}", groups[0][wordless[0]]["missing"])
            if wordless
            else (f"stereotype of the protected class {silent[0]!r}", stereotypes[silent[0]])
        )
        raise InputError(
            f"no {what} is in the vocabulary (listed: {some(missing, 8)})",
            where=source,
            valid="words and stereotypes of at least two classes",
            hint="does the vocabulary spell words otherwise, or is it in another language?",
        )
    for name in dict.fromkeys((*wordless, *silent)):
        groups[0][name]["left_out"] = True
    notes += [
        f"LEFT OUT: the class {name}, since none of its protected words was found"
        for name in wordless
    ]
    notes += [
        f"LEFT OUT: the class {name}, since none of its stereotypes was found"
        for name in silent
        if name not in wordless
    ]
    if not silent:
        return frame, notes
    return frame[~frame["protected_class"].isin(silent)], notes
