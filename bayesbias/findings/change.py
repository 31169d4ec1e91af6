"""What a comparison of original and debiased vectors says: what changed, what is left, and what the method forces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesbias.core.digits import as_known, ends_as_known, error_of, probability_printed
from bayesbias.core.wording import as_percent, conjoined, number_of, percent, size_text, some
from bayesbias.findings.parts import Doubt, Findings, Unexamined, sentence_of_losses
from bayesbias.findings.priors import prior_doubts, unexamined_priors
from bayesbias.findings.slopes import sentences_of_slopes
from bayesbias.findings.trust import ALL_AGREED, no_conclusion
from bayesbias.findings.words import classes_of_one_word, said_by_class, said_of_each
from bayesbias.inference.estimands import CONTRASTS, PROB, ROPE
from bayesbias.inference.scope import same_for_all_words
from bayesbias.inference.verdicts import LEFT_OVER, disagreement, hidden_disagreement
from bayesbias.studies.comparison import Comparison, Method
from bayesbias.studies.construction import EXACT, Construction, Forced, control_changes, find_construction
from bayesbias.studies.geometry import Left, Related
from bayesbias.tables.coverage import Loss, losses, losses_for_covariates, words_of_groups
from bayesbias.wordlists.wordlist import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["construction_account", "construction_sentences", "findings_of_change"]


def findings_of_change(result: Comparison, prob: float = PROB, rope: float = ROPE) -> Findings:
    """Say what was found of each method: first what decides how the rest is to be read, geometry and construction.

    Nothing is concluded of a method one of whose fits has not converged.
    """
    several = len(result.methods) > 1
    parts = tuple(_of_method(result, name, several, prob, rope) for name in result.methods)
    likewise = (_LIKEWISE,) if several and any(map(_has_gap, result.methods.values())) else ()
    return Findings(
        subject=f"{result.provenance['original']}, debiased",
        headline=" ".join(f"{part.lead}{part.headline}" for part in parts),
        parts=parts,
        sentences=(*likewise, *_neighbours(result, prob, rope)),
        problems=tuple(result.diagnostics()["problems"]),
        trust=ALL_AGREED,
    )


def _of_method(result: Comparison, name: str, several: bool, prob: float, rope: float) -> Findings:
    item = result.methods[name]
    about: dict[str, Any] = {
        "subject": name,
        "lead": f"{name}: " if several else "",
        "doubts": (*_exchanged(item.pairs), *_geometry_doubts(result, name, prob)),
        "premises": tuple(f"{text}." for text in construction_sentences(item.construction)),
        "losses": _losses(result, item),
        "notes": tuple(item.account["notes"]),
    }
    fits = [fit for fit in (result.original, item.change, item.after) if fit is not None]
    problems = [problem for fit in fits for problem in fit.diagnostics()["problems"]]
    if problems:
        return Findings(headline=no_conclusion(problems[0]), **about)
    about["doubts"] += tuple(_prior_doubts(item, about["lead"]))
    about["unexamined"] = _unexamined(item)
    gap = _gap_sentence(result, item, prob, rope)
    controls = _control_sentences(result, item, prob, rope)
    geometry = _geometry_sentences(result, name, prob)
    slopes = sentences_of_slopes(item.change, prob) if item.change is not None else []
    by_class = [] if gap is None else _class_sentences(result, item, prob, rope)
    likewise = [] if several or gap is None else [_LIKEWISE]
    headline, *rest = [*([gap] if gap else []), *likewise, *by_class, *controls, *geometry, *slopes] or [
        _NO_CONTRAST
    ]
    missing = sentence_of_losses(about["losses"], CONTROLS if gap is None else ())
    return Findings(headline=f"{headline}{missing}", sentences=tuple(rest), **about)


def _prior_doubts(item: Method, lead: str) -> list[Doubt]:
    """Say what rests on a prior, of the change and of what is left. No fit is made again for it."""
    changes = (
        [] if item.change is None else prior_doubts(item.change, f"{lead}the change of {{}}", refit=False)
    )
    return [*changes, *prior_doubts(item.after, f"{lead}{{}}, after,", refit=False)]


def _unexamined(item: Method) -> tuple[Unexamined, ...]:
    changes = () if item.change is None else unexamined_priors(item.change, refit=False)
    return tuple(dict.fromkeys((*changes, *unexamined_priors(item.after, refit=False))))


def _losses(result: Comparison, item: Method) -> tuple[Loss, ...]:
    """Return what was listed for the original and is not among the pairs that were compared."""
    coverage = result.original.provenance.get("coverage", {})
    after = item.after.provenance.get("coverage", {})
    pairs = item.pairs
    compared = {
        "protected": words_of_groups(pairs, "protected_class", "protected_word"),
        "attributes": words_of_groups(pairs, "attribute_class", "attribute"),
    }
    spec = None if item.change is None else item.change.spec
    covariates = (
        [] if spec is None else [name for name in spec.covariates() if name in coverage.get("covariates", {})]
    )

    def found(side: str, name: str, group: Mapping[str, Any]) -> int:
        if not covariates:
            return compared[side].get(name, 0)
        # What is not compared either has no vector, before or after, or lacks the covariates.
        later = after.get(side, {}).get(name, {}).get("missing", ())
        return int(group["listed"]) - len({*group["missing"], *later})

    there = {
        side: {
            name: {**group, "found": found(side, name, group)}
            for name, group in coverage.get(side, {}).items()
        }
        for side in compared
    }
    return (
        *losses(there),
        *losses_for_covariates({**there, "covariates": coverage.get("covariates", {})}, covariates, compared),
    )


_NO_CONTRAST = (
    "the tables hold no two connections to hold against each other, only changes of mean distances."
)


_TREATED = "of new words treated likewise"
_LIKEWISE = (
    "This is of words that the method treats as it treated these; whether it reaches others, a list that it was not given "
    "tells."
)
_NOTHING = 0.00005  # a change that four decimals do not show


def _has_gap(item: Method) -> bool:
    present = set(map(str, item.pairs["connection"].unique()))
    return any(a in present and b in present for a, b in CONTRASTS)


def _gap_sentence(result: Comparison, item: Method, prob: float, rope: float) -> str | None:
    if not _has_gap(item):
        return None
    frame = result.contrasts(prob, rope, "population", item.name)
    row: Any = next(iter(frame[frame["level"] == "overall"].itertuples()))
    classes, listed = _by_class(result, item, prob, rope)
    lists = _by_class(result, item, prob, rope, "stereotype")
    now = {
        Forced.NO: row.verdict_after,
        Forced.PARTLY: f"{row.verdict_after}, which the method partly forces",
        Forced.WHOLLY: "the method forces it to be zero",
    }[Forced(row.by_construction)]
    if Forced(row.by_construction) is Forced.PARTLY and row.verdict_after.startswith(LEFT_OVER):
        now = f"{row.verdict_after}, although the method draws some words together"
    after = " to ".join(ends_as_known(row, "after_low", "after_high", signed=True))
    hidden = hidden_disagreement(classes, listed, "after_low", "after_high", ", after", (lists[0], lists[1]))
    change = f"{as_known(row, 'mean', signed=True)} ({as_percent(prob)} HPDI {' to '.join(ends_as_known(row, signed=True))}"
    if max(-row.hpdi_low, row.hpdi_high) < min(_NOTHING, rope):
        change = f"less than {_NOTHING:.5f} either way ({as_percent(prob)} HPDI"
    return (
        f"{_TREATED}, {row.contrast} was {as_known(row, 'before', signed=True)} and changed by {change}: "
        f"{row.verdict}); it is now {as_known(row, 'after', signed=True)} ({after}: {now}).{f' {hidden}' if hidden else ''}"
    )


def _by_class(
    result: Comparison, item: Method, prob: float, rope: float, level: str = "class"
) -> list[pd.DataFrame]:
    """Return the contrast of the headline by class, or by list, for new words and for the listed ones."""
    frame = result.contrasts(prob, rope, method=item.name)
    frame = frame[frame["contrast"] == frame["contrast"].iloc[0]]
    classes = frame[frame["level"] == level]
    return [classes[classes["estimand"] == which] for which in ("population", "listed_words")]


def _class_sentences(result: Comparison, item: Method, prob: float, rope: float) -> list[str]:
    """Say what is left by class, and of the listed words alone where these disagree and new words do not clearly."""
    classes, listed = _by_class(result, item, prob, rope)
    if len(classes) < 2 or same_for_all_words(item.after.spec):
        return []
    ends = ("after", "after_low", "after_high")
    begin = said_by_class(str(classes["contrast"].iloc[0]), item.after.spec, "after")
    text = f"{begin}: {said_of_each(classes, *ends)}"
    if disagreement(listed, *ends[1:]) and not disagreement(classes, *ends[1:]):
        text += f"; of the listed words alone {said_of_each(listed, *ends)}"
    return [f"{text}.", *classes_of_one_word(item.after.spec, item.pairs)]


def _control_sentences(result: Comparison, item: Method, prob: float, rope: float) -> list[str]:
    changes = result.changes(prob, rope, "population", item.name)
    rows = changes[(changes["level"] == "overall") & changes["connection"].isin(CONTROLS)]
    single = control_changes(item.pairs).set_index("controls")
    return [
        f"{r.connection} control words: {r.verdict} on average ({as_known(r, 'mean', signed=True)}, "
        f"{' to '.join(ends_as_known(r, signed=True))}), single pairs by "
        f"{size_text(single.loc[r.connection, 'rms_change'])} (root mean square), "
        f"{_at_most(abs(single.loc[r.connection, 'max_change']))}."
        for r in rows.itertuples()
    ]


def _at_most(largest: float) -> str:
    size = size_text(largest, 2)
    return f"at most {size}" if size[0].isdigit() else f"all by {size}"


_ROUNDING = 1e-4  # what vectors of four digits move by when they are written
_CENTRED = "the nearness of each word to all others is taken out"


def _exchanged(pairs: pd.DataFrame) -> list[Doubt]:
    """Doubt which of two tables came first, where words that were alike are told apart after."""
    turned = pairs.rename(columns={"original": "debiased", "debiased": "original"})
    if not find_construction(turned.assign(change=-turned["change"])).found:
        return []
    text = (
        "ARE THE TWO EXCHANGED? The original gives words of several classes the same distances, as equalising does, and what "
        "is called debiased tells them apart"
    )
    return [Doubt("exchanged", text)]


def _sources(result: Comparison, name: str) -> list[Any]:
    """Return the hashes of what the distances before and after were made of, as far as they are known."""
    tables = result.provenance.get("tables", {})
    each = (tables.get(which, {}) for which in ("original", name))
    return [dict(table.get("embedding", table)).get("sha256") for table in each]


def _geometry_doubts(result: Comparison, name: str, prob: float) -> list[Doubt]:
    """Say loudly what a reader of the gap alone would miss: that the vectors are gone, the same, or not to be judged."""
    geometry = result.geometry_of(name, prob)
    if geometry.left is Left.IDENTICAL:
        first, second = _sources(result, name)
        lengths = "(vectors that differ in their lengths alone have the same cosine distances)"
        text = (
            f"NOTHING MOVED: no distance changed by more than {EXACT:g}, though the two are not the same file: was the method "
            f"given other words than these? {lengths}"
            if first and second and first != second
            else f"IDENTICAL: is it the same file? No distance moved by more than {EXACT:g} {lengths}"
        )
        return [Doubt("identical", text)]
    most = float(result.methods[name].pairs["change"].abs().max())
    if most <= _ROUNDING:
        text = (
            f"NEXT TO NOTHING MOVED: no distance changed by more than {most:.1g}, as rounding does: was the method given "
            "too small a weight? Limits that these vectors meet were met before"
        )
        return [Doubt("hardly_moved", text)]
    if geometry.left is Left.NO_CONTROLS:
        text = (
            "the tables hold no control words: whether the method took out the association or destroyed the vectors cannot "
            "be known"
        )
        return [Doubt("geometry_unknown", text)]
    if geometry.left is Left.TOO_FEW:
        known = _interval(geometry.least, prob)
        text = (
            f"distances of {number_of(geometry.n_words, 'protected word')} to {number_of(geometry.n_attributes, 'control word')} "
            f"are too few to know whether the vectors are still there (correlation before and after: {known})"
        )
        return [Doubt("geometry_unknown", text)]
    if not geometry.left.destroyed:
        return []
    whole = geometry.left is Left.UNRELATED
    degree = "DESTROYED" if whole else "MOSTLY DESTROYED"
    how = "are unrelated" if whole else f"share {percent(geometry.least.value**2)} of their variance"
    once = f" once {_CENTRED}" if geometry.least is geometry.relations else ""
    text = (
        f"THE GEOMETRY IS {degree}: distances to control words before and after {how}{once} (correlation "
        f"{_interval(geometry.least, prob)}; single pairs moved by {size_text(geometry.rms)}, root mean square, where unrelated "
        f"sets of vectors with these means and spreads would give {geometry.rms_unrelated:.3f}). "
        "Noise has no gap either: what is left of the gap says nothing "
        "of the method, which is ranked with no other"
    )
    return [Doubt("geometry_destroyed", text)]


def _interval(related: Related, prob: float) -> str:
    if related.value != related.value:
        return "cannot be computed"
    return f"{related.value:.2f}, {as_percent(prob)} interval {related.low:.2f} to {related.high:.2f}"


def _geometry_sentences(result: Comparison, name: str, prob: float) -> list[str]:
    geometry = result.geometry_of(name, prob)
    texts: list[str] = []
    if geometry.left is Left.IDENTICAL:
        return texts
    if geometry.n_pairs and not geometry.left.marked:  # else the doubt has said it
        texts.append(
            f"control words, before and after: {geometry.left.label} (distances correlate "
            f"by {_interval(geometry.correlation, prob)}; "
            f"once {_CENTRED}, by {_interval(geometry.relations, prob)}; slope {geometry.slope.value:.2f}; root "
            f"mean square change "
            f"{size_text(geometry.rms)}, where unrelated sets of vectors with these means and spreads would give "
            f"{geometry.rms_unrelated:.3f})."
        )
    row: Any = result.geometry(prob, name).iloc[0]
    if row.gap_before == row.gap_before and row.gap_after == row.gap_after:
        texts.append(
            "in standard deviations of the distances to control words the gap was "
            f"{as_known(row, 'gap_before', 2, signed=True)} and is now {as_known(row, 'gap_after', 2, signed=True)} "
            f"({' to '.join(ends_as_known(row, 'gap_after_low', 'gap_after_high', 2, signed=True))})."
        )
    return texts


def _neighbours(result: Comparison, prob: float, rope: float) -> list[str]:
    """Say what tells each method from the next one in the ranking."""
    if len(result.methods) < 2 or not {"associated", "different"} <= set(result.original.table["connection"]):
        return []
    out = []
    for row in result.between_methods(prob, rope).to_dict("records"):
        a, b = row["method"], row["next"]
        if any(result.geometry_of(name, prob).left.destroyed for name in (a, b)):
            continue  # what is ranked with no other is held against none
        fits = (result.methods[a].after, result.methods[b].after, result.between[a, b].fit)
        if not all(fit is None or fit.diagnostics()["ok"] for fit in fits):
            continue
        probability = probability_printed(row["p_nearer_zero"], error_of(row, "p_nearer_zero"))
        forced = {name: result.methods[name].construction.forced for name in (a, b)}
        tails = [
            f"that of {conjoined(names)} is zero {how.label}"
            for how in (Forced.WHOLLY, Forced.PARTLY)
            if (names := [name for name, own in forced.items() if own is how])
        ]
        tail = f"; {conjoined(tails)}, which is no evidence" if tails else ""
        out.append(
            f"{a} against {b}: {row['verdict']} (probability that {a} leaves the smaller gap: {probability}{tail})."
        )
    return out


def construction_sentences(construction: Construction) -> list[str]:
    """Say what a method forces and what can still be learned, one sentence each, without full stops.

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion")
    >>> same = before.frame.groupby("attribute")["distance"].transform("mean")  # for all protected words
    >>> after = before.frame.assign(distance=same)
    >>> found = bb.studies.find_construction(bb.tables.join_pairs(before, after)[0])
    >>> len(bb.findings.construction_sentences(found)) >= 1
    True
    """
    out = []
    sets, flags = construction.sets, construction.flags
    raw = construction.means.set_index("connection")
    if construction.found:
        names = "; ".join("/".join(words) for words in sets["words"])
        whole = "equalised" in flags
        out.append(
            ("BY CONSTRUCTION: " if whole else "PARTLY BY CONSTRUCTION: ")
            + f"attribute words have the same distance to all words of {number_of(len(sets), 'set')} ({names}), "
            f"to within {sets['gap_after'].max():.1g}, where they differed by up to "
            f"{sets['gap_before'].max():.2f} before"
        )
        if {"associated", "different"} <= set(raw.index):
            a, d = (float(raw.loc[c, "after"]) for c in ("associated", "different"))
            after = f"(raw means {a:.4f} and {d:.4f} after)"
            if whole:
                out.append(
                    f"so the raw means of associated and different are equal, whatever the vectors were {after}; that they agree "
                    "is no evidence of success"
                )
            elif construction.share:
                out.append(
                    f"so associated and different are drawn together for {percent(construction.share)} of the protected words "
                    f"whatever the vectors were {after}; how near they are to each other is no evidence of success"
                )
    if "controls_moved" in flags:
        worst = construction.controls.loc[construction.controls["max_change"].abs().idxmax()]
        far = sets.loc[sets["control_gap_after"].idxmax()]
        out.append(
            f"equalising moved distances to control words that nobody meant to treat: by up to "
            f"{abs(worst['max_change']):.2f} ({worst['protected_word']} and {worst['attribute']}); within "
            f"{'/'.join(far['words'])} they now differ by up to {far['control_gap_after']:.2f} "
            f"(before {far['control_gap_before']:.2f})"
        )
    if "controls_untouched" in flags:
        out.append("no distance to a control word changed, so that no drift of the controls could come out")
    if construction.found:
        near = list(construction.attributes.loc[construction.attributes["near_everything"], "attribute"])
        learned = "what can still be learned: the gap there was before"
        if len(construction.controls):
            learned += ", how far the controls drifted, and which stereotypes stay near everything" + (
                f" (nearer than 90% of the control words: {some(near, 12)})" if near else " (none does)"
            )
        out.append(learned)
    return out


def construction_account(construction: Construction) -> dict[str, Any]:
    """Return flags, sentences and evidence of what a method forces, for JSON."""
    about = construction.as_dict()
    evidence = about.pop("evidence")
    return about | {"sentences": construction_sentences(construction), "evidence": evidence}
