"""Shared fixtures, and the line that says what was not tested."""

from __future__ import annotations

import os
import re
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.places import ROOT

import bayesbias as bb

# Hypothesis would keep what it reads of our sources in the folder that tests run in.
os.environ.setdefault(
    "HYPOTHESIS_STORAGE_DIRECTORY", str(Path(tempfile.gettempdir()) / "bayesbias-hypothesis")
)
_UNTESTED = pytest.StashKey[Counter[str]]()  # claims that are no part of this run, under their one reason


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of published data beside the checkout, or skip."""
    path = ROOT.parent / "shared"
    if not (path / "data").is_dir():
        pytest.skip("the folder ../shared with the published tables is not beside this checkout")
    return path


# -- what it costs -----------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    """Let every second worker begin to collect from the other end.

    What is compiled when a file is first imported (assertions, the kernels) is kept on disk: each worker then finds
    half of it made by the other.
    """
    # Who runs tests in the background passes ignored signals on, to the processes that tests start as well.
    for name in ("SIGINT", "SIGHUP"):
        if (number := getattr(signal, name, None)) is not None and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)
    if int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 2:
        config.args.reverse()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[None]:
    """Look for no examples in tests, of which there are none."""
    return [found for found in (yield) if isinstance(found, pytest.Module)]  # type: ignore[return-value]


@pytest.fixture(scope="session", autouse=True)
def _not_to_the_platter() -> Iterator[None]:
    """Leave out that files are forced onto the disk: it takes long, and matters only where the whole machine dies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


# -- what is slow ------------------------------------------------------------------------------------

# Examples that fit, sample or draw take a second or more.
_LONG = re.compile(
    r"\b(fit\w*|compare|seat|wefat|coverage_simulated\w*|\w*debias|predict|plan_\w+|plot_\w+|find_\w+|\w*analysis)\("
)
# Those of comparisons, pages, folders and sweeps are many fits, and take several; so do many answers of one.
_LONGER = re.compile(
    r"\b(compare|compared|write_report|save_run|run_sweep|coverage_on_pools|compare_models|total_sd|standardized|new_words|superiority|draws_of|find_geometry)\("
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark examples that take long as slow, and the longest as claims: the fast lane leaves out both.

    Workers collect in different orders, and must agree in one.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: (isinstance(item, pytest.DoctestItem), item.path.parts))
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            for pattern, mark in ((_LONG, pytest.mark.slow), (_LONGER, pytest.mark.claim)):
                if any(pattern.search(e.source) for e in item.dtest.examples):
                    item.add_marker(mark)


# -- what was not tested -----------------------------------------------------------------------------


def pytest_deselected(items: list[pytest.Item]) -> None:
    claims = [item for item in items if item.get_closest_marker("claim")]
    if claims:
        untested = claims[0].config.stash.setdefault(_UNTESTED, Counter())
        untested["claims that `make claims` runs"] += len(claims)


@pytest.hookimpl(optionalhook=True)  # of xdist, which the environment for encoders lacks
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


@pytest.fixture(scope="session")
def gender(shared) -> Path:
    return shared / "data" / "gender_sentiment"


@pytest.fixture(scope="session")
def published(gender) -> tuple[bb.classifiers.Predictions, bb.classifiers.Predictions]:
    return (
        bb.load_predictions(gender / "predictions_logreg.txt", name="logreg"),
        bb.load_predictions(gender / "predictions_bert.tsv", name="bert"),
    )
