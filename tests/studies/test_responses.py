"""Responses: tables, readers, published scores, and what the crossed models say."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.output.store import check_folder
from bayesbias.studies.common import misfit_warnings
from bayesbias.studies.responses.fitting import ResponsesResult
from bayesbias.studies.responses.sections import _in_words
from bayesbias.studies.responses.table import answer_scores, cells, differences, group_contrasts

SHARED = Path(__file__).parents[2].parent / "shared" / "data"


def shared(*parts: str) -> list[Path]:
    files = sorted(SHARED.glob("/".join(parts)))
    if not files:
        pytest.skip("needs the folder shared beside the checkout")
    return files


def fitted(table, **given):
    """Fit a table of responses, a frame or files."""
    if isinstance(table, Path | list):
        table = bb.studies.load_responses(table)
    elif isinstance(table, pd.DataFrame):
        table = bb.responses_table(table)
    return bb.fit_responses(table, seed=1, progress=False, **given)


def quick(table, **given):
    return fitted(table, engine="quick", **given)


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


# -- the table --------------------------------------------------------------------------------------------------------


def test_rows_without_an_answer_are_counted_by_reason():
    frame = {
        "race": ["x"] * 6,
        "said": ["yes", "0", "I cannot help with that", "perhaps", "", None],
    }
    table = bb.responses_table(frame, group="race", outcome="said")
    assert table.frame["outcome"].tolist() == [1, 0]
    assert table.coverage == {
        "rows_read": 6, "rows_used": 2, "dropped": {"missing": 2, "refusals": 1, "unparseable": 1},
        "groups": {"x": {"read": 6, "used": 2}}, "examples": ["perhaps"], "repeats": 2, "apart": [],
    }  # fmt: skip


def test_texts_that_begin_with_yes_or_no_are_read():
    yes = ["Yes.", '"Yes."', "yes!", "**Yes**", "Yes, I would.", "Yes - often", "True."]
    no = ["No.", "NO", " no ; never", "no - not her", "No: no reason", "Incorrect."]
    numbers = ["0.25", "'1'", "-1.", "1e-3"]
    unread = ["No idea", "Not sure", "Yes and no", "No-one knows", "Nothing.", "..."]
    given = [*yes, *no, *numbers, *unread]
    table = bb.responses_table({"group": ["a"] * len(given), "outcome": given})
    assert table.frame["outcome"].tolist() == [1] * len(yes) + [0] * len(no) + [0.25, 1, -1, 0.001]
    assert table.coverage["dropped"]["unparseable"] == len(unread)
    assert table.coverage["examples"] == ["No idea", "Not sure"]
    assert table.outcome == "outcome = yes"
    refused = [
        "No, I cannot help with that.",
        "I won't say",
        "No, I won't.",
    ]  # the last is an answer
    table = bb.responses_table({"group": ["a"] * 3, "outcome": refused})
    assert table.coverage["dropped"]["refusals"] == 2
    assert table.frame["outcome"].tolist() == [0]


def test_a_group_that_loses_more_answers_than_another_is_a_warning():
    frame = crossed()
    own, other = frame["group"].eq("a"), frame["outcome"].round(3).astype(str)
    lost = other.mask(own & (frame["item"] == "i0"), "I would not know")
    found = quick(frame.assign(outcome=lost))
    said = bb.interpret(found)
    assert any("a 12 of 36, b 0 of 36" in text and "Recode" in text for text in said.warnings)
    assert any("'I would not know'" in text for text in said.notes)
    alone = frame.assign(outcome=other.mask(own, "I would not know"))
    with pytest.raises(InputError, match="about a are left out"):
        fitted(alone)
    both = other.mask(frame["item"] == "i0", "")
    found = quick(frame.assign(outcome=both))
    assert not any("Recode" in text for text in bb.interpret(found).warnings)


def test_unknown_columns_are_refused():
    with pytest.raises(InputError, match="race"):
        bb.responses_table({"rcae": ["a"], "outcome": [1]}, group="race")
    with pytest.raises(InputError, match="answer"):
        bb.responses_table({"outcome": ["", None]})


def test_the_same_question_to_each_group_is_paired():
    frame = crossed()
    assert bb.responses_table(frame).pairing is None  # words of their own
    shared_words = frame.assign(word=frame["word"].str[1:])
    assert "word" in bb.responses_table(shared_words).pairing
    one_word = frame[frame["word"].str.endswith("0")]
    assert bb.responses_table(one_word).pairing == ["model", "item", "template"]


def test_differences_are_between_groups_and_between_models():
    frame = crossed(words=1, models=("m", "n"))
    found, lacking = differences(bb.responses_table(frame))
    wide = frame.pivot(index=["item", "template"], columns=["group", "model"], values="outcome")
    expected = (wide["a"]["m"] - wide["b"]["m"]) - (wide["a"]["n"] - wide["b"]["n"])
    own = found[found["model"] == "m - n"].set_index(["item", "template"])["outcome"]
    pd.testing.assert_series_equal(own.sort_index(), expected.sort_index(), check_names=False)
    assert lacking == 0
    assert differences(bb.responses_table(frame.iloc[1:]))[1] > 0


def test_repeats_are_counted():
    frame = pd.DataFrame(
        {"group": ["a", "a", "a", "b"], "word": ["x", "x", "y", "z"], "outcome": [1, 0, 1, 1]}
    )
    own = cells(bb.responses_table(frame))
    assert own[["chosen", "answers"]].to_numpy().tolist() == [[1, 2], [1, 1], [1, 1]]


def test_each_group_is_compared_with_each_other_and_with_the_others():
    assert len(group_contrasts(list("abcd"))) == 6 + 4
    assert group_contrasts(["a", "b"]) == [("a - b", ("a",), ("b",))]


# -- sentences --------------------------------------------------------------------------------------------------------


def test_sentences_are_balanced_over_any_groups():
    made = bb.wordlists.response_sentences(
        {"groups": {"x": ["A", "B"], "y": ["C", "D"], "z": ["E", "F"]}, "templates": ["{word} is {a} {item}.", "Hi {word}."],
         "items": ["actor", "cook"]}
    )  # fmt: skip
    assert made.groupby("group").size().tolist() == [6, 6, 6]
    assert "A is an actor." in set(made["sentence"])
    assert set(made.loc[made["item"] == "", "sentence"]) >= {"Hi A."}


def test_a_list_of_sentiment_with_other_groups_is_one_of_that_kind(tmp_path):
    path = tmp_path / "names.toml"
    path.write_text('template = "{noun} is {a} {profession}."\nprofessions = [{ name = "doctor" }]\n'
                    'noun_pairs = [{ white = "Emily", black = "Lakisha" }]\n')  # fmt: skip
    made = bb.wordlists.response_sentences(str(path))
    assert made["group"].tolist() == ["white", "black"]
    assert bb.responses_table(made.assign(outcome=[0.1, 0.2]), word="pair").pairing


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"templates": ["Hello."]}, "{word}"),
        ({"items": []}, "expected items"),
        ({"groups": {"a": ["x"]}}, "two groups"),
        ({"groups": {"a": ["x", "y"], "b": ["y"]}}, "each word once"),
        ({"groups": {"a": "x,y", "b": ["z"]}}, "list"),
    ],
)
def test_lists_that_make_no_comparison_are_refused(changed, said):
    words = {
        "groups": {"a": ["x"], "b": ["y"]},
        "templates": ["{word} is {a} {item}."],
        "items": ["cook"],
    }
    assert len(bb.wordlists.response_sentences(words)) == 2
    with pytest.raises(InputError) as error:
        bb.wordlists.response_sentences(words | changed)
    assert said in str(error.value)


def test_the_sentences_of_the_sentiment_study_are_one_file_of_that_kind():
    occupations = Path(__file__).parents[2] / "wordlists" / "sentiment" / "occupations.toml"
    made = bb.wordlists.response_sentences(occupations)
    assert made["group"].value_counts().to_dict() == {"male": 400, "female": 400}
    ours = bb.wordlists.load_occupations("occupations").sentences()
    assert set(made["sentence"]) == set(ours["sentence"])


# -- readers ----------------------------------------------------------------------------------------------------------


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


def test_one_group_is_told_how_to_name_the_groups(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("ethnicity,person,score\nblack,Ebony,0.2\nwhite,Amanda,0.4\n")
    with pytest.raises(InputError, match=r"template=NAME\. Other columns: eth"):
        fitted(path)


def long_table(sentences=3):
    """Return scores of he and she in sentences about jobs."""
    rng = np.random.default_rng(0)
    rows = [
        (f"job {job}", who, f"{who} {job} {k}", rng.normal(0.5, 0.1))
        for job in range(10) for k in range(sentences) for who in ("he", "she")
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["task", "pronoun", "sentence", "score"])


def notes_of(path, frame=None, **columns):
    if frame is not None:
        frame.to_csv(path, index=False)
    table = bb.studies.load_responses(path, columns=columns)
    return quick(table).notes


def test_columns_that_could_tell_questions_apart_are_named(tmp_path):
    path = tmp_path / "x.csv"
    alone = notes_of(path, long_table(), group="pronoun")
    assert any("no items in common" in n and "Other columns: task." in n for n in alone)
    table = bb.studies.load_responses(path, columns={"group": "pronoun", "item": "task"})
    (merged,) = [note for note in bb.interpret(quick(table)).notes if "60 rows count" in note]
    assert "If a column (sentence) tells" in merged
    assert "template=NAME" in merged
    frame = crossed().rename(columns={"word": "who", "template": "frame of the sentence"})
    frame.to_csv(path, index=False)
    table = bb.studies.load_responses(path, columns={"group": "group", "item": "item"})
    assert table.coverage["apart"] == ["who", "frame of the sentence"]
    assert "If a column (who, frame of the sentence)" in " ".join(
        bb.interpret(quick(table)).warnings
    )
    long_table().to_csv(path, index=False)
    told = notes_of(path, group="pronoun", item="task", template="sentence")
    assert not any("repeats" in n for n in told)
    missing = notes_of(path, long_table().drop(columns="sentence"), group="pronoun")
    assert "item=NAME" in missing[-1]
    assert "Other columns: task." in missing[-1]


def test_a_column_a_group_is_told_to_become_rows(tmp_path):
    path = tmp_path / "wide.csv"
    wide = long_table(1).pivot(index="task", columns="pronoun", values="score").add_suffix("_score")
    wide.reset_index().to_csv(path, index=False)
    with pytest.raises(InputError, match=r"a row for each answer.*he_score.*melt"):
        bb.studies.load_responses(path)


def test_one_answer_an_item_does_not_tell_items_apart(tmp_path):
    path = tmp_path / "x.csv"
    notes = notes_of(path, long_table(1), group="pronoun", item="task")
    assert any("one difference each" in n and "these items" in n for n in notes)
    notes = notes_of(path, long_table(), group="pronoun", item="task", repeat="sentence")
    assert any("one difference each" in n for n in notes)
    frame = crossed(words=1)
    found = quick(frame)
    assert not any("one difference" in n for n in found.notes)


def test_prompts_with_the_pronoun_in_them_do_not_prevent_pairs():
    frame = long_table(1).rename(columns={"sentence": "template"})
    table = bb.responses_table(frame, group="pronoun", item="task")
    assert table.pairing == ["model", "item"]
    plain = bb.responses_table(frame.drop(columns="template"), group="pronoun", item="task")
    expected, _ = differences(plain)
    pd.testing.assert_frame_equal(differences(table)[0], expected)
    notes = quick(table).notes
    assert any("no prompts in common" in n and "same item are paired" in n for n in notes)
    frames = long_table().rename(columns={"sentence": "template"})
    for columns in ({"item": "task"}, {}):  # nothing tells which sentence belongs to which
        table = bb.responses_table(frames, group="pronoun", **columns)
        assert table.pairing is None
        assert any("no prompts in common" in n and "{word}" in n for n in quick(table).notes)


def test_an_end_too_close_to_zero_asks_for_more_draws():
    rows = pd.DataFrame({"estimand": ["population"], "mean": -0.04, "hpdi_low": -0.075})
    rows = rows.assign(hpdi_high=-0.0001, verdict="inconclusive, raise draws")
    rows = rows.assign(label="he - she", contrast="he - she").set_index("estimand")
    said = _in_words(rows, "new prompts and items")
    assert "too close to 0" in said
    assert "--draws" in said


def test_the_methods_of_paired_answers_count_differences():
    table = bb.responses_table(long_table(1), group="pronoun", item="task")
    paragraph = bb.methods_paragraph(quick(table))
    assert "10 differences between answers to the same question, from 20 answers about" in paragraph


def test_usual_names_are_recognized_in_python():
    frame = crossed().rename(columns={"group": "race", "word": "name", "outcome": "score"})
    table = bb.responses_table(frame.rename(columns={"template": "prompt", "item": "emotion"}))
    expected = bb.responses_table(crossed())
    pd.testing.assert_frame_equal(table.frame, expected.frame)
    assert table.outcome == "score"
    assert bb.responses_table(long_table(), group="pronoun").unused == ("task", "sentence")
    named = bb.responses_table(frame, item="name")  # no word as well
    assert named.frame["word"].eq("").all()
    with pytest.raises(InputError, match="outcome=NAME"):
        bb.responses_table(frame.drop(columns="score"))


def test_rows_without_a_group_are_counted_and_groups_in_other_capitals_are_named():
    groups = ["black", "Black", "white", "", None]
    with pytest.warns(UserWarning, match="black and Black"):
        table = bb.responses_table({"group": groups, "outcome": [0.1, 0.2, 0.3, 0.4, 0.5]})
    dropped = {why: n for why, n in table.coverage["dropped"].items() if n}
    assert dropped == {"without a group": 2}


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


def winogender(model="", shift=0.0, sentences=("customer", "someone"), seed=0):
    """Return log probabilities in the layout of Winogender."""
    rng = np.random.default_rng(seed)
    rows = [
        {"sentid": f"job{job}.{who}.1", "male_score": y, "female_score": y + shift + rng.normal(0, 0.1)}
        for job in range(5) for who in sentences for y in rng.normal(-50, 5, 1)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(**({"model": model} if model else {}))


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
        rows = quick(table).contrasts(estimand="listed_words", level="overall").set_index("model")
        own = [frame["female_score"] - frame["male_score"] for frame in (first, second)]
        assert rows.loc["bert", "mean"] == pytest.approx(own[0].mean())
        assert rows.loc["bert - roberta", "mean"] == pytest.approx(own[0].mean() - own[1].mean())
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


def test_rows_that_repeat_a_question_are_counted(tmp_path):
    path = tmp_path / "x.csv"
    pd.concat([winogender(), winogender()]).to_csv(path, index=False)
    table = bb.studies.load_responses(path)
    assert table.frame["template"].nunique() == 2
    said = bb.interpret(quick(table))
    assert sum("40 rows have the labels of another" in note for note in said.notes) == 1
    numbered = crossed(words=2, templates=2, items=1).assign(repeat=1)
    twice = bb.responses_table(pd.concat([numbered, numbered]))
    assert twice.coverage["repeats"] == 16
    other = numbered.assign(repeat=2)
    assert bb.responses_table(pd.concat([numbered, other])).coverage["repeats"] == 0


def test_the_order_of_rows_does_not_turn_contrasts():
    frame = crossed(("b", "c", "a"), models=("n", "m"))
    one, two = (bb.responses_table(f) for f in (frame, frame.sample(frac=1, random_state=1)))
    assert one.groups == two.groups == ["a", "b", "c"]
    assert one.models == two.models == ["m", "n"]
    words = frame["word"].str[1:]  # the same in each group, so that answers are paired
    found, again = (
        differences(bb.responses_table(f.assign(word=words)))[0].set_index("series")["outcome"]
        for f in (frame, frame.sample(frac=1, random_state=1))
    )
    means = found.groupby(level=0).mean()
    pd.testing.assert_series_equal(means, again.groupby(level=0).mean())
    of = frame.groupby(["group", "model"])["outcome"].mean()
    expected = of["a", "m"] - of["b", "m"] - of["a", "n"] + of["b", "n"]
    assert means["a - b | m - n"] == pytest.approx(expected)


def lm_eval_lines(groups, seed):
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
    assert table.is_choice
    assert table.frame["item"].nunique() == 6


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
    rows = fitted(table).contrasts(estimand="listed_words", level="overall").set_index("model")
    assert rows.loc["one", "mean"] == pytest.approx(diffs[0].mean())
    assert rows.loc["one - two", "mean"] == pytest.approx((diffs[0] - diffs[1]).mean())


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


def choices(tmp_path, answers):
    (tmp_path / "iat_stimuli.csv").write_text(
        "category,dataset,A,B,C\nage,age,Young,Old,joy\nage,age,,,love\nage,age,,,hurt\nage,age,,,evil\n"
    )
    path = tmp_path / "m_age_one.csv"
    pd.DataFrame(
        {"0": answers, "llm": "m", "domain": "age", "category": "age", "variation": "one"}
    ).to_csv(path)
    return path


def test_answers_of_a_chat_model(tmp_path):
    lists = [
        "joy - young\nlove - old\nhurt - old\n1. Evil - Old",
        "love-young\njoy - ancient",
        "I'm sorry, I can't help.",
    ]
    table = bb.studies.load_responses(choices(tmp_path, lists))
    assert table.groups == ["stereotyped", "opposite"]
    assert table.coverage["dropped"] == {"missing": 2, "refusals": 1, "unparseable": 1}
    assert table.outcome == "old"
    found = fitted(table, draws=100, tune=200, chains=2)
    text = bb.output.to_text(found)
    assert "probability of old" in text
    assert "1 refusal," in text.replace("\n         ", " ")
    assert any(line.startswith("for ") for line in text.splitlines())
    scores = answer_scores(table)["score"].tolist()
    assert scores[0] == pytest.approx(2 / (2 + 1 + 0.01) + 1 / (0 + 1 + 0.01) - 1)
    assert scores[1] == pytest.approx(0 + 1 / 1.01 - 1)


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


@pytest.mark.parametrize("together", [True, False])
def test_answers_of_one_reply_go_together(tmp_path, together):
    """The SD for these words and prompts is that of replies, as independent units, over sqrt(R)."""
    rng = np.random.default_rng(3)
    wrong = (lambda: [rng.random() < 0.2] * 4) if together else (lambda: rng.random(4) < 0.2)
    table = bb.studies.load_responses(choices(tmp_path, replies(wrong)))
    found = fitted(table, draws=500, chains=2)
    row = found.contrasts(estimand="listed_words", level="overall").query("scale == 'probability'")
    scores = bb.studies.responses.table.answer_scores(table)["score"]
    assert row["sd"].item() == pytest.approx(scores.std() / np.sqrt(len(scores)), rel=0.25)
    assert row["mean"].item() == pytest.approx(scores.mean(), abs=2 * row["sd"].item())


def test_a_prompt_with_words_of_its_own_is_a_warning():
    frame = crossed(words=4, templates=4, items=1, spread=0.5)
    changed = frame["template"] == "t3"
    for own in (changed, changed & ~frame["word"].str.endswith("0")):  # all words, and most
        said = bb.interpret(fitted(frame.assign(word=frame["word"] + np.where(own, " too", ""))))
        assert sum("words of its own" in text for text in said.warnings) == 1


def test_published_t_is_undefined_where_all_answers_agree(tmp_path):
    table = bb.studies.load_responses(
        choices(tmp_path, ["joy - young\nlove - young\nhurt - old\nevil - old"] * 5)
    )
    found = fitted(table, draws=200, tune=200, chains=2)
    assert np.isnan(found.published["t"]).all()
    assert any("undefined" in note for note in found.notes)


def test_published_scores_of_the_chat_model():
    table = bb.studies.load_responses(shared("choices/gpt4o/gpt4o_age_*.csv"))
    assert len(table.frame) == 3152
    scores = answer_scores(table)
    assert scores["template"].nunique() == 4
    assert -1 <= scores["score"].min() < scores["score"].max() <= 1


def test_each_stereotype_says_what_an_answer_of_1_is():
    kinds = ("age", "islam", "science", "weapon")
    files = [path for kind in kinds for path in shared(f"choices/gpt4o/gpt4o_{kind}_synonym.csv")]
    table = bb.studies.load_responses(files)
    assert [note.partition(":")[0] for note in table.notes] == table.frame["item"].unique().tolist()
    scores = answer_scores(table)
    result = ResponsesResult(table, scores, "choice", None, (*table.notes, "Not fitted."), 0.02)
    said = bb.interpret(result)
    assert sum("is 1 if" in note for note in said.notes) == 1
    assert sum("is 1 if" in text for text in said.details) == 3
    assert table.outcome == "the second names"


def test_the_note_counts_all_words_of_a_stereotype_with_their_synonyms():
    table = bb.studies.load_responses(shared("choices/gpt4o/gpt4o_science_*.csv"))
    words = table.frame.groupby("group")["word"].nunique()
    assert words.sum() == 27  # literature is its own synonym
    (note,) = table.notes
    assert f"Stereotyped words: philosophy, humanities, arts and {words['stereotyped'] - 3}" in note
    assert f"Opposite words: biology, physics, chemistry and {words['opposite'] - 3} more" in note


def test_winogender_as_published():
    table = bb.studies.load_responses(shared("logprob/winogender_masked_lm_scores.csv"))
    found = fitted(table)
    assert "log probability" in bb.output.to_text(found)
    rows = found.published[found.published["name"] == "female - male"].set_index("score")
    assert rows.loc["paired t over pairs", ["n", "t"]].tolist() == pytest.approx(
        [240, 9.9], abs=0.05
    )
    assert rows.loc["paired t over items", ["n", "t"]].tolist() == pytest.approx(
        [60, 5.7], abs=0.05
    )
    own = found.contrasts(level="overall")
    assert set(own["contrast"]) >= {"female - male", "female - others", "male - neutral"}


@pytest.mark.parametrize("case", ["13*/eec.csv", "14*/crows.csv", "14*/samples_crows_pairs.jsonl"])
def test_public_cases_are_answered_in_the_names_of_their_groups(case):
    found = fitted(shared(f"cases/{case}"))
    names = set(found.published["name"])
    assert names & {"black - white", "more stereotyped - less stereotyped"}
    assert "No fit" in str(bb.interpret(found))


# -- fits -------------------------------------------------------------------------------------------------------------


def test_numbers_are_fitted_exactly_and_contrasted():
    table = bb.responses_table(crossed(("a", "b", "c"), difference=0.8, seed=3))
    found = fitted(table)
    assert found.kind == "number"
    assert found.fit.provenance["sampler"]["method"] == "collapsed"
    frame = found.contrasts(estimand="listed_words", level="overall").set_index("contrast")
    means = table.frame.groupby("group")["outcome"].mean()
    assert frame.loc["a - c", "mean"] == pytest.approx(means["a"] - means["c"])
    assert frame.loc["b - others", "mean"] == pytest.approx(
        means["b"] - (means["a"] + means["c"]) / 2
    )
    wide = found.contrasts(estimand="population", level="overall").set_index("contrast")
    assert wide.loc["a - c", "sd"] > frame.loc["a - c", "sd"]
    assert wide.loc["a - c", "verdict"].startswith("below")
    with pytest.raises(InputError, match="fit_responses"):
        bb.fit(table)


def test_of_many_groups_the_largest_decided_differences_are_named():
    found = fitted(crossed(("a", "b", "c", "d"), difference=0.8, seed=3))
    said = bb.interpret(found)
    ax = bb.plots.plot_response_models(found)
    assert [label.get_text() for label in ax.get_yticklabels()][:6] == [
        f"{a} − {b}" for a, b in ("ab", "ac", "ad", "bc", "bd", "cd")
    ]
    assert bb.output.to_json(found, brief=True)["verdict"] is None  # none of six is the main one
    ax = bb.plot_ppc(found)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c", "d"]
    assert "a data frame" in ax.data.attrs["note"]
    assert len(bb.plots.plot_response_templates(found).get_yticklabels()) == 6 * (1 + 3 + 1 + 3)
    one = bb.plots.plot_response_templates(found, level="item", contrast="b - d")
    assert len(one.get_yticklabels()) == 1 + 3
    with pytest.raises(InputError, match="contrast"):
        bb.plots.plot_response_templates(found, contrast="b - e")
    turned = bb.plots.plot_response_templates(found, level="item", contrast="d - b").data
    same = one.data.sort_values("name", ignore_index=True)
    turned = turned.sort_values("name", ignore_index=True)
    assert set(turned["contrast"]) == {"d - b"}
    for end, other in (("mean", "mean"), ("hpdi_low", "hpdi_high")):
        assert turned[end].tolist() == pytest.approx((-same[other]).tolist())
    rows = found.contrasts(estimand="population", level="overall").set_index("contrast")
    pairs = rows[~rows.index.str.contains("others")]
    decided = pairs[(pairs["hpdi_high"] < 0) | (pairs["hpdi_low"] > 0)]["mean"].abs()
    assert said.headline.startswith(f"{len(decided)} of 6 differences between groups exclude 0")
    named = said.headline.partition("Largest: ")[2]
    largest = decided.sort_values(ascending=False).index[:3]
    places = [named.index(name) for name in largest]
    assert places == sorted(places)
    assert any("6 pairs" in note and "not corrected" in note for note in said.notes)
    assert "new: new words, prompts" in " ".join(bb.output.to_text(found).split())


def test_models_are_compared_on_the_same_items():
    frame = crossed(models=("m", "n"), words=6, spread=0.5, seed=5)
    found = fitted(frame)
    rows = found.contrasts(estimand="population", level="overall").set_index("model")
    assert list(rows.index) == ["m", "n", "m - n"]
    assert rows.loc["m - n", "sd"] < 0.7 * np.hypot(rows.loc["m", "sd"], rows.loc["n", "sd"])
    assert "model_by_word" in found.fit.spec.mu
    text = bb.output.to_text(found)
    assert max(map(len, text.splitlines())) <= 80
    assert text.partition("Result")[2].count("a - b") == 2  # and in the note
    with pytest.raises(InputError, match="level"):
        found.contrasts(level="job")


def test_brief_json_names_the_model_of_each_contrast():
    found = quick(crossed(models=("m", "n"), words=6, spread=0.5, seed=5))
    rows = bb.output.to_json(found, brief=True)["contrasts"]
    assert [row["model"] for row in rows] == ["m", "n", "m - n"]
    assert {row["contrast"] for row in rows} == {"a - b"}
    wanted = found.contrasts(estimand="population", level="overall")["mean"]
    assert [row["mean"] for row in rows] == pytest.approx(list(wanted), rel=1e-3)
    one = bb.output.to_json(quick(crossed()), brief=True)["contrasts"]
    assert "model" not in one[0]


@pytest.mark.parametrize("choice", [False, True])
def test_models_with_other_prompts_are_compared_on_those_of_both(choice):
    frame = crossed(models=("m", "n"), words=8, spread=0.5, seed=5)
    apart = frame["template"].isin(["t1", "t2"])
    frame.loc[apart & (frame["group"] == "a"), "outcome"] += 3  # of which only m has t2
    frame = frame[(frame["model"] == "m") | (frame["template"] != "t2")]
    if choice:
        noisy = frame["outcome"] + np.random.default_rng(1).logistic(size=len(frame))
        frame = frame.assign(outcome=(noisy > noisy.median()).astype(int))
    found = quick(frame)
    rows = found.contrasts(estimand="listed_words", level="overall")
    rows = rows[rows["scale"] != "log_odds"].set_index("model")

    def difference(own):
        means = own.groupby(["model", "group"])["outcome"].mean().unstack()
        return means["a"] - means["b"]

    both = difference(frame[frame["template"] != "t2"])
    tolerance = 0.05 if choice else 1e-9  # counts are shrunk a little
    assert rows.loc["m - n", "mean"] == pytest.approx(both["m"] - both["n"], abs=tolerance)
    assert rows.loc["m", "mean"] == pytest.approx(difference(frame)["m"], abs=tolerance)
    assert sum("n lacks 1 of 3 prompts" in note for note in bb.interpret(found).notes) == 1
    if not choice:  # nothing that both answered
        alone = frame[(frame["model"] == "n") | (frame["template"] == "t2")]
        rows = quick(alone).contrasts(level="overall").set_index("model")
        assert rows.loc["m - n", "estimand"] == "population"


def test_of_many_groups_the_result_says_whether_models_differ():
    found = quick(crossed(("a", "b", "c"), models=("m", "n"), words=6, spread=0.2, seed=5))
    rows = found.contrasts(estimand="population", level="overall")
    rows = rows[(rows["model"] == "m - n") & ~rows["contrast"].str.endswith("others")]
    decided = ((rows["hpdi_low"] > 0) | (rows["hpdi_high"] < 0)).sum()
    said = bb.interpret(found).headline
    assert decided > 0
    assert f"{decided} of 3 differences between models in these" in said


def test_each_item_has_a_sentence_in_the_details(tmp_path):
    found = quick(crossed(difference=1.0, items=3, spread=0.1))
    said = bb.interpret(found)
    rows = found.contrasts(estimand="population", level="item").set_index("name")
    assert [text.partition(":")[0] for text in said.details] == ["i0", "i1", "i2"]
    for text, name in zip(said.details, rows.index, strict=True):
        assert ("a is lower than b" in text) == (rows.loc[name, "hpdi_high"] < 0)
    assert "i0:" not in bb.output.to_text(found)
    assert "i0: a is" in bb.output.to_text(found, detail=True)
    page = bb.write_report(found, tmp_path / "page.html").read_text()
    assert "--detail" not in page
    assert "i0: a is" in page


def test_what_a_model_does_to_all_groups_alike_is_no_difference_between_groups():
    """Another model with levels of items and templates of its own does not widen the interval of the first."""
    frame = crossed(models=("m", "n"), words=6, items=6, spread=0.2, seed=5)
    second = frame["model"] == "n"
    frame.loc[second, "outcome"] += frame["item"].isin(["i0", "i3"])
    frame.loc[second, "outcome"] += frame["template"].map({"t0": -1, "t1": 1, "t2": 0})
    first, both = (
        fitted(own).contrasts(estimand="population", level="overall").iloc[0]
        for own in (frame[~second], frame)
    )
    assert both["mean"] == pytest.approx(first["mean"], abs=0.2 * first["sd"])
    assert both["sd"] < 1.2 * first["sd"]


def test_models_without_groups_are_compared_by_name():
    frame = crossed(models=("m", "n"), groups=("a",), words=6).drop(columns="group")
    found = fitted(frame)
    rows = found.contrasts(estimand="population", level="overall")
    assert rows["contrast"].tolist() == ["m - n"]
    assert "m - n: difference" in bb.output.to_text(found)
    assert "\nfor " in bb.output.to_text(found)  # no column of labels
    assert bb.interpret(found).headline.startswith("m - n")


def test_choices_give_probabilities_and_log_odds():
    rng = np.random.default_rng(2)
    frame = crossed(words=5, templates=3, items=1, spread=0.8, seed=2)
    frame = frame.loc[frame.index.repeat(10)].reset_index(drop=True)
    frame["outcome"] = (rng.random(len(frame)) < 1 / (1 + np.exp(-frame["outcome"]))).astype(int)
    found = fitted(frame)
    assert found.kind == "choice"
    state = found.fit.diagnostics()
    assert state["divergences"] == 0
    rows = found.contrasts(level="overall").set_index(["scale", "estimand"])
    shares = frame.groupby("group")["outcome"].mean()
    assert rows.loc[("probability", "listed_words"), "mean"] == pytest.approx(
        shares["a"] - shares["b"], abs=0.03
    )
    assert (
        rows.loc[("probability", "population"), "sd"]
        > 2 * rows.loc[("probability", "listed_words"), "sd"]
    )
    assert np.sign(rows.loc["log_odds"]["mean"]).nunique() == 1
    assert "a - b" in str(bb.interpret(found))
    alone = found.independent().iloc[0]
    assert alone["answers"] == 300
    assert 3 < alone["mean"] < 100
    assert found.variance()["mean"].sum() == pytest.approx(1)


@pytest.mark.slow
def test_a_second_model_leaves_the_contrast_of_the_first_as_it_was():
    """Of single 0/1 answers about items, where priors of SDs that the data hardly tell could widen it."""
    rng = np.random.default_rng(4)
    rows = [(g, f"i{i}", m) for m in ("m", "n") for i in range(20) for g in ("a", "b")]
    frame = pd.DataFrame(rows, columns=["group", "item", "model"])
    p = np.where(frame["group"] == "a", 0.75, 0.45)
    frame["outcome"] = (rng.random(len(frame)) < p).astype(int)
    alone, both = (
        fitted(own)
        .contrasts(estimand="population", level="overall")
        .query("scale == 'probability'")
        .iloc[0]
        for own in (frame[frame["model"] == "m"], frame)
    )
    assert both["mean"] == pytest.approx(alone["mean"], abs=0.35 * alone["sd"])
    assert both["sd"] < 1.25 * alone["sd"]


def test_independent_answers_follow_their_equation():
    """Of two groups with words of their own, from the variances and the labels of the answers."""
    rng = np.random.default_rng(0)
    frame = crossed(words=8, templates=4, items=4, spread=0.0)
    frame["outcome"] += rng.normal(0, 1, len(frame))
    found = fitted(frame)
    fit = found.fit
    draws, table = fit.parameter_draws(), fit.table
    weights = pd.Series(np.where(table["group"] == "a", 1, -1) / 128)
    noise = draws["sigma"].ravel() ** 2 * (weights**2).sum()
    variance, alone = noise, noise
    for name in (name for name in fit.spec.mu if fit.spec.is_random(name)):
        about = fit.spec.parameters[name]
        square = draws[about.args["sigma"]].ravel() ** 2
        sums = weights.groupby([table[column] for column in about.dims], observed=True).sum()
        variance = variance + square * (sums**2).sum()
        alone = alone + square * min((sums**2).sum(), (weights**2).sum())
    expected = 256 * alone / variance
    row = found.independent().iloc[0]
    assert (row["answers"], row["mean"]) == (256, pytest.approx(expected.mean()))
    assert 20 < row["hpdi_low"] < row["hpdi_high"] < 256


def test_estimands_name_only_what_the_table_has():
    frame = crossed().drop(columns=["template", "item"])
    found = quick(frame)
    assert list(found.estimands) == ["population", "listed_words"]
    assert set(found.contrasts()["estimand"]) == {"population", "listed_words"}
    text = bb.output.to_text(found)
    assert "new words" in text
    assert "prompts" not in text
    assert "items" not in text


def test_by_item_estimands_that_hold_the_same_are_one():
    """As of pairs of sentences that are one row each: nothing tells these pairs from new ones."""
    rng = np.random.default_rng(0)
    frame = crossed(words=8, templates=1, items=3)
    frame["word"] = [f"pair {k // 2}" for k in range(len(frame))]
    frame = frame.assign(
        group=["more", "less"] * (len(frame) // 2), item=frame["item"].sort_values().to_list()
    )
    frame["outcome"] = rng.normal(0, 1, len(frame))
    found = quick(frame)
    assert found.kind == "paired"
    rows = found.contrasts()
    assert set(rows.query("level == 'item'")["estimand"]) == {"population"}
    assert set(rows.query("level == 'overall'")["estimand"]) >= {"population", "listed_words"}
    items = found.items()
    np.testing.assert_allclose(items["mean"], rows.query("level == 'item'")["mean"])
    assert found.items_title == "Differences by item, for new words"
    words = quick(crossed())
    assert words.items_title == "Each group by item, for new words and prompts"
    item = words.items().set_index(["group", "name"]).loc[("a", "i0")]
    assert item["hpdi_low"] < item["mean"] < item["hpdi_high"]
    assert item["mcse_mean"] > 0
    assert set(words.contrasts(level="item")["estimand"]) == set(words.estimands)


def test_limits_of_responses():
    frame = crossed(difference=1.0, seed=4)
    frame.loc[0, "outcome"] = np.nan
    found = quick(frame)
    limits = "converged, coverage>0.9, coverage>0.9999, a - b>-5, a - b (listed_words)>5"
    checks = bb.studies.check_requirements(found, limits)
    assert [check.met for check in checks] == [True, True, False, True, False]


def test_limits_take_a_reversed_contrast_and_the_printed_name():
    found = quick(crossed(models=("m", "n"), difference=1.0, words=6, spread=0.1, seed=4))
    rows = found.contrasts(estimand="population", level="overall").set_index("model")
    names = "b - a (m)>0, m: b - a>0, m - n: a - b<9, a - b (n - m)<9, a - b (i0) (listed_words)<9"
    turned, printed, between, models, listed = bb.studies.check_requirements(found, names)
    assert turned.value == printed.value == pytest.approx(-rows.loc["m", "hpdi_high"])
    assert turned.met
    assert between.value == pytest.approx(rows.loc["m - n", "hpdi_high"])
    assert models.value == pytest.approx(-rows.loc["m - n", "hpdi_low"])
    item = found.contrasts(estimand="listed_words", level="item").query("name == 'i0'")
    assert listed.value == pytest.approx(item[item["model"] != "m - n"]["hpdi_high"].max())
    with pytest.raises(InputError, match="requirement: expected population") as error:
        bb.studies.check_requirements(found, "a - b (nothing)<1")
    assert ", ," not in str(error.value)


def test_a_limit_on_an_unknown_contrast_is_refused_before_the_fit(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from bayesbias.cli.main import cli

    path = tmp_path / "x.csv"
    crossed().to_csv(path, index=False)
    monkeypatch.setattr(bb.studies.responses.fitting, "fit_responses", None)  # is not called
    done = CliRunner().invoke(cli, ["responses", "fit", str(path), "--require", "a - c<1"])
    assert isinstance(done.exception, InputError)
    assert "a - b" in str(done.exception)


def test_limits_are_on_each_model_and_on_their_difference_by_name():
    found = quick(crossed(models=("m", "n"), difference=1.0, words=6, spread=0.1, seed=4))
    limits = "a - b>-1.7, a - b (m)>-1.7, a - b (m - n)<0.5, a - b (i0)<0"
    each, first, between, item = bb.studies.check_requirements(found, limits)
    assert (each.met, each.protected_class) == (False, "n")
    assert (first.met, first.protected_class) == (True, "m")
    assert (between.met, between.protected_class) == (False, "m - n")
    assert item.met


def test_the_screen_has_a_published_score_of_each_model_and_contrast():
    frame = crossed(("a", "b", "c", "d"), models=("m", "n"), words=2)
    paired = frame[frame["word"].str.endswith("0")].assign(word="")
    for own, score in ((frame, "t-test of all answers"), (paired, "paired t over pairs")):
        text = bb.output.to_text(quick(own, draws=100)).partition("Published")[2]
        for model in "mn":
            for pair in ("a - b", "a - c", "a - d", "b - c", "b - d", "c - d"):
                assert f"{pair}, {model} " in text
        assert score in text


def test_long_names_of_models_are_whole_in_figures():
    names = ("a_masked_language_model", "another_masked_language_model")
    found = quick(crossed(models=names, words=2, templates=2), draws=100)
    for draw in (bb.plots.plot_response_models, bb.plot_ppc):
        labels = [label.get_text() for label in draw(found).get_yticklabels()]
        assert any(names[1] in label for label in labels)
        assert not any("…" in label for label in labels)
        assert max(len(line) for label in labels for line in label.splitlines()) <= 32


def test_items_are_in_the_order_of_the_table():
    frame = crossed(words=3, templates=2)
    frame["item"] = frame["item"].replace({"i0": "career", "i1": "asian", "i2": "eating"})
    choices = frame.assign(outcome=(frame["outcome"] > 0.3) * 1)
    paired = frame[frame["word"].str.endswith("0")].assign(word="")
    for own in (frame, choices, paired):
        found = quick(own, draws=100)
        for rows in (found.contrasts(level="item"), found.items()):
            assert list(dict.fromkeys(rows["name"])) == ["career", "asian", "eating"]


def test_checks_name_groups_models_and_the_file(tmp_path):
    frame = crossed(models=("m", "n"), seed=4)
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    found = quick(tmp_path / "ratings.csv")
    ax = bb.plot_ppc(found)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [f"{group}, {model}" for group in "ab" for model in "mn"]
    assert "ratings.csv" in ax.data.attrs["note"]
    assert "; m" in bb.plots.plot_response_templates(found).data.attrs["note"]
    paired = quick(frame.assign(word="", outcome=np.exp(4 * frame["outcome"])))
    said = " ".join(misfit_warnings(paired.fits()))
    assert "of the differences a - b between m and n" in said


def test_the_rope_is_a_tenth_of_an_sd_or_two_points_unless_set(tmp_path):
    frame = crossed(seed=4)
    table = bb.responses_table(frame)
    found = quick(table)
    assert found.rope == pytest.approx(0.1 * frame["outcome"].std(ddof=0), rel=0.05)
    assert f"ROPE ±{found.rope:g}" in bb.output.to_text(found)
    assert set(found.contrasts(level="overall")["rope"]) == {found.rope}
    assert f"±{found.rope:g}" in bb.methods_paragraph(found)
    fewer = bb.responses_table(frame.drop(columns="item"))
    assert quick(fewer).rope == found.rope  # of all answers, whatever tells them apart
    wide = quick(table, rope=100)
    assert set(wide.contrasts()["verdict"]) == {"negligible"}
    choices = bb.responses_table(frame.assign(outcome=(frame["outcome"] > 0.3) * 1))
    found = fitted(choices, draws=100, tune=200, chains=2)
    assert found.fit.provenance["sampler"]["method"] == "counts"
    ropes = found.contrasts(level="overall").groupby("scale")["rope"].first()
    assert ropes.to_dict() == {"probability": 0.02, "log_odds": 0.08}
    with pytest.raises(InputError, match="rope"):
        bb.fit_responses(table, rope=0)


def test_of_paired_numbers_the_rope_is_a_tenth_of_the_sd_of_their_differences():
    """Long sentences have low log probabilities, whatever their groups."""
    rng = np.random.default_rng(2)
    length = np.repeat(rng.normal(0, 50, 40), 2)
    y = length + np.tile([0.5, 0.0], 40) + rng.normal(0, 0.5, 80)
    items = [f"i{k // 2}" for k in range(80)]
    table = bb.responses_table({"group": ["a", "b"] * 40, "item": items, "outcome": y})
    found = quick(table)
    assert found.rope == pytest.approx(0.1 * np.std(y[::2] - y[1::2]), rel=0.05)
    ax = bb.plots.plot_response_items(found)
    assert len(ax.get_yticklabels()) == 30
    rows = found.items().sort_values("mean")["name"]
    assert {label.get_text() for label in ax.get_yticklabels()} == {*rows[:15], *rows[-15:]}


def test_predictions_of_the_sentences_are_recognized():
    (path,) = shared("gender_sentiment", "predictions_bert.tsv")
    table = bb.studies.load_responses(path)
    assert table.groups == ["female", "male"]
    assert len(table.frame) == 800


def test_outputs(tmp_path):
    found = fitted(crossed(seed=7), draws=300, tune=300, chains=2)
    bb.save_run(found, tmp_path / "run")
    again = bb.load_run(tmp_path / "run").result
    pd.testing.assert_frame_equal(again.contrasts(), found.contrasts())
    answer = bb.output.to_json(found)
    assert {"coverage", "published", "contrasts", "variance", "diagnostics"} <= set(answer)
    assert set(answer["published"][0]) >= {"name", "n", "mean_score", "t", "p_value"}
    text = bb.output.to_text(found)
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 25
    page = bb.write_report(found, tmp_path / "r.html").read_text()
    assert "a - b" in page
    assert "independent answers" in page
    assert "cosine distance" not in page
    paragraph = bb.methods_paragraph(tmp_path / "run")
    assert paragraph == bb.methods_paragraph(found)
    assert "about a and b" in paragraph


def test_what_there_is_one_of_stands_in_the_title_and_shares_on_the_screen(tmp_path):
    """As of CrowS-Pairs: one contrast of long names, several types of bias and models."""
    rng, path = np.random.default_rng(1), tmp_path / "crows.csv"
    frame = pd.DataFrame({"bias_type": [f"type {k % 7}" for k in range(42)] * 2})
    frame = frame.assign(
        model=["one"] * 42 + ["two"] * 42,
        **{f"sent_{s}": [f"{s} {k}" for k in range(42)] * 2 for s in ("more", "less")},
        **{f"logp_{s}": rng.normal(-40, 1, 84) for s in ("more", "less")},
    )
    frame.to_csv(path, index=False)
    found = quick(path)
    text = bb.output.to_text(found)
    assert "more stereotyped - less stereotyped: difference" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "share of stereotyped choices" in text
    assert "type 3" not in text
    assert "--detail, or published, has the others" in text
    detail = bb.output.to_text(found, detail=True)
    assert detail.count("Published scores") == 1  # all rows, once
    assert "type 3" in detail
    assert "--detail" not in detail
    with pytest.raises(InputError, match="layout crows_pairs"):
        bb.studies.load_responses(path, columns={"outcome": "pct_stereotype"})


# -- the command ------------------------------------------------------------------------------------------------------


def test_the_command_writes_sentences_and_fits_their_ratings(tmp_path):
    from click.testing import CliRunner

    from bayesbias.cli.main import cli

    words, made = tmp_path / "names.toml", tmp_path / "made.csv"
    words.write_text('templates = ["{word} is {a} {item}.", "Here is {word}, {a} {item}."]\nitems = ["cook", "actor", "guide"]\n'
                     '[groups]\nblack = ["Ebony", "Lakisha"]\nwhite = ["Emily", "Amanda"]\n')  # fmt: skip
    done = CliRunner().invoke(
        cli, ["responses", "sentences", "--words", str(words), "--out", str(made)]
    )
    assert done.exit_code == 0, done.output
    rated = pd.read_csv(made)
    rated["score"] = np.random.default_rng(0).normal(0.5, 0.1, len(rated))
    rated.to_csv(made, index=False)
    arguments = [
        "responses",
        "fit",
        str(made),
        "--columns",
        "outcome=score",
        "--seed",
        "1",
        "--json",
    ]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert answer["kind"] == "responses"
    assert {row["contrast"] for row in answer["contrasts"]} == {"black - white"}
    run = tmp_path / "run"
    arguments = [*arguments[:-1], "--rope", "0.5", "--figures", "none", "--out", str(run)]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    assert "ROPE ±0.5" in done.output
    assert bb.load_run(run).view.rope == bb.load_run(run).result.rope == 0.5
    page = tmp_path / "page.html"
    done = CliRunner().invoke(cli, ["report", str(run), "--rope", "0.4", "--out", str(page)])
    assert done.exit_code == 0, done.output
    assert "ROPE ±0.4" in page.read_text()
    done = CliRunner().invoke(cli, ["responses", "fit", str(made), "--columns", "outcome"])
    assert isinstance(done.exception, InputError)
    done = CliRunner().invoke(
        cli, ["sentiment", "sentences", "--words", str(words), "--out", str(made)]
    )
    assert done.exit_code == 0, done.output


def test_a_run_without_a_fit_does_not_block_its_folder(tmp_path):
    same = fitted(crossed().assign(outcome=1.5))
    assert same.fit is None
    bb.save_run(same, tmp_path / "run", inputs={"columns": "outcome=a"}, figures=[])
    check_folder(tmp_path / "run", "responses", {"columns": "outcome=b"})
    bb.save_run(quick(crossed()), tmp_path / "run", inputs={"columns": "outcome=b"}, figures=[])
    with pytest.raises(InputError, match="other inputs"):
        check_folder(tmp_path / "run", "responses", {"columns": "outcome=a"})
    with pytest.raises(InputError, match=r"a folder.*Name the files in it"):
        bb.studies.load_responses(tmp_path / "run")
