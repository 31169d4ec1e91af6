"""Results as text for a paper: in sentences, a paragraph on the methods, and tables in LaTeX."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from bayesbias.core import InputError, checks, join_words, number_of, some
from bayesbias.core.formatting import as_percent
from bayesbias.core.sections import Interpretation, printed
from bayesbias.inference import estimands
from bayesbias.inference.description import kinds_of, outcome_in_words
from bayesbias.inference.estimates import CONTRAST_COLUMNS, MEAN_COLUMNS, OBSERVED
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import View
from bayesbias.models.spec import ModelSpec
from bayesbias.output import registry, store
from bayesbias.studies.common import coverage_groups
from bayesbias.wordlists.wordlist import CONTROLS

PAPER = (
    "Dobrzeniecka and Urbaniak (2024, A Bayesian approach to uncertainty in word embedding bias "
    "estimation, Computational Linguistics 50(2), 563-617, doi:10.1162/coli_a_00507)"
)
MOST_NAMED = 6  # fits of one model
_LEVELS = {"between": "two groups", "others": "a group and the others"}
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


def interpret(
    result: Any,
    prob: float | None = None,
    rope: float | None = None,
    standard_rope: float | None = None,
) -> Interpretation:
    """Say in sentences what a result shows, with warnings and notes.

    Parameters
    ----------
    result : BiasFit, another result, Run, or path
        What `fit`, `compare`, `seat` or another study returned, or the folder of a run.
    prob : float in (0, 1), optional
        Probability of the intervals. By default that of the run, .89 of a result.
    rope : float, optional
        Half-width of the region of practical equivalence, in units of the outcome.
    standard_rope : float, optional
        The same in standard deviations.

    Returns
    -------
    Interpretation
        With ``headline``, ``warnings`` and ``notes``, which are printed, and ``details``: further
        sentences, such as one for each item of responses.

    Raises
    ------
    InputError
        If `result` is no result of this package, or the folder has none.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2)
    >>> bb.interpret(fit).subject
    'religion in minilm-static'
    """
    run = store.as_run(result)
    view = run.view.changed(prob=prob, rope=rope, standard_rope=standard_rope)
    return registry.interpretation(run.result, view)


def methods_paragraph(result: Any, *, view: View | None = None) -> str:
    """Describe how a result was made, as a paragraph to adapt for a paper.

    Parameters
    ----------
    result : BiasFit, another result with a fit, Run, or path
        Also what `load_run` returned, or the folder of a run.
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
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2)
    >>> text = bb.methods_paragraph(fit)
    >>> text[:100]
    'We modeled the cosine distance of 165 pairs (15 protected words, 11 stereotypes) of "religion" in mi'
    >>> "Normal(1, 0.2)" in text, "seed 1" in text
    (True, True)
    """
    run = store.as_run(result)
    _, result, view = registry.shown(run.result, view or run.view)
    fits, tests = dict(result.fits()), result.tests_in_words()
    if not fits and not tests:
        raise InputError("expected a result with a fit", where="result")

    specs = list({fit.spec.name: fit.spec for fit in fits.values()}.values())
    if tests:
        about, said = result.provenance, tests
        if specs:
            converged = sum(fit.diagnostics()["ok"] for fit in fits.values())
            said += (
                f" We also fitted a Bayesian hierarchical model to each test: {_named(specs[0])}. "
                f"{converged} of {number_of(len(fits), 'fit')} converged."
            )
    else:
        about = next(iter(fits.values())).provenance
        said = _modeled(result, fits, specs)

    said += "".join(f" {_priors(spec, several=len(specs) > 1)}" for spec in specs)
    if specs:
        said += " Normal priors are given by mean and SD, exponential priors by rate."
        said += f" {_sampling(fits, about)}. We report posterior means and {as_percent(view.prob)} "
        said += f"highest posterior density intervals{_scope(specs[0])}"
        if rope := result.rope_in_words(view):
            said += f", and the probability of lying in a region of practical equivalence of {rope}"
        said += "."
    said += getattr(result, "pooling", "")  # of replicates

    versions = about["versions"]
    used = join_words(
        f"{'Python' if n == 'python' else n} {versions[n]}"
        for n in ("bayesbias", "python", "numpy")
        if n in versions
    )
    return f"{said} We used {used}. bayesbias extends the model of {PAPER}.".replace("  ", " ")


def _modeled(result: Any, fits: Mapping[str, BiasFit], specs: Sequence[ModelSpec]) -> str:
    """Say what was modeled, with which models, what was missing, and what the contrast is."""
    first = next(iter(fits.values()))
    said = f"We modeled {result.rows_in_words()} with {_models(fits, specs)}. "
    said += _missing(first.provenance.get("coverage"), first.table)
    kinds = set(first.table.get("connection", ()))
    if first.spec.results.group == "connection" and {"associated", "different"} <= kinds:
        outcome = outcome_in_words(first.spec.outcome)
        controls = join_words([name for name in CONTROLS if name in kinds] or [""], "or")
        said += (
            " The connection of a pair is associated if its attribute belongs to the class of "
            "its word, different if it belongs to another class"
            f"{f', and {controls} if it is a control word' * bool(controls)}. The contrast "
            f"associated - different is the mean {outcome} of associated minus that of "
            "different pairs."
        )
    return said


def _named(spec: ModelSpec, fitted: str = "") -> str:
    """Name a model, with what it describes and what it was fitted to."""
    description = spec.description[:1].lower() + spec.description[1:].rstrip(".")
    return f"{spec.name} ({description}{fitted})"


def _models(fits: Mapping[str, BiasFit], specs: Sequence[ModelSpec]) -> str:
    """Name each model, what it describes, and which fits are of it."""
    said = []
    for spec in specs:
        own = [name.replace(", ", " ") for name, fit in fits.items() if fit.spec.name == spec.name]
        of = f"{len(own)} tables" if len(own) > MOST_NAMED else join_words(own)
        said.append(_named(spec, f"; fitted to: {of}" if len(fits) > 1 else ""))
    kind = "Bayesian hierarchical models" if len(specs) > 1 else "a Bayesian hierarchical model"
    return f"{kind}: {join_words(said)}"


def _priors(spec: ModelSpec, *, several: bool) -> str:
    """Name the likelihood and the priors of a model."""
    priors: dict[str, tuple[list[str], list[str]]] = {}
    random = [each for each in spec.parameters.values() if spec.is_random(each.name)]
    effects = {each.args["sigma"]: each for each in random}
    for parameter in spec.parameters.values():
        if spec.is_random(parameter.name):
            continue
        values = ", ".join(f"{value:.3g}" for value in parameter.args.values())
        names, units = priors.setdefault(f"{parameter.distribution}({values})", ([], []))
        if own := effects.get(parameter.name):
            each = own.dims if own.only else own.name.removesuffix("_effect").split("_by_")
            counted = [number_of(2, unit.removeprefix("protected_")) for unit in each]
            only = f" ({' '.join(map(str, own.only.values()))} pairs only)" if own.only else ""
            name = " by ".join(text.removeprefix("2 ") for text in counted)
            units.append(f"{name.replace('_', ' ')}{only}")
        elif parameter.name == spec.noise.get("sigma"):
            names.append("the residual SD")
        else:
            names.append(parameter.name.replace("_", " "))
    for names, units in priors.values():
        if units:
            names.append(f"the SD{'s' * (len(units) > 1)} of the effects of {join_words(units)}")
    said = "; ".join(f"{prior} for {join_words(names)}" for prior, (names, _) in priors.items())
    of = f" of {spec.name}" if several else ""
    return f"The likelihood{of} was {spec.outcome_type.words}. Its priors were {said}."


def _sampling(fits: Mapping[str, BiasFit], about: Mapping[str, Any]) -> str:
    """Say how the posterior was sampled, and the worst diagnostics of all fits."""
    sampler, versions = about["sampler"], about["versions"]
    states = [fit.diagnostics() for fit in fits.values()]
    size, thin = f"{sampler['chains']} chains of {sampler['draws']:,} draws", sampler.get("thin", 1)
    if quick := [f.engine.pareto_k or 0.0 for f in fits.values() if f.engine.name == "quick"]:
        how = (
            f"The posterior was approximated by importance sampling around its mode ({size}, "
            f"Pareto k {max(quick):.2f})"
        )
    else:
        how = (
            f"The posterior was sampled with NUTS (nutpie {versions.get('nutpie', '')}), {size} "
            f"{f'(one of {thin} kept) ' if thin > 1 else ''}after {thin * sampler['tune']:,} tuning "
            "steps"
        ).replace(" (nutpie )", "")
    if sampler.get("method") == "collapsed":
        how += "; all effects but the standard deviations were marginalized analytically"
    elif sampler.get("method") in ("variational", "laplace"):
        normal = {"variational": "a Gaussian variational", "laplace": "a Laplace"}
        how += (
            f"; given the standard deviations, {normal[sampler['method']]} approximation of all "
            "effects was used"
        )
    checked = [f"seed {sampler.get('seed', about.get('seed'))}"]
    if rhat := [state["max_r_hat"] for state in states if state["max_r_hat"] is not None]:
        checked.append(f"max R-hat {max(rhat):.3f}")
    if ess := [state["min_ess_bulk"] for state in states if state["min_ess_bulk"] is not None]:
        checked.append(f"min bulk ESS {min(ess):,.0f}")
    if states:
        checked.append(f"{sum(state['divergences'] for state in states)} divergences")
    return f"{how} ({', '.join(checked)})"


def _missing(coverage: Mapping[str, Any] | None, table: pd.DataFrame) -> str:
    """Say how many of the listed words were not in the vectors."""
    missing, listed = dict[str, set[str]](), Counter[str](kinds_of(table))
    own = "attribute" if "attribute" in listed else "stereotype"
    for side, name, group, _ in coverage_groups(coverage):
        noun = "protected word" if side == "protected" else "control" if name in CONTROLS else own
        missing.setdefault(noun, set()).update(group.missing)
        listed[noun] += group.found * group.left_out
    said = [
        f"{len(lost):,} of {listed[noun] + len(lost):,} listed {noun}s"
        for noun, lost in missing.items()
        if lost
    ]
    return f"The vectors lack {join_words(said)}, which were left out." if said else ""


def _scope(spec: ModelSpec) -> str:
    """Say which words the estimates of pairs are for."""
    if not estimands.about_pairs(spec):
        return ""
    random = [name for name in spec.location_parameters() if spec.is_random(name)]
    dims = {column for name in random for column in spec.parameters[name].dims}
    new = [f"{unit.removeprefix('protected_')}s" for unit in spec.units if unit in dims]
    if not new:
        return " for the listed words"
    return f" for new {join_words(new)} of the same kind".replace("_", " ")


def latex_table(result: Any, table: str | None = None, *, view: View | None = None) -> str:
    r"""Return a table of a result in LaTeX, for the package booktabs.

    Parameters
    ----------
    result : result, Run, path or DataFrame
        What a study or `load_run` returned, the folder of a run, or a table of estimates such as
        some rows of ``fit.contrasts()``.
    table : str, optional
        Name of the table, as of its CSV file in the folder of a run. By default the first one.
    view : View, optional
        Probability of the intervals and the regions of practical equivalence. By default those of
        the run.

    Returns
    -------
    str
        A ``tabular`` with the columns that the terminal prints, under its title as a comment.

    Raises
    ------
    InputError
        If the result has no such table, or a data frame has no estimates.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2)
    >>> print(bb.output.latex_table(fit, "summary"))  # doctest: +ELLIPSIS
    % Mean distance of each kind of pair, new words
    \begin{tabular}{lrrr}
    \toprule
    connection & mean & 89\% HPDI & pairs \\
    \midrule
    associated & 0.9... \\
    different & 0.9... \\
    \bottomrule
    \end{tabular}
    """
    title = ""
    if isinstance(result, pd.DataFrame):
        prob = result.attrs.get("prob")  # of `BiasFit.contrasts` without detail
        if "prob" in result and not result.empty:
            prob = result["prob"].iloc[0]
        if not {"mean", "hpdi_low"} <= {*result} or result.empty or prob is None:
            problem = f"expected rows with mean, hpdi_low, hpdi_high and prob, got {some(result)}"
            raise InputError(problem, where="result", hint="give a table such as fit.contrasts()")
        labels = map(str, result.columns[: list(result).index("mean")])
        numbers = (*CONTRAST_COLUMNS, OBSERVED) if "p_below_zero" in result else MEAN_COLUMNS
        shown = printed(_labels_in_words(result), [*labels, *numbers], prob)
    else:
        run = store.as_run(result)
        study, result, view = registry.shown(run.result, view or run.view)
        sections = {
            section.name: section for section in study.sections(result, view) if section.columns
        }
        name = next(iter(sections)) if table is None else checks.choice(table, sections, "table")
        frame = sections[name].frame
        if frame is None or frame.empty:
            raise InputError("the result has no rows of this table", where=name)
        title = f"% {sections[name].title}\n"
        shown = printed(_labels_in_words(frame), sections[name].columns, view.prob)
    cells = [[_latex(cell, column.is_number) for cell in cells] for column, _, cells in shown]
    written = pd.DataFrame(
        zip(*cells, strict=True), columns=[head.translate(SPECIAL) for _, head, _ in shown]
    )
    sides = "".join("r" if column.is_number else "l" for column, _, _ in shown)
    return title + written.to_latex(index=False, column_format=sides).rstrip()


def _labels_in_words(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with levels and estimands as the glossary has them: ``new words``."""
    out = rows.copy()
    if "estimand" in out:
        estimands = out["estimand"].astype(str)
        is_population = estimands.eq("population")
        estimands = estimands.mask(is_population, "new words").str.replace("_", " ")
        if "level" in out:
            estimands = estimands.mask(is_population & out["level"].eq("word"), "new attributes")
        out["estimand"] = estimands
    if "level" in out:
        out["level"] = out["level"].replace(_LEVELS).replace("_", " ", regex=True)
    return out


def _latex(cell: str, is_number: bool) -> str:
    if is_number:
        return "--" if cell == "-" else cell.translate(SPECIAL).replace("-", "$-$")
    return r"\quad " * cell.startswith(" ") + cell.strip().translate(SPECIAL)
