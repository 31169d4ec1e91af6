"""Shared fixtures, which examples are slow, and the line that says what was not tested."""

import gc
import os
import re
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from helpers.places import ROOT

import bayesbias as bb
from bayesbias.classifiers.predictions import Predictions

# Hypothesis would keep what it reads of the sources in the folder that tests run in.
os.environ.setdefault(
    "HYPOTHESIS_STORAGE_DIRECTORY", str(Path(tempfile.gettempdir()) / "bayesbias-hypothesis")
)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of published data beside the checkout, or skip."""
    path = ROOT.parent / "shared"
    if not (path / "data").is_dir():
        pytest.skip("the folder ../shared with the published tables is not beside this checkout")
    return path


@pytest.fixture(scope="session")
def gender(shared) -> Path:
    return shared / "data" / "gender_sentiment"


@pytest.fixture(scope="session")
def published(gender) -> tuple[Predictions, Predictions]:
    return (
        bb.load_predictions(gender / "predictions_logreg.txt", name="logreg"),
        bb.load_predictions(gender / "predictions_bert.tsv", name="bert"),
    )


@pytest.fixture(scope="session", autouse=True)
def _not_to_the_platter():
    """Leave out that files are forced onto the disk, which takes long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(autouse=True)
def _close_figures():
    """Close the figures that a test opened, also where it returns none."""
    before = _open_figures()
    yield
    for number in _open_figures() - before:
        sys.modules["matplotlib.pyplot"].close(number)


def _open_figures():
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set() if pyplot is None else set(pyplot.get_fignums())


def pytest_configure():
    """Take Ctrl-C as a terminal sends it, also where the tests run in the background of a shell."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    """Leave what the libraries made out of the search for garbage, and search rarely: it takes time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Look for no examples in tests, of which there are none."""
    return [found for found in (yield) if isinstance(found, pytest.Module)]


# Examples that fit, sample or draw take a second or more; those of comparisons, pages, folders and sweeps several.
_LONG = re.compile(
    r"\b(fit\w*|compare|seat|wefat|coverage_simulated\w*|\w*debias|score_sentences|plan_\w+|plot_\w+|find_\w+|\w*analysis)\("
)
_LONGER = re.compile(
    r"\b(compare|compared|write_report|save_run|run_sweep|coverage_on_pools|compare_models|total_sd|standardized|new_words|probability_of_superiority|table_draws|find_geometry)\("
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark examples that take long as slow, and the longest as claims; leave `full` out of a short run."""
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            for pattern, mark in ((_LONG, pytest.mark.slow), (_LONGER, pytest.mark.claim)):
                if any(pattern.search(example.source) for example in item.dtest.examples):
                    item.add_marker(mark)

    if os.environ.get("BAYESBIAS_TEST_SHORT"):
        left_out = {item for item in items if item.get_closest_marker("full")}
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    """Say why tests were skipped, in one line."""
    reports = {(r.nodeid, r.longrepr[2]) for r in terminalreporter.stats.get("skipped", [])}
    reasons = Counter(reason.removeprefix("Skipped: ") for _, reason in sorted(reports))
    if reasons:
        said = "; ".join(f"{reason} ({count})" for reason, count in reasons.items())
        terminalreporter.write_line(f"not tested: {said}")


def pytest_addoption(parser):
    parser.addoption(
        "--refresh-snapshots", action="store_true", help="write tests/output/snapshots anew"
    )
