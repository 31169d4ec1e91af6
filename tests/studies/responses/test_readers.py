"""Responses: files of answers in every layout."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from helpers.response_files import sample_of_choices
from helpers.responses import (
    crossed,
    crows_pairs,
    fitted,
    lm_eval_lines,
    long_table,
    quick,
    shared,
    winogender,
)
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.studies.responses.table import answer_scores, cells, differences


def test_tables_are_read_in_every_format(tmp_path):
    frame = crossed().rename(
        columns={"outcome": "score", "group": "race", "word": "name", "template": "prompt"}
    )
    files = [tmp_path / f"x.{ending}" for ending in ("csv", "tsv", "jsonl", "parquet")]
    frame.to_csv(files[0], index=False)
    frame.to_csv(files[1], index=False, sep="\t")
    frame.to_json(files[2], orient="records", lines=True)
    frame.to_parquet(files[3])
    named = {"outcome": "score", "group": "race", "word": "name", "template": "prompt"}
    for file in files:
        table = bb.studies.load_responses(file, columns=named)
        np.testing.assert_allclose(table.frame["outcome"], frame["score"])
        assert table.groups == ["a", "b"]
    assert bb.responses_table(files[0]).frame["word"].nunique() == 8  # usual names are known


def test_missing_files_and_layouts_are_refused(tmp_path):
    with pytest.raises(InputError, match="expected a file"):
        bb.studies.load_responses(tmp_path / "no.csv")
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="layout"):
        bb.studies.load_responses(path, layout="nonsense")
    with pytest.raises(InputError, match="outcome"):
        bb.studies.load_responses(path)


def test_a_named_outcome_that_is_missing_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("race,person,probability\nblack,Ebony,0.2\nwhite,Amanda,0.4\n")
    with pytest.raises(InputError, match=r"toxicity.*Use race, person, probability"):
        bb.studies.load_responses(path, columns={"outcome": "toxicity"})
    path.write_text("sent_more,sent_less,score_more,score_less,likely\na,b,1,2,3\n")
    with pytest.raises(InputError, match="--layout table"):
        bb.studies.load_responses(path, columns={"outcome": "likely"})
    crows_pairs().to_csv(path, index=False)
    with pytest.raises(InputError, match="layout crows_pairs"):
        bb.studies.load_responses(path, columns={"outcome": "pct_stereotype"})


def test_one_group_is_told_how_to_name_the_groups(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("origin,person,score\nblack,Ebony,0.2\nwhite,Amanda,0.4\n")
    with pytest.raises(InputError, match=r"template=NAME\. Other columns: origin"):
        fitted(path)


def test_a_column_a_group_is_told_to_become_rows(tmp_path):
    path = tmp_path / "wide.csv"
    wide = long_table(1).pivot(index="task", columns="pronoun", values="score").add_suffix("_score")
    wide.reset_index().to_csv(path, index=False)
    with pytest.raises(InputError, match=r"a row for each answer.*he_score.*melt"):
        bb.studies.load_responses(path)


def test_columns_that_may_hold_answers_are_named_with_the_command(tmp_path):
    path = tmp_path / "my answers.csv"
    frame = pd.DataFrame(
        {
            "row": range(12),
            "race": ["black", "white"] * 6,
            "gender": ["female", "male", "male"] * 4,
            "years": [30, 41, 52] * 4,
            "mean_warmth": [k / 7 for k in range(12)],
            "text": ["Some words"] * 12,
        }
    )
    frame.to_csv(path, index=False)
    with pytest.raises(InputError) as error:
        bb.studies.load_responses(path, columns={"group": "race*gender"}, where="years > 20")
    message = str(error.value)
    assert "the answers: mean_warmth, years." in message
    command = (
        f"bayesbias responses fit '{path}' --where \"years > 20\" "
        '--columns "group=race*gender,outcome=mean_warmth"'
    )
    assert message.endswith(f"Name the column: {command}")
    with pytest.raises(InputError, match=r'Name the column: outcome="mean_warmth"$'):
        bb.responses_table(frame)


@pytest.mark.parametrize("others", [{}, {"score": [1, 2] * 6}, {"warmth": [1, 2] * 6}])
def test_refusals_are_looked_for_in_the_one_column_that_has_them(tmp_path, others):
    path = tmp_path / "answers.csv"
    frame = pd.DataFrame({"race": ["a", "b"] * 6, "job": [f"j{k // 2}" for k in range(12)]})
    frame["verdict"] = ["4", "I'm sorry, I can't rate people."] * 3 + ["3", "2"] * 3
    frame.assign(**others).to_csv(path, index=False)
    table = bb.studies.load_responses(path, refused=True)
    assert table.frame.groupby("group")["outcome"].sum().to_dict() == {"a": 0, "b": 3}
    again = bb.responses_table(frame.assign(**others), refused=True)
    assert again.frame["outcome"].tolist() == table.frame["outcome"].tolist()


def test_semicolons_with_decimal_commas_are_read_as_commas_with_points(tmp_path):
    path = tmp_path / "excel.csv"
    path.write_text(
        "race;person;prompt;probability\nblack;Ebony;Hi, you;0,25\nwhite;Amanda;Hi, you;-1,5\n",
        encoding="utf-8-sig",
    )
    frame = bb.studies.load_responses(path).frame
    assert frame["outcome"].tolist() == [0.25, -1.5]
    assert frame["template"].tolist() == ["Hi, you"] * 2
    assert frame["group"].tolist() == ["black", "white"]


def test_texts_are_items_where_nothing_else_tells_answers_apart(tmp_path):
    path = tmp_path / "x.csv"
    frame = crossed(words=3, templates=2, items=3, spread=1.0)
    texts = frame["word"] + frame["template"] + frame["item"]
    frame = frame.assign(sentence=texts)[["sentence", "group", "outcome"]]
    frame.to_csv(path, index=False)
    found = quick(path)
    assert found.responses.frame["item"].nunique() == len(frame)
    assert list(found.estimands.values()) == ["new items", "these items"]
    assert any("sentence" in note for note in bb.interpret(found).notes)
    frame[["group", "outcome"]].to_csv(path, index=False)
    found = fitted(path)
    assert found.fit is None
    for column in ("word", "template", "item"):
        assert column in found.notes[-1]
    assert found.published["n"].tolist() == [len(frame)]


def test_files_with_the_same_questions_are_models(tmp_path):
    first, second = winogender(shift=0.5), winogender(shift=-0.5, seed=1)
    (tmp_path / "bert").mkdir()
    (tmp_path / "roberta").mkdir()
    for paths in (("bert.csv", "roberta.csv"), ("bert/x.csv", "roberta/x.csv")):
        paths = [tmp_path / path for path in paths]
        for path, frame in zip(paths, (first, second), strict=True):
            frame.to_csv(path, index=False)
        table = bb.studies.load_responses(paths)
        assert table.models == ["bert", "roberta"]
        assert any("models: bert, roberta" in note for note in table.notes)
        rows = quick(table).contrasts(estimand="listed_words", level="overall", detail=True)
        rows = rows.set_index("model")
        own = [frame["female_score"] - frame["male_score"] for frame in (first, second)]
        assert rows.loc["bert", "observed"] == pytest.approx(own[0].mean())
        assert rows.loc["bert - roberta", "observed"] == pytest.approx(
            own[0].mean() - own[1].mean()
        )
    halves = [first.iloc[:5], first.iloc[5:]]  # one table in two files
    for path, frame in zip(paths, halves, strict=True):
        frame.to_csv(path, index=False)
    table = bb.studies.load_responses(paths)
    assert (table.models, table.notes) == ([""], ())


def test_a_column_of_models_is_read_in_every_layout(tmp_path):
    path = tmp_path / "both.csv"
    pd.concat([winogender("m"), winogender("other")]).to_csv(path, index=False)
    table = bb.studies.load_responses(path, columns={"model": "model"})
    assert table.models == ["m", "other"]
    assert table.frame["template"].nunique() == 2
    assert table.coverage["repeats"] == 0
    sentences = bb.list_predictions("m1").frame.drop(columns="classifier", errors="ignore")
    sentences.assign(model="own").to_csv(path, index=False)
    assert bb.studies.load_responses(path).models == ["own"]


def test_samples_of_lm_eval_are_compared_on_the_same_items(tmp_path):
    files = []
    for seed, model in enumerate(("org__one", "org__two")):
        (tmp_path / model).mkdir()
        files.append(tmp_path / model / "samples_winogender_2026-01-01T00-00-00.jsonl")
        files[-1].write_text(
            "\n".join(json.dumps(line) for line in lm_eval_lines(("female", "male"), seed))
        )
    table = bb.studies.load_responses(files, columns={"group": "gender", "item": "occupation"})
    assert table.models == ["org__one", "org__two"]
    assert table.frame["template"].unique().tolist() == ["winogender"]
    usual = bb.studies.load_responses(files)
    assert usual.groups == table.groups
    assert usual.outcome == "acc"
    assert "The outcome is acc (1: the right answer)." in usual.notes
    assert table.is_choice
    assert table.frame["item"].nunique() == 6


def two_filters(folder, model, order):
    """Write samples of lm_eval with the score 1 under the filter strict, and 0 under flexible."""
    (folder / model).mkdir()
    lines = [
        {**line, "filter": name, "acc": float(name == "strict")}
        for name in order for line in lm_eval_lines(("female", "male"), 0)
    ]  # fmt: skip
    path = folder / model / "samples_winogender_2026-01-01T00-00-00.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_fields_of_the_harness_are_no_labels_to_name(tmp_path):
    path = tmp_path / "samples_hiring_2026-01-01T00-00-00.jsonl"
    lines = []
    for number in range(24):
        doc = {"race": "ab"[number % 2], "job": f"j{number % 3}", "who": f"n{number}"}
        scores = {"acc": float(number % 4 > 1), "acc_norm": float(number % 4 > 1)}
        prompt = f"Hire {doc['who']} as {doc['job']}? Answer:"
        right = number % 2
        lines.append(
            sample_of_choices(number, doc, prompt, ["no", "yes"], [-1.0, -2.0], right, scores)
        )
    path.write_text("\n".join(map(json.dumps, lines)))
    said = bb.interpret(fitted(bb.studies.load_responses(path)))
    outcome = "The outcome is acc (1: the right answer), not acc_norm."
    assert any(text.startswith(outcome) for text in said.notes)
    (repeats,) = [text for text in [*said.warnings, *said.notes] if "count as repeats" in text]
    assert "If a column (who) tells them apart" in repeats
    assert "--columns template=NAME,word=NAME" in repeats
    by_number = bb.studies.load_responses(path, columns={"word": "doc_id"})
    assert by_number.frame["word"].nunique() == 24


def test_filters_of_lm_eval_are_scores_of_one_answer(tmp_path):
    orders = ("strict", "flexible"), ("flexible", "strict")
    files = [
        two_filters(tmp_path, model, order)
        for model, order in zip(("one", "two"), orders, strict=True)
    ]
    table = bb.studies.load_responses(files)
    assert table.coverage["rows_read"] == 24  # 12 questions of each model
    assert table.coverage["repeats"] == 0
    assert (table.frame["outcome"] == 1).all()  # the same filter in both files
    expected = {"taken": ["strict"], "others": ["flexible"], "differ": 24, "of": 24}
    assert table.coverage["filters"] == expected
    (warning,) = [text for text in bb.interpret(fitted(table)).warnings if "Filters" in text]
    assert "strict (taken) and flexible. They differ in 24 of 24 answers." in warning
    assert "--columns filter=flexible takes the other" in warning
    other = bb.studies.load_responses(files, columns={"filter": "flexible"})
    assert (other.frame["outcome"] == 0).all()
    assert other.coverage["rows_read"] == 24
    both = bb.studies.load_responses(files, columns={"template": "filter"})
    assert both.frame.groupby("template")["outcome"].mean().to_dict() == {
        "flexible": 0,
        "strict": 1,
    }
    with pytest.raises(InputError, match=r"filter 'regex'.*Use strict, flexible"):
        bb.studies.load_responses(files, columns={"filter": "regex"})
    plain = two_filters(tmp_path, "three", ("strict", "none"))
    assert (bb.studies.load_responses(plain).frame["outcome"] == 0).all()


def test_a_filter_of_other_files_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    crossed().to_csv(path, index=False)
    with pytest.raises(InputError, match="expected a filter of samples"):
        bb.studies.load_responses(path, columns={"filter": "strict"})


def test_metrics_of_lm_eval_are_scores_of_one_answer(tmp_path):
    path = tmp_path / "samples_winogender_2026-01-01T00-00-00.jsonl"
    lines = [{**line, "acc_norm": 1 - line["acc"]} for line in lm_eval_lines(("a", "b"), 0)]
    path.write_text("\n".join(map(json.dumps, lines)))
    table = bb.studies.load_responses(path)
    assert table.frame["outcome"].tolist() == [line["acc"] for line in lines]
    assert any("acc (1: the right answer), not acc_norm" in note for note in table.notes)
    named = bb.studies.load_responses(path, columns={"outcome": "acc_norm"})
    assert named.frame["outcome"].tolist() == [line["acc_norm"] for line in lines]
    assert not named.notes


def test_crows_pairs_of_lm_eval_and_as_a_table_agree(tmp_path):
    lines, rows = [], []
    for k in range(6):
        more, less = -40.0 - k, -41.0 + (k - 2) * 0.7 - k
        doc = {"sent_more": f"m{k}", "sent_less": f"l{k}", "bias_type": ("gender", "race")[k % 2]}
        lines.append({"doc_id": k, "doc": doc, "filtered_resps": [[more, False], [less, False]]})
        rows.append({**doc, "logp_more": more, "logp_less": less})
    path, table = tmp_path / "samples_crows_pairs.jsonl", tmp_path / "crows.csv"
    path.write_text("\n".join(map(json.dumps, lines)))
    pd.DataFrame(rows).to_csv(table, index=False)
    a, b = (bb.studies.load_responses(file) for file in (path, table))
    np.testing.assert_allclose(a.frame["outcome"], b.frame["outcome"])
    assert a.outcome == b.outcome == "log likelihood"
    result = fitted(b)
    assert "sentence pairs" in " ".join(result.estimands.values())
    assert "6 sentence pairs" in " ".join(bb.output.to_text(result).split())
    numbered = pd.DataFrame(rows).assign(bias_type=[2, 0] * 3)
    numbered.to_csv(table, index=False)
    named = bb.studies.load_responses(table).frame["item"]
    assert set(named) == {"gender", "race-color"}
    found = result.published.set_index(["score", "name"])
    diff = np.array([row["logp_more"] - row["logp_less"] for row in rows])
    assert found.loc[("share of stereotyped choices", "all"), "mean_score"] == pytest.approx(
        (diff > 0).mean()
    )
    t = stats.ttest_1samp(diff, 0)
    assert found.loc["paired t over pairs"]["t"].iloc[0] == pytest.approx(t.statistic)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_pairs_are_matched_by_their_sentences(tmp_path, ending):
    rng, n = np.random.default_rng(4), 12
    first = pd.DataFrame({"sent_more": [f"more {k}" for k in range(n)]})
    first = first.assign(sent_less=[f"less {k}" for k in range(n)], bias_type=["age", "race"] * 6)
    second = first.sample(frac=1, random_state=1)[: n - 2]  # in another order, without two pairs
    paths, diffs = [], []
    for model, frame in (("one", first), ("two", second)):
        paths.append(tmp_path / model / f"samples_x.{ending}")
        paths[-1].parent.mkdir()
        more, less = rng.normal(-40, 5, (2, len(frame)))
        diffs.append(pd.Series(more - less, frame["sent_more"]))
        docs = frame.to_dict("records")
        if ending == "csv":
            frame.assign(logp_more=more, logp_less=less).to_csv(paths[-1], index=False)
            continue
        answers = [[[a, False], [b, False]] for a, b in zip(more, less, strict=True)]
        lines = [
            {"doc_id": int(k), "doc": doc, "filtered_resps": both}
            for k, doc, both in zip(frame.index, docs, answers, strict=True)
        ]
        paths[-1].write_text("\n".join(map(json.dumps, lines)))
    table = bb.studies.load_responses(paths)
    assert table.models == ["one", "two"]
    rows = fitted(table).contrasts(estimand="listed_words", level="overall", detail=True)
    rows = rows.set_index("model")
    assert rows.loc["one", "observed"] == pytest.approx(diffs[0].mean())
    assert rows.loc["one - two", "observed"] == pytest.approx((diffs[0] - diffs[1]).mean())


def test_types_of_bias_are_categories(tmp_path):
    """There are no new types of bias: all pairs count alike, and a type with few pairs for those."""
    rng = np.random.default_rng(1)
    by_type = {"race-color": (60, 0.5), "gender": (30, 0.0), "age": (10, 2.0)}
    rows = []
    for kind, (n, more) in by_type.items():
        for number in range(n):
            less = rng.normal(-20, 3)
            names = (f"more {kind} {number}", f"less {kind} {number}", kind)
            rows.append((*names, less + more + rng.normal(0, 1), less))
    names = ["sent_more", "sent_less", "bias_type", "logp_more", "logp_less"]
    frame = pd.DataFrame(rows, columns=names)
    path = tmp_path / "pairs.csv"
    frame.to_csv(path, index=False)
    table = bb.studies.load_responses(path)
    assert table.categories == {"item": "bias type"}
    found = quick(table, draws=500, tune=300, chains=4)
    assert list(found.estimands.values()) == ["new sentence pairs", "these sentence pairs"]
    difference = frame["logp_more"] - frame["logp_less"]
    left = difference - difference.groupby(frame["bias_type"]).transform("mean")
    error = np.sqrt((left**2).sum() / (len(frame) - 3)) / np.sqrt(len(frame))
    row = found.contrasts(estimand="population", level="overall", detail=True).iloc[0]
    assert row["mean"] == pytest.approx(difference.mean(), abs=0.1 * error)
    assert row["sd"] == pytest.approx(error, rel=0.1)
    effective = found.independent()["mean"].iloc[0]
    assert effective == pytest.approx(100, abs=1)
    shares = found.published[found.published["score"].str.startswith("share")].set_index("name")
    assert shares.loc["all", "mean_score"] == (difference > 0).mean()
    assert (
        shares.loc["gender", "mean_score"]
        == (difference[frame["bias_type"] == "gender"] > 0).mean()
    )
    assert not found.published["score"].str.contains("over items").any()
    text = bb.output.to_text(found)
    assert "100 sentence pairs, 3 bias types" in " ".join(text.split())
    assert "items" not in text


def test_pairs_without_sentences_are_matched_by_their_id(tmp_path):
    frame = pd.DataFrame({"id": range(8), "logp_more": np.arange(8.0), "logp_less": 0.0})
    for name, own in (("a", frame), ("b", frame[::-1])):
        own.to_csv(tmp_path / f"{name}.csv", index=False)
    table = bb.studies.load_responses([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert table.models == ["a", "b"]
    found = differences(table)[0].set_index("model")["outcome"]
    assert found["a - b"].tolist() == [0.0] * 8


def test_samples_of_lm_eval_in_one_folder_are_models_by_their_files(tmp_path, monkeypatch):
    paths = [tmp_path / "m" / f"samples_winogender_{name}.jsonl" for name in "ab"]
    other = tmp_path / "n" / "samples_x.jsonl"
    for seed, path in enumerate([*paths, other]):
        path.parent.mkdir(exist_ok=True)
        lines = lm_eval_lines(("female", "male"), seed)
        path.write_text("\n".join(map(json.dumps, lines)))
    columns = {"group": "gender", "template": "sentence"}
    table = bb.studies.load_responses(paths, columns=columns)
    assert table.models == [path.stem for path in paths]
    assert table.coverage["repeats"] == 0
    assert any("models" in note for note in table.notes)
    assert bb.studies.load_responses([paths[0], other], columns=columns).models == ["m", "n"]
    monkeypatch.chdir(paths[0].parent)
    near = [paths[0].name, f"../n/{other.name}"]
    assert bb.studies.load_responses(near, columns=columns).models == ["m", "n"]
    assert bb.studies.load_responses(paths[0].name, columns=columns).models == ["m"]


def test_logs_of_inspect(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as log:
        log.writestr(
            "header.json", json.dumps({"version": 2, "eval": {"task": "names", "model": "org/m"}})
        )
        for k in range(8):
            for epoch in (1, 2):
                score = {"match": {"value": "C" if (k + epoch) % 3 else "I", "answer": "x"}}
                sample = {
                    "id": k, "epoch": epoch, "input": "?", "target": "x", "scores": score,
                    "metadata": {"race": ("C", "white")[k % 2], "name": f"n{k}"},
                }  # fmt: skip
                log.writestr(f"samples/{k}_epoch_{epoch}.json", json.dumps(sample))
    table = bb.studies.load_responses(
        path, columns={"group": "race", "word": "name", "item": "template"}
    )
    assert (table.models, table.groups) == (["org/m"], ["C", "white"])
    assert len(table.frame) == 16
    columns = {"group": "race", "word": "name", "template": "template"}
    table = bb.studies.load_responses(path, columns=columns)
    assert table.frame["item"].unique().tolist() == [""]  # words and prompts tell samples apart
    assert table.is_choice
    assert cells(table)["answers"].tolist() == [2] * 8
    path.write_bytes(b"not a zip")
    with pytest.raises(InputError):
        bb.studies.load_responses(path)


def test_the_long_table_of_fmat(tmp_path):
    rows = [
        {
            "model": "bert",
            "query": q,
            "MASK": mask,
            "M_word": word,
            "T_word": job,
            "prob": 0.1 if word == "He" else 0.05,
        }
        for q in ("[MASK] is {TARGET}.", "[MASK] works as {TARGET}.")
        for job in ("a nurse", "a doctor")
        for mask, word in (("Male", "He"), ("Female", "She"))
    ]
    path = tmp_path / "fmat.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    table = bb.studies.load_responses(path)
    assert table.groups == ["Female", "Male"]
    assert table.pairing == ["model", "item", "template"]
    assert differences(table)[0]["outcome"].tolist() == pytest.approx([-np.log(2)] * 4)
    with pytest.raises(InputError, match="refusals cannot be counted"):
        bb.studies.load_responses(path, refused=True)


def test_published_scores_of_the_chat_model():
    table = bb.studies.load_responses(shared("choices/gpt4o/gpt4o_age_*.csv"))
    assert len(table.frame) == 3152
    scores = answer_scores(table)
    assert scores["template"].nunique() == 4
    assert -1 <= scores["score"].min() < scores["score"].max() <= 1


def test_predictions_of_the_sentences_are_recognized():
    (path,) = shared("gender_sentiment", "predictions_bert.tsv")
    table = bb.studies.load_responses(path)
    assert table.groups == ["female", "male"]
    assert len(table.frame) == 800
