"""Shared fixtures, the order in which workers take tests, and the line that says what was not tested."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
_UNTESTED = pytest.StashKey[Counter[str]]()  # claims that are no part of this run, under their one reason


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of published data beside the checkout, or skip."""
    path = ROOT.parent / "shared"
    if not (path / "data").is_dir():
        pytest.skip("the folder ../shared with the published tables is not beside this checkout")
    return path


# -- who does what -----------------------------------------------------------------------------------


def pytest_itemcollected(item: pytest.Item) -> None:
    """Divide the tests for ``--dist loadgroup``.

    A slow test is a piece of work of its own, so that no worker is left with a long file at the end. The other tests
    of a file, and slow ones that use what its tests share, are one piece, so that this is made once.
    """
    if not _stands_alone(item):  # said here: once all are collected xdist has read the groups
        item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(ROOT))))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first, so that what is left at the end is quick."""
    with_slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in with_slow)  # stable: otherwise in the order of the files


def _stands_alone(item: pytest.Item) -> bool:
    definitions = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009 - pytest has no public name
    shares = any(definition.scope == "module" for found in definitions for definition in found)
    return item.get_closest_marker("slow") is not None and not shares


# -- what was not tested -----------------------------------------------------------------------------


def pytest_deselected(items: list[pytest.Item]) -> None:
    claims = [item for item in items if item.get_closest_marker("claim")]
    if claims:
        untested = claims[0].config.stash.setdefault(_UNTESTED, Counter())
        untested["claims that `make claims` runs"] += len(claims)


def pytest_testnodedown(node: object) -> None:
    """Take over what a worker of xdist counted; all of them count the same."""
    output = getattr(node, "workeroutput", {})
    node.config.stash[_UNTESTED] = Counter(output.get("untested", {}))  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Say in one line, below all others, what was not tested and why."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["untested"] = dict(session.config.stash.get(_UNTESTED, Counter()))
        return (yield)
    yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    untested = session.config.stash.get(_UNTESTED, Counter())
    # Each says (path, line, "Skipped: reason"); a file as a whole may come twice, as tests and as examples.
    skipped = {(report.nodeid, report.longrepr[2]) for report in reporter.stats.get("skipped", [])}
    untested += Counter(sorted(reason.removeprefix("Skipped: ") for _, reason in skipped))
    if untested:
        parts = [f"{reason} ({count})" for reason, count in untested.items()]
        reporter.write_line("not tested: " + "; ".join(parts))
    return None
