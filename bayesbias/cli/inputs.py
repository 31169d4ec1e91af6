"""What commands read: word lists, vectors and the tables of pairs they make, or a table in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayesbias.core.errors import InputError, warn_user

if TYPE_CHECKING:
    from bayesbias.embeddings.embedding import Embedding
    from bayesbias.models.spec import ModelSpec
    from bayesbias.tables.pair_table import PairTable
    from bayesbias.wordlists.wordlist import WordList


@dataclass(frozen=True, eq=False)
class Pairs:
    """A table of pairs, with the word list and the vectors it was made of; without them it came from a file."""

    table: PairTable
    words: WordList | None = None
    vectors: Embedding | None = None


def pairs_asked_for(
    embedding: str | None,
    wordlist: str | None,
    distances: str | None,
    *,
    controls: str | None = None,
    others: str = "--embedding and --wordlist",
    nothing: str = "nothing to fit",
    repeats: str = "once",
    with_sets: bool = False,
    allow_pickle: bool = False,
    invalid_utf8: str = "error",
    postprocess: str | None = None,
    covariates: Sequence[str] = (),
    counts: Any = None,
    language: str = "en",
    pool: str | None = None,
) -> Pairs:
    """Read vectors and a word list, or a table of distances in place of both.

    Parameters
    ----------
    embedding, wordlist, distances, controls : str, optional
        As they were given; of a table of distances the others must be missing.
    others, nothing : str
        For messages: the options that `distances` replaces, and what there is nothing to do with.
    repeats : {"once", "keep"}
        See `load_distances`.
    with_sets : bool
        Also read the vectors of the definitional sets, which a table does not need.
    allow_pickle, invalid_utf8, postprocess
        See `load_embedding`.
    covariates : sequence of str
        Files of covariates, or columns of the table; see `join_covariates`.
    counts, language, pool
        For the controls ``matched``; see `distance_table`.
    """
    from bayesbias.tables.reading import load_distances

    if distances is not None:
        refuse_ways_to_read(allow_pickle, invalid_utf8, "--distances", "--embedding E --wordlist W")
        if pool is not None:
            raise InputError(
                "--pool is for --controls matched", found=pool, valid="--embedding E --wordlist W"
            )
        if postprocess is not None:
            raise InputError(
                "--postprocess moves vectors, and --distances holds none", valid="--embedding E --wordlist W"
            )
        if embedding or wordlist or (controls and "--controls" in others):
            raise InputError(
                "--distances stands alone: it already holds the words and their distances",
                hint=f"leave out {others}, or --distances",
            )
        return Pairs(with_covariates(load_distances(distances, repeats=repeats), covariates))
    if embedding is None or wordlist is None:
        raise InputError(nothing, valid="--embedding E --wordlist W, or --distances FILE")
    from bayesbias.wordlists.listfile import load_wordlist

    if controls == "matched":
        table = _matched(embedding, wordlist, counts, language, pool, allow_pickle, invalid_utf8, postprocess)
        return Pairs(with_covariates(table, covariates))
    if pool is not None:
        raise InputError(
            "--pool is for --controls matched", found=controls or "none", valid="--controls matched"
        )
    words = load_wordlist(wordlist, controls=controls)
    pairs = pairs_of_vectors(
        embedding,
        words,
        with_sets=with_sets,
        allow_pickle=allow_pickle,
        invalid_utf8=invalid_utf8,
        postprocess=postprocess,
    )
    return replace(pairs, table=with_covariates(pairs.table, covariates))


def refuse_ways_to_read(allow_pickle: bool, invalid_utf8: str, tables: str, valid: str) -> None:
    """Refuse to be told how vectors are read where there are none."""
    for option, given in (("--allow-pickle", allow_pickle), ("--invalid-utf8", invalid_utf8 != "error")):
        if given:
            raise InputError(f"{option} is for vectors, and {tables} holds none", valid=valid)


def _matched(
    embedding: str,
    wordlist: str,
    counts: str | None,
    language: str,
    pool: str | None,
    allow_pickle: bool,
    invalid_utf8: str,
    postprocess: str | None,
) -> PairTable:
    """Make the table with neutral words as frequent as the stereotypes."""
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.tables.counts import load_counts
    from bayesbias.tables.distances import distance_table
    from bayesbias.tables.matching import pool_of
    from bayesbias.wordlists.listfile import load_wordlist

    if counts is None:
        raise InputError(
            "--controls matched needs to know how frequent words are",
            valid="--counts FILE, --counts order or --counts wordfreq",
        )
    words = load_wordlist(wordlist)
    asked = list(dict.fromkeys([*words.words, *pool_of(words, pool)]))
    known = load_counts(counts, asked, embedding=embedding, language=language)
    vectors = load_embedding(
        embedding,
        asked,
        allow_pickle=allow_pickle,
        on_invalid_utf8=invalid_utf8,
        postprocess=postprocess,
    )
    return distance_table(vectors, words, controls="matched", counts=known, pool=pool)


def with_covariates(table: PairTable, covariates: Sequence[str]) -> PairTable:
    """Join files of covariates, or columns of the table, to its rows."""
    from bayesbias.tables.covariates import join_covariates

    return join_covariates(table, list(covariates)) if covariates else table


def slopes_asked(spec: ModelSpec, table: PairTable, asked: Sequence[str]) -> ModelSpec:
    """Return the model with the slopes that ``--slope`` asks for: a covariate, and after a colon the columns it differs by."""
    from bayesbias.models.slopes import slopes_for
    from bayesbias.tables.covariates import columns_of_covariate

    for covariate, by in slopes_named(asked, [str(name) for name in table.frame.columns]).items():
        for column in columns_of_covariate(table, covariate):
            spec = slopes_for(spec, table.frame, column, by)
    return spec


def note_idle_covariates(spec: ModelSpec, covariates: Sequence[str], out: object) -> None:
    """Say so where covariates are joined to pairs that are not written, and no model asks for them."""
    if covariates and out is None and not spec.covariates():
        warn_user(
            "--covariates joins covariates to the pairs, and nothing here uses them: --slope COLUMN does, and --out DIR writes them"
        )


def slopes_named(asked: Sequence[str], columns: Sequence[str]) -> dict[str, list[str] | None]:
    """Part what ``--slope`` says: the covariates, and the columns that the slopes of each differ by (None: as a model has it).

    The name of a column may have a colon in it.
    """
    out: dict[str, list[str] | None] = {}
    for each in asked:
        covariate, colon, rest = ("", "", "") if each in columns else each.rpartition(":")
        name = covariate if colon else each
        if name in out:
            raise InputError(
                "the same covariate twice", where="--slope", found=name, valid="each covariate once"
            )
        out[name] = [column.strip() for column in rest.split(",")] if colon else None
    return out


def pairs_of_vectors(
    embedding: str,
    words: WordList,
    *,
    with_sets: bool = False,
    allow_pickle: bool = False,
    invalid_utf8: str = "error",
    postprocess: str | None = None,
) -> Pairs:
    """Read the vectors of the words of a list, and make their table."""
    from bayesbias.embeddings.loading import load_embedding
    from bayesbias.tables.distances import distance_table

    in_sets = [word for group in words.definitional_sets for word in group] if with_sets else []
    vectors = load_embedding(
        embedding,
        words=list(dict.fromkeys([*words.words, *in_sets])),
        allow_pickle=allow_pickle,
        on_invalid_utf8=invalid_utf8,
        postprocess=postprocess,
    )
    return Pairs(distance_table(vectors, words), words, vectors)
