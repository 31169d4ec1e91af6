"""What an answer holds for: the listed words or new ones, as its model says. The one place of these words."""

from __future__ import annotations

from typing import Any

from bayesbias.models.spec import ModelSpec, Results

_OF_ESTIMAND = {
    "listed_words": "these words",
    "one_new_word": "one new word",
    "one_new_pair": "one new pair",
}
_OF_LEVEL = {
    "protected_class": "new words of the class",
    "attribute_class": "new words, and new attributes of the list",
}


def holds_for(
    model: ModelSpec | Results, level: str = "overall", estimand: str = "population"
) -> str:
    """Say, in a few words, what the answers at a level hold for.

    Parameters
    ----------
    model : ModelSpec or Results
        Which columns it holds at the level; of results alone it is taken that words scatter.
    level : str
    estimand : str

    Examples
    --------
    >>> from bayesbias import load_model
    >>> cells, crossed, additive = load_model("default"), load_model("crossed"), load_model("additive")
    >>> holds_for(cells), holds_for(cells, "class"), holds_for(cells, "word")
    ('new words', 'new words of the class', 'new attributes')
    >>> holds_for(crossed, "class"), holds_for(crossed, "word"), holds_for(crossed, "class", "listed_words")
    ('its listed words, new attributes', 'new attributes', 'these words')
    >>> holds_for(additive), holds_for(additive, "class"), holds_for(additive, "word")
    ('the listed words', 'its listed words', 'the listed attributes')
    """
    if estimand != "population":
        return _OF_ESTIMAND.get(estimand, estimand.replace("_", " "))
    scatter = isinstance(model, Results) or words_scatter(model)
    if level == "overall":
        return "new words" if scatter else "the listed words"
    about = (model if isinstance(model, Results) else model.results).levels[level]
    if not scatter:
        return "the listed attributes" if about.by == "protected_word" else "its listed words"
    if "protected_word" in about.held:
        return (
            "new attributes" if about.by == "protected_word" else "its listed words, new attributes"
        )
    return _OF_LEVEL.get(about.by, "new words")


def words_scatter(spec: ModelSpec) -> bool:
    """Say whether a model has a spread of words or whatever else its rows are of, without which it says nothing of new ones."""
    return any(
        spec.is_random(name) and set(spec.parameters[name].dims) & set(spec.units)
        for name in spec.location_parameters()
    )


def words_said(spec: ModelSpec) -> str:
    """Say of which words the answers of a model are, overall and under ``population``."""
    return "new words like these" if words_scatter(spec) else "the listed words"


def same_for_all_words(spec: ModelSpec) -> bool:
    """Say whether the form of a model forces one difference between connections on all classes and words.

    So it is where no term of the mean has a protected word or class together with the connection or
    the list of stereotypes, and none is about the list alone: a word then shifts all its distances
    alike.

    Examples
    --------
    >>> from bayesbias import load_model
    >>> same_for_all_words(load_model("additive")), same_for_all_words(load_model("default"))
    (True, False)
    """
    if spec.results.group != "connection":
        return False
    terms = [set(spec.parameters[name].dims) for name in spec.location_parameters()]
    words, lists = {"protected_word", "protected_class"}, {"connection", "attribute_class"}
    return not any("attribute_class" in dims or (dims & words and dims & lists) for dims in terms)


def has_new_words(spec: ModelSpec) -> bool:
    """Say whether a model can be asked for a single new word: it is of words and attributes, and words scatter."""
    pairs = {"protected_word", "attribute"} <= set(
        spec.units
    ) and spec.results.group == "connection"
    return pairs and not same_for_all_words(spec)


def sure_ends(row: Any, low: str = "hpdi_low", high: str = "hpdi_high") -> tuple[float, float]:
    """Return the ends of an interval, each moved outward by twice its Monte Carlo error where that is known."""
    by = []
    for end in (low, high):
        error = getattr(row, f"mcse_{end.removeprefix('hpdi_')}", None)
        by.append(0.0 if error is None or error != error else 2 * float(error))
    return float(getattr(row, low)) - by[0], float(getattr(row, high)) + by[1]


def farther_than(limit: float, value: float, error: float | None = None) -> bool | None:
    """Say whether a number lies farther from zero than a limit; None within twice its Monte Carlo error of the limit.

    Parameters
    ----------
    limit, value : float
    error : float, optional
        NaN and None where there is none, or it is not known.

    Examples
    --------
    >>> farther_than(0.5, -0.8, 0.1), farther_than(0.5, -0.6, 0.1), farther_than(0.5, 0.2, 0.1), farther_than(0.5, 0.6)
    (True, None, False, True)
    """
    by = 2 * error if error is not None and error == error else 0.0
    if abs(value) - by > limit:
        return True
    return False if abs(value) + by <= limit else None
