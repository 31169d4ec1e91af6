"""A kit for a class: notebooks for students and for the teacher, a plan, and the page.

In a notebook, an answer is a part between two comments of Markdown, a part that unfolds under the
title "Answer", or a cell of code with the tag ``answer``. The first comment has the question, which
students see in the place of the answer. The metadata of the cell may have a ``hint``, which students
see below "Your code".
"""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.files import check_folder, data_dir, path_of, write_whole
from bayesbias.lesson.page import write_lesson

NOTEBOOKS = ("02_means_of_means", "02b_model_what_pairs_share", "05_occupations_in_sentiment")
"""The notebooks for a class."""
_ONE_HOUR = "thirty_word_lists.ipynb"
"""The notebook of the lesson of an hour, which has neither outputs nor answers."""
_ANSWERS = (
    re.compile(r"<!-- answer: (?P<question>.*?) -->.*?<!-- end of answer -->", re.DOTALL),
    re.compile(r"<details><summary>(?:Answer|Some answers)</summary>.*?</details>", re.DOTALL),
)
_TO_FILL = "*Your answer:* \\_\\_\\_"
_CODE_TO_FILL = "# Your code"
_HOW = "Answers unfold on a click, or the next cell computes them."
_HOW_FOR_STUDENTS = "Write your answers where the notebook asks for them."


def write_kit(folder: checks.FilePath) -> list[Path]:
    """Write a kit for a class.

    The kit has the page of `write_lesson`, a plan of 50 minutes, notebooks for students without
    outputs and answers, and the same notebooks for the teacher, with both. The teacher's ones also
    answer what is asked "for further work". One more notebook for students is a lesson of an hour.

    Parameters
    ----------
    folder : path
        The folder to write to; files of the same names are replaced.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputError
        If the folder cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import bayesbias as bb
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in bb.lesson.write_kit(folder)][:2]
    ['plan.md', 'averaging.html']
    """
    out = path_of(folder, "folder", "the path of a folder")
    check_folder(out)
    for part in ("students", "teacher"):
        (out / part).mkdir(parents=True, exist_ok=True)
    plan = out / "plan.md"
    write_whole(plan, (data_dir("lesson") / "plan.md").read_text(encoding="utf-8"))
    written = [plan, write_lesson(out / "averaging.html")]
    for name in NOTEBOOKS:
        path = data_dir("notebooks") / f"{name}.ipynb"
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for part, version in (
            ("students", student_version(notebook)),
            ("teacher", teacher_version(notebook, name)),
        ):
            target = out / part / f"{name}.ipynb"
            write_whole(target, json.dumps(version, indent=1, ensure_ascii=False) + "\n")
            written.append(target)
    one_hour = out / "students" / _ONE_HOUR
    write_whole(one_hour, (data_dir("lesson") / _ONE_HOUR).read_text(encoding="utf-8"))
    written.append(one_hour)
    return written


def student_version(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook without outputs and answers."""
    version = copy.deepcopy(notebook)
    for cell in version["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell["outputs"] = []
            cell["execution_count"] = None
            if "answer" in cell["metadata"].get("tags", []):
                hint = cell["metadata"].pop("hint", "")
                text = f"{_CODE_TO_FILL}\n{hint}".rstrip()
        else:
            for pattern in _ANSWERS:
                text = pattern.sub(_to_fill, text)
            text = text.replace(_HOW, _HOW_FOR_STUDENTS)
        cell["source"] = text.splitlines(keepends=True)
    return version


def _to_fill(answer: re.Match[str]) -> str:
    """Return what students see in the place of an answer."""
    question = answer.groupdict().get("question")
    return f"**{question}**\n\n{_TO_FILL}" if question else _TO_FILL


def teacher_version(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a notebook as it is, with answers to what it asks for further work."""
    version = copy.deepcopy(notebook)
    path = data_dir("lesson") / "further_work" / f"{name}.md"
    if path.is_file():
        text = path.read_text(encoding="utf-8").rstrip("\n")
        cell = {"cell_type": "markdown", "id": "further-work", "metadata": {}}
        version["cells"].append({**cell, "source": text.splitlines(keepends=True)})
    return version
