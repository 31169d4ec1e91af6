"""What the rows of simulations are called, in words: light, since the help of the command has them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["METHODS", "SINGLE_DRAW"]

METHODS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("classes", "weat"): "WEAT's permutation test, one-sided as published",
        ("classes", "weat_two_sided"): "WEAT's permutation test, two-sided",
        ("classes", "pairs"): "t-test of associated against different pairs",
        ("classes", "attributes"): "t-test of one number per attribute word",
        ("tables", "manzini"): "Manzini's paired t-test of averages",
        ("tables", "pairs"): "paired t-test of pairs",
        ("tables", "attributes"): "paired t-test of one number per attribute word",
    }
)
"""The question asked, and the method, of each row that `simulate_grid` gives."""
SINGLE_DRAW: Mapping[str, str] = MappingProxyType(
    {
        "numerator": "mean score of X less that of Y (as coded: of a single word of each)",
        "factor": "standard deviation of all four scores, which divides it",
        "bias": "the effect size: numerator over factor",
    }
)
"""What the paper's simulations give of a single draw; factor and bias are called so in the paper's code."""
