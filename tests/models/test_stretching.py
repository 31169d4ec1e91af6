"""A model with one prior made wider."""

from __future__ import annotations

import pytest
from helpers.models import MODELS, spec_of

from bayesbias.models.distributions import stretched
from bayesbias.models.loading import parse_model
from bayesbias.models.stretching import stretchable, stretched_prior


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.slow
def test_one_prior_changes_and_nothing_else(name):
    spec = spec_of(name)
    assert stretchable(spec)
    for parameter in stretchable(spec):
        wider = stretched_prior(spec, parameter, 3)
        old = spec.parameters[parameter]
        around = parameter in spec.factors()
        args = stretched(old.distribution, old.args, 3, around=around)
        assert wider.parameters[parameter].args == args != old.args
        rest = {key: value for key, value in wider.parameters.items() if key != parameter}
        assert rest == {key: value for key, value in spec.parameters.items() if key != parameter}
        assert (wider.mu, wider.noise, wider.results, wider.name) == (
            spec.mu,
            spec.noise,
            spec.results,
            spec.name,
        )
        # What it says of itself is what it is.
        assert parse_model(wider.text.encode(), "again").parameters == wider.parameters
        assert wider.sha256 != spec.sha256
