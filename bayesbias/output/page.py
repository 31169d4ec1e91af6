"""Results as one self-contained HTML file.

The result first, then tables, figures, data, model and glossary.
"""

import base64
import hashlib
import io
import itertools
import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias import __version__
from bayesbias.core import InputError
from bayesbias.core.files import data_dir, plain, write_whole
from bayesbias.core.progress import ticking
from bayesbias.core.sections import Section, printed
from bayesbias.inference.view import View
from bayesbias.output import registry, store
from bayesbias.output.paper import methods_paragraph
from bayesbias.studies.common import convergence
from bayesbias.studies.glossary import ESTIMATES

NARROW = 105.0  # millimeters of a figure on a phone
LONG = 24  # characters from which on a cell may break into lines
ADVICE = re.compile(r"[.:]? (\()?[Rr]aise (--tune and )?(--)?draws(?(1)\))")
"""What a headline advises the one who fitted, not a reader of the page."""


def write_report(run: Any, path: str | os.PathLike[str], *, view: View | None = None) -> Path:
    """Write one self-contained HTML file about a result.

    Parameters
    ----------
    run : result, Run or path
        What `fit`, `compare`, `seat`, `sentiment_analysis`, `wefat` or `run_sweep` returned, what
        `load_run` returned, or the folder of a run.
    path : path
        Of the file; it ends in ``.html``.
    view : View, optional
        Probability of the intervals and regions of practical equivalence. By default those of the
        run.

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    InputError
        If `run` is no result, the folder holds no run, or `path` does not end in ``.html``.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> fit = bb.fit(table, seed=1, draws=200, chains=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = bb.write_report(fit, f"{folder}/religion.html").read_text(encoding="utf-8")
    >>> text[:15], "religion in minilm-static" in text
    ('<!DOCTYPE html>', True)
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from bayesbias.plots.glyphs import missing_glyphs_once
    from bayesbias.plots.style import figure_style

    target = Path(path).expanduser()
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            "expected the path of an HTML file",
            where="path",
            found=str(path),
            valid="a name that ends in .html",
        )
    run = store.as_run(run)
    study, result, view = registry.shown(run.result, view or run.view)
    listed = [
        section
        for section in study.sections(result, view)
        if section.shown_on("page", "fold")
        and (section.frame is not None or section.figure or section.text)
    ]
    sections = []
    drawing = ticking("drawing tables and figures", len(listed), long_steps=True)
    with figure_style("report"), drawing as tick, missing_glyphs_once():
        for section in listed:
            sections.append(_shown(section, view))
            tick(1)
    said = registry.interpretation(result, view)
    headline, *details = (ADVICE.sub("", text) for text in (said.headline, *said.details))
    terms = (*study.glossary(result), *ESTIMATES)
    size, first = re.search(r"ROPE \(?±([^),]+)", said.headline), sections[0]["frame"]
    rope = size[1] if size else ""
    if "ROPE" in said.headline and "rope" in first and not size:
        rope = f"{first['rope'].max():g}{' SDs' * ('unit' in first)}"
    folder = data_dir("report")
    script = (folder / "report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    text = environment.get_template("report.html.j2").render(
        headline=headline,
        details=details,
        sections=sections,
        said=said,
        rope=rope,
        header=study.header(result, view),
        question=study.QUESTION,
        fits=[
            {
                "title": f"Model {fit.spec.name}{f': {name}' if name else ''}",
                "description": fit.spec.description,
                "convergence": convergence(fit),
                "text": fit.spec.text,
            }
            for name, fit in result.fits().items()
        ],
        command=None if run.command is None else shlex.join(["bayesbias", *run.command]),
        methods=_methods(run, view),
        sums=_checksums(plain(study.about(result))),
        made=_made(plain(study.about(result))),
        glossary=_used(terms, [headline, *details], sections),
        css=(folder / "report.css").read_text(encoding="utf-8"),
        script=script,
        script_hash=digest,
        version=__version__,
    )
    write_whole(target, text)
    return target


def _used(terms: Any, words: list[str], sections: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the terms that sentences or sections have, with their meaning."""
    for shown in sections:
        cells = itertools.chain(shown["heads"], *shown["rows"])
        words += [shown["title"], shown["note"], *(cell["text"] for cell in cells)]
    text = "\n".join(dict.fromkeys(words)).replace("_", " ")
    return [
        (term, meaning)
        for term, meaning in terms
        if re.search(rf"(?<!\w)({'|'.join(map(re.escape, term.split(', ')))})(?!\w)", text, re.I)
    ]


def _made(about: dict[str, Any]) -> str:
    """Return how a result was made, as JSON: its inputs, then the rest, words found last.

    Missing words stand once, and a list of words takes one line.
    """
    provenance, coverage = about.pop("provenance", {}), about.pop("coverage", None) or {}
    twice = ("coverage", "missing")
    about = {"provenance": {k: v for k, v in provenance.items() if k not in twice}, **about}
    about["coverage"] = {k: v for k, v in coverage.items() if k not in twice}
    text = json.dumps(about, indent=1, ensure_ascii=False)
    return re.sub(r"\[\n[^\[\]{}]*\]", lambda found: re.sub(r"\n *", " ", found[0]), text)


def _methods(run: store.Run, view: View) -> str | None:
    """Return the methods paragraph, or None for a result without a fit."""
    try:
        return methods_paragraph(run, view=view)
    except InputError:
        return None


def _checksums(about: Any, name: str = "") -> dict[str, str]:
    """Return the SHA-256 of each input, by its name.

    Examples
    --------
    >>> _checksums({"embedding": {"source": "vectors.txt", "sha256": "1a2b"}, "seed": 1})
    {'vectors.txt': '1a2b'}
    """
    sums = {}
    if isinstance(about, dict):
        if isinstance(about.get("sha256"), str):
            label = next((about[key] for key in ("name", "source") if about.get(key)), name)
            sums[str(label)] = about["sha256"]
        for key, value in about.items():
            sums |= _checksums(value, key)
    elif isinstance(about, list):
        for value in about:
            sums |= _checksums(value, name)
    return sums


def _shown(section: Section, view: View) -> dict[str, Any]:
    """Return what the template needs of a section."""
    frame = pd.DataFrame() if section.frame is None else section.frame
    columns = printed(frame, section.columns, view.prob)
    cells = [
        [
            {
                "text": text.replace("-", "\N{MINUS SIGN}")
                if column.is_number and text != "-"
                else text,
                "number": column.is_number,
                "key": "" if pd.isna(value) else str(value),
                "long": len(text) > LONG,
                "inner": text.startswith(" "),
            }
            for value, text in zip(frame[column.name], texts, strict=True)
        ]
        for column, _, texts in columns
    ]
    return {
        "first": section.shown_on("terminal", "brief"),
        "frame": frame,
        "name": section.name,
        "title": section.title,
        "text": section.text,
        "note": section.note_for(frame),
        "sortable": "is_heading" not in frame,
        "picture": None if section.figure is None else _svg(section, section.name),
        "narrow": _narrow_svg(section),
        "heads": [{"text": head, "number": column.is_number} for column, head, _ in columns],
        "rows": list(zip(*cells, strict=True)),
    }


def _narrow_svg(section: Section) -> str | None:
    """Return the figure of a section that is not folded, for a phone."""
    from bayesbias.plots.style import figure_style

    if section.figure is None or not section.shown_on("terminal", "brief"):
        return None
    with figure_style("report", width=NARROW):
        return _svg(section, f"{section.name}-narrow")


def _svg(section: Section, name: str) -> str:
    """Return a figure as SVG to stand in a page, with ids that no other figure has."""
    import matplotlib
    import matplotlib.pyplot as plt

    buffer, figure = io.StringIO(), section.draw()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", text)
