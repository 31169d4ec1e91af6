"""What a reader of sentence tests should know beside their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesbias.studies.seat_result import SeatResult

_CLEAR = 0.01  # where the paper draws its line


def named_encoder(model: str, options: str) -> str:
    """Name an encoder with the options that set it apart from others of its model."""
    return f"{model} ({options})" if options else model


def seat_sentences(result: SeatResult) -> list[str]:
    """Say what a reader of the table should know beside it.

    Parameters
    ----------
    result : SeatResult

    Returns
    -------
    list of str
        On related tests that disagree, on p-values that hang on counting sentences as independent, and on
        examples that were left out.
    """
    import pandas as pd

    out = []
    frame = result.frame
    for (model, how), rows in frame.groupby(["model", "options"], sort=False):
        lead = f"{named_encoder(model, how)}: " if frame.groupby(["model", "options"]).ngroups > 1 else ""
        sentences = rows[rows["level"] == "sentence"]
        by_sentence = sentences[sentences["p_upper"] < _CLEAR]
        lost = by_sentence[by_sentence["p_words"] >= _CLEAR]
        if len(by_sentence):
            far = lost.loc[lost["p_words"].idxmax()] if len(lost) else None
            tail = (
                "; their sentences are not independent, and p falls with every template that is added"
                f" ({far['test']}: p {far['p_upper']:.1g} over sentences, {far['p_words']:.1g} over words)"
                if far is not None
                else ""
            )
            out.append(
                f"{lead}of {len(by_sentence)} sentence tests with p below {_CLEAR:g}, {len(lost)} have not when each word "
                f"counts once{tail}."
            )
    table = result.consistency()
    for row in table.itertuples():
        lead = (
            f"{named_encoder(row.model, row.options)}: "
            if frame.groupby(["model", "options"]).ngroups > 1
            else ""
        )
        faults = []
        if not row.same_sign:
            faults.append("effects of opposite sign")
        if not row.same_verdict:
            faults.append(f"p below {_CLEAR:g} in some and not in others")
        if not (row.p_rises is pd.NA or row.p_rises):  # missing where it need not rise
            faults.append("p falls where fewer words should make it rise")
        if faults:
            sizes = ", ".join(f"{size:.2f}" for size in row.effect_sizes)
            out.append(
                f"{lead}{', '.join(row.tests)} ({row.group}) do not agree: {'; '.join(faults)} (effect sizes {sizes})."
            )
    for (model, how), rows in result.dropped.groupby(["model", "options"], sort=False):
        words = list(dict.fromkeys(rows["word"]))
        shown = ", ".join(words[:8]) + (" ..." if len(words) > 8 else "")
        out.append(
            f"{named_encoder(model, how)} lacks forms of {len(words)} {'word' if len(words) == 1 else 'words'}; "
            f"{len(rows)} examples made of those forms are left out: {shown}."
        )
    for note in result.notes.itertuples():
        lead = (
            f"{named_encoder(note.model, note.options)}, "
            if frame.groupby(["model", "options"]).ngroups > 1
            else ""
        )
        out.append(f"† {lead}{note.test}: {note.note}.")
    return out
