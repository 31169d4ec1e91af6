"""What is shown of groups of words on shared attribute sets.

Tables, figures, and the answer in sentences.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from bayesbias.core import join_words, number_of
from bayesbias.core.sections import Column, Interpretation, Section
from bayesbias.inference import estimands, variances
from bayesbias.inference.estimates import CONTRAST_COLUMNS, MEAN_COLUMNS, OBSERVED
from bayesbias.inference.posterior import BiasFit
from bayesbias.inference.view import TOO_CLOSE, View
from bayesbias.studies import common
from bayesbias.studies.association import interpretation, sections as association
from bayesbias.studies.glossary import explain_distances, explain_factors
from bayesbias.wordlists.wordlist import CONTROLS, SHARED

QUESTION = "Which group of words lies closer to which set of attributes, and how certain is that?"
about = common.about_fit
ONE_VERDICT = True
FILES_BEFORE = False
FIT_FILE = ""
TYPES: tuple[type, ...] = ()

SET = Column("attribute_class", "set")
MOST_ROWS = 20  # of the first table
MOST_PAIRED = 3  # groups that the first table compares in pairs; more with the others


def glossary(fit: BiasFit) -> list[tuple[str, str]]:
    """Explain the rows of the first table, in the names of the list."""
    groups, sets = fit.table["protected_class"].astype(str).unique(), main_sets(fit)
    out = []
    if len(sets) > 1:
        x, y = sets[:2]
        meaning = f"Distance to {x} minus distance to {y}. Below zero: closer to {x} than to {y}."
        out.append((f"{x} - {y}", meaning))
    if len(groups) > 1:
        a, b = groups[:2]
        meaning = (
            f"Under a set: distance of {a} minus distance of {b}. Under two sets: the same for "
            f"their difference. Below zero: {a} is closer to the (first) set."
        )
        out.append((f"{a} - {b}", meaning))
    out.append(("others", "The mean of all other groups, each with the same weight."))
    if fit.crossed:
        out.append(explain_factors(fit.crossed[0].name))
    return [*out, *explain_distances(fit)]


def header(fit: BiasFit, view: View) -> list[str]:
    """Return the lines over the first table."""
    table = fit.table.astype({"attribute_class": str})
    sizes = table.groupby("attribute_class", sort=False)["attribute"].nunique()
    sets = ", ".join(f"{name} {n}" for name, n in sizes.items())
    n = {name: table[name].nunique() for name in ("protected_class", "protected_word", "attribute")}
    size = (
        f"{len(table):,} pairs: {number_of(n['protected_class'], 'group')}, {n['protected_word']} "
        f"words x {n['attribute']} attributes ({sets})"
    )
    return common.header_of(fit, fit.table_name, size)


def main_table(fit: BiasFit, view: View) -> pd.DataFrame:
    """Return the first table.

    Each contrast of sets and each set, within and between groups, for new words.

    Returns
    -------
    DataFrame
        ``label``, then the columns of `BiasFit.contrasts` with ``detail``. ``is_heading`` marks a
        row without numbers. What does not fit is left out, but for the first contrast.
    """
    frame = shown_rows(fit, fit.contrasts(view.prob, view.rope, "population", detail=True))
    return under_headings(fit, frame)


def shown_rows(fit: BiasFit, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows within groups and between them.

    Of many groups they are between each and the others, of groups that cross factors between levels.
    """
    if fit.crossed:
        return pd.concat([frame[frame["level"] == "class"], common.shown_factors(fit, frame)])
    several = fit.table["protected_class"].nunique() > MOST_PAIRED
    return frame[frame["level"].isin(["class", "others" if several else "between"])]


def under_headings(fit: BiasFit, frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows under the contrast of sets, or the set, that they are about."""
    parts: list[pd.DataFrame] = []
    for contrast in labels(fit, frame):
        rows = frame[frame["contrast"] == contrast]
        if parts and sum(map(len, parts)) + 1 + len(rows) > MOST_ROWS:
            break
        parts += [common.heading(contrast), rows.assign(label="  " + rows["name"])]
    return pd.concat(parts, ignore_index=True)


def importance(fit: BiasFit, rows: pd.DataFrame) -> list[float]:
    """Return how important each row of the first table is, where there is no room for all.

    Comparisons of groups by the first contrast come first, then those that are clear, then rows of
    one group by the first contrast.
    """
    first = labels(fit, rows)[0]
    out = []
    for row in rows.itertuples():
        between = row.level != "class"
        value = 30.0 if row.contrast == first else 0.0
        if between and row.contrast == first:
            value = 100.0
        elif between and row.verdict.startswith(("below", "above")):
            value = 60.0
        out.append(value + common.far_from_zero(row))
    return out


def main_sets(fit: BiasFit) -> list[str]:
    """Return the attribute sets that belong to no class.

    Of a table without such sets all but controls.
    """
    table = fit.table.astype({"attribute_class": str})
    shared = table["connection"] == SHARED if "connection" in table else []
    mine = table["attribute_class"][shared] if any(shared) else table["attribute_class"]
    return [name for name in mine.unique() if name not in CONTROLS]


def labels(fit: BiasFit, frame: pd.DataFrame) -> list[str]:
    """Return contrasts of the main sets, these sets, and then what has other sets in it."""
    sets, main = set(fit.table["attribute_class"].astype(str)), set(main_sets(fit))
    return sorted(
        dict.fromkeys(frame["contrast"]),
        key=lambda name: (not set(estimands.sides_of(name, sets)) <= main, name in sets),
    )


def sections(fit: BiasFit, view: View) -> list[Section]:
    """Return all tables and figures, in the order in which they are read."""
    import bayesbias as bb

    prob = view.prob
    groups, sets = (fit.table[name].nunique() for name in ("protected_class", "attribute_class"))

    def draw(level: str) -> Any:
        return bb.plot_contrasts(fit, prob=prob, rope=view.rope, level=level)

    level = "between" if groups > 1 else "class"
    if fit.crossed:
        level = "main"
    out = [
        Section(
            "result",
            f"Difference in cosine {fit.spec.outcome}, new words "
            "(negative: first group or set closer)",
            lambda: main_table(fit, view),
            association.FIRST,
            figure=lambda: draw(level),
            importance=partial(importance, fit),
            show_on="terminal page",
        ),
        Section(
            "contrasts",
            "All differences, overall, within and between groups, and by word",
            partial(fit.contrast_rows, prob, view.rope),
            (*common.KEYS, *CONTRAST_COLUMNS, OBSERVED),
            figure=(lambda: draw("class")) if sets > 1 else None,
            note=lambda shown: (
                "others: a group and the mean of all other groups, each with the same weight. "
                f"{common.about_listed(shown)}".strip()
            ),
            show_on="detail fold files",
        ),
        Section(
            "means",
            "Mean distance of each group to each set, new words",
            lambda: fit.means("class", prob),
            (Column("name", "group"), SET, *association.MEANS),
            show_on="detail page files",
        ),
    ]
    if variances.has_variance(fit.spec):
        out.append(association.standardized_section(fit, view))
    return [
        *out,
        *association.covariate_sections(fit, view),
        Section(
            "new_words",
            "One new word, or one of each group: predictive interval over new attributes, and how many have "
            "the opposite sign",
            lambda: fit.new_words(prob),
            association.NEW_WORD,
        ),
        Section(
            "words",
            "Mean distance of each word to each set",
            lambda: fit.words(prob),
            (
                Column("protected_word", "word"),
                Column("protected_class", "group"),
                SET,
                *MEAN_COLUMNS,
            ),
        ),
        *association.closing_sections(fit, view),
    ]


def interpret(fit: BiasFit, view: View) -> Interpretation:
    """Say which group lies nearer to which set.

    Nothing is concluded from a fit that has not converged.
    """
    notes = common.missing_notes(fit.provenance.get("coverage"))
    if unsure := common.not_converged(fit.table_name, fit, notes):
        return unsure
    frame = fit.contrast_rows(view.prob, view.rope, estimand="population")
    between, within = (frame[frame["level"] == level] for level in ("between", "class"))
    sets = list(dict.fromkeys(fit.table["attribute_class"].astype(str)))
    said = []
    for row in within.itertuples():
        nearer = (f"closer to {name}" for name in estimands.sides_of(row.contrast, sets))
        said.append(
            f"{interpretation.in_names({}, row)} {row.mean:+.3f}, {common.in_words(row, *nearer)}."
        )
    details = said
    warnings = [*interpretation.data_warnings(fit), *interpretation.prior_warning(fit)]
    number = between["name"].nunique()
    if len(between):
        main = main_sets(fit)
        named = [
            name for name in labels(fit, between) if set(estimands.sides_of(name, sets)) <= {*main}
        ]
        chosen = named if len(main) <= 2 else main
        groups = set(fit.table["protected_class"].astype(str))
        said = _sentences(between, chosen, groups)
        if len(groups) > MOST_PAIRED:
            others = frame[frame["level"] == "others"]
            details = [*said, *details]
            said = _sentences(others, chosen, groups)
            between = others
        warnings += everywhere(between, main, groups)
    if fit.crossed:
        of_factors = common.shown_factors(fit, frame)
        first = labels(fit, of_factors)[0]
        details = [*said, *details]
        of_factors = of_factors[of_factors["contrast"] == first]
        rope = _beyond(of_factors["verdict"], view.rope)
        to = f"To {first.replace(' - ', ' rather than ')} (new words, {rope})"
        by_factors = common.factors_in_words(of_factors, "closer", "farther")
        said = [f"{to}, {by_factors}."]
        notes += common.notes_on_factors(fit)
    else:
        what = "pairs of groups per set"
        notes += common.several_differences(number, what)
    warnings += interpretation.frequency_warnings(fit, view)
    return Interpretation(fit.table_name, " ".join(said), warnings, notes, lambda: details)


def _sentences(rows: pd.DataFrame, contrasts: Sequence[str], groups: set[str]) -> list[str]:
    """Compare groups by each contrast, by the first with sizes."""
    return [
        compared(rows[rows["contrast"] == name], groups, sizes=name == contrasts[0])
        for name in contrasts
    ]


def _beyond(verdicts: pd.Series, rope: float) -> str:
    """Name the ROPE, and say which differences are beyond it: those without a note."""
    text = f"ROPE ±{rope:g}"
    if verdicts.isin(["below", "above"]).any():
        text = f"beyond {text}"
        if verdicts.str.startswith(("below, ", "above, ")).any():
            text += ", unless noted"
    return text


def everywhere(rows: pd.DataFrame, sets: Sequence[str], groups: set[str]) -> list[str]:
    """Warn of groups that lie closer to every set than others: they are not near one set only."""
    if len(sets) < 2:
        return []
    closer: dict[str, list[str]] = {}
    on_sets = rows[rows["contrast"].isin(sets)]
    for name, compared_on_sets in on_sets.groupby("name", sort=False):
        verdicts = compared_on_sets["verdict"]
        if len(verdicts) < len(sets) or verdicts.isin(list(_WORDS)).any():
            continue
        ways = {verdict.partition(",")[0] for verdict in verdicts}
        if len(ways) > 1:
            continue
        first, second = estimands.sides_of(str(name), {*groups, "others"})
        near, far = (first, second) if ways == {"below"} else (second, first)
        closer.setdefault(near, []).append(far)

    of_all = "both sets" if len(sets) == 2 else f"all {len(sets)} sets"
    nearer_than: dict[str, list[str]] = {}
    farther = closer.pop("others", [])
    for near, others in closer.items():
        than = "the other groups" if others == ["others"] else join_words(others)
        nearer_than.setdefault(than, []).append(near)
    said = [f"{_are(names)} closer to {of_all} than {than}" for than, names in nearer_than.items()]
    if farther:
        said.append(f"{_are(farther)} farther from {of_all} than the other groups")
    if not said:
        return []
    return [
        f"{common.listing(said)}: {sets[0]} alone says little about them. Read the rows of "
        f"{sets[0]} - {sets[1]}."
    ]


def _are(names: Sequence[str]) -> str:
    """Return names and their verb, such as ``a and b are``."""
    return f"{join_words(names)} {'is' if len(names) == 1 else 'are'}"


def compared(rows: pd.DataFrame, groups: set[str], sizes: bool = False) -> str:
    """Say in one sentence which group lies nearer than which, or than all others.

    By one contrast of sets or on one set; with `sizes` by how much, and for which words. Of a
    difference that may lie within the ROPE it says so.
    """
    closer: dict[str, list[str]] = {}
    sides: dict[str, list[str]] = {"closer": [], "farther": []}
    unclear: dict[str, list[str]] = {verdict: [] for verdict in _WORDS}
    others = rows["level"].iloc[0] == "others"
    for row in rows.itertuples():
        first, second = estimands.sides_of(row.name, {*groups, "others"})
        if row.verdict in _WORDS:
            unclear[row.verdict].append(first if others else f"{first} against {second}")
            continue
        by = f" by {common.size(row)}" if sizes else ""
        if row.verdict.partition(", ")[2]:  # it reaches into the ROPE
            by += " (perhaps less than the ROPE)"
        below = row.verdict.startswith("below")
        near, far = (first, second) if below else (second, first)
        sides["closer" if below else "farther"].append(f"{first}{by}")
        closer.setdefault(near, []).append(f"{far}{by}")
    if others:
        said = [f"{way}: {common.listing(names)}" for way, names in sides.items() if names]
        if said and sizes:  # the sentences that follow compare with the same groups
            said[0] = said[0].replace(":", " than the other groups:", 1)
    else:
        said = [f"{near} is closer than {join_words(far)}" for near, far in closer.items()]
    where = f"To {rows['contrast'].iloc[0].replace(' - ', ' rather than ')}"
    if sizes:
        where += f" (new words, {_beyond(rows['verdict'], rows['rope'].iloc[0])})"
    for verdict, names in unclear.items():
        if len(names) == len(rows):
            one = next(rows.itertuples()) if sizes and len(rows) == 1 else None
            by = "" if one is None else f" ({one.name}: {common.estimate(one)})"
            return f"{where}: {_WORDS[verdict]}{by}."
        if names:
            said.append(f"{_WORDS[verdict]}: {common.listing(names)}")
    return f"{where}, {'; '.join(said)}."


# What is said of pairs of groups that do not differ clearly.
_WORDS = {
    "negligible": "practically equally close",
    "inconclusive": "inconclusive",
    TOO_CLOSE: "inconclusive with so few draws (raise --draws)",
}
