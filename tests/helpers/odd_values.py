"""Values that may be handed over in Python where numbers or words are meant: of every kind that pandas and NumPy have."""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd


class Silent:
    """What cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")

    __str__ = __repr__


class Unlike:
    """What cannot be compared."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("not to be compared")

    def __hash__(self) -> int:
        return 1


class Closed:
    """What is no array, and says so."""

    def __array__(self, *asked: Any, **how: Any) -> Any:
        raise RuntimeError("no array")

    def __len__(self) -> int:
        raise RuntimeError("no length")


CELLS: dict[str, Callable[[np.random.Generator], Any]] = {
    "number": lambda rng: float(rng.random()),
    "none": lambda rng: None,
    "missing": lambda rng: pd.NA,
    "no time": lambda rng: pd.NaT,
    "nan": lambda rng: np.nan,
    "infinite": lambda rng: -np.inf,
    "huge": lambda rng: 10 ** int(rng.integers(300, 6000)),
    "tiny": lambda rng: 5e-324,
    "true": lambda rng: True,
    "numpy's true": lambda rng: np.bool_(True),
    "complex": lambda rng: 1j,
    "decimal": lambda rng: decimal.Decimal("0.5"),
    "decimal that signals": lambda rng: decimal.Decimal("sNaN"),
    "fraction": lambda rng: fractions.Fraction(1, 3),
    "bytes": lambda rng: b"0.5",
    "text": lambda rng: "nurse",
    "numpy's text": lambda rng: np.str_("nurse"),
    "empty": lambda rng: "",
    "half a pair": lambda rng: "\ud800",
    "control": lambda rng: "\x1b[2J\0",
    "other digits": lambda rng: "٠٫٧ ０.７ ⁷",
    "long": lambda rng: "9" * int(rng.integers(300, 5000)),
    "list": lambda rng: [1, 2],
    "tuple": lambda rng: (1,),
    "set": lambda rng: {1},
    "mapping": lambda rng: {"a": 1},
    "array": lambda rng: np.arange(3),
    "array of no dimension": lambda rng: np.array(0.5),
    "frame": lambda rng: pd.DataFrame({"a": [1]}),
    "date": lambda rng: datetime.date(2020, 1, 1),
    "time": lambda rng: pd.Timestamp("2020", tz="UTC"),
    "span": lambda rng: pd.Timedelta(1, "s"),
    "period": lambda rng: pd.Period("2020"),
    "function": lambda rng: len,
    "kind": lambda rng: int,
    "ellipsis": lambda rng: ...,
    "silent": lambda rng: Silent(),
    "unlike": lambda rng: Unlike(),
    "closed": lambda rng: Closed(),
    "masked": lambda rng: np.ma.masked,
}
KINDS = (
    object, "f2", "<f4", ">f4", "<f8", ">f8", "g", "c16", "i1", ">i4", "u8", "?", "S4", "U4", "M8[ns]", "m8[ns]", "V3",
    "Int64", "Float64", "boolean", "string", "category", "Sparse[float]", "double[pyarrow]", "string[pyarrow]",
    "bool[pyarrow]", "timestamp[us][pyarrow]", "period[D]", "datetime64[ns, UTC]",
)  # fmt: skip


def cells(rng: np.random.Generator, count: int) -> list[Any]:
    """Return values of one to three odd kinds."""
    names = rng.choice(list(CELLS), size=int(rng.integers(1, 4)))
    return [CELLS[str(rng.choice(names))](rng) for _ in range(count)]


def column(rng: np.random.Generator, count: int) -> Any:
    """Return a column of an odd type, or a list of odd cells where these cannot be of the type."""
    kind = KINDS[int(rng.integers(len(KINDS)))]
    source = cells(rng, count) if rng.random() < 0.5 else np.round(rng.random(count), 3).tolist()
    try:
        made: Any = pd.Series(source, dtype=kind)
        if rng.random() < 0.2:
            made = np.ma.masked_array(made.to_numpy(), rng.random(count) < 0.3)
        elif rng.random() < 0.2:
            made = made.to_numpy()
            made.flags.writeable = False
    except Exception:  # pandas has no column of this type with such cells
        return source
    return made
