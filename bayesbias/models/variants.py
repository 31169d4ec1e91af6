"""Models made from others: with slopes, without terms that a table cannot tell, or rescaled."""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias.core import InputError, checks
from bayesbias.core.files import toml_text
from bayesbias.models.design import Design, determined
from bayesbias.models.spec import ModelSpec, load_model, parse_model

type Columns = str | Sequence[str | Sequence[str]]
"""Columns that slopes differ by, each alone or several together."""
SLOPE_SD = 0.1
"""Prior sd of a slope on distances, for one standard deviation of the covariate.

What the models give a difference.
"""

# The same by outcome; of a logit half of what a prior gives the overall difference, as of
# distances.
_SD_OF = {"distance": SLOPE_SD, "change": SLOPE_SD, "difference": 0.1, "logit_difference": 0.5}
# Whose words a slope on a covariate of some word scatters over: those on the other side of a pair.
_ACROSS: dict[str, tuple[str, ...]] = {
    "protected_word": ("attribute",),
    "attribute": ("protected_word",),
    "profession": ("noun_pair", "classifier"),
    "noun_pair": ("profession", "classifier"),
}
_LEAST = 3  # labels that a slope scatters over
_FEWEST_FOR_A_SCALE = 3  # effects of a group that has an SD of its own


def slopes_for(
    model: checks.FilePath | ModelSpec,
    table: pd.DataFrame | Any,
    covariate: str,
    by: Columns | None = None,
) -> ModelSpec:
    """Return the model with the slopes on a covariate that its table calls for (``--slope``).

    The slope differs by what the results of the model are for, and scatters over the words of the
    other side: of a covariate about protected words over attributes, so that its interval is that
    of new attributes. A word's own deviation from the line is in the model already. The prior is as
    wide as a difference of the outcome may be for one standard deviation.

    Parameters
    ----------
    model : str, path or ModelSpec
        The model to change.
    table : DataFrame or PairTable
        With the covariate as a column, which is that of one of the model's units.
    covariate : str
        Column of numbers in the table.
    by : sequence, optional
        As of `with_slopes`.

    Returns
    -------
    ModelSpec

    Raises
    ------
    InputError
        If the column is missing, is not numeric, or differs within every unit, so that it is not a
        covariate.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "weat7", controls="none")
    >>> length = {"length": {word: len(word) for word in bb.load_wordlist("weat7").protected_words}}
    >>> spec = slopes_for("default", bb.tables.join_covariates(table, length), "length")
    >>> spec.name, spec.parameters["slope_length_attribute"].dims
    ('default + length', ('attribute',))
    """
    spec = load_model(model)
    frame = getattr(table, "frame", table)
    checks.columns(frame, (), "table", "a PairTable or a data frame")
    numbers = frame.select_dtypes(["float", "integer"]).columns
    usable = [str(name) for name in numbers if name != spec.outcome]
    if not usable:
        raise InputError(
            "expected a table with a column of numbers to have slopes on, got none",
            where="table",
            hint="join one by --covariates FILE or, in Python, by join_covariates",
        )
    checks.choice(covariate, usable, "the table, covariate")
    units = [unit for unit in spec.units if unit in frame and not _varies(frame, covariate, [unit])]
    if not units:
        raise InputError(
            f"expected a covariate of {' or of '.join(spec.units)}, got {covariate!r}, which varies "
            "within each",
            where=spec.label,
        )
    unit = units[0]
    for each in ((), *_several(by or ())):
        columns = list(_columns(each, "by")) if each else []
        if set(columns) <= set(frame.columns) and not _varies(frame, covariate, columns):
            within = f"for all words of each {' and '.join(columns)}" if columns else "in all rows"
            raise InputError(
                f"expected a covariate that differs, got {covariate!r}, which is the same {within}",
                where="by" if columns else "slope",
            )
    across = tuple(name for name in _ACROSS.get(unit, ()) if name in spec.units)
    enough = bool(across) and frame[across[0]].nunique() >= _LEAST
    sd = _SD_OF.get(spec.outcome, SLOPE_SD)
    return with_slopes(spec, covariate, by, varying=[across] if enough else [], sd=sd)


def _varies(frame: pd.DataFrame, covariate: str, columns: Sequence[str]) -> bool:
    """Say whether a covariate differs between rows with the same labels in some columns."""
    present = frame[frame[covariate].notna()]
    if not columns:
        return bool(present[covariate].nunique() > 1)
    return bool(present.groupby(list(columns), observed=True)[covariate].nunique().max() > 1)


def with_slopes(
    model: checks.FilePath | ModelSpec,
    covariate: str,
    by: Columns | None = None,
    *,
    varying: Columns = (),
    sd: float = SLOPE_SD,
) -> ModelSpec:
    r"""Return the model with slopes on a covariate added to its mean.

    With :math:`x` the covariate of a row, the mean gains :math:`x \, (s + \sum_k s_k[j_k] + \sum_l
    r_l[i_l])`: a slope that all rows share, what the labels of each column of `by` differ from it,
    and what those of `varying` scatter around it.

    Parameters
    ----------
    model : str, path or ModelSpec
        As of `bayesbias.load_model`; of a model that has slopes already further ones, of another
        covariate.
    covariate : str
        A column of the table, best centred and in standard deviations, as
        `bayesbias.tables.join_covariates` makes it. It must be that of a word, or of whatever one
        of the model's ``units`` is.
    by : sequence, optional
        Columns, or several joined (``("protected_class", "connection")``), whose labels are all
        there are and have a slope each. By default the column that the results of the model are
        for: the connection. With ``()`` one slope alone.
    varying : sequence, optional
        Columns whose labels are a sample of more, each with a slope of its own around the others:
        ``"attribute"`` for a covariate about protected words, since attributes differ in how their
        distances go with it. Without, the interval of a slope is that of the listed attributes.
    sd : float > 0, default 0.1
        Prior standard deviation of each slope, in units of the outcome for one standard deviation
        of the covariate. The spread of those that vary has an exponential prior with this mean.

    Returns
    -------
    ModelSpec
        Its parameters are ``slope_FACT``, ``slope_FACT_COLUMN`` and, with their spread,
        ``slope_FACT_COLUMN_sd``; its name is that of the model and the covariate. Its text is a
        model file like any other.

    Raises
    ------
    InputError
        For a covariate that the model has already, is its outcome, or holds labels for it; and for
        columns named twice.

    Notes
    -----
    Means and contrasts of a fit are those of words with the covariates of the listed ones: what
    slopes carry is part of them.

    Examples
    --------
    >>> import bayesbias as bb
    >>> spec = with_slopes(
    ...     "default", "log_frequency", by=["protected_class"], varying=["protected_word"]
    ... )
    >>> spec.name, spec.covariates()
    ('default + log_frequency', ['log_frequency'])
    >>> spec.mu[-3:-1]
    ('slope_log_frequency', 'slope_log_frequency_protected_class')
    >>> spec.parameters["slope_log_frequency_protected_word"].args["sigma"]
    'slope_log_frequency_protected_word_sd'
    """
    spec = load_model(model)
    checks.text(covariate, "covariate")
    if covariate in (*spec.parameters, *spec.covariates()):
        raise InputError(
            "expected a covariate that is no parameter and has no slopes yet",
            where=spec.label,
            found=covariate,
        )
    checks.positive(sd, "sd")
    fixed = [_columns(each, "by") for each in _several(spec.results.group if by is None else by)]
    free = [_columns(each, "varying") for each in _several(varying)]
    checks.distinct([" x ".join(each) for each in (*fixed, *free)], "column", "by and varying")
    stem = "slope_" + re.sub(r"\W", "_", covariate)
    added: dict[str, dict[str, Any]] = {}
    terms = []
    for dims in ((), *fixed, *free):
        name = "_".join((stem, *dims))
        scatters = bool(dims) and dims in free
        added[name] = {
            **({"dims": list(dims)} if dims else {}),
            "distribution": "Normal",
            "mu": 0,
            "sigma": f"{name}_sd" if scatters else float(sd),
            "times": covariate,
        }
        terms.append(name)
        if scatters:
            added[f"{name}_sd"] = {"distribution": "Exponential", "lam": round(1 / float(sd), 12)}
    document = tomllib.loads(spec.text)
    document["name"] = f"{spec.name} + {covariate}"
    document["likelihood"]["mu"] = [*spec.mu, *terms]
    document["parameter"] |= added
    return _of_document(document, spec)


def _several(given: Columns) -> Sequence[str | Sequence[str]]:
    """Return what slopes differ by; the name of one column is one of them."""
    return (given,) if isinstance(given, str) else given


def _columns(given: str | Sequence[str], where: str) -> tuple[str, ...]:
    """Return the columns that one kind of slopes differs by."""
    names = [given] if isinstance(given, str) else list(given)
    return checks.distinct(checks.texts(names, where, 1), "column", where)


def with_factors(
    spec: ModelSpec,
    factors: Mapping[str, str],
    words_cross: bool = False,
    left_out: Collection[tuple[str, str]] = (),
) -> ModelSpec:
    """Return the model of responses with effects of the factors that groups cross.

    Beside each effect of groups by items or by templates it has one of each factor: if women and men
    differ from item to item, the same holds for all cells of women.

    Parameters
    ----------
    spec : ModelSpec
        A model whose results are for groups under models.
    factors : Mapping of str to str
        The column of each factor.
    words_cross : bool
        Whether a word belongs to several groups. Then it also has an effect in each.
    left_out : collection of (str, str)
        Factors that have no effect by a column, item or template; a note names them.

    Examples
    --------
    >>> spec = with_factors(load_model("responses"), {"age": "factor age", "gender": "factor gender"})
    >>> [name for name in spec.mu if name.startswith(("age", "gender"))]
    ['age_by_item', 'gender_by_item', 'age_by_template', 'gender_by_template']
    """
    document = tomllib.loads(spec.text)
    parameters, terms = document["parameter"], list(spec.mu)

    def add(name: str, like: str, dims: list[str]) -> None:
        sd = spec.parameters[like].args["sigma"]
        scale = {key: value for key, value in parameters[str(sd)].items() if key != "dims"}
        parameters[name] = {**parameters[like], "dims": dims, "sigma": f"{name}_sd"}
        parameters[f"{name}_sd"] = scale
        terms.insert(terms.index(like), name)

    for like in ("group_by_item", "group_by_template"):
        if like not in spec.mu:
            continue
        other = spec.parameters[like].dims[1]
        for factor, column in factors.items():
            name = f"{re.sub(r'\W', '_', factor)}_by_{other}"
            if not name.isidentifier() or name in parameters:
                name = f"factor_{name}"
            if (factor, other) not in left_out:
                add(name, like, [column, other])
    if words_cross and "group_by_word" not in spec.mu:
        add("group_by_word", "word_effect", ["group", "word"])
    document["likelihood"]["mu"] = terms
    if left_out:
        unseen = ", ".join(f"{factor} by {other}" for factor, other in left_out)
        note = (
            f"Left out, since the means of cells show no such effects (F test, p > .2): {unseen}."
        )
        document["notes"] = [*spec.notes, note]
    fixed = dict.fromkeys([*spec.results.fixed, *factors.values()])
    document["results"]["fixed"] = [name for name in fixed if name != spec.results.group]
    return _of_document(document, spec)


def with_categories(spec: ModelSpec, columns: Sequence[str]) -> ModelSpec:
    """Return the model whose means keep the effects of some columns: categories, not samples of more.

    Examples
    --------
    >>> with_categories(load_model("responses_paired"), ["item"]).results.fixed
    ('series', 'item')
    """
    document = tomllib.loads(spec.text)
    fixed = dict.fromkeys([*spec.results.fixed, *columns])
    document["results"]["fixed"] = [name for name in fixed if name != spec.results.group]
    return _of_document(document, spec)


def with_covariates(spec: ModelSpec, covariates: Sequence[str], weights: str = "") -> ModelSpec:
    """Return the model with a slope on each covariate, and with weights of its rows.

    A slope has the prior of the first term of the mean: one SD of numbers, 2.5 of log odds.

    Parameters
    ----------
    spec : ModelSpec
    covariates : sequence of str
        Columns of numbers around zero.
    weights : str
        The column of the numbers of observations that outcomes are the means of.

    Examples
    --------
    >>> spec = with_covariates(load_model("responses"), ["adjust age"], "weight")
    >>> spec.mu[-1], spec.parameters["adjust_1"].covariate, spec.weights
    ('adjust_1', 'adjust age', 'weight')
    """
    document = tomllib.loads(spec.text)
    sigma = document["parameter"][spec.mu[0]]["sigma"]
    terms = [f"adjust_{number}" for number in range(1, len(covariates) + 1)]
    for term, column in zip(terms, covariates, strict=True):
        prior = {"distribution": "Normal", "mu": 0, "sigma": sigma, "times": column}
        document["parameter"][term] = prior
    document["likelihood"]["mu"] = [*spec.mu, *terms]
    if weights:
        document["likelihood"]["weights"] = weights
    return _of_document(document, spec)


def with_raters(spec: ModelSpec, column: str) -> ModelSpec:
    """Return the model of responses with effects of who rated the answers.

    Raters differ in all answers, and in how they rate groups. Both effects are those of new raters,
    with the priors of items and of groups by items. ``new_words`` and ``new_prompts`` keep the raters.

    Parameters
    ----------
    spec : ModelSpec
    column : str
        The column of raters.

    Examples
    --------
    >>> spec = with_raters(load_model("responses"), "rater")
    >>> spec.mu[-2:], spec.results.estimands["new_words"]
    (('rater_effect', 'group_by_rater'), ('template', 'item', 'rater'))
    """
    document = tomllib.loads(spec.text)
    parameters = document["parameter"]
    added = {"rater_effect": ("item_effect", [column]), "group_by_rater": ("group_by_item", ["group", column])}  # fmt: skip
    for name, (like, dims) in added.items():
        scale = f"{name.removesuffix('_effect')}_sd"
        parameters[name] = {**parameters[like], "dims": dims, "sigma": scale}
        parameters[scale] = dict(parameters[str(parameters[like]["sigma"])])
    document["likelihood"]["mu"] = [*spec.mu, *added]
    document["likelihood"]["units"] = [*spec.units, column]
    for estimand in document["results"]["estimand"].values():
        estimand["held"] = [*estimand["held"], column]
    return _of_document(document, spec)


def trimmed(spec: ModelSpec, frame: pd.DataFrame) -> ModelSpec:
    """Return the model without the terms of which a table can say nothing.

    A term goes where its entries divide the rows as those of another location parameter do, or not
    at all, or into single rows as the noise does: the effect of a template where every word stands
    in the same one, or of a word's sentence where each word has one sentence. It also goes where a
    mean without an SD of its own fixes its entry: group by template where two models answer one
    template, since each group and model has a mean. Kept, such a term would have the SD of its
    prior, and so would every statement about new templates. SDs of groups with few entries become
    one (`with_scales_in_common`).

    Parameters
    ----------
    spec : ModelSpec
        The model.
    frame : DataFrame
        The rows to be fitted.

    Returns
    -------
    ModelSpec
        The same model where every term is needed; else a note names what was left out.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesbias import load_model
    >>> frame = pd.DataFrame(
    ...     {
    ...         "protected_word": ["she", "he"] * 2,
    ...         "attribute": ["nurse"] * 2 + ["boss"] * 2,
    ...         "connection": ["associated", "different"] * 2,
    ...         "distance": [0.7, 0.8, 0.9, 0.7],
    ...     }
    ... )
    >>> trimmed(load_model("crossed"), frame).mu
    ('word_by_connection', 'attribute_effect')
    """
    spec = with_scales_in_common(spec, frame)
    design = Design.of(spec, frame)
    # A slope divides rows as a mean may, and says something else.
    level = [name for name in spec.location_parameters() if spec.parameters[name].covariate is None]
    free = [
        name for name in spec.mu
        if name in level and spec.is_random(name)
        and not isinstance(spec.parameters[name].args["mu"], str)
    ]  # fmt: skip
    n = len(design.y)
    means = [m for m in level if m not in design.only and not spec.is_random(m)]
    seen = {_partition(np.zeros(n, dtype=np.int64)): "no difference"}
    if design.weights is None and not design.outcome_type.row_effects(design.trials):
        seen[_partition(np.arange(n))] = "the noise"
    gone = {}
    for name in [*(name for name in level if name not in free), *free]:
        entries = design.index[name]
        has = design.only.get(name)
        key = _partition(entries if has is None else np.where(has, entries + 1, 0))
        if name in free:
            twins = (m for m in means if determined(design.index[m], entries) is not None)
            twin = seen[key] if key in seen else next(twins, None)
            if twin is not None:
                gone[name] = twin
        seen.setdefault(key, name)
    if not gone:
        return spec
    terms = ", ".join(f"{name} (from {twin})" for name, twin in gone.items())
    return without_terms(
        spec, gone, f"Left out, since the table cannot tell these terms from others: {terms}."
    )


def with_scales_in_common(spec: ModelSpec, frame: pd.DataFrame) -> ModelSpec:
    """Return the model with one SD where a table has too little for one a group.

    The SD of the words of each group needs words that belong to one group, and at least three in
    each. With two words a group, in 200 simulated tables of 12 groups whose words vary alike, new
    words were covered .82 by one SD a group and .88 by one SD for all.

    Parameters
    ----------
    spec : ModelSpec
        The model.
    frame : DataFrame
        The rows to be fitted.

    Returns
    -------
    ModelSpec
        The same model where each SD has enough; else a note names the others.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesbias import load_model
    >>> frame = pd.DataFrame({"group": ["a", "a", "b", "b"], "word": ["p", "q", "r", "s"]})
    >>> with_scales_in_common(load_model("responses"), frame).parameters["word_sd"].dims
    ()
    """
    in_common = []
    for effect in spec.parameters.values():
        name = effect.args.get("sigma")
        labels = [] if not isinstance(name, str) else [*spec.parameters[name].dims]
        if not labels or {*labels} <= {*effect.dims}:
            continue
        if not {*effect.dims, *labels} <= {*frame.columns}:
            continue  # what Design refuses
        entries = frame[[*dict.fromkeys([*effect.dims, *labels])]].drop_duplicates()
        divided = entries.duplicated([*effect.dims]).any()
        if divided or entries.groupby(labels).size().min() < _FEWEST_FOR_A_SCALE:
            in_common.append(str(name))
    if not in_common:
        return spec
    document = tomllib.loads(spec.text)
    for name in in_common:
        del document["parameter"][name]["dims"]
    document["notes"] = [
        *spec.notes,
        f"One SD for all groups, since some have too few: {', '.join(in_common)}.",
    ]
    return _of_document(document, spec)


def without_terms(spec: ModelSpec, terms: Collection[str], note: str) -> ModelSpec:
    """Return the model without some terms of its mean, and without what only they used.

    Parameters
    ----------
    spec : ModelSpec
        The model.
    terms : collection of str
        Terms of the mean.
    note : str
        Why; the last of the notes of the model that is returned.
    """
    kept = [name for name in spec.mu if name not in terms]
    used = {value for value in spec.noise.values() if isinstance(value, str)}
    waiting = list(kept)
    while waiting:
        name = waiting.pop()
        used.add(name)
        parameter = spec.parameters[name]
        waiting += [value for value in parameter.args.values() if isinstance(value, str)]
    document = tomllib.loads(spec.text)
    document["likelihood"]["mu"] = kept
    document["notes"] = [*spec.notes, note]
    document["parameter"] = {
        name: document["parameter"][name] for name in spec.parameters if name in used
    }
    return _of_document(document, spec)


def _of_document(document: dict[str, Any], spec: ModelSpec) -> ModelSpec:
    text = toml_text(document).encode("utf-8")
    return replace(parse_model(text, spec.origin or document["name"]), origin=spec.origin)


def scaled(spec: ModelSpec, center: float, sd: float) -> ModelSpec:
    """Return a model with priors in units of the outcome, from priors in SDs around its center.

    Parameters
    ----------
    spec : ModelSpec
        Its first term is the mean that priors are around.
    center, sd : float
        In units of the outcome.

    Returns
    -------
    ModelSpec
        A note names the unit.
    """
    document = tomllib.loads(spec.text)
    for table in document["parameter"].values():
        for arg in ("sigma", "beta"):
            if not isinstance(table.get(arg, ""), str):
                table[arg] = float(table[arg] * sd)
        if "lam" in table:
            table["lam"] = float(table["lam"] / sd)
    document["parameter"][spec.mu[0]]["mu"] = float(center)
    document["notes"] = [*spec.notes, f"The unit of the priors is {sd:.6g}, around {center:.6g}."]
    return _of_document(document, spec)


def centered(spec: ModelSpec, center: float) -> ModelSpec:
    """Return a model whose first term, the means of groups, has its prior around a number.

    Parameters
    ----------
    spec : ModelSpec
    center : float
        On the scale of the linear predictor, such as log odds.

    Examples
    --------
    >>> from bayesbias import load_model
    >>> centered(load_model("responses_choice"), -3.0).parameters["arm_mean"].args["mu"]
    -3.0
    """
    document = tomllib.loads(spec.text)
    document["parameter"][spec.mu[0]]["mu"] = center
    document["notes"] = [*spec.notes, f"The prior of {spec.mu[0]} is around {center:.4g}."]
    return _of_document(document, spec)


def with_levels(spec: ModelSpec, counts: Sequence[int]) -> ModelSpec:
    """Return a model of ordered levels with the cuts that a table needs, its priors around the data.

    The means of groups are around the log odds of an answer above the lowest level. The prior of a gap
    between two cuts is around the difference in log odds of all answers.

    Parameters
    ----------
    spec : ModelSpec
        Its likelihood is ``Ordered``, with the gaps as parameters.
    counts : sequence of int
        How many answers have each level, at least one.

    Examples
    --------
    >>> spec = with_levels(load_model("responses_ordered"), [60, 25, 15])
    >>> list(spec.noise), round(spec.parameters["arm_mean"].args["mu"], 2)
    (['gap_2'], -0.4)
    >>> round(spec.parameters["gap_2"].args["mu"], 2)
    0.27
    """
    above = np.cumsum(np.asarray(counts)[::-1])[::-1][1:]
    log_odds = np.log((above + 0.5) / (np.sum(counts) - above + 0.5))
    gaps = -np.diff(log_odds)

    document = tomllib.loads(spec.text)
    for number, key in enumerate(spec.noise):
        name = document["likelihood"][key]
        if number < len(gaps):
            document["parameter"][name]["mu"] = float(np.log(gaps[number]))
        else:
            del document["likelihood"][key], document["parameter"][name]
    document["notes"] = [*spec.notes, "The priors of gaps are around those of all answers."]
    return centered(_of_document(document, spec), float(log_odds[0]))


def _partition(index: np.ndarray) -> bytes:
    """Return how flat entries divide the rows, whatever the entries are called."""
    first, codes = np.unique(index, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[codes].tobytes()
