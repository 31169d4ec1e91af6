"""What averaged scores and projections say, in lines for the screen."""

from __future__ import annotations

from typing import Any


def score_in_words(name: str, result: Any) -> str:
    """Say what a score found; ``name`` is one of weat, mac, direct_bias, relative_norm_distance."""
    if name == "weat":
        effect = "none" if result.effect_size is None else f"{result.effect_size:.4f}"
        most = "" if result.largest_effect_size is None else f", at most {result.largest_effect_size:.4f}"
        bounds = (
            ""
            if result.p_lower in (None, result.p_upper)
            else f", {result.p_lower:.6g} to {result.p_upper:.6g}"
        )
        return (
            f"WEAT, {result.name}\n"
            f"  X {result.classes[0]} ({result.n_x}), Y {result.classes[1]} ({result.n_y}), A ({result.n_a}), B ({result.n_b})\n"
            f"  statistic {result.statistic:.6f}\n"
            f"  effect size {effect} ({result.denominator}{most})\n"
            f"  p {result.p_value:.6g} ({result.p_method}, {result.sides}-sided{bounds})"
        )
    if name == "mac":
        lines = [
            f"MAC, {result.name}",
            f"  mean average cosine distance {result.mac:.6f} ({result.convention}; {result.n_words} words, "
            f"{result.n_averages} averages of {result.n_pairs} pairs)",
        ]
        if result.mac_against is not None:
            lines.append(f"  against {result.mac_against:.6f} in {result.name_against}")
        if result.p_value is not None:
            lines.append(
                f"  paired t-test of the averages: t({result.df}) = {result.t:.4f}, p {result.p_value:.4g}"
            )
        return "\n".join(lines)
    if name == "direct_bias":
        return (
            f"direct bias, {result.name}\n"
            f"  {result.value:.6f} (strictness {result.strictness:g}) of {result.n_words} words\n"
            f"  direction of {result.n_pairs} pairs, towards {result.towards[0]}, explains {result.explained:.0%}"
        )
    nearer = result.classes[0] if result.value < 0 else result.classes[1]
    return (
        f"relative norm distance, {result.name}\n"
        f"  {result.value:.6f} over {result.n_words} words, {result.mean:.6f} per word: nearer to {nearer}"
    )
