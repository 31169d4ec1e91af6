"""Doubts where a model draws lists, or classes, so far to each other that the listed words say something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayesbias.core.digits import as_known, ends_as_known, error_of
from bayesbias.core.wording import as_percent
from bayesbias.findings.parts import Doubt
from bayesbias.inference.scope import level_said, sure_ends
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["pooling_doubts"]

_CONTRAST = "associated - different"
_KIND = "attribute_kind"
_MOST = 3  # lists that a doubt names


def pooling_doubts(spec: ModelSpec, frame: pd.DataFrame) -> list[Doubt]:
    """Return a doubt for each level at which answers for new words and for the listed ones contradict each other.

    A model whose effects of class and list have a learned spread, one for all or one for each connection or kind of
    attributes, draws them to each other (partial pooling), the more the less they differ. Of one list alone that may
    hide what its words show, or show what they do not. It is doubted of ``associated - different`` where, beyond two
    Monte Carlo errors, the interval of ``population`` leaves out the mean of ``listed_words``. That one interval excludes
    zero and the other does not is no contradiction: lists that are alike tell something of each other's new words.

    Parameters
    ----------
    spec : ModelSpec
    frame : DataFrame
        As `BiasFit.contrasts` returns it.

    Returns
    -------
    list of Doubt
        Of the kind ``drawn_together``; empty where nothing was found, or where the model pools no list.
    """
    # Where there are control words, on which classes hardly differ, it is they that make a common spread small.
    controls = bool((frame["contrast"] != _CONTRAST).any())
    out = []
    for level, about in spec.results.levels.items():
        spread = _spread(spec, about.by)
        if spread is None:
            continue
        rows = frame[(frame["level"] == level) & (frame["contrast"] == _CONTRAST)]
        new, listed = (rows[rows["estimand"] == which] for which in ("population", "listed_words"))
        both = [
            (one, other)
            for one, other in zip(
                new.itertuples(), listed.set_index("name").loc[new["name"]].itertuples(), strict=True
            )
            if _contradict(one, other)
        ]
        if both:
            out.append(_doubt(spec, level, both, spread, controls))
    return out


def _spread(spec: ModelSpec, by: str) -> str | None:
    """Name the learned spread of what the labels of a column have of their own, in a column that is all there is."""
    for name in spec.location_parameters():
        parameter = spec.parameters[name]
        own = {"protected_class", "attribute_class"} & set(parameter.dims)
        if by in own and set(parameter.dims) <= set(spec.results.fixed) and spec.is_random(name):
            return str(parameter.args["sigma"])
    return None


def _contradict(new: Any, listed: Any) -> bool:
    low, high = sure_ends(new)
    error = error_of(listed, "mean")
    by = 2 * error if error == error else 0.0
    return bool(listed.mean + by < low or listed.mean - by > high)


def _doubt(
    spec: ModelSpec, level: str, both: Sequence[tuple[Any, Any]], spread: str, controls: bool
) -> Doubt:
    said = level_said(spec.results, level)
    plural = {"class": "classes", "list of stereotypes": "lists of stereotypes"}[said]
    each = [
        f"{new.name} {_quoted(new)} for new words, {_quoted(listed)} for the listed ones"
        for new, listed in both[:_MOST]
    ]
    each += [f"{len(both) - _MOST} more"] if len(both) > _MOST else []
    apart = controls and _KIND in spec.results.fixed and not spec.parameters[spread].dims
    copy = f', or from a copy of the model in which {spread} has dims = ["{_KIND}"]' if apart else ""
    return Doubt(
        kind="drawn_together",
        text=f"the model draws {plural} to each other (partial pooling), and the listed words themselves show something "
        f"else in {_CONTRAST} ({as_percent(both[0][0].prob)} HPDI): {'; '.join(each)}; make a claim about one {said} "
        "alone from the "
        f"listed words (listed_words){copy}",
        level=level,
        contrast=_CONTRAST,
        group=both[0][0].name if len(both) == 1 else None,
    )


def _quoted(row: Any) -> str:
    return f"{as_known(row, 'mean', signed=True)} ({' to '.join(ends_as_known(row, signed=True))})"
