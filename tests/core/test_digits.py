"""What another seed would change is not printed: every printer, of draws so few that few digits stand."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from bayesbias.columns import table as columns
from bayesbias.columns.sentences import contrast_columns
from bayesbias.columns.table import Table, screen_table
from bayesbias.columns.words import new_word_columns, parameter_columns, summary_columns
from bayesbias.report import pictures
from bayesbias.report.change import of_comparison
from bayesbias.report.parts import Picture
from bayesbias.report.sentiment import of_sentiment
from bayesbias.report.words import of_fit
from helpers.changes import NONE, changed, table
from helpers.draws import made_up_comparison, made_up_fit
from helpers.figures import simulated
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.cli import planning
from bayesbias.core import digits
from bayesbias.inference.expectation import prior_expectation
from bayesbias.inference.posterior import BiasFit, kept_with
from bayesbias.inference.sensitivity import COLUMNS
from bayesbias.plots import (
    change as figures_of_change,
    contrasts as figures_of_contrasts,
    words as figures_of_words,
)
from bayesbias.simulation.planning import plan_reliability
from bayesbias.tables.coverage import Coverage
from bayesbias.tables.pair_table import PairTable

_NUMBER = re.compile(r"(?<![\w.])[-+−]?\d[\d,]*(?:\.\d+)?(?!\w)")
# Diagnostics of the sampler: what tells the error has none that anybody knows.
_DIAGNOSTICS = re.compile(
    r"R-hat[^;,)\n]*|[\d,]+ effective draws[^.\n]*|ESS \d+|Pareto k[^,)\n]*|[<>] ?0?\.\d+|seed \d+"
)
# A digit may be as small as its error; two seeds then differ by 1.4 of it, give or take, and by what both are rounded. The
# error is known from few batches, and some thousand numbers are compared: of these few may move by more than a few units.
_MOST = 10
_FEW, _SHARE = 4, 0.03
_OF_THE_SAMPLER = ("effective draws", "R-hat", "least effective draws")
_CHAINS, _DRAWS = 2, 100
_KINDS = ("word", "template", "sentence", "residual")


def told(value: Any) -> Iterator[str]:
    """Give all texts of something that is printed: a page with its parts, tables and cells."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Table):
        kept = [at for at, head in enumerate(value.head) if head.text not in _OF_THE_SAMPLER]
        for row in value.rows:
            yield f"{value.id}: " + " | ".join(row[at].text for at in kept)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from told(part)
    elif isinstance(value, Sequence):
        for part in value:
            yield from told(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from told(getattr(value, field.name))


def numbers_of(text: str) -> tuple[str, list[str]]:
    """Return a line without its numbers, and these."""
    text = _DIAGNOSTICS.sub("", text)
    return _NUMBER.sub("#", text), _NUMBER.findall(text)


def moved(one: str, other: str) -> list[tuple[str, str, str]]:
    """Return the numbers that two seeds print differently by more than their last digit allows, and the count compared."""
    out = []
    lines = [
        dict(found for found in map(numbers_of, dict.fromkeys(text.splitlines())) if found[1])
        for text in (one, other)
    ]
    compared = further = 0
    for line in lines[0].keys() & lines[1].keys():
        for a, b in zip(lines[0][line], lines[1][line], strict=True):
            decimals = min(len(x.partition(".")[2]) for x in (a, b))
            values = [float(x.replace("−", "-").replace(",", "")) for x in (a, b)]
            # A zero may be one to the ten as well as to the one: the other number says which.
            unit = 10.0**-decimals if decimals else 10.0 ** min(map(zeros_of, {a, b} - {"0"}), default=0)
            compared += 1
            steps = abs(values[0] - values[1]) / unit
            further += steps > _FEW + 0.5
            if steps > _MOST + 0.5:
                out.append((line, a, b))
    assert compared > 3, "two seeds print no line alike"
    if further > 1 + _SHARE * compared:
        out.append((f"of {compared} numbers", f"{further} move by more than {_FEW}", ""))
    return out


def zeros_of(text: str) -> int:
    """Count the zeros at the end of a whole number: tens stand where the error is larger than one."""
    return 0 if set(text) <= {"0"} else len(text) - len(text.rstrip("0"))


@functools.cache
def words_of(seed: int, noise: float = 0.3) -> BiasFit:
    frame = simulated({"men": ["he", "him", "his"], "women": ["she", "her", "hers"]})
    fit = made_up_fit(frame, "crossed", noise=noise, chains=_CHAINS, draws=_DRAWS, seed=seed)
    return believed(fit)


@functools.cache
def sentiment_of(seed: int) -> BiasFit:
    m1 = bb.list_predictions("m1")
    fit = made_up_fit(
        bb.sentiment_table(m1), "sentiment", noise=0.02, chains=_CHAINS, draws=_DRAWS, seed=seed
    )
    return believed(bb.studies.with_analysis(fit, bb.sentiment_analysis(m1)))


@functools.cache
def change_of(seed: int) -> Any:
    before = table(words=3, attributes=4)
    after = {
        name: pairs_of(changed(before, {**NONE, "associated": 0.3}, at)) for at, name in enumerate("a", 1)
    }
    made = made_up_comparison(pairs_of(before), after, chains=_CHAINS, draws=_DRAWS, seed=seed)
    for fit in made.fits().values():
        believed(fit)
    return made


def pairs_of(frame: pd.DataFrame) -> PairTable:
    return PairTable(frame, Coverage({}, {}), {"name": "made up"})


def believed(fit: BiasFit) -> BiasFit:
    """Let a fit be believed: what is asked is how its numbers are written."""
    kept_with(
        fit,
        "diagnostics",
        lambda: {"ok": True, "problems": [], "max_r_hat": 1.0, "min_ess_bulk": 1000.0, "divergences": 0},
    )
    empty = pd.DataFrame({name: pd.Series(dtype=float) for name in COLUMNS})
    for refit in (None, False):
        kept_with(fit, ("prior_sensitivity", refit), lambda: empty)
    return fit


def alts(plates: Sequence[Any]) -> list[str]:
    return [plate.alt for plate in plates]


def on_screen(title: str, listed: Any, frame: pd.DataFrame) -> Any:
    return screen_table(title, listed, frame.itertuples())


PRINTERS: dict[str, tuple[Callable[[int], Any], Callable[[Any], Any]]] = {
    "repr of a fit": (words_of, repr),
    "findings of words": (words_of, lambda fit: bb.findings_of(fit).lines()),
    "page of words": (words_of, lambda fit: of_fit(fit, 0.89, 0.03)),
    "figures of words": (
        words_of,
        lambda fit: alts([*figures_of_words.plates(fit), *figures_of_contrasts.plates(fit)]),
    ),
    "parameters": (words_of, lambda fit: on_screen("", parameter_columns(0.89), fit.parameters())),
    "findings of sentiment": (sentiment_of, lambda fit: bb.findings_of(fit).lines()),
    "page of sentiment": (sentiment_of, lambda fit: of_sentiment(fit, 0.89)),
    "repr of a comparison": (change_of, repr),
    "findings of a comparison": (change_of, lambda run: bb.findings_of(run).lines()),
    "page of a comparison": (change_of, lambda run: of_comparison(run, 0.89, 0.03)),
    "figures of a comparison": (change_of, lambda run: alts(figures_of_change.plates(run))),
    "a plan for reliability": (
        words_of,
        lambda fit: planning.reliability_lines(
            plan_reliability(fit, measure="word", attributes=(3, 9), words=(3, 9)), "made up"
        ),
    ),
    "what must be met": (
        change_of,
        lambda found: [
            check.line
            for check in bb.studies.check_requirements(found, "gap<0.02,class_gap>0,human<1,neutral>9")
        ],
    ),
    "what a prior expects": (
        lambda seed: prior_expectation("crossed", draws=200, seed=seed),
        lambda found: found.lines(),
    ),
}


def _vectors() -> Any:
    return bb.load_embedding("minilm-static")


@pytest.fixture(autouse=True)
def nothing_drawn(monkeypatch):
    """Leave the pictures of a page out, and keep what is said of them."""
    monkeypatch.setattr(
        pictures, "as_picture", lambda plate, tag="": Picture(plate.name, plate.caption, plate.alt)
    )


# Two pages, two bootstraps: seconds each. One kind of page stands for the others.
MARKS = {name: pytest.mark.claim for name in PRINTERS if name.startswith("page")}
MARKS |= {"page of words": pytest.mark.slow, "a bootstrap interval": pytest.mark.slow}


def printed(name: str, seed: int) -> str:
    make, write = PRINTERS[name]
    return "\n".join(told(write(make(shifted(seed)))))


@pytest.mark.parametrize("name", [pytest.param(name, marks=MARKS.get(name, ())) for name in PRINTERS])
def test_another_seed_changes_no_more_than_the_last_digits(name):
    assert moved(printed(name, 3), printed(name, 4)) == []


@pytest.mark.parametrize("name", ["repr of a fit", "findings of words", "a bootstrap interval"])
@pytest.mark.slow
def test_with_the_usual_digits_it_would(name, monkeypatch):
    for module in (digits, columns):
        monkeypatch.setattr(module, "allowed", lambda error, usual=3: usual)
    assert moved(printed(name, 3), printed(name, 4))


@pytest.mark.parametrize(("prob", "said"), [(0.89, "89%"), (0.975, "97.5%"), (0.999, "99.9%"), (0.29, "29%")])
def test_an_interval_is_called_by_all_digits_of_its_probability(prob, said):
    heading = next(column.heading for column in summary_columns(prob) if "HPDI" in column.heading)
    assert heading == f"{said} HPDI"


def test_no_probability_is_rounded_to_whole_per_cents():
    """One function writes them all."""
    for path in Path(bb.__file__).parent.rglob("*.py"):
        assert not re.search(r"\bprob\b[^{}\n]*:[.\d]*%\}", path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize(
    ("share", "error", "said"),
    [
        (0.3, 0.11, "30%"),
        (0.6, 0.11, "60%"),
        (0.04, 0.011, "4%"),
        (0.96, 0.011, "96%"),
        (0.04, 0.05, "0%"),  # which it may be
        (0.96, 0.05, "100%"),
        (0.5, 2.0, "50%"),
        (0.004, 0.002, "0.4%"),
        (0.9999, None, "> 99.9%"),
        (0.0001, math.nan, "< 0.1%"),
        (0.0, None, "0%"),
        (1.0, 0.0, "100%"),
    ],
)
def test_a_share_reads_as_none_or_all_only_where_it_may_be(share, error, said):
    assert digits.share_printed(share, error) == said


def test_no_share_is_rounded_to_an_end_from_which_it_is_farther_than_its_error():
    for share in (each / 1000 for each in range(1, 1000)):
        for error in (0.0, 0.0003, 0.004, 0.011, 0.02, 0.05, 0.11, 0.4, 3.0):
            if error < min(share, 1 - share) - 1e-9:
                assert digits.share_printed(share, error) not in {"0%", "0.0%", "100%", "100.0%"}


@pytest.mark.slow
def test_a_list_has_the_same_digits_beside_its_class_and_in_its_own_table():
    frame = simulated({"men": ["he", "him", "his"], "women": ["she", "her", "hers"]})
    fit = believed(made_up_fit(frame, "default", noise=0.3, chains=_CHAINS, draws=_DRAWS, seed=shifted(3)))
    lines = list(told(of_fit(fit, 0.89, 0.03)))
    beside = [line.split(" | ")[-3:-1] for line in lines if line.startswith("t-sides: ")]
    own = [line for line in lines if line.startswith("t-stereotype: ")]
    assert beside
    for mean, interval in beside:
        assert any(f" | {mean} | " in line and f" | {interval} | " in line for line in own)


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ((0.759, 0.12, 0.08, 0.041), ["76%", "12%", "8%", "4%"]),  # not 80%, 12%, 8%, 4%
        ((0.759, 0.241, math.nan, math.nan), ["80%", "20%", "–", "–"]),
    ],
)
def test_parts_of_a_whole_have_as_many_digits(shares, said):
    values = {f"share_{kind}": each for kind, each in zip(_KINDS, shares, strict=True)}
    errors = {
        f"mcse_share_{kind}": error for kind, error in zip(_KINDS, (0.011, 0.001, 0.001, 0.001), strict=True)
    }
    row = SimpleNamespace(contrast=1.0, **values, **errors)
    shown = [each for each in contrast_columns(0.89, False) if each.heading.startswith("variance")]
    assert [column.cell(row).text for column in shown] == said


def test_both_ends_of_shares_have_as_many_digits():
    assert digits.shares_printed([0.004, 0.0812], 0.001) == ["0.4%", "8.1%"]
    row = SimpleNamespace(
        mean=-0.1, opposite=0.04, opposite_low=0.004, opposite_high=0.0812, mcse_opposite=0.0004, mcse_opposite_low=0.001,
        mcse_opposite_high=0.0005,
    )  # fmt: skip
    assert [column.cell(row).text for column in new_word_columns(0.89)[-2:]] == ["4%", "0.4% to 8.1%"]
    row.mean = 0.1  # of all rows it is the share above zero
    assert [column.cell(row).text for column in new_word_columns(0.89)[-2:]] == ["96%", "91.9% to 99.6%"]


@pytest.mark.parametrize(
    ("low", "high", "errors", "said"),
    [
        (-0.041, -0.0043, (0.002, 0.001), "-0.041 to -0.004"),
        (-0.041, 0.0043, (0.002, 0.001), "-0.041 to +0.004"),
        (-0.0004, 0.3, (0.00001, 0.0001), "-0.0004 to +0.3000"),
        (-0.00001, 0.0, (math.nan, math.nan), "0.000 to 0.000"),
        (-0.00001, 0.00002, (1e-7, 1e-7), "0.000 to 0.000"),
        (-0.00001, 0.3, (1e-7, 1e-4), "-0.00001 to +0.300"),
        (0.000012, 0.00003, (1e-7, 1e-7), "+0.00001 to +0.00003"),
        (0.000012, 0.00003, (1e-5, 1e-5), "0.000 to 0.000"),  # of which no sign is known
        (-0.041, -0.0015, (0.002, 0.001), "-0.04 to 0.00"),  # of which no sign is known
    ],
)
def test_an_end_that_is_clear_of_zero_is_not_printed_as_zero(low, high, errors, said):
    row = {"hpdi_low": low, "hpdi_high": high, "mcse_low": errors[0], "mcse_high": errors[1]}
    assert " to ".join(digits.ends_as_known(row, signed=True)) == said
    assert digits.interval_known(row, signed=True) == said.replace("-", "−")
    (cell,) = [columns.interval("", "hpdi_low", "hpdi_high", signed=True).cell(row)]
    # In a table of which the mean has the usual digits the ends have no more.
    assert cell.typed == ("0.000 to 0.000" if said == "+0.00001 to +0.00003" else said)
