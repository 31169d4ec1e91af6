"""Groups of words on attribute sets that belong to none of them: lists, results against other computations, outputs."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from helpers import monte_carlo as mc
from helpers.places import ROOT
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.core.errors import FitError, InputError
from bayesbias.inference.view import verdict
from bayesbias.output import to_text
from bayesbias.studies.groups.sections import compared, everywhere
from bayesbias.studies.requirements import check_requirements
from bayesbias.wordlists.listfile import check_wordlist

GROUPS = {
    "women": ["she", "her", "woman", "girl"],
    "men": ["he", "him", "man", "boy"],
    "old": ["old", "elderly", "aged"],
}
SETS = {
    "career": ["career", "salary", "office", "boss"],
    "family": ["home", "family", "kids", "wedding", "parents"],
}
SHORT = {**{name: {"protected": words} for name, words in GROUPS.items()}, "attribute_sets": SETS}
QUERY = {
    "target_sets": list(GROUPS.values()), "attribute_sets": list(SETS.values()),
    "target_sets_names": list(GROUPS), "attribute_sets_names": list(SETS),
}  # fmt: skip
TOML = "schema = 1\nname = 'toml'\n" + "".join(
    f"[[class]]\nname = '{name}'\nprotected = {words}\n" for name, words in GROUPS.items()
)
TOML += "[attribute_sets]\n" + "".join(f"{name} = {words}\n" for name, words in SETS.items())
ROWS = "word,class,kind\n" + "".join(
    f"{word},{name},{kind}\n"
    for kind, sets in (("protected", GROUPS), ("set", SETS))
    for name, words in sets.items()
    for word in words
)


# -- lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.toml", TOML), ("query.json", json.dumps(QUERY)), ("own.json", json.dumps(SHORT)),
        ("rows.csv", ROWS), ("attributes.csv", ROWS.replace(",set\n", ",attribute\n")),
    ],
)  # fmt: skip
def test_one_list_from_every_form(name, content, tmp_path):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    words = bb.load_wordlist(path)
    assert {c.name: list(c.protected) for c in words.classes} == GROUPS
    assert not any(c.attributes for c in words.classes)
    assert {set_: list(held) for set_, held in words.attribute_sets.items()} == SETS
    assert check_wordlist(path)[0] == []


def test_a_query_of_two_by_two_has_classes_with_stereotypes():
    two = {key: values[:2] for key, values in QUERY.items()}
    words = bb.load_wordlist(two)
    assert [c.attribute_class for c in words.classes] == ["career", "family"]
    assert words.attribute_sets == {}


def test_a_query_of_three_by_three_has_no_owners():
    sets = {"attribute_sets": [*SETS.values(), ["art", "poetry"]]}
    names = {"attribute_sets_names": [*SETS, "arts"]}
    assert list(bb.load_wordlist({**QUERY, **sets, **names}).attribute_sets) == [*SETS, "arts"]


def test_sets_named_as_a_class_belong_to_it():
    names = {"attribute_sets_names": ["women", "family"]}
    words = bb.load_wordlist({**QUERY, **names})
    assert [c.attributes for c in words.classes] == [tuple(SETS["career"]), (), ()]
    assert list(words.attribute_sets) == ["family"]


def test_arguments_of_sweater():
    words = bb.load_wordlist(
        {"S_words": GROUPS["women"], "A_words": SETS["career"], "B_words": SETS["family"]}
    )
    assert [c.name for c in words.classes] == ["S"]
    assert list(words.attribute_sets) == ["A", "B"]


def test_words_of_several_sets_are_left_out_and_named():
    sets = {"career": [*SETS["career"], "home"], "family": SETS["family"]}
    words = bb.load_wordlist(
        {**SHORT, "attribute_sets": sets}, controls={"neutral": ["office", "sky"]}
    )
    assert "home" not in words.words
    assert any("home" in note for note in words.notes)
    assert words.controls.neutral == ("sky",)


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ({"women": ["a", "b"]}, "those of classes"),
        ({"neutral": ["a", "b"]}, "controls"),
        ({"career": ["boss"]}, "two words"),
        ({"career": "boss"}, "list of two words"),
        (["boss", "office"], "table"),
        ({"a": ["boss", "office"], "b": ["boss", "office"]}, "no other set holds"),
    ],
)
def test_what_is_wrong_with_a_set_is_said(sets, said):
    problems, _ = check_wordlist({**SHORT, "attribute_sets": sets})
    assert said in " ".join(map(str, problems))


def test_one_class_on_one_set_has_nothing_to_compare():
    one = {"women": {"protected": GROUPS["women"]}, "attribute_sets": {"career": SETS["career"]}}
    with pytest.raises(InputError, match="or control words"):
        bb.load_wordlist(one)


# -- the table --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    return bb.distance_table("minilm-static", SHORT)


@pytest.fixture(scope="module")
def fit(table):
    return bb.fit(table, seed=shifted(1))


def test_pairs_have_the_set_as_class_and_a_connection_of_their_own(table):
    frame = table.frame
    assert set(frame["connection"]) == set(frame["attribute_kind"]) == {"shared"}
    assert set(frame["attribute_class"]) == set(SETS)
    assert len(frame) == 11 * 9


def test_a_table_comes_back_from_its_file(table, tmp_path):
    table.save(tmp_path / "pairs.csv")
    again = bb.load_distances(tmp_path / "pairs.csv")
    pd.testing.assert_frame_equal(
        again.frame, table.frame, check_dtype=False, check_categorical=False
    )
    assert bb.fit(again, seed=1, engine="quick").spec.name == "groups"


def test_sets_beside_stereotypes():
    listed = {
        "women": {"protected": GROUPS["women"], "attributes": ["nurse", "secretary"]},
        "men": {"protected": GROUPS["men"], "attributes": ["soldier", "pilot"]},
        "attribute_sets": {"pleasant": ["love", "peace"]},
    }
    table = bb.distance_table("minilm-static", listed)
    assert set(table.frame["connection"]) == {"associated", "different", "shared"}
    quick = {"seed": 1, "engine": "quick"}
    assert bb.fit(table, "default", **quick).contrasts(level="overall")["contrast"].iloc[0] == (
        "associated - different"
    )
    both = bb.fit(table, **quick)
    assert set(both.means("class")["attribute_class"]) == {"women", "men", "pleasant"}


def test_sets_without_a_vector():
    sets = {"career": ["qqqzzz1", "qqqzzz2"], "family": SETS["family"]}
    vectors = pd.DataFrame(
        np.random.default_rng(1).normal(size=(16, 8)),
        index=[*itertools.chain(*GROUPS.values()), *SETS["family"]],
    )
    table = bb.distance_table(vectors, {**SHORT, "attribute_sets": sets})
    assert any("career" in note for note in table.coverage.notes)
    with pytest.raises(InputError, match="attributes in the vocabulary"):
        bb.distance_table(vectors, {**SHORT, "attribute_sets": {"career": sets["career"]}})


# -- results ----------------------------------------------------------------------------------------------------------


def cells(table):
    """Return mean distances by group and set, words and attributes weighing the same."""
    return table.frame.groupby(["protected_class", "attribute_class"])["distance"].mean()


def value(frame, **labels):
    for name, label in labels.items():
        frame = frame[frame[name] == label]
    assert len(frame) == 1
    return float(frame["mean"].iloc[0])


def test_listed_words_have_the_observed_differences(fit, table):
    """WEAT's quantity, computed from the cells."""
    m, listed = cells(table), fit.contrasts(estimand="listed_words", detail=True)
    frame = listed.assign(mean=listed["observed"])

    def score(group):
        return m[group, "career"] - m[group, "family"]

    both = {"contrast": "career - family"}
    assert value(frame, level="class", name="men", **both) == pytest.approx(score("men"))
    assert value(frame, level="between", name="women - men", **both) == pytest.approx(
        score("women") - score("men")
    )
    assert value(frame, level="others", name="old - others", **both) == pytest.approx(
        score("old") - (score("women") + score("men")) / 2  # groups weigh the same
    )
    on_one = {"level": "between", "name": "men - old", "contrast": "family"}
    assert value(frame, **on_one) == pytest.approx(m["men", "family"] - m["old", "family"])


def test_differences_between_groups_are_those_of_the_draws_within(fit):
    draws = fit.table_draws("contrasts", estimand="population")

    def row(level, name):
        labels = zip(*(draws[key].to_numpy() for key in ("level", "name", "contrast")), strict=True)
        return draws.isel(row=list(labels).index((level, name, "career - family"))).to_numpy()

    between = row("class", "women") - row("class", "old")
    np.testing.assert_allclose(row("between", "women - old"), between, atol=1e-12)


def test_every_pair_of_groups_and_set_has_a_row(fit):
    frame = fit.contrasts(level="between", estimand="population")
    pairs = ["women - men", "women - old", "men - old"]
    expected = set(itertools.product(pairs, ["career - family", "career", "family"]))
    assert set(zip(frame["name"], frame["contrast"], strict=True)) == expected
    assert len(fit.contrasts(level="others", estimand="population")) == 9


def test_two_new_words_share_nothing_and_one_shares_itself(fit):
    """Variances by hand: of one word its effect cancels in a difference of sets, of two it does not."""
    asked = fit.quantities(None, "one_new_word", "contrast")
    draws = fit.parameter_draws()
    added = asked.linear.new_variance(draws)
    word, by_set = draws["word_sd"] ** 2, draws["word_by_set_sd"] ** 2
    k = {name: i for i, name in enumerate(fit.ordered.coords["protected_class"])}
    two = [k["women"], k["men"]]

    def variance(*key):
        (part,) = np.flatnonzero(asked.quantity == asked.keys.index(key))
        return added[:, part]

    np.testing.assert_allclose(
        variance("class", "men", "career - family"), 2 * by_set[:, k["men"]], rtol=1e-9
    )
    np.testing.assert_allclose(
        variance("between", "women - men", "career - family"),
        2 * by_set[:, two].sum(axis=1),
        rtol=1e-9,
    )
    np.testing.assert_allclose(
        variance("between", "women - men", "career"), (word + by_set)[:, two].sum(axis=1), rtol=1e-9
    )


def test_new_pairs_add_attributes_and_noise(fit):
    pair, word = (
        fit.contrasts(estimand=e, level="between", detail=True)
        for e in ("one_new_pair", "one_new_word")
    )
    assert (pair["sd"] > word["sd"]).all()
    assert list(pair["name"]) == list(word["name"])
    new = fit.new_words()
    assert set(new["level"]) == {"overall", "class", "between"}
    assert new["opposite"].between(0, 1).all()


def test_two_groups_have_no_others(table):
    two = table.frame[table.frame["protected_class"] != "old"]
    fit = bb.fit(two, seed=1, engine="quick")
    assert "others" not in set(fit.contrasts()["level"])
    with pytest.raises(FitError):
        fit.contrasts(level="others")


def test_a_frame_without_connections(table, tmp_path):
    frame = table.frame.drop(columns=["connection", "attribute_kind"])
    fit = bb.fit(frame, "groups", seed=1, engine="quick", draws=500)
    assert bb.write_report(fit, tmp_path / "page.html").is_file()
    with pytest.raises(FitError, match="reliability"):
        fit.reliability()


@pytest.mark.slow
def test_frequency_is_shown_beside(fit):
    words = {*fit.table["protected_word"], *fit.table["attribute"]}
    counts = {word: 10.0 ** (9 - len(word)) for word in words}
    text = to_text(bb.studies.with_frequency(fit, counts))
    assert "with slopes on log frequency" in text


def test_a_comparison_needs_stereotypes(table):
    with pytest.raises(InputError, match="stereotypes"):
        bb.compare(table, table, seed=1)


@pytest.mark.claim
def test_the_posterior_is_that_of_the_plain_model(table):
    """NUTS on the model as PyMC has it, with all effects."""
    settings = {"seed": shifted(3), "chains": 2, "progress": False}
    ours = bb.fit(table, draws=2000, **settings)
    plain = bb.fit(table, sampler="pairwise", draws=1500, target_accept=0.95, **settings)
    for level in ("class", "between", "others"):
        one, two = (
            each.table_draws("contrasts", level=level, estimand="population")
            for each in (ours, plain)
        )
        for row in range(one.sizes["row"]):
            first, second = (np.asarray(each.isel(row=row)) for each in (one, two))
            assert mc.mean(first).errors_apart(mc.mean(second)) < 5
            assert mc.log_sd(first).errors_apart(mc.log_sd(second)) < 5


# -- outputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.2, -0.019, "A is closer than B"),
        (-0.2, -0.001, "To warm: inconclusive."),
        (-0.01, -0.001, "practically equally close"),
        (-0.04, -0.001, "raise --draws"),
        (-0.1, 0.1, "To warm: inconclusive."),
        (-0.01, 0.01, "practically equally close"),
    ],
)
def test_the_side_is_said_where_only_the_size_is_too_close(low, high, said):
    row = {"level": "between", "name": "A - B", "contrast": "warm", "mean": (low + high) / 2}
    row |= {"hpdi_low": low, "hpdi_high": high, "verdict": verdict(low, high, 0.02, (0.001, 0.001))}
    assert said in compared(pd.DataFrame([row]), {"A", "B"})


@pytest.mark.parametrize(
    ("level", "names", "said"),
    [
        (
            "between",
            ("A - B", "A - C", "B - C"),
            "To warm rather than cold, A is closer than B; C is closer than A; "
            "inconclusive: B against C.",
        ),
        (
            "others",
            ("A - others", "B - others", "C - others"),
            "To warm rather than cold, closer: A; farther: B; inconclusive: C.",
        ),
    ],
)
def test_what_is_clear_is_said_before_what_is_not(level, names, said):
    rows = pd.DataFrame({"name": names, "level": level, "contrast": "warm - cold"})
    rows = rows.assign(mean=(-0.2, 0.2, 0.0), verdict=("below", "above", "inconclusive"))
    assert compared(rows, {"A", "B", "C"}) == said
    unclear = compared(
        rows.assign(verdict=("negligible", *rows["verdict"][2:], "negligible")), {*"ABC"}
    )
    assert unclear.startswith("To warm rather than cold, practically equally close: A")


def test_the_first_sentence_has_sizes_and_scope():
    rows = pd.DataFrame({"name": ["A - B", "A - C"], "level": "between", "contrast": "warm - cold"})
    rows = rows.assign(mean=(-0.2, 0.1), hpdi_low=(-0.3, 0.05), hpdi_high=(-0.1, 0.15))
    rows = rows.assign(verdict=["below", "above"], rope=0.02)
    start = "To warm rather than cold (new words, beyond ROPE ±0.02)"
    assert compared(rows, {*"ABC"}, sizes=True) == (
        f"{start}, A is closer than B by 0.200 [0.100, 0.300]; "
        "C is closer than A by 0.100 [0.050, 0.150]."
    )
    others = rows.assign(level="others", name=["A - others", "B - others"])
    assert compared(others, {*"ABC"}, sizes=True) == (
        f"{start}, closer than the other groups: A by 0.200 [0.100, 0.300]; "
        "farther: B by 0.100 [0.050, 0.150]."
    )
    unsure = rows.assign(verdict=["below", "above, size uncertain"])
    said = compared(unsure, {*"ABC"}, sizes=True)
    assert "(new words, beyond ROPE ±0.02, unless noted)" in said
    assert said.endswith("0.150] (perhaps less than the ROPE).")
    one = rows.head(1).assign(hpdi_high=0.1, verdict="inconclusive")
    said = compared(one, {*"AB"}, sizes=True)
    start = "To warm rather than cold (new words, ROPE ±0.02)"
    assert said == f"{start}: inconclusive (A - B: -0.200 [-0.300, +0.100])."


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        (("below", "below, size uncertain"), "A is closer to both sets than B: warm alone"),
        (("above", "above"), "B is closer to both sets than A: warm alone"),
        (("below", "above"), ""),
        (("below", "inconclusive"), ""),
        (("negligible", "negligible"), ""),
    ],
)
def test_a_group_that_is_closer_to_every_set_is_a_warning(verdicts, said):
    rows = pd.DataFrame({"contrast": ["warm", "able"], "name": "A - B", "verdict": verdicts})
    found = everywhere(rows, ["warm", "able"], {*"AB"})
    assert len(found) == bool(said)
    assert all(text.startswith(said) and "warm - able" in text for text in found)
    assert everywhere(rows.head(1), ["warm"], {*"AB"}) == []
    others = everywhere(rows.assign(name="A - others"), ["warm", "able"], {*"AB"})
    way = "closer to" if said.startswith("A") else "farther from"
    start = f"A is {way} both sets than the other groups: warm alone"
    assert [text.startswith(start) for text in others] == [True] * bool(said)


def test_groups_that_are_closer_than_the_same_others_are_named_together():
    rows = pd.DataFrame(
        {
            "contrast": ["warm", "able"] * 2,
            "name": ["A - C", "A - C", "B - C", "B - C"],
            "verdict": "below",
        }
    )
    (warning,) = everywhere(rows, ["warm", "able"], {*"ABC"})
    assert warning.startswith("A and B are closer to both sets than C: warm alone")
    others = rows.assign(name=["A - others"] * 2 + ["B - others"] * 2, verdict="above")
    (warning,) = everywhere(others, ["warm", "able"], {*"ABC"})
    assert warning.startswith("A and B are farther from both sets than the other groups: warm")


def test_limits_of_one_row(fit):
    row = fit.contrasts(level="between", estimand="population").iloc[0]
    (check,) = check_requirements(fit, f"{row['contrast']} ({row['name']})<9")
    assert (check.met, check.value) == (True, row["hpdi_high"])
    with pytest.raises(InputError, match="write") as said:
        check_requirements(fit, f"{row['name']}<9")
    assert f"({row['name']})" in str(said.value)


def test_figure_has_a_row_for_each_pair_of_groups(fit):
    from matplotlib.figure import Figure

    ax = bb.plot_contrasts(fit, level="between", ax=Figure().subplots())
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[:4] == ["career − family", "women − men", "women − old", "men − old"]


def test_scores_of_a_list_without_owners():
    two = {name: SHORT[name] for name in ("women", "men")} | {"attribute_sets": SETS}
    owned = {"women": {**SHORT["women"], "attributes": SETS["career"]}}
    owned["men"] = {**SHORT["men"], "attributes": SETS["family"]}
    for score in (bb.weat, bb.scores.ect, bb.scores.rnsb, bb.relative_norm_distance):
        seed = {} if score is bb.relative_norm_distance else {"seed": 1}
        if score in (bb.scores.ect, bb.scores.rnsb):
            seed["resamples"] = 19
        assert score("minilm-static", two, **seed).value == pytest.approx(
            score("minilm-static", owned, **seed).value
        )


def test_rnsb_judges_all_groups():
    score = bb.scores.rnsb("minilm-static", SHORT, resamples=99, seed=1)
    assert score.classes == tuple(GROUPS)
    assert score.largest == pytest.approx(np.log(11))
    shares = score.pairs()["share"]
    assert score.value == pytest.approx((shares * np.log(shares * len(shares))).sum())


def test_coverage_on_pools_knows_groups(table):
    methods = ["groups", "averages_t", "moments"]
    report = bb.coverage_on_pools(
        table, words=2, attributes=3, tables=2, methods=methods, workers=1
    )
    keys = set(zip(report["level"], report["name"], report["contrast"], strict=True))
    assert ("others", "old - others", "career - family") in keys
    assert len(keys) == 1 + 3 + 9 + 9
    m, row = (
        cells(table),
        report[(report["name"] == "women - men") & (report["contrast"] == "career")],
    )
    assert row["truth"].to_numpy() == pytest.approx(m["women", "career"] - m["men", "career"])


def test_case_of_three_groups_and_two_scales(tmp_path):
    from click.testing import CliRunner

    from bayesbias.cli.main import cli

    case = ROOT.parent / "shared/data/cases/10_three_groups_two_scales"
    if not case.is_dir():
        pytest.skip("needs the shared data")
    files = ["--embedding", str(case / "vectors.txt"), "--wordlist", str(case / "wefe_rnsb.json")]
    done = CliRunner().invoke(cli, ["fit", *files, "--seed", "1"])
    assert done.exit_code == 0
    assert "B is closer than A" in " ".join(done.output.split())
    assert CliRunner().invoke(cli, ["wordlist", "check", files[3]]).exit_code == 0
    done = CliRunner().invoke(cli, ["score", *files, "--seed", "1", "--json"])
    assert [score["name"] for score in json.loads(done.output)["scores"]] == ["mac", "rnsb"]
