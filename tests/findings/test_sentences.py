"""What sentence tests say where the words of some are not known."""

from __future__ import annotations

import pandas as pd
import pytest

from bayesbias.findings.of_result import findings_of
from bayesbias.studies.seat_result import SeatResult


def test_a_test_whose_words_are_not_known_does_not_count_as_clear_by_words():
    def found(*over_words):
        frame = pd.DataFrame(
            {
                "model": "m", "options": "", "test": [f"test {i}" for i in range(len(over_words))], "level": "sentence",
                "p_value": 1e-5, "p_upper": 1e-5, "p_method": "bounds", "p_words": over_words, "p_holm": 1e-4,
                "effect_size": 1.0, "num_targ1": 8, "num_targ2": 8, "num_attr1": 8, "num_attr2": 8,
            }
        )  # fmt: skip
        nothing = pd.DataFrame(
            columns=["model", "options", "test", "set", "word", "sentence", "note", "reason"]
        )
        result = SeatResult(frame, nothing, nothing, nothing)
        return findings_of(result), repr(result)

    both, shown = found(0.3, 0.001, float("nan"))
    assert both.headline.endswith(
        "in 3 of 3 tests on m, of which 1 when each word counts once and 1 with words that are not stated."
    )
    assert both.sentences[0].startswith("Of 2 sentence tests with p below 0.01, 1 keeps that")
    assert "1 of 2 sentence tests is not" in shown
    alone, _ = found(float("nan"))
    assert alone.headline.endswith("in 1 of 1 test on m, of which 1 with words that are not stated.")
    assert alone.sentences == ("test 0: the effect size is +1.00, as the test supposes; one-sided p 1e-05.",)


def test_where_no_test_could_be_run_no_prior_is_doubted():
    columns = [
        "model",
        "options",
        "test",
        "level",
        "p_upper",
        "p_words",
        "p_holm",
        "contrast",
        "prior_shift",
        "converged",
    ]
    nothing = pd.DataFrame(columns=["model", "options", "test", "set", "word", "sentence", "note", "reason"])
    found = findings_of(SeatResult(pd.DataFrame(columns=columns), nothing, nothing, nothing, {"prob": 0.89}))
    assert (found.headline, found.doubts) == ("No test was run.", ())


def test_sentence_tests_say_how_many_are_clear_and_what_is_left_out():
    frame = pd.DataFrame(
        {
            "model": "m", "options": "", "test": ["one", "two"], "level": "sentence", "p_value": [1e-5, 0.2],
            "p_upper": [1e-5, 0.2], "p_method": "bounds", "p_words": [0.3, 0.4], "p_holm": [2e-5, 0.2], "effect_size": [1.0, 0.1],
            "num_targ1": 8, "num_targ2": 8, "num_attr1": 8, "num_attr2": 8,
        }
    )  # fmt: skip
    dropped = pd.DataFrame(
        {"model": "m", "options": "", "test": "one", "set": "targ1", "word": ["a"], "sentence": ["a"]}
    )
    notes = pd.DataFrame({"model": ["m"], "options": [""], "test": ["two"], "note": ["few words"]})
    failures = pd.DataFrame(columns=["model", "options", "test", "reason"])
    found = findings_of(SeatResult(frame, failures, dropped, notes))
    assert (
        found.headline
        == "p is below 0.01 after Holm's correction in 1 of 2 tests on m, of which 0 when each word counts once."
    )
    assert found.sentences == (
        "The one sentence test with p below 0.01 loses that when each word counts once; sentences of one word are not "
        "independent, and p falls with every template that is added (one: p at most 1e-05 over sentences, exact bound; 0.3 "
        "over words).",
        "† two: few words.",
    )
    assert found.notes == ("m lacks forms of 1 word; 1 example made of those forms is left out: a",)
    fitted = frame.assign(
        contrast=[0.1, float("nan")],
        hpdi_low=[-0.1, float("nan")],
        hpdi_high=[0.2, float("nan")],
        converged=[False, True],
    )
    found = findings_of(SeatResult(fitted, failures, dropped, notes, {"prob": 0.89}))
    assert found.problems == ("the fit of one to m has not converged",)
    assert "fitted model" not in found.headline
    fitted = fitted.assign(contrast=[-0.1, 0.2], hpdi_low=[-0.2, 0.1], hpdi_high=[-0.05, 0.3], converged=True)
    found = findings_of(SeatResult(fitted, failures, dropped, notes, {"prob": 0.89}))
    assert found.headline == (
        "p is below 0.01 after Holm's correction in 1 of 2 tests on m, of which 0 when each word counts once (by the fitted "
        "model, for new words and templates, the 89% HPDI of associated - different lies below zero, as supposed, in 1 of "
        "2, above in 1)."
    )
    assert found.doubts == ()  # what was written before shifts were known
    moved = fitted.assign(prior_shift=[-0.4, 0.7], prior=["cbar halved", "csd doubled"])
    (doubt,) = findings_of(SeatResult(moved, failures, dropped, notes, {"prob": 0.89})).doubts
    assert (doubt.kind, doubt.group, doubt.parameter) == ("prior", "two", "csd")
    assert doubt.text.startswith(
        "two: the contrast rests on a prior, and moves by 0.7 of its sd with the prior of the spread of differences by "
        "protected word and connection (csd) twice as wide"
    )


@pytest.mark.parametrize(
    ("over_words", "says"),
    [
        ([0.001], "The one sentence test with p below 0.01 keeps that when each word counts once."),
        ([0.001, 0.002], "Of 2 sentence tests with p below 0.01, all keep that when each word counts once."),
        ([0.1, 0.2], "Of 2 sentence tests with p below 0.01, none keeps that when each word counts once; "),
        (
            [0.1, 0.002],
            "Of 2 sentence tests with p below 0.01, 1 keeps that when each word counts once and 1 does not; ",
        ),
        (
            [0.1, 0.2, 0.002, 0.001],
            "Of 4 sentence tests with p below 0.01, 2 keep that when each word counts once and 2 do not; ",
        ),
    ],
)
def test_sentences_that_count_words_once_are_singular_or_plural(over_words, says):
    *_, text = of_sentence_tests(over_words, "exact")
    assert text.startswith(says)


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ("exact", "(test 0: exact p 0.001 over sentences; 0.1 over words)"),
        ("bounds", "(test 0: p at most 0.0014 over sentences, exact bound; 0.1 over words)"),
        (
            "montecarlo",
            "(test 0: p at most 0.0014 over sentences, 99% bound of drawn partitions; 0.1 over words)",
        ),
    ],
)
def test_it_is_said_which_p_is_meant_and_a_bound_is_rounded_up(method, says):
    *_, text = of_sentence_tests([0.1], method)
    assert says in text


@pytest.mark.parametrize(
    ("size", "contrast", "says"),
    [
        (0.95, -0.0274, "one: the effect size is +0.95, as the test supposes; one-sided p 0.03. In distance, "
         "associated - different is -0.027 for new words (89% HPDI -0.056 to +0.001)."),
        (-0.5, 0.0274, "one: the effect size is -0.50, the other way than the test supposes; one-sided p 0.03. In distance, "
         "associated - different is +0.027 for new words (89% HPDI -0.056 to +0.001)."),
        (-0.5, float("nan"), "one: the effect size is -0.50, the other way than the test supposes; one-sided p 0.03."),
        (float("nan"), 0.0274, None),
    ],
)  # fmt: skip
def test_of_a_single_test_size_and_side_are_said(size, contrast, says):
    found = findings_of(one_test(effect_size=size, contrast=contrast))
    assert found.sentences == ((says,) if says else ())


def one_test(classes: pd.DataFrame | None = None, **changes: object) -> SeatResult:
    """Return the result of one test, made up."""
    frame = pd.DataFrame(
        {
            "model": "m", "options": "", "test": ["one"], "level": "word", "p_value": 0.03, "p_upper": 0.03,
            "p_method": "exact", "p_words": 0.03, "p_holm": 0.03, "effect_size": 0.5, "num_targ1": 8, "num_targ2": 8,
            "num_attr1": 8, "num_attr2": 8, "contrast": -0.0274, "hpdi_low": -0.0561, "hpdi_high": 0.0012, "converged": True,
        } | changes
    )  # fmt: skip
    nothing = pd.DataFrame(columns=["model", "options", "test", "set", "word", "sentence", "note", "reason"])
    more = {} if classes is None else {"classes": classes}
    return SeatResult(frame, nothing, nothing, nothing, {"prob": 0.89}, **more)


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({"level": "word"}, "for new words"),
        ({"level": "sentence"}, "for new words and templates"),
        (
            {"level": "sentence", "p_words": float("nan")},
            "for new sentences, each taken for a word of its own",
        ),
    ],
)
def test_it_is_said_what_an_interval_of_sentences_holds_for(changes, holds):
    """It had been new words and templates, also where there are no templates and where nobody stated words."""
    found = findings_of(one_test(**changes))
    assert f"{holds}, the 89% HPDI" in found.headline
    assert f" {holds} (89% HPDI" in found.sentences[0]


def test_sets_of_targets_that_go_different_ways_are_told_in_every_output():
    """Only the finding of a fit had said so; the command and the page said that all is as supposed."""
    rows = [
        ("women", "population", -0.03, -0.06, -0.01), ("men", "population", -0.04, -0.07, -0.01),
        ("women", "listed_words", 0.008, 0.006, 0.009), ("men", "listed_words", -0.087, -0.088, -0.085),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["name", "estimand", "mean", "hpdi_low", "hpdi_high"])
    frame = frame.assign(model="m", options="", test="one", mcse_mean=1e-4, mcse_low=1e-4, mcse_high=1e-4)
    said = [text for text in findings_of(one_test(frame)).sentences if "disagree" in text]
    assert said == [
        "one: of the listed words alone the classes disagree: nearer for men, farther for women (women +0.008, men -0.087); "
        "a set of attributes that is near to all targets, or far from them, may make it."
    ]
    unsure = frame.assign(mcse_low=0.005, mcse_high=0.005)
    assert not any("disagree" in text for text in findings_of(one_test(unsure)).sentences)
    assert not any("disagree" in text for text in findings_of(one_test(frame, converged=False)).sentences)


def of_sentence_tests(over_words: list[float], method: str) -> tuple[str, ...]:
    """Return the sentences on tests whose p over sentences is 0.00135, with these over words."""
    frame = pd.DataFrame(
        {
            "model": "m", "options": "", "test": [f"test {i}" for i in range(len(over_words))], "level": "sentence",
            "p_value": 0.00135, "p_upper": 0.00135, "p_method": method, "p_words": over_words, "p_holm": 0.5,
            "effect_size": 1.0, "num_targ1": 8, "num_targ2": 8, "num_attr1": 8, "num_attr2": 8,
        }
    )  # fmt: skip
    nothing = pd.DataFrame(columns=["model", "options", "test", "set", "word", "sentence", "note", "reason"])
    return findings_of(SeatResult(frame, nothing, nothing, nothing)).sentences
