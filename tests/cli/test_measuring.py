"""`bayesbias measure`: the scores from the command line."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from helpers.seeds import shifted
from helpers.vectors import LIST, vectors

from bayesbias import scores
from bayesbias.cli.main import cli
from bayesbias.core.errors import InputError
from bayesbias.scores.association import DENOMINATORS, weat
from bayesbias.scores.averages import CONVENTIONS, mac
from bayesbias.scores.projections import direct_bias
from bayesbias.tables.distances import distance_table


def run(*args: object) -> str:
    result = CliRunner().invoke(cli, [str(a) for a in args], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.slow
def test_measure_prints_one_object() -> None:
    printed = json.loads(run("measure", "--embedding", "minilm-static", "--wordlist", "weat7", "--json"))
    assert list(printed) == ["schema", "measures", "findings", "provenance"]
    said, made, printed = printed["findings"], printed["provenance"], printed["measures"]
    assert list(said) == list(made["settings"]) == list(printed)
    assert "X math (8), Y arts (8), A male_terms (8), B female_terms (8)" in said["weat"]
    assert {"bayesbias", "python"} < set(made["versions"])
    assert all(
        lines[-2].startswith("known: ") and lines[-1].startswith("source: ") for lines in said.values()
    )
    assert len(made["table"]["wordlist"]["sha256"]) == 64
    assert made["settings"]["ect"] == {"prob": 0.89, "resamples": 999, "seed": None}
    assert list(printed) == ["weat", "sc_weat", "mac", "relative_norm_distance", "ect", "rnsb"]
    result = weat("minilm-static", "weat7")
    keys = ["statistic", "effect_size", "p_value", "p_lower", "p_upper", "p_method", "sides", "n_x", "n_y"]
    assert {k: printed["weat"][k] for k in keys} == {k: getattr(result, k) for k in keys}
    assert printed["weat"]["dropped"] == []
    assert printed["mac"]["mac"] == mac("minilm-static", "weat7").mac
    assert (printed["mac"]["t"], printed["mac"]["df"], printed["mac"]["p_value"]) == (None, None, None)


def test_measure_passes_its_options_on() -> None:
    printed = json.loads(
        run(
            "measure", "--embedding", "minilm-static", "--wordlist", "gender", "--measure", "direct_bias,weat",
            "--p", "montecarlo", "--samples", 500, "--seed", shifted(7), "--sides", 2, "--denominator", "pooled",
            "--strictness", 2, "--classes", "woman,man", "--json",
        )
    )["measures"]  # fmt: skip
    expected = weat(
        "minilm-static", "gender", p="montecarlo", samples=500, seed=shifted(7), sides=2, denominator="pooled",
        classes=("woman", "man"),
    )  # fmt: skip
    assert list(printed) == ["direct_bias", "weat"]
    assert printed["weat"]["p_value"] == expected.p_value
    assert printed["weat"]["effect_size"] == expected.effect_size
    assert printed["weat"]["permutation"]["seed"] == shifted(7)
    assert printed["direct_bias"]["value"] == direct_bias("minilm-static", "gender", strictness=2).value
    text = run("measure", "--embedding", "minilm-static", "--wordlist", "gender", "--resamples", 99)
    assert f"effect size {weat('minilm-static', 'gender').effect_size:.4f}" in text
    assert "direction of 7 pairs, towards he" in text


@pytest.mark.slow
def test_measure_passes_the_options_of_a_bootstrap_on() -> None:
    names = ("ripa", "ect", "rnsb", "sc_weat")
    printed = json.loads(
        run(
            "measure", "--embedding", "minilm-static", "--wordlist", "gender", "--measure", ",".join(names),
            "--resamples", 99, "--seed", shifted(3), "--prob", 0.8, "--shrinkage", 2, "--json",
        )
    )["measures"]  # fmt: skip
    given = {"resamples": 99, "seed": shifted(3), "prob": 0.8}
    for name in names:
        options = {"shrinkage": 2} if name == "rnsb" else {}
        options |= {"seed": shifted(3), "prob": 0.8} if name == "sc_weat" else given
        expected = getattr(scores, name)("minilm-static", "gender", **options)
        assert printed[name] == json.loads(json.dumps(expected.as_json()))


@pytest.mark.slow
def test_measure_takes_the_evaluation_sets_of_the_race_table(shared) -> None:
    folder = shared / "data" / "bayesbias_distances" / "reddit_pairs_2021"
    args = [
        "measure",
        "--distances",
        folder / "raceReddit.csv",
        "--against",
        folder / "debiasedRaceReddit.csv",
    ]
    printed = json.loads(run(*args, "--json"))["measures"]
    assert list(printed) == ["mac"]  # three classes, and no vectors
    assert (round(printed["mac"]["mac"], 6), round(printed["mac"]["mac_against"], 6)) == (0.892089, 0.924707)
    every = json.loads(run(*args, "--mac-words", "all", "--json"))["measures"]
    assert every["mac"]["n_words"] == 10
    assert every["mac"]["mac"] == mac(folder / "raceReddit.csv").mac


@pytest.mark.slow
def test_measure_says_what_it_leaves_out_and_why(tmp_path) -> None:
    def said(*args: object) -> list[str]:
        result = CliRunner().invoke(cli, ["measure", *map(str, args)], catch_exceptions=False)
        assert result.exit_code == 0
        return [line for line in result.stderr.splitlines() if "left out: " in line]

    vectors_ = "it needs vectors (--embedding E --wordlist W), not distances"
    two, three = tmp_path / "two.csv", tmp_path / "three.csv"
    table = distance_table("minilm-static", "weat7")
    table.save(two)
    of_vectors = ("direct_bias", "relative_norm_distance", "ripa", "ect", "rnsb")
    assert said("--distances", two) == [f"note: {name} left out: {vectors_}" for name in of_vectors]
    assert said("--embedding", "minilm-static", "--wordlist", "weat7", "--resamples", 99) == [
        f"note: {name} left out: the list has no definitional sets" for name in ("direct_bias", "ripa")
    ]
    assert said("--embedding", "minilm-static", "--wordlist", "weat7", "--measure", "mac") == []
    distance_table("minilm-static", "religion").save(three)
    weat_note = said("--distances", three)[0]
    assert weat_note.startswith("note: weat left out: it compares two protected classes, and there are 3 (")
    assert weat_note.endswith("); name two with --classes X,Y")
    names = list(dict.fromkeys(distance_table("minilm-static", "religion").frame["protected_class"]))
    two_of_three = ["--distances", three, "--classes", ",".join(names[:2])]
    assert len(said(*two_of_three)) == len(of_vectors)
    result = CliRunner().invoke(cli, ["measure", *map(str, two_of_three)], catch_exceptions=False)
    assert "note: mac takes all 3 classes, whatever --classes says\n" in result.stderr
    assert (
        "  a positive score or difference: nearer to A; p is that words are nearer to their own"
        in result.stdout
    )
    with pytest.raises(InputError, match=r"weat compares two protected classes; .*--classes X,Y"):
        run("measure", "--distances", three, "--measure", "weat")


def test_measure_refuses_what_it_cannot_do(tmp_path) -> None:
    path = tmp_path / "pairs.csv"
    distance_table(vectors(), LIST).save(path)
    for args, said in [
        (["--distances", path, "--measure", "direct_bias"], "needs vectors"),
        (["--distances", path, "--wordlist", "gender"], "stands alone"),
        (["--distances", path, "--measure", "waet"], "did you mean 'weat'"),
        (["--distances", path, "--measure", "weat", "--against", path], "--against is for mac"),
        (["--wordlist", "gender"], "nothing to measure"),
        (["--distances", path, "--classes", "x,z"], "unknown protected class"),
    ]:
        with pytest.raises(InputError, match=said):
            run("measure", *args)
    assert "the differences of the averages do not vary" in run(
        "measure", "--distances", path, "--against", path
    )


def test_choices_of_the_command_are_those_of_the_scores() -> None:
    from typing import get_args

    from bayesbias.scores.measures import MEASURES
    from bayesbias.scores.permutation import Method

    settings = {setting.name: setting for row in MEASURES.values() for setting in row.settings}
    assert len(settings) == len({setting for row in MEASURES.values() for setting in row.settings})
    assert settings["denominator"].choices == DENOMINATORS
    assert settings["convention"].choices == CONVENTIONS
    assert set(settings["p"].choices) == set(get_args(Method))


def test_a_new_score_is_one_file_and_one_row(tmp_path, monkeypatch) -> None:
    import importlib

    from bayesbias.cli import measuring
    from bayesbias.core.settings import Setting
    from bayesbias.scores import measures

    # A file beside the others: the share of pairs nearer than a threshold.
    (tmp_path / "nearness.py").write_text(NEARNESS)
    monkeypatch.setattr(
        "bayesbias.scores.__path__", [*importlib.import_module("bayesbias.scores").__path__, str(tmp_path)]
    )
    row = measures.Measure(
        "nearness:measured_nearness",
        settings=(
            Setting("within", 1.0, "The distance.", least=0),
            Setting("kind", "all", "Which pairs.", choices=("all", "associated")),
        ),
    )
    monkeypatch.setattr(measures, "MEASURES", {**measures.MEASURES, "nearness": row})
    try:
        command = importlib.reload(measuring).measure
        path = tmp_path / "pairs.csv"
        table = distance_table(vectors(), LIST)
        table.save(path)

        def run_it(*args: str) -> str:
            result = CliRunner().invoke(command, ["--distances", str(path), *args], catch_exceptions=False)
            assert result.exit_code == 0, result.output
            return result.stdout

        distance = table.frame["distance"]
        printed = json.loads(run_it("--measure", "nearness", "--within", "0.9", "--json"))["measures"]
        assert printed["nearness"]["share"] == pytest.approx((distance < 0.9).mean())
        own = distance[table.frame["connection"] == "associated"]
        text = run_it("--kind", "associated")
        assert f"  {(own < 1.0).mean():.6f} of {len(own)} pairs" in text.splitlines()
        assert text.startswith("WEAT, ")  # by default with all others
        assert "--within FLOAT RANGE" in CliRunner().invoke(command, ["--help"]).stdout
        assert CliRunner().invoke(command, ["--distances", str(path), "--within", "-1"]).exit_code == 2
    finally:
        monkeypatch.undo()
        importlib.reload(measuring)


NEARNESS = """
from dataclasses import dataclass

from bayesbias.scores.stereotypes import ScoreResult


@dataclass(frozen=True, eq=False, repr=False)
class Nearness(ScoreResult):
    share: float
    n_pairs: int

    def in_words(self):
        return [f"nearness, {self.name}", f"  {self.share:.6f} of {self.n_pairs} pairs"]


def measured_nearness(given, *, within, kind):
    frame = given.table.frame
    if kind != "all":
        frame = frame[frame["connection"] == kind]
    return Nearness("pairs", (), (), frame, (frame["distance"] < within).mean(), len(frame))
"""


def test_a_score_that_cannot_tell_its_attributes_apart_takes_no_other_with_it(tmp_path) -> None:
    """RNSB, which nobody had asked for, refused a whole list of which all other scores can be taken."""
    shared = {c: {**of, "attributes": [*of["attributes"], "both"]} for c, of in LIST.items()}
    lines = [
        f"[[class]]\nname = {c!r}\nprotected = {of['protected']!r}\nattributes = {of['attributes']!r}"
        for c, of in shared.items()
    ]
    listed, held = tmp_path / "own.toml", tmp_path / "v.txt"
    listed.write_text("\n".join(["schema = 1", 'name = "own"', *lines]))
    words = {**vectors(9), "both": vectors(9)["x1"][::-1]}
    held.write_text("\n".join(f"{w} {' '.join(map(str, v))}" for w, v in words.items()) + "\n")
    given = ["measure", "--embedding", held, "--wordlist", listed, "--resamples", 99, "--seed", shifted(1)]
    result = CliRunner().invoke(cli, [str(a) for a in [*given, "--json"]], catch_exceptions=False)
    assert {"weat", "ect"} <= set(json.loads(result.stdout)["measures"])
    assert "note: rnsb left out: both is an attribute of both classes" in result.stderr
    with pytest.raises(InputError, match=r"cannot be told apart; found: .*both"):
        run(*given, "--measure", "rnsb")
