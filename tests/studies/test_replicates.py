"""Several sets of vectors: pooled estimates, resampled contexts, and what is said of them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.changes import NONE, changed, table
from scipy import stats

import bayesbias as bb
from bayesbias.cli.main import cli
from bayesbias.studies.replicates.pooling import pool_rows

SETTINGS = {"draws": 500, "chains": 2, "seed": 1, "engine": "quick", "progress": False}
KEYS = ["level", "name", "contrast", "estimand"]


def sets(n: int = 5) -> dict:
    """Tables of one truth, with effects of words and attributes that differ between the sets."""
    return {f"r{k}": changed(table(), NONE, k) for k in range(1, n + 1)}


@pytest.fixture(scope="module")
def pooled():
    return bb.fit_replicates(sets(), **SETTINGS)


def test_every_row_is_pooled_by_rubins_rules(pooled):
    frames = [
        fit.contrasts(0.8, 0.02, detail=True).set_index(KEYS) for fit in pooled.results.values()
    ]
    found = pooled.contrasts(0.8, 0.02, detail=True).set_index(KEYS)
    assert len(found) == len(frames[0])
    means, sds = (
        np.stack([frame.loc[found.index, name] for frame in frames]) for name in ("mean", "sd")
    )
    mean, within = means.sum(axis=0) / 5, (sds**2).sum(axis=0) / 5
    between = ((means - mean) ** 2).sum(axis=0) / 4
    total = within + 1.2 * between
    df = 4 * (total / (1.2 * between)) ** 2
    expected = stats.t(df, loc=mean, scale=np.sqrt(total))
    low, high = expected.interval(0.8)
    columns = {
        "mean": mean,
        "hpdi_low": low,
        "hpdi_high": high,
        "p_below_zero": expected.cdf(0),
        "p_in_rope": expected.cdf(0.02) - expected.cdf(-0.02),
        "df": df,
        "sd_within": np.sqrt(within),
        "sd_between": np.sqrt(between),
        "share_between": 1.2 * between / total,
    }
    for name, values in columns.items():
        assert found[name].to_numpy() == pytest.approx(values), name


def test_of_seeds_the_target_is_their_mean():
    frames = [pd.DataFrame({"mean": [mean], "sd": [0.1]}) for mean in (0.0, 0.3, 0.6)]
    seeds, resamples = (pool_rows(frames, 0.89, kind).iloc[0] for kind in ("seeds", "resamples"))
    assert seeds["sd"] ** 2 == pytest.approx(0.01 + 0.09 / 3)
    assert resamples["sd"] ** 2 == pytest.approx(0.01 + 0.09 * 4 / 3)
    assert seeds["df"] == pytest.approx(2 * (0.04 / 0.03) ** 2)


def test_rows_that_do_not_differ_have_normal_or_no_spread():
    frames = [pd.DataFrame({"mean": [0.5, 1.0], "sd": [0.1, 0.0], "rope": 0.02})] * 3
    found = pool_rows(frames, 0.89)
    assert found["hpdi_low"].tolist() == pytest.approx([stats.norm(0.5, 0.1).ppf(0.055), 1.0])
    assert found["verdict"].tolist() == ["above", "above"]
    assert found["share_between"].tolist() == [0, 0]


def test_a_pooled_interval_covers_the_next_set():
    rng = np.random.default_rng(3)
    within, between, tables = 0.5, 1.0, 4000
    means = rng.normal(0, between, (6, tables))  # of five sets and the next
    frames = [pd.DataFrame({"mean": own, "sd": within}) for own in means[:5]]
    found = pool_rows(frames, 0.89)
    value = means[5] + rng.normal(0, within, tables)
    covered = (found["hpdi_low"] < value) & (value < found["hpdi_high"])
    assert covered.mean() == pytest.approx(0.89, abs=0.02)
    alone = abs(value - means[0]) < stats.norm.ppf(0.945) * within
    assert alone.mean() < 0.5


def test_monte_carlo_error_of_the_ends():
    rng = np.random.default_rng(5)
    truth = [pd.DataFrame({"mean": [m], "sd": [s]}) for m, s in ((0, 1), (1, 1.2), (3, 0.8))]
    errors = {"mcse_mean": 0.02, "mcse_sd": 0.03}
    given = pool_rows([frame.assign(**errors) for frame in truth], 0.89).iloc[0]
    drawn = [
        pool_rows(
            [frame + rng.normal(0, list(errors.values()), (1, 2)) for frame in truth], 0.89
        ).iloc[0]
        for _ in range(200)
    ]
    assert given["mcse_mean"] == pytest.approx(np.std([d["mean"] for d in drawn]), rel=0.2)
    assert given["mcse_sd"] == pytest.approx(np.std([d["sd"] for d in drawn]), rel=0.2)


@pytest.mark.full
@pytest.mark.slow
def test_the_full_text_is_the_center(pooled):
    tables = sets(2)
    few = bb.pool_replicates({name: pooled.results[name] for name in tables})
    full = changed(table(), {**NONE, "associated": -0.1}, 9)
    found = bb.fit_replicates(tables, center=full, **SETTINGS)
    own = bb.fit(full, **SETTINGS).contrasts(detail=True)
    pd.testing.assert_series_equal(found.contrasts(detail=True)["mean"], own["mean"])
    pd.testing.assert_series_equal(
        found.contrasts(detail=True)["sd"], few.contrasts(detail=True)["sd"]
    )
    said = bb.interpret(found)
    assert any("to zero than" in note for note in said.notes)
    assert set(found.by_set()["set"]) == {*tables, "center"}


def test_means_and_words_are_pooled_too(pooled):
    fits = list(pooled.results.values())
    for name, own in (
        ("means", [each.means("class") for each in fits]),
        ("words", [each.words() for each in fits]),
    ):
        arguments = {"level": "class"} if name == "means" else {}
        found = pooled.pooled(name, **arguments)
        assert found["mean"].tolist() == pytest.approx(
            np.mean([each["mean"] for each in own], axis=0).tolist()
        )


def test_only_words_of_all_sets_are_fitted():
    tables = sets(2)
    tables["r2"] = tables["r2"].query("protected_word != 'x-word0'").iloc[::-1]
    found = bb.fit_replicates(tables, **SETTINGS)
    for each in found.results.values():
        assert "x-word0" not in set(each.table["protected_word"])
    assert any("x-word0" in note for note in bb.interpret(found).notes)


@pytest.mark.slow
def test_changes_between_corpora_are_pooled():
    results = []
    for k in (1, 2):
        second = changed(table(), {**NONE, "associated": -0.05}, k)
        third = changed(second, {**NONE, "associated": -0.05}, 10 + k)
        corpora = {"1930s": table(), "1950s": second, "1980s": third}
        settings = {**SETTINGS, "draws": 1000}
        results.append(bb.compare(corpora, kind="corpora", ordered=True, **settings))
    found = bb.pool_replicates(results)
    row = found.contrasts(rope=0.02, level="overall", estimand="population", detail=True).iloc[0]
    own = [
        each.contrasts(level="overall", estimand="population", detail=True).iloc[0]
        for each in results
    ]
    assert row["change"] == "1930s to 1980s, per step"
    assert row["mean"] == pytest.approx(np.mean([each["mean"] for each in own]))
    assert row["rope"] == 0.01  # for two steps 0.02
    said = bb.interpret(found)
    assert "moved by" in said.headline
    assert "decreased" in said.headline
    assert "1930s to 1980s" in bb.output.to_text(found)
    assert len(bb.plots.plot_replicates(found).get_yticklabels()) > 4


@pytest.mark.slow
def test_sets_with_different_words_are_a_warning(pooled):
    first, second, *_ = pooled.results.values()
    other = bb.fit(sets(1)["r1"].query("attribute != 'y0'"), **SETTINGS)
    mixed = bb.pool_replicates([first, second, other])
    assert any("different words" in text and "y0" in text for text in bb.interpret(mixed).warnings)
    said = bb.interpret(pooled)
    assert not any("different words" in text for text in said.warnings)


# -- contexts ---------------------------------------------------------------------------------------


def contexts_of_one_word(k: int) -> tuple[list[str], np.ndarray]:
    return ["he"] * k, np.random.default_rng(2).normal(size=(k, 3))


@pytest.mark.parametrize("k", [2, 3, 20])
def test_resampled_means_vary_as_the_mean_does(k):
    words, vectors = contexts_of_one_word(k)
    drawn = bb.resample_contexts((words, vectors), n=4000, seed=1)
    values = np.array([each["he"] for each in drawn.values()])
    error = vectors.std(axis=0, ddof=1) / np.sqrt(k)
    assert values.std(axis=0) == pytest.approx(error, rel=0.06)
    assert abs(values.mean(axis=0) - vectors.mean(axis=0)).max() < 5 * error.max() / np.sqrt(4000)


def test_contexts_of_a_mapping_or_with_one_vector():
    words, vectors = contexts_of_one_word(3)
    table = bb.resample_contexts((words, vectors), n=2, seed=7)
    same = bb.resample_contexts({"he": vectors, "she": np.ones(3)}, n=2, seed=7)
    assert same["resample 2"]["she"].tolist() == [1, 1, 1]
    np.testing.assert_allclose(table["resample 1"]["he"], same["resample 1"]["he"])
    with pytest.raises(bb.InputError, match="several vectors"):
        bb.resample_contexts({"he": vectors[0]}, n=2)


def test_the_interval_of_contexts_does_not_shrink_with_draws():
    rng = np.random.default_rng(4)
    words = bb.load_wordlist("weat7", controls="none")
    vectors = bb.load_embedding("minilm-static", words.words)
    contexts = {
        word: vectors[word] + rng.normal(0, 0.3, (4, len(vectors[word]))) for word in vectors.words
    }
    sds = []
    for n in (3, 9):
        drawn = bb.resample_contexts(contexts, n, seed=1)
        found = bb.fit_replicates(drawn, words, **SETTINGS)
        sds.append(
            found.contrasts(level="overall", estimand="listed_words", detail=True).iloc[0]["sd"]
        )
    assert sds[1] > 0.7 * sds[0]


@pytest.mark.claim
def test_contexts_of_the_case_are_resampled(shared, monkeypatch):
    monkeypatch.chdir(shared / "data" / "cases" / "12_contexts")
    arguments = ["fit", "--embedding", "contexts.csv", "--wordlist", "list.toml", "--seed", "1"]
    arguments += ["--engine", "quick", "--json"]
    plain, done = (
        CliRunner().invoke(cli, [*arguments, *more], catch_exceptions=False)
        for more in (("--contexts", "0"), ())
    )
    alone, found = json.loads(plain.stdout), json.loads(done.stdout)
    assert any("--contexts" in note for note in alone["interpretation"]["notes"])
    assert found["kind"] == "replicates"
    assert any("10 times" in note for note in found["interpretation"]["notes"])
    first = {row["estimand"]: row for row in found["contrasts"] if row["level"] == "overall"}
    own = next(row for row in alone["contrasts"] if row["estimand"] == "listed_words")
    rows = [row for row in found["contrasts"] if row["estimand"] == "listed_words"]
    assert rows[0]["mean"] == pytest.approx(own["mean"])  # of all contexts
    assert rows[0]["sd"] > own["sd"]
    assert first["listed_words"]["share_between"] > 0.1
    with pytest.raises(bb.InputError, match="--contexts"):
        bb.load_embedding("contexts.csv", on_bad_lines="error")


# -- the command, and errors ------------------------------------------------------------------------


def test_fit_with_replicates(tmp_path):
    words = bb.load_wordlist("weat7", controls="none").words
    vectors = bb.load_embedding("minilm-static", words)
    rng = np.random.default_rng(6)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        moved = vectors.vectors + rng.normal(0, 0.1, vectors.vectors.shape)
        bb.save_embedding(bb.load_embedding((words, moved)), tmp_path / name / "v.vec")
    files = [str(tmp_path / name / "v.vec") for name in ("a", "b")]
    arguments = ["fit", "--embedding", files[0], "--replicate", files[1], "--wordlist", "weat7"]
    arguments += ["--controls", "none", "--engine", "quick", "--seed", "1", "--json"]
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    found = json.loads(done.stdout)
    assert {row["set"] for row in found["sets"]} == set(files)  # two files of one name
    assert found["replicates"] == "resamples"
    more = ["--center", "minilm-static"]
    done = CliRunner().invoke(cli, [*arguments, *more], catch_exceptions=False)
    centered = json.loads(done.stdout)
    assert centered["contrasts"][0]["mean"] != found["contrasts"][0]["mean"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--center", "c.vec"], "--replicate"),
        (["--replicate", "a.vec"], "different files"),
        (["--replicate", "b.vec", "--slope", "n"], "--slope"),
        (["--contexts", "--replicate", "b.vec"], "--replicate"),
        (["--replicate", "b.vec", "--compare-models"], "--compare-models"),
    ],
)
def test_options_that_do_not_belong_together(arguments, said):
    given = ["fit", "--embedding", "a.vec", "--wordlist", "religion", *arguments]
    done = CliRunner().invoke(cli, given)
    assert isinstance(done.exception, bb.InputError)
    assert said in str(done.exception)


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ({"one": table()}, {}, "two or more"),
        ({"one": table(), "center": table(1)}, {}, "center"),
        ({"one": table(), "two": table()}, {}, "twice"),
        (sets(2), {"kind": "seeds", "center": table(1)}, "center"),
        (sets(2), {"kind": "draws"}, "kind"),
    ],
)
def test_sets_that_cannot_be_pooled(given, options, said):
    with pytest.raises(bb.InputError, match=said):
        bb.fit_replicates(given, **options, **SETTINGS)


def test_results_that_cannot_be_pooled(pooled):
    (first, *_), analysis = (
        pooled.results.values(),
        bb.sentiment_analysis(bb.list_predictions("m1")),
    )
    for results, said in (([first], "two or more"), ([first, analysis], "comparison of corpora")):
        with pytest.raises(bb.InputError, match=said):
            bb.pool_replicates(results)
