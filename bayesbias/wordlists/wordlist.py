"""A word list as a value: its classes, its words and its control words.

A word list says which words stand for a protected class and which attributes are stereotypes of
it. Nothing else is typed in: the connection of a pair follows from the list
(`bayesbias.wordlists.listfile.pairs`).
"""

from dataclasses import dataclass, field

from bayesbias.core import checks, join_words, number_of

type Words = tuple[str, ...]
"""Some words, in the order of their list."""
CONTROLS = ("human", "neutral")
CONNECTIONS = ("associated", "different", *CONTROLS)
SHARED = "shared"
"""Connection and kind of attributes that belong to no class."""
NOT_STATED = "not stated"
# Below this many words a class still counts, but a note of the list and of each fit says that its SD
# is uncertain. The README states the same number. Two words is the hard limit.
FEW_WORDS = 6


@dataclass(frozen=True)
class WordClass:
    """One protected class: the words that stand for it, and its stereotypes.

    Parameters
    ----------
    name : str
        The protected class, such as ``"islam"``.
    protected : tuple of str
        The words that stand for it, in the order of the list.
    attribute_class : str
        What its stereotypes are called; the name of the class unless the list says otherwise.
    attributes : tuple of str
        Its stereotypes, in the order of the list.
    factors : dict
        ``{factor: level}``, such as ``{"race": "black", "gender": "woman"}``; empty if the list states
        none.
    """

    name: str
    protected: Words
    attribute_class: str
    attributes: Words
    factors: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Controls:
    """Control words: about people in general, and about nothing in particular.

    Parameters
    ----------
    name : str
        The name of the control list; ``"own"`` where the word list holds it, ``"custom"`` where
        it was handed over as a mapping.
    human, neutral : tuple of str
        The words. Either may be empty, not both.
    title, language, source : str
        As in the file.
    edits, disagreements : tuple of str
        As in the file.
    """

    name: str
    human: Words
    neutral: Words
    title: str = ""
    language: str = NOT_STATED
    source: str = NOT_STATED
    edits: tuple[str, ...] = ()
    disagreements: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Controls {self.name}: {len(self.human)} human, {len(self.neutral)} neutral>"


@dataclass(frozen=True)
class WordList:
    """A checked word list. Made by :func:`load_wordlist`, not by hand.

    Parameters
    ----------
    name, title, language, source : str
        As in the file; ``"not stated"`` where a list of one's own leaves out language or source.
    edits : tuple of str
        What the list changes against its source.
    disagreements : tuple of str
        Known differences between published versions.
    classes : tuple of WordClass
        The protected classes in the order of the list. In a WEAT list the first is X with A, the
        second Y with B.
    controls : Controls or None
        The control words in use, without those that are stereotypes of this list (see `notes`).
    definitional_sets, evaluation_sets : tuple of tuple of str
        Sets of words that differ in the class alone, for debiasing; the sets MAC was published
        with.
    published_spellings : dict
        ``{word in this list: its spelling in the published distance tables}``.
    covariates : dict
        ``{covariate: {word: number or text}}``: what the list says of its words.
    attribute_sets : dict
        ``{name: words}``: sets of attributes that belong to no class, on which all classes are
        compared. A class of such a list may have no stereotypes.
    sha256 : str
        SHA-256 of the file; of the two digests, one after the other, where the control words come
        from a file of their own. For a mapping, of its canonical JSON.
    origin : str
        Where the list comes from: a path, ``wordlists/NAME.toml`` for a shipped list, or
        ``"mapping"``.
    digests : tuple of (str, str)
        Origin and SHA-256 of each file that was read.
    notes : tuple of str
        What a reader should know and what was done about it: words dropped from the controls,
        pairs left out. Short classes are in `thin`, since a table says of them what was found.

    Examples
    --------
    >>> from bayesbias import load_wordlist
    >>> load_wordlist("religion")
    <WordList religion: 3 classes, 15 protected words, 11 attributes, controls 2022 (85 human, 226 neutral)>
    """

    name: str
    title: str
    language: str
    source: str
    edits: tuple[str, ...]
    disagreements: tuple[str, ...]
    classes: tuple[WordClass, ...]
    controls: Controls | None
    definitional_sets: tuple[Words, ...]
    evaluation_sets: tuple[Words, ...]
    published_spellings: dict[str, str] = field(hash=False)
    sha256: str
    origin: str
    digests: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    covariates: dict[str, dict[str, float | str]] = field(default_factory=dict, hash=False)
    attribute_sets: dict[str, Words] = field(default_factory=dict, hash=False)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def factors(self) -> dict[str, dict[str, str]]:
        """The level that each class has of each factor: ``{factor: {class: level}}``."""
        out: dict[str, dict[str, str]] = {}
        for c in self.classes:
            for factor, level in c.factors.items():
                out.setdefault(factor, {})[c.name] = level
        return out

    @property
    def protected_words(self) -> Words:
        """All protected words, in the order of the list."""
        return tuple(word for c in self.classes for word in c.protected)

    @property
    def attribute_words(self) -> Words:
        """All attributes, each once: stereotypes, then those of no class."""
        sets = (*(c.attributes for c in self.classes), *self.attribute_sets.values())
        return tuple(dict.fromkeys(word for words in sets for word in words))

    @property
    def control_words(self) -> Words:
        """The human control words, then the neutral ones."""
        return (*self.controls.human, *self.controls.neutral) if self.controls else ()

    @property
    def words(self) -> Words:
        """Every word an embedding is asked for, each once."""
        return tuple(
            dict.fromkeys((*self.protected_words, *self.attribute_words, *self.control_words))
        )

    @property
    def thin(self) -> tuple[str, ...]:
        """Name the classes with so few words that they say little of how words vary."""
        out = []
        for c in self.classes:
            sets = ((c.protected, "protected word"), (c.attributes, "attribute"))
            if few := [number_of(len(w), noun) for w, noun in sets if 0 < len(w) < FEW_WORDS]:
                out.append(f"class {c.name!r} has {join_words(few)}")
        for name, words in self.attribute_sets.items():
            if len(words) < FEW_WORDS:
                out.append(f"attribute set {name!r} has {number_of(len(words), 'word')}")
        return tuple(f"The {few}: too few to tell well how much they vary." for few in out)

    def __repr__(self) -> str:
        controls = "no controls"
        if held := self.controls:
            sizes = f"{len(held.human)} human, {len(held.neutral)} neutral"
            controls = f"controls {held.name} ({sizes})"
        counts = (
            number_of(len(self.classes), "class"),
            number_of(len(self.protected_words), "protected word"),
            number_of(len(self.attribute_words), "attribute"),
        )
        return f"<WordList {self.name}: {', '.join(counts)}, {controls}>"


def check_number_of_pairs(words: WordList) -> None:
    """Refuse a list of more pairs than a table holds."""
    attributes = {*words.attribute_words, *words.control_words}
    checks.number_of_pairs(len(words.protected_words), len(attributes), f"list {words.name!r}")
