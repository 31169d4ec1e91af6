"""Text and tables for a paper."""

import itertools

import pandas as pd
import pytest

import bayesbias as bb
from output.results import MAKERS


@pytest.fixture(scope="module")
def fit():
    table = bb.distance_table("minilm-static", "gender", controls="2021")
    return bb.fit(table, seed=7, engine="quick", draws=500, chains=2, progress=False)


def test_methods_name_data_priors_sampler_seed_and_versions(fit):
    text = bb.methods_paragraph(fit, view=bb.View(prob=0.95, rope=0.03))
    for part in (
        f"cosine distance of {len(fit.table):,} pairs",
        '"gender" in minilm-static', "14 protected words, 25 stereotypes, 269 controls", "by attribute-set means",
        "intervals for new words and attributes of the same kind", "default (class", "Normal(1, 0.2) for intercept",
        "Exponential(10)", "seed 7", "95%", "±0.03", f"bayesbias {bb.__version__}", "Dobrzeniecka",
        "attributes (associated pairs only)", "associated - different is the mean cosine distance",
    ):  # fmt: skip
        assert part in text


def test_methods_count_missing_words():
    from bayesbias.output.paper import _missing
    from bayesbias.tables.coverage import GroupCoverage

    women, men = GroupCoverage(2, ("eve",)).as_dict(), GroupCoverage(3).as_dict()
    home, neutral = GroupCoverage(3, ("pan",)).as_dict(), GroupCoverage(4, ("hut", "den")).as_dict()
    table = pd.DataFrame(
        itertools.product(["ann", "bob", "tom", "tim"], ["cook", "wed", "oak", "ash"]),
        columns=["protected_word", "attribute"],
    )
    table["connection"] = (
        table["attribute"].map({"cook": "associated", "wed": "associated"}).fillna("neutral")
    )
    coverage = {
        "protected": {"women": women, "men": men},
        "attributes": {"home": home, "work": home, "neutral": neutral},  # a word of two sets
    }
    text = _missing(coverage, table)
    assert "1 of 5 listed protected words, 1 of 3 listed stereotypes and 2 of 4 listed" in text
    coverage["protected"]["dogs"] = GroupCoverage(2, left_out=True).as_dict()
    assert "1 of 7 listed protected words" in _missing(coverage, table)
    assert _missing({"protected": {"men": men}}, table) == ""


def test_the_model_of_changes_names_no_cause():
    assert "debias" not in bb.load_model("change").description


def test_methods_of_a_run_and_of_its_folder(fit, tmp_path):
    bb.save_run(fit, tmp_path / "run", view=bb.View(rope=0.03), figures=())
    text = bb.methods_paragraph(bb.load_run(tmp_path / "run"))
    assert "±0.03" in text
    assert bb.methods_paragraph(tmp_path / "run") == text
    assert bb.methods_paragraph(str(tmp_path / "run"), view=bb.View(rope=0.04)) != text


@pytest.mark.slow
def test_a_run_is_interpreted_as_it_was_shown(fit, tmp_path):
    bb.save_run(fit, tmp_path / "run", view=bb.View(rope=0.03), figures=())
    said = bb.interpret(tmp_path / "run")
    assert said.headline == bb.interpret(fit, rope=0.03).headline
    assert "0.03" in said.headline
    assert "0.04" in bb.interpret(str(tmp_path / "run"), rope=0.04).headline
    with pytest.raises(bb.InputError, match="folder with run"):
        bb.interpret(str(tmp_path))


def test_the_estimand_is_that_of_the_model():
    from bayesbias.output.paper import _scope

    said = {name: _scope(bb.load_model(name)) for name in ("hierarchical", "additive", "wefat")}
    assert said == {
        "hierarchical": " for new words of the same kind",
        "additive": " for the listed words",
        "wefat": "",
    }


def test_methods_need_a_fit():
    with pytest.raises(bb.InputError, match="fit"):
        bb.methods_paragraph(MAKERS["sentiment"]())


def test_a_latex_table_has_the_numbers_of_the_estimates(fit):
    lines = bb.output.latex_table(fit, "contrasts").splitlines()
    frame = fit.contrasts(detail=True)
    assert len(lines) == len(frame) + 6 + 1
    assert lines.pop(0).startswith("% All differences")
    assert lines[0] == r"\begin{tabular}{llllrrrrr}"
    row = frame.iloc[0]
    assert lines[4].startswith(f"overall & all & {row['contrast']} & new words & ")
    assert f"{abs(row['mean']):.3f}" in lines[4]
    assert r"89\% HPDI" in lines[2]
    with pytest.raises(bb.InputError, match="contrasts"):
        bb.output.latex_table(fit, "contrast")
    assert bb.output.latex_table(frame).splitlines() == lines
    with pytest.raises(bb.InputError, match="prob"):
        bb.output.latex_table(frame[["mean"]])


def test_a_latex_table_of_named_comparisons_has_words(fit):
    classes, words = list(fit.design.shown["protected_class"]), fit.design.shown["protected_word"]
    rows = pd.concat(
        [
            fit.compare(f"{classes[0]} - {classes[1]}", on="human"),
            fit.compare(f"{words[0]} - {words[1]}", on="human"),
        ]
    )
    rows.attrs["prob"] = 0.89
    written = bb.output.latex_table(rows).splitlines()[4:8]
    labels = [[cell.strip() for cell in line.split("&")] for line in written]
    assert [(cells[0], cells[3]) for cells in labels] == [
        ("two groups", "new words"),
        ("two groups", "listed words"),
        ("word", "new attributes"),
        ("word", "listed words"),
    ]


def test_special_characters_are_escaped():
    from bayesbias.output.paper import _latex

    assert _latex("  a_b & 50%", False) == r"\quad a\_b \& 50\%"
