"""The reference: every public name, from the stubs that list them, in ten groups after the folder it is made in."""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.pages.docstrings import linked, parted, set_section

__all__ = ["GROUPS", "Group", "Public", "find", "pages", "public_names"]

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bayesbias"


@dataclass(frozen=True)
class Group:
    """A page of the reference: its title, what is there, and the folders that its names are made in."""

    slug: str
    title: str
    about: str
    folders: tuple[str, ...]


GROUPS = (
    Group("words", "Words", "Word lists, their pairs, sentence tests and occupations.", ("words",)),
    Group("vectors", "Vectors", "Embeddings: read, written, described, changed on purpose.", ("vectors", "debiasing")),
    Group(
        "encoders", "Encoders and classifiers", "Encoders of sentences, classifiers of sentiment.", ("encoders", "classifiers")
    ),
    Group("tables", "Tables", "One row an observation, and the account of what is missing.", ("tables",)),
    Group("fits", "Models and fits", "What is believed of a pair before it is seen, and after.", ("models", "inference")),
    Group("scores", "Scores in common use", "Averages, projections and their tests.", ("scores",)),
    Group("studies", "Studies", "Encoders, classifiers, one category; debiased against original.", ("studies",)),
    Group("planning", "Simulation and sweeps", "Data whose truth is known; fits after a plan.", ("simulation", "sweeps")),
    Group("figures", "Findings and figures", "What a result says in sentences, and what it looks like.", ("findings", "figures")),
    Group("files", "Runs, reports, errors", "A result as a folder and as a page; what is raised.", ("runs", "report", "basics")),
)  # fmt: skip


@dataclass(frozen=True)
class Public:
    """A public name."""

    path: str  # as users write it: bayesbias.fit, bayesbias.plots.plot_seat
    room: str  # the file it is made in, below bayesbias: inference.fitting

    @property
    def name(self) -> str:
        """Return the name alone."""
        return self.path.rpartition(".")[2]

    @property
    def value(self) -> Any:
        """Return what it names."""
        return getattr(importlib.import_module(self.path.rpartition(".")[0]), self.name)

    @property
    def short(self) -> str:
        """Return how it is called after ``import bayesbias as bb``."""
        return "bb" + self.path.removeprefix("bayesbias")

    @property
    def doc(self) -> str:
        """Return its docstring; of a constant, the text below it."""
        value = self.value
        if inspect.isclass(value) or callable(value):
            return inspect.getdoc(value) or ""
        idata = ast.parse((PACKAGE / f"{self.room.replace('.', '/')}.py").read_text(encoding="utf-8"))
        for line, below in zip(idata.body, idata.body[1:], strict=False):
            here = isinstance(line, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == self.name for t in line.targets
            )
            if here and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                return inspect.cleandoc(str(below.value.value))
        return ""

    @property
    def examples(self) -> list[doctest.Example]:
        """Return the examples of its docstring."""
        return doctest.DocTestParser().get_examples(self.doc)

    def members(self) -> Iterator[tuple[str, Any, str]]:
        """Yield the public methods and properties of a class that it says something of, with what it says."""
        for name, held in vars(self.value).items() if inspect.isclass(self.value) else ():
            inner = (
                held.fget
                if isinstance(held, property)
                else getattr(held, "func", getattr(held, "__func__", held))
            )
            if not name.startswith("_") and inspect.isfunction(inner) and inner.__doc__:
                yield name, held, inspect.getdoc(inner) or ""


@functools.cache
def public_names() -> dict[str, Public]:
    """Return all public names by their path, in the order of the stubs."""
    found: dict[str, Public] = {}
    for stub in (PACKAGE / "__init__.pyi", *sorted(PACKAGE.glob("*/__init__.pyi"))):
        folder = "" if stub.parent == PACKAGE else stub.parent.name
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    path = ".".join(filter(None, ("bayesbias", folder, alias.name)))
                    found[path] = Public(path, ".".join(filter(None, (folder, node.module))))
    return found


@functools.cache
def find(name: str) -> str | None:
    """Return the path of what a docstring names: a public name, or a member of a public class."""
    name = name.removesuffix("()").removeprefix("bb.").removeprefix("bayesbias.")
    names = {public.name: path for path, public in public_names().items()}
    first, dot, rest = name.partition(".")
    if f"bayesbias.{name}" in public_names():
        return f"bayesbias.{name}"
    if not dot:
        return names.get(name)
    if first in names and rest in {member for member, _, _ in public_names()[names[first]].members()}:
        return f"{names[first]}.{rest}"
    return None


def of(group: Group) -> list[Public]:
    """Return the names of a group: first those of the flow, each folder in the order of its stub."""
    return [public for public in public_names().values() if public.room.split(".")[0] in group.folders]


def _signature(value: Any, *, method: bool = False) -> str:
    """Return the arguments and their defaults; what each is, the list below says."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "()"
    kept = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    if method and kept and kept[0].name in ("self", "cls"):
        kept = kept[1:]
    kept = [p for p in kept if not p.name.startswith("_")]
    return str(signature.replace(parameters=kept, return_annotation=inspect.Signature.empty))


def _kind(public: Public) -> tuple[str, str]:
    """Return the directive of a name and its arguments."""
    value = public.value
    if inspect.isclass(value):
        # Results are made by functions: how they are put together is nobody's business.
        made = any(section.heading == "Parameters" for section in parted(public.doc))
        return ("exception" if issubclass(value, BaseException) else "class"), _signature(
            value
        ) if made else ""
    return ("function", _signature(value)) if callable(value) else ("data", "")


def _set(doc: str) -> str:
    return "\n\n".join(set_section(section, find) for section in parted(doc))


def _entry(public: Public) -> str:
    kind, arguments = _kind(public)
    body = [_set(public.doc)]
    if kind == "data":
        body.insert(0, f"Its value is ``{public.value!r}``.")
    values = getattr(public.value, "__members__", {})
    if values:
        body.append(
            "\n".join(
                [
                    ".. rubric:: Values",
                    "",
                    *(f"* ``{name}``: ``{str(each.value)!r}``" for name, each in values.items()),
                ]
            )
        )
    for name, held, doc in public.members():
        is_method = not (isinstance(held, property) or hasattr(held, "func"))
        directive = (
            f"py:method:: {name}{_signature(getattr(held, '__func__', held), method=True)}"
            if is_method
            else f"py:property:: {name}"
        )
        body.append(f".. {directive}\n\n" + textwrap.indent(_set(doc), "   "))
    body.append(f"*Made in* ``bayesbias/{public.room.replace('.', '/')}.py``.")
    return f".. py:{kind}:: {public.path}{arguments}\n\n" + textwrap.indent("\n\n".join(body), "   ")


def _first_line(public: Public) -> str:
    return linked(public.doc.split("\n\n")[0].replace("\n", " "), find)


def page(group: Group) -> str:
    """Return a group as a page."""
    lines = [
        group.title,
        "=" * len(group.title),
        "",
        group.about,
        "",
        ".. list-table::",
        "   :class: names",
        "",
    ]
    for public in of(group):
        lines += [f"   * - :py:obj:`{public.short} <{public.path}>`", f"     - {_first_line(public)}"]
    for public in of(group):
        lines += ["", _entry(public)]
    return "\n".join(lines) + "\n"


def pages() -> Iterator[tuple[str, bytes]]:
    """Yield the pages of the reference."""
    for group in GROUPS:
        yield f"reference/api/{group.slug}.rst", page(group).encode()
    lines = [
        "The names",
        "=========",
        "",
        "After ``import bayesbias as bb``. Each name has one path, one group, and an example that the tests run.",
        "",
    ]
    lines += [
        ".. toctree::",
        "   :hidden:",
        "",
        *(f"   {group.slug}" for group in GROUPS),
        "",
        ".. list-table::",
        "   :class: names",
        "",
    ]
    for group in GROUPS:
        names = ", ".join(f":py:obj:`{public.name} <{public.path}>`" for public in of(group))
        lines += [
            f"   * - :doc:`{group.title} <{group.slug}>`",
            f"     - {group.about}",
            "",
            f"       {names}",
        ]
    yield "reference/api/index.rst", ("\n".join(lines) + "\n").encode()
