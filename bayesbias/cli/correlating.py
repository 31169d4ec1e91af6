"""The command ``bayesbias wefat``: the single-category test."""

from __future__ import annotations

import json

import click

from bayesbias.cli import options, screen


@click.command()
@click.option(
    "--embedding",
    required=True,
    metavar="E",
    help="Word vectors: a file, a gensim-data name, or minilm-static.",
)
@click.option(
    "--sets",
    default="wefat",
    show_default=True,
    metavar="LIST",
    help="A word list with two classes: the two sets.",
)
@click.option("--facts", required=True, metavar="FILE", help="A CSV file with a column word, and numbers.")
@click.option("--fact", metavar="COLUMN", help="Which of its columns; needed where there are several.")
@click.option(
    "--samples", type=click.IntRange(1), default=99_999, show_default=True, help="Orders that the test draws."
)
@options.sampling
@options.prob()
@options.postprocess
@options.vector_files
@options.as_json()
def wefat(
    embedding: str,
    sets: str,
    facts: str,
    fact: str | None,
    samples: int,
    seed: int | None,
    draws: int,
    tune: int,
    chains: int,
    prob: float,
    postprocess: str | None,
    allow_pickle: bool,
    invalid_utf8: str,
    as_json: bool,
) -> None:
    """Correlate associations with a fact about words.

    Of each word of FILE the published score: its mean cosine with the words of the first class of LIST, less that with the
    second, over the standard deviation of these cosines; and Pearson's r of score and fact, with its permutation p. Beside
    it the slope, and the correlation of true associations with the fact.
    """
    from pathlib import Path

    from bayesbias.studies.single_category import single_category
    from bayesbias.tables.facts import facts_given
    from bayesbias.vectors.loading import load_embedding
    from bayesbias.words.listfile import load_wordlist

    given = facts_given(Path(facts), None if fact is None else [fact])
    words = load_wordlist(sets, controls="none")
    asked = dict.fromkeys([*words.protected_words, *(word for each in given for word in each.values)])
    vectors = load_embedding(
        embedding, asked, allow_pickle=allow_pickle, on_invalid_utf8=invalid_utf8, postprocess=postprocess
    )
    held = {each.name: each.values for each in given}
    result = single_category(
        vectors,
        words,
        held,
        fact,
        prob=prob,
        samples=samples,
        seed=seed,
        draws=draws,
        tune=tune,
        chains=chains,
    )
    if as_json:
        screen.data(json.dumps(result.summary(), allow_nan=False))
        return
    screen.lines(result.in_words())
