"""Original against debiased as a value: what changed, for whom, and what changed by construction.

Questions that are kept apart:

- did distances change (`Comparison.changes`), and did the gaps between connections (`Comparison.contrasts`)?
- what is left of the gaps afterwards (the columns ``after``, ``verdict_after``), and of everything else
  (`Comparison.geometry`)? Vectors turned into noise have no gap either.
- what could not have come out otherwise, because the method forces it (`Construction`)?
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.digits import as_known, ends_as_known
from bayesbias.core.errors import FitError, InputError, nearest
from bayesbias.inference.estimands import PROB, ROPE
from bayesbias.inference.estimates import (
    COLUMNS,
    beside,
    chosen_rows,
    contrast_draws,
    draws_with,
    error_of_share,
    joined_chains,
    joined_rows,
    keys_of_rows,
    labelled_draws,
    relabelled,
)
from bayesbias.inference.posterior import BiasFit
from bayesbias.models.spec import Results
from bayesbias.studies.debiasing.construction import Construction, Forced, control_changes
from bayesbias.studies.debiasing.fits import (
    ChangesFit,
    chosen_estimands,
    described_changes,
    draws_of_changes,
)
from bayesbias.studies.debiasing.geometry import Geometry, find_geometry
from bayesbias.tables.change import pairs_by_level

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["Comparison", "Method"]

_MOST_SHOWN = 6  # lines of methods, so that a comparison and what is wrong with it take eight
_BETWEEN_METHODS = ["method", "next", "estimand", *COLUMNS, "p_nearer_zero", "mcse_p_nearer_zero"]
OF_INTEREST = "associated - different"  # the contrast by which methods are ranked


@dataclass(frozen=True, eq=False, repr=False)
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

    @functools.cached_property
    def geometry(self) -> Geometry:
        """What is left of the geometry of control words."""
        return find_geometry(self.pairs)

    @property
    def control_rms(self) -> float | None:
        """Root mean square change of the pairs with control words; None where there are none."""
        controls = control_changes(self.pairs)
        return None if controls.empty else float(controls["rms_change"].iloc[0])

    def __repr__(self) -> str:
        flags = f" [{', '.join(self.construction.flags)}]" if self.construction.flags else ""
        return f"Method: {self.name}, {len(self.pairs):,} pairs{flags}"


@dataclass(frozen=True, eq=False, repr=False)
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

    Examples
    --------
    >>> import bayesbias as bb
    >>> before = bb.distance_table("minilm-static", "religion", controls="none")
    >>> after = before.frame.assign(distance=(1 + before.frame["distance"]) / 2)  # every cosine halved
    >>> found = bb.compare(before, after, draws=100, tune=100, chains=2, seed=1)
    >>> list(found.methods), found.changes().columns.tolist()[:3]
    (['debiased'], ['method', 'level', 'name'])
    """

    study = "debiasing"  # whose sections show it, see bayesbias.output

    original: BiasFit
    methods: Mapping[str, Method]
    between: Mapping[tuple[str, str], ChangesFit]
    provenance: Mapping[str, Any]
    # Made once and asked for by every view of the result; no part of what it is.
    _kept: dict[Any, Any] = field(default_factory=dict, init=False, compare=False)

    def changes(
        self, prob: float = PROB, rope: float = ROPE, estimand: str | None = None, method: str | None = None
    ) -> pd.DataFrame:
        """Change of the mean distance (debiased minus original) per connection, overall and at each level of the models.

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the highest posterior density interval.
        rope : float > 0
            Half-width of the region of practical equivalence, in cosine distance.
        estimand : {"population", "listed_words"}, optional
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
        for name in self.chosen_methods(method):
            item = self.methods[name]
            for which in chosen_estimands(estimand):
                frame = described_changes(self._changes_of(name, which), prob, rope)
                # The rows of the draws are those of the counts.
                frame["n_pairs"] = list(pairs_by_level(item.pairs, self.levels_of(name)).values())
                frame["exact"] = frame["connection"].isin(list(item.exact))
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
            after_high`` of the gap itself from the fits of either table, ``verdict_after``, and ``by_construction``: how
            much of the gap after could not have come out otherwise, a value of `Forced`. Of ``associated - different``
            overall it is ``wholly`` where all sets of words are equalized and ``partly`` where some are, of all else ``no``: of
            one class or word that contrast compares different attributes and stays open, and a class whose stereotypes lie
            near everything keeps its gap.
        """
        import pandas as pd

        frames = []
        for name in self.chosen_methods(method):
            for which in chosen_estimands(estimand):
                frame = self._contrasts_of(name, which, prob, rope)
                if frame is not None:
                    frames.append(frame)
        if not frames:
            raise FitError("the tables hold no two connections that are contrasted with each other")
        return pd.concat(frames, ignore_index=True)

    def _contrasts_of(self, name: str, which: str, prob: float, rope: float) -> pd.DataFrame | None:
        """Return the contrasts of one method and estimand; kept, since every view of the result asks again."""
        key = ("contrasts", name, which, prob, rope)
        if key not in self._kept:
            self._kept[key] = self._contrasts_made(name, which, prob, rope)
        kept = self._kept[key]
        return None if kept is None else kept.copy()

    def _contrasts_made(self, name: str, which: str, prob: float, rope: float) -> pd.DataFrame | None:
        item = self.methods[name]
        draws = self._gaps_of(name, which)
        if not draws.sizes["row"]:
            return None
        frame = described_changes(draws, prob, rope)
        rows = keys_of_rows(draws, "level", "name", "contrast")
        gaps = {
            "before": self.original.contrasts(prob, rope, which),
            "after": item.after.contrasts(prob, rope, which),
        }
        for label, gap in gaps.items():
            gap = gap.set_index(["level", "name", "contrast"]).loc[rows]
            frame = frame.assign(**{key: of.to_numpy() for key, of in beside(gap, label).items()})
        frame["verdict_after"] = gap["verdict"].to_numpy()
        # Of one class or word the contrast is between different attributes, which construction does not tie.
        tied = (frame["contrast"] == OF_INTEREST) & (frame["level"] == "overall")
        forced = item.construction.forced.value
        frame["by_construction"] = [forced if each else Forced.NO.value for each in tied]
        return frame

    def ranking(self, prob: float = PROB, rope: float = ROPE, estimand: str = "population") -> pd.DataFrame:
        """Rank the methods by what they leave of the gap between associated and different attributes.

        A method that destroys the vectors closes every gap: it stands last and has no rank. Neighbours are told apart by a
        fit of the *difference of their distances*, in which all that they share cancels; two separate intervals that
        overlap would tell nothing.

        Returns
        -------
        DataFrame
            Best first: ``rank`` (missing where the geometry of the control words is mostly destroyed or unrelated),
            ``method, estimand, gap, gap_low, gap_high`` (after debiasing), ``verdict_after, change, change_low,
            change_high, control_rms`` (root mean square change of the pairs with control words, the price), ``geometry,
            controls, controls_low, controls_high`` (what is left of the geometry, and the lower of the two
            correlations that say so; see `geometry`), ``by_construction``, ``p_nearer_zero_than_next`` and
            ``verdict_next``, both missing in the last row.

        Notes
        -----
        With M the middle of the two gaps and D their difference, drawn from its own fit, the quantity compared is
        ``|M + D/2| - |M - D/2|``: what the gap of one lies farther from zero than that of the other. M scatters as the gap of
        the second does, and independently of D.
        """
        import pandas as pd

        rows = []
        order = self.provenance["order"]
        ranks = self.ranks(prob)
        for name in order:
            item, geometry = self.methods[name], self.geometry_of(name, prob)
            frame = self._contrasts_of(name, estimand, prob, rope)
            row = (
                None
                if frame is None
                else frame[(frame["level"] == "overall") & (frame["contrast"] == OF_INTEREST)]
            )
            if row is None or row.empty:
                raise FitError(f"methods are ranked by {OF_INTEREST}, which the tables do not hold")
            gap: Any = next(iter(row.itertuples()))
            rows.append(
                {
                    "rank": ranks[name],
                    "method": name,
                    "estimand": estimand,
                    "gap": gap.after,
                    "gap_low": gap.after_low,
                    "gap_high": gap.after_high,
                    "verdict_after": gap.verdict_after,
                    "change": gap.mean,
                    "change_low": gap.hpdi_low,
                    "change_high": gap.hpdi_high,
                    "control_rms": item.control_rms,
                    "geometry": geometry.left.value,
                    "controls": geometry.least.value,
                    "controls_low": geometry.least.low,
                    "controls_high": geometry.least.high,
                    "by_construction": gap.by_construction,
                    **{f"mcse_gap{end}": getattr(gap, f"mcse_after{end}") for end in ("", "_low", "_high")},
                    "mcse_change": gap.mcse_mean,
                    "mcse_change_low": gap.mcse_low,
                    "mcse_change_high": gap.mcse_high,
                }
            )
        frame = pd.DataFrame(rows)
        following = self.between_methods(prob, rope, estimand).set_index("method")
        # What has no rank is held against none, whichever of two it is.
        held = [
            name
            if name in following.index and None not in (ranks[name], ranks[following["next"][name]])
            else None
            for name in order
        ]
        frame["p_nearer_zero_than_next"] = [following["p_nearer_zero"].get(name) for name in held]
        frame["verdict_next"] = [following["verdict"].get(name) for name in held]
        return frame.astype({"rank": "Int64", "p_nearer_zero_than_next": "Float64", "control_rms": "Float64"})

    def ranks(self, prob: float = PROB) -> dict[str, int | None]:
        """Return the rank of each method in the order of the ranking; None where the geometry is destroyed."""
        ranked = itertools.count(1)
        return {
            name: None if self.geometry_of(name, prob).left.destroyed else next(ranked)
            for name in self.provenance["order"]
        }

    def geometry_of(self, method: str, prob: float = PROB) -> Geometry:
        """Return what a method leaves of the geometry of control words, with intervals of a probability."""
        of_method = self._of(method)
        if prob == PROB:
            return of_method.geometry
        if ("geometry", method, prob) not in self._kept:
            self._kept["geometry", method, prob] = find_geometry(of_method.pairs, prob)
        geometry: Geometry = self._kept["geometry", method, prob]
        return geometry

    def geometry(self, prob: float = PROB, method: str | None = None) -> pd.DataFrame:
        """Say how much each method leaves of the distances to control words, and of the gap beside their spread.

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the intervals.
        method : str, optional
            By default all.

        Returns
        -------
        DataFrame
            ``method, left`` (see `Left`), ``n_words, n_attributes, n_pairs``; ``correlation``, ``relations`` and
            ``slope`` of distances after on those before (see `Geometry`), each with its ``_low`` and ``_high``;
            ``rms`` and, as its yardstick, ``rms_unrelated``; ``sd_before, sd_after, largest, prob``; and ``gap_before``
            and ``gap_after``, each with ``_low`` and ``_high``: the overall gap between associated and different
            attributes, for new words, in standard deviations of the distances to control words before, or after.
            Missing where there are no control words, or no such gap.
        """
        import pandas as pd

        rows = []
        for name in self.chosen_methods(method):
            geometry = self.geometry_of(name, prob)
            row: dict[str, Any] = {"method": name, "left": geometry.left.value}
            row |= {key: getattr(geometry, key) for key in ("n_words", "n_attributes", "n_pairs")}
            for key in ("correlation", "relations", "slope"):
                related = getattr(geometry, key)
                row |= {key: related.value, f"{key}_low": related.low, f"{key}_high": related.high}
            row |= {
                key: getattr(geometry, key)
                for key in ("rms", "rms_unrelated", "sd_before", "sd_after", "largest")
            }
            rows.append({**row, "prob": prob, **self._gap_in_sds(name, geometry, prob)})
        return pd.DataFrame(rows)

    def _gap_in_sds(self, name: str, geometry: Geometry, prob: float) -> dict[str, float]:
        frame = self._contrasts_of(name, "population", prob, ROPE)
        rows = [] if frame is None else frame[frame["level"] == "overall"].to_dict("records")
        gap: Any = next((row for row in rows if row["contrast"] == OF_INTEREST), None)
        return {
            f"{error}gap_{when}{end}": float("nan")
            if gap is None or not sd > 0
            else gap[f"{error}{when}{end}"] / sd
            for error in ("", "mcse_")
            for when, sd in (("before", geometry.sd_before), ("after", geometry.sd_after))
            for end in ("", "_low", "_high")
        }

    def between_methods(
        self, prob: float = PROB, rope: float = ROPE, estimand: str = "population"
    ) -> pd.DataFrame:
        """Say of each method how much nearer to zero its gap lies than that of the next in the ranking.

        Returns
        -------
        DataFrame
            ``method, next, estimand, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat, p_below_zero, p_in_rope,
            rope`` of what the gap of the first lies farther from zero than that of the second (see the notes of
            `ranking`), ``p_nearer_zero`` (of the first; a tie counts for both) and ``verdict``. Empty where there is
            one method.
        """
        import pandas as pd

        if len(self.methods) < 2:
            return pd.DataFrame(columns=_BETWEEN_METHODS)
        draws = self.draws_of("between_methods", estimand=estimand)
        frame = described_changes(draws, prob, rope)
        flat = joined_chains(draws.to_numpy())
        frame["p_nearer_zero"] = (flat < 0).mean(axis=0) + (flat == 0).mean(axis=0) / 2
        frame["mcse_p_nearer_zero"] = error_of_share(frame["p_nearer_zero"], frame["ess_bulk"])
        return frame

    def results_of(self, method: str) -> Results:
        """Return what the changes of a method hold for: as the model of changes says, or where none was fitted that of gaps."""
        item = self._of(method)
        return (item.after if item.change is None else item.change).spec.results

    def levels_of(self, method: str) -> dict[str, str]:
        """Return the levels below overall at which a change and the gaps before and after are known, and their columns."""
        known = self.original.spec.results.levels
        levels = self.results_of(method).levels
        return {
            name: level.by
            for name, level in levels.items()
            if name in known and known[name].by == level.by and known[name].population
        }

    def draws_of(self, table: str, **arguments: Any) -> xr.DataArray:
        """Return the draws behind every row of a table of results.

        Parameters
        ----------
        table : {"changes", "contrasts", "between_methods"}
            The method that gives the table.
        **arguments
            As of that method; `prob` and `rope` change no draw.

        Returns
        -------
        xarray.DataArray
            Dimensions ``chain, draw, row``, rows in the order of the table; the coordinates of `row` are the
            columns that label them (such as ``method, level, name, contrast, estimand``).
        """
        makers: dict[str, Callable[..., xr.DataArray]] = {
            "changes": self._changes_draws,
            "contrasts": self._contrasts_draws,
            "between_methods": self._draws_between,
        }
        return draws_with(self, makers, table, arguments)

    def slopes(self, prob: float = PROB) -> pd.DataFrame:
        """Return what covariates about words do to the changes: `BiasFit.slopes` of each method, with ``method`` in front.

        Raises
        ------
        FitError
            For a model of changes without slopes, or where no change had to be fitted.
        """
        import pandas as pd

        fits = {name: item.change for name, item in self.methods.items() if item.change is not None}
        if not fits:
            raise FitError("every change is known exactly, and has no slope")
        frames = [fit.slopes(prob) for fit in fits.values()]
        for name, frame in zip(fits, frames, strict=True):
            frame.insert(0, "method", name)
        return pd.concat(frames, ignore_index=True)

    @property
    def has_slopes(self) -> bool:
        """Whether the model of the changes has slopes on covariates about words."""
        return any(
            item.change is not None and item.change.spec.covariates() for item in self.methods.values()
        )

    def _changes_draws(self, estimand: str | None, method: str | None) -> xr.DataArray:
        names, estimands = self.chosen_methods(method), chosen_estimands(estimand)
        return joined_rows([self._changes_of(name, which) for name in names for which in estimands])

    def _contrasts_draws(self, estimand: str | None, method: str | None) -> xr.DataArray:
        names, estimands = self.chosen_methods(method), chosen_estimands(estimand)
        parts = [self._gaps_of(name, which) for name in names for which in estimands]
        if not any(part.sizes["row"] for part in parts):
            raise FitError("the tables hold no two connections that are contrasted with each other")
        return joined_rows(parts)

    def _changes_of(self, name: str, estimand: str) -> xr.DataArray:
        """Draws of the mean changes of one method; kept, since every view of the result asks again."""
        key = ("changes", name, estimand)
        if key not in self._kept:
            item = self.methods[name]
            posterior = item.after.idata["posterior"]
            shape = posterior.sizes["chain"], posterior.sizes["draw"]
            changes, levels = ChangesFit(item.change, item.exact), self.levels_of(name)
            draws = draws_of_changes(changes, item.pairs, estimand, shape, levels)
            self._kept[key] = relabelled(draws, method=[name] * draws.sizes["row"])
        return self._kept[key]

    def _gaps_of(self, name: str, estimand: str) -> xr.DataArray:
        draws = contrast_draws(self._changes_of(name, estimand))
        return relabelled(draws, method=[name] * draws.sizes["row"])

    def _draws_between(self, estimand: str) -> xr.DataArray:
        order = self.provenance["order"]
        parts = [self._draws_of_two(a, b, estimand) for a, b in itertools.pairwise(order)]
        posterior = self.original.idata["posterior"]
        shape = posterior.sizes["chain"], posterior.sizes["draw"]
        return labelled_draws(
            np.stack(parts, axis=-1) if parts else np.empty((*shape, 0)),
            {"method": order[:-1], "next": order[1:], "estimand": estimand},
        )

    def _draws_of_two(self, name: str, following: str, estimand: str) -> np.ndarray:
        """Draws of what the gap of one method lies farther from zero than that of the next."""
        of = [("associated", "different")]
        first, second = (
            contrast_draws(self.methods[each].after.draws_of("means", level="overall", estimand=estimand), of)
            for each in (name, following)
        )
        if not first.sizes["row"]:
            raise FitError(f"methods are ranked by {OF_INTEREST}, which the tables do not hold")
        # All fits have one seed, and draw their effects from the same random numbers: draws of the same place go together
        # by that alone. Half a chain apart they do not.
        gap = np.roll(second.to_numpy()[..., 0], second.sizes["draw"] // 2, axis=1)
        mine = first.to_numpy()[..., 0]
        changes = draws_of_changes(
            self.between[name, following], self.methods[following].pairs, estimand, gap.shape
        )
        apart = contrast_draws(chosen_rows(changes, level="overall"), of).to_numpy()[..., 0]
        half = float(mine.mean()) / 2 + float(gap.mean()) / 2 + gap - gap.mean()
        return np.abs(half + apart / 2) - np.abs(half - apart / 2)

    def diagnostics(self) -> dict[str, Any]:
        """Say whether the samplers can be believed: `BiasFit.diagnostics` of every fit, ``ok`` and ``problems``."""
        fits = {name: fit.diagnostics() for name, fit in self.fits().items()}
        problems = [f"{name}: {text}" for name, fit in fits.items() for text in fit["problems"]]
        return {"ok": not problems, "problems": problems, "fits": fits}

    def __repr__(self) -> str:
        lines = [f"Comparison: {len(self.methods)} debiased against {self.provenance['original']}"]
        shown = len(self.methods) if len(self.methods) <= _MOST_SHOWN else _MOST_SHOWN - 1
        for name, item in list(self.methods.items())[:shown]:
            flags = f" [{', '.join(item.construction.flags)}]" if item.construction.flags else ""
            flags += f" [controls {item.geometry.left.label}]" if item.geometry.left.marked else ""
            frame = self._contrasts_of(name, "population", PROB, ROPE)
            text = f"{len(item.pairs):,} pairs"
            if frame is not None:
                row: Any = next(iter(frame.itertuples()))
                text = (
                    f"{row.contrast} changed by {as_known(row, 'mean', signed=True)} "
                    f"[{', '.join(ends_as_known(row, signed=True))}], {row.verdict}; now {row.verdict_after}"
                )
            lines.append(f"  {name}: {text}{flags}")
        if shown < len(self.methods):
            lines.append(f"  and {len(self.methods) - shown} more")
        if not (state := self.diagnostics())["ok"]:
            lines.append("  NOT TO BE TRUSTED YET: " + state["problems"][0])
        return "\n".join(lines)

    def fits(self) -> dict[str, BiasFit]:
        """Return every fit by its name: the original, then of each method the change and what is after, then neighbors."""
        out = {"original": self.original}
        for name, item in self.methods.items():
            out |= {f"{name}, change": item.change} if item.change is not None else {}
            out[f"{name}, after"] = item.after
        out |= {f"{a} against {b}": c.fit for (a, b), c in self.between.items() if c.fit is not None}
        return out

    def _of(self, method: str) -> Method:
        return self.methods[checks.choice(method, self.methods, "method", "method")]

    def chosen_methods(self, method: str | None = None) -> list[str]:
        """Return the names of all methods, or the one that is asked for, which must be there."""
        if method is not None and method not in self.methods:
            raise InputError(
                "no such method", found=method, valid=list(self.methods), hint=nearest(method, self.methods)
            )
        return list(self.methods) if method is None else [method]
