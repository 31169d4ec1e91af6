"""Original against debiased, pair by pair: what changed, for whom, and what changed by construction.

Both tables are joined pair by pair and the *differences* are modelled, so that what the two share, such as
words that lie near everything, cancels. Three questions are kept apart:

- did distances change (`Comparison.changes`), and did the gaps between connections (`Comparison.contrasts`)?
- what is left of the gaps afterwards (the columns ``after``, ``verdict_after``)?
- what could not have come out otherwise, because the method forces it (`Construction`)?
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._resources import read_bytes, whole_file
from bayesbias._wording import some
from bayesbias.construction import EXACT, Construction, find_construction
from bayesbias.distance import COLUMNS, PairTable, read_distances
from bayesbias.errors import FitError, InputError, nearest
from bayesbias.model import fit
from bayesbias.posterior import CONTRASTS, ESTIMANDS, PROB, ROPE, BiasFit, described, load_fit
from bayesbias.spec import CONNECTIONS, ModelSpec, load_model
from bayesbias.wordlist import CONTROLS

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Comparison",
    "Method",
    "change_verdict",
    "compare",
    "gap_verdict",
    "join_pairs",
    "load_comparison",
]

LEVEL_MODEL = "shared"
_KEY = ["protected_word", "attribute"]
_FORMAT = 1
_FILE = "comparison.json"


# --- what each word of a verdict means --------------------------------------------------------------


def change_verdict(low: float, high: float, rope: float = ROPE) -> str:
    """Say what an interval of a change means. The one place where these words are defined.

    Parameters
    ----------
    low, high : float
        Ends of the HPDI, in cosine distance.
    rope : float > 0
        Half-width of the region of practical equivalence.

    Returns
    -------
    str
        ``moved``: the interval lies outside the ROPE. ``practically unchanged``: it lies inside.
        ``moved, perhaps by little``: it excludes zero but reaches into the ROPE. ``no evidence of change``: it
        holds zero, and more than the ROPE.

    Examples
    --------
    >>> [change_verdict(*ends) for ends in ((0.03, 0.09), (-0.01, 0.01), (0.01, 0.05), (-0.03, 0.05))]
    ['moved', 'practically unchanged', 'moved, perhaps by little', 'no evidence of change']
    """
    return ("no evidence of change", "practically unchanged", "moved, perhaps by little", "moved")[
        _where(low, high, rope)
    ]


def gap_verdict(low: float, high: float, rope: float = ROPE, contrast: str = "associated - different") -> str:
    """Say what an interval of a contrast after debiasing means. The one place where these words are defined.

    Parameters
    ----------
    low, high, rope
        As in `change_verdict`.
    contrast : str
        Only ``associated - ...`` is about bias: there a negative contrast says that stereotypes lie nearer.

    Returns
    -------
    str
        Of ``associated - ...``: ``still biased`` where the interval lies below the ROPE, ``reversed`` above, both
        with ``, perhaps by little`` where it excludes zero but reaches into the ROPE; ``practically no gap`` inside
        it; ``no evidence of bias`` where it holds zero and more than the ROPE. Of other contrasts ``apart`` stands
        for both directions, and ``no evidence of a gap``.

    Examples
    --------
    >>> [gap_verdict(*ends) for ends in ((-0.09, -0.03), (-0.09, 0.03), (-0.01, 0.0), (0.01, 0.05))]
    ['still biased', 'no evidence of bias', 'practically no gap', 'reversed, perhaps by little']
    >>> gap_verdict(-0.09, -0.03, contrast="human - neutral")
    'apart'
    """
    about_bias = contrast.startswith("associated")
    word = ("still biased" if high < 0 else "reversed") if about_bias else "apart"
    nothing = "no evidence of bias" if about_bias else "no evidence of a gap"
    return (nothing, "practically no gap", f"{word}, perhaps by little", word)[_where(low, high, rope)]


def _where(low: float, high: float, rope: float) -> int:
    """0: holds zero and more than the ROPE; 1: inside it; 2: excludes zero, not the ROPE; 3: outside it."""
    if not rope > 0:
        raise InputError("the half-width of the ROPE must be positive", found=rope)
    if low > rope or high < -rope:
        return 3
    if -rope <= low and high <= rope:
        return 1
    return 2 if low > 0 or high < 0 else 0


# --- joining ------------------------------------------------------------------------------------------


def join_pairs(
    original: PairTable | pd.DataFrame | str | os.PathLike[str],
    debiased: PairTable | pd.DataFrame | str | os.PathLike[str],
    name: str = "debiased",
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Join two tables of distances pair by pair.

    Parameters
    ----------
    original, debiased : PairTable, DataFrame or path
        As `read_distances` takes them. Order does not matter.
    name : str
        What to call the second in messages.

    Returns
    -------
    frame : DataFrame
        The columns of a pair table up to ``connection``, then ``original``, ``debiased`` and
        ``change = debiased - original``, one row per pair that is in both, in the order of the original.
    account : dict
        ``pairs`` joined; ``only_in_original`` and ``only_in_debiased`` (counts of pairs);
        ``words_only_in_original`` and ``words_only_in_debiased``; ``reordered``; ``notes`` (sentences).

    Raises
    ------
    InputError
        Where no pair is in both, or a pair has another connection or protected class in the second.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table("minilm-static", "religion", controls="none")
    >>> frame, account = join_pairs(table, table.frame.iloc[:-3])
    >>> len(frame), account["only_in_original"], account["notes"]
    (162, 3, ['3 of 165 pairs of the original are not in debiased and are left out'])
    """
    first, second = (_table(x).frame.copy() for x in (original, debiased))
    for frame in (first, second):
        # A repeated row that was kept meets the repeat of the same number.
        frame["repeat"] = frame.groupby(_KEY, observed=True).cumcount()
    key = [*_KEY, "repeat"]
    columns = [*key, "protected_class", "attribute_class", "connection", "distance"]
    both = first.merge(second[columns], on=key, suffixes=("", "_2"), how="inner")
    if both.empty:
        raise InputError(
            "no pair of protected word and attribute is in both tables",
            where=name,
            found=f"{some(second['protected_word'], 4)} x {some(second['attribute'], 4)}",
            valid=f"{some(first['protected_word'], 4)} x {some(first['attribute'], 4)}",
            hint="were both made with the same word list?",
        )
    for column in ("connection", "protected_class"):
        other = both[column].astype(str) != both[f"{column}_2"].astype(str)
        if other.any():
            row = both[other].iloc[0]
            raise InputError(
                f"{int(other.sum())} pairs have another {column.replace('_', ' ')} than in the original, the first "
                f"{row['protected_word']!r} and {row['attribute']!r}: the two tables do not ask the same question",
                where=name,
                found=str(row[f"{column}_2"]),
                valid=str(row[column]),
                hint="make both with the same word list and controls",
            )
    notes = []
    lost, gained = len(first) - len(both), len(second) - len(both)
    if lost:
        notes.append(f"{lost:,} of {len(first):,} pairs of the original are not in {name} and are left out")
    if gained:
        notes.append(
            f"{gained:,} of {len(second):,} pairs of {name} are not in the original and are left out"
        )
    words = [
        [w for w in dict.fromkeys([*a["protected_word"], *a["attribute"]]) if w not in known]
        for a, b in ((first, second), (second, first))
        for known in [{*b["protected_word"], *b["attribute"]}]
    ]
    for found, place in zip(words, ("the original", name), strict=True):
        if found:
            notes.append(f"only in {place}: {some(found, 12)}")
    renamed = both["attribute_class"].astype(str) != both["attribute_class_2"].astype(str)
    if renamed.any():
        notes.append(
            f"{int(renamed.sum()):,} pairs have another attribute class in {name}, with the same connection; the "
            "original's is kept"
        )
    row_of = {pair: i for i, pair in enumerate(second[key].itertuples(index=False, name=None))}
    positions = [row_of[pair] for pair in both[key].itertuples(index=False, name=None)]
    both = both.rename(columns={"distance": "original", "distance_2": "debiased"})
    both["change"] = both["debiased"] - both["original"]
    both["connection"] = both["connection"].cat.remove_unused_categories()
    account = {
        "pairs": len(both),
        "only_in_original": lost,
        "only_in_debiased": gained,
        "words_only_in_original": [str(w) for w in words[0]],
        "words_only_in_debiased": [str(w) for w in words[1]],
        "reordered": any(b < a for a, b in itertools.pairwise(positions)),
        "notes": notes,
    }
    return both[[*COLUMNS[:-1], "original", "debiased", "change"]], account


def _table(x: Any) -> PairTable:
    return x if isinstance(x, PairTable) else read_distances(x)


# --- the comparison -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Changes:
    """A fit of differences, and the connections of which every difference is one number."""

    fit: BiasFit | None
    exact: Mapping[str, float]


@dataclass(frozen=True, repr=False)
class Method:
    """One debiased table beside the original.

    Attributes
    ----------
    name : str
    pairs : DataFrame
        As `join_pairs` returns them, only pairs that every compared table has.
    account : Mapping
        Of the join; see `join_pairs`.
    change : BiasFit or None
        The fit of ``change``; None where every connection is exact.
    exact : Mapping of str to float
        Connections in which every pair changed by the same number (zero where nothing was treated). They
        have nothing to infer, and a noise of zero would have no posterior; they are left out of the fit and
        reported as they are.
    after : BiasFit
        The fit of the debiased distances.
    construction : Construction
    """

    name: str
    pairs: pd.DataFrame
    account: Mapping[str, Any]
    change: BiasFit | None
    exact: Mapping[str, float]
    after: BiasFit
    construction: Construction

    def __repr__(self) -> str:
        return f"Method {self.name}: {len(self.pairs):,} pairs; {self.construction!r}"


@dataclass(frozen=True, repr=False)
class Comparison:
    """One original and one or more debiased tables; made by `compare`.

    Attributes
    ----------
    original : BiasFit
        The fit of the original distances, on the joined pairs.
    methods : Mapping of str to Method
    between : Mapping of (str, str) to fit of differences
        For methods that follow each other in the ranking, what tells the second from the first.
    provenance : Mapping
    """

    original: BiasFit
    methods: Mapping[str, Method]
    between: Mapping[tuple[str, str], _Changes]
    provenance: Mapping[str, Any]
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, compare=False)

    def changes(
        self, prob: float = PROB, rope: float = ROPE, estimand: str | None = None, method: str | None = None
    ) -> pd.DataFrame:
        """Change of the mean distance (debiased minus original) per connection, overall, per class and word.

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the highest posterior density interval.
        rope : float > 0
            Half-width of the region of practical equivalence, in cosine distance.
        estimand : {"population", "these_words"}, optional
            By default both, one after the other.
        method : str, optional
            By default all.

        Returns
        -------
        DataFrame
            ``method, level, name, connection, estimand, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat,
            p_below_zero, p_in_rope, rope, n_pairs, exact, verdict``. Positive: farther than before. `exact` rows
            are known without inference: all their pairs changed by one number.
        """
        import pandas as pd

        frames = []
        for name in self._names(method):
            item = self.methods[name]
            for which in _estimands(estimand):
                keys, draws = self._levels(name, which)
                frame = _with_probabilities(draws, prob, rope)
                for place, column in enumerate(("level", "name", "connection")):
                    frame.insert(place, column, [key[place] for key in keys])
                frame.insert(0, "method", name)
                frame.insert(4, "estimand", which)
                counts = _counts(item.pairs)
                frame["n_pairs"] = [counts[key] for key in keys]
                frame["exact"] = frame["connection"].isin(list(item.exact))
                frame["verdict"] = [change_verdict(r.hpdi_low, r.hpdi_high, rope) for r in frame.itertuples()]
                frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def contrasts(
        self, prob: float = PROB, rope: float = ROPE, estimand: str | None = None, method: str | None = None
    ) -> pd.DataFrame:
        """Return changes of the gaps between connections, with the gaps before and after.

        Parameters are those of `changes`.

        Returns
        -------
        DataFrame
            ``method, level, name, contrast, estimand, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat,
            p_below_zero, p_in_rope, rope, verdict`` of the change (positive ``associated - different``: a gap that
            made stereotypes lie nearer closed), then ``before, before_low, before_high, after, after_low,
            after_high`` of the gap itself from the fits of either table, ``verdict_after``, and
            ``by_construction``: whether the gap after could not have come out otherwise. That is so of ``associated -
            different`` overall, where all sets are equalised; of one class or word that contrast compares different
            attributes and stays open: a class whose stereotypes lie near everything keeps its gap.
        """
        import pandas as pd

        frames = []
        for name in self._names(method):
            for which in _estimands(estimand):
                frame = self._contrasts_of(name, which, prob, rope)
                if frame is not None:
                    frames.append(frame)
        if not frames:
            raise FitError("the tables hold no two connections that are contrasted with each other")
        return pd.concat(frames, ignore_index=True)

    def _contrasts_of(self, name: str, which: str, prob: float, rope: float) -> pd.DataFrame | None:
        """Return the contrasts of one method and estimand; kept, since every view of the result asks again."""
        key = ("contrasts", name, which, prob, rope)
        if key not in self._cache:
            self._cache[key] = self._contrasts_made(name, which, prob, rope)
        kept = self._cache[key]
        return None if kept is None else kept.copy()

    def _gaps_before(self, which: str, prob: float, rope: float) -> pd.DataFrame:
        key = ("before", which, prob, rope)
        if key not in self._cache:
            self._cache[key] = self.original.contrasts(prob, rope, which)
        return self._cache[key]

    def _contrasts_made(self, name: str, which: str, prob: float, rope: float) -> pd.DataFrame | None:
        item = self.methods[name]
        keys, draws = self._levels(name, which)
        names, diffs = _differences(keys, draws)
        if not names:
            return None
        frame = _with_probabilities(diffs, prob, rope)
        for place, column in enumerate(("level", "name", "contrast")):
            frame.insert(place, column, [row[place] for row in names])
        frame.insert(0, "method", name)
        frame.insert(4, "estimand", which)
        frame["verdict"] = [change_verdict(r.hpdi_low, r.hpdi_high, rope) for r in frame.itertuples()]
        gaps = {
            "before": self._gaps_before(which, prob, rope),
            "after": item.after.contrasts(prob, rope, which),
        }
        for label, found in gaps.items():
            found = found.set_index(["level", "name", "contrast"])
            found = found.loc[names]
            frame[label] = found["mean"].to_numpy()
            frame[f"{label}_low"] = found["hpdi_low"].to_numpy()
            frame[f"{label}_high"] = found["hpdi_high"].to_numpy()
        frame["verdict_after"] = [
            gap_verdict(r.after_low, r.after_high, rope, r.contrast) for r in frame.itertuples()
        ]
        # Of one class or word the contrast is between different attributes, which construction does not tie.
        frame["by_construction"] = (
            (frame["contrast"] == "associated - different")
            & (frame["level"] == "overall")
            & ("equalised" in item.construction.flags)
        )
        return frame

    def ranking(self, prob: float = PROB, rope: float = ROPE, estimand: str = "population") -> pd.DataFrame:
        """Rank the methods by what they leave of the gap between associated and different attributes.

        Neighbours are told apart by a fit of the *difference of their distances*, in which all that they share
        cancels; two separate intervals that overlap would tell nothing.

        Returns
        -------
        DataFrame
            Best first: ``rank, method, estimand, gap, gap_low, gap_high`` (after debiasing), ``verdict_after, change,
            change_low, change_high, control_rms`` (root mean square change of the pairs with control words, the price),
            ``by_construction``, ``p_nearer_zero_than_next`` and ``verdict_next`` (``nearer to zero``, ``practically the
            same`` or ``no evidence of a difference``), both missing in the last row.

        Notes
        -----
        With M the middle of the two gaps and D their difference, drawn from its own fit, the quantity compared is
        ``|M + D/2| - |M - D/2|``: what the gap of one lies farther from zero than that of the other.
        """
        import pandas as pd

        rows = []
        order = self.provenance["order"]
        for rank, name in enumerate(order, 1):
            item = self.methods[name]
            frame = self._contrasts_of(name, estimand, prob, rope)
            row = (
                None
                if frame is None
                else frame[(frame["level"] == "overall") & (frame["contrast"] == "associated - different")]
            )
            if row is None or row.empty:
                raise FitError("methods are ranked by associated - different, which the tables do not hold")
            gap: Any = next(iter(row.itertuples()))
            controls = item.pairs.loc[item.pairs["connection"].isin(CONTROLS), "change"]
            rows.append(
                {
                    "rank": rank,
                    "method": name,
                    "estimand": estimand,
                    "gap": gap.after,
                    "gap_low": gap.after_low,
                    "gap_high": gap.after_high,
                    "verdict_after": gap.verdict_after,
                    "change": gap.mean,
                    "change_low": gap.hpdi_low,
                    "change_high": gap.hpdi_high,
                    "control_rms": float(np.sqrt(np.mean(controls**2))) if len(controls) else None,
                    "by_construction": gap.by_construction,
                    "p_nearer_zero_than_next": None,
                    "verdict_next": None,
                }
            )
            if rank < len(order):
                rows[-1] |= self._against_next(name, order[rank], prob, rope, estimand)
        return pd.DataFrame(rows).astype({"p_nearer_zero_than_next": "Float64", "control_rms": "Float64"})

    def _against_next(
        self, name: str, following: str, prob: float, rope: float, estimand: str
    ) -> dict[str, Any]:
        of = ("overall", "all", "associated - different")
        other = self.methods[following]
        keys, draws = other.after._levels(estimand)
        names, gaps = _differences(keys, draws)
        gap = gaps[..., names.index(of)]
        keys, draws = self.methods[name].after._levels(estimand)
        names, gaps = _differences(keys, draws)
        mine = gaps[..., names.index(of)]
        changes = self.between[name, following]
        keys, draws = _level_draws(changes, other.pairs, estimand, gap.shape)
        names, gaps = _differences(keys, draws)
        apart = gaps[..., names.index(of)]
        half = float(mine.mean()) / 2 + float(gap.mean()) / 2 + gap - gap.mean()
        distance = np.abs(half + apart / 2) - np.abs(half - apart / 2)
        row = described(distance[..., None], prob).iloc[0] if np.ptp(distance) > 0 else None
        low, high = (0.0, 0.0) if row is None else (row["hpdi_low"], row["hpdi_high"])
        place = _where(low, high, rope)
        verdict = (
            "practically the same" if place == 1
            else "no evidence of a difference" if place == 0 or low > 0
            else "nearer to zero" + (", perhaps by little" if place == 2 else "")
        )  # fmt: skip
        p = float((distance < 0).mean() + (distance == 0).mean() / 2)
        return {"p_nearer_zero_than_next": p, "verdict_next": verdict}

    def diagnostics(self) -> dict[str, Any]:
        """Say whether the samplers can be believed: `BiasFit.diagnostics` of every fit, ``ok`` and ``problems``."""
        fits = {name: found.diagnostics() for name, found in self._fits().items()}
        problems = [f"{name}: {text}" for name, found in fits.items() for text in found["problems"]]
        return {"ok": not problems, "problems": problems, "fits": fits}

    def sentences(self, prob: float = PROB, rope: float = ROPE) -> list[str]:
        """Say what was found: construction first, since it decides how the rest is to be read.

        Nothing is concluded of a method one of whose fits has not converged.
        """
        out = []
        for name, item in self.methods.items():
            lead = f"{name}: " if len(self.methods) > 1 else ""
            out += [f"{lead}{text}." for text in (*item.account["notes"], *item.construction.sentences())]
            fits = [fit for fit in (self.original, item.change, item.after) if fit is not None]
            doubts = [problem for fit in fits for problem in fit.diagnostics()["problems"]]
            if doubts:
                out.append(f"{lead}no conclusion, since the sampler cannot be believed yet: {doubts[0]}.")
                continue
            frame = self._contrasts_of(name, "population", prob, rope)
            if frame is not None:
                row: Any = next(iter(frame[frame["level"] == "overall"].itertuples()))
                forced = ", as the method forces it to be" if row.by_construction else ""
                out.append(
                    f"{lead}{row.contrast} was {row.before:+.3f} and changed by {row.mean:+.3f} ({prob:.0%} HPDI "
                    f"{row.hpdi_low:+.3f} to {row.hpdi_high:+.3f}: {row.verdict}); it is now {row.after:+.3f} "
                    f"({row.after_low:+.3f} to {row.after_high:+.3f}: {row.verdict_after}{forced})."
                )
            changes = self.changes(prob, rope, "population", name)
            for r in changes[
                (changes["level"] == "overall") & changes["connection"].isin(CONTROLS)
            ].itertuples():
                single = item.pairs.loc[item.pairs["connection"] == r.connection, "change"]
                out.append(
                    f"{lead}{r.connection} control words: {r.verdict} on average ({r.mean:+.3f}, {r.hpdi_low:+.3f} to "
                    f"{r.hpdi_high:+.3f}), single pairs by {np.sqrt(np.mean(single**2)):.3f} (root mean square), at most "
                    f"{single.abs().max():.2f}."
                )
        return out

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write fits, pairs and account into a folder, for `load_comparison`; return the paths."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        stems = {}
        for number, (name, found) in enumerate(self._fits().items()):
            stems[name] = f"fit_{number}.nc"
            files.append(folder / stems[name])
            found.save(files[-1])
        methods = []
        for number, (name, item) in enumerate(self.methods.items()):
            path = folder / f"pairs_{number}.csv"
            with whole_file(path) as temporary:
                item.pairs.to_csv(temporary, index=False)
            files.append(path)
            methods.append(
                {
                    "name": name,
                    "pairs": path.name,
                    "account": dict(item.account),
                    "exact": dict(item.exact),
                    "change": stems.get(f"{name}, change"),
                    "after": stems[f"{name}, after"],
                }
            )
        content = {
            "bayesbias_comparison": _FORMAT,
            "original": stems["original"],
            "methods": methods,
            "between": [
                {
                    "first": a,
                    "second": b,
                    "exact": dict(found.exact),
                    "fit": stems.get(f"{a} against {b}"),
                }
                for (a, b), found in self.between.items()
            ],
            "provenance": dict(self.provenance),
        }
        files.append(folder / _FILE)
        with whole_file(files[-1]) as temporary:
            temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        return files

    def __repr__(self) -> str:
        lines = [f"Comparison: {len(self.methods)} debiased against {self.provenance['original']}"]
        for name, item in self.methods.items():
            flags = f" [{', '.join(item.construction.flags)}]" if item.construction.flags else ""
            frame = self._contrasts_of(name, "population", PROB, ROPE)
            text = f"{len(item.pairs):,} pairs"
            if frame is not None:
                row: Any = next(iter(frame.itertuples()))
                text = (
                    f"{row.contrast} changed by {row.mean:+.3f} [{row.hpdi_low:+.3f}, {row.hpdi_high:+.3f}], "
                    f"{row.verdict}; now {row.verdict_after}"
                )
            lines.append(f"  {name}: {text}{flags}")
        if not (state := self.diagnostics())["ok"]:
            lines.append("  NOT TO BE TRUSTED YET: " + state["problems"][0])
        return "\n".join(lines[:8])

    def _fits(self) -> dict[str, BiasFit]:
        out = {"original": self.original}
        for name, item in self.methods.items():
            out |= {f"{name}, change": item.change} if item.change is not None else {}
            out[f"{name}, after"] = item.after
        out |= {f"{a} against {b}": c.fit for (a, b), c in self.between.items() if c.fit is not None}
        return out

    def _names(self, method: str | None) -> list[str]:
        if method is not None and method not in self.methods:
            raise InputError(
                "no such method", found=method, valid=list(self.methods), hint=nearest(method, self.methods)
            )
        return list(self.methods) if method is None else [method]

    def _levels(self, name: str, estimand: str) -> tuple[list[tuple[str, str, str]], np.ndarray]:
        if (name, estimand) not in self._cache:
            item = self.methods[name]
            posterior = item.after.tree["posterior"]
            shape = posterior.sizes["chain"], posterior.sizes["draw"]
            self._cache[name, estimand] = _level_draws(
                _Changes(item.change, item.exact), item.pairs, estimand, shape
            )
        return self._cache[name, estimand]


def compare(
    original: PairTable | pd.DataFrame | str | os.PathLike[str],
    debiased: Any,
    model: str | os.PathLike[str] | ModelSpec = "change",
    *,
    level_model: str | os.PathLike[str] | ModelSpec = LEVEL_MODEL,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    seed: int | None = None,
    cores: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare debiased tables with the original, pair by pair.

    Parameters
    ----------
    original : PairTable, DataFrame or path
        Distances before; see `read_distances`.
    debiased : PairTable, DataFrame or path, or a mapping of names to them
        Distances after. Only pairs that all tables have are compared.
    model : str, path or ModelSpec
        For the differences; its outcome must be ``change``.
    level_model : str, path or ModelSpec
        For the distances of either table, from which the gaps before and after are told.
    draws, tune, chains, seed, cores
        As in `fit`.
    progress : bool, optional
        A bar on the terminal; by default where standard error is one and it pays.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        Where tables cannot be joined (see `join_pairs`) or the model has another outcome.

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion", controls="2021")
    >>> vectors = bb.hard_debias("minilm-static", "religion").embedding
    >>> after = bb.distance_table(vectors, "religion", controls="2021")
    >>> found = bb.compare(before, after, draws=200, tune=300, chains=2, seed=1)
    >>> found.methods["debiased"].construction.flags
    ('equalised', 'controls_moved')
    """
    from bayesbias._progress import ticking

    spec = load_model(model)
    if spec.outcome != "change":
        raise InputError(
            "a model of differences has the outcome 'change'",
            where=f"model {spec.name}",
            found=spec.outcome,
            valid="change, or a copy of it",
        )
    level_spec = load_model(level_model)
    first = _table(original)
    tables = {str(k): _table(v) for k, v in debiased.items()} if isinstance(debiased, Mapping) else None
    if tables is None:
        tables = {"debiased": _table(debiased)}
    if not tables:
        raise InputError("nothing to compare the original with", found="an empty mapping")
    joined = {name: join_pairs(first, table, name) for name, table in tables.items()}
    pairs, accounts = _common(joined)
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    settings: dict[str, Any] = {
        "draws": draws, "tune": tune, "chains": chains, "seed": seed, "cores": cores, "pointwise": False,
    }  # fmt: skip
    some = next(iter(pairs.values()))
    with ticking("fitting", 3 * len(pairs), progress) as tick:
        before = _level_fit(some, "original", first, level_spec, settings)
        tick(1)
        methods = {}
        for name, frame in pairs.items():
            changes = _change_fit(frame, "change", spec, settings, f"{name} against the original")
            tick(1)
            after = _level_fit(frame, "debiased", tables[name], level_spec, settings)
            tick(1)
            methods[name] = Method(
                name, frame, accounts[name], changes.fit, changes.exact, after, find_construction(frame)
            )
        order = _order(methods)
        between = {}
        for a, b in itertools.pairwise(order):
            frame = pairs[a].copy()
            frame["change"] = pairs[a]["debiased"].to_numpy() - pairs[b]["debiased"].to_numpy()
            between[a, b] = _change_fit(frame, "change", spec, settings, f"{a} against {b}")
            tick(1)
    provenance = {
        "original": str(first.provenance.get("name", "original")),
        "tables": {
            "original": dict(first.provenance),
            **{name: dict(table.provenance) for name, table in tables.items()},
        },
        "model": {"name": spec.name, "sha256": spec.sha256},
        "level_model": {"name": level_spec.name, "sha256": level_spec.sha256},
        "sampler": before.provenance["sampler"],
        "versions": before.provenance["versions"],
        "order": order,
    }
    return Comparison(before, methods, between, provenance)


def load_comparison(folder: str | os.PathLike[str]) -> Comparison:
    """Read what `Comparison.save` wrote.

    Raises
    ------
    InputError
        Where the folder holds no comparison, or a damaged one.
    """
    path = Path(folder) / _FILE
    try:
        content = json.loads(read_bytes(path))
    except ValueError as error:
        raise InputError(f"is damaged ({error})", where=path) from None
    if content.get("bayesbias_comparison") != _FORMAT:
        raise InputError(
            "is a comparison in a form that this version does not know",
            where=path,
            found=content.get("bayesbias_comparison"),
            valid=str(_FORMAT),
        )

    def fit_of(name: str | None) -> BiasFit | None:
        return None if name is None else load_fit(Path(folder) / name)

    methods = {}
    try:
        for item in content["methods"]:
            frame = _saved_pairs(Path(folder) / item["pairs"])
            after, change = fit_of(item["after"]), fit_of(item["change"])
            assert after is not None
            methods[item["name"]] = Method(
                item["name"], frame, item["account"], change, item["exact"], after, find_construction(frame)
            )
        between = {
            (item["first"], item["second"]): _Changes(fit_of(item["fit"]), item["exact"])
            for item in content["between"]
        }
        original = fit_of(content["original"])
        assert original is not None
        return Comparison(original, methods, between, content["provenance"])
    except KeyError as error:
        raise InputError(f"is no complete comparison: {error} is missing", where=path) from None


def _saved_pairs(path: Path) -> pd.DataFrame:
    import pandas as pd

    frame = pd.read_csv(path, dtype={c: str for c in COLUMNS[:-1]}, keep_default_na=False)
    present = [c for c in CONNECTIONS if (frame["connection"] == c).any()]
    frame["connection"] = pd.Categorical(frame["connection"], categories=present)
    return frame


# --- fits and draws -----------------------------------------------------------------------------------


def _common(
    joined: Mapping[str, tuple[pd.DataFrame, dict[str, Any]]],
) -> tuple[dict[str, pd.DataFrame], dict[str, dict[str, Any]]]:
    """Keep the pairs that all tables have, and say how many that costs."""
    keyed = {}
    for name, (frame, _) in joined.items():
        repeat = frame.groupby(_KEY, observed=True).cumcount()
        keyed[name] = list(zip(frame["protected_word"], frame["attribute"], repeat, strict=True))
    shared = set.intersection(*(set(keys) for keys in keyed.values()))
    if not shared:
        raise InputError("no pair is in all of the tables", found=", ".join(joined))
    frames, accounts = {}, {}
    for name, (frame, account) in joined.items():
        keep = np.array([key in shared for key in keyed[name]])
        kept = frame[keep].reset_index(drop=True)
        kept["connection"] = kept["connection"].cat.remove_unused_categories()
        notes = list(account["notes"])
        if not keep.all():
            notes.append(f"{int((~keep).sum()):,} pairs are left out because another table lacks them")
        frames[name], accounts[name] = kept, {**account, "pairs": len(kept), "notes": notes}
    return frames, accounts


def _level_fit(
    frame: pd.DataFrame, column: str, source: PairTable, spec: ModelSpec, settings: Mapping[str, Any]
) -> BiasFit:
    table = frame[list(COLUMNS[:-1])].assign(distance=frame[column])
    return fit(PairTable(table, source.coverage, source.provenance), spec, **settings)


def _change_fit(
    frame: pd.DataFrame, column: str, spec: ModelSpec, settings: Mapping[str, Any], name: str
) -> _Changes:
    from bayesbias.distance import Coverage

    exact = {}
    for connection, part in frame.groupby("connection", observed=True, sort=False)[column]:
        if np.ptp(part.to_numpy()) <= EXACT:
            middle = float(part.mean())
            exact[str(connection)] = 0.0 if abs(middle) <= EXACT else middle
    rest = frame[~frame["connection"].isin(list(exact))].reset_index(drop=True)
    if rest.empty:
        return _Changes(None, exact)
    rest["connection"] = rest["connection"].cat.remove_unused_categories()
    return _Changes(fit(PairTable(rest, Coverage({}, {}), {"name": name}), spec, **settings), exact)


def _order(methods: Mapping[str, Method]) -> list[str]:
    """Order the methods by what they leave of the overall gap for new words; those without one keep theirs."""
    left = {}
    for name, item in methods.items():
        names, gaps = _differences(*item.after._levels("population"))
        of = ("overall", "all", "associated - different")
        left[name] = abs(float(gaps[..., names.index(of)].mean())) if of in names else 0.0
    return sorted(methods, key=lambda name: left[name])


def _level_draws(
    changes: _Changes, pairs: pd.DataFrame, estimand: str, shape: tuple[int, ...]
) -> tuple[list[tuple[str, str, str]], np.ndarray]:
    """Draws of the mean change per (level, name, connection), those known exactly among them."""
    if changes.fit is None:
        keys: list[tuple[str, str, str]] = []
        draws = np.empty((*shape, 0))
    else:
        keys, draws = changes.fit._levels(estimand)
    every = list(_counts(pairs))
    at = {key: i for i, key in enumerate(keys)}
    columns = [
        draws[..., at[key]] if key in at else np.full(draws.shape[:2], changes.exact[key[2]]) for key in every
    ]
    return every, np.stack(columns, axis=-1)


def _counts(pairs: pd.DataFrame) -> dict[tuple[str, str, str], int]:
    """Return the number of pairs per (level, name, connection), connections in their usual order."""
    connection = pairs["connection"].astype(str).to_numpy()
    levels = {
        "overall": np.full(len(pairs), "all"),
        "class": pairs["protected_class"].astype(str).to_numpy(),
        "word": pairs["protected_word"].astype(str).to_numpy(),
    }
    out = {}
    for level, names in levels.items():
        for name in dict.fromkeys(names.tolist()):
            mine = connection[names == name]
            for c in CONNECTIONS:
                if count := int((mine == c).sum()):
                    out[level, str(name), c] = count
    return out


def _differences(
    keys: Sequence[tuple[str, str, str]], draws: np.ndarray
) -> tuple[list[tuple[str, str, str]], np.ndarray]:
    at = {key: i for i, key in enumerate(keys)}
    names, columns = [], []
    for level, name in dict.fromkeys((level, name) for level, name, _ in keys):
        for a, b in CONTRASTS:
            if (level, name, a) in at and (level, name, b) in at:
                names.append((level, name, f"{a} - {b}"))
                columns.append(draws[..., at[level, name, a]] - draws[..., at[level, name, b]])
    return names, np.stack(columns, axis=-1) if columns else np.empty((*draws.shape[:2], 0))


def _with_probabilities(draws: np.ndarray, prob: float, rope: float) -> pd.DataFrame:
    if not rope > 0:
        raise InputError("the half-width of the ROPE must be positive", found=rope)
    frame = described(draws, prob)
    flat = draws.reshape(-1, draws.shape[-1])
    # A number that is known is known by every draw.
    known = np.ptp(flat, axis=0) == 0
    frame.loc[known, "ess_bulk"], frame.loc[known, "r_hat"] = float(len(flat)), 1.0
    frame.loc[known, "sd"] = 0.0
    frame["p_below_zero"] = (flat < 0).mean(axis=0)
    frame["p_in_rope"] = (np.abs(flat) < rope).mean(axis=0)
    frame["rope"] = rope
    return frame


def _estimands(estimand: str | None) -> tuple[str, ...]:
    if estimand is not None and estimand not in ESTIMANDS:
        raise InputError("unknown estimand", found=estimand, valid=ESTIMANDS)
    return ESTIMANDS if estimand is None else (estimand,)
