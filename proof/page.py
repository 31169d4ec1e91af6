"""The page of the proof: every piece of evidence, what failed first, drawn from ``proof.json`` alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proof.evidence import Evidence, Record
from proof.pictures import draw_ranks

RANKS = "proof-ranks.svg"

HEAD = """# Proof

What is claimed of bayesbias was tried as often as this page says, by `make proof` ({hours} hours of computing in all), and
came out as it says; what failed stands first. Each row names its version, commit, date and seed, or "no commit" where
what was run stands in none, and can be had again: `python -m proof --parts PART --afresh`. The figures are in
[proof.json](proof.json).
"""

ABOUT = {
    "p-values": "Permutation p-values of WEAT and SEAT are counted exactly. Brute force forms every partition, in whole numbers.",
    "second opinion": "The exact reduction integrates all effects out. lme4 (R) does so by another way, for models both know.",
    "calibration": "Tables are simulated with every parameter drawn from the prior, and fitted. If all is right, the rank of "
    "the true value among the draws is uniform (Talts et al. 2018), and 89 % intervals hold it in 89 % of tables.",
    "real vectors": "Small lists are drawn from pools of real words; intervals have to hold the value of the pool.",
    "reference posteriors": "The plain PyMC model samples every effect, pair by pair; the reduction must have its posterior. "
    "A published table stands here once it was run, by each of two models.",
    "damaged input": "Files are damaged in many ways. Only an error in words may come of it, soon and with little memory.",
    "guided input": "The same readers under a fuzzer that keeps what reaches new branches of their code (atheris, libFuzzer).",
    "interruptions": "Processes are killed and disks filled at random moments. What stays is the old or the new, never a part.",
    "encoders": "Sentence encoders pad sentences of a batch to one length, which must not change an effect size.",
}


def write_page(record: Record, folder: Path) -> None:
    """Write ``proof.md``."""
    every = list(record)
    hours = sum(one.seconds for one, _ in every) / 3600
    lines = [HEAD.format(hours=f"{hours:.1f}")]
    counts = {o: sum(one.outcome == o for one, _ in every) for o in ("held", "failed", "not run")}
    lines.append(f"**{counts['held']} held, {counts['failed']} failed, {counts['not run']} not run.**\n")
    if failed := [(one, made) for one, made in every if one.outcome == "failed"]:
        lines += ["## Failed\n", *_table(failed)]
    for part, about in ABOUT.items():
        own = [(one, made) for one, made in every if one.part == part]
        if own:
            lines += [f"## {part.capitalize()}\n", about + "\n", *_table(own)]
            lines += _picture(own, folder)
    machines = {_said(made["machine"]): None for _, made in every}
    lines += ["## Machines\n", *(f"- {text}" for text in machines), ""]
    (folder / "proof.md").write_text("\n".join(lines), encoding="utf-8")


def _picture(rows: list[tuple[Evidence, dict[str, Any]]], folder: Path) -> list[str]:
    """Draw the ranks of a part, if it has any, and return what the page says of them."""
    ranks = {one.name.partition(":")[0]: one.details["ranks"] for one, _ in rows if "ranks" in one.details}
    if not ranks:
        return []
    draw_ranks(ranks, folder / RANKS)
    alt = (
        f"Ranks of true values by {', '.join(ranks)}: no row leaves the dashed 99 % bands by more than a step"
    )
    if any(
        max(map(abs, own["lowest"] + own["highest"])) > own["band"] + own["step"] for own in ranks.values()
    ):
        alt = f"Ranks of true values by {', '.join(ranks)}: some rows leave the dashed 99 % bands"
    return [
        f"![{alt}]({RANKS})\n",
        "The shade holds the distribution functions of all rows, less the diagonal; the line is the row farthest off; dashes are "
        "the band that all rows stay within with probability .99 where all is right. Ranks of scales come in steps of "
        f"{max(own['step'] for own in ranks.values()):g}, by which the upper edge may be lifted.\n",
    ]


def _table(rows: list[tuple[Evidence, dict[str, Any]]]) -> list[str]:
    out = [
        "| claim | outcome | tried | worst | must be | seed; seconds; version, commit, date |",
        "|---|---|---|---|---|---|",
    ]
    for one, made in rows:
        worst = "" if one.worst is None else f"{one.worst:.3g}"
        reason = f" ({one.reason})" if one.reason else ""
        cells = [
            one.claim,
            f"**{one.outcome}**{reason}",
            f"{one.cases:,} {one.unit}",
            worst,
            one.bound,
            "; ".join(
                (
                    "none" if one.seed is None else str(one.seed),
                    f"{one.seconds:,.0f}",
                    ", ".join((made["version"], made["commit"] or "no commit", made["date"])),
                )
            ),
        ]
        out.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return [*out, ""]


def _said(machine: dict[str, Any]) -> str:
    libraries = ", ".join(f"{name} {version}" for name, version in machine["libraries"].items())
    return f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python {machine['python']}, {libraries}"
