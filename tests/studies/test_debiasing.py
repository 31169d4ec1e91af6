"""Debiased tables against the original: what changed, what is left, and what the method forces."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.changes import NONE, changed, destroyed_comparison, table
from helpers.draws import made_up_comparison
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.errors import BayesbiasError, FitError
from bayesbias.inference.view import TOO_CLOSE
from bayesbias.studies.debiasing.comparison import Comparison, compare
from bayesbias.studies.debiasing.geometry import Construction, control_changes, find_construction
from bayesbias.studies.debiasing.sections import _sentence, _warnings, main_table, sections
from bayesbias.tables.joining import common_pairs, join_pairs
from bayesbias.tables.reading import as_pair_table

PUBLISHED = "data/bayesbias_distances/reddit_pairs_2021"
GAP = "associated - different"


def methods() -> dict[str, pd.DataFrame]:
    before = table()
    return {
        "strong": changed(before, {**NONE, "associated": 0.1}, 1),
        "weak": changed(before, {**NONE, "associated": 0.03}, 2),
        "same": before,
    }


@pytest.fixture(scope="module")
def fitted() -> Comparison:
    return compare(table(), methods(), draws=500, tune=500, chains=2, seed=shifted(1))


@pytest.fixture(scope="module")
def made() -> Comparison:
    after = {name: as_pair_table(frame) for name, frame in methods().items()}
    return made_up_comparison(as_pair_table(table()), after, draws=3000)


@pytest.fixture(scope="module")
def destroyed() -> Comparison:
    return destroyed_comparison()


def overall(frame: pd.DataFrame, label: str) -> pd.DataFrame:
    return frame[frame["level"] == "overall"].set_index(label)


# -- joining ----------------------------------------------------------------------------------------------------------


def test_tables_are_joined_pair_by_pair_in_any_order():
    before, after = table(), changed(table(), NONE, 3)
    frame, account = join_pairs(before, after.sample(frac=1, random_state=0))
    assert np.allclose(frame["change"], after["distance"] - before["distance"], atol=1e-15)
    before = before[before["protected_word"] != "x-word0"]
    after = after[~after["attribute"].isin(["human1", "neutral2"])]
    frame, account = join_pairs(before, after, "soft")
    assert len(frame) == 7 * 22
    assert (account["only_in_original"], account["only_in_debiased"]) == (7 * 2, 22)
    assert account["words_only_in_original"] == ["human1", "neutral2"]


def test_only_pairs_that_all_tables_have_are_compared():
    before = table()
    cut = changed(before, NONE, 1).query("attribute != 'neutral5'").iloc[::-1]
    joined = {"a": join_pairs(before, changed(before, NONE, 2)), "b": join_pairs(before, cut)}
    frames, _ = common_pairs(joined)
    keys = ["protected_word", "attribute"]
    assert len(frames["a"]) == 184
    pd.testing.assert_frame_equal(frames["a"][keys], frames["b"][keys])


@pytest.mark.parametrize(
    ("debiased", "said"),
    [
        ({}, "expected tables by name"),
        ({"original": table()}, "expected tables by name"),
        ({"a": table().assign(distance=-1.0)}, "from 0 to 2"),
        (
            table().assign(attribute=lambda f: "other-" + f["attribute"]),
            "pairs of the original",
        ),
        (table().replace({"protected_class": {"x": "z"}}), "protected class"),
    ],
)
def test_tables_that_cannot_be_compared(debiased, said):
    with pytest.raises(BayesbiasError, match=said):
        compare(table(), debiased, draws=50, tune=50, chains=2, seed=1)


# -- tables and their draws -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("which", "arguments"),
    [
        ("changes", {}),
        ("changes", {"method": "weak", "estimand": "listed_words"}),
        ("contrasts", {"method": "same", "estimand": "population"}),
        ("contrasts", {"level": "class", "estimand": "population"}),
    ],
)
def test_the_draws_behind_every_row(made, which, arguments):
    draws, frame = made.table_draws(which, **arguments), getattr(made, which)(**arguments)
    assert draws.shape == (2, 3000, len(frame))
    labels = list(draws.coords)
    assert labels == list(frame.columns[: len(labels)])
    assert all(draws[name].to_numpy().tolist() == frame[name].tolist() for name in labels)
    flat = draws.to_numpy().reshape(-1, len(frame))
    np.testing.assert_allclose(flat.mean(axis=0), frame["mean"], atol=1e-12)
    np.testing.assert_allclose((flat < 0).mean(axis=0), frame["p_below_zero"], atol=1e-12)
    inside = (flat >= frame["hpdi_low"].to_numpy()) & (flat <= frame["hpdi_high"].to_numpy())
    moving = np.ptp(flat, axis=0) > 0
    expected = arguments.get("prob", 0.89)
    np.testing.assert_allclose(inside.mean(axis=0)[moving], expected, atol=0.003)


def test_changes_are_given_at_the_levels_of_their_model(made):
    changes, gaps = (
        frame.set_index(["level", "name"]).sort_index()
        for frame in (made.changes(method="weak"), made.contrasts(method="weak"))
    )
    assert set(changes.loc[("attribute_set", "x"), "connection"]) == {"associated", "different"}
    own = changes.loc[("attribute_set", "x")].query("connection == 'associated'")
    assert set(own["n_pairs"]) == {4 * 6}
    assert set(gaps.loc[("attribute_set", "y"), "contrast"]) == {GAP}
    after = {"a": as_pair_table(methods()["weak"])}
    other = made_up_comparison(as_pair_table(table()), after, level_model="crossed")
    frame = other.contrasts(estimand="population")
    known = frame.groupby("level")["before"].agg(lambda own: own.notna().all())
    # crossed has no classes of new words, and no attribute sets
    assert known.to_dict() == {
        "overall": True,
        "class": False,
        "attribute_set": False,
        "word": True,
    }


def test_gaps_before_and_after_are_those_of_the_fits(made):
    frame = made.contrasts(method="weak", estimand="population")
    keys = ["level", "name", "contrast"]
    for when, fit in (("before", made.original), ("after", made.methods["weak"].after)):
        gap = (
            fit.contrasts(rope=made.default_rope(), estimand="population")
            .set_index(keys)
            .loc[list(map(tuple, frame[keys].values))]
        )
        assert frame[when].tolist() == gap["mean"].tolist()
        assert frame[f"{when}_low"].tolist() == gap["hpdi_low"].tolist()
    assert frame["verdict_after"].tolist() == gap["verdict"].tolist()


@pytest.fixture(scope="module")
def weak(made) -> Comparison:
    """One method alone."""
    of_one = {"weak": made.methods["weak"]}
    return Comparison(made.original, of_one, {**made.provenance, "order": ["weak"]})


@pytest.mark.slow
def test_the_first_table_has_rows_by_class_and_intervals_before_and_after(weak):
    """Also in at most 80 columns."""
    frame = main_table(weak, bb.View())
    classes = [f"  class {name}" for name in weak.original.table["protected_class"].unique()]
    assert frame["label"].tolist()[: 1 + len(classes)] == [GAP, *classes]
    for when, fit in (("before", weak.original), ("after", weak.methods["weak"].after)):
        gap = fit.contrasts(estimand="population", level="class")
        low, high = (gap.loc[gap["contrast"] == GAP, f"hpdi_{end}"] for end in ("low", "high"))
        rows = frame[frame["label"].isin(classes)]
        assert rows[f"{when}_low"].tolist() == low.tolist()
        assert rows[f"{when}_high"].tolist() == high.tolist()
    text = bb.output.to_text(weak)
    title = "Difference in cosine distance and its change, new words (mean, 89% HPDI)"
    assert title in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("before", "after", "change", "verdict", "said"),
    [
        ((-0.12, -0.08), (-0.06, -0.02), (0.04, 0.08), "above", "It moved toward 0 by 0.060 ["),
        ((-0.06, -0.02), (-0.12, -0.08), (-0.08, -0.04), "below", "It moved away from 0 by 0.060"),
        ((-0.06, -0.02), (0.02, 0.06), (0.06, 0.1), "above", "It moved past 0 by 0.080 [0.060"),
        ((-0.04, 0.05), (-0.03, 0.09), (0.01, 0.05), "above, size", "It changed by +0.030 [+0.010"),
        (
            (-0.12, -0.08),
            (-0.1, -0.07),
            (0.0, 0.03),
            "inconclusive",
            "0.015 [0.000, +0.030] ends at",
        ),
        ((-0.1, -0.06), (-0.1, -0.06), (0.0, 0.0), "negligible", "the change 0.000 [0.000, 0.000]"),
        ((-0.1, -0.06), (-0.1, -0.05), (0.0001, 0.03), TOO_CLOSE, "too close to 0 or the ROPE"),
    ],
)
def test_a_change_has_the_direction_that_its_intervals_decide(
    weak, before, after, change, verdict, said
):
    ends = {"before": before, "after": after}
    row = {name: sum(both) / 2 for name, both in ends.items()} | {"mean": sum(change) / 2}
    for name, both in {**ends, "hpdi": change}.items():
        row |= {f"{name}_low": both[0], f"{name}_high": both[1]}
    row |= {"method": "weak", "contrast": GAP, "verdict": verdict, "rope": 0.02}
    text = _sentence(weak, SimpleNamespace(**row))
    assert said in text
    assert f"went from {row['before']:+.3f} [{before[0]:+.3f}, {before[1]:+.3f}]" in text
    moved = [way for way in ("toward", "away", "past") if way in text]
    assert len(moved) == ("moved" in said)


@pytest.mark.parametrize(
    ("change", "verdict", "said"),
    [
        ((0.04, 0.08), "above", ", by more than the ROPE (±0.02)."),
        ((0.01, 0.05), "above, size uncertain", ", but perhaps by less than the ROPE (±0.02)."),
        ((0.001, 0.009), "negligible", "lies within the ROPE (±0.02)."),
        ((-0.01, 0.05), "inconclusive", "includes 0 and reaches beyond the ROPE (±0.02)."),
    ],
)
@pytest.mark.parametrize("forced", ["", "wholly"])
def test_a_change_is_compared_with_the_rope(forced, change, verdict, said):
    """Also where the method forces it: a change that is forced may be small."""
    row = {"method": "weak", "contrast": GAP, "verdict": verdict, "rope": 0.02}
    row |= {"before": -0.1, "before_low": -0.12, "before_high": -0.08}
    row |= {"after": -0.05, "after_low": -0.06, "after_high": -0.04, "mean": sum(change) / 2}
    row |= {"hpdi_low": change[0], "hpdi_high": change[1]}
    method = SimpleNamespace(construction=SimpleNamespace(forced=forced))
    text = _sentence(SimpleNamespace(methods={"weak": method}), SimpleNamespace(**row))
    assert said in text
    assert text.count("ROPE") == 1
    assert ("forces it to zero" in text) == bool(forced)
    # What is forced for the listed words is no finding about new ones.
    assert ("for new words" in text) != bool(forced)
    assert ("for the words of this list" in text) == bool(forced)


def test_words_made_equal_within_one_class_are_no_reason_for_a_warning(weak):
    """Equal words of one class leave associated - different as it was."""
    made = Construction(("equalized_partly",), pd.DataFrame(), 0.0)
    method = dataclasses.replace(weak.methods["weak"], construction=made)
    result = dataclasses.replace(weak, methods={"weak": method})
    assert not [text for text in _warnings(result, "weak", bb.View()) if "equal" in text]


@pytest.mark.slow
def test_both_warnings_say_how_all_words_are_debiased(tmp_path):
    """Of vectors whose other words kept theirs, and of those that the method made equal."""
    for wordlist, said in (("weat10", "no distance changed"), ("gender", "distances of all words")):
        before, hard = (
            bb.distance_table(vectors, wordlist, controls="none")
            for vectors in ("minilm-static", bb.hard_debias("minilm-static", "gender").embedding)
        )
        found = bb.compare(before, {"hard": hard}, seed=1, draws=200, progress=False)
        texts = [text for text in _warnings(found, "hard", bb.View()) if said in text]
        assert len(texts) == 1
        assert "--neutralize all_others" in texts[0]


def test_one_method_is_ranked_alone(weak):
    assert weak.ranking()["rank"].tolist() == [1]


def test_methods_that_destroy_the_vectors_have_no_rank(destroyed):
    ranks = destroyed.ranking().set_index("method")["rank"]
    assert ranks[["kept", "copy"]].notna().all()
    assert ranks[["noise", "mostly noise"]].isna().all()


def test_the_interval_of_the_geometry_follows_its_probability(destroyed):
    frames = (destroyed.geometry(prob).set_index("method") for prob in (0.99, 0.89))
    wide, usual = (frame["correlation_low"]["kept"] for frame in frames)
    assert wide < usual


def test_what_control_words_moved(made):
    pairs = made.methods["weak"].pairs
    frame = control_changes(pairs).set_index("controls")
    for name, row in frame.iterrows():
        mine = pairs[pairs["connection"].isin(["human", "neutral"] if name == "all" else [name])]
        worst = mine.loc[mine["change"].abs().idxmax()]
        assert row["n_pairs"] == len(mine)
        assert row["rms_change"] == pytest.approx(np.sqrt((mine["change"] ** 2).mean()))
        assert (row["max_change"], row["attribute"]) == (worst["change"], worst["attribute"])
    assert control_changes(pairs[pairs["connection"] == "associated"]).empty


# -- what is found ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_known_shift_is_recovered_and_the_rest_stays(fitted):
    means = overall(fitted.changes(estimand="population", method="strong"), "connection")
    low, high = mc.ends_of_row(means.loc["associated"])
    assert low.may_stay_below(0.1)
    assert high.may_reach(0.1)
    low, high = mc.ends_of_row(means.loc[["different", "human", "neutral"]])
    assert low.may_stay_below(0)
    assert high.may_reach(0)
    row = overall(
        fitted.contrasts(estimand="listed_words", method="strong", detail=True), "contrast"
    ).loc[GAP]
    pairs = fitted.methods["strong"].pairs
    raw = pairs.groupby("connection", observed=True)[["original", "debiased", "change"]].mean()
    gap = raw.loc["associated"] - raw.loc["different"]
    assert row["hpdi_low"] < gap["change"] < row["hpdi_high"]
    assert row["before_low"] < gap["original"] < row["before_high"]
    assert row["after_low"] < gap["debiased"] < row["after_high"]
    # What the two tables share cancels: the change is known better than either gap.
    assert row["sd"] < fitted.original.contrasts(estimand="population", detail=True)["sd"].iloc[0]


@pytest.mark.slow
def test_methods_are_ranked_and_an_unchanged_table_is_known_exactly(fitted):
    frame = fitted.ranking()
    assert frame["method"].tolist() == ["strong", "weak", "same"]
    assert fitted.methods["same"].change is None
    assert fitted.methods["same"].exact == NONE
    frame = fitted.changes(method="same")
    assert frame["exact"].all()
    assert (frame[["mean", "sd", "hpdi_low", "hpdi_high"]] == 0).all(axis=None)
    assert not frame.isna().any(axis=None)


def test_connections_that_did_not_change_are_left_out_of_the_fit():
    before, after = table(), changed(table(), NONE, 5)
    control = before["connection"].isin(["human", "neutral"])
    after.loc[control, "distance"] = before.loc[control, "distance"]
    found = made_up_comparison(as_pair_table(before), {"a": as_pair_table(after)})
    assert found.methods["a"].exact == {"human": 0.0, "neutral": 0.0}
    assert set(found.methods["a"].change.table["connection"]) == {"associated", "different"}
    assert found.methods["a"].construction.flags == ("controls_untouched",)
    gaps = overall(found.contrasts(estimand="population"), "contrast")["mean"]
    means = overall(found.changes(estimand="population"), "connection")["mean"]
    assert gaps["human - neutral"] == 0
    assert gaps["associated - human"] == pytest.approx(means["associated"], abs=1e-12)


def test_controls_alone_have_changes_and_no_contrasts():
    before = table().query("connection == 'human'").assign(distance=lambda f: f["distance"] + 1e-9)
    after = before.assign(distance=before["distance"] + 0.01)
    found = made_up_comparison(as_pair_table(before), {"a": as_pair_table(after)})
    assert len(found.changes()) > 0
    with pytest.raises(FitError, match="two connections"):
        found.contrasts()


def test_without_control_words_there_is_no_figure_of_them():
    before = table().query("connection in ('associated', 'different')")
    after = {"a": as_pair_table(changed(before, NONE, 5))}
    found = made_up_comparison(as_pair_table(before), after)
    figures = {each.name: each.figure for each in sections(found, bb.View())}
    assert figures["geometry"] is None


@pytest.mark.full
@pytest.mark.claim
def test_no_change_is_called_a_change_at_the_nominal_rate():
    """Tables whose population changes are zero: an 89 % interval excludes zero in about 11 %."""
    silent, covered = 0, 0
    for seed in range(60):
        before = table(seed=seed)
        after = changed(before, NONE if seed % 2 else {**NONE, "associated": 0.06}, 1000 + seed)
        pairs = join_pairs(before, after)[0]
        settings = {
            "draws": 300,
            "tune": 300,
            "chains": 2,
            "seed": shifted(seed),
            "pointwise": False,
        }
        row = bb.fit(pairs, "change", **settings).contrasts(estimand="population").iloc[0]
        if seed % 2:
            silent += row["hpdi_low"] < 0 < row["hpdi_high"]
        else:
            covered += row["hpdi_low"] < 0.06 < row["hpdi_high"]
    assert min(silent, covered) >= 23  # 89 % of 30 is 26.7; fewer than 23 has probability 0.02


# -- construction -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("group", "flags", "n_sets"),
    [
        ("Religion", ("equalized", "controls_moved"), 5),
        ("Gender", ("equalized", "controls_moved"), 7),
        ("Race", ("equalized_partly", "controls_moved"), 4),
    ],
)
def test_construction_is_found_in_the_published_tables(shared, group, flags, n_sets):
    folder = shared / PUBLISHED
    frame, _ = join_pairs(
        folder / f"{group.lower()}Reddit.csv", folder / f"debiased{group}Reddit.csv"
    )
    got = find_construction(frame)
    assert (got.flags, len(got.sets)) == (flags, n_sets)
    assert got.sets["gap_after"].max() < 1e-12
    assert got.sets["gap_before"].min() > 0.05
    if group == "Race":  # the last sets win: black/white/asian and africa/europe/asia are whole
        whole = got.sets[got.sets["complete"]]["words"].tolist()
        assert sorted(whole) == [("africa", "asia", "europe"), ("asian", "black", "white")]
        assert got.share == 0.6


def test_construction_is_seen_in_single_precision_and_not_in_soft_debiasing(tmp_path):
    words = bb.load_wordlist("religion", controls="2021")
    listed = bb.load_embedding("minilm-static", words=words.words)
    vectors = dict(zip(listed.words, listed.vectors, strict=True))
    before = bb.distance_table(vectors, words)
    bb.save_embedding(bb.hard_debias(vectors, words).embedding, tmp_path / "hard.bin")
    hard = bb.distance_table(bb.load_embedding(tmp_path / "hard.bin", words=words.words), words)
    assert find_construction(join_pairs(before, hard)[0]).flags == ("equalized", "controls_moved")
    soft = bb.distance_table(bb.soft_debias(vectors, words, lam=100).embedding, words)
    assert not find_construction(join_pairs(before, soft)[0]).found
    bare = bb.distance_table(bb.hard_debias(vectors, words, equalize=False).embedding, words)
    assert find_construction(join_pairs(before, bare)[0]).flags == ("controls_untouched",)
