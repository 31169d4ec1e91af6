"""The kinds of answers, one file each: how a table of answers is recognized, modeled and put in words.

A new kind is a file beside these and an entry of `KINDS`, or of `ASKED`.
"""

from bayesbias.models.spec import ModelSpec
from bayesbias.studies.responses.kinds.choice import Choice
from bayesbias.studies.responses.kinds.kind import Kind
from bayesbias.studies.responses.kinds.number import Number
from bayesbias.studies.responses.kinds.ordered import Ordered
from bayesbias.studies.responses.kinds.paired import Paired
from bayesbias.studies.responses.kinds.stereotype import Stereotype
from bayesbias.studies.responses.table import Responses

KINDS: tuple[Kind, ...] = (
    Stereotype(),
    Choice(),
    Paired(),
    Number(),
)
"""In the order in which a table is offered to them; the last takes any table."""


ASKED: tuple[Kind, ...] = (Ordered(),)
"""Those that a table has only where their model is asked for."""


def kind_of(table: Responses, spec: ModelSpec | None = None) -> Kind:
    """Return the kind of the answers of a table: the first that recognizes it.

    A model whose outcome is that of a kind in `ASKED` asks for this kind.
    """
    for kind in ASKED:
        if spec is not None and spec.outcome == kind.modeled:
            return kind
    for kind in KINDS:
        if kind.recognizes(table):
            return kind
    raise AssertionError("the last kind takes any table")


def kind_named(name: str) -> Kind:
    """Return a kind by its name."""
    return next(kind for kind in (*KINDS, *ASKED) if kind.name == name)
