"""The kit: students get no outputs and no answers, the teacher gets both."""

import itertools
import json
import re

import pytest

import bayesbias as bb
from bayesbias.lesson import kit


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("kit") / "class"
    written = bb.lesson.write_kit(out)
    assert sorted(written) == sorted(path for path in out.rglob("*") if path.is_file())
    return out


def texts(path):
    """Return the sources of all cells, and all outputs."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    source = "\n".join("".join(cell["source"]) for cell in cells)
    return source, [output for cell in cells for output in cell.get("outputs", [])]


@pytest.mark.parametrize("name", kit.NOTEBOOKS)
def test_students_get_no_outputs_and_no_answers(folder, name):
    source, outputs = texts(folder / "students" / f"{name}.ipynb")
    whole, all_outputs = texts(folder / "teacher" / f"{name}.ipynb")
    assert outputs == []
    assert all_outputs
    answers = whole.count("<!-- answer: ") + whole.count("<summary>Answer</summary>")
    answers += whole.count("<summary>Some answers</summary>")
    assert answers >= 6
    assert source.count("*Your answer:*") == answers
    for piece in ("<!-- answer", "end of answer", "<summary>Answer", "Answers unfold"):
        assert piece not in source
    assert whole.count("<!-- answer: ") == whole.count("<!-- end of answer -->")


@pytest.mark.parametrize("name", kit.NOTEBOOKS)
def test_students_are_asked_before_each_answer(folder, name):
    path = folder / "students" / f"{name}.ipynb"
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for text in "".join(cell["source"]).split("*Your answer:*")[:-1]:
            paragraphs = text.rstrip().split("\n\n")
            assert any("?" in each and each.startswith("**") for each in paragraphs[-2:]), text


def test_the_exercise_is_left_to_students(folder):
    name = "05_occupations_in_sentiment.ipynb"
    source, _ = texts(folder / "students" / name)
    whole, _ = texts(folder / "teacher" / name)
    assert "# Your code" in source
    assert "0.19" not in source.split("## 6")[0].split("## 4")[0]
    assert 'set_index("unit")' in whole
    assert 'set_index("unit")' not in source


@pytest.mark.parametrize("name", kit.NOTEBOOKS[:2])
def test_the_teacher_has_an_answer_to_each_question_for_further_work(folder, name):
    source, _ = texts(folder / "teacher" / f"{name}.ipynb")
    asked, answered = source.split("### For further work")[1].split(
        '### Answers to "For further work"'
    )
    numbers = [line[0] for line in asked.splitlines() if line[:1].isdigit()]
    assert numbers
    assert all(f"**{number}.**" in answered for number in numbers)


def test_the_plan_names_files_of_the_kit_and_fills_50_minutes(folder):
    plan = (folder / "plan.md").read_text(encoding="utf-8")
    for name in ("averaging.html", "students/05_occupations_in_sentiment.ipynb"):
        assert name in plan
        assert (folder / name).is_file()
    minutes = [tuple(map(int, row)) for row in re.findall(r"^\| (\d+) to (\d+) \|", plan, re.M)]
    assert minutes[0][0] == 0
    assert minutes[-1][1] == 50
    assert all(one[1] == two[0] for one, two in itertools.pairwise(minutes))
