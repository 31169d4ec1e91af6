"""What every page is put together of: parts, pictures, doubts, the model."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbias.figures.plates import Plate, rendered
from bayesbias.findings.parts import Doubt
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.spec import ModelSpec
from bayesbias.report.columns import Cell, Table, as_sentence, interval_cell, number_cell, without_controls

if TYPE_CHECKING:
    from markupsafe import Markup

_LARGEST_SVG = 1_500_000  # bytes; beyond, a picture is drawn faster than its shapes


@dataclass(frozen=True)
class Picture:
    """A figure inside the page: its SVG, its caption, and an id to link to."""

    id: str
    caption: str
    content: Markup


@dataclass(frozen=True)
class Part:
    """A section of the page: sentences, figures, tables, and parts that open on a click."""

    title: str = ""
    sentences: Sequence[str] = ()
    figures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    folded: Sequence[Part] = ()


def not_trusted(problems: Sequence[str]) -> list[dict[str, Any]]:
    """Make the box that stands before the answer where a fit has problems; none without."""
    if not problems:
        return []
    return [{"title": "Not to be trusted yet", "sentences": [as_sentence(text) for text in problems]}]


def look_again(doubts: Sequence[Doubt]) -> list[dict[str, Any]]:
    """Make the box on what the model leaves out; none where nothing is doubted."""
    if not doubts:
        return []
    return [
        {
            "title": "Look again before you rely on it",
            "sentences": [as_sentence(doubt.text) for doubt in doubts],
        }
    ]


def about_spec(spec: ModelSpec, use: str) -> dict[str, Any]:
    """Gather what the page says of a model: description, source, notes, and its file."""
    return {
        "title": f"Model {spec.name}" + (f", {use}" if use else ""),
        "description": spec.description,
        "source": spec.source,
        "notes": spec.notes,
        "text": spec.text,
        "folded": [],
    }


def parameters_part(fit: BiasFit, prob: float, tag: str = "") -> Part:
    """Make the table of the model's parameters, with effective draws and R-hat."""
    head = ["parameter", "of", "#mean", "#sd", f"#{prob:.0%} HPDI", "#effective draws", "#R-hat"]
    rows = [
        [
            Cell(str(r.name)),
            Cell(str(r.index)),
            number_cell(r.mean),
            number_cell(r.sd),
            interval_cell(r.hpdi_low, r.hpdi_high),
            number_cell(r.ess_bulk, 0),
            number_cell(r.r_hat),
        ]
        for r in fit.parameters(prob).itertuples()
    ]
    left_out = any("attribute" in parameter.dims for parameter in fit.spec.parameters.values())
    note = "Effects of single attributes left out." if left_out else ""
    id_ = re.sub(r"[^A-Za-z0-9_-]+", "-", f"t-parameters{tag}")
    return Part("Every parameter", tables=[Table(id_, "Parameters", head, rows, note)])


def how_sampled(fit: BiasFit) -> str:
    """Say in one sentence how the posterior was sampled, and why."""
    method = fit.provenance.get("sampler", {})
    if method.get("method") == "pairwise":
        return (
            f"Sampled pair by pair with {method.get('name', 'NUTS')}, since {method.get('why_pairwise', '')}."
        )
    return f"Sampled with {method.get('name', 'NUTS')}: the scales by chains, and all effects exactly given the scales."


class Gallery:
    """The figures of a result, handed out to the sections of a page; what no section takes is left for its end."""

    def __init__(self, plates: Iterable[Plate], tag: str = "") -> None:
        self._left = {plate.name: plate for plate in plates}
        self._tag = tag

    def take(self, name: str) -> list[Picture]:
        """Return a figure, drawn; none where the result has none of that name."""
        plate = self._left.pop(name, None)
        return [] if plate is None else [as_picture(plate, self._tag)]

    def leave_out(self, name: str) -> None:
        """Keep a figure off the page."""
        self._left.pop(name, None)

    def rest(self) -> list[Picture]:
        """Return all figures that no section has taken."""
        return [picture for name in list(self._left) for picture in self.take(name)]


def more_figures(pictures: Sequence[Picture]) -> list[Part]:
    """Return the last section of a page: the figures that have none of their own."""
    return [Part("More figures", figures=pictures)] if pictures else []


def as_picture(plate: Plate, tag: str = "") -> Picture:
    """Draw a figure for a page: as shapes, or as a picture where there are too many; a tag tells figures of one name apart."""
    id_ = plate.name.replace("_", "-") + tag
    figure = plate.figure()
    content = _inline_svg(rendered(figure, "svg"), f"{id_}-", plate.alt)
    if content is None:
        content = _inline_png(rendered(figure, "png"), plate.alt)
    return Picture(f"figure-{id_}", plate.caption, content)


def _inline_svg(svg: bytes, prefix: str, alt: str) -> Markup | None:
    """Return an SVG to stand in a page, or None where a picture does better.

    Identifiers get a prefix, since those of two figures would meet in one page; the sheet of styles, which would
    reach beyond the figure, becomes attributes.
    """
    import xml.etree.ElementTree as ET

    from markupsafe import Markup

    if len(svg) > _LARGEST_SVG:
        return None
    try:
        root = ET.fromstring(svg)
    except ET.ParseError:  # a word holds a character that XML cannot
        return None
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        attributes = {}
        for key, value in element.attrib.items():
            key = key.rpartition("}")[2]
            if key == "id" or (key == "href" and value.startswith("#")):
                at = len(value) - len(value.removeprefix("#"))
                value = value[:at] + prefix + value[at:]
            elif key in ("d", "points", "x", "y"):
                value = _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", value)
            attributes[key] = value.replace("url(#", f"url(#{prefix}")
        element.attrib = attributes
        if element.tag not in ("text", "tspan"):
            element.text = (element.text or "").strip()
        element.tail = "" if element.tag != "tspan" else element.tail
    width = float(root.attrib.pop("width").removesuffix("pt"))
    for name in ("height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {
        "role": "img",
        "aria-label": without_controls(alt),
        "focusable": "false",
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
        "style": f"max-width: {width * 1.75:.0f}px",
    }
    return Markup(ET.tostring(root, encoding="unicode"))


_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def _inline_png(png: bytes, alt: str) -> Markup:
    from markupsafe import Markup

    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    data = base64.b64encode(png).decode("ascii")
    return Markup('<img src="data:image/png;base64,{}" alt="{}" width="{}" height="{}">').format(
        data, without_controls(alt), width, height
    )
