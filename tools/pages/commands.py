"""The reference of the command line, made of the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from bayesbias.cli.main import cli

__all__ = ["pages", "walk"]

INTRO = """# The command line

Made of the commands: what stands here is what `bayesbias COMMAND --help` prints. Results go to standard output, all else to
standard error. **Exit codes**: 0, all ran; 1, some tests or cells of many failed, or a limit of `compare --require` is not met;
2, an input cannot be used, and one line says where, what was found and what is valid.

"""


def walk(group: click.Group = cli, name: str = "bayesbias") -> Iterator[tuple[str, click.Command]]:
    """Yield all commands and theirs in turn, with their whole names."""
    for short, command in group.commands.items():
        yield f"{name} {short}", command
        if isinstance(command, click.Group):
            yield from walk(command, f"{name} {short}")


def _paragraphs(text: str) -> str:
    """Return what a command says of itself; what is not to be wrapped becomes a block."""
    parts = []
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text.partition("\f")[0])):
        parts.append(
            f"```text\n{part[1:].strip(chr(10))}\n```" if part.startswith("\b") else " ".join(part.split())
        )
    return "\n\n".join(parts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")


def section(name: str, command: click.Command) -> str:
    """Return a command as a section: how it is called, what it does, and its options."""
    context = click.Context(command, info_name=name)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"## {name}", "", f"```text\n{name} {usage}\n```", "", _paragraphs(command.help or ""), ""]
    records = [
        record for parameter in command.get_params(context) if (record := parameter.get_help_record(context))
    ]
    if records:
        lines += ["| option | what it does |", "| --- | --- |"]
        lines += [f"| `{names.replace('|', chr(92) + '|')}` | {_cell(said)} |" for names, said in records]
    return "\n".join([*lines, "", _paragraphs(command.epilog or ""), ""])


def pages() -> Iterator[tuple[str, bytes]]:
    """Yield the page of the commands."""
    commands = list(walk())
    table = ["| command | what it does |", "| --- | --- |"]
    for name, command in commands:
        anchor = name.replace(" ", "-")
        table.append(f"| [{name}](#{anchor}) | {_cell(command.get_short_help_str(200))} |")
    text = INTRO + "\n".join(table) + "\n\n" + "\n".join(section(*each) for each in commands)
    yield "reference/commands.md", text.encode()
