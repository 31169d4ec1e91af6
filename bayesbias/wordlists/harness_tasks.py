"""Sentences as tasks of evaluation harnesses: the files that a harness runs, which ask for yes or no."""

import json
from collections.abc import Callable

import pandas as pd

from bayesbias.core import checks

SAMPLES = "samples.jsonl"
_LABELS = ("group", "word", "template", "item", "pair")

_INSPECT = '''"""Questions about groups, to be answered by yes or no. A yes counts as 1."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate, system_message

SAMPLES = Path(__file__).with_name("samples.jsonl")
FIELDS = FieldSpec(input="sentence", target="target", id="id", metadata={labels})


@task
def questions():
    return Task(
        dataset=json_dataset(str(SAMPLES), FIELDS),
        solver=[system_message("Answer with yes or no."), generate()],
        scorer=match(location="begin"),
    )
'''

_LM_EVAL = """# Questions about groups, to be answered by yes or no. A yes counts as 1.
# Run lm_eval in the folder of this file: samples.jsonl is looked for where it runs.
task: questions
dataset_path: json
dataset_kwargs:
  data_files:
    test: samples.jsonl
test_split: test
output_type: multiple_choice
doc_to_text: "{{sentence}} Answer:"
doc_to_choice: ["no", "yes"]
doc_to_target: 1
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1.0
"""


def harness_task(sentences: pd.DataFrame, harness: str) -> dict[str, str]:
    """Return the files of a task that asks a model each sentence.

    Parameters
    ----------
    sentences : DataFrame
        As `response_sentences` returns them.
    harness : {"inspect", "lm_eval"}
        Inspect, or lm-evaluation-harness.

    Returns
    -------
    dict of str to str
        Name of a file -> its text. The log of the harness has group, word, template and item of
        each answer.

    Examples
    --------
    >>> frame = pd.DataFrame({"sentence": ["Is Ebony a nurse?"], "group": ["black"], "word": ["Ebony"]})
    >>> list(harness_task(frame, "inspect"))
    ['questions.py', 'samples.jsonl']
    """
    checks.choice(harness, HARNESSES, "harness")
    labels = [name for name in _LABELS if name in sentences]
    lines = []
    for number, row in enumerate(sentences.to_dict("records"), start=1):
        cells = {name: str(row[name]) for name in ("sentence", *labels)}
        lines.append(json.dumps({"id": number, "target": "yes", **cells}, ensure_ascii=False))
    name, text = HARNESSES[harness](labels)
    return {name: text, SAMPLES: "\n".join(lines) + "\n"}


def _inspect(labels: list[str]) -> tuple[str, str]:
    return "questions.py", _INSPECT.replace("{labels}", json.dumps(labels))


def _lm_eval(labels: list[str]) -> tuple[str, str]:
    return "questions.yaml", _LM_EVAL


HARNESSES: dict[str, Callable[[list[str]], tuple[str, str]]] = {
    "inspect": _inspect,
    "lm_eval": _lm_eval,
}
"""What makes the file of a task, and its name."""
