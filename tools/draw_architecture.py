"""Draw docs/architecture.svg from the imports of the package: ``python tools/draw_architecture.py``."""

from __future__ import annotations

import ast
from collections import Counter
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "bayesbias"
PICTURE = ROOT / "docs" / "architecture.svg"
# In the order of the flow; each imports only from itself and from those above it.
FOLDERS = (
    "basics",
    "border",
    "words",
    "vectors",
    "encoders",
    "classifiers",
    "debiasing",
    "models",
    "tables",
    "inference",
    "scores",
    "simulation",
    "studies",
    "findings",
    "columns",
    "sweeps",
    "figures",
    "runs",
    "report",
    "cli",
)
INK, FAINT, LINE = "#1f2933", "#7b8794", "#e4e7eb"
BOX, CELL, ROW, TOP = 118, 29, 30, 58


def rooms(folder: str) -> list[Path]:
    """Return the files of a folder, without those that only name what is public."""
    return sorted(
        path for path in (PACKAGE / folder).rglob("*.py") if path.stem not in ("__init__", "__main__")
    )


def folders_imported(path: Path, public: dict[str, str]) -> set[str]:
    """Return the folders that a file imports from, at its top or inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "bayesbias":
            names |= {f"bayesbias.{public.get(alias.name, alias.name)}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "bayesbias"
        ):
            names.add(f"bayesbias.{public.get(node.attr, node.attr)}")
    parts = [name.split(".") for name in names]
    return {part[1] for part in parts if part[0] == "bayesbias" and len(part) > 1 and part[1] in FOLDERS}


def arrows() -> Counter[tuple[str, str]]:
    """Count, for each two folders, the files of the first that import from the second."""
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    public = {
        alias.name: (node.module or alias.name).split(".")[0]
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return Counter(
        (folder, other)
        for folder in FOLDERS
        for path in rooms(folder)
        for other in folders_imported(path, public) - {folder}
    )


def about(folder: str) -> str:
    """Return the first sentence of a folder's docstring."""
    text = ast.get_docstring(ast.parse((PACKAGE / folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split()).rstrip(".").replace("``", "")


def draw() -> str:
    """Return the picture: a row a folder; each number left of the diagonal is an arrow to the folder of its column."""
    count = arrows()
    height, width = TOP + ROW * len(FOLDERS) + 96, BOX + CELL * len(FOLDERS) + 560
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12" fill="{INK}">',
        "<title>The folders of bayesbias and what they import</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<text x="12" y="22" font-size="15" font-weight="bold">The folders, in the order of the flow</text>',
        f'<text x="12" y="41" fill="{FAINT}">A number is an arrow: so many files of the row import from the folder of '
        "the column. None is right of the diagonal: no arrow goes up.</text>",
    ]
    bottom = TOP + ROW * len(FOLDERS)
    for i, folder in enumerate(FOLDERS):
        x, y = BOX + CELL * i, TOP + ROW * i
        middle = y + ROW / 2 + 4
        out += [
            f'<line x1="{x + CELL / 2}" y1="{y + ROW}" x2="{x + CELL / 2}" y2="{bottom}" stroke="{LINE}"/>',
            f'<line x1="{BOX}" y1="{y + ROW / 2}" x2="{x}" y2="{y + ROW / 2}" stroke="{LINE}"/>',
            f'<rect x="8" y="{y + 3}" width="{BOX - 16}" height="{ROW - 6}" rx="4" fill="#f5f7fa" stroke="{INK}"/>',
            f'<text x="16" y="{middle}" font-weight="bold">{folder}</text>',
            f'<text x="{BOX - 14}" y="{middle}" text-anchor="end" fill="{FAINT}">{len(rooms(folder))}</text>',
            f'<rect x="{x + 2}" y="{y + 3}" width="{CELL - 4}" height="{ROW - 6}" rx="4" fill="{INK}"/>',
            f'<text x="{x + CELL + 8}" y="{middle}">{escape(about(folder))}</text>',
            f'<text transform="translate({x + CELL / 2 + 4} {bottom + 10}) rotate(90)" fill="{FAINT}">{folder}</text>',
        ]
    for (folder, other), n in sorted(
        count.items(), key=lambda item: [FOLDERS.index(name) for name in item[0]]
    ):
        x, y = BOX + CELL * FOLDERS.index(other), TOP + ROW * FOLDERS.index(folder)
        share = n / len(rooms(folder))
        out += [
            f'<rect x="{x + 2}" y="{y + 3}" width="{CELL - 4}" height="{ROW - 6}" rx="4" fill="#fff"/>',
            f'<rect x="{x + 2}" y="{y + 3}" width="{CELL - 4}" height="{ROW - 6}" rx="4" fill="#2680c2" '
            f'fill-opacity="{0.08 + 0.42 * share:.2f}"><title>{folder} to {other}: {n}</title></rect>',
            f'<text x="{x + CELL / 2}" y="{y + ROW / 2 + 4}" text-anchor="middle">{n}</text>',
        ]
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
