"""What ``bayesbias sentiment`` prints: tables and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayesbias.cli import screen

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit
    from bayesbias.studies.sentiment import SentimentAnalysis

_SHOWN = 4  # rows at either end of a list


def print_sentiment(analysis: SentimentAnalysis, fit: BiasFit | None, prob: float) -> None:
    """Print what the tests and the fit, if there is one, say; then the tables they rest on."""
    from bayesbias.columns.sentiment import test_columns
    from bayesbias.columns.table import screen_table
    from bayesbias.findings.sentiment import findings_of_sentiment, signed
    from bayesbias.inference.verdicts import sentiment_verdict
    from bayesbias.runs.sentiment import first_of_tests
    from bayesbias.studies.sentiment_fit import SENTIMENT_ESTIMANDS

    interval = f"{prob:.0%} HPDI"
    screen.lines([*findings_of_sentiment(analysis if fit is None else fit, prob).lines(), ""])
    for name in analysis.classifiers:
        account = analysis.as_dict(name)
        tests = [{"unit": "sentence_pair"} | row for row in (account, *account["units"])]
        title = f"{name}: paired t-tests of male against female"
        screen.show(screen_table(title, test_columns({}), tests))
        if fit is not None and fit.diagnostics()["ok"]:
            rows = []
            for estimand, holds in SENTIMENT_ESTIMANDS.items():
                row = first_of_tests(fit.summary(prob, estimand), name)
                ends = row["hpdi_low"], row["hpdi_high"]
                mean, low, high = signed(row["mean"], *ends)
                rows.append([holds, mean, f"{low} to {high}", sentiment_verdict(*ends)])
            scale = "log odds" if fit.spec.outcome == "logit_difference" else "probability"
            screen.table(
                f"{name}: female - male by the model {fit.spec.name}, in {scale}",
                ["holds for", "#mean", f"#{interval}", "#verdict"],
                rows,
            )
        pairs = [[r["noun_pair"], f"{r['difference']:+.3f}"] for r in account["noun_pairs"]]
        screen.table(f"{name}: noun pairs", ["noun pair", "#female - male"], _ends(pairs))
        professions = [
            [r["profession"], f"{r['sentiment']:.3f}", f"{r['difference']:+.3f}"]
            for r in account["professions"]
        ]
        screen.table(
            f"{name}: professions, by their sentiment",
            ["profession", "#sentiment", "#female - male"],
            _ends(professions),
        )
    if fit is not None:
        screen.converged(fit.diagnostics())


def _ends(rows: list[list[str]]) -> list[list[str]]:
    if len(rows) <= 2 * _SHOWN + 1:
        return rows
    return [*rows[:_SHOWN], ["...", *[""] * (len(rows[0]) - 1)], *rows[-_SHOWN:]]
