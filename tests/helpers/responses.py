"""Tables of answers about groups, and fits of them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from helpers.places import ROOT


def shared(*parts):
    """Return files of the folder of published data beside the checkout, or skip."""
    files = sorted((ROOT.parent / "shared" / "data").glob("/".join(parts)))
    if not files:
        pytest.skip("needs the folder shared beside the checkout")
    return files


def fitted(table, **settings):
    """Fit a table of responses, a frame or files."""
    if isinstance(table, Path | list):
        table = bb.studies.load_responses(table)
    elif isinstance(table, pd.DataFrame):
        table = bb.responses_table(table)
    return bb.fit_responses(table, seed=1, progress=False, **settings)


def quick(table, **settings):
    return fitted(table, engine="quick", **settings)


def crossed(
    groups=("a", "b"),
    words=4,
    templates=3,
    items=3,
    models=("",),
    seed=0,
    spread=0.3,
    difference=0.5,
):
    """Return numbers with effects of words, templates and items."""
    rng = np.random.default_rng(seed)
    item, template = rng.normal(0, 1, items), rng.normal(0, 1, templates)
    rows = []
    for g, group in enumerate(groups):
        for w in range(words):
            word = rng.normal(0, spread)
            for t in range(templates):
                for i in range(items):
                    for m, model in enumerate(models):
                        y = (
                            g * difference * (1 + m)
                            + word
                            + item[i]
                            + template[t]
                            + rng.normal(0, spread)
                        )
                        rows.append((group, f"{group}{w}", f"t{t}", f"i{i}", model, y))
    return pd.DataFrame(rows, columns=["group", "word", "template", "item", "model", "outcome"])


def choice_answers():
    """Return ten answers of 0 or 1 to each question about two groups of five words."""
    rng = np.random.default_rng(2)
    frame = crossed(words=5, templates=3, items=1, spread=0.8, seed=2)
    frame = frame.loc[frame.index.repeat(10)].reset_index(drop=True)
    probability = 1 / (1 + np.exp(-frame["outcome"]))
    return frame.assign(outcome=(rng.random(len(frame)) < probability).astype(int))


def long_table(sentences=3):
    """Return scores of he and she in sentences about jobs."""
    rng = np.random.default_rng(0)
    rows = [
        (f"job {job}", who, f"{who} {job} {k}", rng.normal(0.5, 0.1))
        for job in range(10) for k in range(sentences) for who in ("he", "she")
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["task", "pronoun", "sentence", "score"])


def winogender(model="", shift=0.0, sentences=("customer", "someone"), seed=0):
    """Return log probabilities in the layout of Winogender."""
    rng = np.random.default_rng(seed)
    rows = [
        {"sentid": f"job{job}.{who}.1", "male_score": y, "female_score": y + shift + rng.normal(0, 0.1)}
        for job in range(5) for who in sentences for y in rng.normal(-50, 5, 1)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(**({"model": model} if model else {}))


def crows_pairs():
    """Return log likelihoods of two models in the layout of CrowS-Pairs, with seven types of bias."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"bias_type": [f"type {k % 7}" for k in range(42)] * 2})
    return frame.assign(
        model=["one"] * 42 + ["two"] * 42,
        **{f"sent_{side}": [f"{side} {k}" for k in range(42)] * 2 for side in ("more", "less")},
        **{f"logp_{side}": rng.normal(-40, 1, 84) for side in ("more", "less")},
    )


def lm_eval_lines(groups, seed):
    """Yield samples of lm_eval about two groups."""
    rng = np.random.default_rng(seed)
    for k in range(12):
        doc = {"gender": groups[k % 2], "occupation": f"job {k // 2}", "sentence": f"s {k}"}
        yield {
            "doc_id": k,
            "doc": doc,
            "target": 0,
            "filtered_resps": [[-1.0, False]],
            "acc": float(rng.random() < 0.6),
        }


def choices(folder, answers):
    """Write replies of a chat model about young and old, and the words that it was given."""
    (folder / "iat_stimuli.csv").write_text(
        "category,dataset,A,B,C\nage,age,Young,Old,joy\nage,age,,,love\nage,age,,,hurt\nage,age,,,evil\n"
    )
    path = folder / "m_age_one.csv"
    pd.DataFrame(
        {"0": answers, "llm": "m", "domain": "age", "category": "age", "variation": "one"}
    ).to_csv(path)
    return path


def replies(choose, n=60):
    """Return texts of replies to the words of `choices`; `choose` says which words are given to the wrong group."""
    right = {"joy": "young", "love": "young", "hurt": "old", "evil": "old"}
    other = {"young": "old", "old": "young"}
    return [
        "\n".join(
            f"{word} - {other[name] if wrong else name}"
            for (word, name), wrong in zip(right.items(), choose(), strict=True)
        )
        for _ in range(n)
    ]
