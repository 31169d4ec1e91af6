"""A column of texts as labels and the place of each row's label, made once: a million rows of ten labels take moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Codes:
    """A column as labels and, of each row, the place of its label; -1 where the cell is empty."""

    labels: list[str]
    of_row: np.ndarray

    @classmethod
    def of(cls, column: pd.Series) -> Codes:
        """Make the codes of a column; labels of one text are one."""
        import numpy as np
        import pandas as pd

        if isinstance(column.dtype, pd.CategoricalDtype):
            codes, labels = column.cat.codes.to_numpy(), column.cat.categories
        else:
            codes, labels = pd.factorize(column)
        texts = [str(label) for label in labels]
        place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        if len(place) < len(texts):
            codes = np.append([place[text] for text in texts], -1)[codes]
        return cls(list(place), np.asarray(codes, dtype=np.int32))

    def categories(self, called: Callable[[str], str] = str) -> pd.Categorical:
        """Return the column as categories, each label called something else; labels that become one are one."""
        import numpy as np
        import pandas as pd

        names = [called(label) for label in self.labels]
        distinct = list(dict.fromkeys(names))
        place = {name: i for i, name in enumerate(distinct)}
        return pd.Categorical.from_codes(
            np.array([*(place[name] for name in names), -1])[self.of_row], distinct
        )

    def where(self, holds: Callable[[str], bool]) -> np.ndarray:
        """Mark the rows whose label is so; an empty cell is not."""
        import numpy as np

        return np.array([*map(holds, self.labels), False])[self.of_row]

    def label(self, position: int) -> str:
        """Return the label of a row."""
        return self.labels[self.of_row[position]]

    def beside(self, other: Codes) -> np.ndarray:
        """Return one number a row for its two labels: the place of the first times the others there are, plus the second."""
        return self.of_row.astype("int64") * len(other.labels) + other.of_row


def labels_within(frame: pd.DataFrame, outer: str, inner: str) -> dict[str, list[str]]:
    """Return the labels of one column within each label of another, both in the order in which they come."""
    import pandas as pd

    first, second = Codes.of(frame[outer]), Codes.of(frame[inner])
    out: dict[str, list[str]] = {}
    for cell in pd.unique(first.beside(second)):
        of, label = divmod(int(cell), len(second.labels))
        out.setdefault(first.labels[of], []).append(second.labels[label])
    return out
