"""Lists are read from paths, texts and mappings alike."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import tomllib
from pathlib import Path

from helpers.places import ROOT
from helpers.wordlists import AGE, GOOD, write

from bayesbias.wordlists.listfile import check_wordlist, load_wordlist, pairs, wordlist_template


# Ways to hand a list over -------------------------------------------------------------------------
def test_path_text_mapping_and_full_mapping_agree(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    by_path, by_text = load_wordlist(path), load_wordlist(os.fspath(path))
    by_mapping = load_wordlist(tomllib.loads(GOOD))
    assert by_path == by_text
    assert by_path.classes == by_mapping.classes
    assert by_path.controls == by_mapping.controls
    assert by_path.controls.neutral == ("clock", "grass")
    assert load_wordlist(by_path) is by_path
    assert pairs(path) == pairs(by_mapping)


def test_digests_are_those_of_the_files(tmp_path: Path) -> None:
    def sha(data: bytes) -> str:
        return hashlib.sha256(data).hexdigest()

    path = write(tmp_path, GOOD)
    assert load_wordlist(path).sha256 == sha(GOOD.encode())
    assert load_wordlist(path).digests == ((str(path), sha(GOOD.encode())),)
    race = load_wordlist("race")
    parts = [
        sha((ROOT / f).read_bytes())
        for f in ("wordlists/race.toml", "wordlists/controls/2022.toml")
    ]
    assert race.digests == tuple(
        zip(("wordlists/race.toml", "wordlists/controls/2022.toml"), parts, strict=True)
    )
    assert race.sha256 == sha("".join(parts).encode())
    assert race.origin == "wordlists/race.toml"
    assert load_wordlist("race", "none").sha256 == parts[0]
    # A mapping: the same words give the same digest, one word changed another.
    other = copy.deepcopy(AGE)
    other["old"]["protected"][0] = "aged"
    assert load_wordlist(AGE).sha256 == load_wordlist(copy.deepcopy(AGE)).sha256
    assert load_wordlist(AGE).sha256 != load_wordlist(other).sha256


# The template -------------------------------------------------------------------------------------
def test_template_says_what_to_fill_in_and_passes_when_filled(tmp_path: Path) -> None:
    text = wordlist_template()
    assert tomllib.loads(text)["schema"] == 1
    path = write(tmp_path, text, "template.toml")
    problems = list(map(str, check_wordlist(path)[0]))
    places = ["name", "protected", "attributes"]
    assert not any("source" in problem for problem in problems)  # it is optional
    assert all(any(f"{place}:" in problem for problem in problems) for place in places)
    assert len(problems) == 7
    fills = {
        'name = ""': iter(["age", "young", "old"]),
        '# source = ""': iter(["Nobody (2024)"]),
        "protected = []": iter([AGE["young"]["protected"], AGE["old"]["protected"]]),
        "attributes = []": iter([AGE["young"]["attributes"], AGE["old"]["attributes"]]),
    }
    lines = []
    for line in text.splitlines():
        for blank, values in fills.items():
            if line.startswith(blank):
                line = f"{blank.strip('# ').split(' = ')[0]} = {json.dumps(next(values))}"
        lines.append(line)
    path = write(tmp_path, "\n".join(lines), "filled.toml")
    assert check_wordlist(path)[0] == []
    assert load_wordlist(path).classes == load_wordlist(AGE).classes
    assert repr(load_wordlist(path)).endswith("controls 2022 (85 human, 226 neutral)>")
