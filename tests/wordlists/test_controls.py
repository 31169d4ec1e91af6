"""Control words are chosen, replaced and refused."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from helpers.wordlists import GOOD, write

from bayesbias.core.errors import InputError
from bayesbias.wordlists.listfile import load_controls, load_wordlist
from bayesbias.wordlists.wordlist import Controls


def test_controls_can_be_changed_in_every_way(tmp_path: Path) -> None:
    control_file = write(tmp_path, 'schema = 1\nneutral = ["clock", "grass"]\n', "plain.toml")
    expected = {
        None: ("2022", 85, 226),
        "2021": ("2021", 27, 242),
        "2022": ("2022", 85, 226),
        control_file: ("plain", 0, 2),
        os.fspath(control_file): ("plain", 0, 2),
    }
    for controls, (name, human, neutral) in expected.items():
        got = load_wordlist("religion", controls=controls).controls
        assert got is not None
        assert (got.name, len(got.human), len(got.neutral)) == (name, human, neutral)
    assert load_wordlist("religion", "none").controls is None
    assert load_controls("none") is None
    assert load_controls(None) is None
    own = load_wordlist("religion", {"human": ["walk", "talk"]}).controls
    assert own == Controls("custom", ("walk", "talk"), (), title="custom")
    assert load_wordlist("religion", own).controls == own


def test_controls_of_a_loaded_list_can_be_replaced_and_nothing_of_the_old_ones_stays() -> None:
    for first, second in itertools.permutations(("2021", "2022", "none"), 2):
        assert load_wordlist(load_wordlist("weat10", first), second) == load_wordlist(
            "weat10", second
        )


def test_controls_by_a_path_relative_to_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lists"
    (folder / "more").mkdir(parents=True)
    write(folder / "more", 'schema = 1\nneutral = ["clock", "grass"]\n', "plain.toml")
    head, tail = GOOD.split("[controls]")
    text = head + 'controls = "more/plain.toml"\n' + tail[tail.index("[[class]]") :]
    path = write(folder, text)
    monkeypatch.chdir(tmp_path)  # not the folder of the list
    assert load_wordlist(path).control_words == ("clock", "grass")
    with pytest.raises(InputError, match="expected a control list") as error:
        load_wordlist(write(folder, text.replace("more/plain", "more/plane")))
    assert "age.toml, controls" in str(error.value)
    # As an argument a path is relative to where one is.
    assert load_wordlist("race", "lists/more/plain.toml").control_words == ("clock", "grass")


@pytest.mark.parametrize(
    ("controls", "expected"),
    [
        ("2020", "Did you mean '2022'?"),
        ("no/such.toml", "expected a control list"),
        ({"humans": ["a", "b"]}, "Did you mean 'human'?"),
    ],
)
def test_bad_controls(controls: object, expected: str) -> None:
    with pytest.raises(InputError) as error:
        load_wordlist("race", controls)  # type: ignore[arg-type]
    assert expected in str(error.value)
    with pytest.raises(InputError):
        load_controls(controls)  # type: ignore[arg-type]


def test_only_controls_that_were_wanted_are_called_few():
    listed = {"a": {"protected": ["he", "him"], "attributes": ["nurse", "cook"]}}
    neutral = load_wordlist(listed, controls={"neutral": ["table", "walk"]})
    assert not any("says little" in note for note in neutral.notes)
    few = load_wordlist(listed, controls={"human": ["nurse", "cook"], "neutral": ["table", "walk"]})
    assert "0 human control words in use: that group says little." in few.notes
