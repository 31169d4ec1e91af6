r"""Held-out predictions: half of the words (names, prompts, items) of a real source is fitted, and the other half predicted.

``python -m validation predictions SOURCE.toml ...`` runs sources, and without one those of the project. A split deals
the units of each group into two halves by chance. The contrast of the second half is predicted by ``predict_mean`` of
the fit to the first, and counted if the 89 % interval holds it. Beside it stands what a user of the published method
would take: its 89 % interval from the rows of the first half, with nothing added.

Splits of one source share its units, so that they are not independent. The error beside a coverage is that of a
simulation: many populations of as many normal units, split as often, with intervals of Student's t for the mean of the
other half. It is the SD of the coverage over these populations. It knows neither other distributions nor other terms.

A source is a TOML file::

    title = "Names of job candidates, competence"
    kind = "responses"               # or "pairs", or "templates" (scores of BBQ)
    new = "words"                    # what is split; words, attributes, prompts, items, or a column
    splits = 100
    seed = 1
    published = "t_test"             # or "harness" (normal), or "bootstrap" over rows
    level = "overall"                # of pairs, with `name` and `contrast`; by default the first row
    strata = ["group", "item"]       # columns within which units are dealt; by default their group

    [table]
    path = "audits/candidates.csv"   # or `paths`, or another table: see `LOADERS`

    [columns]                        # of responses
    group = "gender"

    [sizes]                          # at most so many units of a group enter a split
    words = 200

    [fit]                            # of `bayesbias.fit`; by default the quick engine and short draws
    model = "groups"

Paths are relative to the source. Those that are not there are sought in the folder of shared data: that of the
environment variable ``BAYESBIAS_DATA``, or ``shared/data`` beside the checkout.
"""

import argparse
import hashlib
import json
import os
import sys
import time
import tomllib
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import bayesbias as bb
from bayesbias.core import InputError, checks
from bayesbias.inference.estimands import asked_quantities
from bayesbias.inference.prediction import GROUP_OF
from bayesbias.models.design import Design
from bayesbias.studies.responses import template_scores
from bayesbias.wordlists.wordlist import CONNECTIONS
from benchmarks.real_coverage import pool_of

SOURCES = Path(__file__).with_name("predictions")
DATA = Path(__file__).resolve().parents[2] / "shared/data"
VARIABLE = "BAYESBIAS_DATA"
PROB = 0.89
MINUTES = 20.0
OUT = "predictions-output"
KINDS = ("pairs", "responses", "templates")
PUBLISHED = ("t_test", "harness", "bootstrap")
KEYS = (
    "title", "kind", "new", "splits", "seed", "published", "level", "name", "contrast", "strata", "score", "model",
    "table", "columns", "sizes", "fit",
)  # fmt: skip
COLUMNS = {
    "pairs": {"words": "protected_word", "attributes": "attribute"},
    "responses": {"words": "word", "prompts": "template", "templates": "template", "items": "item"},
    "templates": {"templates": "template"},
}
"""The column of what is new, by kind."""
SAMPLING = {"draws": 250, "chains": 2, "engine": "quick", "progress": False}
BOOTSTRAPS = 400
POPULATIONS = 400  # of the simulation of the error
MOST_UNITS = 200  # of a group in it


class AbsentError(Exception):
    """The data of a source are not on this machine."""


@dataclass(frozen=True)
class Source:
    """A source, as its TOML file states it.

    Attributes
    ----------
    path : Path
    sha256 : str
        Of the file: splits of another text are not counted.
    about : dict
        The content.
    """

    path: Path
    sha256: str
    about: dict

    @property
    def kind(self):
        """What the table has."""
        return self.about["kind"]

    @property
    def column(self):
        """The column of the units that are split."""
        return COLUMNS[self.kind].get(self.about["new"], self.about["new"])

    @property
    def sampling(self):
        """Options of the fit."""
        return {**SAMPLING, **self.about.get("fit", {})}


def read_source(path):
    """Read a source; raises an InputError of one line if it is none."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = error.strerror or "no file"
        raise InputError(f"expected a TOML file, got none ({reason})", where=path) from None
    try:
        about = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"expected TOML, got an error ({error})", where=path) from None
    checks.known_keys(about, KEYS, path, needed=("title", "kind", "new", "table"))
    checks.choice(about["kind"], KINDS, f"{path}, kind")
    checks.choice(about.get("published", "t_test"), PUBLISHED, f"{path}, published")
    checks.text(about["new"], f"{path}, new")
    about = {"splits": 100, "seed": 1, "published": "t_test", **about}
    checks.count(about["splits"], f"{path}, splits")
    checks.seed(about["seed"], f"{path}, seed")
    for name in ("table", "columns", "sizes", "fit"):
        checks.table(about.get(name, {}), f"{path}, {name}")
    for name, size in about.get("sizes", {}).items():
        checks.count(size, f"{path}, sizes, {name}", least=4)
    checks.known_keys(about["table"], LOADERS, f"{path}, table")
    return Source(path, hashlib.sha256(content).hexdigest(), about)


def place_of(name, source):
    """Return the path of data: beside the source, or in the folder of shared data."""
    folder = Path(os.environ.get(VARIABLE, DATA))
    for place in (source.path.parent / name, folder / name):
        if place.exists():
            return place
    raise AbsentError(f"there is no {name} beside the source or in {VARIABLE}={folder}")


# -- tables ----------------------------------------------------------------------------------------


def word_list(entry, source):
    """Return words: a list, the path of a text file, or a column of a table in the order of another.

    Of a table the entry is ``{path, column, by}`` and ``first`` or ``last``, a number of words.
    """
    if isinstance(entry, list):
        return entry
    if isinstance(entry, str):
        return place_of(entry, source).read_text(encoding="utf-8").split()
    frame = pd.read_csv(place_of(entry["path"], source)).sort_values(entry["by"])
    words = frame[entry["column"]].astype(str).tolist()
    return words[: entry["first"]] if "first" in entry else words[-entry["last"] :]


def pairs_of(source):
    """Return the rows of a table of pairs."""
    about = source.about["table"]
    if "path" in about:
        place = place_of(about["path"], source)
        if place.suffix == ".npz":
            return pool_of(place)[0].frame
        return bb.load_distances(place).frame
    if "test" in about:
        return bb.sentence_table(about["test"], about.get("encoder", "minilm-static")).frame
    vectors = about["vectors"]
    if "." in vectors:
        vectors = place_of(vectors, source)
    listed = about.get("wordlist")
    if listed is None:
        listed = {
            group: {"protected": word_list(words, source)}
            for group, words in about["groups"].items()
        }
        sets = {name: word_list(words, source) for name, words in about["sets"].items()}
        listed["attribute_sets"] = sets
    elif listed.endswith(".toml"):
        listed = place_of(listed, source)
    return bb.distance_table(vectors, listed).frame


def responses_of(source):
    """Return a table of responses."""
    about = source.about["table"]
    names = about["paths"] if "paths" in about else [about["path"]]
    paths = [place_of(name, source) for name in names]
    return bb.studies.load_responses(
        paths, columns=source.about.get("columns"), where=about.get("where")
    )


LOADERS = ("path", "paths", "where", "vectors", "wordlist", "groups", "sets", "test", "encoder")
"""Keys of ``[table]``: a file or several; vectors with a word list, or with words of groups and of sets; a sentence test
with an encoder."""


# -- splits ----------------------------------------------------------------------------------------


@dataclass
class Halves:
    """A split of the units: the rows of either half, and how many units each group has in the second.

    Attributes
    ----------
    first, second : ndarray of bool
    number : int or dict
        As of ``predict_mean``.
    """

    first: np.ndarray
    second: np.ndarray
    number: object = 1
    units: list = field(default_factory=list)


def group_of(frame, column):
    """Return the column of the groups that units belong to; None where groups share units."""
    by = GROUP_OF.get(column)
    if by is None or by not in frame or (frame.groupby(column)[by].nunique() > 1).any():
        return None
    return by


def chosen_rows(frame, column, size, rng):
    """Return rows of at most so many units of each group, by chance."""
    by = group_of(frame, column)
    groups = [frame] if by is None else [part for _, part in frame.groupby(by, sort=True)]
    kept = []
    for part in groups:
        units = np.array(sorted(part[column].unique()), dtype=object)
        kept += rng.permutation(units)[:size].tolist()
    return frame[column].isin(kept).to_numpy()


def split(source, frame, number):
    """Deal the units of each group into two halves; return the rows of either."""
    rng = np.random.default_rng([source.about["seed"], number])
    used = np.ones(len(frame), dtype=bool)
    names = COLUMNS[source.kind]
    for noun, size in sorted(source.about.get("sizes", {}).items()):
        used &= chosen_rows(frame, names.get(noun, noun), size, rng)

    column = source.column
    by = group_of(frame, column)
    strata = source.about.get("strata", [by] if by else [])
    units = frame.loc[used, [column, *strata]].drop_duplicates()
    if units[column].duplicated().any():
        several = str(units.loc[units[column].duplicated(), column].iloc[0])
        problem = "expected strata that each have units of their own"
        raise InputError(problem, where=f"{source.path}, strata", found=several)
    parts = [units] if not strata else [part for _, part in units.groupby(strata, sort=True)]
    first, second = [], []
    for part in parts:
        labels = rng.permutation(np.array(sorted(part[column].unique()), dtype=object))
        # Of odd numbers one half has one more, by chance.
        middle = (len(labels) + int(rng.integers(2))) // 2
        first += labels[:middle].tolist()
        second += labels[middle:].tolist()

    rows = [used & frame[column].isin(half).to_numpy() for half in (first, second)]
    sizes = len(second)
    counts = [(len(first), len(second))]
    if by is not None:
        halves = [frame[half].groupby(by)[column].nunique() for half in rows]
        counts = list(zip(*(half.tolist() for half in halves), strict=True))
        sizes = {str(name): int(n) for name, n in halves[1].items()}
    return Halves(*rows, sizes, counts)


# -- one split -------------------------------------------------------------------------------------


def welch(parts, prob, method, rng):
    """Return the interval of a weighted sum of means of samples.

    Parameters
    ----------
    parts : list of (float, ndarray)
        Weight and values of each sample.
    prob : float
    method : {"t_test", "harness", "bootstrap"}
        Student's t by Welch, the normal, or percentiles of means of rows drawn again.
    rng : Generator
    """
    center = sum(weight * values.mean() for weight, values in parts)
    if method == "bootstrap":
        sums = 0.0
        for weight, values in parts:
            drawn = rng.integers(len(values), size=(BOOTSTRAPS, len(values)))
            sums = sums + weight * values[drawn].mean(axis=1)
        return tuple(np.quantile(sums, [(1 - prob) / 2, (1 + prob) / 2]))
    squares = np.array([weight**2 * values.var(ddof=1) / len(values) for weight, values in parts])
    freedom = np.array([len(values) - 1 for _, values in parts])
    variance = squares.sum()
    tail = (1 + prob) / 2
    if method == "harness":
        half = stats.norm.ppf(tail)
    else:
        half = stats.t.ppf(tail, variance**2 / (squares**2 / freedom).sum())
    half = half * np.sqrt(variance)
    return center - half, center + half


def samples_of_pairs(frame, key):
    """Return weights and values of the rows that a contrast of pairs compares."""
    level, name, contrast = key
    signs = [1, -1]
    sides = {"": 1}
    labels = dict(zip(contrast.split(" - "), signs, strict=False))
    results = "connection" if {*labels} <= {*CONNECTIONS} else "attribute_class"
    if level == "class":
        frame = frame[frame["protected_class"] == name]
    if level == "between":
        sides = dict(zip(name.split(" - "), signs, strict=True))
    parts = []
    for group, sign in sides.items():
        rows = frame[frame["protected_class"] == group] if group else frame
        for label, weight in labels.items():
            values = rows.loc[rows[results] == label, "distance"].to_numpy(float)
            parts.append((sign * weight, values))
    return parts


def predicted_pairs(source, frame, halves, rng):
    """Fit half of a table of pairs; return the interval, what the other half shows, and the published interval."""
    about, sampling = source.about, dict(source.sampling)
    model = sampling.pop("model", None)
    first, second = (frame[half].reset_index(drop=True) for half in (halves.first, halves.second))
    fit = bb.fit(first, model, seed=about["seed"], **sampling)
    rows = fit.predict_mean({source.column: halves.number}, PROB)
    for label in ("level", "name", "contrast"):
        if label in about:
            rows = rows[rows[label] == about[label]]
    if rows.empty:
        raise InputError("expected a contrast of the fit", where=f"{source.path}, contrast")
    row = rows.iloc[0]
    key = (row["level"], row["name"], row["contrast"])
    asked = asked_quantities(Design.of(fit.spec, second), "listed_words", contrasted=True)
    observed = asked.observed[asked.keys.index(key)]
    published = welch(samples_of_pairs(first, key), PROB, about["published"], rng)
    return row, observed, published, fit


def means_of_groups(frame):
    """Return the mean of each group over questions in common, each with the mean of its answers."""
    labels = ["model", "group", "word", "template", "item"]
    questions = frame.groupby(labels, observed=True)["outcome"].mean().reset_index()
    # Groups are compared on the prompts and items that all were asked about.
    groups = questions.groupby(["template", "item"])["group"].transform("nunique")
    questions = questions[groups == groups.max()]
    return questions.groupby("group", observed=True)["outcome"].mean()


def weights_of(contrast, groups):
    """Return the weight of each group in a contrast: ``a - b``, or ``a - others``."""
    for group in groups:
        first = f"{group} - "
        if not contrast.startswith(first):
            continue
        other = contrast.removeprefix(first)
        if other in groups:
            return {group: 1.0, other: -1.0}
        rest = [name for name in groups if name != group]
        if other == "others":
            return {group: 1.0, **dict.fromkeys(rest, -1 / len(rest))}
    raise InputError("expected a contrast of two groups", where="contrast", found=contrast)


def predicted_responses(source, table, halves, rng):
    """The same for a table of responses."""
    about, sampling = source.about, dict(source.sampling)
    first, second = (
        replace(table, frame=table.frame[half].reset_index(drop=True))
        for half in (halves.first, halves.second)
    )
    found = bb.fit_responses(first, sampling.pop("model", None), seed=about["seed"], **sampling)
    rows = found.predict_mean({source.column: halves.number}, PROB, seed=about["seed"])
    for label in ("model", "contrast"):
        if label in about:
            rows = rows[rows[label] == about[label]]
    if rows.empty:
        raise InputError("expected a contrast of the fit", where=f"{source.path}, contrast")
    row = rows.iloc[0]
    weights = weights_of(row["contrast"], table.groups)
    of_model = second.frame[second.frame["model"] == row["model"]]
    means = means_of_groups(of_model)
    observed = sum(weight * means[group] for group, weight in weights.items())

    answers = first.frame[first.frame["model"] == row["model"]]
    if first.pairing and len(weights) == 2:
        key = [*first.pairing, "group"]
        wide = answers.groupby(key)["outcome"].mean().unstack("group").dropna()
        a, b = weights
        parts = [(1.0, (wide[a] - wide[b]).to_numpy())]
    else:
        parts = [
            (weight, answers.loc[answers["group"] == group, "outcome"].to_numpy(float))
            for group, weight in weights.items()
        ]
    return row, observed, welch(parts, PROB, about["published"], rng), found.fit


def predicted_templates(source, counts, halves, rng):
    """The same for a score of BBQ and other templates, with a bootstrap over rows as published."""
    score = source.about.get("score", "s_AMB")
    first, second = counts[halves.first], counts[halves.second]
    rows = template_scores.other_templates(first, int(halves.number), PROB)
    row = rows[rows["score"] == score].iloc[0]
    others = template_scores.template_scores(second, PROB)
    observed = others.loc[others["score"] == score, "value"].iloc[0]
    context, score_of = template_scores.SCORES[score]
    sums = first.loc[first["context"] == context, list(template_scores.COUNTS)].sum()
    shares = [sums["right"], sums["biased"], sums["known"] - sums["biased"]]
    if context != template_scores.AMBIGUOUS:
        raise InputError("expected a score of ambiguous contexts", where=f"{source.path}, score")
    # In ambiguous contexts the right answer is *unknown*; others follow the stereotype or do not.
    total = int(sums["n"])
    drawn = rng.multinomial(total, np.array(shares) / sum(shares), size=BOOTSTRAPS)
    again = np.stack(
        [drawn.sum(axis=1), drawn[:, 0], drawn[:, 1], drawn[:, 1] + drawn[:, 2]], axis=-1
    ).astype(float)
    ends = np.quantile(score_of(again), [(1 - PROB) / 2, (1 + PROB) / 2])
    return row, observed, tuple(ends), None


def loaded(source):
    """Return the table of a source, the frame of its units, and what predicts."""
    if source.kind == "pairs":
        frame = pairs_of(source)
        return frame, frame, predicted_pairs
    table = responses_of(source)
    if source.kind == "responses":
        return table, table.frame, predicted_responses
    counts = table.answer_counts
    if counts is None:
        raise InputError("expected answers of BBQ", where=f"{source.path}, table")
    model = source.about.get("model", sorted(counts["model"].unique())[0])
    counts = counts[counts["model"] == model].reset_index(drop=True)
    return counts, counts, predicted_templates


def one(source, table, frame, predict, number):
    """Fit one split; return its record."""
    halves = split(source, frame, number)
    rng = np.random.default_rng([source.about["seed"], number, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of halves of a table, such as that words are few
        row, observed, published, fit = predict(source, table, halves, rng)
    row = row.to_dict()
    label = row.get("contrast", row.get("score"))
    place = " ".join(str(row[name]) for name in ("level", "name") if row.get(name))
    return {
        "source": source.sha256, "split": number, "contrast": f"{place} {label}".strip(),
        "units": [[int(n) for n in sizes] for sizes in halves.units],
        "observed": float(observed), "low": float(row["low"]), "high": float(row["high"]),
        "published_low": float(published[0]), "published_high": float(published[1]),
        "converged": None if fit is None else bool(fit.diagnostics()["ok"]),
    }  # fmt: skip


# -- runs ------------------------------------------------------------------------------------------


def finished(file, source):
    """Return the records of splits that were finished with the same source."""
    if not file.is_file():
        return []
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [record for record in records if record["source"] == source.sha256]


def run_source(source, splits, folder, until, progress):
    """Run the splits of a source that are not finished; return the records of all."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{source.path.stem}.jsonl"
    records = finished(file, source)
    done = {record["split"] for record in records}
    left = [number for number in range(splits) if number not in done]
    if not left:
        return [record for record in records if record["split"] < splits]
    table, frame, predict = loaded(source)
    checks.choice(source.column, frame.columns, f"{source.path}, new")
    start = time.monotonic()
    for count, number in enumerate(left):
        if count and time.monotonic() > until:
            break
        record = one(source, table, frame, predict, number)
        records.append(record)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(record) + "\n")
        if progress:
            seconds = (time.monotonic() - start) / (count + 1)
            text = f"{source.path.stem}: {len(records)} of {splits} splits, {seconds:.1f} s each"
            print(f"\r{text} ", end="", file=sys.stderr, flush=True)
    if progress:
        print(file=sys.stderr)
    return [record for record in records if record["split"] < splits]


def error_of_coverage(units, splits, sizes=None, seed=0):
    """Return the SD of a coverage over populations of normal units that are split so often.

    Parameters
    ----------
    units : list of (int, int)
        Units of each group in the first and the second half.
    splits : int
    sizes : list of int, optional
        How many units a population has of each group; by default both halves.
    seed : int
    """
    rng = np.random.default_rng([seed, splits])
    coverage = np.empty(POPULATIONS)
    small = [[min(n, MOST_UNITS // 2) for n in pair] for pair in units]
    whole = [max(sum(pair), 0) for pair in small] if sizes is None else sizes
    for population in range(POPULATIONS):
        gap, variance, freedom = 0.0, 0.0, 0.0
        for (first, second), size in zip(small, whole, strict=True):
            values = rng.normal(size=size)
            order = rng.random((splits, size)).argsort(axis=1)
            fitted = values[order[:, :first]]
            gap = gap + fitted.mean(axis=1) - values[order[:, first : first + second]].mean(axis=1)
            square = fitted.var(axis=1, ddof=1)
            variance = variance + square * (1 / first + 1 / second)
            freedom = freedom + (square * (1 / first + 1 / second)) ** 2 / (first - 1)
        half = stats.t.ppf((1 + PROB) / 2, variance**2 / freedom) * np.sqrt(variance)
        coverage[population] = (np.abs(gap) <= half).mean()
    return float(coverage.std(ddof=1))


def summary(source, records):
    """Return the row of a source: coverage with its error, mean width, and the same as published."""
    frame = pd.DataFrame(records)
    inside = frame["observed"].between(frame["low"], frame["high"])
    published = frame["observed"].between(frame["published_low"], frame["published_high"])
    width = (frame["high"] - frame["low"]).mean()
    return {
        "source": source.about["title"],
        "new": source.about["new"],
        "contrast": frame["contrast"].iloc[0],
        "splits": len(frame),
        "coverage": float(inside.mean()),
        "error": error_of_coverage(frame["units"].iloc[0], len(frame)),
        "width": float(width),
        "published": f"{source.about['published']}",
        "published_coverage": float(published.mean()),
        "published_width": float((frame["published_high"] - frame["published_low"]).mean()),
        "converged": frame["converged"].dropna().astype(float).mean(),
    }


HEAD = """\
| source | new | contrast | splits | coverage ± error | mean width | published method: coverage, width |
| --- | --- | --- | --- | --- | --- | --- |"""


def line_of(row):
    """Return a row of the table."""
    ours = f"{row['coverage']:.3f} ± {row['error']:.3f} | {row['width']:.3g}"
    method = row["published"].replace("_", "-")
    theirs = f"{method}: {row['published_coverage']:.3f}, {row['published_width']:.3g}"
    return f"| {row['source']} | {row['new']} | {row['contrast']} | {row['splits']} | {ours} | {theirs} |"


def main(arguments):
    """Run sources, and print a row of the table for each; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m validation predictions", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("sources", nargs="*", metavar="SOURCE.toml", help="by default all shipped")
    parser.add_argument("--splits", type=int, help="splits of each source, instead of its own")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="stop after so many")
    parser.add_argument("--out", default=OUT, help=f"the folder of finished splits ({OUT})")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    asked = parser.parse_args(arguments)
    until = time.monotonic() + 60 * asked.minutes
    paths = asked.sources or sorted(SOURCES.glob("*.toml"))
    try:
        sources = [read_source(path) for path in paths]
        print(HEAD, flush=True)
        for source in sources:
            splits = asked.splits or source.about["splits"]
            try:
                records = run_source(source, splits, Path(asked.out), until, not asked.quiet)
            except AbsentError as absent:
                print(f"{source.path}: skipped, {absent}.", file=sys.stderr)
                continue
            print(line_of(summary(source, records)), flush=True)
            if len(records) < splits:
                left = splits - len(records)
                again = "Run the same command again to go on"
                print(f"{source.path}: {left} splits are left. {again}.", file=sys.stderr)
    except InputError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0
