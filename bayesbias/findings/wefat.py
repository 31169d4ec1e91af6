"""What a single-category test says: the true correlation, the published one beside it, the slope, who is off the line."""

from __future__ import annotations

import math

from bayesbias.core.digits import as_known, ends_as_known
from bayesbias.core.wording import as_percent, conjoined, digits_of, number_of, some
from bayesbias.findings.parts import Findings
from bayesbias.findings.trust import agreed, no_conclusion
from bayesbias.inference.estimands import ROPE
from bayesbias.inference.scope import sure_ends
from bayesbias.studies.wefat import Estimated, WefatResult


def findings_of_wefat(result: WefatResult) -> Findings:
    """Say what a single-category test found, for terminal, text, JSON and page."""
    known, (first, second) = result.published, result.sets
    problems = list(result.fit.diagnostics()["problems"])
    subject = result.published.name
    notes = [*known.notes, *_missing(result)]
    published = (
        f"As published, on average scores: r = {known.r:.4f}, {as_percent(known.prob)} interval {known.r_low:.4f} to "
        f"{known.r_high:.4f} (Fisher's z), which takes targets for a sample and scores for exact; p {known.p_text(2)} "
        f"(permutation, {'all orders' if known.p_method == 'exact' else 'drawn orders'})."
    )
    if problems:
        return Findings(
            subject,
            f"{subject}: {no_conclusion(problems[0])}",
            (published,),
            problems=tuple(problems),
            notes=tuple(notes),
        )
    true, slope = result.true_correlation, result.slope
    rises = f"The higher its {known.covariate}, the nearer a target of {subject} lies to"
    what = (
        f"{rises} {first} rather than to {second} words{_by_little(sure_ends(slope)[0])}"
        if sure_ends(slope)[0] > 0
        else f"{rises} {second} rather than to {first} words{_by_little(-sure_ends(slope)[1])}"
        if sure_ends(slope)[1] < 0
        else f"Whether a target of {subject} lies nearer to {first} or to {second} words the higher its {known.covariate} is open"
    )
    headline = (
        f"{what}: one standard deviation of {known.covariate} goes with {as_known(slope, 'mean', signed=True)} in cosine towards "
        f"{first} ({_interval(slope, result.prob, 3)}), for new words and targets like these; true associations correlate with "
        f"it by {as_known(true, 'mean', 2, signed=True)} ({_interval(true, result.prob, 2)})."
    )
    per = result.slope_per_unit
    digits = digits_of(per.sd)
    sentences = [
        published,
        *_undivided(result),
        f"One unit of {known.covariate} goes with {as_known(per, 'mean', digits, signed=True)} in cosine "
        f"({_interval(per, result.prob, digits)}); its standard deviation is {result.scale:.3g}.",
        _off_line(result),
    ]
    return Findings(subject, headline, tuple(sentences), notes=tuple(notes), trust=agreed(result.fit))


def _by_little(nearest: float) -> str:
    """Hedge a slope whose interval reaches into the region of practical equivalence, as every contrast is."""
    return ", perhaps by little" if nearest < ROPE else ""


def _undivided(result: WefatResult) -> list[str]:
    """Say what lies between the published correlation and the true one: the division of each score, noise, and the prior."""
    r = result.published.r_undivided
    if math.isnan(r):
        return []
    return [
        "A published score is divided by the standard deviation of its own target's cosines, which is another for each target; "
        f"an association in cosine is not. Not divided, the same averages correlate by r = {r:.4f}. The true correlation "
        "leaves out their noise, which weakens r; and it is a mean over all slopes and scatters that the pairs and the priors "
        "allow, which draws it towards zero where targets or words are few. So it may be the stronger or the weaker."
    ]


def _interval(of: Estimated, prob: float, digits: int) -> str:
    return f"{as_percent(prob)} HPDI {' to '.join(ends_as_known(of, usual=digits, signed=True))}"


def _off_line(result: WefatResult) -> str:
    apart = result.frame.set_index("target").loc[result.off_line, "deviation"]
    beyond = (apart[apart > 0].index, apart[apart < 0].index)
    sides = [
        f"{some(words)} nearer to {name}"
        for name, words in zip(result.sets, beyond, strict=True)
        if len(words)
    ]
    if not sides:
        return (
            f"Of no target the {as_percent(result.prob)} interval of its distance from the line excludes 0."
        )
    own = f"each by its own {as_percent(result.prob)} interval"
    return f"Off the line, {own}: {conjoined(sides)} than the {result.published.covariate} of such a target says."


def _missing(result: WefatResult) -> list[str]:
    known = result.published
    sets = " and ".join(result.sets)
    lost = ((known.missing, "target", ""), (known.dropped, "word", f" of {sets}"))
    return [
        f"{number_of(len(words), noun)}{of} without a vector: {some(words)}"
        for words, noun, of in lost
        if words
    ]
