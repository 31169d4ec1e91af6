"""What the HTML reports are put together of: cells, tables, figures, and numbers as a reader sees them."""

from __future__ import annotations

import base64
import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbias.posterior import PROB, ROPE, BiasFit
from bayesbias.spec import ModelSpec, load_model, shipped_models

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

_LARGEST_SVG = 1_500_000  # bytes; beyond, a picture is drawn faster than its shapes
_LONG = 24  # characters, from which on a cell is given more width
# What a text may not do to the page around it: control characters, overrides of the direction of text and
# halves of characters, which no encoding can write. ZERO WIDTH JOINER and its like stay; emoji need them.
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff"
_RTL_RUN = re.compile(f"[{_RTL}]+(?:[\\s\u200c-\u200f'-]+[{_RTL}]+)*")


@dataclass(frozen=True)
class _Cell:
    text: str
    number: bool = False
    key: str = ""

    @property
    def long(self) -> bool:
        return len(self.text) > _LONG


@dataclass(frozen=True)
class _Table:
    id: str
    caption: str
    head: Sequence[str]  # with # before those of numbers
    rows: Sequence[Sequence[_Cell]]
    note: str = ""


@dataclass(frozen=True)
class _Figure:
    id: str
    caption: str
    content: Markup


@dataclass(frozen=True)
class _Part:
    title: str = ""
    sentences: Sequence[str] = ()
    figures: Sequence[_Figure] = ()
    tables: Sequence[_Table] = ()
    folded: Sequence[_Part] = ()


# -- what every report has ---------------------------------------------------------------------


def _not_trusted(problems: Sequence[str]) -> list[dict[str, Any]]:
    if not problems:
        return []
    return [{"title": "Not to be trusted yet", "sentences": [_sentence(text) for text in problems]}]


def _look_again(lacking: Sequence[str]) -> list[dict[str, Any]]:
    if not lacking:
        return []
    return [{"title": "Look again before you rely on it", "sentences": [_sentence(text) for text in lacking]}]


def _about(spec: ModelSpec, use: str) -> dict[str, Any]:
    return {
        "title": f"Model {spec.name}" + (f", {use}" if use else ""),
        "description": spec.description,
        "source": spec.source,
        "notes": spec.notes,
        "text": spec.text,
        "folded": [],
    }


def _parameters(fit: BiasFit, prob: float, tag: str = "") -> _Part:
    head = ["parameter", "of", "#mean", "#sd", f"#{prob:.0%} HPDI", "#effective draws", "#R-hat"]
    rows = [
        [
            _Cell(str(r.name)),
            _Cell(str(r.index)),
            _number(r.mean),
            _number(r.sd),
            _interval_cell(r.hpdi_low, r.hpdi_high),
            _number(r.ess_bulk, 0),
            _number(r.r_hat),
        ]
        for r in fit.parameters(prob).itertuples()
    ]
    left_out = any("attribute" in parameter.dims for parameter in fit.spec.parameters.values())
    note = "Effects of single attributes left out." if left_out else ""
    id_ = re.sub(r"[^A-Za-z0-9_-]+", "-", f"t-parameters{tag}")
    return _Part("Every parameter", tables=[_Table(id_, "Parameters", head, rows, note)])


def _how_sampled(fit: BiasFit) -> str:
    method = fit.provenance.get("sampler", {})
    if method.get("method") == "pairwise":
        return (
            f"Sampled pair by pair with {method.get('name', 'NUTS')}, since {method.get('why_pairwise', '')}."
        )
    return f"Sampled with {method.get('name', 'NUTS')}: the scales by chains, and all effects exactly given the scales."


# -- how to reproduce ----------------------------------------------------------------------------


def _reproduction(
    arguments: list[str],
    option: str,
    spec: ModelSpec,
    provenance: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]],
    notes: list[str],
    settings: tuple[float, float],
) -> dict[str, Any]:
    model = spec.name
    if spec.name not in shipped_models() or load_model(spec.name).sha256 != spec.sha256:
        model = f"{spec.name}.toml"
        notes.append(
            "The model is not the shipped one: save the text shown above as the file that the command names."
        )
    arguments += [option, model]
    sampler = provenance.get("sampler", {})
    for name in ("seed", "draws", "tune", "chains"):
        if name in sampler:
            arguments += [f"--{name}", str(sampler[name])]
    if settings[0] != PROB:
        arguments += ["--prob", f"{settings[0]:g}"]
    if settings[1] != ROPE:
        arguments += ["--rope", f"{settings[1]:g}"]
    if any(str(t.get("embedding", {}).get("source", "")).startswith("a ") for t in tables.values()):
        notes.append("Vectors that came from memory have to be saved to a file first.")
    notes.append(
        "Paths are given by their last part. Same inputs, seed and versions on the same machine: same draws."
    )
    rows = []
    for label, table in tables.items():
        lead = f"{label}: " if label else ""
        for kind in ("wordlist", "embedding"):
            if kind in table:
                about = table[kind]
                digest = about.get("sha256") or about.get("sha256_vectors") or ""
                noun = "word list" if kind == "wordlist" else "vectors"
                rows.append([_Cell(f"{lead}{noun}"), _Cell(str(about.get("name", ""))), _Cell(str(digest))])
        if "sha256" in table:
            rows.append(
                [
                    _Cell(f"{lead}{table.get('noun', 'table')}"),
                    _Cell(_base(table.get("source", table.get("name", "")))),
                    _Cell(str(table["sha256"])),
                ]
            )
    rows.append([_Cell("model"), _Cell(spec.name), _Cell(spec.sha256)])
    versions = [[_Cell(str(name)), _Cell(str(of))] for name, of in provenance.get("versions", {}).items()]
    found = [_Table("t-hashes", "Inputs", ["input", "name", "SHA-256"], rows)]
    if versions:
        found.append(_Table("t-versions", "Versions", ["program", "version"], versions))
    return {
        "sentences": ["This command makes the run again:"],
        "command": " ".join(shlex.quote(_clean(word)) for word in arguments),
        "notes": notes,
        "tables": found,
    }


# -- figures --------------------------------------------------------------------------------------


def _figure(
    id_: str, draw: Callable[[Axes], Any], size: tuple[float, float], caption: str, alt: str
) -> _Figure:
    from matplotlib.figure import Figure

    from bayesbias import _canvas as canvas

    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots())
    content = _inline_svg(canvas.rendered(figure, "svg"), f"{id_}-", alt)
    if content is None:
        content = _inline_png(canvas.rendered(figure, "png"), alt)
    return _Figure(f"figure-{id_}", caption, content)


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
        "aria-label": _clean(alt),
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
        data, _clean(alt), width, height
    )


# -- words and numbers ------------------------------------------------------------------------------


def _number(value: Any, digits: int = 3, *, signed: bool = False) -> _Cell:
    if value is None or not math.isfinite(value):
        return _Cell("not known", True)
    value = float(value)
    return _Cell(_figures(value, digits, signed), True, repr(value))


def _figures(value: float, digits: int, signed: bool) -> str:
    """Write a number; zero has no sign, and a minus is a minus."""
    text = f"{value:,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        return text.removeprefix("-")
    return (f"+{text}" if signed and value > 0 else text).replace("-", "−")


def _signed(value: float) -> str:
    return _figures(float(value), 3, True)


def _interval(low: float, high: float, *, signed: bool = False) -> str:
    return f"{_figures(float(low), 3, signed)} to {_figures(float(high), 3, signed)}"


def _interval_cell(low: float, high: float, *, signed: bool = False) -> _Cell:
    if not (math.isfinite(low) and math.isfinite(high)):
        return _Cell("not known", True)
    return _Cell(_interval(low, high, signed=signed), True, repr(float(low)))


def _share(p: float) -> _Cell:
    return _Cell(_probability(p), True, repr(float(p)))


def _probability(p: float) -> str:
    return "> 0.999" if p > 0.999 else "< 0.001" if p < 0.001 else f"{p:.3f}"


def _scientific(value: float) -> _Cell:
    return _Cell(f"{value:.1g}".replace("-", "−"), True, repr(float(value)))


def _minus(contrast: str) -> str:
    return contrast.replace(" - ", " − ")


def _sentence(text: str, lead: str = "") -> str:
    """Begin with a capital, unless a name leads, and end with a stop, where the text does neither."""
    named = re.match(r"[^\s:]+: ", text)  # the name of a classifier, a method or a test stays as it is
    text = lead + text if lead or named else text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _base(source: Any) -> str:
    """Return the last part of a path: a report is passed on, and need not tell where its author keeps files."""
    return re.split(r"[\\/]", str(source))[-1] or str(source)


def _shown(value: Any) -> Any:
    """Escape a text for the page; words written from right to left do not disturb the order of those around them."""
    from markupsafe import Markup

    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    text = _clean(value)
    out = Markup()
    at = 0
    for run in _RTL_RUN.finditer(text):
        out += Markup.escape(text[at : run.start()]) + Markup("<bdi>{}</bdi>").format(run[0])
        at = run.end()
    return out + Markup.escape(text[at:])


def _clean(text: str) -> str:
    return _UNSHOWN.sub("\ufffd", text)
