"""Arguments of another kind: told by name after they broke something, and nothing refused that works."""

from __future__ import annotations

import contextlib
import copy
import gc
import inspect
import pickle
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.core.errors import FitError, InputError, warn_user
from bayesbias.core.kinds import MADE_BY, fits, tells_kinds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Side = Literal["left", "right"]


class Duck:
    """What does what a list of words does, and is none."""

    def __iter__(self) -> Any:
        return iter(["rabbi"])


@tells_kinds
def measured(
    words: Sequence[str],
    by: Mapping[str, float] | None = None,
    loud: bool = False,
    *others: float,
    ax: Axes | None = None,
) -> float:
    total = sum(len(word) for word in words) + sum((by or {}).values()) + sum(others)
    if ax is not None:
        ax.plot([total])
    return -total if loud else total


@tells_kinds
class Measure:
    def __init__(self, size: int) -> None:
        self.half = size / 2

    def times(self, n: int) -> float:
        return round(self.half) * range(9)[n]

    @classmethod
    def of(cls, words: list[str]) -> Measure:
        return cls(len(words))

    @staticmethod
    def twice(x: float) -> float:
        return x + x + 0


def message(call: Callable[..., Any], *placed: Any, **named: Any) -> str:
    with pytest.raises(InputError) as caught:
        call(*placed, **named)
    return str(caught.value)


@pytest.mark.parametrize(
    ("placed", "named", "told"),
    [
        ((3,), {}, "words: is none of what is taken here; found: 3; valid: [a text, ...]"),
        ((["a", 7],), {}, "words, number 2: is none of what is taken here; found: 7; valid: a text"),
        ((["a"], {"b": "c"}), {}, "by, b: is none of what is taken here; found: 'c'; valid: a number"),
        ((["a"], 1.5), {}, "by: is none of what is taken here; found: 1.5; valid: a mapping or None"),
        ((["a"], None, "no"), {}, "loud: is none of what is taken here; found: 'no'; valid: True or False"),
        ((["a"],), {"loud": []}, "loud: is none of what is taken here; found: a list; valid: True or False"),
        ((["a"], None, True, 1, "b"), {}, "others, number 2: is none of what is taken here; found: 'b'; valid: a number"),
        ((["a"],), {"ax": 5}, "ax: is none of what is taken here; found: 5; valid: Axes of matplotlib or None"),
    ],
)  # fmt: skip
def test_an_argument_of_another_kind_is_named(placed, named, told):
    assert message(measured, *placed, **named) == told


def test_nothing_is_shown_of_what_it_broke():
    with pytest.raises(InputError) as caught:
        measured(3)  # type: ignore[arg-type]
    assert caught.value.__suppress_context__


def test_whatever_works_goes_on_working():
    assert measured(Duck()) == measured(np.array(["rabbi"])) == measured(pd.Series(["rabbi"])) == 5
    assert measured(["a"], {"b": np.float32(1)}, np.bool_(True)) == -2
    assert measured(["a"], loud=1) == -1
    assert measured("ab", None, False, np.int8(1), True) == 4  # letters are texts too


def test_an_error_of_right_arguments_stands_as_it_is():
    class Broken:
        def __len__(self) -> int:
            raise KeyError("of a user's own")

    @tells_kinds
    def size(of: Any, n: int = 0) -> int:
        return len(of) // n

    with pytest.raises(KeyError, match="of a user's own"):
        size(Broken(), 1)
    with pytest.raises(ZeroDivisionError):
        size("abc")
    with pytest.raises(TypeError, match="missing 1 required"):
        size()
    with pytest.raises(TypeError, match="unexpected keyword"):
        size("abc", m=1)


@pytest.mark.parametrize(
    "error", [OSError("the disk is full"), MemoryError(), KeyboardInterrupt(), FitError("no")]
)
def test_what_the_machine_or_a_person_says_is_not_laid_to_an_argument(error):
    @tells_kinds
    def write(path: str) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        write(3)  # type: ignore[arg-type]
    assert caught.value is error


def test_an_error_of_ours_that_names_no_argument_is_made_to():
    @tells_kinds
    def read(source: str, other: Any = None) -> None:
        raise InputError("cannot be read", where=other, found=source, valid="a path", hint="try a path")

    assert message(read, 3) == "source: cannot be read; found: 3; valid: a path; try a path"
    assert message(read, 3, "line 1") == "source, line 1: cannot be read; found: 3; valid: a path; try a path"
    assert message(read, "a.csv") == "cannot be read; found: 'a.csv'; valid: a path; try a path"
    assert message(read, 3, "the source") == "the source: cannot be read; found: 3; valid: a path; try a path"


def test_what_was_called_by_the_user_is_told_in_its_own_words():
    @tells_kinds
    def outer(lists: list[list[str]]) -> list[float]:
        return [measured(words) for words in lists]

    assert message(outer, [["a"], 5]).startswith(
        "lists, number 2: is none of what is taken here; found: 5; valid: [a text"
    )


def test_an_argument_that_may_be_anything_is_named_where_another_told_of_it():
    @tells_kinds
    def read(x: str) -> str:
        if not isinstance(x, str):
            raise InputError("cannot be read", found=x, valid="a text")
        return x

    @tells_kinds
    def outer(source: Any, n: int = 3) -> float:
        return measured(source) if isinstance(source, list) else len(read(source))

    @tells_kinds
    def inside(n: int = 3) -> str:
        return read(n + 1)  # type: ignore[arg-type]

    assert message(outer, 3) == "source: cannot be read; found: 3; valid: a text"
    assert message(outer, [3]) == "source: is none of what is taken here; found: 3; valid: a text"
    assert message(inside) == "cannot be read; found: 4; valid: a text"


@pytest.mark.parametrize("error", [InputError("no"), KeyError("no")])
@pytest.mark.parametrize("of", ["a", 3])
def test_what_an_error_held_is_let_go_with_it(error, of):
    """At once, not when cycles are next looked for: it may be a socket or a file."""

    class Open:
        pass

    @tells_kinds
    def read(source: str, held: Any) -> None:
        raise type(error)(*error.args)

    held = Open()
    gone = weakref.ref(held)
    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(InputError, KeyError):
            read(of, held)
        del held
        assert gone() is None
    finally:
        gc.enable()


def test_methods_and_constructors_tell_too():
    assert message(Measure, "x") == "size: is none of what is taken here; found: 'x'; valid: a whole number"
    assert message(Measure(4).times, "x").startswith("n: is none")
    assert message(Measure.of, 3).startswith("words: is none")
    assert message(Measure.twice, "x").startswith("x: is none")
    assert (Measure.of(["a", "b"]).times(2), Measure.twice(1)) == (2, 2)


KINDS: list[tuple[str, list[Any], list[Any]]] = [
    ("float", [1, 0.5, np.float32(1), np.int8(1), True], ["1", None, [1], pd.DataFrame()]),
    ("int | None", [1, np.uint8(1), None], [1.5, "1", [1]]),
    ("bool", [True, np.bool_(False), 0, 1], [2, "no", None, np.arange(2)]),
    ("str | os.PathLike[str]", ["a", Path("a"), np.str_("a")], [b"a", 3, None, ["a"]]),
    ("Sequence[str | Sequence[str]]", [["a", ["b"]], ("a",), [], pd.Index(["a"])], [3, [3], {"a": 1}, "a", b"a"]),
    ("Mapping[str, BiasFit]", [{}], [[], {"a": 1}, None]),
    ("Literal[1, 2]", [1, np.int64(2), "1"], [None, 1.5, []]),
    ("Literal['a', 'b']", ["a", "c"], [1, None]),
    ("Side", ["left", "up"], [1, None]),
    ("Callable[[int], int] | None", [len, None], [3, "len"]),
    ("npt.ArrayLike", [[1, 2], np.arange(3), 1.5, pd.Series([1.0])], ["a", b"1", ["a"], {"a": 1}, object(), Duck()]),
    ("np.ndarray", [np.arange(3)], [[1], None]),
    ("npt.NDArray[np.float64]", [np.arange(3)], [[1], None]),
    ("Any", [None, 1, object()], []),
    ("Iterable[str]", [iter(["a"]), (word for word in "ab"), {"a"}], [3, iter, pd.DataFrame({"a": [1]})]),
    ("Unheard", [], [1, None]),
    ("BiasFit | pd.DataFrame", [pd.DataFrame()], [pd.Series([1]), {}]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "right", "wrong"), KINDS, ids=[kind for kind, _, _ in KINDS])
def test_a_value_is_held_against_an_annotation(kind, right, wrong):
    import os

    names = {**globals(), "os": os}
    assert [value for value in right if not fits(value, kind, names)] == []
    assert [value for value in wrong if fits(value, kind, names)] == []


def test_an_iterator_is_not_used_up():
    words = iter(["a", 3])
    assert fits(words, "Iterable[str]", globals())
    assert list(words) == ["a", 3]


@pytest.mark.slow
def test_signature_docstring_and_place_are_those_of_the_function():
    assert str(inspect.signature(bb.fit)).startswith("(table: 'PairTable | pd.DataFrame")
    assert bb.fit.__name__ == "fit"
    assert "Parameters" in (bb.fit.__doc__ or "")
    assert "def fit(" in inspect.getsource(bb.fit)
    for public in (
        bb.fit,
        bb.plots.plot_seat,
        bb.BiasFit.contrasts,
        bb.WordList,
        bb.studies.Frequency.from_dict,
    ):
        assert pickle.loads(pickle.dumps(public)) == public
    assert copy.copy(bb.fit) is bb.fit


@pytest.mark.slow
def test_a_message_says_how_a_thing_of_the_right_kind_is_made():
    """By the annotation of what each function returns."""
    for kind, makers in MADE_BY.items():
        for maker in makers:
            function: Any = bb
            for part in maker.split("."):
                function = getattr(function, part)
            assert inspect.signature(function).return_annotation == kind, maker


def test_a_warning_points_at_the_line_of_the_user():
    with pytest.warns(UserWarning, match="something") as caught:
        warn_user("something")
    assert caught[0].filename == __file__


class _NoPath:
    def __fspath__(self):
        return 5


@pytest.mark.parametrize(
    "door",
    [
        bb.load_embedding, bb.load_wordlist, bb.load_fit, bb.load_distances, bb.load_model, bb.load_run, bb.load_encoder,
        bb.load_predictions,
    ],
)  # fmt: skip
def test_what_calls_itself_a_path_and_gives_none_is_refused(door):
    with pytest.raises(
        bb.InputError, match=r"is none of what is taken here.*valid: the path of a file or folder"
    ):
        door(_NoPath())
