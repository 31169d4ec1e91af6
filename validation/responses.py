"""Coverage of the models of responses: tables with the layout and the SDs of real answers.

Numbers: probabilities of a sentiment classifier (BERT) for 40 nouns by 20 professions. Paired numbers: differences of
log probabilities, *she* minus *he*, in 60 occupations by 4 sentences (Winogender). Choices: the age stereotype in the
answers of a chat model, 50 to each of 64 questions; and of two models that answer about 8 stereotypes, with the SDs of
all 14 stereotypes in these answers, and half of each SD for what the models differ in. The value asked for is the
difference for new words, items and templates.
"""

import functools
import math
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit

import bayesbias as bb
from bayesbias.simulation.coverage import standard_error_of_share

PROB = 0.89
TABLES = 1000
LEAST, MOST = 0.87, 0.91
PAIRED = "responses_paired"  # four templates say little about their SD: it may cover more often
TEMPLATE_SDS = (0.17, 0.5, 1.0)  # of sentences; the first is that of the real differences
SAMPLING = {"draws": 500, "tune": 500, "chains": 2, "progress": False}


def numbers(rng):
    """Draw numbers of groups with words of their own, and return them with the true difference."""
    words, items, true = 20, 20, rng.normal(0, 0.1)
    shared = rng.normal(0, 0.166, items)
    rows = []
    for group, mean in (("a", true / 2), ("b", -true / 2)):
        own = shared + rng.normal(0, 0.019, items)
        y = mean + rng.normal(0, 0.223, words)[:, None] + own + rng.normal(0, 0.153, (words, items))
        rows += [(group, f"{group}{w}", "", f"i{i}", y[w, i]) for w, i in np.ndindex(y.shape)]
    return rows, {"outcome": true}


def pairs(rng, template=TEMPLATE_SDS[0]):
    """Draw answers about two groups to the same questions."""
    items, templates, true = 60, 4, rng.normal(0, 1)
    difference = true + rng.normal(0, 1.38, items)[:, None] + rng.normal(0, template, templates)
    difference = difference + rng.normal(0, 0.99, difference.shape)
    rows = [
        (group, "", f"t{t}", f"i{i}", sign * difference[i, t] / 2)
        for i, t in np.ndindex(difference.shape)
        for group, sign in (("a", 1), ("b", -1))
    ]
    return rows, {"outcome": true}


def choices(rng):
    """Draw repeated choices, and return them with the true difference in log odds and in probability."""
    words, repeats, true, mean = 8, 50, rng.normal(0, 1.5), rng.normal(0, 1)
    template, spreads = rng.normal(0, 0.6, 4), np.array([1.65, 0.6, 0.87, 0.33])
    rows, probability = [], []
    for group, center in (("a", mean + true / 2), ("b", mean - true / 2)):
        eta = center + rng.normal(0, 1.65, words)[:, None] + template + rng.normal(0, 0.87, 4)
        eta = eta + rng.normal(0, 0.33, eta.shape)
        answers = rng.random((*eta.shape, repeats)) < expit(eta)[..., None]
        rows += [
            (group, f"{group}{w}", f"t{t}", "", int(answers[w, t, r]))
            for w, t, r in np.ndindex(answers.shape)
        ]
        nodes, weights = np.polynomial.hermite_e.hermegauss(41)
        new = expit(center + np.sqrt((spreads**2).sum()) * nodes)
        probability.append(float(new @ weights / weights.sum()))
    return rows, {"log_odds": true, "probability": probability[0] - probability[1]}


SPREADS = {"word": 0.59, "item": 0.32, "template": 0.13, "item_template": 0.07, "group_item": 2.2, "group_template": 0.11,
           "group_item_template": 0.6, "question": 0.28}  # fmt: skip


def two_models(rng):
    """Draw choices of two models, and return them with the differences of the first, and of both."""
    items, templates, words, repeats = 8, 4, 3, 20
    sd, center = SPREADS, {arm: rng.normal(0, 1) for arm in np.ndindex(2, 2)}

    def effects(name, *shape):
        """Draw what models share (the first axis has length one), and by what they differ."""
        drawn = sd[name] * rng.normal(size=(1, *shape))
        return (
            drawn
            if name == "item_template"
            else drawn + sd[name] / 2 * rng.normal(size=(2, *shape))
        )

    # Axes: models, groups, items, templates, words.
    eta = effects("item", 1, items, 1, 1) + effects("template", 1, 1, templates, 1)
    eta = (
        eta + effects("group_item", 2, items, 1, 1) + effects("group_template", 2, 1, templates, 1)
    )
    eta = (
        eta + effects("word", 2, items, 1, words) + effects("item_template", 1, items, templates, 1)
    )
    eta = eta + sd["group_item_template"] * rng.normal(size=(1, 2, items, templates, 1))
    eta = (
        eta + np.array([[center[m, g] for g in range(2)] for m in range(2)])[:, :, None, None, None]
    )
    eta = eta + sd["question"] * rng.normal(size=eta.shape)
    chosen = rng.random((*eta.shape, repeats)) < expit(eta)[..., None]
    rows = [
        ("ab"[g], f"{'ab'[g]}{i} {w}", f"t{t}", f"i{i}", int(chosen[m, g, i, t, w, r]), f"m{m}")
        for m, g, i, t, w, r in np.ndindex(chosen.shape)
    ]
    shared = {"item_template", "group_item_template", "question"}
    spread = math.sqrt(sum(own**2 * (1 if name in shared else 1.25) for name, own in sd.items()))
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    truth = {}
    for scale, of in (
        ("log_odds", lambda x: x),
        ("probability", lambda x: expit(x + spread * nodes) @ weights / weights.sum()),
    ):
        first, second = (of(center[m, 0]) - of(center[m, 1]) for m in range(2))
        truth |= {("m0", scale): first, ("m0 - m1", scale): first - second}
    return rows, truth


TWO = "responses_choice, two models"
KINDS = {"responses": numbers, PAIRED: pairs, "responses_choice": choices, TWO: two_models}
KINDS |= {
    f"{PAIRED}, SD of sentences {sd}": functools.partial(pairs, template=sd)
    for sd in TEMPLATE_SDS[1:]
}
PIECES = tuple(KINDS)


def one(kind, number):
    """Fit one table, and return for each scale the truth, the interval, and that of the published t-test."""
    place = list(KINDS).index(kind)
    rows, truth = KINDS[kind](np.random.default_rng([number, place, 40]))
    columns = ["group", "word", "template", "item", "outcome", "model"]
    frame = pd.DataFrame(rows, columns=columns[: len(rows[0])])
    found = bb.fit_responses(bb.responses_table(frame), seed=number, **SAMPLING)
    contrasts = found.contrasts(PROB, estimand="population", level="overall")
    of = ["model", "scale"] if kind == TWO else ["scale"]
    contrasts = contrasts[contrasts["contrast"] == "a - b"].set_index(of)
    score = found.published.iloc[0]
    freedom = score["n"] - 2  # of hundreds of answers, so that the exact number hardly counts
    half = stats.t.ppf((1 + PROB) / 2, freedom) * abs(score["mean_score"] / score["t"])
    state = found.fit.diagnostics()
    return [
        {
            "kind": kind, "number": number, "truth": value,
            "scale": ", ".join(scale) if kind == TWO else scale,
            "low": contrasts.loc[scale, "hpdi_low"], "high": contrasts.loc[scale, "hpdi_high"],
            "t_low": score["mean_score"] - half if scale in ("outcome", "probability") else np.nan,
            "t_high": score["mean_score"] + half if scale in ("outcome", "probability") else np.nan,
            "divergences": state["divergences"], "max_r_hat": state["max_r_hat"],
        }
        for scale, value in truth.items()
    ]  # fmt: skip


def coverage(rows):
    """Return coverage and mean width by kind and scale, of the model and of the published t-test."""
    frame = pd.DataFrame(rows)
    frame = frame.assign(
        model=(frame["low"] <= frame["truth"]) & (frame["truth"] <= frame["high"]),
        t_test=(frame["t_low"] <= frame["truth"]) & (frame["truth"] <= frame["t_high"]),
        width=frame["high"] - frame["low"],
        t_width=frame["t_high"] - frame["t_low"],
    )
    groups = frame.groupby(["kind", "scale"], sort=False)
    out = groups[["model", "t_test", "width", "t_width"]].mean().assign(tables=groups.size())
    return out.assign(
        model_se=standard_error_of_share(out["model"], out["tables"]),
        t_test_se=standard_error_of_share(out["t_test"], out["tables"]),
    )


def run(share, piece):
    """Simulate answers of a kind and fit them."""
    n = max(20, round(TABLES * share))
    wide = piece.startswith(PAIRED)
    with ProcessPoolExecutor() as pool:
        fitted = pool.map(functools.partial(one, piece), range(n))
        rows = [row for found in fitted for row in found]
    for (_, scale), found in coverage(rows).iterrows():
        reach = 3 * found["model_se"] if n < TABLES else 0.0
        least, most = LEAST - reach, 1 if wide else MOST + reach
        yield (
            f"89 % intervals of {piece} include the difference for new words, items and templates ({scale}).",
            f"{n:,} tables with the SDs of real answers",
            f"{found['model']:.3f} (published t-test: {found['t_test']:.3f})",
            f"at least {least:.2f}" if wide else f"{least:.2f} to {most:.2f}",
            least <= found["model"] <= most,
        )  # fmt: skip
