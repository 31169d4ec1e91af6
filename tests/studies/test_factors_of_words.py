"""Classes of a word list that cross factors: what a list may state, the rows of a fit, limits, screen."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.core import InputError
from bayesbias.output.registry import study_of
from bayesbias.output.text import to_text
from bayesbias.wordlists.listfile import check_wordlist

CELLS = {
    "bw": {"race": "black", "gender": "woman"},
    "bm": {"race": "black", "gender": "man"},
    "ww": {"race": "white", "gender": "woman"},
    "wm": {"race": "white", "gender": "man"},
}
SETS = {"home": ["h1", "h2", "h3", "h4"], "work": ["k1", "k2", "k3", "k4"]}


def listed(shared, cells=CELLS, attributes=4):
    """Return a list of classes that cross factors, with sets of their own or shared sets."""
    classes = []
    for name, factors in cells.items():
        words = [f"{name}{k}" for k in range(4)]
        one = {"name": name, "protected": words, "factors": factors}
        if not shared:
            one["attributes"] = [f"{name}_s{k}" for k in range(attributes)]
        classes.append(one)
    more = {"attribute_sets": SETS} if shared else {"controls": {"neutral": ["n1", "n2", "n3"]}}
    return {"class": classes, **more}


def fitted(words, seed=1, **without):
    words = bb.load_wordlist(words)
    rng = np.random.default_rng(seed)
    vectors = {word: rng.normal(0, 1, 20) for word in words.words if word not in without}
    settings = {"engine": "quick", "draws": 200, "chains": 2, "seed": 1, "progress": False}
    return bb.fit(bb.distance_table(vectors, words), **settings)


@pytest.fixture(scope="module", params=[False, True], ids=["stereotypes", "shared sets"])
def fit(request):
    return fitted(listed(request.param))


def class_draws(fit, estimand, sides):
    """Return draws of the difference of two kinds or sets by class, from the means of classes."""
    means = fit.table_draws("means", level="class", estimand=estimand)
    rows = zip(means["name"].values, means[fit.spec.results.group].values, strict=True)
    at = {(str(name), str(kind)): k for k, (name, kind) in enumerate(rows)}
    values = means.to_numpy()
    first, second = sides.split(" - ")
    return {cell: values[..., at[cell, first]] - values[..., at[cell, second]] for cell in CELLS}


@pytest.mark.parametrize("estimand", ["population", "listed_words"])
def test_rows_are_the_same_combination_of_the_draws_of_cells(fit, estimand):
    contrast = str(fit.contrasts(level="main")["contrast"].iloc[0])
    cell = class_draws(fit, estimand, contrast)
    expected = {
        ("main", "woman - man"): (cell["bw"] + cell["ww"] - cell["bm"] - cell["wm"]) / 2,
        ("main", "black - white"): (cell["bw"] + cell["bm"] - cell["ww"] - cell["wm"]) / 2,
        ("simple", "woman - man (black)"): cell["bw"] - cell["bm"],
        ("simple", "black - white (man)"): cell["bm"] - cell["wm"],
        ("interaction", "(black - white): woman - man"): (cell["bw"] - cell["bm"])
        - (cell["ww"] - cell["wm"]),
    }
    for (level, name), values in expected.items():
        draws = fit.table_draws("contrasts", level=level, estimand=estimand)
        row = (draws["name"] == name) & (draws["contrast"] == contrast)
        np.testing.assert_allclose(draws[..., row].to_numpy()[..., 0], values, atol=1e-12)


def test_estimates_are_the_same_combination_of_the_means_of_classes(fit):
    whole = fit.contrasts(level="class", estimand="population")
    main = fit.contrasts(level="main", estimand="population", detail=True)
    for contrast, rows in main.groupby("contrast"):
        of_class = whole[whole["contrast"] == contrast].set_index("name")["mean"]
        if of_class.empty:  # on one set
            continue
        value = (of_class["bw"] + of_class["ww"] - of_class["bm"] - of_class["wm"]) / 2
        assert rows.set_index("name").loc["woman - man", "mean"] == pytest.approx(value)
    assert main["sd"].gt(0).all()
    assert main["name"].nunique() == 2


def test_sets_alone_are_compared_too():
    rows = fitted(listed(True)).contrasts(level="main", estimand="population")
    assert rows["contrast"].unique().tolist() == ["home - work", "home", "work"]
    assert rows["name"].unique().tolist() == ["black - white", "woman - man"]


def test_levels_are_in_the_order_of_the_list():
    order = {name: CELLS[name] for name in ("wm", "bm", "ww", "bw")}
    names = [contrast.name for contrast in fitted(listed(True, order)).crossed]
    assert names[:2] == ["white - black", "man - woman"]


def test_limits_take_the_names_of_rows(fit):
    rows = fit.contrasts(level="simple", estimand="population")
    other = rows["contrast"].unique()[1]
    rows = rows.set_index(["name", "contrast"])
    limits = (
        "woman - man < 9, man - woman (black) < 9, (black - white): woman - man > -9, "
        f"{other}: woman - man (black) < 9"
    )
    checked = bb.studies.check_requirements(fit, limits)
    assert all(check.met for check in checked)
    first = rows.index[0][1]
    assert checked[1].value == pytest.approx(-rows.loc[("woman - man (black)", first), "hpdi_low"])
    assert checked[3].value == pytest.approx(rows.loc[("woman - man (black)", other), "hpdi_high"])


def test_the_screen_has_main_effects_and_the_largest_interaction(fit):
    short = to_text(fit)
    for name in ("black - white", "woman - man", "(black - white): woman - man"):
        assert f"\n  {name} " in short
    assert "woman - man (black)" not in short
    assert "7 differences are compared" in " ".join(short.split())
    assert "woman - man (black)" in to_text(fit, detail=True)


def test_the_page_explains_the_rows(fit):
    terms = dict(study_of(fit).glossary(fit))
    assert "averaged over the other factors" in terms["black - white"]


def test_figures_show_the_rows(fit):
    ax = bb.plot_contrasts(fit, level=["main", "interaction"])
    texts = {label.get_text() for label in ax.get_yticklabels()}
    assert {"woman − man", "(black − white): woman − man"} <= texts


def test_a_saved_fit_has_the_rows(fit, tmp_path):
    fit.save(tmp_path / "fit.nc")
    again = bb.load_fit(tmp_path / "fit.nc")
    same = again.contrasts(level="interaction")["mean"]
    assert same.tolist() == fit.contrasts(level="interaction")["mean"].tolist()


def test_new_words_are_not_compared_by_factors(fit):
    with pytest.raises(InputError, match=r"estimand: expected population or listed_words for main"):
        fit.contrasts(level="main", estimand="one_new_word")
    assert not fit.contrasts(estimand="one_new_word")["level"].eq("main").any()


def test_a_class_that_the_vectors_lack_is_left_out_of_main_effects():
    cells = {**CELLS, "am": {"race": "asian", "gender": "man"}}
    fit = fitted(listed(True, cells))
    draws = fit.table_draws("contrasts", level="main", estimand="population")
    cell = class_draws(fit, "population", "home - work")
    row = (draws["name"] == "woman - man") & (draws["contrast"] == "home - work")
    expected = (cell["bw"] + cell["ww"] - cell["bm"] - cell["wm"]) / 2
    np.testing.assert_allclose(draws[..., row].to_numpy()[..., 0], expected, atol=1e-12)
    assert "No class is asian, woman" in " ".join(to_text(fit).split())


def test_no_rows_where_one_level_is_left():
    words = {f"{cell}{k}": 1 for cell in ("ww", "wm") for k in range(4)}
    fit = fitted(listed(True), **words)
    assert fit.crossed == []
    assert "main" not in fit.contrast_levels


def test_models_without_differences_of_classes_have_no_rows():
    table = bb.distance_table("minilm-static", "gender", controls="none")
    about = {**table.provenance, "wordlist": {"factors": {"a": {"man": "x", "woman": "y"}}}}
    fit = bb.fit(
        bb.PairTable(table.frame, table.coverage, about), engine="quick", draws=100, seed=1
    )
    assert fit.crossed == []  # one factor alone


def changed(**factors):
    return listed(True, {**CELLS, **factors})


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (changed(bw={}), "class 'bw', factors: expected the factors race and gender, got none"),
        (changed(bm={"race": "black"}), "class 'bm', factors: expected the factors race and gender, got race"),
        (changed(bm=CELLS["bw"]), "expected another combination than that of 'bw', got race black, gender woman"),
        (changed(bw={"race": "black"}), "expected two or three factors, got race"),
        (changed(bw={"race": "black", "gender": ""}), "factors, gender"),
        (changed(bw={"race": "black", "gender": 3}), "factors, gender"),
        (changed(bw="black"), "class 'bw', factors: expected"),
        (
            listed(True, {name: {**of, "age": "old"} for name, of in CELLS.items()}),
            "factors: expected two levels of 'age' or more, got old",
        ),
    ],
)  # fmt: skip
def test_factors_are_checked(words, problem):
    problems, _ = check_wordlist(words)
    assert len(problems) == 1
    assert problem in str(problems[0])
    assert "\n" not in str(problems[0])


def test_factors_in_toml_and_in_the_short_form(tmp_path):
    short = {one.pop("name"): one for one in listed(False)["class"]}
    assert bb.load_wordlist(short).factors["race"] == {
        "bw": "black",
        "bm": "black",
        "ww": "white",
        "wm": "white",
    }
    lines = ["schema = 1"]
    for name, one in short.items():
        race, gender = one["factors"].values()
        lines += [
            "[[class]]",
            f'name = "{name}"',
            f"protected = {one['protected']}",
            f"attributes = {one['attributes']}",
            f'factors = {{race = "{race}", gender = "{gender}"}}',
        ]
    path = tmp_path / "words.toml"
    path.write_text("\n".join(lines))
    assert bb.load_wordlist(path).factors == bb.load_wordlist(short).factors


@pytest.mark.parametrize("level", ["main", "simple", "interaction"])
def test_printed_rows_of_factors_are_found_by_name(fit, level):
    printed = fit.contrasts(level=level, estimand="population", detail=True)
    columns = ["level", "name", "contrast", "mean", "sd", "hpdi_low", "hpdi_high", "d", "verdict"]
    for _, row in printed.iterrows():
        again = fit.compare(row["name"], on=row["contrast"], estimand="population", detail=True)
        assert again.iloc[0][columns].tolist() == pytest.approx(row[columns].tolist(), abs=1e-9)


def test_levels_of_a_factor_weigh_their_classes_alike(fit):
    kinds = fit.contrasts()["contrast"].iloc[0]
    named = fit.compare("white - black", on=kinds, estimand="population").iloc[0]
    weights = {"ww": 0.5, "wm": 0.5, "bw": -0.5, "bm": -0.5}
    cells = fit.compare(weights, on=kinds, estimand="population").iloc[0]
    assert named["mean"] == pytest.approx(cells["mean"], abs=1e-12)
    assert named["level"] == "between"
    single = fit.compare("black", on=kinds, estimand="population").iloc[0]
    assert (single["level"], single["name"]) == ("class", "black")
    with pytest.raises(InputError, match=r"compare: expected .*woman.* got 'women'"):
        fit.compare("women - man", on=kinds)
