"""What the training of either reference classifier begins and ends with.

Labelled sentences are read and checked; the trained classifier is tried on the development sentences, and
written where it is to be kept.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bayesbias.classifiers.classifier import Classifier, open_folder
from bayesbias.classifiers.reference import BagOfWords, BiLstm
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import lines_of, path_of, read_text, sha256_file

__all__ = ["read_labelled"]


def read_labelled(path: str | os.PathLike[str]) -> tuple[list[str], npt.NDArray[np.int64]]:
    r"""Read sentences with labels 0 (negative) and 1 (positive) from a tab-separated file.

    Three layouts are told apart by their content: a header that names ``label`` and ``sentence`` (in any
    order, beside other columns); two columns without a header, one of which is all 0 and 1; and
    the four columns ``index, label, a letter, sentence`` without a header.

    Parameters
    ----------
    path : str or path
        UTF-8 text. Quotation marks are read as they stand.

    Returns
    -------
    sentences : list of str
    labels : ndarray of int

    Raises
    ------
    InputError
        Naming file and line.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "train.tsv"
    >>> _ = file.write_text("label\tsentence\n1\ta charming journey\n0\tbleak\n")
    >>> read_labelled(file)
    (['a charming journey', 'bleak'], array([1, 0]))
    """
    path = path_of(path, "path", "a file of labelled sentences")
    text = read_text(path)
    lines = [(i, line.split("\t")) for i, line in enumerate(lines_of(text), start=1) if line.strip()]
    if not lines:
        raise InputError("is empty", where=path)
    first = [cell.strip().lower() for cell in lines[0][1]]
    width = len(first)
    if "label" in first or "sentence" in first:
        missing = [name for name in ("label", "sentence") if name not in first]
        if missing:
            raise InputError(
                "the header lacks a column",
                where=f"{path}, line 1",
                found=", ".join(first),
                valid=missing,
                hint=nearest(missing[0], first),
            )
        label, sentence = first.index("label"), first.index("sentence")
        lines = lines[1:]
    elif width == 4:
        label, sentence = 1, 3
    elif width == 2:
        columns = [
            c for c in (0, 1) if all(len(row) > c and row[c].strip() in ("0", "1") for _, row in lines)
        ]
        if len(columns) != 1:
            raise InputError(
                "no column holds labels",
                where=path,
                found=lines[0][1],
                valid="one column of 0 and 1, one of sentences",
            )
        label, sentence = columns[0], 1 - columns[0]
    else:
        raise InputError(
            "unknown layout",
            where=f"{path}, line {lines[0][0]}",
            found=f"{width} columns",
            valid="a header with label and sentence; or label, sentence; or index, label, a, sentence",
        )
    sentences, labels = [], []
    for i, row in lines:
        where = f"{path}, line {i}"
        if len(row) != width:
            raise InputError("wrong number of columns", where=where, found=len(row), valid=str(width))
        if row[label].strip() not in ("0", "1"):
            raise InputError("not a label", where=where, found=row[label], valid="0 (negative), 1 (positive)")
        if not row[sentence].strip():
            raise InputError("the sentence is empty", where=where)
        sentences.append(row[sentence])
        labels.append(int(row[label]))
    if len(set(labels)) < 2:
        raise InputError("all sentences have one label", where=path, found=labels[:1], valid="both 0 and 1")
    return sentences, np.array(labels)


def tried_and_kept(
    model: BagOfWords | BiLstm, name: str, provenance: dict[str, Any], dev: Any, out: Any
) -> Classifier:
    if dev is not None:
        sentences, labels = read_labelled(dev)
        accuracy = float(((model(sentences) >= 0.5) == labels).mean())
        provenance |= {
            "dev": Path(dev).name,
            "dev_sha256": sha256_file(path_of(dev)),
            "dev_accuracy": accuracy,
        }
    classifier = Classifier(name, model, provenance)
    if out is None:
        return classifier
    classifier.save(out)
    return open_folder(Path(out))


def data_facts(data: Any, sentences: list[str]) -> dict[str, Any]:
    return {"data": Path(data).name, "data_sha256": sha256_file(path_of(data)), "sentences": len(sentences)}
