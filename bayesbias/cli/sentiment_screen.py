"""What ``bayesbias sentiment`` prints: tables and sentences."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit
    from bayesbias.studies.sentiment import SentimentAnalysis

_SHOWN = 4  # rows at either end of a list


def print_sentiment(analysis: SentimentAnalysis, fit: BiasFit | None, prob: float, files: list[Path]) -> None:
    """Print the published analysis, the fit if there is one, doubts, and the files written."""
    import sys

    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from bayesbias.findings.sentiment import findings_of_sentiment, signed
    from bayesbias.inference.verdicts import sentiment_verdict
    from bayesbias.runs.sentiment import first_of_tests
    from bayesbias.studies.sentiment_fit import SENTIMENT_ESTIMANDS

    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 120)

    def show(title: str, head: list[str], rows: Iterable[list[str]]) -> None:
        table = Table(
            title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1)
        )
        for place, column in enumerate(head):
            table.add_column(column, no_wrap=True, justify="right" if place else "left")
        for row in rows:
            table.add_row(*map(escape, row))
        console.print(table)

    def number(value: Any, form: str) -> str:
        return "-" if value is None else format(value, form)

    interval = f"{prob:.0%} HPDI"
    findings = findings_of_sentiment(analysis if fit is None else fit, prob)
    for name, part in zip(analysis.classifiers, findings.parts, strict=True):
        found = analysis.as_dict(name)
        show(
            f"{name}: paired t-tests of male against female",
            ["one observation is", "n", "female - male", "t (male - female)", "p"],
            [
                [
                    row.get("unit", "sentence_pair").replace("_", " "),
                    str(row["n"]),
                    f"{row['f_minus_m']:+.4f}",
                    number(row["t"], ".2f"),
                    number(row["p_value"], ".2g"),
                ]
                for row in (found, *found["units"])
            ],
        )
        if fit is not None and fit.diagnostics()["ok"]:
            rows = []
            for estimand, holds in SENTIMENT_ESTIMANDS.items():
                row = first_of_tests(fit.summary(prob, estimand), name)
                ends = row["hpdi_low"], row["hpdi_high"]
                mean, low, high = signed(row["mean"], *ends)
                rows.append([holds, mean, f"{low} to {high}", sentiment_verdict(*ends)])
            scale = "log odds" if fit.spec.outcome == "logit_difference" else "probability"
            show(
                f"{name}: female - male by the model {fit.spec.name}, in {scale}",
                ["holds for", "mean", interval, "verdict"],
                rows,
            )
        pairs = [[r["noun_pair"], f"{r['difference']:+.3f}"] for r in found["noun_pairs"]]
        show(f"{name}: noun pairs", ["noun pair", "female - male"], _ends(pairs))
        professions = [
            [r["profession"], f"{r['sentiment']:.3f}", f"{r['difference']:+.3f}"]
            for r in found["professions"]
        ]
        show(
            f"{name}: professions, by their sentiment",
            ["profession", "sentiment", "female - male"],
            _ends(professions),
        )
        for line in part.lines():
            console.print(escape(line))
        console.print()
    if fit is not None and (state := fit.diagnostics())["ok"]:
        console.print(
            f"converged: R-hat at most {state['max_r_hat']:.3f}, at least {state['min_ess_bulk']:.0f} effective draws"
        )
    for line in (*findings.statements(), *findings.closing()):
        console.print(escape(line))
    if files:
        console.print("\n".join(["written:", *(f"  {escape(str(path))}" for path in files)]))


def _ends(rows: list[list[str]]) -> list[list[str]]:
    if len(rows) <= 2 * _SHOWN + 1:
        return rows
    return [*rows[:_SHOWN], ["...", *[""] * (len(rows[0]) - 1)], *rows[-_SHOWN:]]
