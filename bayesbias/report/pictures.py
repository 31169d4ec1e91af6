"""Figures inside a page: as shapes with their text, or as a picture where there are too many shapes."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from bayesbias.core.progress import ticking
from bayesbias.core.wording import literal
from bayesbias.plots.plates import Plate, rendered
from bayesbias.report.parts import Part, Picture

if TYPE_CHECKING:
    from markupsafe import Markup

_LARGEST_SVG = 1_500_000  # bytes; beyond, a picture is drawn faster than its shapes
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


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


def in_order[S](
    makers: Sequence[Callable[[S], Part | None]], study: S, galleries: Sequence[Gallery] = ()
) -> list[Part]:
    """Make parts in order, without those that make nothing; at the end stand the figures that no part has taken.

    The parts of a part have no galleries, and no bar of their own.
    """
    parts: list[Part] = []
    with ticking("making the page", len(makers) + 1, None if galleries else False) as tick:
        for make in makers:
            if (part := make(study)) is not None:
                parts.append(part)
            tick(1)
        left = [picture for gallery in galleries for picture in gallery.rest()]
        tick(1)
    return [*parts, Part("More figures", figures=left)] if left else parts


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
        "aria-label": literal(alt),
        "focusable": "false",
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
        "style": f"max-width: {width * 1.75:.0f}px",
    }
    return Markup(ET.tostring(root, encoding="unicode"))


def _inline_png(png: bytes, alt: str) -> Markup:
    from markupsafe import Markup

    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    data = base64.b64encode(png).decode("ascii")
    return Markup('<img src="data:image/png;base64,{}" alt="{}" width="{}" height="{}">').format(
        data, literal(alt), width, height
    )
