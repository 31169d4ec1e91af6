"""Coverage of the models of answers on tables that are not crossed, balanced and alike.

Each design states what is hard about it. The truth is that of the simulation, for the estimand named: new words, new
prompts or both. Contrasts are of the first group with the mean of the others.
"""

import functools
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit

import bayesbias as bb
from bayesbias.simulation.coverage import standard_error_of_share

PROB = 0.89
TABLES = 500
SAMPLING = {"draws": 250, "chains": 2, "engine": "quick", "progress": False}
COLUMNS = ["group", "word", "template", "item", "outcome"]


@dataclass(frozen=True)
class Design:
    """A kind of table.

    Attributes
    ----------
    words : str
        For the row of the report.
    estimand : str
        What the intervals are for.
    least : float
        The coverage that is asked for.
    draw : callable
        ``draw(rng)`` returns rows, and the true mean of each group for the estimand.
    model : str, optional
        By default that of the answers.
    scale : str
        Of the contrasts; by default the first.
    """

    words: str
    estimand: str
    least: float
    draw: Callable[[np.random.Generator], tuple[list[tuple], np.ndarray]]
    model: str | None = None
    scale: str = ""


def crossed(
    rng,
    estimand,
    *,
    word_sds=(0.2, 0.2),
    words=10,
    templates=4,
    items=1,
    group_by_template=0.05,
    missing=0.0,
    scenarios=0,
):
    """Draw numbers of groups, each of words of its own in the same templates and items.

    With `scenarios`, each word has answers to so many of the items alone.
    """
    groups = len(word_sds)
    means = rng.normal(0, 0.1, groups)
    of_template, of_item = rng.normal(0, 0.1, templates), rng.normal(0, 0.15, items)
    apart = rng.normal(0, group_by_template, (groups, templates))
    rows, listed = [], np.zeros(groups)
    for group, word_sd in enumerate(word_sds):
        of_word = rng.normal(0, word_sd, words)
        listed[group] = of_word.mean()
        shared = of_template + apart[group]
        y = means[group] + of_word[:, None, None] + shared[:, None] + of_item
        y = y + rng.normal(0, 0.15, y.shape)
        answered = rng.random(y.shape) >= missing
        if scenarios:
            for word in range(words):
                chosen = rng.choice(items, scenarios, replace=False)
                answered[word] = np.isin(np.arange(items), chosen)
        for word, template, item in np.argwhere(answered):
            label = f"i{item}" if items > 1 else ""
            place = f"t{template}" if templates > 1 else ""
            rows.append((f"g{group}", f"g{group}w{word}", place, label, y[word, template, item]))
    if estimand == "new_words":
        means = means + apart.mean(axis=1)
    elif estimand == "new_prompts":
        means = means + listed
    return rows, means


def skewed(rng):
    """Draw scores of two groups between 0 and 1, of means .03 and .09, normal in log odds."""
    words, templates, sds = 20, 4, {"word": 0.8, "template": 0.4, "group": 0.2, "answer": 0.8}
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    spread, weights = np.sqrt(sum(sd**2 for sd in sds.values())), weights / weights.sum()
    of_template = rng.normal(0, sds["template"], templates)
    means, rows = np.array([0.03, 0.09]), []
    for group, mean in enumerate(means):

        def short(center, mean=mean):
            return expit(center + spread * nodes) @ weights - mean

        eta = brentq(short, -12, 3) + of_template + rng.normal(0, sds["group"], templates)
        eta = eta + rng.normal(0, sds["word"], words)[:, None]
        y = expit(eta + rng.normal(0, sds["answer"], eta.shape))
        rows += [
            (f"g{group}", f"g{group}w{w}", f"t{t}", "", y[w, t]) for w, t in np.ndindex(y.shape)
        ]
    return rows, means


PROMPT_SDS = (0.25, 0.5, 0.75)  # in log odds


def rare(rng, answers=150, templates=2):
    """Draw rare 0/1 answers of two groups in two prompts: rates of .5 to 8 %, without words."""
    sd = PROMPT_SDS[rng.integers(len(PROMPT_SDS))]
    centers = rng.uniform(np.log(0.005), np.log(0.08), 2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    of_template, rows, means = rng.normal(0, sd, templates), [], []
    for group, center in enumerate(centers):
        means.append(expit(center + np.sqrt(2) * sd * nodes) @ weights / weights.sum())
        eta = center + of_template + rng.normal(0, sd, templates)
        for template, chosen in enumerate(rng.binomial(answers, expit(eta))):
            outcomes = [1] * chosen + [0] * (answers - chosen)
            rows += [(f"g{group}", "", f"t{template}", "", outcome) for outcome in outcomes]
    return rows, np.array(means)


def chosen(rng, word_sds=(1.0, 1.0), words=10, templates=4, repeats=5):
    """Draw repeated 0/1 answers of groups, each of words of its own in the same templates."""
    groups = len(word_sds)
    centers, of_template = rng.normal(0, 0.7, groups), rng.normal(0, 0.4, templates)
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    rows, means = [], []
    for group, word_sd in enumerate(word_sds):
        eta = centers[group] + rng.normal(0, word_sd, words)[:, None] + of_template
        eta = eta + rng.normal(0, 0.3, templates) + rng.normal(0, 0.3, eta.shape)
        spread = np.sqrt(word_sd**2 + 0.4**2 + 2 * 0.3**2)
        means.append(expit(centers[group] + spread * nodes) @ weights / weights.sum())
        answered = rng.random((*eta.shape, repeats)) < expit(eta)[..., None]
        rows += [
            (f"g{group}", f"g{group}w{w}", f"t{t}", "", int(answered[w, t, r]))
            for w, t, r in np.ndindex(answered.shape)
        ]
    return rows, np.array(means)


CUTS = np.array([0.0, 0.8, 1.7, 2.7])  # of ratings from 1 to 5, in log odds
RATING_SDS = {"word": 0.5, "item": 0.7, "group_by_item": 0.3}


def rated(rng, words=12, items=12, level=None):
    """Draw ratings of two groups, of which about 60 % are the lowest; the truth is their mean, or P(at least level)."""
    centers = rng.normal(-0.55, 0.4, 2)
    of_item = rng.normal(0, RATING_SDS["item"], items)
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    spread = np.sqrt(sum(sd**2 for sd in RATING_SDS.values()))
    rows, means = [], []
    for group, center in enumerate(centers):
        above = expit(center + spread * nodes[:, None] - CUTS)
        above = weights @ above / weights.sum()
        means.append(1 + above.sum() if level is None else above[level - 2])
        eta = center + of_item + rng.normal(0, RATING_SDS["group_by_item"], items)
        eta = eta + rng.normal(0, RATING_SDS["word"], words)[:, None]
        ratings = 1 + np.digitize(eta + rng.logistic(size=eta.shape), CUTS)
        rows += [
            (f"g{group}", f"g{group}w{w}", "", f"i{i}", int(ratings[w, i]))
            for w, i in np.ndindex(eta.shape)
        ]
    return rows, np.array(means)


def design(about, estimand, least=0.84, **options):
    """Return a design of `crossed`."""
    return Design(about, estimand, least, functools.partial(crossed, estimand=estimand, **options))


PROMPTS = {"items": 10, "group_by_template": 0.15}
DESIGNS = {
    "balanced": design("2 groups of 10 words in 4 templates", "population", 0.87),
    "words_5_to_1": design(
        "words of the first of 5 groups vary five times as much", "new_words",
        word_sds=(0.5, 0.1, 0.1, 0.1, 0.1),
    ),
    "words_2_to_1": design(
        "words of the first of 5 groups vary 2.5 times as much", "new_words",
        word_sds=(0.5, 0.2, 0.2, 0.2, 0.2),
    ),
    "two_words": design("12 groups of 2 words", "new_words", words=2, word_sds=(0.2,) * 12),
    "two_templates": design("2 templates, 10 items", "new_prompts", 0.82, templates=2, **PROMPTS),
    "three_templates": design("3 templates, 10 items", "new_prompts", 0.82, templates=3, **PROMPTS),
    "unbalanced": design(
        "3 groups, 40 % of answers missing", "population", word_sds=(0.2,) * 3, missing=0.4
    ),
    "few_scenarios": design(
        "40 names a group, each in 3 of 30 scenarios", "population",
        words=40, templates=1, items=30, scenarios=3, group_by_template=0.0,
    ),
    "rare": Design(
        "0/1 answers, rates below 8 %, 150 answers a group to each of 2 prompts", "population", 0.84, rare
    ),
    "chosen": Design("0/1 answers: 2 groups of 10 words in 4 templates", "population", 0.87, chosen),
    "chosen_5_to_1": Design(
        "0/1 answers: words of the first of 5 groups vary five times as much", "population", 0.84,
        functools.partial(chosen, word_sds=(2.0, 0.4, 0.4, 0.4, 0.4)),
    ),
    "skewed": Design("scores near 0: means .03 and .09", "population", 0.82, skewed),
    "ordered": Design(
        "ratings of 1 to 5, 60 % at 1, as ordered levels: mean", "population", 0.84, rated, "ordered"
    ),
    "ordered_above": Design(
        "ratings of 1 to 5, 60 % at 1, as ordered levels: P(at least 2)", "population", 0.84,
        functools.partial(rated, level=2), "ordered", "at_least_2",
    ),
    "floor": Design("ratings of 1 to 5, 60 % at 1, as numbers: mean", "population", 0.84, rated),
}  # fmt: skip
PIECES = tuple(DESIGNS)


def one(name, number):
    """Fit one table; return the truth and the interval."""
    about = DESIGNS[name]
    rng = np.random.default_rng([number, list(DESIGNS).index(name), 41])
    rows, means = about.draw(rng)
    table = bb.responses_table(pd.DataFrame(rows, columns=COLUMNS))
    found = bb.fit_responses(table, about.model, seed=number, **SAMPLING)
    contrasts = found.contrasts(PROB, estimand=about.estimand, level="overall")
    contrasts = contrasts[contrasts["scale"] == (about.scale or found.main_scale)]
    label = "g0 - g1" if len(means) == 2 else "g0 - others"
    row = contrasts.set_index("contrast").loc[label]
    truth = means[0] - means[1:].mean()
    return {"truth": truth, "low": row["hpdi_low"], "high": row["hpdi_high"]}


def run(share, piece):
    """Simulate tables of a design and fit them."""
    n = max(20, round(TABLES * share))
    about = DESIGNS[piece]
    with ProcessPoolExecutor() as pool:
        frame = pd.DataFrame(pool.map(functools.partial(one, piece), range(n)))
    covered = (frame["low"] <= frame["truth"]) & (frame["truth"] <= frame["high"])
    error = standard_error_of_share(covered.mean(), n)
    reach = 3 * error if n < TABLES else 0.0
    width = (frame["high"] - frame["low"]).mean()
    yield (
        f"89 % intervals of `responses` for {about.estimand.replace('_', ' ')} include the truth: {about.words}.",
        f"{n:,} simulated tables, mean width {width:.3f}",
        f"{covered.mean():.3f} (standard error {error:.3f})",
        f"at least {about.least:.2f}",
        covered.mean() >= about.least - reach,
    )
