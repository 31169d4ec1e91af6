"""What can be made again is kept only as long as it was used lately."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, TypeVar

# For all fits of a process together. Draws of the effects of a usual fit take some 40 MB.
MOST_BYTES = 200e6

Made = TypeVar("Made")

_awake: list[weakref.ref[Lately]] = []


def kept_in(place: dict[Any, Any], key: Any, make: Callable[[], Any]) -> Any:
    """Return what `make` gives, made once for each key."""
    try:
        hash(key)
    except TypeError:  # an argument of the wrong kind, of which `make` says what is wrong
        return make()
    if key not in place:
        place[key] = make()
    return place[key]


class Lately:
    """A place for what can be made again: emptied once enough others were used since.

    Parameters
    ----------
    size : float
        About how many bytes it holds when full.
    """

    def __init__(self, size: float) -> None:
        self.size = size
        self._made: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Lately, (self.size,)

    def get(self, key: Any, make: Callable[[], Made]) -> Made:
        """Return what is kept under a key, made where there is nothing."""
        if key in self._made:
            self._use()
            kept: Made = self._made[key]
            return kept
        value = make()
        self._use()
        self._made[key] = value
        return value

    def _use(self) -> None:
        """Become the last that was used, and empty those used longest ago where all hold too much.

        The last two stay, however large: a fit and the draws that it asks for.
        """
        others = [(ref, own) for ref in list(_awake) if (own := ref()) is not None and own is not self]
        total = self.size + sum(own.size for _, own in others)
        while len(others) > 1 and total > MOST_BYTES:
            _, oldest = others.pop(0)
            total -= oldest.size
            oldest._made = {}
        _awake[:] = [*(ref for ref, _ in others), weakref.ref(self)]
