"""The command group ``bayesbias model``: list and show."""

from __future__ import annotations

from typing import Any

import click

from bayesbias.cli import shared


@click.group(cls=shared.Group)
def model() -> None:
    """List and show models."""


@model.command("list")
@shared.options("as_json")
def list_(**given: Any) -> None:
    """List shipped models."""
    import bayesbias as bb

    items = {name: bb.load_model(name).description for name in bb.models.list_models()}
    listed = [{"name": name, "title": text} for name, text in items.items()]
    shared.tell({"items": listed}, *(f"{name:<18}{text}" for name, text in items.items()))


@model.command()
@click.argument("name")
@shared.options("as_json")
def show(name: str, **given: Any) -> None:
    """Show the file of a model, to copy and edit."""
    import bayesbias as bb

    spec = bb.load_model(name)
    answer = {"name": spec.name, "description": spec.description, "text": spec.text}
    shared.tell(answer, spec.text.rstrip("\n"))
