"""What slopes on covariates about words say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.core.digits import as_known, ends_as_known
from bayesbias.core.wording import as_percent, conjoined
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pandas as pd


def sentences_of_slopes(fit: BiasFit, prob: float) -> list[str]:
    """Say what one standard deviation of each covariate goes with, in the first contrast, or else in all that is asked of it."""
    if not fit.spec.covariates():
        return []
    covariates = fit.provenance.get("table", {}).get("covariates", {})
    units = {covariate: about.get("unit") or "in its own unit" for covariate, about in covariates.items()}
    out = _sentences_on(fit.slopes(prob), prob, fit.spec, units)
    if fit.spec.results.group == "connection":
        asked = conjoined(fit.spec.covariates())
        out.append(
            f"All differences above are of words with the {asked} that the listed ones have, not of words of one {asked}; beside "
            "a slope less is known of them where it goes with the classes."
        )
    return out


def _sentences_on(frame: pd.DataFrame, prob: float, spec: ModelSpec, units: Mapping[str, str]) -> list[str]:
    """Say it of a table of slopes."""
    of_pairs, lead = spec.results.group == "connection", "the change of " if spec.outcome == "change" else ""
    out = []
    pairwise = frame["of"].str.contains(" - ", regex=False)
    for covariate, own in frame[frame["level"] == "overall"].groupby("covariate", sort=False):
        contrasts = own[own["of"].str.contains(" - ", regex=False)]
        of_classes = (frame["covariate"] == covariate) & (frame["level"] == "class")
        if of_pairs and (of_classes & ~pairwise).any() and not (of_classes & pairwise).any():
            each = frame[of_classes & ~pairwise].drop_duplicates("name")
            by_class = ", ".join(
                f"{row.name} {as_known(row, 'mean', signed=True)} ({' to '.join(ends_as_known(row, signed=True))})"
                for row in each.itertuples(index=False)
            )
            out.append(
                f"{_for_more(covariate, each.iloc[0], units)}, {'the mean changes' if lead else 'all mean distances'} of a class "
                f"differ by: {by_class}."
            )
            out.append(
                f"All connections of a class have one slope on {covariate}, by the form of the model: no contrast within a class "
                "changes with it, and one overall only as lists of unequal length weigh classes otherwise. With a slope by "
                f"connection, too ({covariate}:protected_class,connection), contrasts would have their own."
            )
            continue
        shown: Any = contrasts.head(1) if len(contrasts) and of_pairs else own.drop(index=contrasts.index)
        for row in shown.itertuples():
            low, high = ends_as_known(row, signed=True)
            what = f"{lead}{row.of}" if of_pairs else f"the {spec.outcome.replace('_', ' ')} of {row.of}"
            out.append(
                f"{_for_more(covariate, row, units)}, {what} changes by "
                f"{as_known(row, 'mean', signed=True)} ({as_percent(prob)} HPDI {low} to {high}: {_direction(row)}), on average "
                "over new words."
            )
    return out


def _for_more(covariate: Any, row: Any, units: Mapping[str, str]) -> str:
    """Begin a sentence on what goes with more of a covariate."""
    unit = units.get(str(covariate))
    if unit is None:  # of a column that was not joined: nobody has scaled it, or said so
        return f"With one more of {covariate}, in the unit of the table's column"
    return f"With one standard deviation more of {covariate} ({row.scale:.3g} {unit})"


def _direction(row: Any) -> str:
    if row.hpdi_low - 2 * row.mcse_low > 0:
        return "it rises"
    if row.hpdi_high + 2 * row.mcse_high < 0:
        return "it falls"
    return "unclear which way"
