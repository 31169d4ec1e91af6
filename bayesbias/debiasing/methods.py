"""The methods of ``bayesbias debias``: where each is, and what it may be told, one row each.

A new method is one file beside this one, whose function takes what `hard_debias` takes and the settings of its row
and returns a `Debiased`, and one row of `METHODS`. Nothing is imported before a method runs.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbias.core.settings import Setting

if TYPE_CHECKING:
    from bayesbias.debiasing.account import Debiased

__all__ = ["METHODS", "Method"]


@dataclass(frozen=True)
class Method:
    """One method: where its function is, and what it may be told beside `k` and `neutralise`."""

    place: str  # room of `bayesbias.debiasing`, colon, function
    settings: tuple[Setting, ...] = ()

    def run(self, embedding: Any, wordlist: Any, **settings: Any) -> Debiased:
        """Debias."""
        room, _, function = self.place.partition(":")
        return getattr(importlib.import_module(f"bayesbias.debiasing.{room}"), function)(
            embedding, wordlist, **settings
        )


METHODS: Mapping[str, Method] = {
    "hard": Method(
        "hard:hard_debias",
        settings=(
            Setting("equalise", True, "Of the hard method."),
            Setting(
                "overlap",
                "merge",
                "Hard: join definitional sets that share words, or let the last one win, as published.",
                choices=("merge", "last"),
            ),
        ),
    ),
    "soft": Method(
        "soft:soft_debias",
        settings=(
            Setting(
                "lam",
                0.2,
                "Soft: weight of leaving the subspace; a larger one takes more. The published one takes next to nothing of "
                "a large vocabulary: try 1000 for some thousand words, 100000 for twenty thousand.",
                least=0,
            ),
        ),
    ),
}
