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
    Column("reading", "reading"),
)
OPTIONS = ("classes", "sides", "against", "samples", "resamples", "seed", "prob", "alpha")


@shared.command(
    "embedding",
    "wordlist",
    "distances",
    "postprocess",
    "own.score",
    "seed",
    "samples",
    "prob",
    "alpha",
    *shared.READING,
    "detail",
    "as_json",
)
def score(scores: str | None, **given: Any) -> None:
    """Compute published scores: WEAT, MAC and others."""
    from bayesbias.output.text import wrapped
    from bayesbias.studies import common
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
    warnings = common.word_warnings(table.coverage.as_dict())
    answer = {
        "scores": [result.as_dict() for result in results],
        "alpha": given["alpha"],
        "left_out": {name: str(error) for name, error in left_out.items()},
        "warnings": warnings,
        "provenance": dict(table.provenance),
    }
    if given["detail"]:
        about = [SCORES[name] for name in dict.fromkeys(result.name for result in results)]
        told = [wrapped(f"{row.title}: {row.about} {row.known} {row.source}.") for row in about]
        more = ["\n" + "\n".join(each) for each in told]
        more += shared.warned(warnings)
        shared.tell(answer, "\n\n".join(map(str, results)), *more)
    else:
        shared.tell_table(answer, *_screen(results, left_out, table, vectors, given), warnings)


def _screen(
    results: list[Any],
    left_out: dict[str, InputError],
    table: Any,
    vectors: bb.Embedding | None,
    given: Any,
) -> tuple[str, list[str], str, list[str]]:
    """Return title line, one table of all scores, headline and notes."""
    import pandas as pd

    from bayesbias.embeddings.spelling import ANOTHER_SPELLING
    from bayesbias.studies.common import sentence
    from bayesbias.tables.pair_table import notes_of_vectors

    rows = []
    notes = []  # each with the score that it is of
    for name, error in left_out.items():
        reason = "; ".join(filter(None, (error.parts["problem"], error.parts["hint"])))
        notes.append((f"left out: {reason}", SCORES[name].title))
    of_vectors = notes_of_vectors(table) if vectors is None else list(vectors.notes)

    def is_of_vectors(note: str) -> bool:
        """Whether a note is on what was read, which is said once and not for each score."""
        return note in of_vectors or note.startswith(ANOTHER_SPELLING)

    a_query = any("WEFE" in note for note in table.coverage.notes)
    for result in results:
        about = SCORES[result.name]
        of = f" {result.data.split(' of ')[0]}" if result.name == "sc_weat" else ""
        title = f"{about.title}{of}"
        shown = f"{title} effect size d" if result.label == "effect size" else title
        rows.append({**result.as_dict(), "title": title, "score": shown, "reading": result.reading})
        notes += [(note, title) for note in result.notes if not is_of_vectors(note)]
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
    verdicts = _verdicts(results, [row["title"] for row in rows], given["alpha"])
    headline = " ".join(f"{verdict}: {', '.join(titles)}." for verdict, titles in verdicts.items())
    # Of tested scores p and the reading say it.
    untested = {row["title"]: row["meaning"] for row in rows if row["p_value"] is None}
    more = [f"{title}: {meaning}" for title, meaning in untested.items()]
    if any(result.details.get("sides") == 1 for result in results):
        more.append("p is one-sided: does X lean to A, and Y to B? --sides 2 tests both.")
    if drawn := _resampled(results):
        more.append(f"Bootstrap over {drawn}.")
    if missing := checks.once(word for result in results for word in result.dropped):
        more.append(f"{number_of(len(missing), 'word')} without a vector: {some(missing, 6)}.")
    more += [sentence(note) for note in of_vectors]
    more += [f"{', '.join(of)}: {note.rstrip('.')}." for note, of in checks.grouped(notes).items()]
    if any(result.p_value is not None for result in results):
        more.append("For new words, and which distances differ, use: bayesbias fit.")
    headline = headline or "These scores have no significance test."
    return f"scores | {table.provenance['name']}{seed}", lines, headline, more


def _resampled(results: list[Any]) -> str:
    """Say what the intervals of scores draw again."""
    scores: dict[str, list[str]] = {}
    for result in results:
        about = SCORES[result.name]
        if result.low is not None and about.resamples:
            scores.setdefault(about.resamples, []).append(about.title)
    return "; ".join(f"{what} ({some(checks.once(names))})" for what, names in scores.items())


def _verdicts(results: list[Any], titles: list[str], alpha: float) -> dict[str, list[str]]:
    """Return the titles of tested scores, under what their p-values say at a level."""
    level = f"{alpha:g}".removeprefix("0")
    verdicts: dict[str, list[str]] = {
        f"Significant at {level}": [],
        f"Opposite direction, significant at {level}": [],
        f"Not significant at {level}": [],
    }
    significant, opposite, others = verdicts.values()
    for result, title in zip(results, titles, strict=True):
        p_opposite = result.details.get("p_opposite")
        if result.p_value is None:
            continue
        if result.p_value <= alpha:
            significant.append(title)
        elif p_opposite is not None and p_opposite <= alpha:
            opposite.append(title)
        else:
            others.append(title)
    return {verdict: titles for verdict, titles in verdicts.items() if titles}


@shared.command(
    "embedding",
    "own.wefat",
    "postprocess",
    *shared.READING,
    *shared.SAMPLING,
    "samples",
    "prob",
    "alpha",
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
