"""How the vectors of a sentence's tokens become one vector: one row each.

A new pooling is one function and one row of `POOLINGS`. The functions take torch itself, the vectors (n, tokens, d)
and which tokens are seen, a boolean (n, tokens) with one or more in each row, and return (n, d).

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, section 4 and appendix C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["POOLINGS"]


@dataclass(frozen=True)
class Pooling:
    """One way to pool: the function, and where it is over one special token alone, which."""

    pool: Callable[[Any, Any, Any], Any]
    token: str | None = None  # as it is named in messages
    token_id: str = ""  # the attribute of a tokenizer that tells it


def _mean(torch: Any, hidden: Any, seen: Any) -> Any:
    weights = seen.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


def _largest(torch: Any, hidden: Any, seen: Any) -> Any:
    return hidden.masked_fill(~seen.unsqueeze(-1), -torch.inf).max(dim=1).values


def _first(torch: Any, hidden: Any, seen: Any) -> Any:
    places = torch.arange(seen.shape[1], device=seen.device)
    return _at(torch, hidden, torch.where(seen, places, seen.shape[1]).min(dim=1).values)


def _last(torch: Any, hidden: Any, seen: Any) -> Any:
    places = torch.arange(seen.shape[1], device=seen.device)
    return _at(torch, hidden, torch.where(seen, places, -1).max(dim=1).values)


def _at(torch: Any, hidden: Any, places: Any) -> Any:
    return hidden[torch.arange(len(hidden), device=hidden.device), places]


POOLINGS: Mapping[str, Pooling] = {
    "cls": Pooling(_first, token="[CLS]", token_id="cls_token_id"),
    "mean": Pooling(_mean),
    "max": Pooling(_largest),
    "last": Pooling(_last),
}
"""How the vectors of a sentence's tokens become one vector."""
