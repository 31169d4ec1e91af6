"""The command that holds intervals to pools of real words."""

from __future__ import annotations

import inspect
import itertools
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import bayesbias as bb
from bayesbias.cli import pools
from bayesbias.cli.main import cli
from bayesbias.core.errors import InputError
from bayesbias.simulation import shuffles

POOLS = """\
schema = 1
name = "names and jobs"
[[class]]
name = "women"
protected = ["mary", "anna", "emma", "laura", "julia", "sarah", "helen", "rose"]
attributes = ["nurse", "teacher", "secretary", "maid", "dancer", "nanny", "typist"]
[[class]]
name = "men"
protected = ["john", "peter", "paul", "mark", "david", "james", "robert", "thomas"]
attributes = ["engineer", "pilot", "soldier", "carpenter", "plumber", "judge", "boss"]
[controls]
neutral = ["table", "river", "stone", "cloud", "bread", "paper", "window", "rose"]
"""
ON = (
    "--embedding",
    "minilm-static",
    "--words",
    "3",
    "--attributes",
    "3,4",
    "--tables",
    "6",
    "--workers",
    "1",
)


@pytest.fixture
def file(tmp_path) -> str:
    path = tmp_path / "pools.toml"
    path.write_text(POOLS, encoding="utf-8")
    return str(path)


def run(*arguments: str):
    return CliRunner().invoke(cli, ["coverage_simulated", *arguments])


@pytest.mark.slow
def test_pools_are_drawn_from_and_said(file):
    asked = ("--pools", file, *ON, "--methods", "moments,bootstrap,pairs_t", "--seed", "4")
    done = run(*asked, "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["words"] == {"women": {"drawn": 3, "pool": 8}, "men": {"drawn": 3, "pool": 8}}
    assert said["attributes"]["men"] == {"drawn": 4, "pool": 7}
    assert said["attributes"]["neutral"] == {"drawn": 3, "pool": 7}
    assert said["left_out"] == ["rose"]  # a name, and no control for itself
    assert (said["tables"], said["seed"], said["prob"]) == (6, 4, 0.89)
    report = bb.coverage_on_pools(
        "minilm-static", file, words=3, attributes=[3, 4], tables=6, methods=["moments"], seed=4, workers=1
    )
    mine = [row for row in said["rows"] if row["method"] == "moments"]
    # JSON has 15 decimals.
    assert [row["coverage"] for row in mine] == pytest.approx(report["coverage"].tolist(), abs=1e-15)
    assert [row["width"] for row in mine] == pytest.approx(report["width"].tolist())
    text = run(*asked).stdout
    assert "6 tables drawn from names and jobs in minilm-static: words women 3 of" in text
    assert "left out, for want of a pair with every word: rose." in text
    for part in ("overall, associated - different", "class men, associated - neutral", "flawless"):
        assert part in text


@pytest.mark.slow
def test_a_table_of_pairs_takes_the_place_of_both(file, tmp_path):
    path = tmp_path / "pairs.csv"
    bb.distance_table("minilm-static", file).save(path)
    rest = ("--words", "3", "--attributes", "3", "--tables", "4", "--methods", "moments", "--workers", "1")
    of_table = run("--distances", str(path), *rest, "--json")
    assert of_table.exit_code == 0, of_table.output
    of_list = run("--pools", file, "--embedding", "minilm-static", *rest, "--json")
    values = [[row["truth"] for row in json.loads(done.stdout)["rows"]] for done in (of_table, of_list)]
    assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--pools", "{}"), "pools need vectors"),
        (("--pools", "{}", *ON, "--fit", "fit.nc"), "--fit has no meaning for pools"),
        (("--pools", "{}", *ON, "--wordlist", "gender"), "--wordlist has no meaning for pools"),
        (("--pools", "{}", *ON, "--words", "7,9"), "9 words of class men; found: 8"),
        (("--pools", "{}", *ON, "--distances", "x.csv"), "--distances stands alone"),
        (("--pools", "{}", *ON, "--methods", "momnts"), "did you mean 'moments'"),
        (("--pools", "religin", *ON), "unknown word list"),
        (("--pools", "{}", *ON, "--resume"), "nothing to resume"),
    ],
)
def test_what_has_no_meaning_is_refused(file, arguments, says):
    done = run(*(text.format(file) for text in arguments))
    assert isinstance(done.exception, InputError)
    assert says in str(done.exception)


def test_negative_controls_are_those_of_the_function(monkeypatch):
    seen = []

    def controls(*given, **settings):
        seen.append((given, settings))
        columns = ["kind", "tables", "called", "called_se", "mean", "sd", "width", "quick", "expected"]
        return pd.DataFrame([("real", 1, 1.0, np.nan, -0.1, np.nan, 0.1, 1.0, np.nan)], columns=columns)

    usual = inspect.signature(shuffles.negative_controls).parameters
    monkeypatch.setattr(shuffles, "negative_controls", controls)
    done = run("--embedding", "minilm-static", "--wordlist", "religion")
    assert done.exit_code == 0, done.output
    ((given, settings),) = seen
    assert given == ("minilm-static", "religion", usual["model"].default)
    names = ("tables", "seed", "prob", "engine", "controls")
    assert {name: settings[name] for name in names} == {name: usual[name].default for name in names}


def shuffled(called: float, expected: float) -> pd.DataFrame:
    """Return negative controls of 200 tables, of which classes are called so often."""
    rows = [
        {"kind": kind, "tables": n, "called": share, "called_se": error, "mean": 0.01, "sd": 0.03, "width": 0.095,
         "quick": 1.0, "expected": mean}
        for kind, n, share, error, mean in (
            ("real", 1, 1.0, np.nan, np.nan), ("random_vectors", 200, 0.12, 0.023, np.nan),
            ("shuffled_attributes", 200, called, 0.028, expected),
        )
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("called", "expected", "told", "silent"),
    [
        (
            0.2,
            0.012,
            "unequal numbers of stereotypes, so that the difference is not zero there: +0.012",
            "None of",
        ),
        (0.2, 0.0, "words that go together still do", "unequal"),
        (0.15, 0.012, "None of them is called clearly more often than promised.", "unequal"),
        (0.2, np.nan, "words that go together still do", "unequal"),
    ],
)
def test_more_calls_than_promised_are_told_with_the_reason(monkeypatch, called, expected, told, silent):
    monkeypatch.setattr(shuffles, "negative_controls", lambda *_, **__: shuffled(called, expected))
    command = ("--embedding", "minilm-static", "--wordlist", "religion")
    said = run(*command).stdout
    assert told.casefold() in said.casefold()
    assert silent not in said
    assert ("called in 0.20 of tables" in said) == ("read it by class" in said) == (called == 0.2)
    doubts = json.loads(run(*command, "--json").stdout)["doubts"]
    assert len(doubts) == (called == 0.2)


def test_what_shuffles_hold_on_average_is_that_of_all_of_them():
    """Three classes of 2, 3 and 2 words, and lists of 2, 2 and 3: all deals, by hand."""
    listed = {
        "a": {"protected": ["a1", "a2"], "attributes": ["x1", "x2"]},
        "b": {"protected": ["b1", "b2", "b3"], "attributes": ["y1", "y2"]},
        "c": {"protected": ["c1", "c2"], "attributes": ["z1", "z2", "z3"]},
    }
    words = bb.load_wordlist(listed, controls=None)
    rng = np.random.default_rng(3)
    protected, attributes = words.protected_words, words.attribute_words
    far = pd.DataFrame(rng.normal(1, 0.1, (7, 7)), index=protected, columns=attributes)
    class_of = {word: name for name, part in listed.items() for word in part["protected"]}
    list_of = {word: name for name, part in listed.items() for word in part["attributes"]}

    def difference(classes, lists):
        own = np.array(
            [[classes[word] == lists[attribute] for attribute in attributes] for word in protected]
        )
        return far.to_numpy()[own].mean() - far.to_numpy()[~own].mean()

    frame = pd.DataFrame(
        [
            (word, class_of[word], attribute, list_of[attribute], "stereotype", far.loc[word, attribute],
             "associated" if class_of[word] == list_of[attribute] else "different")
            for word in protected for attribute in attributes
        ],
        columns=["protected_word", "protected_class", "attribute", "attribute_class", "attribute_kind", "distance",
                 "connection"],
    )  # fmt: skip
    found = shuffles.expected_of_deals(frame, words)
    for kind, of, other in (
        ("shuffled_classes", class_of, list_of),
        ("shuffled_attributes", list_of, class_of),
    ):
        deals = [dict(zip(of, dealt, strict=True)) for dealt in set(itertools.permutations(of.values()))]
        each = [
            difference(*((deal, other) if kind == "shuffled_classes" else (other, deal))) for deal in deals
        ]
        assert found[kind] == pytest.approx(np.mean(each), abs=1e-12)
    listed["b"]["attributes"] = ["x1", "y2"]  # a stereotype of two classes
    assert shuffles.expected_of_deals(frame, bb.load_wordlist(listed, controls=None)) == {}


def test_distances_of_pools_have_digits_enough_and_alike_down_a_column(capsys):
    """A bias of a fifth of the value is none of 0.00, whatever its error."""
    rows = [
        {"method": method, "level": "overall", "name": "all", "contrast": "associated - different", "truth": 0.005, "bias": bias,
         "bias_se": 0.003, "rmse": rmse, "rmse_se": 0.002, "flawless": 0.92, "coverage": 0.9, "coverage_se": 0.02, "width": 0.08,
         "relative_width": 1.0, "relative_width_se": 0.01, "called": 0.1, "called_se": 0.02, "wrong_sign": 0.0,
         "wrong_sign_se": 0.01, "seconds": 0.02, "converged": 1.0}
        for method, bias, rmse in (("default", -0.0011, 0.0213), ("moments", 0.00004, 0.03))
    ]  # fmt: skip
    pools._print_rows(pd.DataFrame(rows))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    found = {line[0]: line[1:5] for line in lines if line and line[0] in ("default", "moments")}
    assert found == {
        "default": ["0.0050", "-0.0011", "0.0030", "0.0213"],
        "moments": ["0.0050", "0.0000", "0.0030", "0.0300"],
    }
