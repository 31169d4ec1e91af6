"""What ``bayesbias sentiment`` prints: tables and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesbias.cli import screen
from bayesbias.core.wording import as_percent

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit
    from bayesbias.studies.sentiment import SentimentAnalysis

_SHOWN = 4  # rows at either end of a list


def print_sentiment(analysis: SentimentAnalysis, fit: BiasFit | None, prob: float) -> None:
    """Print what the tests and the fit, if there is one, say; then the tables they rest on."""
    from bayesbias.columns.sentiment import test_columns
    from bayesbias.columns.slopes import slopes_on_screen
    from bayesbias.columns.table import screen_table
    from bayesbias.findings.sentiment import findings_of_sentiment, signed_estimate
    from bayesbias.inference.scope import sure_ends
    from bayesbias.inference.verdicts import sentiment_verdict
    from bayesbias.studies.sentiment_fit import SENTIMENT_ESTIMANDS, little_of_ratings

    interval = f"{as_percent(prob)} HPDI"
    screen.lines([*findings_of_sentiment(analysis if fit is None else fit, prob).lines(), ""])
    for name in analysis.classifiers:
        account = analysis.as_dict(name)
        tests = [{"unit": "sentence_pair"} | row for row in (account, *account["units"])]
        title = f"{name}: paired t-tests of male against female"
        screen.show(screen_table(title, test_columns({}), tests))
        if fit is not None and fit.diagnostics()["ok"]:
            rows, little = [], little_of_ratings(fit)
            for estimand, holds in SENTIMENT_ESTIMANDS.items():
                frame = fit.summary(prob, estimand)
                row: Any = next(iter(frame[frame["classifier"] == name].itertuples()))
                mean, low, high = signed_estimate(row)
                verdict = sentiment_verdict(*sure_ends(row), little[name])
                rows.append([holds, mean, f"{low} to {high}", verdict])
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
    if fit is not None and fit.spec.covariates():
        title = "Slopes on covariates about professions, on average over new ones"
        screen.show(slopes_on_screen(fit.slopes(prob), prob, title))
    if fit is not None:
        screen.converged(fit.diagnostics())


def _ends(rows: list[list[str]]) -> list[list[str]]:
    if len(rows) <= 2 * _SHOWN + 1:
        return rows
    return [*rows[:_SHOWN], ["...", *[""] * (len(rows[0]) - 1)], *rows[-_SHOWN:]]
