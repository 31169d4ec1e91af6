"""Tables of similarities, tables of other programs, and connections that follow from classes."""

import numpy as np
import pandas as pd
import pytest
from helpers.tables import grid

from bayesbias.core.errors import InputError
from bayesbias.tables.reading import load_distances, rows_to_model

LABELS = ["protected_word", "protected_class", "attribute", "attribute_class", "connection"]


@pytest.fixture(scope="module")
def good() -> pd.DataFrame:
    return grid((2, 3), (3, 2), 2, 2, seed=4)


def same_rows(left: pd.DataFrame, right: pd.DataFrame) -> None:
    """Compare labels and distances of two tables."""
    for column in LABELS:
        assert left[column].astype(str).tolist() == right[column].astype(str).tolist()
    np.testing.assert_allclose(left["distance"], right["distance"], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "name", ["similarity", "cosine_similarity", "cos_sim", "cosine", "Cosine similarity"]
)
def test_similarities_are_read_as_one_minus_similarity(good, tmp_path, name):
    frame = good.assign(**{name: 1 - good["distance"]}).drop(columns="distance")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        table = load_distances(source)
        same_rows(table.frame, load_distances(good).frame)
        notes = [note for note in table.coverage.notes if "similarity" in note]
        assert notes == [f"distances are 1 - similarity, of the column {name}"]


def test_a_distance_beside_a_similarity_counts(good):
    table = load_distances(good.assign(similarity=0.0))
    same_rows(table.frame, load_distances(good).frame)
    assert not [note for note in table.coverage.notes if "1 - similarity" in note]


@pytest.mark.parametrize("value", [1.2, -1.2, np.nan, "near"])
def test_what_is_no_similarity_is_refused(good, value):
    frame = good.rename(columns={"distance": "cos_sim"}).assign(cos_sim=0.1)
    frame = frame.astype({"cos_sim": object})
    frame.loc[3, "cos_sim"] = value
    with pytest.raises(InputError, match="row 3, column cos_sim: expected a similarity from -1"):
        load_distances(frame)


def test_the_published_layout_may_have_similarities_alone():
    published = pd.DataFrame(
        {
            "protected_word": ["he", "he", "she", "she", "gone", "gone"],
            "word_to_compare": ["boss", "home"] * 3,
            "word_class": ["men_stereotype", "women_stereotype"] * 3,
            "connection": [
                *("associated", "different", "different"),
                *("associated", "associated", "different"),
            ],
        }
    )
    similarity = [0.4, 0.1, 0.2, 0.5, -2.0, -2.0]
    read = load_distances(published.assign(cosine_similarity=similarity))
    assert read.frame["distance"].tolist() == pytest.approx([0.6, 0.9, 0.8, 0.5])
    assert "gone" in read.coverage.missing


def test_connections_follow_from_classes(good, tmp_path):
    frame = good.drop(columns="connection")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv", frame.drop(columns="attribute_kind")):
        table = load_distances(source)
        same_rows(table.frame, load_distances(good).frame)
        assert "connections are derived: by the names of their classes" in table.coverage.notes
    same_rows(rows_to_model(frame, "distance", ()).frame, load_distances(good).frame)


def test_sets_of_other_names_are_paired_in_order_or_belong_to_no_class(good):
    renamed = good.replace({"attribute_class": {"class0": "career", "class1": "family"}})
    table = load_distances(renamed.drop(columns="connection"))
    assert table.frame["connection"].tolist() == good["connection"].tolist()
    note = "connections are derived: class0 with career and class1 with family, in their order"
    assert note in table.coverage.notes

    # A third set, whose name is that of no class, belongs to none.
    third = good[good["attribute_class"] == "class1"].assign(
        attribute=lambda rows: "s" + rows["attribute"], attribute_class="science"
    )
    both = pd.concat([good, third]).drop(columns=["connection", "attribute_kind"])
    read = load_distances(both).frame
    of_science = read["attribute_class"] == "science"
    assert set(read.loc[of_science, "connection"]) == {"shared"}
    assert read.loc[~of_science, "connection"].tolist() == good["connection"].tolist()


def test_raw_data_of_psychwordvec(good, tmp_path):
    stereotypes = good[good["attribute_kind"] == "stereotype"]
    raw = pd.DataFrame(
        {
            "Target": stereotypes["protected_class"].replace({"class0": "Men", "class1": "Women"}),
            "Attrib": stereotypes["attribute_class"].replace({"class0": "Work", "class1": "Home"}),
            "T_word": stereotypes["protected_word"],
            "A_word": stereotypes["attribute"],
            "cos_sim": 1 - stereotypes["distance"],
        }
    )
    raw.to_csv(tmp_path / "raw.csv", index=False)
    table = load_distances(tmp_path / "raw.csv")
    assert table.frame["connection"].tolist() == stereotypes["connection"].tolist()
    assert table.frame["distance"].tolist() == pytest.approx(stereotypes["distance"].tolist())
    assert any("Men with Work and Women with Home" in note for note in table.coverage.notes)


@pytest.mark.parametrize(
    ("ending", "start", "mark", "decimal"),
    [
        (".csv", "sep=,\n", ",", "."),
        (".csv", "sep=;\r\n", ";", ","),
        (".csv", "", ";", ","),
        (".csv", "", ";", "."),
        (".tsv", "", "\t", "."),
    ],
)
def test_separators_of_excel(good, tmp_path, ending, start, mark, decimal):
    path = tmp_path / f"t{ending}"
    path.write_text(start + good.to_csv(index=False, sep=mark, decimal=decimal), newline="")
    same_rows(load_distances(path).frame, load_distances(good).frame)


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_records_in_files(good, tmp_path, ending):
    path = tmp_path / f"t{ending}"
    good.to_json(path, orient="records", lines=ending == ".jsonl", double_precision=15)
    same_rows(load_distances(path).frame, load_distances(good).frame)
