"""Binary files damaged at random: nothing but `InputError`, soon, in little memory, and no pickle runs.

Of the readers before there was a border, those of word2vec and fastText did not end within minutes on some of these files, those
of npz and of sentence vectors threw OSError, TokenError and NotImplementedError, and those of Parquet wrote several lines.
"""

from __future__ import annotations

import numpy as np
import pytest
from helpers import fuzzing
from helpers.fuzz_seeds import IN_A_CHILD, READERS, index_of_words, witness_in
from helpers.fuzzing import Account, fuzzed
from helpers.seeds import shifted

from bayesbias.core.errors import InputError


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "cache"))


def campaign(target, folder, count: int) -> Account:
    suffix, read, seeds = target(folder)
    account = fuzzed(read, seeds, folder, count, np.random.default_rng(shifted(15)), suffix)
    assert account.wrong == []
    assert account.cases == count
    assert not witness_in(folder).exists()
    return account


@pytest.mark.filterwarnings("ignore")  # of libraries, about what they find in damaged files
@pytest.mark.parametrize("count", [100, pytest.param(5000, marks=pytest.mark.claim)])
@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_refused_or_read(name, count, tmp_path):
    account = campaign(READERS[name], tmp_path, count)
    assert account.refused > count / 2


@pytest.mark.parametrize(
    "count", [pytest.param(3, marks=pytest.mark.slow), pytest.param(300, marks=pytest.mark.claim)]
)
@pytest.mark.parametrize("name", IN_A_CHILD)
def test_damaged_hdf5_is_refused_or_read_by_a_child(name, count, tmp_path):
    campaign(IN_A_CHILD[name], tmp_path, count)


@pytest.mark.parametrize("count", [100, pytest.param(3000, marks=pytest.mark.claim)])
def test_a_damaged_index_changes_no_vector(count, tmp_path):
    """It is never needed: where it is damaged, the file itself is read."""
    account = campaign(index_of_words, tmp_path, count)
    assert account.refused == 0


def test_pickles_would_run_where_they_are_allowed(tmp_path):
    """So that the witness is one: the same file, read by whoever trusts it."""
    import pickle

    _, read, seeds = READERS["pickles"](tmp_path)
    (tmp_path / "a.kv").write_bytes(seeds[0])
    with pytest.raises(InputError, match="is a pickle"):
        read(tmp_path / "a.kv")
    assert not witness_in(tmp_path).exists()
    pickle.loads(seeds[0])
    assert witness_in(tmp_path).is_dir()


def throwing(error: BaseException):
    def read(path) -> None:
        raise error

    return read


@pytest.mark.parametrize(
    "error",
    [OSError(5, "no"), MemoryError(), ValueError("bad"), KeyError("a"), RecursionError()],
    ids=lambda error: f"{type(error).__name__} {len(str(error))}",
)
def test_a_reader_that_throws_otherwise_would_be_seen(error, tmp_path):
    account = fuzzed(throwing(error), [b"abc"], tmp_path, 3, np.random.default_rng(0))
    assert len(account.wrong) == 3


def test_a_reader_that_takes_too_long_would_be_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzzing, "MOST_SECONDS", 0.0)
    account = fuzzed(lambda path: sum(range(100_000)), [b"abc"], tmp_path, 1, np.random.default_rng(0))
    assert "took" in account.wrong[0]
