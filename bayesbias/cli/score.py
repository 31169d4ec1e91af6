"""The commands ``bayesbias score`` and ``bayesbias wefat``."""

from pathlib import Path
from typing import Any

import bayesbias as bb
from bayesbias.cli import shared
from bayesbias.core import InputError, checks, number_of, some
from bayesbias.core.sections import Column
from bayesbias.scores.score import SCORES

COLUMNS = (
    Column("score", "score"),
    Column("value", "value", "signed", digits=3),
    Column("low", "{prob} interval", "interval", 3, "high"),
    Column("p_value", "p", "p_value"),
    Column("reads", "reading"),
)
OPTIONS = ("classes", "sides", "against", "samples", "resamples", "seed", "prob")
ALPHA = 0.05


@shared.command(
    "embedding",
    "wordlist",
    "distances",
    "postprocess",
    "own.score",
    "seed",
    "samples",
    "prob",
    *shared.READING,
    "detail",
    "as_json",
)
def score(scores: str | None, **given: Any) -> None:
    """Compute published scores: WEAT, MAC and others."""
    from bayesbias.output.text import wrapped
    from bayesbias.wordlists.wordlist import check_number_of_pairs

    asked = None if scores is None else [name.strip().lower() for name in scores.split(",")]
    asked = asked and ["relative_norm_distance" if name == "rnd" else name for name in asked]
    for name in asked or ():
        checks.choice(name, SCORES, "--scores")
    words = vectors = None
    if given["distances"] is None and given["embedding"] and given["wordlist"]:
        words = bb.load_wordlist(given["wordlist"], controls="none")
        check_number_of_pairs(words)
        vectors = shared.vectors_of(given, shared.every_word(words))
        table = bb.distance_table(vectors, words)
    else:
        table = shared.table_of(given)
    results = []
    left_out = {}
    options = {name: given[name] for name in OPTIONS}
    for name in asked or SCORES:
        own = {"words": "evaluation"} if name == "mac" else {}
        try:
            results += SCORES[name].compute(table, vectors, words, **options, **own)
        except InputError as error:
            if asked is not None:
                raise error.retold(name) from None
            left_out[name] = error
    if not results:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise InputError(f"expected data for a score, got none ({reasons})")
    answer = {
        "scores": [result.as_dict() for result in results],
        "left_out": {name: str(error) for name, error in left_out.items()},
        "provenance": dict(table.provenance),
    }
    if given["detail"]:
        about = [SCORES[name] for name in dict.fromkeys(result.name for result in results)]
        told = [wrapped(f"{row.title}: {row.about} {row.known} {row.source}.") for row in about]
        more = ["\n" + "\n".join(each) for each in told]
        shared.tell(answer, "\n\n".join(map(str, results)), *more)
    else:
        shared.tell_table(answer, *_screen(results, left_out, table, given))


def _screen(
    results: list[Any], left_out: dict[str, InputError], table: Any, given: Any
) -> tuple[str, list[str], str, list[str]]:
    """Return title line, one table of all scores, headline and notes."""
    import pandas as pd

    rows = []
    notes = []  # each with the score that it is of
    for name, error in left_out.items():
        reason = "; ".join(filter(None, (error.parts["problem"], error.parts["hint"])))
        notes.append((f"left out: {reason}", SCORES[name].title))
    a_query = any("WEFE" in note for note in table.coverage.notes)
    for result in results:
        about = SCORES[result.name]
        of = f" {result.data.split(' of ')[0]}" if result.name == "sc_weat" else ""
        title, reads = f"{about.title}{of}", about.reading(result.value)
        shown = f"{title} effect size d" if result.label == "effect size" else title
        rows.append({**result.as_dict(), "title": title, "score": shown, "reads": reads})
        notes += [(note, title) for note in result.notes]
        if result.name == "weat" and a_query:
            of_wefe = f"WEFE's WEAT is the difference of sums, here {result.statistic:+.4f}"
            if result.value is not None:
                n = result.n["x"] + result.n["y"]
                size = result.value * (n / (n - 1)) ** 0.5  # its SD divides by n
                of_wefe += f"; WEFE's effect size is {size:+.4f}"
            notes.append((of_wefe, title))
    frame = pd.DataFrame(rows)
    seeds = frame["seed"].dropna()
    seed = f" | seed {int(seeds.iloc[0])}" if len(seeds) else ""
    lines = []
    if two := next((result for result in results if len(result.classes) == 2), None):
        (x, y), sets = two.classes, two.details.get("attribute_sets", two.classes)
        a, b = (f"attributes of {s}" if s in (x, y) else s for s in sets)
        lines.append(f"X: {x}, Y: {y}, A: {a}, B: {b}")
    lines += ["", *shared.lines_of(frame, COLUMNS, given["prob"])]
    tested = frame.dropna(subset="p_value")
    low = tested["p_value"] < ALPHA
    one_sided = tested["details"].map(lambda of: of.get("sides") == 1).astype(bool)
    high = one_sided & (tested["p_value"] > 1 - ALPHA)
    said = [
        f"{verdict}: {', '.join(tested['title'][own])}."
        for verdict, own in (
            (f"Significant (p < {ALPHA:g})", low),
            (f"Opposite direction (one-sided p > {1 - ALPHA:g})", high),
            ("Not significant", ~low & ~high),
        )
        if own.any()
    ]
    more = []
    if one_sided.any():
        what = "is X closer to A, and Y to B? A p near 1 points the other way"
        more.append(f"p is one-sided: {what}. --sides 2 tests both directions.")
    if missing := checks.once(word for result in results for word in result.dropped):
        more.append(f"{number_of(len(missing), 'word')} without a vector: {some(missing, 6)}.")
    more += [f"{', '.join(of)}: {note.rstrip('.')}." for note, of in checks.grouped(notes).items()]
    more.append("Scores treat the attributes as fixed. For new words use: bayesbias fit.")
    headline = " ".join(said) or "These scores have no significance test."
    return f"scores | {table.provenance['name']}{seed}", lines, headline, more


@shared.command(
    "embedding",
    "own.wefat",
    "postprocess",
    *shared.READING,
    *shared.SAMPLING,
    "samples",
    "prob",
    "require",
    *shared.OUTPUT,
)
def wefat(sets: str, covariates: Path, covariate: str | None, **given: Any) -> None:
    """Relate associations to a number about words."""
    from bayesbias.tables.covariates import covariates_given

    if given["embedding"] is None:
        raise InputError("expected vectors, got none", hint="add --embedding E")
    shared.check_out(given, "wefat")
    known = covariates_given(covariates, None if covariate is None else [covariate])
    words = bb.load_wordlist(sets, controls="none")
    asked = dict.fromkeys(
        [*words.protected_words, *(word for each in known for word in each.values)]
    )
    result = bb.wefat(
        shared.vectors_of(given, list(asked)),
        words,
        known,
        covariate,
        **shared.chosen(given, "classes", "prob", "alpha", "samples", *shared.SAMPLING),
    )
    shared.show(result, given)
