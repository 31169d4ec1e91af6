"""Pages written before a build: the public names (for autodoc), the commands, and copies of the notebooks."""

import ast
import importlib
import inspect
import re
import shutil
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "bayesbias"
# Folders of the package that share a page of the reference, and the title of the page.
PAGES = {
    "words": ("Word lists and tables", ("wordlists", "tables")),
    "vectors": (
        "Vectors, encoders, classifiers",
        ("embeddings", "debiasing", "encoders", "classifiers"),
    ),
    "fits": ("Models and fits", ("models", "inference")),
    "scores": ("Scores", ("scores",)),
    "studies": ("Studies, simulation, sweeps", ("studies", "simulation", "sweeps")),
    "output": ("Figures, pages, folders, lesson, errors", ("plots", "output", "lesson", "core")),
}

# Classes of results: documented, and not built by users.
RESULTS = (
    "tables.pair_table.Coverage",
    "classifiers.predictions.Predictions",
    "debiasing.methods.Debiased",
    "inference.difference.Difference",
    "scores.score.Score",
    "studies.corpora.comparing.CorpusComparison",
    "studies.debiasing.comparison.Comparison",
    "studies.replicates.pooling.Replicates",
    "studies.responses.fitting.ResponsesResult",
    "studies.responses.table.Responses",
    "studies.sentences.result.SeatResult",
    "studies.sentiment.analysis.SentimentAnalysis",
    "studies.wefat.result.WefatResult",
    "sweeps.result.SweepResult",
)


def public_names():
    """Return for each folder its public names and results, each with its path."""
    found = {}
    for stub in (PACKAGE / "__init__.pyi", *sorted(PACKAGE.glob("*/__init__.pyi"))):
        inside = "" if stub.parent == PACKAGE else stub.parent.name
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                folder = inside or node.module.removeprefix("bayesbias.").split(".")[0]
                path = f"bayesbias.{inside}".removesuffix(".")
                listed = found.setdefault(folder, [])
                listed += [
                    f"{path}.{a.asname or a.name}"
                    for a in node.names
                    if f"bayesbias.{a.name}" not in listed  # a shortcut is documented once
                ]
    for name in RESULTS:
        found.setdefault(name.split(".")[0], []).append(f"bayesbias.{name}")
    return found


def _value(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _entry(path):
    value = _value(path)
    if inspect.isclass(value):
        return f".. autoclass:: {path}\n   :members:\n"
    if callable(value):
        return f".. autofunction:: {path}\n"
    short = repr(value) if len(repr(value)) < 80 else type(value).__name__
    return f".. py:data:: {path}\n   :value: {short}\n"


def score_table():
    """Return the table of scores: the question of each, what it needs, its source, and its known defects."""
    from bayesbias.scores.score import SCORES

    rows = [("score", "question", "needs", "source", "known defects")]
    for row in SCORES.values():
        rows.append(
            (row.title, row.about, ", ".join(row.needs) or "distances", row.source, row.known)
        )
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for cells in rows:
        lines += [f"   * - {cells[0]}", *(f"     - {cell}" for cell in cells[1:])]
    return [*lines, ""]


def reference():
    """Yield a page of the reference for each group of folders."""
    names = public_names()
    assert set(names) <= {folder for _, folders in PAGES.values() for folder in folders}
    for slug, (title, folders) in PAGES.items():
        own = [path for folder in folders for path in names.get(folder, ())]
        listed = [path.removeprefix("bayesbias.") for path in own if callable(_value(path))]
        lines = [title, "=" * len(title), "", ".. currentmodule:: bayesbias", ""]
        lines += [
            ".. autosummary::",
            "   :nosignatures:",
            "",
            *(f"   {name}" for name in listed),
            "",
        ]
        lines += score_table() if slug == "scores" else []
        yield f"reference/api/{slug}.rst", "\n".join([*lines, *map(_entry, own)])


def _walk(group, name):
    context = click.Context(group, info_name=name)
    for short in group.list_commands(context):
        command = group.get_command(context, short)
        yield f"{name} {short}", command
        if isinstance(command, click.Group):
            yield from _walk(command, f"{name} {short}")


def commands():
    """Yield the page of the command line: what `--help` prints."""
    from bayesbias.cli.main import EXIT_CODES, cli

    codes = EXIT_CODES.partition("Exit codes:\n")[2].partition("\n\n")[0]
    lines = [
        "# The command line",
        "",
        "What `bayesbias COMMAND --help-all` prints, for every command. `--help` leaves out rare options.",
        "",
        "Results go to standard output, all else to standard error.",
        "",
        "## Exit codes",
        "",
        "```text",
        codes,
        "```",
        "",
        "[Set limits in continuous integration](../howto/ci.md) lists the limits of `--require`.",
        "",
    ]
    for name, command in _walk(cli, "bayesbias"):
        context = click.Context(command, info_name=name, max_content_width=88)
        context.meta["bayesbias.help_all"] = True
        text = command.get_help(context)
        lines += [f"## {name}", "", "```text", text, "```", ""]
    yield "reference/commands.md", "\n".join(lines)


def write(app):
    """Write the pages; what has not changed keeps its time, so that Sphinx reads only what is new."""
    for name, text in (*reference(), *commands()):
        path = DOCS / name
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        shutil.copy2(path, DOCS / "tutorials" / path.name)


def write_lesson(app, error):
    """Write the lesson beside the finished site."""
    from bayesbias.lesson import write_lesson as write_page

    if error is None and app.builder.format == "html":
        write_page(Path(app.outdir) / "averaging.html")


def link_to_copies(app, page, source):
    """Let links to notebooks of the checkout lead to their copies on the site, and names to the reference."""
    source[0] = source[0].replace("](../../notebooks/", "](../tutorials/")
    if page == "which-question":  # plain Markdown, as a repository host shows it
        source[0] = re.sub(r"`bb\.(\w+)`", r"{py:obj}`bb.\1 <bayesbias.\1>`", source[0])


def setup(app):
    """Write the pages when the build begins."""
    app.connect("builder-inited", write)
    app.connect("source-read", link_to_copies)
    app.connect("build-finished", write_lesson)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
