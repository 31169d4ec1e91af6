"""Responses: what results say of their data, in sentences, tables, figures and files."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.responses import choices, crossed, fitted, long_table, quick, shared, winogender

import bayesbias as bb
from bayesbias.core.errors import InputError
from bayesbias.output.store import check_folder
from bayesbias.studies.common import misfit_warnings
from bayesbias.studies.responses.fitting import ResponsesResult
from bayesbias.studies.responses.sections import _disagreement, _in_words, published_table
from bayesbias.studies.responses.table import answer_scores


def test_a_group_that_loses_more_answers_than_another_is_a_warning():
    frame = crossed()
    own, other = frame["group"].eq("a"), frame["outcome"].round(3).astype(str)
    lost = other.mask(own & (frame["item"] == "i0"), "I would not know")
    found = quick(frame.assign(outcome=lost))
    said = bb.interpret(found)
    assert any("a 12 of 36, b 0 of 36" in text and "--map" in text for text in said.warnings)
    assert any("'I would not know'" in text for text in said.notes)
    alone = frame.assign(outcome=other.mask(own, "I would not know"))
    with pytest.raises(InputError, match="about a are left out"):
        fitted(alone)
    both = other.mask(frame["item"] == "i0", "")
    found = quick(frame.assign(outcome=both))
    assert not any("unequal shares" in text for text in bb.interpret(found).warnings)


def test_of_refusals_no_number_is_asked_for():
    """A refusal is no rating: a number in its place would bias the mean."""
    frame = crossed(("a", "b", "c"))
    ratings = frame["outcome"].round(3).astype(str)
    refused = frame["group"].eq("b") & frame["item"].eq("i0")
    found = quick(frame.assign(outcome=ratings.mask(refused, "I'm sorry, I can't rate people.")))
    (said,) = [text for text in bb.interpret(found).warnings if "unequal shares" in text]
    assert "b 12 of 36, a 0 of 36" in said
    assert said.endswith("--outcome refused.")
    alone = ratings.mask(frame["group"].eq("b"), "I'm sorry, I can't rate people.")
    with pytest.raises(InputError, match="--outcome refused"):
        fitted(frame.query("group != 'c'").assign(outcome=alone))


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


def test_one_answer_an_item_does_not_tell_items_apart(tmp_path):
    path = tmp_path / "x.csv"
    notes = notes_of(path, long_table(1), group="pronoun", item="task")
    assert any("one difference each" in n and "these items" in n for n in notes)
    notes = notes_of(path, long_table(), group="pronoun", item="task", repeat="sentence")
    assert not any("one difference each" in n for n in notes)  # they have three
    frame = crossed(words=1)
    found = quick(frame)
    assert not any("one difference" in n for n in found.notes)


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


def test_a_prompt_with_words_of_its_own_is_a_warning():
    frame = crossed(words=4, templates=4, items=1, spread=0.5)
    changed = frame["template"] == "t3"
    for own in (changed, changed & ~frame["word"].str.endswith("0")):  # all words, and most
        said = bb.interpret(fitted(frame.assign(word=frame["word"] + np.where(own, " too", ""))))
        assert sum("words of its own" in text for text in said.warnings) == 1


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


@pytest.mark.parametrize("case", ["13*/eec.csv", "14*/crows.csv", "14*/samples_crows_pairs.jsonl"])
def test_public_cases_are_answered_in_the_names_of_their_groups(case):
    found = fitted(shared(f"cases/{case}"))
    names = set(found.published["name"])
    assert names & {"black - white", "more stereotyped - less stereotyped"}
    assert "No fit" in str(bb.interpret(found))


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
    assert any("6 pairs" in note and "uncorrected" in note for note in said.notes)
    assert "new: new words, prompts" in " ".join(bb.output.to_text(found).split())


def test_brief_json_names_the_model_of_each_contrast():
    found = quick(crossed(models=("m", "n"), words=6, spread=0.5, seed=5))
    rows = bb.output.to_json(found, brief=True)["contrasts"]
    assert [row["model"] for row in rows] == ["m", "n", "m - n"]
    assert {row["contrast"] for row in rows} == {"a - b"}
    wanted = found.contrasts(estimand="population", level="overall")["mean"]
    assert [row["mean"] for row in rows] == pytest.approx(list(wanted), rel=1e-3)
    one = bb.output.to_json(quick(crossed()), brief=True)["contrasts"]
    assert "model" not in one[0]


def test_of_many_groups_the_result_says_whether_models_differ():
    found = quick(crossed(("a", "b", "c"), models=("m", "n"), words=6, spread=0.2, seed=5))
    rows = found.contrasts(estimand="population", level="overall")
    rows = rows[(rows["model"] == "m - n") & ~rows["contrast"].str.endswith("others")]
    decided = ((rows["hpdi_low"] > 0) | (rows["hpdi_high"] < 0)).sum()
    said = bb.interpret(found).headline
    assert decided > 0
    assert f"{decided} of 3 differences between models in these" in said


def test_estimands_name_only_what_the_table_has():
    frame = crossed().drop(columns=["template", "item"])
    found = quick(frame)
    assert list(found.estimands) == ["population", "listed_words"]
    assert set(found.contrasts()["estimand"]) == {"population", "listed_words"}
    text = bb.output.to_text(found)
    assert "new words" in text
    assert "prompts" not in text
    assert "items" not in text


@pytest.mark.slow
def test_detail_has_a_published_score_of_each_model_and_contrast():
    frame = crossed(("a", "b", "c", "d"), models=("m", "n"), words=2)
    paired = frame[frame["word"].str.endswith("0")].assign(word="")
    for own, score in ((frame, "t-test of all answers"), (paired, "paired t over pairs")):
        text = bb.output.to_text(quick(own, draws=100), detail=True).partition("Published")[2]
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


def test_checks_of_long_names_keep_room_for_the_curves():
    """With labels of one long line the curves had a tenth of the width, and the title was cut."""
    names = [f"a_language_model_of_some_size_{k}" for k in (13, 70)]
    groups = ("the stereotyped person", "the other person named")
    frame = crossed(groups, models=names, words=4, templates=2)
    frame = frame[frame["word"].str.endswith("0")].assign(word="")
    found = quick(frame, draws=100)
    assert found.kind == "paired"
    ax = bb.plot_ppc(found)
    assert [tick.get_text() for tick in ax.get_yticklabels()][:2] == names
    assert ax.get_xlabel().split("\n")[0].startswith("the other person named - ")
    ax.figure.draw_without_rendering()
    assert ax.bbox.width > 0.4 * ax.figure.bbox.width
    title = ax.get_title(loc="left")
    assert title == "Posterior predictive check"


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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("data", "said", "warned"),
    [
        (
            {"words": 12, "spread": 1.0, "difference": 0.3},
            "Too sharp for new",
            "is too sharp for new",
        ),
        (
            {"words": 8, "templates": 1, "items": 12, "spread": 0.15},
            "what groups share counts as noise",
            "",
        ),
    ],
)
def test_published_tests_are_too_sharp_or_too_weak_as_their_se_beside_the_model(data, said, warned):
    """Welch's SE from the variances of the two groups; words vary in one table, items in the other."""
    frame = crossed(**{"difference": 0.45, **data})
    found = quick(frame)
    table = published_table(found, bb.View())
    by_group = frame.groupby("group")["outcome"]
    se = np.sqrt((by_group.var() / by_group.size()).sum())
    sd = found.contrasts(estimand="population", level="overall", detail=True)["sd"].iloc[0]
    assert table["se"].tolist() == pytest.approx([se])
    assert table["model_sd"].tolist() == [sd]
    assert (sd > se) == said.startswith("Too sharp")
    assert said in bb.output.to_text(found)
    said = bb.interpret(found)
    assert any(warned in text for text in said.warnings) or not warned
    assert bb.output.to_json(found)["published"][0]["model_sd"] == pytest.approx(sd)


def published_row(p_value, se, sd):
    return pd.Series({"name": "a - b", "p_value": p_value, "n": 60.0, "se": se, "model_sd": sd})


@pytest.mark.parametrize(
    ("p_value", "se", "sd", "verdict", "said"),
    [
        (
            0.01,
            0.1,
            0.3,
            "inconclusive",
            "is too sharp for new words: its SE is 0.100, the SD of the model 0.300. There the",
        ),
        (
            0.01,
            0.3,
            0.3,
            "inconclusive",
            "rows as independent. For new words the difference is inc",
        ),
        (0.2, 0.3, 0.1, "below", "is too weak, since what groups share counts as noise: its SE is"),
        (0.2, 0.1, 0.3, "inconclusive", ""),
        (0.01, 0.3, 0.1, "below", ""),
        (float("nan"), 0.3, 0.1, "below", ""),
    ],
)
def test_a_published_test_and_the_model_that_disagree_are_a_warning(p_value, se, sd, verdict, said):
    texts = _disagreement(published_row(p_value, se, sd), verdict, "new words")
    assert [said in text for text in texts] == [True] * bool(said)


@pytest.mark.parametrize(
    ("verdict", "ends", "said"),
    [
        (
            "above",
            (0.1, 0.3),
            "he is higher than she by 0.200 [0.100, 0.300] for new words, by more",
        ),
        (
            "below, size uncertain",
            (-0.3, -0.01),
            "he is lower than she by 0.155 [0.010, 0.300] for",
        ),
        ("inconclusive", (-0.1, 0.0), "inconclusive for new words (-0.050 [-0.100, 0.000])"),
        ("negligible", (0.0, 0.0), "practically equal for new words: 0.000 [0.000, 0.000] lies"),
    ],
)
def test_a_difference_has_estimate_interval_and_scope(verdict, ends, said):
    """A difference whose interval includes 0 has no direction, whatever its mean."""
    row = {"mean": sum(ends) / 2, "hpdi_low": ends[0], "hpdi_high": ends[1], "verdict": verdict}
    row |= {"estimand": "population", "label": "he - she", "contrast": "he - she"}
    text = _in_words(pd.DataFrame([row]).set_index("estimand"), "new words")
    assert said in text
    assert ("higher" in text or "lower" in text) == (ends[0] * ends[1] > 0)


def test_the_interval_and_not_the_observed_mean_has_the_direction():
    rows = pd.DataFrame({"estimand": ["population", "listed_words"], "mean": [0.1, -0.001]})
    rows = rows.assign(hpdi_low=(-0.1, 0.002), hpdi_high=(0.3, 0.03), label="he - she")
    rows = rows.assign(verdict=("inconclusive", "above"), contrast="he - she")
    said = _in_words(rows.set_index("estimand"), "new words")
    assert "For these alone, he is higher than she" in said
