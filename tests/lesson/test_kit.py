"""The kit: students get no outputs and no answers, the teacher gets both."""

import itertools
import json
import re

import pytest
from helpers.places import ROOT

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
    assert "# Your code\n# 1. The mean of each noun pair: table.groupby(...)" in source
    assert "0.19" not in source.split("## 6")[0].split("## 4")[0]
    assert 'set_index("unit")' in whole
    assert 'set_index("unit")' not in source


def test_the_teacher_sees_the_code_of_the_plan(folder):
    plan = (folder / "plan.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", plan, re.DOTALL)
    notebook = json.loads((folder / "teacher" / f"{kit.NOTEBOOKS[2]}.ipynb").read_text("utf-8"))
    answers = [cell for cell in notebook["cells"] if "answer" in cell["metadata"].get("tags", [])]
    (cell,) = answers
    lines = {line.split("  #")[0].rstrip() for line in cell["source"]}
    assert set(code.splitlines()) <= lines
    (stream,) = (output for output in cell["outputs"] if output["output_type"] == "stream")
    for line in stream["text"]:
        assert f"`{line.rstrip()}`" in plan


def test_students_are_not_told_what_the_plan_asks(folder):
    source, _ = texts(folder / "students" / f"{kit.NOTEBOOKS[2]}.ipynb")
    before_section_4 = source.split("## 4")[0]
    for spoiler in ("not independent", "not 400 observations", "0.19"):
        assert spoiler not in before_section_4


def test_the_notebook_and_the_plan_have_one_clock(folder):
    plan = (folder / "plan.md").read_text(encoding="utf-8")
    source, _ = texts(folder / "students" / f"{kit.NOTEBOOKS[2]}.ipynb")
    sections = re.findall(r"^## (\d+)\. .* \((\d+) minutes\)", source, re.MULTILINE)
    minutes = {int(number): int(length) for number, length in sections}
    assert minutes[1] + minutes[2] == length_of(plan, "sections 1 and 2")
    assert minutes[3] == length_of(plan, "section 3")


def length_of(plan, part):
    """Return the minutes of a row of the plan."""
    ((start, end),) = re.findall(rf"^\| (\d+) to (\d+) \| Notebook, {part}", plan, re.MULTILINE)
    return int(end) - int(start)


def test_the_lesson_of_an_hour_has_the_code_of_its_page(folder):
    """The page runs among the documents, so this code runs."""
    path = folder / "students" / "thirty_word_lists.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    page = (ROOT / "docs" / "howto" / "class.md").read_text(encoding="utf-8")
    lesson = page.split("## One hour")[1]
    blocks = re.findall(r"```(python|sh)\n(.*?)\n```", lesson, re.DOTALL)
    shell = {"sh": "!", "python": ""}
    assert code == [f"{shell[language]}{block}" for language, block in blocks]


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
    rows = re.findall(r"^\| (\d+) to (\d+) \|", plan, re.M)
    minutes = [tuple(map(int, row)) for row in rows]
    end = next(place for place, row in enumerate(minutes) if row[1] == 50) + 1
    lesson, without_python = minutes[:end], minutes[end:]
    assert lesson[0][0] == 0
    for table in (lesson, without_python):
        assert all(one[1] == two[0] for one, two in itertools.pairwise(table))
    # Without Python, the rows of the notebook and of the comparison are replaced.
    replaced = (without_python[0][0], without_python[-1][1])
    assert replaced == (lesson[1][0], lesson[3][1])
