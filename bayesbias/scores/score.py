"""What every averaged score returns, how it is printed, and the table of all scores.

A new score is a function that returns a `Score`, and one row of `SCORES`. The command ``bayesbias
score`` and the documentation read that table.
"""

import dataclasses
import html
import importlib
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import plain
from bayesbias.core.settings import Setting

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.tables.pair_table import PairTable
    from bayesbias.wordlists.wordlist import WordList

__all__ = ["SCORES", "Declared", "Score"]

# Mean cosines in double precision are wrong by about 1e-16. Scores that differ by less than this
# are equal.
ROUNDING = 2.0**-42


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Score:
    """An averaged score.

    What is special to one score is in `details`, and can be read as an attribute too:
    ``score.statistic``. So can the value by its label: ``score.effect_size``.

    Attributes
    ----------
    name : str
        Its key in the table of scores, such as ``weat``.
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
    n : dict of str to int
        Numbers of words, by set.
    classes : tuple of str
        The protected classes X and Y.
    dropped : tuple of str
        Words that are out of vocabulary.
    notes : tuple of str
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

    def pairs(self) -> "pd.DataFrame":
        """Return a copy of the table from which the score can be followed by hand."""
        return self.table.copy()

    def as_dict(self) -> dict[str, Any]:
        """Return all but the table of pairs as plain numbers, texts, lists and dictionaries."""
        names = [f.name for f in dataclasses.fields(self) if f.name != "table"]
        return {name: plain(getattr(self, name)) for name in names}

    def lines(self) -> list[str]:
        """Return what is printed, line by line."""
        declared = SCORES.get(self.name)
        value = "none" if self.value is None else f"{self.value:.4f}"
        if self.low is not None and self.prob is not None:
            value += f", {100 * self.prob:g}% interval {self.low:.4f} to {self.high:.4f}"
        rows = [(self.label, value)]
        if self.p_value is not None:
            rows.append(("p", f"{self.p_value:.4g} ({self.p_method})"))
        if len(self.classes) == 2:
            rows.append(("classes", "X {}, Y {}".format(*self.classes)))
        rows.append(("n", ", ".join(f"{name} {count:,}" for name, count in self.n.items())))
        rows += [
            (name.replace("_", " "), text)
            for name, detail in self.details.items()
            if (text := _short(detail))
        ]
        rows += [("note", note) for note in self.notes]
        rows += [("missing words", ", ".join(self.dropped))] if self.dropped else []
        rows += [("known", declared.known), ("source", declared.source)] if declared else []
        width = max(len(name) for name, _ in rows)
        title = declared.title if declared else self.name.upper()
        return [f"{title}, {self.data}", *(f"  {name:{width}}  {text}" for name, text in rows)]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def _short(detail: Any) -> str:
    """Write what fits on a line: a number, a text, or a few numbers by name.

    Nothing for the rest.
    """
    if isinstance(detail, Mapping) and len(detail) <= 3:
        return ", ".join(f"{name} {text}" for name, x in detail.items() if (text := _short(x)))
    if isinstance(detail, numbers.Integral | str):
        return str(detail)
    return f"{detail:.4f}" if isinstance(detail, numbers.Real) else ""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """One score: its function, what it needs, and what to know of it."""

    title: str
    function: str  # module of `bayesbias.scores`, colon, function
    about: str
    known: str
    source: str
    needs: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()

    def compute(
        self,
        table: "PairTable",
        words: "WordList | None" = None,
        vectors: "Embedding | None" = None,
        classes: list[str] | None = None,
        **settings: Any,
    ) -> list[Score]:
        """Compute the score of vectors, or of a table where there are none; of SC-WEAT one for each class."""
        module, name = self.function.split(":")
        function = getattr(importlib.import_module(f"bayesbias.scores.{module}"), name)
        if "vectors" in self.needs and vectors is None:
            raise InputError("it needs vectors (--embedding E --wordlist W), not distances")
        if "two classes" in self.needs:
            settings["classes"] = classes
        source = (table,) if vectors is None else (vectors, words)
        own = {key.removeprefix(f"{name}_"): value for key, value in settings.items()}
        result = function(*source, **own)
        return [result] if isinstance(result, Score) else list(result.values())


_SIDES = Setting("sides", 1, "Of the tests of WEAT and SC-WEAT.", choices=(1, 2))
_SAMPLES = Setting(
    "samples", 99_999, "Partitions or signs to draw.", least=1, most=checks.MOST_SAMPLES
)
_SEED = Setting("seed", None, "Seed for what is drawn.", kind=int, least=0, most=checks.MOST_SEED)
_PROB = Setting("prob", 0.89, "Probability of the intervals.", least=0, most=1, ends=False)
_RESAMPLES = Setting(
    "resamples", 999, "Bootstrap draws of RIPA, ECT and RNSB.", least=99, most=checks.MOST_RESAMPLES
)
_BOOTSTRAP = (_PROB, _RESAMPLES, _SEED)

SCORES: Mapping[str, Declared] = {
    "weat": Declared(
        needs=("two classes",),
        title="WEAT",
        function="association:weat",
        about="Are the words of X nearer to the attributes A than to B, more than the words of Y?",
        source="Caliskan, Bryson and Narayanan (2017)",
        known="the attributes count as fixed, so p says nothing of others; the effect size divides by the SD of the words' "
        "own means, so a small association that all words share makes a large one; it has no interval",
        settings=(
            Setting(
                "p",
                "auto",
                "How WEAT's p-value is found.",
                choices=("auto", "exact", "bounds", "montecarlo", "normal"),
            ),
            _SIDES,
            Setting(
                "denominator",
                "union_n_minus_1",
                "Of WEAT's effect size.",
                choices=("union_n_minus_1", "union_n", "pooled"),
            ),
            _SAMPLES,
            _SEED,
        ),
    ),
    "sc_weat": Declared(
        needs=("two classes",),
        title="SC-WEAT",
        function="association:sc_weat",
        about="Are the words of one class nearer to the attributes A or to B?",
        source="Caliskan, Bryson and Narayanan (2017); sign flips as in PsychWordVec (Bao, 2023), interval by Hartigan (1969)",
        known="the attributes count as fixed, so p and interval say nothing of others, and are too sure",
        settings=(_SIDES, _PROB, _SAMPLES, _SEED),
    ),
    "mac": Declared(
        title="MAC",
        function="association:mac",
        about="How far are words from attributes, on average?",
        source="Manzini, Lim, Tsvetkov and Black (2019)",
        known="a mean of means without an interval; nothing says how near ordinary words are; the t-test treats averages over "
        "the same attributes as independent",
        settings=(
            Setting(
                "against", None, "A second table, for MAC and its paired t-test.", metavar="FILE"
            ),
            Setting(
                "convention",
                "class_means",
                "What MAC averages.",
                choices=("class_means", "all_pairs"),
            ),
            Setting(
                "mac_words",
                "evaluation",
                "MAC over the list's evaluation sets or all words.",
                choices=("evaluation", "all"),
            ),
        ),
    ),
    "direct_bias": Declared(
        needs=("vectors", "definitional pairs"),
        title="direct bias",
        function="vectors:direct_bias",
        about="How much of the words lies along the direction of word pairs?",
        source="Bolukbasi, Chang, Zou, Saligrama and Kalai (2016)",
        known="above zero for any vectors, since it averages absolute values; no interval; it sees one direction only",
        settings=(Setting("strictness", 1.0, "The c of direct bias.", least=0),),
    ),
    "relative_norm_distance": Declared(
        needs=("vectors", "two classes"),
        title="relative norm distance",
        function="vectors:relative_norm_distance",
        about="Are words nearer to the mean vector of X or of Y?",
        source="Garg, Schiebinger, Jurafsky and Zou (2018)",
        known="a sum that grows with the list, without an interval; a class whose words scatter has a shorter mean vector, "
        "which is nearer to any word",
    ),
    "ripa": Declared(
        needs=("vectors", "two classes", "definitional pairs"),
        title="RIPA",
        function="vectors:ripa",
        about="How much further along the direction of word pairs are the attributes of X than those of Y?",
        source="Ethayarajh, Duvenaud and Hirst (2019)",
        known="an inner product with raw vectors grows with their length, and so with word frequency; it has no scale",
        settings=_BOOTSTRAP,
    ),
    "ect": Declared(
        needs=("vectors", "two classes"),
        title="ECT",
        function="vectors:ect",
        about="Do the mean vectors of X and Y order the attributes alike?",
        source="Dev and Phillips (2019)",
        known="it compares orders only: it misses a shift of all words toward one class, and does not say which class is nearer",
        settings=_BOOTSTRAP,
    ),
    "rnsb": Declared(
        needs=("vectors", "two classes", "own attributes"),
        title="RNSB",
        function="vectors:rnsb",
        about="How unequally does a classifier of attributes judge the protected words?",
        source="Sweeney and Najafian (2019)",
        known="above zero for any vectors, more so for few attributes, and so is its interval; it rises with the length of "
        "vectors; differences within a class count as those between classes",
        settings=(
            Setting(
                "shrinkage",
                1.0,
                "C of RNSB's classifier.",
                least=checks.LEAST_SHRINKAGE,
                most=checks.MOST_SHRINKAGE,
            ),
            *_BOOTSTRAP,
        ),
    ),
}
