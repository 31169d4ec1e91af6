"""Arguments of another kind than a public function takes: told in our words, whatever they broke on the way.

What a function takes stands in its signature, and once more in a check would be once too often. Little is looked at
beforehand, so that whatever works goes on working: a subclass, a number of NumPy, an object that does what another does.
Only where a call ends in an error that is none of ours are its arguments held against the annotations. One that is of
another kind is the reason, and becomes an `InputError` that names it; if none is, the error stands as it is. An error of
ours that does not name the argument is made to in the same way.

Beforehand are looked at only arguments that are to be True or False: of those any object would do, and mean True.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import numbers
import os
import re
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import AsWritten, BayesbiasError, InputError

__all__ = ["MADE_BY", "fits", "tells_kinds"]

# Class -> the functions that return one, as users call them.
MADE_BY: Mapping[str, tuple[str, ...]] = {
    "BiasFit": ("fit", "load_fit"),
    "Classifier": ("load_classifier",),
    "Comparison": ("compare",),
    "Construction": ("studies.find_construction",),
    "Embedding": ("load_embedding",),
    "Encoder": ("load_encoder",),
    "ModelSpec": ("load_model",),
    "Occupations": ("words.load_occupations",),
    "PairTable": ("distance_table", "load_distances"),
    "PaperDraws": ("simulation.paper_draws",),
    "Predictions": ("predict", "load_predictions"),
    "Run": ("load_run",),
    "SeatResult": ("seat",),
    "SentenceTest": ("sentence_test",),
    "SentimentAnalysis": ("sentiment_analysis",),
    "WefatResult": ("wefat",),
    "SweepPlan": ("sweeps.load_plan",),
    "SweepResult": ("run_sweep",),
    "VectorShape": ("vectors.describe_vectors",),
    "WordCounts": ("tables.load_counts",),
    "WordList": ("load_wordlist",),
}
_IN_WORDS = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "True or False", "None": "None",
    "PathLike": "a path", "Mapping": "a mapping", "dict": "a mapping", "Callable": "a function",
    "DataFrame": "a data frame", "ndarray": "an array", "NDArray": "an array", "ArrayLike": "numbers",
    "Axes": "Axes of matplotlib", "Design": "the design of a fit", "Scenario": "a bayesbias.simulation.Scenario",
}  # fmt: skip
_SWITCHES = ("bool", "bool | None")
_MANY = ("Sequence", "Iterable", "Collection", "list", "tuple", "set", "frozenset")
_MOST_LOOKED_AT = 1000  # of a list or a mapping
_OF_THE_MACHINE = (OSError, MemoryError)
_NOTHING = object()


def tells_kinds[T: Callable[..., Any]](public: T) -> T:
    """Make a public function, or all methods of a class, tell of arguments of another kind.

    Examples
    --------
    >>> @tells_kinds
    ... def longest(words: list[str], least: int = 1) -> int:
    ...     return max(least, *map(len, words))
    >>> longest(["rabbi", "priest"])
    6
    >>> longest(["rabbi", 7])
    Traceback (most recent call last):
    ...
    bayesbias.InputError: words, number 2: is none of what is taken here; found: 7; valid: a text
    """
    if not isinstance(public, type):
        return typing.cast("T", _telling(public))
    for name, method in list(vars(public).items()):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        if isinstance(method, types.FunctionType):
            setattr(public, name, _telling(method))
        elif isinstance(method, classmethod | staticmethod):
            setattr(public, name, type(method)(_telling(method.__func__)))
    return public


def _telling(function: Callable[..., Any]) -> Callable[..., Any]:
    code = function.__code__
    by_place = {name: i for i, name in enumerate(code.co_varnames[: code.co_argcount])}
    switches = [name for name, kind in function.__annotations__.items() if kind in _SWITCHES]

    @functools.wraps(function)
    def told(*placed: Any, **named: Any) -> Any:
        for name in switches:
            place = by_place.get(name, len(placed))
            value = placed[place] if place < len(placed) else named.get(name)
            if value is not None and not _is_switch(value):
                raise checks.wrong_kind(value, name, "True or False")
        problem: InputError | None = None
        try:
            return function(*placed, **named)
        except InputError as error:
            problem = _told_again(error, function, placed, named)
            if problem is error:
                raise
            raise problem from None
        except BayesbiasError:
            raise
        except _OF_THE_MACHINE:
            raise
        except Exception:
            fault = _fault(function, placed, named)
            if fault is None:
                raise
            raise fault.in_words() from None
        finally:
            problem = None  # or an error would hold this frame, the frame the error, and both whatever is open in either

    return told


@dataclass(frozen=True, eq=False)
class _Fault:
    """An argument of another kind: its name, what was handed over, and what its annotation says, and means by its names."""

    name: str
    where: str
    value: Any
    kind: ast.expr
    names: Mapping[str, Any]

    def in_words(self) -> InputError:
        if _is_broken_path(self.value):
            return _marked(
                checks.wrong_kind(self.value, self.where, "the path of a file or folder"), self.value, None
            )
        return _marked(_worded(self.value, self.kind, self.names, self.where), self.value, None)

    def said_by(self, error: InputError, *, own: bool) -> InputError:
        """Return an error that somebody else made of it, under the name that it has here."""
        parts = error.parts
        return _marked(
            InputError(
                parts["problem"],
                where=f"{self.name}, {parts['where']}" if own and parts["where"] else self.where,
                found=AsWritten(parts["found"]) if parts["found"] else None,
                valid=parts["valid"] or None,
                hint=parts["hint"],
            ),
            self.value,
            error if own else None,
        )


def _marked(error: InputError, value: Any, first: InputError | None) -> InputError:
    """Note at an error made here of which value it tells, and what was made of it: an error of ours, or of others (None)."""
    error.told_of = (value, first)  # type: ignore[attr-defined]
    return error


def _told_again(
    error: InputError, function: Callable[..., Any], placed: tuple[Any, ...], named: dict[str, Any]
) -> InputError:
    """Return an error in the words of this signature, where it does not use them already.

    What a function that was called within has told of is told once more by that which the user called.
    """
    value, first = getattr(error, "told_of", (_NOTHING, error))
    fault = _fault(function, placed, named, value)
    if first is None:
        if fault is None:
            return error
        return fault.said_by(error, own=False) if _takes_all(fault.kind, fault.names) else fault.in_words()
    if fault is None or re.search(rf"\b{fault.name}\b", str(first)):
        return first
    return fault.said_by(first, own=True)


def _fault(
    function: Callable[..., Any], placed: tuple[Any, ...], named: dict[str, Any], told: Any = _NOTHING
) -> _Fault | None:
    """Return the first argument that is of another kind; else that which somebody told of, if it may be of any; else None."""
    import inspect

    signature, names = inspect.signature(function), function.__globals__
    try:
        given = signature.bind(*placed, **named).arguments
    except TypeError:  # called with more or fewer than it takes, which Python says
        return None
    faults = []
    for name, value in given.items():
        parameter = signature.parameters[name]
        if parameter.annotation is parameter.empty or parameter.kind is parameter.VAR_KEYWORD:
            continue
        kind = _parsed(parameter.annotation)
        spread = parameter.kind is parameter.VAR_POSITIONAL
        for number, one in enumerate(value if spread else (value,), start=1):
            where = f"{name}, number {number}" if spread and len(value) > 1 else name
            faults.append(_Fault(name, where, one, kind, names))
    wrong = (
        fault for fault in faults if _is_broken_path(fault.value) or not fits(fault.value, fault.kind, names)
    )
    meant = (fault for fault in faults if fault.value is told and _takes_all(fault.kind, names))
    return next(itertools.chain(wrong, meant), None)


def _takes_all(kind: ast.expr, names: Mapping[str, Any]) -> bool:
    return fits(_NOTHING, kind, names)


def _parsed(annotation: Any) -> ast.expr:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return ast.parse(text, mode="eval").body


def fits(value: Any, kind: ast.expr | str, names: Mapping[str, Any]) -> bool:
    """Say whether a value is of the kind an annotation names; what cannot be told is taken to be.

    Parameters
    ----------
    value : object
    kind : str or ast.expr
        The annotation, as it is written.
    names : mapping
        What its names stand for. One that is not in it, as it is imported for type checkers alone, stands for all classes of
        that name.

    Examples
    --------
    >>> from collections.abc import Mapping
    >>> kind = "Mapping[str, float] | Axes | None"
    >>> [fits(value, kind, globals()) for value in ({"nurse": 1}, {"nurse": "many"}, None, "text")]
    [True, False, True, False]
    """
    if isinstance(kind, str):
        kind = ast.parse(kind, mode="eval").body
    if isinstance(kind, ast.BinOp):
        return fits(value, kind.left, names) or fits(value, kind.right, names)
    if isinstance(kind, ast.Constant):
        return value is None if kind.value is None else fits(value, str(kind.value), names)
    if isinstance(kind, ast.Subscript):
        inner = kind.slice.elts if isinstance(kind.slice, ast.Tuple) else [kind.slice]
        return _fits_generic(value, _name(kind.value), inner, names)
    name = _name(kind)
    meaning = _meaning(kind, names)
    if meaning is not None and not isinstance(meaning, type) and name != "ArrayLike":
        return _fits_alias(value, meaning)
    return _fits_name(value, name, meaning)


def _name(kind: ast.expr) -> str:
    return kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", "")


def _meaning(kind: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return what a name stands for; None where it is known to type checkers alone."""
    if isinstance(kind, ast.Attribute):
        return getattr(_meaning(kind.value, names), kind.attr, None)
    name = _name(kind)
    return names.get(name, getattr(builtins, name, None))


def _fits_alias(value: Any, meaning: Any) -> bool:
    """Say whether a value is of what a name stands for that is no class: ``Literal``, and unions."""
    if isinstance(meaning, typing.TypeAliasType):
        return _fits_alias(value, meaning.__value__)
    origin, inner = typing.get_origin(meaning), typing.get_args(meaning)
    if origin is typing.Literal:
        return any(isinstance(value, type(one)) for one in inner)
    if origin is types.UnionType or origin is typing.Union:
        return any(_fits_alias(value, one) for one in inner)
    plain = origin or meaning
    return not isinstance(plain, type) or isinstance(value, plain)


def _fits_name(value: Any, name: str, meaning: Any) -> bool:
    if name in ("Any", "object", ""):
        return True
    if name == "ArrayLike":
        return _are_numbers(value)
    if name == "bool":
        return _is_switch(value)
    if name in ("int", "float"):
        return isinstance(value, numbers.Integral if name == "int" else numbers.Real)
    if isinstance(meaning, type):
        return isinstance(value, meaning)
    return any(cls.__name__ == name for cls in type(value).__mro__)


def _is_switch(value: Any) -> bool:
    """Say whether a value is True or False, of Python or of NumPy, or a number that stands for either."""
    return (
        value is True
        or value is False
        or type(value).__name__ in ("bool", "bool_")
        or (isinstance(value, numbers.Integral) and value in (0, 1))
    )


def _fits_generic(value: Any, name: str, inner: list[ast.expr], names: Mapping[str, Any]) -> bool:
    if name == "Literal":
        texts = [isinstance(one, ast.Constant) and isinstance(one.value, str) for one in inner]
        return isinstance(value, str) if all(texts) else isinstance(value, str | numbers.Integral)
    if name in ("Mapping", "dict"):
        return isinstance(value, Mapping) and all(
            fits(one, inner[-1], names) for one in _first(value.values())
        )
    if name in _MANY:
        return _is_many(value) and all(fits(one, inner[0], names) for one in _items(value))
    if name == "Callable":
        return callable(value)
    if name == "PathLike":
        return isinstance(value, os.PathLike)
    return _fits_name(value, "ndarray", None) if name == "NDArray" else True


def _is_broken_path(value: Any) -> bool:
    """Say whether a value calls itself a path and gives none, which no annotation tells, not even one that takes anything."""
    if not isinstance(value, os.PathLike):
        return False
    try:
        os.fspath(value)
    except Exception:  # whatever it says of itself
        return True
    return False


def _is_many(value: Any) -> bool:
    """Say whether a value is a list of some sort: no text, no table and none of our results."""
    if isinstance(value, str | bytes | Mapping) or hasattr(value, "columns"):
        return False
    return isinstance(value, Iterable) and not (hasattr(value, "shape") and value.shape == ())


def _items(value: Any) -> Iterator[Any]:
    """Yield what a list holds; what can be gone through only once is left as it is."""
    if isinstance(value, Collection):
        yield from _first(value)


def _first(values: Iterable[Any]) -> Iterator[Any]:
    for _, one in zip(range(_MOST_LOOKED_AT), values, strict=False):
        yield one


def _are_numbers(value: Any) -> bool:
    import numpy as np

    if isinstance(value, str | bytes):
        return False
    try:
        np.asarray(value, dtype=float)
    except Exception:  # whatever an object that is no array says of it
        return False
    return True


def _worded(value: Any, kind: ast.expr, names: Mapping[str, Any], where: str) -> InputError:
    """Return the error; of a list with one wrong item it tells of that item."""
    if isinstance(kind, ast.Subscript) and _name(kind.value) in _MANY and _is_many(value):
        inner = kind.slice.elts[0] if isinstance(kind.slice, ast.Tuple) else kind.slice
        for number, one in enumerate(_items(value), start=1):
            if not fits(one, inner, names):
                return _worded(one, inner, names, f"{where}, number {number}")
    if (
        isinstance(kind, ast.Subscript)
        and _name(kind.value) in ("Mapping", "dict")
        and isinstance(value, Mapping)
    ):
        inner = kind.slice.elts[-1] if isinstance(kind.slice, ast.Tuple) else kind.slice
        for key, one in zip(_first(value), _first(value.values()), strict=True):
            if not fits(one, inner, names):
                return _worded(one, inner, names, f"{where}, {key}")
    if isinstance(kind, ast.BinOp):  # of several kinds the one that it is, save for what it holds
        for side in (kind.left, kind.right):
            if isinstance(value, Mapping | list | tuple) and _is_container_of(value, side):
                return _worded(value, side, names, where)
    valid = list(dict.fromkeys(_in_words(kind)))
    return checks.wrong_kind(value, where, " or ".join(valid))


def _is_container_of(value: Any, kind: ast.expr) -> bool:
    name = _name(kind.value) if isinstance(kind, ast.Subscript) else ""
    return name in ("Mapping", "dict") if isinstance(value, Mapping) else name in _MANY


def _in_words(kind: ast.expr) -> Iterator[str]:
    """Yield what an annotation takes, as a message says it."""
    if isinstance(kind, ast.BinOp):
        yield from _in_words(kind.left)
        yield from _in_words(kind.right)
    elif isinstance(kind, ast.Constant):
        yield str(kind.value)
    elif isinstance(kind, ast.Subscript) and _name(kind.value) == "Literal":
        yield f"one of {ast.unparse(kind.slice)}"
    elif isinstance(kind, ast.Subscript) and _name(kind.value) in _MANY:
        inner = kind.slice.elts[0] if isinstance(kind.slice, ast.Tuple) else kind.slice
        yield f"[{' or '.join(_in_words(inner))}, ...]"
    elif isinstance(kind, ast.Subscript):
        yield from _in_words(kind.value)
    else:
        name = _name(kind)
        makers = [f"bayesbias.{maker}" for maker in MADE_BY.get(name, ())]
        yield f"what {' or '.join(makers)} returns" if makers else _IN_WORDS.get(name, name)
