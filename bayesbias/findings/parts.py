"""What is found, as a value: headline, sentences, doubts, problems and notes, told apart by where they stand.

Terminal, ``result.txt``, JSON and page print this value. What a doubt is, says its kind and its effect, never its text.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from bayesbias.core.wording import conjoined, ended, number_of
from bayesbias.tables.coverage import Loss

__all__ = ["Doubt", "DoubtKind", "Effect", "Findings", "Unexamined"]

DoubtKind = Literal[
    "class_and_attribute", "word", "exact_zeros", "heavy_tails", "observed_excluded", "prior", "geometry_destroyed",
    "geometry_unknown", "identical", "hardly_moved", "exchanged", "frequency", "drawn_together", "wide_rope", "unequal_lists",
]  # fmt: skip
_DECIDES = ("geometry_destroyed", "geometry_unknown", "identical", "hardly_moved", "exchanged")


class Effect(enum.StrEnum):
    """What a doubt says of intervals.

    Examples
    --------
    >>> import bayesbias as bb
    >>> [str(effect) for effect in bb.findings.Effect]
    ['too narrow', 'too wide']
    """

    TOO_NARROW = "too narrow"
    TOO_WIDE = "too wide"


@dataclass(frozen=True)
class Doubt:
    """Something in the data that the model leaves out, a prior that a result rests on, or what decides how it is read.

    Attributes
    ----------
    kind : str
        ``class_and_attribute``: pairs of one protected class and one attribute go together. ``word``: a word's
        distances to associated and to different attributes go together. ``exact_zeros``: many differences are zero
        to the last digit. ``heavy_tails``: most differences are small and a few large. ``observed_excluded``: intervals
        for the listed words exclude what was observed of them far too often. ``prior``: a contrast moves by
        more than half its posterior sd where a prior is half or twice as wide. Of debiased vectors
        ``geometry_destroyed``: distances to control words have little or nothing to do with those before;
        ``geometry_unknown``: there are none, or too few; ``identical``: no distance changed; ``hardly_moved``: none by
        more than rounding does; ``exchanged``: the original looks like the debiased. ``frequency``: at equal frequency
        of all words a contrast moves by more than its region of practical equivalence.
        ``drawn_together``: the model draws lists, or classes, so far to each other that the listed words say something else
        of one. ``wide_rope``: the region of practical equivalence is more than half a standard deviation of single pairs.
        ``unequal_lists``: a difference overall lies outside those of all classes, which weigh otherwise in its two sides.
    text : str
        The same for a reader, without a full stop.
    effect : Effect or None
        What it does to intervals; None where it does nothing known to them.
    level, contrast : str or None
        The level and the contrast that it concerns most; None where it concerns all.
    group : str or None
        The classifier that it concerns; of a ``prior``, the class or the list of stereotypes.
    parameter : str or None
        The parameter whose prior it is.
    model : str or None
        Name of the shipped model that has a term for it.

    Examples
    --------
    >>> from bayesbias.findings import Doubt, Effect
    >>> doubt = Doubt("word", "some words differ from the rest", Effect.TOO_NARROW, level="overall")
    >>> doubt.decides, doubt.as_dict()["kind"]
    (False, 'word')
    """

    kind: DoubtKind
    text: str
    effect: Effect | None = None
    level: str | None = None
    contrast: str | None = None
    group: str | None = None
    model: str | None = None
    parameter: str | None = None

    @property
    def line(self) -> str:
        """The doubt as a line of its own."""
        return f"{'READ THIS FIRST' if self.decides else 'Look again'}: {ended(self.text)}"

    @property
    def decides(self) -> bool:
        """Whether it stands before the headline, since it decides how that is to be read."""
        return self.kind in _DECIDES

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return asdict(self) | {"effect": None if self.effect is None else self.effect.value}

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Unexamined:
    """Something that a doubt might have come from, had it been looked at.

    Attributes
    ----------
    kind : str
        ``prior_not_refitted``: what becomes of the contrasts under a changed prior only a fit with it would show, and that
        was not made. ``prior_unknown``: it was, and cannot be trusted.
    parameter : str
        The parameter whose prior it is.
    direction : str
        ``halved`` or ``doubled``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.findings.Unexamined("prior_not_refitted", "cbar", "halved").as_dict()
    {'kind': 'prior_not_refitted', 'parameter': 'cbar', 'direction': 'halved'}
    """

    kind: Literal["prior_not_refitted", "prior_unknown"]
    parameter: str
    direction: str

    def as_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class Findings:
    """What a result says.

    Attributes
    ----------
    subject : str
        What it is about: a table, a method, a classifier.
    headline : str
        The main result in one sentence. Of a result with parts, the headlines of the parts.
    sentences : tuple of str
        What else there is to say. Nothing, where the sampler cannot be believed.
    premises : tuple of str
        What stands before the headline since it decides how that is to be read.
    doubts : tuple of Doubt
        What the model leaves out. Those that decide how the headline is to be read stand before it.
    unexamined : tuple of Unexamined
        What was not looked at, so that the absence of a doubt says nothing of it. In JSON; the page says it, lines do not.
    problems : tuple of str
        Why the sampler cannot be believed, without full stops; empty where it can.
    losses : tuple of Loss
        Lists of which too little was found to stand for what was listed; the headline names those it rests on.
    notes : tuple of str
        What is to be known of the input, such as missing words, without full stops.
    trust : str
        What is said of the sampler where there are no problems.
    parts : tuple of Findings
        One for each method or classifier.
    lead : str
        What stands before each line where there are several subjects.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=100, tune=100, chains=2)
    >>> found = bb.findings_of(fit)
    >>> found.subject, found.headline in found.lines()
    ('religion in minilm-static', True)
    """

    subject: str
    headline: str
    sentences: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    problems: tuple[str, ...] = ()
    losses: tuple[Loss, ...] = ()
    notes: tuple[str, ...] = ()
    trust: str = ""
    parts: tuple[Findings, ...] = ()
    lead: str = ""
    unexamined: tuple[Unexamined, ...] = ()

    def statements(self) -> list[str]:
        """Return deciding doubts, premises, headline and sentences, without those of the parts."""
        first = [doubt.line for doubt in self.doubts if doubt.decides]
        headline = () if self.parts else (self.headline,)
        return [f"{self.lead}{text}" for text in (*first, *self.premises, *headline, *self.sentences)]

    def closing(self) -> list[str]:
        """Return the lines on doubts, the sampler and the input, without those of the parts."""
        sampler = [f"NOT TO BE TRUSTED YET: {self.lead}{ended(text)}" for text in self.problems]
        return [
            *(doubt.line for doubt in self.doubts if not doubt.decides),
            *(sampler or ([self.trust] if self.trust else [])),
            *(f"Note: {self.lead}{ended(text)}" for text in self.notes),
        ]

    def lines(self) -> list[str]:
        """Return all there is to print, in order."""
        return [
            *(line for part in self.parts for line in part.lines()),
            *self.statements(),
            *self.closing(),
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and lists, for JSON."""
        return {
            "subject": self.subject,
            "headline": self.headline,
            "premises": list(self.premises),
            "sentences": list(self.sentences),
            "doubts": [doubt.as_dict() for doubt in self.doubts],
            "unexamined": [each.as_dict() for each in self.unexamined],
            "problems": list(self.problems),
            "losses": [loss.as_dict() for loss in self.losses],
            "notes": list(self.notes),
            "parts": [part.as_dict() for part in self.parts],
        }

    def __str__(self) -> str:
        return self.headline

    def __repr__(self) -> str:
        counts = [
            number_of(len(self.parts), "part") if self.parts else number_of(len(self.sentences), "sentence"),
            number_of(len(self.doubts), "doubt"),
            number_of(len(self.problems), "problem"),
            number_of(len(self.notes), "note"),
        ]
        return f"<Findings on {self.subject}: {', '.join(counts)}; to be read in .lines()>"


_MOST_LOSSES = 3  # that a headline names


def sentence_of_losses(losses: Iterable[Loss], controls: Collection[str] = ()) -> str:
    """Say in a sentence what a result rests on although too little of it was found; empty where that is nothing.

    Parameters
    ----------
    losses : iterable of Loss
    controls : collection of str
        The control words that the result is about; those of other lists do not touch it.
    """
    texts = [
        loss.text + (", and the class is left out" if loss.left_out else "")
        for loss in losses
        if not loss.control or loss.name in controls
    ]
    if not texts:
        return ""
    more = len(texts) - _MOST_LOSSES
    shown = texts[:_MOST_LOSSES] + ([number_of(more, "more list")] if more > 0 else [])
    return f" Many words are missing: {conjoined(shown)}."
