"""Public names of a folder, loaded when they are first used."""

import ast
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a folder from the stub beside its file."""
    stub = ast.parse(Path(f"{file}i").read_text(encoding="utf-8"))
    places = {
        name.asname or name.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        module = places[name]
        if module is None:  # a folder: ``from . import plots``
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(f"{package}.{module}"), name)

    return __getattr__, lambda: sorted(places), sorted(places)
