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


def test_a_lack_of_threads_is_not_laid_to_priors(monkeypatch):
    def without_threads(*arguments, **options):
        raise RuntimeError(
            "Could not start sampler: Resource temporarily unavailable (os error 11)"
        )

    monkeypatch.setattr("nutpie.sample", without_threads)
    with pytest.raises(bb.FitError, match="enough threads and memory") as refused:
        sample()
    assert "os error 11" in str(refused.value)
    assert "priors" not in str(refused.value)
