"""A fit in a few lines: what stands where its value is printed."""

from __future__ import annotations

import contextlib
from typing import Any

from bayesbias.core.digits import as_known, ends_as_known
from bayesbias.core.errors import FitError
from bayesbias.core.formatting import as_percent

_MOST_LINES = 5  # of results
_MOST_LINES_OF_ALL = 8


def text_of_fit(fit: Any) -> str:
    """Return what a reader of a `BiasFit` wants first, in at most eight lines."""
    chains, draws = (fit.idata["posterior"].sizes[dim] for dim in ("chain", "draw"))
    source = fit.provenance.get("table", {}).get("name", "a table")
    head = f"BiasFit: model {fit.spec.name} on {source}, {len(fit.table):,} rows, {chains} x {draws} draws"
    lines = [head]
    with contextlib.suppress(FitError):  # a table without the columns of the results has no such lines
        if fit.spec.results.group == "connection":
            frame = fit.contrasts(estimand="population", level="overall")
            frame = frame.rename(columns={"contrast": "label"})
        else:
            frame = fit.summary().rename(columns={fit.spec.results.group: "label"})
        lines += [
            f"  {row.label:<24} {as_known(row, 'mean', signed=True)}  {as_percent(row.prob)} HPDI "
            f"[{', '.join(ends_as_known(row, signed=True))}]"
            for row in frame.head(_MOST_LINES).itertuples()
        ]
        if len(frame) > _MOST_LINES:
            lines.append(f"  and {len(frame) - _MOST_LINES} more")
    results = len(lines) > 1
    d = fit.diagnostics()
    more = f" (and {len(d['problems']) - 1} more)" if len(d["problems"]) > 1 else ""
    lines.append(
        f"  converged: R-hat {d['max_r_hat']:.3f}, ESS {d['min_ess_bulk']:.0f}, no divergences"
        if d["ok"]
        else f"  NOT TO BE TRUSTED YET: {d['problems'][0]}{more}"
    )
    if engine := fit.engine.in_words():
        lines.append(f"  by {engine}")
    if results and len(lines) < _MOST_LINES_OF_ALL:
        lines.append("  in sentences: bayesbias.findings_of(fit).lines()")
    return "\n".join(lines)
