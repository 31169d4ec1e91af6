"""The lesson on averaging: a page that needs no Python.

The page computes all its figures by `_data/lesson/averaging.js`. Python writes the data of two real
examples into it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from bayesbias import __version__
from bayesbias.core import InputError, checks
from bayesbias.core.files import data_dir, path_of, write_whole

TESTS = {
    "pairs": "<i>t</i>-test over pairs",
    "manzini": "Manzini’s test",
    "weat": "WEAT’s test",
    "words": "<i>t</i>-test over words",
    "crossed": "crossed interval",
}
"""The tests of part 3, by their names in ``averaging.js``."""
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
COVERAGE = {
    "tables": "20,000",
    "share": "95.5",
    "error": "0.15",
    "share_of_two": "99.8",
    "alarms_of_32": "4.8",
}
"""What 95% crossed intervals covered or missed, in percent; ``tests/lesson`` measures it again."""


def write_lesson(path: checks.FilePath) -> Path:
    """Write a lesson on averaging as one HTML file.

    The page runs in any browser, loads nothing and sends nothing. It shows what averaged scores
    lose, which tests raise false alarms, and what an interval is about.

    Parameters
    ----------
    path : path
        Of the file; it ends in ``.html``.

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    InputError
        If `path` does not end in ``.html`` or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = bb.lesson.write_lesson(f"{folder}/averaging.html")
    ...     page.name, page.stat().st_size < 200_000
    ('averaging.html', True)
    """
    target = path_of(path)
    if target.suffix.lower() not in (".html", ".htm"):
        problem = "expected the path of an HTML file"
        valid = "a name that ends in .html"
        raise InputError(problem, where="path", found=str(path), valid=valid)
    write_whole(target, lesson_text())
    return target


def lesson_text() -> str:
    """Return the source of the page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = data_dir("lesson")
    script = "".join(
        (folder / name).read_text(encoding="utf-8") for name in ("averaging.js", "page.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    gender, sentences = gender_data(), sentence_data()
    # "<" would end the element that holds the data.
    data = json.dumps({"gender": gender, "sentences": sentences}, separators=(",", ":"))
    return environment.get_template("page.html.j2").render(
        gender=_numbers_of_gender(gender),
        sentences=_numbers_of_sentences(),
        tests=TESTS.items(),
        coverage=COVERAGE,
        data=data.replace("<", "\\u003c"),
        css=(folder / "page.css").read_text(encoding="utf-8"),
        script=script,
        script_hash=digest,
        version=__version__,
    )


def gender_data() -> dict[str, Any]:
    """Return the distances of protected words and stereotypes of gender in the shipped vectors."""
    from bayesbias.simulation.grid import grid_of
    from bayesbias.tables.distances import distance_table

    grid = grid_of(distance_table("minilm-static", "gender", controls="none").frame, "gender")
    words, attributes = grid.sizes()
    return {
        "classes": grid.classes,
        "words": grid.words,
        "attributes": grid.attributes,
        "x": int(words[0]),
        "a": int(attributes[0]),
        "distances": grid.distances.tolist(),
    }


def sentence_data() -> dict[str, Any]:
    """Return the differences of 400 pairs of sentences, noun by noun."""
    table = _sentences()
    differences = table.pivot(index="noun_pair", columns="profession", values="difference")
    differences = differences.loc[differences.mean(axis=1).sort_values().index]
    differences = differences[table["profession"].unique()]
    return {
        "nouns": [_short(pair) for pair in differences.index],
        "differences": differences.to_numpy().tolist(),
    }


def _sentences() -> Any:
    from bayesbias.classifiers.predictions import list_predictions
    from bayesbias.tables.sentiment import sentiment_table

    return sentiment_table(list_predictions("m1"))


def _short(pair: str) -> str:
    """Return a pair of nouns without articles, short enough for a phone.

    Examples
    --------
    >>> _short("My mother / My father"), _short("The male candidate / The female candidate")
    ('mother / father', 'male / female candidate')
    """
    first, second = (re.sub("^(My|This|The) ", "", noun) for noun in pair.split(" / "))
    if first.split()[1:] == second.split()[1:]:
        first = first.split()[0]
    return f"{first} / {second}"


def _numbers_of_gender(gender: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of the text of part 1."""
    import numpy as np

    distances = np.array(gender["distances"])
    words, attributes = distances.shape
    of_x = np.arange(words)[:, None] < gender["x"]
    of_a = np.arange(attributes) < gender["a"]
    associated, different = distances[of_x == of_a], distances[of_x != of_a]
    spread = np.sqrt((associated.var(ddof=1) + different.var(ddof=1)) / 2)
    to_a, to_b = distances[:, of_a].mean(axis=1), distances[:, ~of_a].mean(axis=1)
    apart = np.where(of_x[:, 0], to_b - to_a, to_a - to_b)
    most, least = int(apart.argmax()), int(apart.argmin())
    return {
        "pairs": distances.size,
        "words": words,
        "attributes": attributes,
        "x": gender["x"],
        "y": words - gender["x"],
        "a": gender["a"],
        "b": attributes - gender["a"],
        "difference": f"{different.mean() - associated.mean():.2f}",
        "sd": f"{spread:.2f}",
        "most": gender["words"][most],
        "most_apart": f"{apart[most]:.2f}",
        "least": gender["words"][least],
        "least_apart": f"{apart[least]:.2f}",
    }


def _numbers_of_sentences() -> dict[str, str]:
    """Return the p-values of the text of part 2."""
    from bayesbias.studies.sentiment.analysis import paired_test

    table = _sentences()
    p_values = {}
    for unit in ("sentence_pair", "noun_pair"):
        p_values[unit] = float(paired_test(table, unit=unit)["p_value"].iloc[0])
    digits, power = f"{p_values['sentence_pair']:.1e}".split("e-")
    return {
        "p_pairs": f"{digits} × 10⁻{str(int(power)).translate(_SUPERSCRIPTS)}",
        "p_nouns": f"{p_values['noun_pair']:.2f}".removeprefix("0"),
    }
