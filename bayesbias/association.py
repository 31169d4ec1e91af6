"""SEAT: sentence tests run on sentence encoders, and their hierarchical reading.

The scores are those of May et al. (2019): WEAT over the vectors of sentences. Beside the p-value they
sample stands one that is exact or rigorously bounded, and one over words: the sentences of one word are not
independent, and a partition that tears them apart is none that a new sample of words could have given. The
hierarchical reading keeps every pair of sentences and lets words and templates vary.

Source: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, with its supplement.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._progress import ticking
from bayesbias._resources import whole_file
from bayesbias.baseline import effect_size
from bayesbias.distance import Coverage, PairTable
from bayesbias.encoder import cbow_tokens, describe_encoder, encode, load_encoder
from bayesbias.errors import BayesbiasError, InputError
from bayesbias.model import _check_settings, fit
from bayesbias.permutation import holm, permutation_test
from bayesbias.posterior import PROB
from bayesbias.sentences import SETS, SentenceTest, sentence_test, shipped_tests
from bayesbias.spec import load_model

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.posterior import BiasFit

__all__ = ["PUBLISHED_COLUMNS", "SeatResult", "leave_one_out", "seat", "sentence_table"]

PUBLISHED_COLUMNS = (
    "model", "options", "test", "p_value", "effect_size", "num_targ1", "num_targ2", "num_attr1", "num_attr2",
)  # fmt: skip
"""The nine columns of the results published with the paper."""

_OWN_COLUMNS = ("level", "statistic", "p_lower", "p_upper", "p_method", "p_words", "p_holm", "dropped")
_BAYES_COLUMNS = (
    "contrast", "sd", "hpdi_low", "hpdi_high", "share_word", "share_template", "share_sentence", "share_residual",
    "converged",
)  # fmt: skip
# As many partitions as the authors enumerate; more are sampled (supplement, appendix A).
_ENUMERATED = 100_000
_SIGNIFICANT = 0.01
# Certain bounds at most this far apart, relative to p: no verdict hangs on a twentieth of a p-value, and a fifth of
# that would take twice as long.
_WIDTH = 0.1
_MOST_KEPT = 20_000  # vectors of sentences, which several tests share, in memory
_MOST_THREADS = 4  # each may hold tables of counts of some 400 MB

# The tests of Table 4 of the paper, in its order and by its names; then the others, named in its manner.
_TABLE = {
    "weat1": "C1: Flowers/Insects",
    "weat3": "C3: EA/AA Names",
    "weat6": "C6: M/F Names, Career",
    "angry_black_woman_stereotype": "ABW Stereotype",
    "heilman_double_bind_competent": "Double Bind: Competent",
    "heilman_double_bind_likable": "Double Bind: Likable",
    "weat2": "C2: Instruments/Weapons",
    "weat3b": "C3b: EA/AA Terms",
    "weat4": "C4: EA/AA Names",
    "weat5": "C5: EA/AA Names",
    "weat5b": "C5b: EA/AA Terms",
    "weat6b": "C6b: M/F Terms, Career",
    "weat7": "C7: Math/Arts, M/F Terms",
    "weat7b": "C7b: Math/Arts, M/F Names",
    "weat8": "C8: Science/Arts, M/F Terms",
    "weat8b": "C8b: Science/Arts, M/F Names",
    "weat9": "C9: Mental/Physical Disease",
    "weat10": "C10: Young/Old Names",
    "angry_black_woman_stereotype_b": "ABW Stereotype, Terms",
    "heilman_double_bind_competent_1": "Competent, Script 1",
    "heilman_double_bind_competent_1+3-": "Competent, Script 1+3-",
    "heilman_double_bind_competent_1-": "Competent, Script 1-",
    "heilman_double_bind_likable_1": "Likable, Script 1",
    "heilman_double_bind_likable_1+3-": "Likable, Script 1+3-",
    "heilman_double_bind_likable_1-": "Likable, Script 1-",
}
_CONTEXT = {"word": "word", "sentence": "sent", "unbleached": "sent (u)", "text": "text"}
# Tests that ask the same of other words or of fewer (section 4 of the paper, and the same of its variants b); the
# last says whether power falls from the first to the last, so that p-values should rise.
_RELATED = (
    ("European/African American names, pleasant", ("weat3", "weat4", "weat5"), True),
    ("European/African American terms, pleasant", ("weat3b", "weat5b"), True),
    ("math or science against arts, gender terms", ("weat7", "weat8"), False),
    ("math or science against arts, gender names", ("weat7b", "weat8b"), False),
)


@dataclass(frozen=True, eq=False, repr=False)
class SeatResult:
    """Every test on every encoder.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row for each encoder and test: the nine published columns (``model, options, test, p_value,
        effect_size, num_targ1, num_targ2, num_attr1, num_attr2``), and ``level`` (word, sentence, unbleached,
        or text: whole paragraphs), ``statistic``, ``p_lower, p_upper, p_method`` (exact, bounds or montecarlo), ``p_words``,
        ``p_holm``, ``dropped`` (examples without a vector of their own). With `bayes` also ``contrast, sd,
        hpdi_low, hpdi_high`` of associated - different for new words and templates (negative: targ1 lies
        nearer to attr1, targ2 to attr2), the shares of variance ``share_word, share_template, share_sentence``
        (what takes a word and a template together: one word in one template, or a word beside the template of
        the other sentence), ``share_residual``, and ``converged``. What does not exist is missing (NaN).
    failures : pandas.DataFrame
        ``model, options, test, reason``: what could not be run, and why. Nothing else is lost by it.
    dropped : pandas.DataFrame
        ``model, options, test, set, word, sentence``: examples whose own word the encoder lacks.
    notes : pandas.DataFrame
        ``model, options, test, note``: what a reader of a number has to know of it.
    provenance : dict
        Encoders, tests with their SHA-256, seed, samples, versions.
    """

    frame: pd.DataFrame
    failures: pd.DataFrame
    dropped: pd.DataFrame
    notes: pd.DataFrame
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def published(self) -> pd.DataFrame:
        """Return the nine published columns."""
        return self.frame[list(PUBLISHED_COLUMNS)].copy()

    def table(self, alpha: float = _SIGNIFICANT) -> pd.DataFrame:
        """Return effect sizes in the layout of the paper's Table 4; tests it leaves out follow those it has.

        Parameters
        ----------
        alpha : float in (0, 1)
            One star where ``p_value`` is below it, two where ``p_holm`` is. The paper takes 0.01. A dagger marks
            what `notes` say something of.

        Returns
        -------
        DataFrame
            Index ``test, context``; a column of text for each encoder; empty where a test was not run.

        Examples
        --------
        >>> seat("weat1,sent-weat1", seed=1, cache=False).table().iloc[:, 0].tolist()
        ['1.26**', '1.26**']
        """
        import pandas as pd

        _check_probability(alpha, "alpha")
        named = self.named()
        columns = [_column(*key) for key in zip(self.frame["model"], self.frame["options"], strict=True)]
        index = pd.MultiIndex.from_frame(
            named[["title", "context"]].drop_duplicates(), names=["test", "context"]
        )
        out = pd.DataFrame("", index=index, columns=list(dict.fromkeys(columns)))
        noted = set(self.notes[["model", "options", "test"]].itertuples(index=False, name=None))
        for names, column, row in zip(
            named[["title", "context"]].itertuples(index=False, name=None),
            [columns[i] for i in named.index],
            self.frame.loc[named.index].itertuples(),
            strict=True,
        ):
            stars = "**" if row.p_holm < alpha else "*" if row.p_value < alpha else ""
            stars += "†" if (row.model, row.options, row.test) in noted else ""
            out.loc[names, column] = (
                "none" if pd.isna(row.effect_size) else f"{row.effect_size:.2f}"
            ) + stars
        return out

    def named(self) -> pd.DataFrame:
        """Return title and context of every row of `frame`, in the order of Table 4.

        Returns
        -------
        DataFrame
            Index that of `frame`; ``title`` (as in Table 4), ``context`` (word, sent, sent (u), text) and
            ``base`` (the word test that the test belongs to; the test itself where it is none of the published).
        """
        import pandas as pd

        published = set(shipped_tests()) | set(_TABLE)
        rows = []
        for test, level in zip(self.frame["test"], self.frame["level"], strict=True):
            base, place = _base_of(test) if test in published else (test, 0)
            rows.append((_TABLE.get(base, base), _CONTEXT[level], base, place))
        out = pd.DataFrame(rows, columns=["title", "context", "base", "place"], index=self.frame.index)
        order = list(dict.fromkeys([*_TABLE, *out["base"]]))
        return (
            out.assign(at=[order.index(base) for base in out["base"]])
            .sort_values(["at", "place"], kind="stable")
            .drop(columns=["at", "place"])
        )

    def consistency(self, alpha: float = _SIGNIFICANT) -> pd.DataFrame:
        """Ask whether related tests agree, as section 4 of the paper does.

        Tests 7 and 8 ask nearly the same; tests 3, 4 and 5 ask the same with ever fewer words, so that
        p-values should rise. What an encoder makes of them shows how far a single test may be trusted.

        Parameters
        ----------
        alpha : float in (0, 1)

        Returns
        -------
        DataFrame
            One row for each encoder, group and level of which at least two tests were run: ``model, options,
            group, level, tests, effect_sizes, p_values, p_words`` (tuples, in order), ``same_sign``,
            ``same_verdict`` (all p_values below `alpha`, or none), ``p_rises`` (where it should; else missing),
            ``spread`` of effect sizes. ``p_values`` are upper bounds, where p is not known exactly.
        """
        import pandas as pd

        _check_probability(alpha, "alpha")
        rows = []
        for (model, options, level), part in self.frame.groupby(["model", "options", "level"], sort=False):
            published = part[part["test"].isin(shipped_tests())]
            bases = {_base_of(row.test)[0]: row for row in published.itertuples()}
            for group, names, rising in _RELATED:
                run = [bases[name] for name in names if name in bases]
                if len(run) < 2 or any(pd.isna(row.effect_size) for row in run):
                    continue
                sizes = tuple(float(row.effect_size) for row in run)
                p = tuple(float(row.p_upper) for row in run)
                rows.append(
                    {
                        "model": model,
                        "options": options,
                        "group": group,
                        "level": level,
                        "tests": tuple(row.test for row in run),
                        "effect_sizes": sizes,
                        "p_values": p,
                        "p_words": tuple(float(row.p_words) for row in run),
                        "same_sign": len({math.copysign(1, size) for size in sizes}) == 1,
                        "same_verdict": len({value < alpha for value in p}) == 1,
                        "p_rises": all(a <= b for a, b in itertools.pairwise(p)) if rising else pd.NA,
                        "spread": max(sizes) - min(sizes),
                    }
                )
        columns = ["model", "options", "group", "level", "tests", "effect_sizes", "p_values", "p_words"]
        columns += ["same_sign", "same_verdict", "p_rises", "spread"]
        return pd.DataFrame(rows, columns=columns).astype({"p_rises": "boolean"})

    def write_tsv(self, path: str | os.PathLike[str]) -> Path:
        """Write the nine published columns, tab-separated, whole or not at all."""
        with whole_file(path) as temporary:
            self.published().to_csv(temporary, sep="\t", index=False, na_rep="")
        return Path(path)

    def __repr__(self) -> str:
        models = self.frame.groupby(["model", "options"], sort=False).ngroups
        lines = [f"SeatResult: {self.frame['test'].nunique()} tests on {models} encoders"]
        for (model, options), part in self.frame.groupby(["model", "options"], sort=False):
            clear = int((part["p_holm"] < _SIGNIFICANT).sum())
            lines.append(
                f"  {_column(model, options)}: {clear} of {len(part)} below 0.01 after Holm's correction"
            )
            by_sentence = part[(part["level"] == "sentence") & (part["p_upper"] < _SIGNIFICANT)]
            lost = int((by_sentence["p_words"] >= _SIGNIFICANT).sum())
            if lost:
                lines.append(
                    f"    {lost} of {len(by_sentence)} sentence tests are not, when each word counts once (p_words)"
                )
        for row in self.notes.itertuples():
            lines.append(f"  {_column(row.model, row.options)}, {row.test}: {row.note}")
        if len(self.failures):
            lines.append(f"  {len(self.failures)} could not be run: {self.failures['reason'].iloc[0]}")
        return "\n".join(lines)


# -- one test --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Encoded:
    """The examples of one test that an encoder has, with their unit vectors."""

    test: SentenceTest
    frame: pd.DataFrame
    vectors: np.ndarray  # (rows of the frame, d), of length 1
    dropped: pd.DataFrame

    def of(self, name: str) -> np.ndarray:
        return self.vectors[(self.frame["set"] == name).to_numpy()]

    def scores(self) -> tuple[np.ndarray, np.ndarray]:
        """s(w, A, B) of both target sets: the mean of unit vectors gives the mean of cosines."""
        gap = self.of("attr1").mean(axis=0) - self.of("attr2").mean(axis=0)
        return self.of("targ1") @ gap, self.of("targ2") @ gap

    def words(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean score of each word of both target sets."""
        import pandas as pd

        sets, words = self.frame["set"].astype(str), self.frame["word"]
        x, y = (
            pd.Series(scores).groupby(words[sets == name].to_numpy(), sort=False).mean().to_numpy()
            for name, scores in zip(SETS[:2], self.scores(), strict=True)
        )
        return x, y

    @property
    def sizes(self) -> dict[str, int]:
        counts = self.frame["set"].value_counts()
        return {name: int(counts[name]) for name in SETS}


def _encoded(test: SentenceTest, encoder: Any, made: Callable[[list[str]], np.ndarray]) -> _Encoded:
    """Encode the examples of a test by `made`, without those whose own word the encoder lacks."""
    frame = test.frame
    account = _account(encoder, list(dict.fromkeys(frame["sentence"])))
    lacking = account.get("lacking", {})
    lost = np.zeros(len(frame), dtype=bool)
    if lacking:
        # An example whose own word has no vector would be nothing but its template.
        for i, (template, sentence) in enumerate(zip(frame["template"], frame["sentence"], strict=True)):
            if sentence in lacking:
                lost[i] = not _own_tokens(template, sentence) - set(lacking[sentence])
    kept = frame[~lost].reset_index(drop=True)
    dropped = frame.loc[lost, ["set", "word", "sentence"]].reset_index(drop=True)
    empty = [name for name in SETS if not (kept["set"] == name).any()]
    if empty:
        words = list(dict.fromkeys(dropped.loc[dropped["set"] == empty[0], "word"]))
        raise InputError(
            f"no word of {empty[0]} ({test.categories[empty[0]]}) is known to the encoder",
            where=f"{encoder.name}, test {test.name}",
            found=f"none of {', '.join(words[:8])}{' ...' if len(words) > 8 else ''}",
        )
    vectors = np.asarray(made(kept["sentence"].tolist()), dtype=float)
    # In two steps, so that numbers near the largest there are do not overflow when they are squared.
    vectors = vectors / np.abs(vectors).max(axis=1, keepdims=True)
    return _Encoded(test, kept, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dropped)


def _unstated(test: SentenceTest) -> bool:
    """Say whether the examples are sentences of which nobody knows the words and templates."""
    return _level(test) == "text"


def _notes(encoded: _Encoded) -> list[str]:
    """Say what a reader of the numbers of one test on one encoder has to know."""
    test, frame, vectors = encoded.test, encoded.frame, encoded.vectors
    out = []
    if _unstated(test):
        out.append(
            "its words and templates are not stated, so that every example counts as a word of its own: p takes them for "
            "independent, there is no p_words, and an interval is too narrow where they share words; a test file may hold "
            "lists words and templates beside examples"
        )
    cut = []
    for name in SETS:
        listed = test.frame.loc[test.frame["set"] == name, "word"].nunique()
        left = frame.loc[frame["set"] == name, "word"].nunique()
        if left < listed / 2:
            cut.append(f"{left} of {listed} words of {name} ({test.categories[name]})")
    if cut:
        out.append(f"the encoder has only {', '.join(cut)}")
    distinct = ~frame.duplicated("sentence").to_numpy()
    keys = [row.tobytes() for row in vectors[distinct].round(12)]
    same = frame.loc[distinct, "word"].to_frame().assign(key=keys).duplicated(["word", "key"], keep=False)
    if len(set(keys)) == 1:
        out.append("all vectors are the same, so that there is nothing to test")
    elif same.any():
        out.append(
            f"{int(same.sum())} of {len(keys)} sentences have the same vector as another sentence of their word: the encoder "
            "does not see what their templates add, and they count as if they were new evidence"
        )
    gap = encoded.of("attr1").mean(axis=0) - encoded.of("attr2").mean(axis=0)
    if len(set(keys)) > 1 and np.abs(gap).max() < 1e-12:
        out.append("the two sets of attributes have the same mean vector, so that there is nothing to test")
    repeats = int(frame.duplicated(["set", "sentence"]).sum())
    if repeats:
        out.append(
            f"{repeats} examples repeat another of their set, and count again; sentence_table counts each once"
        )
    if encoded.sizes["targ1"] == encoded.sizes["targ2"] == 1:
        out.append("with one target in each set the effect size is 1.41 or -1.41, whatever the vectors are")
    return out


def _account(encoder: Any, sentences: list[str]) -> dict[str, Any]:
    try:
        return describe_encoder(encoder, sentences)["account"]
    except BayesbiasError:
        raise
    except Exception as error:  # an encoder may be anybody's code
        told = f"{type(error).__name__}: {error}"
        raise InputError(
            "the encoder cannot account for the sentences", where=encoder.name, found=told
        ) from error


def _maker(
    encoder: Any,
    cache: bool | str | os.PathLike[str],
    batch_size: int | None,
    progress: bool | None,
    most: int = 0,
) -> Callable[[list[str]], np.ndarray]:
    """Return a function that encodes, and keeps up to `most` vectors: tests share many of their sentences."""
    known: dict[str, np.ndarray] = {}
    dims: set[int] = set()

    def made(sentences: list[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(sentences) if text not in known]
        found: dict[str, np.ndarray] = {}
        if new:
            vectors = encode(encoder, new, cache=cache, batch_size=batch_size, progress=progress)
            if dims and vectors.shape[1] not in dims:
                raise InputError(
                    "the encoder changed its dimension from one test to another",
                    where=f"encoder {encoder.name!r}",
                    found=vectors.shape[1],
                    valid=f"{min(dims)}, as before",
                )
            dims.add(vectors.shape[1])
            found = dict(zip(new, vectors, strict=True))
        if len(known) < most:
            known.update(found)
        return np.array([found[text] if text in found else known[text] for text in sentences])

    return made


def _own_tokens(template: str, sentence: str) -> set[str]:
    """Tokens of a sentence that are not of its template, articles apart."""
    bare = {token.casefold() for token in cbow_tokens(re.sub(r"\{\w+\}", " ", template))} | {"a", "an"}
    words = [token for token in cbow_tokens(sentence) if re.search(r"\w", token)]
    return {token for token in words if token.casefold() not in bare} or set(words)


def sentence_table(
    test: Any,
    encoder: Any = "minilm-static",
    *,
    cache: bool | str | os.PathLike[str] = True,
    batch_size: int | None = None,
    progress: bool | None = None,
) -> PairTable:
    """Return the distance of every target sentence to every attribute sentence.

    Parameters
    ----------
    test : SentenceTest, str, path or word list
        Whatever `sentence_test` takes.
    encoder : Encoder, callable or str
        Whatever `load_encoder` takes.
    cache, batch_size, progress
        As for `encode`.

    Returns
    -------
    PairTable
        The columns of a pair table, with ``protected_template`` and ``attribute_template``; protected words
        are the words of the targets, classes the names of the sets. The first targets are associated with
        the first attributes, the second with the second. All columns but the distance hold codes, so that a
        million pairs take some 20 MB. A sentence that stands twice in a set is one observation and counts
        once. The coverage names the words that the encoder lacks.

    Raises
    ------
    InputError
        Where the test, the encoder or the vectors are at fault, or no word of a set is known.

    Examples
    --------
    >>> table = sentence_table("sent-weat6")
    >>> len(table), list(table.frame.columns[:3])
    (27264, ['protected_word', 'protected_class', 'protected_template'])
    """
    test = test if isinstance(test, SentenceTest) else sentence_test(test)
    encoder = load_encoder(encoder)
    return _pairs(_encoded(test, encoder, _maker(encoder, cache, batch_size, progress)), encoder)


def _pairs(encoded: _Encoded, encoder: Any) -> PairTable:
    import pandas as pd

    test = encoded.test
    names = _set_names(test)
    repeats = encoded.frame.duplicated(["set", "word", "template", "sentence"]).to_numpy()
    frame, vectors = encoded.frame[~repeats], encoded.vectors[~repeats]
    which = frame["set"].astype(str).to_numpy()
    rows = np.flatnonzero(np.isin(which, SETS[:2]))
    columns = np.flatnonzero(np.isin(which, SETS[2:]))
    # Codes, not texts: a million pairs are a million small numbers.
    first, second = np.repeat(rows, len(columns)), np.tile(columns, len(rows))

    def labels(column: Any, at: np.ndarray, side: np.ndarray) -> pd.Categorical:
        codes, found = pd.factorize(np.asarray(column, dtype=object)[side])
        place = np.zeros(len(frame), dtype=np.int64)
        place[side] = codes
        return pd.Categorical.from_codes(place[at], categories=[str(name) for name in found])

    named = [names[each] for each in which]
    own = (which == "targ1")[first] == (which == "attr1")[second]
    distance = 1.0 - vectors[rows] @ vectors[columns].T
    pairs = pd.DataFrame(
        {
            "protected_word": labels(frame["word"], first, rows),
            "protected_class": labels(named, first, rows),
            "protected_template": labels(frame["template"], first, rows),
            "attribute": labels(frame["word"], second, columns),
            "attribute_class": labels(named, second, columns),
            "attribute_template": labels(frame["template"], second, columns),
            "attribute_kind": pd.Categorical.from_codes(np.zeros(len(first), dtype=np.int8), ["stereotype"]),
            "connection": pd.Categorical.from_codes(np.where(own, 0, 1), ["associated", "different"]),
            "distance": np.clip(distance.ravel(), 0.0, 2.0),
        }
    )
    told = describe_encoder(encoder)
    return PairTable(
        pairs,
        _coverage(encoded, names, int(repeats.sum())),
        {
            "name": f"{test.name} in {_column(told['name'], told['options'])}",
            "test": {"name": test.name, "sha256": test.sha256, "origin": test.origin},
            "encoder": told,
        },
    )


def _set_names(test: SentenceTest) -> dict[str, str]:
    """Return a name of each set; two target sets of one category are told apart, and so are two of attributes."""
    out = dict(test.categories)
    for pair in (SETS[:2], SETS[2:]):
        if out[pair[0]] == out[pair[1]]:
            out |= {name: f"{out[name]} ({name})" for name in pair}
    return out


def _coverage(encoded: _Encoded, names: Mapping[str, str], repeats: int) -> Coverage:
    frame, test = encoded.frame, encoded.test
    groups: list[dict[str, Any]] = [{}, {}]
    for name in SETS:
        listed = list(dict.fromkeys(test.frame.loc[test.frame["set"] == name, "word"]))
        found = set(frame.loc[frame["set"] == name, "word"])
        missing = [word for word in listed if word not in found]
        groups[name.startswith("attr")][names[name]] = {
            "listed": len(listed),
            "found": len(listed) - len(missing),
            "missing": missing,
        }
    some = len(encoded.dropped)
    notes = [f"{some} of {len(test.frame)} examples left out: the encoder lacks their word"] if some else []
    notes += [f"{repeats} examples that repeat another of their set counted once"] if repeats else []
    return Coverage(groups[0], groups[1], notes=tuple(notes))


def leave_one_out(
    test: Any,
    encoder: Any = "minilm-static",
    *,
    cache: bool | str | os.PathLike[str] = True,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Return how far the effect size moves when one word or one template is left out.

    Parameters
    ----------
    test, encoder, cache, progress
        As for `sentence_table`.

    Returns
    -------
    DataFrame
        The largest move first: ``part`` (targets or attributes), ``kind`` (word or template), ``left_out``,
        ``effect_size`` without it, ``change`` (against all), ``sign_changes``, ``examples`` (how many were left
        out). What cannot be left out, since a set would be empty, has no row.

    Examples
    --------
    >>> leave_one_out("weat6", cache=False).iloc[0][["part", "kind", "left_out"]].tolist()
    ['targets', 'word', 'Greg']
    """
    import pandas as pd

    test = test if isinstance(test, SentenceTest) else sentence_test(test)
    encoder = load_encoder(encoder)
    encoded = _encoded(test, encoder, _maker(encoder, cache, None, progress))
    whole = effect_size(*encoded.scores())
    if whole is None:
        raise InputError("all scores are equal; there is no effect size to move", where=test.name)
    sets = encoded.frame["set"].astype(str)
    part = sets.where(sets.isin(SETS[2:]), "targets").where(sets.isin(SETS[:2]), "attributes")
    rows = []
    for side in ("targets", "attributes"):
        for kind in ("word", "template"):
            labels = encoded.frame[kind].where(part == side)
            for label in labels.dropna().unique():
                gone = (labels == label).to_numpy()
                rest = dataclasses.replace(
                    encoded, frame=encoded.frame[~gone].reset_index(drop=True), vectors=encoded.vectors[~gone]
                )
                if rest.frame["set"].nunique() < len(SETS):
                    continue
                size = effect_size(*rest.scores())
                if size is not None:
                    rows.append(
                        (side, kind, label, size, size - whole, (size > 0) != (whole > 0), int(gone.sum()))
                    )
    columns = ["part", "kind", "left_out", "effect_size", "change", "sign_changes", "examples"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values("change", key=abs, ascending=False, kind="stable", ignore_index=True)


# -- all tests -------------------------------------------------------------------------------------


def seat(
    tests: Any = "all",
    encoders: Any = "minilm-static",
    *,
    published_cut: bool = False,
    samples: int = 99_999,
    seed: int | None = None,
    bayes: bool = False,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    prob: float = PROB,
    cache: bool | str | os.PathLike[str] = True,
    batch_size: int | None = None,
    progress: bool | None = None,
) -> SeatResult:
    """Run sentence tests on sentence encoders.

    Parameters
    ----------
    tests : str, path, SentenceTest, or a sequence of them
        ``"all"`` for every shipped test; names, joined by commas or in a list; paths of tests (``.jsonl``) or
        of word lists; whatever `sentence_test` takes.
    encoders : Encoder, callable, str, or a sequence of them
        Whatever `load_encoder` takes.
    published_cut : bool
        Whether tests that are named leave out the sentences that the authors dropped at random, as
        `sentence_test` does.
    samples : int
        How many partitions the published p-value samples where there are more than 100,000.
    seed : int, optional
        Recorded in the provenance. Each test has a seed of its own made from it, so that results do not
        depend on what else is run.
    bayes : bool
        Whether to fit the model ``sentence`` to every test as well. A test with one template for each word is
        fitted without the terms for templates (`trimmed`).
    draws, tune, chains : int
        For `bayes`; as for `fit`.
    prob : float in (0, 1)
        Probability of the intervals.
    cache, batch_size, progress
        As for `encode`.

    Returns
    -------
    SeatResult

    Raises
    ------
    InputError
        For unknown tests, encoders or settings, before anything is run; and where no test could be run on any
        encoder. A test that fails on one encoder, for whatever reason, is reported in ``failures``, and the
        others go on. Where only its fit fails, it is in both, and its row lacks the columns of the fit.

    Notes
    -----
    Statistic and effect size: appendix A of the supplement, the standard deviation with n - 1. ``p_value`` is
    the published one: all partitions up to 100,000, else `samples` of them drawn with replacement and
    one more counted as at least as extreme, which cannot fall below 1 / (samples + 1). ``p_lower`` and
    ``p_upper`` enclose the p-value over all partitions (`permutation_test`), within a tenth of it where that takes
    seconds. ``p_words`` is the p-value over words, each with the mean score of its sentences. ``p_holm``
    is Holm's correction over all rows of the result, of p_upper where it is certain and of the sampled
    p_value where not.

    An example whose own word the encoder lacks is left out and counted (``dropped``): a `cbow_encoder` would
    give it the mean of its template. What only its template lacks costs nothing but the template.

    Sets of unequal size (six published tests before the authors cut them) are defined: partitions have the
    sizes of the sets, and the effect size is a difference of means.

    Examples
    --------
    >>> result = seat(["weat6", "sent-weat6"], seed=1, cache=False)
    >>> result.frame[["test", "num_targ1", "p_method"]].values.tolist()
    [['weat6', 8, 'exact'], ['sent-weat6', 64, 'bounds']]
    """
    import pandas as pd

    chosen = _tests(tests, published_cut)
    models = _encoders(encoders)
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise InputError("must be a whole number of at least 1", where="samples", found=samples)
    _check_probability(prob, "prob")
    _check_settings(draws=draws, tune=tune, chains=chains)
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    elif isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise InputError("the seed must be a whole number from 0 to 4294967295", found=seed)
    spec = load_model("sentence") if bayes else None
    rows: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    dropped: list[pd.DataFrame] = []

    def fail(names: dict[str, str], error: Exception, lead: str = "") -> None:
        told = str(error) if isinstance(error, BayesbiasError) else f"{type(error).__name__}: {error}"
        failures.append(names | {"reason": lead + told})

    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    # Two steps a test. An encoder has the machine to itself; then counting partitions is numpy at work, which
    # lets other threads run.
    with (
        ticking("sentence tests", 2 * len(chosen) * len(models), progress) as tick,
        ThreadPoolExecutor(max_workers=threads) as pool,
    ):
        for encoder in models:
            told = describe_encoder(encoder)
            made = _maker(encoder, cache, batch_size, False, most=_MOST_KEPT)
            ready: list[tuple[dict[str, Any], SentenceTest, Any, _Encoded | None]] = []
            for test in chosen:
                names = {"model": told["name"], "options": told["options"], "test": test.name}
                try:
                    encoded = _encoded(test, encoder, made)
                except BayesbiasError as error:
                    fail(names, error)
                    tick(2)
                    continue
                about = {
                    **{f"num_{name}": count for name, count in encoded.sizes.items()},
                    "level": _level(test),
                    "dropped": len(encoded.dropped),
                }
                notes += [names | {"note": note} for note in _notes(encoded)]
                if len(encoded.dropped):
                    dropped.append(encoded.dropped.assign(**names))
                scores = encoded.scores(), encoded.words()
                ready.append((names | about, test, scores, encoded if bayes else None))
                tick(1)
            jobs = [
                pool.submit(_scored, scores, None if _unstated(test) else words, samples, _seed(seed, test))
                for _, test, (scores, words), _ in ready
            ]
            for (row, test, _, held), job in zip(ready, jobs, strict=True):
                names = {key: row[key] for key in ("model", "options", "test")}
                try:
                    row |= job.result()
                except Exception as error:  # whatever it is, it must not take the other tests with it
                    fail(names, error)
                    tick(1)
                    continue
                if spec is not None and held is not None:
                    try:
                        row |= _read(held, encoder, spec, prob, _seed(seed, test), draws, tune, chains)
                    except Exception as error:  # as above
                        fail(names, error, "the model could not be fitted: ")
                rows.append(row)
                tick(1)
    if not rows:
        raise InputError(
            "no test could be run", found=failures[0]["reason"], hint=f"{len(failures)} such failures"
        )
    columns = [*PUBLISHED_COLUMNS, *_OWN_COLUMNS, *(_BAYES_COLUMNS if bayes else ())]
    frame = pd.DataFrame(rows).reindex(columns=[c for c in columns if c != "p_holm"])
    certain = frame["p_method"].isin(["exact", "bounds"])
    frame.insert(columns.index("p_holm"), "p_holm", holm(frame["p_upper"].where(certain, frame["p_value"])))
    key = ["model", "options", "test"]
    lost = (
        pd.concat(dropped, ignore_index=True)
        if dropped
        else pd.DataFrame(columns=["set", "word", "sentence", *key])
    )
    return SeatResult(
        frame=frame,
        failures=pd.DataFrame(failures, columns=[*key, "reason"]),
        dropped=lost[[*key, "set", "word", "sentence"]],
        notes=pd.DataFrame(notes, columns=[*key, "note"]),
        provenance=_provenance(chosen, models, seed, samples, prob, spec, (draws, tune, chains)),
    )


def _scored(
    scores: tuple[np.ndarray, np.ndarray],
    words: tuple[np.ndarray, np.ndarray] | None,
    samples: int,
    seed: int,
) -> dict[str, Any]:
    """Statistic, effect size and p-values of the scores of two target sets and of their words."""
    x, y = scores
    how: dict[str, Any] = {"samples": samples, "seed": seed}
    few = math.comb(len(x) + len(y), len(x)) <= _ENUMERATED
    published = permutation_test(x, y, method="exact" if few else "montecarlo", **how)
    ours = published if few else permutation_test(x, y, rel_width=_WIDTH, **how)
    if words is None:
        over_words = math.nan
    elif [len(w) for w in words] == [len(x), len(y)]:
        over_words = ours.p_value
    else:
        over_words = permutation_test(*words, rel_width=_WIDTH, **how).p_value
    return {
        "p_value": published.p_value,
        "effect_size": effect_size(x, y),
        "statistic": ours.statistic,
        "p_lower": ours.p_lower,
        "p_upper": ours.p_upper,
        "p_method": ours.method,
        "p_words": over_words,
    }


def _read(
    encoded: _Encoded, encoder: Any, spec: Any, prob: float, seed: int, draws: int, tune: int, chains: int
) -> dict[str, Any]:
    """Fit the hierarchical model to one test and return what the row says of it."""
    table = _pairs(encoded, encoder)
    found: BiasFit = fit(table, spec, seed=seed, draws=draws, tune=tune, chains=chains, pointwise=False)
    gap = found.contrasts(prob, estimand="population", level="overall").iloc[0]
    shares = found.shares(prob)
    kinds = dict.fromkeys(("word", "template", "sentence", "residual"), math.nan)
    for row in shares.itertuples():
        of_word = {"protected_word", "attribute"} & set(row.source.split(" x "))
        of_template = {"protected_template", "attribute_template"} & set(row.source.split(" x "))
        kind = (
            "sentence"
            if of_word and of_template
            else "word"
            if of_word
            else "template"
            if of_template
            else "residual"
        )
        # What the model was fitted without has no share; it is not zero.
        kinds[kind] = float(row.mean) + (0.0 if math.isnan(kinds[kind]) else kinds[kind])
    return {
        "contrast": gap["mean"],
        **{column: gap[column] for column in ("sd", "hpdi_low", "hpdi_high")},
        **{f"share_{kind}": value for kind, value in kinds.items()},
        "converged": found.diagnostics()["ok"],
    }


# -- names and checks ------------------------------------------------------------------------------


def _tests(tests: Any, published_cut: bool = False) -> list[SentenceTest]:
    if isinstance(tests, str):
        several = [tests] if Path(tests).is_file() else [t.strip() for t in tests.split(",") if t.strip()]
        named: Iterable[Any] = shipped_tests() if tests == "all" else several
    elif isinstance(tests, Sequence):
        named = tests
    else:
        named = [tests]
    out = []
    for name in named:
        if isinstance(name, str) and name == "all":
            out += [sentence_test(each, published_cut=published_cut) for each in shipped_tests()]
        else:
            out.append(
                name if isinstance(name, SentenceTest) else sentence_test(name, published_cut=published_cut)
            )
    out = [_own_name(test) for test in out]
    if not out:
        raise InputError("no test was named", where="tests", found=tests, valid="all, or names of tests")
    _unique([test.name for test in out], "two tests have one name", "a file gives a test its name")
    return out


def _own_name(test: SentenceTest) -> SentenceTest:
    """Keep a test of another content, in a file of a published name, from passing for the published test."""
    if test.name not in shipped_tests() or not _is_file(test.origin):
        return test
    same = {sentence_test(test.name, published_cut=cut).sha256 for cut in (False, True)}
    return test if test.sha256 in same else dataclasses.replace(test, name=f"{test.name} (file)")


def _is_file(origin: str) -> bool:
    return Path(origin).suffix in (".jsonl", ".json") and Path(origin).is_file()


def _encoders(encoders: Any) -> list[Any]:
    several = encoders if isinstance(encoders, Sequence) and not isinstance(encoders, str) else [encoders]
    out = [load_encoder(encoder) for encoder in several]
    if not out:
        raise InputError("no encoder was named", where="encoders", found=encoders)
    _unique(
        [_column(told["name"], told["options"]) for told in map(describe_encoder, out)],
        "two encoders have one name and the same options",
        "name one, such as PATH?name=NAME",
    )
    return out


def _unique(names: list[str], problem: str, hint: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(problem, found=twice[0], hint=hint)


def _check_probability(value: float, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError("must lie between 0 and 1", where=where, found=value)


def _seed(seed: int, test: SentenceTest) -> int:
    return int(np.random.SeedSequence([seed, int(test.sha256[:8], 16)]).generate_state(1)[0])


def _column(model: str, options: str) -> str:
    return f"{model} ({options})" if options else model


def _base_of(name: str) -> tuple[str, int]:
    """Return the word test that a published name belongs to, and the place of its level."""
    base, place = name, 0
    if name.startswith("sent-"):
        base, place = name.removeprefix("sent-"), 1
    for ending, level in (("_one_word", place), ("_one_sentence", 2)):
        if base.endswith(ending):
            return base.removesuffix(ending), level
    return base, place


def _level(test: SentenceTest) -> str:
    """Return the level of a test: of a shipped one by its name, of any other by its templates."""
    if test.name in shipped_tests():
        return ("word", "sentence", "unbleached")[_base_of(test.name)[1]]
    words = test.frame.groupby(["set", "word"], observed=True).size()
    if (test.frame["template"] == "{word}").all():
        return "word" if (test.frame["word"].str.count(" ") < 3).all() else "text"
    return "sentence" if (words > 1).any() else "unbleached"


def _provenance(
    tests: list[SentenceTest],
    encoders: list[Any],
    seed: int,
    samples: int,
    prob: float,
    spec: Any,
    sampler: tuple[int, int, int],
) -> dict[str, Any]:
    import platform
    from importlib.metadata import version

    out: dict[str, Any] = {
        "tests": [{"name": test.name, "sha256": test.sha256, "origin": test.origin} for test in tests],
        "encoders": [describe_encoder(encoder) for encoder in encoders],
        "seed": seed,
        "samples": samples,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("bayesbias", "numpy", "pandas")},
        },
    }
    if spec is not None:
        out["model"] = {"name": spec.name, "sha256": spec.sha256}
        out["prob"] = prob
        out["sampler"] = dict(zip(("draws", "tune", "chains"), sampler, strict=True))
    return out
