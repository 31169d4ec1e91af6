"""All figures of a result as files: the same bytes on any day, all written or none."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import check_folder, whole_file
from bayesbias.core.progress import ticking
from bayesbias.inference.estimands import PROB, ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots import change, sentences, sentiment, sweeps, wefat, words
from bayesbias.plots.plates import Plate, rendered
from bayesbias.plots.style import figure_style
from bayesbias.studies.debiasing.comparison import Comparison
from bayesbias.studies.sentences.result import SeatResult
from bayesbias.studies.sentiment.analysis import SentimentAnalysis
from bayesbias.studies.wefat.result import WefatResult
from bayesbias.sweeps.kinds import kind_of_any
from bayesbias.sweeps.result import SweepResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["save_figures"]

_FORMATS = ("pdf", "png", "svg", "csv")
# Kind -> its figures, of a result, a probability and a ROPE.
PLATES: Mapping[str, Callable[[Any, float, float], list[Plate]]] = {
    "words": words.plates,
    "sentences": lambda result, prob, rope: sentences.plates(result),
    "sentiment": lambda result, prob, rope: sentiment.plates(result, prob),
    "change": change.plates,
    "wefat": lambda result, prob, rope: wefat.plates(result),
    "sweep": lambda result, prob, rope: sweeps.plates(result),
}


def save_figures(
    result: BiasFit | Comparison | SeatResult | SentimentAnalysis | WefatResult | SweepResult,
    folder: str | os.PathLike[str],
    formats: str | Iterable[str] | None = None,
    *,
    prob: float = PROB,
    rope: float = ROPE,
    style: str | None = None,
    width: float | None = None,
) -> list[Path]:
    """Draw all figures of a result and write them into a folder.

    Everything is drawn before anything is written, and each file is written whole or not at all. The same result
    gives the same bytes: PNG at 200 dpi, PDF with its fonts (Type 42), SVG with its text as text, none with a date.

    Parameters
    ----------
    result : BiasFit, Comparison, SeatResult, SentimentAnalysis, WefatResult or SweepResult
        Or what `bayesbias.load_run` returns. Of a fit to sentiment there are more figures than of its analysis alone.
    folder : path
        Made where it does not exist.
    formats : str or iterable of str, optional
        Of ``pdf``, ``png``, ``svg`` and ``csv``: the data that the figure shows. By default those of the style, ``png`` and
        ``svg``; for a journal ``pdf`` and ``svg``.
    prob : float in (0, 1)
        Probability of the HPDIs; of sentence tests, single-category tests and sweeps it is that of the result.
    rope : float > 0
        Half-width of the region of practical equivalence.
    style : {"report", "journal", "talk"}, optional
    width : float, optional
        Millimetres. Both as in `figure_style`, by default what is in force.

    Returns
    -------
    list of Path
        The files, figure by figure. Of a fit to words: ``priors``, ``connections``, ``words``, ``contrasts``,
        ``contrasts_class``, ``contrasts_word``, ``predictive``, without contrasts where there is one connection only.
        Of a comparison: ``changes`` and ``pairs`` (numbered where there are several methods) and ``ranking``. Of
        sentence tests: ``seat``, and with a hierarchical reading ``seat_contrasts`` (numbered where there are several
        encoders). Of sentiment: ``professions``, ``noun_pairs``, ``predictive``, ``genders`` and ``earnings``, the
        first three of a fit only. Of a single-category test: ``covariate`` and ``correlations``. Of a sweep:
        ``sweep``, where a cell has a contrast in standard deviations.

    Raises
    ------
    InputError
        For an unknown format, style or width, or where the folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> found = bb.seat("weat7", "minilm-static", seed=1, cache=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     names = [path.name for path in bb.plots.save_figures(found, folder, "png")]
    >>> names
    ['seat.png']
    """
    with figure_style(style, width=width) as chosen:
        given = chosen.formats if formats is None else formats
        wanted = (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))
        # A run that was opened is drawn by its result; its own room lies above this one.
        return _save(getattr(result, "result", result), folder, wanted, prob, rope)


def _save(
    result: BiasFit | Comparison | SeatResult | SentimentAnalysis | WefatResult | SweepResult,
    folder: str | os.PathLike[str],
    wanted: tuple[str, ...],
    prob: float,
    rope: float,
) -> list[Path]:
    prob, rope = checks.probability(prob), checks.positive(rope, "rope")
    for kind in wanted:
        if kind not in _FORMATS:
            hint = nearest(str(kind).strip("."), _FORMATS)
            raise InputError("unknown figure format", where="formats", found=kind, valid=_FORMATS, hint=hint)
    folder = Path(checks.path(folder, "folder", "the path of a folder"))
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError("is a file, not a folder", where=folder)
    check_folder(folder)
    contents: dict[Path, bytes] = {}
    plates = plates_of(result, prob, rope)
    with ticking("drawing figures", len(plates)) as tick:
        for plate in plates:
            figure = plate.figure()
            contents |= {folder / f"{plate.name}.{kind}": _bytes_of(figure, kind) for kind in wanted}
            tick(1)
    with _nothing_new_left(folder, contents):
        for path, content in contents.items():
            with whole_file(path) as temporary:
                temporary.write_bytes(content)
    return list(contents)


def _bytes_of(figure: Figure, kind: str) -> bytes:
    if kind != "csv":
        return rendered(figure, kind)
    shown: Any = figure.axes[0]
    return str(shown.data.to_csv(index=False, lineterminator="\n")).encode()


def plates_of(
    result: BiasFit | Comparison | SeatResult | SentimentAnalysis | WefatResult | SweepResult,
    prob: float = PROB,
    rope: float = ROPE,
) -> list[Plate]:
    """List the figures of a result, whatever its kind."""
    kind = kind_of_any(result)
    if kind is None:
        raise InputError(
            "has no figures",
            found=type(result).__name__,
            valid="a fit, a comparison, a sentiment analysis, a sweep, or the result of sentence or single-category tests",
        )
    return PLATES[kind](result, prob, rope)


@contextlib.contextmanager
def _nothing_new_left(folder: Path, files: Iterable[Path]) -> Iterator[None]:
    """Where the block fails, remove the files and folders that were not there before it."""
    new = [path for path in files if not os.path.exists(path)]
    folders = [path for path in (folder, *folder.parents) if not os.path.exists(path)]
    try:
        yield
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        for path in folders:
            # Not there, or something else has been put in since: then it is not ours to remove.
            with contextlib.suppress(OSError):
                path.rmdir()
        raise
