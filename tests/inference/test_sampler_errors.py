"""What is said where the sampler does not sample."""

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.inference import kernel
from bayesbias.inference.sampling import nuts

SETTINGS = {"draws": 20, "tune": 20, "chains": 2, "target_accept": 0.8}


@kernel.callback(kernel.LOGP)
def nowhere(n, at_at, grad_at, value_at, data):
    return 4


def sample():
    return nuts(2, (nowhere, kernel.expand_callback), np.zeros(1, np.int64), SETTINGS, 1, 1)


def test_a_density_without_a_start_is_laid_to_priors():
    with pytest.raises(bb.FitError, match="no point to start from: are priors far"):
        sample()


# How the standard library, nutpie and a library that panics say it.
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("Could not start sampler: Resource temporarily unavailable"), "a resource"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
        (BaseException("OS can't spawn worker thread: (os error 11)"), "worker thread"),
        (BlockingIOError(11, "Resource temporarily unavailable"), "refused a resource"),
        (MemoryError("Unable to allocate 9 GiB"), "not enough memory"),
    ],
)
def test_a_lack_of_threads_or_memory_is_not_laid_to_priors(monkeypatch, error, words):
    def without_resources(*arguments, **options):
        raise error

    table = bb.distance_table("minilm-static", "weat6", controls="none")
    monkeypatch.setattr("nutpie.sample", without_resources)
    with pytest.raises(bb.ResourceError, match=words) as refused:
        bb.fit(table, seed=1, draws=20)
    assert "priors" not in str(refused.value)


def test_a_sampler_that_stops_for_another_reason_gives_it(monkeypatch):
    def stops(*arguments, **options):
        raise RuntimeError("a density without a value")

    monkeypatch.setattr("nutpie.sample", stops)
    with pytest.raises(bb.FitError, match=r"the sampler stopped \(a density without a value\)"):
        sample()
