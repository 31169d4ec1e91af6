"""Results as text for a paper: a paragraph on the methods, and tables in LaTeX."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.formatting import as_percent, join_words, number_of
from bayesbias.core.sections import printed
from bayesbias.inference.view import View
from bayesbias.output.registry import study_of
from bayesbias.output.store import Run, load_run
from bayesbias.wordlists.wordlist import CONTROLS

__all__ = ["latex_table", "methods_paragraph"]

PAPER = (
    "Dobrzeniecka and Urbaniak (2024, A Bayesian approach to uncertainty in word embedding bias "
    "estimation, Computational Linguistics 50(2), 563-617, doi:10.1162/coli_a_00507)"
)
OUTCOMES = {"distance": "cosine distance", "change": "change in cosine distance"}
SPECIAL = str.maketrans(
    {
        **{c: f"\\{c}" for c in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
    }
)


def methods_paragraph(result: Any, *, view: View | None = None) -> str:
    """Describe how a result was made, as a paragraph to adapt for a paper.

    Parameters
    ----------
    result : BiasFit, another result with a fit, Run, or path
        Also what `load_run` returned, or the folder of a run. Of a comparison its first fit is
        described.
    view : View, optional
        Probability of the intervals and region of practical equivalence that you report. By
        default those of the run. Responses keep the region that they were fitted with.

    Returns
    -------
    str
        Data, model, priors, sampler with its diagnostics, seed, versions and what to cite.

    Raises
    ------
    InputError
        If `result` has no fit.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fit = bb.fit(
    ...     bb.distance_table("minilm-static", "religion", controls="none"),
    ...     seed=1,
    ...     draws=200,
    ...     chains=2,
    ... )
    >>> text = bb.methods_paragraph(fit)
    >>> text[:100]
    'We modeled the cosine distance of 165 rows (15 protected words, 11 attributes) of "religion" in mini'
    >>> "Normal(1, 0.2)" in text, "seed 1" in text
    (True, True)
    """
    if isinstance(result, str | os.PathLike):
        result = load_run(result)
    if isinstance(result, Run):
        view, result = view or result.view, result.result
    view, fits = view or View(), list(study_of(result).fits(result).values())
    if not fits:
        raise InputError("expected a result with a fit", where="result")
    fit = fits[0]
    spec, about, state = fit.spec, fit.provenance, fit.diagnostics()
    counts = [
        number_of(fit.table[column].nunique(), column.replace("_", " "))
        for column in spec.units
        if column in fit.table and fit.table[column].nunique() < len(fit.table)
    ]
    priors: dict[str, list[str]] = {}
    for parameter in spec.parameters.values():
        if not spec.is_random(parameter.name):
            values = ", ".join(f"{value:g}" for value in parameter.args.values())
            prior = f"{parameter.distribution}({values})"
            priors.setdefault(prior, []).append(parameter.name.replace("_", " "))
    said = [f"{prior} for {join_words(names)}" for prior, names in priors.items()]
    sampler, versions = about["sampler"], about["versions"]
    size, thin = f"{sampler['chains']} chains of {sampler['draws']:,} draws", sampler.get("thin", 1)
    if fit.engine.name == "quick":
        how = (
            f"The posterior was approximated by importance sampling around its mode ({size}, "
            f"Pareto k {fit.engine.pareto_k:.2f})"
        )
    else:
        how = (
            f"The posterior was sampled with NUTS (nutpie {versions.get('nutpie', '')}), {size} "
            f"{f'(one of {thin} kept) ' if thin > 1 else ''}after {thin * sampler['tune']:,} tuning "
            f"steps"
        )
    if sampler["method"] == "collapsed":
        how += "; all effects but the standard deviations were marginalized analytically"
    checked = [f"{state['divergences']} divergences"]
    if state["min_ess_bulk"] is not None:
        checked.insert(0, f"min bulk ESS {state['min_ess_bulk']:,.0f}")
    if state["max_r_hat"] is not None:
        checked.insert(0, f"max R-hat {state['max_r_hat']:.3f}")
    used = join_words(
        f"{name} {versions[name]}" for name in ("bayesbias", "python", "numpy") if name in versions
    )
    name = getattr(result, "subject", None) or about.get("table", {}).get("name", "a table")
    lists = (each.provenance.get("table", {}).get("wordlist") or {} for each in fits)
    words = next((each["name"] for each in lists if each), "")
    if words and name.startswith(words):
        name = f'"{words}"{name.removeprefix(words)}'
    outcome = OUTCOMES.get(spec.outcome, spec.outcome.replace("_", " "))
    description = spec.description[:1].lower() + spec.description[1:].rstrip(".")
    rope = getattr(result, "rope", view.rope)  # responses have their own
    pooled = getattr(result, "pooling", "")  # of replicates
    return (
        f"We modeled the {outcome} of {len(fit.table):,} rows "
        f"({', '.join(counts)}) of {name} with a Bayesian hierarchical model (model {spec.name}). "
        f"{_missing(about.get('coverage') or {})}It describes {description}. "
        f"The likelihood was {spec.likelihood}. Priors were {'; '.join(said)}. "
        f"{how} (seed {sampler['seed']}; {', '.join(checked)}). We report posterior means, "
        f"{as_percent(view.prob)} highest posterior density intervals, and the probability of "
        f"lying in a region of practical equivalence of ±{rope:g}. {pooled}We used {used}. "
        f"The model extends {PAPER}."
    )


def _missing(coverage: Mapping[str, Any]) -> str:
    """Say how many of the listed words were not in the vectors."""
    counts = {noun: [0, 0] for noun in ("protected words", "attributes", "control words")}
    for side, noun in (("protected", "protected words"), ("attributes", "attributes")):
        for name, group in coverage.get(side, {}).items():
            count = counts["control words" if name in CONTROLS else noun]
            count[0] += len(group["missing"])
            count[1] += group["listed"]
    said = [f"{n:,} of {of:,} {noun}" for noun, (n, of) in counts.items() if n]
    return f"The vectors lack {join_words(said)}, which were left out. " if said else ""


def latex_table(result: Any, table: str | None = None, *, view: View | None = None) -> str:
    r"""Return a table of a result in LaTeX, for the package booktabs.

    Parameters
    ----------
    result : BiasFit, Comparison, SeatResult, SentimentAnalysis, WefatResult or SweepResult
        What a study returned.
    table : str, optional
        Name of the table, as of its CSV file in the folder of a run. By default the first one.
    view : View, optional
        Probability of the intervals and the regions of practical equivalence.

    Returns
    -------
    str
        A ``tabular`` with the columns that the terminal prints.

    Raises
    ------
    InputError
        If the result has no such table.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2)
    >>> print(bb.output.latex_table(fit, "summary"))  # doctest: +ELLIPSIS
    \begin{tabular}{lrrr}
    \toprule
    connection & mean & 89\% HPDI & pairs \\
    \midrule
    associated & 0.9... \\
    different & 0.9... \\
    \bottomrule
    \end{tabular}
    """
    view = view or View()
    sections = {s.name: s for s in study_of(result).sections(result, view) if s.columns}
    name = next(iter(sections)) if table is None else checks.choice(table, sections, "table")
    section = sections[name]
    frame = section.frame
    if frame is None or frame.empty:
        raise InputError("the result has no rows of this table", where=name)
    shown = printed(frame, section.columns, view.prob)
    columns = [
        [head.translate(SPECIAL), *map(_number if column.is_number else _text, cells)]
        for column, head, cells in shown
    ]
    rows = [" & ".join(row) + r" \\" for row in zip(*columns, strict=True)]
    sides = "".join("r" if column.is_number else "l" for column, _, _ in shown)
    lines = [r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"]
    return "\n".join([rf"\begin{{tabular}}{{{sides}}}", *lines, r"\end{tabular}"])


def _text(cell: str) -> str:
    indent = r"\quad " if cell.startswith(" ") else ""
    return indent + cell.strip().translate(SPECIAL)


def _number(cell: str) -> str:
    return cell.translate(SPECIAL).replace("-", "$-$") if cell != "-" else "--"
