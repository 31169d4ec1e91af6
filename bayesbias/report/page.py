"""One HTML file that says what a run found: the answer first, then all it rests on.

The file loads nothing: figures are inline, the script is the package's own and named by its hash in a
Content-Security-Policy that forbids everything else, the network with it. Without the script all is still there.
Words are those of a user's list, and may hold anything; each is shown as text. The same run gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import check_file, data_dir, whole_file
from bayesbias.core.versions import own_version
from bayesbias.core.wording import literal
from bayesbias.inference.estimands import PROB, ROPE, STANDARD_ROPE
from bayesbias.inference.posterior import BiasFit
from bayesbias.plots.style import figure_style
from bayesbias.report.change import of_comparison
from bayesbias.report.parts import Page
from bayesbias.report.sentences import of_sentences
from bayesbias.report.sentiment import of_sentiment
from bayesbias.report.sweep import of_sweep
from bayesbias.report.texts import escaped
from bayesbias.report.wefat import of_wefat
from bayesbias.report.words import of_fit
from bayesbias.runs.opening import Run, load_run
from bayesbias.studies.comparison import Comparison
from bayesbias.studies.seat_result import SeatResult
from bayesbias.studies.sentiment import SentimentAnalysis
from bayesbias.studies.wefat import WefatResult
from bayesbias.sweeps.kinds import kind_of_any
from bayesbias.sweeps.result import SweepResult

__all__ = ["write_report"]

_KINDS = "words, sentences, change, wefat, sweep, or sentiment with a fit"
_WITHOUT_ROPE = ("sentences", "sentiment", "wefat")
_SUFFIXES = (".html", ".htm")
# Kind -> its page, of a result, a probability, a ROPE and the command that made it.
PAGES: Mapping[str, Callable[..., Page]] = {
    "words": of_fit,
    "sentences": lambda result, prob, rope, command: of_sentences(result, prob, command),
    "sentiment": lambda fit, prob, rope, command: of_sentiment(fit, prob, command),
    "change": of_comparison,
    "wefat": lambda result, prob, rope, command: of_wefat(result, prob, command),
    "sweep": lambda result, prob, rope, command: of_sweep(result, prob, command),
}


def write_report(
    run: BiasFit | Comparison | SeatResult | WefatResult | SweepResult | Run | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    prob: float | None = None,
    rope: float | None = None,
    standard_rope: float | None = None,
) -> Path:
    """Write one self-contained HTML file on a fit, a comparison, sentence or single-category tests, or a sweep.

    Parameters
    ----------
    run : BiasFit, Comparison, SeatResult, WefatResult, SweepResult, Run or path
        A fit of distances or of sentiment (see `with_analysis`), or what `load_run` returns. A path is a folder
        that ``bayesbias fit``, ``compare``, ``seat``, ``wefat``, ``sweep`` or ``sentiment --bayes`` wrote with
        ``--out``, or a ``.nc`` file.
    path : path
        Of the file, ``.html`` or ``.htm``; written whole or not at all.
    prob : float in (0, 1), optional
        Probability of the intervals. By default that of the tables in the folder, else 0.89. The
        intervals of sentence tests and of sweeps are those of the result.
    rope : float > 0, optional
        Half-width of the region of practical equivalence, in cosine distance. By default that of the tables in
        the folder, else `ROPE`. Of fits of distances and comparisons alone; a sweep has those of its plan.
    standard_rope : float > 0, optional
        The same in standard deviations, of a fit of distances alone. By default that of the folder, else `STANDARD_ROPE`.

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    InputError
        Where `run` holds no run, or one on which there is no page; where `prob` is not that of the intervals of
        sentence tests or of a sweep; where a `rope` is given to what has none, or to a sweep; where the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> result = bb.fit(table, seed=1, draws=200, tune=300, chains=2, pointwise=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = bb.write_report(result, f"{folder}/religion.html").read_text(encoding="utf-8")
    >>> text[:15], "religion in minilm-static" in text
    ('<!DOCTYPE html>', True)
    """
    hint = "the run comes first, write_report(run, path)" if kind_of_any(path) is not None else None
    target = Path(checks.path(path, "path", "the path of an .html file", hint))
    if target.suffix.lower() not in _SUFFIXES:
        raise InputError("a report is an HTML file", where=target, found=target.suffix, valid=_SUFFIXES)
    if os.path.isdir(target):
        raise InputError("is a folder, not a file", where=target)
    check_file(target)
    result: Any = run
    rope_given = rope
    command, where = None, None
    opened = run if isinstance(run, Run) else load_run(run) if isinstance(run, str | os.PathLike) else None
    if opened is not None:
        prob = opened.settings.get("prob") if prob is None else prob
        rope = opened.settings.get("rope") if rope is None else rope
        result, command, where = opened.result, opened.command, opened.path
    if isinstance(result, SeatResult) and prob is None:
        prob = result.provenance.get("prob")
    if isinstance(result, WefatResult) and prob is None:
        prob = result.prob
    if isinstance(result, SweepResult) and rope_given is not None:
        raise InputError(
            "a sweep has the region of practical equivalence of its plan, for which its cells were judged",
            where="rope",
            found=rope_given,
            hint="leave it out, or set rope and standard_rope in the plan and run the sweep again",
        )
    if rope_given is not None and (kind := kind_of_any(result)) in _WITHOUT_ROPE:
        raise InputError(
            "such a run is not held against a region of practical equivalence",
            where="rope",
            found=kind,
            valid="words, change",
        )
    if isinstance(result, SweepResult) and prob is None:
        prob = next(iter(result.frame["prob"].dropna()), None)
    prob = checks.probability(PROB if prob is None else prob)
    rope = checks.positive(ROPE if rope is None else rope, "rope")
    kind = kind_of_any(result)
    if standard_rope is not None and kind != "words":
        raise InputError(
            "only a fit of distances is judged in standard deviations", where="standard_rope", found=kind
        )
    of_words = {}
    if kind == "words":
        known = None if opened is None else opened.settings.get("standard_rope")
        half = next((x for x in (standard_rope, known) if x is not None), STANDARD_ROPE)
        of_words["standard_rope"] = checks.positive(half, "standard_rope")
    make = None if isinstance(result, SentimentAnalysis) else PAGES.get(kind or "")
    if make is None:
        kind_given = opened.kind if opened else kind or type(result).__name__
        raise InputError("there is no page on such a run", where=where, found=kind_given, valid=_KINDS)
    with figure_style("report"):  # whatever is in force for the files beside it
        text = _rendered(make(result, prob, rope, command, **of_words))
    with whole_file(target) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return target


def _rendered(page: Page) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    folder = data_dir("report")
    script = (folder / "report.js").read_text(encoding="utf-8")
    css = (folder / "report.css").read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=escaped,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["attribute"] = lambda text: Markup.escape(literal(str(text), lines=True))
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return environment.get_template("report.html.j2").render(
        page=page,
        css=Markup(css),
        script=Markup(script),
        script_hash=Markup(digest),
        version=own_version(),
    )
