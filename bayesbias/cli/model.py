"""The command group ``bayesbias model``: list and show."""

from __future__ import annotations

import click

from bayesbias.cli import shared


@click.group()
def model() -> None:
    """List and show models."""


@model.command("list")
@shared.options("as_json")
def list_(as_json: str | None) -> None:
    """List shipped models."""
    import bayesbias as bb

    items = {name: bb.load_model(name).description for name in bb.models.list_models()}
    if as_json:
        shared.print_json(
            "model list", {"items": [{"name": name, "title": text} for name, text in items.items()]}
        )
        return
    for name, text in items.items():
        click.echo(f"{name:<18}{text}")


@model.command()
@click.argument("name")
@shared.options("as_json")
def show(name: str, as_json: str | None) -> None:
    """Show the file of a model, to copy and edit."""
    import bayesbias as bb

    spec = bb.load_model(name)
    if as_json:
        shared.print_json(
            "model show", {"name": spec.name, "description": spec.description, "text": spec.text}
        )
        return
    click.echo(spec.text, nl=False)
