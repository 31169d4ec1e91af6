"""Each block of code in the README and on the pages of the site runs."""

import re
import shlex

import click
import pytest
from helpers.documents import DOCS, ROOT, blocks_of, pages, run_page
from helpers.pages import without_figures

every_page = pytest.mark.parametrize(
    "path", pages(), ids=lambda path: path.relative_to(ROOT).as_posix()
)


@pytest.mark.parametrize(
    "path",
    # The README, and pages of figures alone, are long.
    [path for path in pages() if path.parent.name != "gallery" and path.parent != ROOT],
    ids=lambda path: path.relative_to(DOCS).as_posix(),
)
@pytest.mark.slow
def test_short_blocks_run(path, tmp_path, monkeypatch):
    without_figures(monkeypatch)
    run_page(path, tmp_path, monkeypatch, as_printed=False)


@pytest.mark.claim
@every_page
def test_blocks_run_as_printed(path, tmp_path, monkeypatch):
    run_page(path, tmp_path, monkeypatch, as_printed=True)


@every_page
def test_names_of_the_package_are_there(path):
    """Also in blocks that are long."""
    import bayesbias

    for block in blocks_of(path):
        for name in re.findall(r"\bbb\.([\w.]+)", block.code) if block.language == "python" else []:
            found = bayesbias
            for part in name.split("."):
                if isinstance(found, type):
                    break
                found = getattr(found, part)


def parsed(line):
    """Read a command and its options without running it; raises a click.UsageError if one is not there."""
    from bayesbias.cli.main import cli

    arguments = shlex.split(line, comments=True)[1:]
    if ">" in arguments:  # what follows is a file of the shell
        arguments = arguments[: arguments.index(">")]
    command, context = cli, click.Context(cli)
    while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
        name, command, arguments = command.resolve_command(context, arguments)
        context = click.Context(command, info_name=name, parent=context)
    # As `Commands.parse_args` does it.
    arguments = ["--json=full" if each == "--json" else each for each in arguments]
    command.make_parser(context).parse_args(arguments)


@every_page
def test_commands_and_options_are_there(path):
    """In blocks, also those that are long, and in lines of text."""
    text = path.read_text(encoding="utf-8")
    lines = re.findall(r"`(bayesbias [a-z][^`\n]*)`", text)
    for block in blocks_of(path):
        if block.language == "sh":
            lines += re.sub(r"\\\n\s*", "", block.code).splitlines()
    for line in lines:
        if line.startswith("bayesbias "):
            parsed(line.replace("...", ""))


def test_the_lines_on_the_first_page_are_those_of_the_readme():
    first, readme = (
        next(block.code for block in blocks_of(path) if block.language == "python")
        for path in (DOCS / "index.md", ROOT / "README.md")
    )
    assert first == readme


@pytest.mark.parametrize("name", ["README.md", "SECURITY.md", "CONTRIBUTING.md"])
def test_links_lead_to_files(name):
    links = re.findall(r"\]\(([^)#]+)", (ROOT / name).read_text(encoding="utf-8"))
    files = [link for link in links if "://" not in link]
    assert [link for link in files if not (ROOT / link).exists()] == []


def pages_linked_from_the_readme():
    links = re.findall(r"\]\((docs/[^)#]+\.md)", (ROOT / "README.md").read_text(encoding="utf-8"))
    return sorted(set(links))


@pytest.mark.parametrize("name", pages_linked_from_the_readme())
def test_pages_linked_from_the_readme_are_plain_markdown(name):
    """A repository host shows them without directives and roles of the site."""
    text = re.sub(r"(?s)^```.*?^```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.M)
    assert not re.findall(r"(?<!`)\{[\w:]+\}`\w", text)  # roles
    assert not re.findall(r"^:::+", text, flags=re.M)
    whole = (ROOT / name).read_text(encoding="utf-8")
    assert not re.findall(r"^`{3,}\{", whole, flags=re.M)
    links = re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", text)
    for link, place in links:
        target = (ROOT / name).parent / link if link else ROOT / name
        if target.suffix == ".md" and target.exists():  # some are generated for the site
            heads = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), flags=re.M)
            anchors = [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads]
            assert place in anchors, (link, place)


def test_the_readme_says_when_not_to_use_it_and_where_to_read_more():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition("## When not to use it")[2].partition("\n## ")[0]
    for page in ("coverage.md", "replicates.md", "other-language.md"):
        assert page in section
