"""The section on frequency of the page on a fit of distances."""

from __future__ import annotations

from bayesbias.columns.frequency import frequency_columns, unequal_columns
from bayesbias.columns.table import page_table
from bayesbias.core.wording import number_of, some
from bayesbias.findings.frequency import frequency_sentences
from bayesbias.inference.posterior import BiasFit
from bayesbias.report.parts import Part, Picture
from bayesbias.report.texts import as_sentence
from bayesbias.studies.frequency import frequency_of


def frequency_part(fit: BiasFit, rope: float, pictures: list[Picture], doubts: list[str]) -> Part | None:
    """Return the section on frequency; None where it was not asked.

    Parameters
    ----------
    fit : BiasFit
    rope : float
    pictures : list of Picture
        The figures of it.
    doubts : list of str
        What the findings say of it.
    """
    frequency = frequency_of(fit)
    if frequency is None:
        return None
    sentences = [
        f"Words that are frequent and words that are rare lie apart in many vectors whatever they mean. Here frequency is "
        f"known from {frequency.source}; the model was fitted again with slopes on the logarithm of the frequency of "
        f"protected words "
        "and of attributes, the latter also by class. At equal frequency all words are of the mean frequency.",
        *(doubts or [f"At equal frequency no contrast moves by more than {rope:g}."]),
        *frequency_sentences(fit),
        "No number says whether frequency is to be taken away: of a group that is written about less, it may itself be the "
        "social covariate.",
    ]
    if frequency.problems:
        sentences[1:-1] = [as_sentence(f"not to be trusted yet: {text}") for text in frequency.problems]
    if frequency.missing:
        n = len(frequency.missing)
        sentences.append(
            f"{number_of(n, 'word')} without a count ({some(frequency.missing, 8)}) "
            f"{'has' if n == 1 else 'have'} no part in either "
            f"model; {frequency.n_pairs:,} of {frequency.n_pairs_all:,} pairs are left."
        )
    moved = page_table(
        "t-frequency",
        "Contrasts as they are, and at equal frequency",
        frequency_columns(frequency.prob, rope, whole=frequency.whole),
        frequency.contrasts.itertuples(),
        "For new words like the listed ones.",
    )
    unequal = page_table(
        "t-unequal",
        "How frequent classes, lists and connections are",
        unequal_columns(frequency.prob),
        frequency.unequal.itertuples(),
        "In powers of ten, up to a number that all words share. A class is held against all others, a connection against the "
        "first.",
    )
    return Part(
        "Frequency as a rival explanation", sentences, figures=pictures, tables=[moved], folded=[
            Part("How frequent the words are", tables=[unequal])
        ],
    )  # fmt: skip
