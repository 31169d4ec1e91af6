"""The tables of a run as a mapping, each made when it is asked for."""

from collections.abc import Callable, Iterator, Mapping
from typing import override

import pandas as pd


class Tables(Mapping[str, pd.DataFrame]):
    """Tables by name; a table is made the first time that it is asked for.

    Parameters
    ----------
    makers : Mapping of str to function
        What makes each table.

    Examples
    --------
    >>> tables = Tables({"summary": lambda: pd.DataFrame({"mean": [0.5]})})
    >>> tables, tables["summary"].shape
    (Tables: summary, (1, 1))
    """

    def __init__(self, makers: Mapping[str, Callable[[], pd.DataFrame]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, pd.DataFrame] = {}

    @override
    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._makers:
            raise KeyError(f"{name}: expected the name of a table, one of {', '.join(self)}")
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name].copy()

    @override
    def __contains__(self, name: object) -> bool:
        return name in self._makers

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    @override
    def __len__(self) -> int:
        return len(self._makers)

    def __repr__(self) -> str:
        return f"Tables: {', '.join(self)}"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)
