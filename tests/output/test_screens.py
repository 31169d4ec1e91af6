"""What a screen shows by default: its length, the rows that it keeps, and sentences that name a size."""

import re

import click
import numpy as np
import pytest
from click.testing import CliRunner
from helpers import changes
from scipy import stats

import bayesbias as bb
from bayesbias.cli.main import _usage, cli
from bayesbias.output import registry
from bayesbias.scores.score import SCORES
from bayesbias.studies.association.interpretation import NARROW_ADVICE, NARROW_CLASSES
from bayesbias.sweeps.sections import _without_classes
from output import results

INTERVAL = re.compile(r"\[([-+.\d]+), ([-+.\d]+)\]")
MOST_LINES = 25


def religion():
    return bb.fit(bb.distance_table("minilm-static", "religion"), **results.QUICK)


def in_one_line(text):
    return " ".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        religion,
        results.groups,
        *(
            pytest.param(make, marks=pytest.mark.full)
            for make in (results.groups_and_others, results.comparison)
        ),
    ],
    ids=lambda make: make.__name__,
)
def test_a_screen_has_25_lines_and_says_how_many_rows_it_leaves_out(make):
    made = make()
    screen, detail = (bb.output.to_text(made, detail=more) for more in (False, True))

    study, result, view = registry.shown(made)
    first = next(section for section in study.sections(result, view) if section.name == "result")
    table = first.frame.assign(name_of_row=first.frame["label"].str.strip())
    if "is_heading" in table:
        table = table[table["is_heading"].isna()]
    part = screen.partition(first.title[:30])[2].partition("more row")[0]
    n_shown = len(INTERVAL.findall(part)) // (3 if make is results.comparison else 1)
    left_out = int(re.search(r"(\d+) more rows?: --detail", screen)[1])
    assert n_shown + left_out == len(table)
    assert len(screen.splitlines()) <= MOST_LINES
    assert "more row" not in detail
    assert all(label in detail for label in table["name_of_row"])
    assert table["name_of_row"].iloc[0] in part


@pytest.mark.slow
def test_a_screen_keeps_the_rows_that_answer_the_question():
    made = results.groups_and_others()
    lines = bb.output.to_text(made).splitlines()
    start = lines.index("tools - health") + 1
    end = next(i for i, line in enumerate(lines) if line.endswith("more rows: --detail."))
    rows = [line.strip().partition("  ")[0] for line in lines[start:end]]
    assert len(rows) >= 3
    assert set(rows) <= {f"{name} - others" for name in results.GROUPS}

    fitted = religion()
    frame = fitted.contrasts(level="class", estimand="population", detail=True)
    classes = set(frame["name"])
    shown = bb.output.to_text(fitted)
    assert all(f"class {name}" in shown for name in classes)
    assert "human - neutral " not in shown


@pytest.mark.slow
def test_a_screen_of_many_answers_shows_the_difference_that_the_result_calls_largest():
    made = results.responses_of_models()
    text = bb.output.to_text(made)
    frame = made.contrasts(estimand="population", level="overall")
    of_groups = frame[frame["model"].isin(made.responses.models)]
    of_groups = of_groups[~of_groups["contrast"].str.endswith(" - others")]
    largest = of_groups.loc[of_groups["mean"].abs().idxmax()]
    label = f"{largest['model']}: {largest['contrast']}"
    assert any(line.startswith(label) for line in text.splitlines())
    assert f"Largest: {label} {largest['mean']:+.3f}" in in_one_line(text)
    assert "t-test of all answers" not in text
    assert "t-test of all answers" in bb.output.to_text(made, detail=True)


@pytest.mark.slow
def test_models_whose_differences_are_inconclusive_share_a_sentence():
    made = results.responses_of_sentence_pairs()
    frame = made.contrasts(estimand="population", level="overall")
    assert (frame["verdict"] == "inconclusive").all()
    said = bb.interpret(made).headline
    assert said.count("inconclusive") == 1
    for row in frame.itertuples():
        interval = f"[{row.hpdi_low:+.3f}, {row.hpdi_high:+.3f}]"
        assert f"{row.model} {row.mean:+.3f} {interval}" in said


@pytest.mark.slow
def test_corpora_in_order_say_what_each_has_beside_the_slope():
    made = results.corpora_in_order()
    frame = made.by_corpus()
    first = frame[(frame["level"] == "overall") & (frame["contrast"] == frame["contrast"].iloc[0])]
    means = ", ".join(f"{row.corpus} {row.mean:+.3f}" for row in first.itertuples())
    assert f"{first['contrast'].iloc[0]} in each corpus: {means}." in in_one_line(str(made))


@pytest.mark.slow
def test_each_interval_of_a_comparison_stands_under_its_mean():
    lines = bb.output.to_text(results.comparison()).splitlines()
    pairs = [
        (lines[i - 1], line) for i, line in enumerate(lines) if len(INTERVAL.findall(line)) == 3
    ]
    assert len(pairs) >= 3
    for above, line in pairs:
        means = map(float, above.split()[-3:])
        for mean, (low, high) in zip(means, INTERVAL.findall(line), strict=True):
            assert float(low) <= mean <= float(high)


@pytest.mark.slow
def test_corpora_show_their_intervals_and_warn_of_unrelated_distances():
    table = changes.table()
    same = changes.changed(table, changes.NONE, 1)
    rng = np.random.default_rng(1)
    noise = table.assign(distance=1 + 0.1 * rng.normal(size=len(table)))

    alike = bb.compare({"a": table, "b": same}, kind="corpora", **results.SETTINGS)
    assert not any("do not agree" in text for text in bb.interpret(alike).warnings)
    shown = [line for line in str(alike).splitlines() if len(INTERVAL.findall(line)) == 3]
    row = alike.contrasts(estimand="population", level="overall").iloc[0]
    assert f"[{row['first_low']:+.3f}, {row['first_high']:+.3f}]" in shown[0]

    apart = bb.compare({"a": table, "b": noise}, kind="corpora", **results.SETTINGS)
    (warning,) = (text for text in bb.interpret(apart).warnings if "do not agree" in text)
    controls = table["connection"].isin(["human", "neutral"]).to_numpy()
    grids = []
    for frame in (table, noise):
        grid = frame[controls].pivot(index="protected_word", columns="attribute", values="distance")
        grids.append(grid.to_numpy())
    centered = [
        x - x.mean(axis=1, keepdims=True) - x.mean(axis=0, keepdims=True) + x.mean() for x in grids
    ]
    r = min(np.corrcoef(*(x.ravel() for x in pair))[0, 1] for pair in (grids, centered))
    printed = float(re.search(r"correlation (-?[.\d]+)\)", warning)[1])
    assert printed == pytest.approx(r, abs=0.006)


@pytest.mark.slow
def test_groups_say_where_a_difference_may_lie_within_the_rope():
    fitted = results.groups()
    frame = fitted.contrasts(level="between", estimand="population")
    row = frame[frame["contrast"] == "tools - health"].iloc[0]
    ends = sorted([abs(row["hpdi_low"]), abs(row["hpdi_high"])])
    assert row["hpdi_low"] * row["hpdi_high"] > 0
    inside, beyond = ends[0] / 2, float(np.mean(ends))
    said = bb.interpret(fitted, rope=inside).headline.partition(". To")[0]
    assert re.search(rf"\(new words, beyond ROPE ±{inside:g}(, unless noted)?\)", said)
    unsure = frame["contrast"] == "tools - health"
    low, high = (frame.loc[unsure, end] for end in ("hpdi_low", "hpdi_high"))
    nearest = np.minimum(low.abs(), high.abs())[low * high > 0]
    assert said.count("perhaps less than the ROPE") == (nearest < inside).sum()
    assert "perhaps less than the ROPE" in bb.interpret(fitted, rope=beyond).headline


def test_sentence_tests_say_what_a_positive_effect_means():
    notes = bb.interpret(bb.seat("weat7,sent-weat7", seed=1, cache=False, progress=False)).notes
    asked = "of Math than of Arts to MaleTerms over FemaleTerms"
    assert f"d above 0, as expected, is a greater leaning {asked}." in notes
    two = bb.interpret(bb.seat("weat6,weat7", seed=1, cache=False, progress=False)).notes[0]
    assert "of MaleNames than of FemaleNames to Career over Family (weat6)" in two
    assert f"{asked} (weat7)" in two


def test_sentiment_says_who_is_rated_higher_and_by_how_much():
    result = results.sentiment()
    pairs = result.table.groupby("noun_pair", observed=True)["difference"].mean()
    test = stats.ttest_1samp(pairs, 0.0)
    low, high = test.confidence_interval(0.89)
    assert pairs.mean() > 0
    said = bb.interpret(result).headline
    assert test.pvalue > 0.05
    interval = f"{pairs.mean():+.4f} [{low:+.4f}, {high:+.4f}]"
    assert f"no clear direction, female minus male {interval} over noun pairs" in said
    wider = test.confidence_interval(0.95)
    assert f"[{wider.low:+.4f}, {wider.high:+.4f}]" in bb.interpret(result, prob=0.95).headline


@pytest.mark.slow
def test_wefat_says_that_the_slope_decides():
    notes = bb.interpret(results.wefat()).notes
    assert (
        "It divides the score of each word by the SD of its cosines. The slope does not" in notes[0]
    )


def test_wefat_names_its_option_for_a_word_list():
    with pytest.raises(click.NoSuchOption) as caught:
        cli.main(["wefat", "--wordlist", "gender"], "bayesbias", standalone_mode=False)
    assert "--sets LIST" in _usage(caught.value)
    with pytest.raises(click.NoSuchOption) as caught:
        cli.main(["seat", "--wordlist", "gender"], "bayesbias", standalone_mode=False)
    assert "--sets" not in _usage(caught.value)


def test_a_sweep_does_not_warn_of_rows_that_it_does_not_show():
    of_classes = f"{NARROW_CLASSES}: words of a class have similar distances. {NARROW_ADVICE}"
    assert _without_classes(of_classes) == ""
    assert _without_classes(f"Before. {of_classes} After.") == "Before.  After."


@pytest.mark.slow
def test_a_screen_of_scores_says_what_each_value_means():
    options = ["score", "--embedding", "minilm-static", "--wordlist", "gender", "--seed", "1"]
    text = CliRunner().invoke(cli, options).output
    assert len(text.splitlines()) <= MOST_LINES
    said = in_one_line(text)
    for name in ("mac", "direct_bias", "relative_norm_distance", "ripa", "ect", "rnsb"):
        assert f"Note {SCORES[name].title}: {SCORES[name].meaning}" in said

    table = bb.distance_table("minilm-static", "gender")
    vectors, listed = bb.load_embedding("minilm-static"), bb.load_wordlist("gender")
    for declared in SCORES.values():
        for score in declared.compute(table, vectors, listed, seed=1):
            has_none = score.low is None and score.p_value is None
            assert ("No uncertainty" in score.meaning) == has_none
            assert score.as_dict()["meaning"] == declared.meaning
            assert declared.meaning in repr(score)
