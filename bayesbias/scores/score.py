"""The result of an averaged score, and the table of all scores.

A new score is a function that returns a `Score`, and one row of `SCORES`. The command ``bayesbias
score`` and the documentation read that table.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesbias.core import InputError, checks, files, packages, some

if TYPE_CHECKING:
    import pandas as pd

# Mean cosines in double precision are wrong by about 1e-16. Scores that differ by less than this
# are equal.
ROUNDING = 2.0**-42
ALPHA = 0.05
"""The level at or below which a p-value is significant, where none is given."""
NOT_CLEAR = "no clear direction"


@dataclass(frozen=True, eq=False, kw_only=True)
class Score:
    """An averaged score.

    `reading` says what the value means, and `meaning` what its scale is.
    What is special to one score is in `details`, and can be read as an attribute too:
    ``score.statistic``. So can the value by its label: ``score.effect_size``.

    Attributes
    ----------
    name : str
        Key of the score in the table of scores, such as ``weat``.
    data : str
        The table, or the word list and the embedding.
    label : str
        What the value is, such as ``effect size``.
    value : float or None
        None where it does not exist; a note says why.
    low, high, prob : float or None
        The interval, and its probability.
    p_value : float or None
    p_method : str or None
        How it was found, such as ``exact``.
    alpha : float or None
        The level at or below which the p-value is significant.
    seed : int or None
        Of what was drawn, if anything was.
    n : dict of str to int
        Numbers of words, by set.
    classes : tuple of str
        The protected classes X and Y.
    dropped : tuple of str
        Words that are out of vocabulary.
    notes : tuple of str
        What a reader should know.
    details : dict

    Examples
    --------
    >>> import bayesbias as bb
    >>> score = bb.weat("minilm-static", "weat7")
    >>> score.label, round(score.value, 2), score.p_method, score.n["x"]
    ('effect size', 1.37, 'exact', 8)
    >>> score.effect_size == score.value, round(score.largest_effect_size, 2)
    (True, 1.94)
    """

    name: str
    data: str
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    prob: float | None = None
    p_value: float | None = None
    p_method: str | None = None
    alpha: float | None = None
    seed: int | None = None
    n: dict[str, int] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    table: "pd.DataFrame"

    def __getattr__(self, name: str) -> Any:
        fields = vars(self)  # empty while a copy is made
        if name in fields.get("details", ()):
            return fields["details"][name]
        if name == fields.get("label", "").replace(" ", "_"):
            return fields["value"]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _direction(self) -> str | None:
        """Return what the sign of the value says, such as ``toward X``.

        None where it is not clear: the value is 0 up to rounding, the interval includes 0, or no
        side of the test has a p-value of at most `alpha`. None for a score whose sign says nothing.
        """
        if not self._has_sign or not self.value:
            return None
        if self.low is not None and self.high is not None and self.low <= 0 <= self.high:
            return None
        if self.p_value is not None and self.alpha is not None:
            other_side = self.details.get("p_opposite")  # of a one-sided test
            other_side = 1.0 if other_side is None else other_side
            if min(self.p_value, other_side) > self.alpha:
                return None
        above, below = SCORES[self.name].reads.split("|")
        return above if self.value > 0 else below

    @property
    def _has_sign(self) -> bool:
        """Whether the sign of the value says which class or attribute set is nearer."""
        return self.name in SCORES and "|" in SCORES[self.name].reads

    @property
    def reading(self) -> str:
        """What the value says in a few words, or what the end of its scale means.

        A value that is 0 up to rounding, whose interval includes 0 or whose p-value is above
        `alpha` has ``no clear direction``.
        """
        if self._has_sign:
            return self._direction() or NOT_CLEAR
        return SCORES[self.name].reads if self.name in SCORES else ""

    @property
    def meaning(self) -> str:
        """What the value is, its range, and which end is bias, in one sentence."""
        return SCORES[self.name].meaning if self.name in SCORES else ""

    def pairs(self) -> "pd.DataFrame":
        """Return a copy of the table from which the score can be followed by hand."""
        return self.table.copy()

    def as_dict(self) -> dict[str, Any]:
        """Return all but the table of pairs, in plain types."""
        parts = {name: part for name, part in vars(self).items() if name != "table"}
        if self.name in SCORES:
            parts["direction"] = self._direction()
            parts["meaning"] = self.meaning
        return files.plain(parts)

    def __repr__(self) -> str:
        parts = {self.label: "none" if self.value is None else f"{self.value:.4f}"}
        if self.low is not None and self.prob is not None:
            parts[f"{100 * self.prob:g}% interval"] = f"[{self.low:.4f}, {self.high:.4f}]"
        if self.p_value is not None:
            sided = {1: ", one-sided", 2: ", two-sided"}.get(self.details.get("sides", 0), "")
            parts["p"] = f"{self.p_value:.4g} ({self.p_method}{sided})"
        if self._has_sign:
            parts["reading"] = self.reading
        if len(self.classes) == 2:
            parts["classes"] = "X {}, Y {}".format(*self.classes)
        parts["n"] = ", ".join(f"{name} {count:,}" for name, count in self.n.items())
        for name, detail in self.details.items():
            # The bounds of an exact p repeat it.
            if isinstance(detail, float) and name not in ("p_lower", "p_upper", "p_opposite"):
                parts[name.replace("_", " ")] = f"{detail:.4f}"
        if self.meaning:
            parts["meaning"] = self.meaning
        lines = [*parts.items(), *(("note", note) for note in self.notes)]
        if self.dropped:
            lines.append(("missing words", ", ".join(self.dropped)))
        width = max(len(name) for name, _ in lines)
        title = SCORES[self.name].title if self.name in SCORES else self.name.upper()
        rows = [f"  {name:{width}}  {text}" for name, text in lines]
        return "\n".join([f"{title}, {self.data}", *rows])


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One score: its function, what it needs, and what to know of it."""

    title: str
    function: str  # module of `bayesbias.scores`, colon, function
    reads: str  # what a value above zero says, "|" and one below; or the end of the scale
    meaning: str  # what the value is, its range, and which end is bias
    about: str  # the question that it answers
    known: str  # what is known of it, and against it
    source: str
    needs: tuple[str, ...] = ()  # "vectors", "two classes", "own attributes", "definitional pairs"
    resamples: str = ""  # what its interval draws again

    def compute(
        self, table: Any, vectors: Any = None, wordlist: Any = None, /, **options: Any
    ) -> list[Score]:
        """Compute the score of vectors, or of a table if there are none.

        Options that the function does not have are left out.
        """
        function = packages.member(f"bayesbias.scores.{self.function}")
        if "vectors" in self.needs and vectors is None:
            problem, hint = "expected vectors, got distances", "give --embedding and --wordlist"
            raise InputError(problem, hint=hint)
        source = (table,) if vectors is None else (vectors, wordlist)
        known = inspect.signature(function).parameters
        result = function(*source, **{key: x for key, x in options.items() if key in known})
        return [result] if isinstance(result, Score) else list(result.values())


def two_of(names: Sequence[str], classes: Sequence[str] | None, where: str) -> tuple[str, str]:
    """Return the two names chosen, or the only two there are."""
    chosen = names if classes is None else classes
    for c in chosen:
        checks.choice(c, names, f"{where}, class")
    if len(set(chosen)) != 2 or len(chosen) != 2:
        hint = "choose two with --classes X,Y or, in Python, classes"
        raise InputError(
            f"expected two protected classes, got {some(chosen)}", where=where, hint=hint
        )
    return chosen[0], chosen[1]


SCORES: Mapping[str, Declared] = {
    "weat": Declared(
        needs=("two classes",),
        title="WEAT",
        function="association:weat",
        reads="X leans to A more than Y|Y leans to A more than X",
        meaning="a difference in SDs, between -2 and 2; 0 is no bias, either end is bias.",
        about="Are the words of X nearer to the attributes A than to B, compared with those of Y?",
        source="Caliskan, Bryson and Narayanan (2017)",
        known=(
            "The attributes count as fixed, so p says nothing of others. The effect size divides "
            "by the SD of the words' own means, so a small association that all words share makes "
            "a large one. It has no interval."
        ),
    ),
    "sc_weat": Declared(
        resamples="words",
        needs=("two classes",),
        title="SC-WEAT",
        function="association:sc_weat",
        reads="closer to A than B|closer to B than A",
        meaning="mean cosine with A minus that with B, -2 to 2; 0 is no bias, either end is bias.",
        about="Are the words of one class nearer to the attributes A or to B?",
        source=(
            "Caliskan, Bryson and Narayanan (2017); sign flips as in PsychWordVec (Bao, 2023), "
            "interval by Hartigan (1969)"
        ),
        known=(
            "The attributes count as fixed, so p and interval say nothing of others and are too "
            "narrow."
        ),
    ),
    "mac": Declared(
        title="MAC",
        function="association:mac",
        reads="1 = unrelated",
        meaning="mean distance, 0 (same) to 2; lower is more bias. No uncertainty.",
        about="How far are words from attributes, on average?",
        source="Manzini, Lim, Tsvetkov and Black (2019)",
        known=(
            "A mean of means without an interval. It does not say how near ordinary words are. The "
            "t-test treats averages over the same attributes as independent."
        ),
    ),
    "direct_bias": Declared(
        needs=("vectors", "definitional pairs"),
        title="direct bias",
        function="vectors:direct_bias",
        reads="0 = none",
        meaning="0 is no bias, 1 (all along it) the most. No uncertainty.",
        about="How much of the words lies along the direction of word pairs?",
        source="Bolukbasi, Chang, Zou, Saligrama and Kalai (2016)",
        known=(
            "Above zero for any vectors, since it averages absolute values. It has no interval and "
            "sees one direction only."
        ),
    ),
    "relative_norm_distance": Declared(
        needs=("vectors", "two classes"),
        title="relative norm distance",
        function="vectors:relative_norm_distance",
        reads="attributes closer to Y|attributes closer to X",
        meaning="without limits; 0 is no bias. No uncertainty.",
        about="Are the attributes nearer to the mean vector of X or of Y?",
        source="Garg, Schiebinger, Jurafsky and Zou (2018)",
        known=(
            "A sum that grows with the list, without an interval. A class whose words scatter has "
            "a shorter mean vector, which is nearer to any word."
        ),
    ),
    "ripa": Declared(
        resamples="words and attributes",
        needs=("vectors", "two classes", "definitional pairs"),
        title="RIPA",
        function="vectors:ripa",
        reads="toward X|toward Y",
        meaning="an inner product without limits; 0 is no bias.",
        about=(
            "How much further along the direction of word pairs are the attributes of X than those "
            "of Y?"
        ),
        source="Ethayarajh, Duvenaud and Hirst (2019)",
        known=(
            "An inner product with raw vectors grows with their length, and so with word "
            "frequency. It has no scale."
        ),
    ),
    "ect": Declared(
        resamples="words and attributes",
        needs=("vectors", "two classes"),
        title="ECT",
        function="vectors:ect",
        reads="1 = same order",
        meaning="a rank correlation, -1 to 1; 1 is no bias, lower is more bias.",
        about="Do the mean vectors of X and Y order the attributes alike?",
        source="Dev and Phillips (2019)",
        known=(
            "It compares orders only: it misses a shift of all words toward one class, and does "
            "not say which class is nearer."
        ),
    ),
    "rnsb": Declared(
        resamples="words and attributes",
        needs=("vectors", "two classes", "own attributes"),
        title="RNSB",
        function="vectors:rnsb",
        reads="0 = equal",
        meaning="a divergence of shares, 0 or more; 0 is no bias, higher is more.",
        about="How unequally does a classifier of attributes judge the protected words?",
        source="Sweeney and Najafian (2019)",
        known=(
            "Above zero for any vectors, more so for few attributes, and so is its interval. It "
            "rises with the length of vectors. Differences within a class count as those between "
            "classes."
        ),
    ),
}
