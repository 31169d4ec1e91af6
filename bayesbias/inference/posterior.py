"""BiasFit: what a fit found, and the questions one may ask of it."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias.basics import checks
from bayesbias.basics.errors import FitError
from bayesbias.basics.face import public_in
from bayesbias.basics.files import whole_file
from bayesbias.inference.diagnostics import (
    MAX_R_HAT,
    MIN_DRAWS_PER_CHAIN,
    MIN_ESS_PER_CHAIN,
    describe_draws,
    quiet_about_few_draws,
)
from bayesbias.inference.estimands import CONTRASTS, ESTIMANDS, PROB, ROPE, level_means
from bayesbias.models.design import Design, labels_of
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["BiasFit"]

_MOST_LINES = 5  # of results in a repr
FIT_FORMAT = 1  # of the netCDF file


@public_in("bayesbias")
@dataclass(frozen=True, repr=False)
class BiasFit:
    """The posterior of one model on one table.

    Attributes
    ----------
    tree : xarray.DataTree
        Groups ``posterior``, ``sample_stats``, ``observed_data`` and, unless the fit was asked to leave
        them out, ``log_likelihood``, ``posterior_predictive`` and ``prior_predictive``.
    table : pandas.DataFrame
        The rows that were fitted.
    spec : ModelSpec
    provenance : dict
        Names and SHA-256 of the inputs, coverage, seed, sampler, versions, timing.
    """

    tree: xr.DataTree
    table: pd.DataFrame
    spec: ModelSpec
    provenance: Mapping[str, Any]
    # Not part of what the fit is: a copy with another tree starts with none.
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, compare=False)

    @property
    def design(self) -> Design:
        """The index arrays of the model on the table."""
        if "design" not in self._cache:
            self._cache["design"] = Design.of(self.spec, self.table)
        return self._cache["design"]

    def draws(self) -> dict[str, np.ndarray]:
        """Return all posterior draws, chains joined.

        Returns
        -------
        dict of str to ndarray, shape (chains * draws, *shape of the parameter)
            To be read, not to be written into: they are those of the tree.
        """
        posterior = self.tree["posterior"]
        out = {}
        for name in self.spec.parameters:
            values = posterior[name].transpose("chain", "draw", ...).to_numpy()
            out[name] = values.reshape((-1, *values.shape[2:]))
            out[name].flags.writeable = False
        return out

    def summary(self, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Mean of the outcome per connection (or whatever the model gives its results for).

        Parameters
        ----------
        prob : float in (0, 1)
            Probability of the highest posterior density interval.
        estimand : {"population", "these_words"}
            Or one that the model declares.

        Returns
        -------
        DataFrame
            One row per connection: ``connection, estimand, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk,
            r_hat, n_pairs``. Distances are in [0, 2].
        """
        return self.means("overall", prob, estimand).drop(columns=["level", "name"])

    def words(self, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Mean distance per protected word and connection.

        Under ``population`` the attributes are new ones like those listed; the protected word is itself.
        Columns as in `summary`, with ``protected_word`` and ``protected_class`` in front, without ``n_pairs``.
        """
        frame = self.means("word", prob, estimand).drop(columns=["level", "n_pairs"])
        frame = frame.rename(columns={"name": "protected_word"})
        classes = self.table.drop_duplicates("protected_word").set_index("protected_word")["protected_class"]
        frame.insert(1, "protected_class", [str(classes[word]) for word in frame["protected_word"]])
        return frame

    def means(self, level: str, prob: float = PROB, estimand: str = "population") -> pd.DataFrame:
        """Mean of the outcome at one of the model's levels.

        Parameters
        ----------
        level : str
            ``overall``, or a level of the model: ``class`` and ``word`` unless its file says otherwise.
        prob : float in (0, 1)
        estimand : {"population", "these_words"}
            Or one that the model declares.

        Returns
        -------
        DataFrame
            ``level, name, connection, estimand, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat, n_pairs``;
            the third column has the name of what the model gives results for.
        """
        self._check_level(level)
        kept = ("means", level, estimand, prob)
        if kept in self._cache:
            return self._cache[kept].copy()
        results = self.spec.results
        keys, draws = self._levels(estimand)
        rows = [i for i, (own, _, _) in enumerate(keys) if own == level]
        frame = describe_draws(draws[..., rows], prob)
        names = [keys[i][1] for i in rows]
        groups = [keys[i][2] for i in rows]
        for place, (column, values) in enumerate(
            {"level": level, "name": names, results.group: groups, "estimand": estimand}.items()
        ):
            frame.insert(place, column, values)
        columns = [results.group] if level == "overall" else [results.levels[level].by, results.group]
        counts = self.table.groupby(columns, observed=True, sort=False).size()
        found = {tuple(map(str, np.atleast_1d(np.array(key, dtype=object)))): n for key, n in counts.items()}
        frame["n_pairs"] = [
            int(found[(group,) if level == "overall" else (name, group)])
            for name, group in zip(names, groups, strict=True)
        ]
        self._cache[kept] = frame
        return frame.copy()

    def shares(self, prob: float = PROB, group: str | None = None) -> pd.DataFrame:
        """Shares of the variance around the means: what the pairs have in common, and what is left.

        The variance of one new row is the sum of the variances of the effects it takes part in and of the
        noise; effects are put together by the columns they belong to (those that are no sample of more apart).

        Parameters
        ----------
        prob : float in (0, 1)
        group : str, optional
            One label of what the model gives results for (a connection), to look at its rows alone.

        Returns
        -------
        DataFrame
            ``source, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat``, in the order of the model, the
            source ``residual`` last. Means add up to one.

        Raises
        ------
        FitError
            For a model with Student-t noise, which need not have a variance.
        """
        sources, draws = self._shares(group)
        frame = describe_draws(draws, prob)
        frame.insert(0, "source", sources)
        return frame

    def _shares(self, group: str | None) -> tuple[list[str], np.ndarray]:
        """Return sources of variance, and draws of their shares, shape (chain, draw, source)."""
        if self.spec.likelihood != "Normal":
            raise FitError(f"shares of variance need normal noise, and {self.spec.label} has another")
        labels, codes = labels_of(self.table[self.spec.results.group], self.spec.results.group)
        if group is not None:
            checks.choice(group, labels, str(self.spec.results.group).replace("_", " "))
        rows = np.ones(len(codes), dtype=bool) if group is None else codes == labels.index(group)
        design, draws = self.design, self.draws()

        def variance(value: float | str, entries: np.ndarray) -> np.ndarray:
            if not isinstance(value, str):
                return np.array([value**2])
            flat = draws[value].reshape(len(draws[value]), -1)
            used, counts = np.unique(entries, return_counts=True)
            return (flat[:, used] ** 2) @ (counts / counts.sum())

        found: dict[str, Any] = {}
        for name in self.spec.location_parameters():
            if not self.spec.is_random(name):
                continue
            dims = [dim for dim in self.spec.parameters[name].dims if dim not in self.spec.results.fixed]
            source = " x ".join(sorted(dims)) or name
            entries = design.parent[name, "sigma"][design.index[name][rows]]
            found[source] = found.get(source, 0) + variance(self.spec.parameters[name].args["sigma"], entries)
        sigma = self.spec.noise["sigma"]
        found["residual"] = variance(sigma, design.index[sigma][rows] if isinstance(sigma, str) else rows)
        parts = np.stack(np.broadcast_arrays(*found.values()), axis=-1)
        chains = self.tree["posterior"].sizes["chain"]
        return list(found), (parts / parts.sum(axis=-1, keepdims=True)).reshape(chains, -1, len(found))

    def contrasts(
        self,
        prob: float = PROB,
        rope: float = ROPE,
        estimand: str | None = None,
        level: str | None = None,
    ) -> pd.DataFrame:
        """Differences between connections, overall, per protected class and per protected word.

        A negative ``associated - different`` says that words lie nearer to the stereotypes of their own
        class than to those of others.

        Parameters
        ----------
        prob : float in (0, 1)
        rope : float > 0
            Half-width of the region of practical equivalence around zero.
        estimand : {"population", "these_words"}, optional
            Or one that the model declares. By default the first two, one after the other.
        level : str, optional
            ``overall`` or a level of the model; by default all.

        Returns
        -------
        DataFrame
            ``level, name, contrast, estimand, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat,
            p_below_zero, p_in_rope, rope``.
        """
        import pandas as pd

        checks.positive(rope, "rope")
        if level is not None:
            self._check_level(level)
        frames = [
            frame
            for which in (ESTIMANDS if estimand is None else (estimand,))
            for own in (("overall", *self.spec.results.levels) if level is None else (level,))
            if (frame := self._contrasts_at(own, which, prob, rope)) is not None
        ]
        if not frames:
            group = self.spec.results.group
            hint = (
                ""
                if group == "connection"
                else "; see means() and summary(), and for sentiment sentiment_in_words()"
            )
            raise FitError(f"the table holds no two {group}s that are contrasted with each other{hint}")
        # A copy, since concat hands on the memory of a single frame.
        return pd.concat(frames, ignore_index=True).copy()

    def _contrasts_at(self, level: str, estimand: str, prob: float, rope: float) -> pd.DataFrame | None:
        """Return the contrasts of one level; kept, since every table, figure and sentence asks for them again."""
        key = ("contrasts", level, estimand, prob, rope)
        if key in self._cache:
            return self._cache[key]
        keys, draws = self._levels(estimand)
        at = {key: i for i, key in enumerate(keys)}
        names, diffs = [], []
        for name in dict.fromkeys(name for own, name, _ in keys if own == level):
            for a, b in self._contrasted():
                if (level, name, a) in at and (level, name, b) in at:
                    names.append((name, f"{a} - {b}"))
                    diffs.append(draws[..., at[level, name, a]] - draws[..., at[level, name, b]])
        frame = None
        if names:
            stacked = np.stack(diffs, axis=-1)
            frame = describe_draws(stacked, prob)
            frame.insert(0, "level", level)
            frame.insert(1, "name", [name for name, _ in names])
            frame.insert(2, "contrast", [contrast for _, contrast in names])
            frame.insert(3, "estimand", estimand)
            flat = stacked.reshape(-1, stacked.shape[-1])
            frame["p_below_zero"] = (flat < 0).mean(axis=0)
            frame["p_in_rope"] = (np.abs(flat) < rope).mean(axis=0)
            frame["rope"] = rope
        self._cache[key] = frame
        return frame

    def parameters(self, prob: float = PROB) -> pd.DataFrame:
        """Every parameter of the model but the per-attribute ones.

        Returns
        -------
        DataFrame
            ``name, index, mean, sd, hpdi_low, hpdi_high, prob, ess_bulk, r_hat``; `index` joins the labels of
            an entry by ``", "`` and is empty for a single number.
        """
        names, columns = [], []
        for name, parameter in self.spec.parameters.items():
            if "attribute" in parameter.dims:
                continue
            values = self.tree["posterior"][name].transpose("chain", "draw", ...).to_numpy()
            labels = [self.design.coords[dim] for dim in parameter.dims]
            for entry in np.ndindex(values.shape[2:]):
                names.append((name, ", ".join(labels[k][i] for k, i in enumerate(entry))))
                columns.append(values[(slice(None), slice(None), *entry)])
        frame = describe_draws(np.stack(columns, axis=-1), prob)
        frame.insert(0, "name", [name for name, _ in names])
        frame.insert(1, "index", [label for _, label in names])
        return frame

    def diagnostics(self) -> dict[str, Any]:
        """Say whether the sampler can be believed.

        Returns
        -------
        dict
            ``divergences`` (count), ``max_r_hat``, ``min_ess_bulk`` over all parameters (of a collapsed fit: all
            but the per-attribute ones, which are drawn exactly given the others; None where there are too few
            chains or draws for one), ``ok``, and ``problems``: a list of sentences, empty where all
            is well.
        """
        if "diagnostics" in self._cache:
            return copy.deepcopy(self._cache["diagnostics"])
        import arviz as az

        posterior = self.tree["posterior"].to_dataset()
        if self.provenance.get("sampler", {}).get("method") == "collapsed":
            # Attribute effects, most of all numbers, are drawn exactly given the scales: they mix as those do.
            posterior = posterior[[n for n, p in self.spec.parameters.items() if "attribute" not in p.dims]]
        stats = self.tree["sample_stats"]
        divergences = int(stats["diverging"].sum()) if "diverging" in stats else 0
        with quiet_about_few_draws():
            r_hat = {str(k): v.to_numpy() for k, v in az.rhat(posterior).data_vars.items()}
            ess = {str(k): v.to_numpy() for k, v in az.ess(posterior, method="bulk").data_vars.items()}
        chains, per_chain = posterior.sizes["chain"], posterior.sizes["draw"]
        known = chains > 1 and per_chain >= MIN_DRAWS_PER_CHAIN
        # NaN is no R-hat at all, and would be lost in a maximum; it is said apart.
        highest = {name: float(np.nanmax(v, initial=0.0)) for name, v in r_hat.items()}
        lowest = {name: float(np.nanmin(v, initial=np.inf)) for name, v in ess.items()}
        max_r_hat, min_ess = max(highest.values()), min(lowest.values())
        still = [name for name, v in r_hat.items() if np.isnan(v).any()]
        enough = MIN_ESS_PER_CHAIN * chains
        problems = []
        if divergences:
            problems.append(
                f"{divergences} divergent transitions: the sampler could not follow the posterior everywhere; "
                "try more tuning steps, or a tighter prior on the spreads"
            )
        if not known:
            problems.append(
                f"R-hat needs at least two chains of {MIN_DRAWS_PER_CHAIN} draws, and here are {chains} of {per_chain}: nothing "
                "shows whether the sampler has converged; take more (four chains are usual)"
            )
        elif still:
            problems.append(
                f"some entries of {', '.join(still)} have the same value in every draw: the sampler did not move"
            )
        if known and max_r_hat >= MAX_R_HAT:
            worst = max(highest, key=lambda name: highest[name])
            problems.append(
                f"R-hat reaches {max_r_hat:.3f} in {worst} (it should stay below {MAX_R_HAT}): the chains do not "
                "agree yet; draw longer"
            )
        if min_ess < enough:
            worst = min(lowest, key=lambda name: lowest[name])
            problems.append(
                f"only {min_ess:.0f} effective draws in {worst} (at least {enough} are wanted): means and intervals "
                "are noisy; draw longer"
            )
        out = {
            "divergences": divergences,
            "max_r_hat": max_r_hat if known and np.isfinite(max_r_hat) else None,
            "min_ess_bulk": min_ess if np.isfinite(min_ess) else None,
            "ok": not problems,
            "problems": problems,
        }
        self._cache["diagnostics"] = out
        return copy.deepcopy(out)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one netCDF file, whole or not at all.

        The pointwise log-likelihood is left out, since `load_fit` recomputes it exactly from the draws.
        """
        import xarray as xr

        tree = self.tree.copy()
        pointwise = "log_likelihood" in tree.children
        if pointwise:
            del tree["log_likelihood"]
        table = self.table.reset_index(drop=True)
        columns = {
            str(name): (
                "row",
                column.astype(str).to_numpy(dtype=object)
                if column.dtype.kind not in "fiu"
                else column.to_numpy(),
            )
            for name, column in table.items()
        }
        tree["table"] = xr.DataTree(xr.Dataset(columns))
        tree.attrs["bayesbias_format"] = FIT_FORMAT
        tree.attrs["bayesbias_model"] = self.spec.text
        tree.attrs["bayesbias_provenance"] = json.dumps(self.provenance)
        tree.attrs["bayesbias_pointwise"] = int(pointwise)
        # Made in memory first: HDF5 that runs out of disk keeps the file open and crashes the interpreter when
        # that ends. A copy, since an error would keep the view of its buffer alive longer than the buffer.
        content = bytes(tree.to_netcdf(engine="h5netcdf"))
        with whole_file(path) as temporary:
            temporary.write_bytes(content)

    def __repr__(self) -> str:
        chains, draws = (self.tree["posterior"].sizes[dim] for dim in ("chain", "draw"))
        source = self.provenance.get("table", {}).get("name", "a table")
        head = (
            f"BiasFit: model {self.spec.name} on {source}, {len(self.table):,} rows, {chains} x {draws} draws"
        )
        lines = [head]
        with contextlib.suppress(FitError):  # a table without the columns of the results has no such lines
            if self.spec.results.group == "connection":
                frame = self.contrasts(estimand="population").rename(columns={"contrast": "said"})
                frame = frame[frame["level"] == "overall"]
            else:
                frame = self.summary().rename(columns={self.spec.results.group: "said"})
            lines += [
                f"  {row.said:<24} {row.mean:+.3f}  {row.prob:.0%} HPDI [{row.hpdi_low:+.3f}, {row.hpdi_high:+.3f}]"
                for row in frame.head(_MOST_LINES).itertuples()
            ]
            if len(frame) > _MOST_LINES:
                lines.append(f"  and {len(frame) - _MOST_LINES} more")
        d = self.diagnostics()
        lines.append(
            f"  converged: R-hat {d['max_r_hat']:.3f}, ESS {d['min_ess_bulk']:.0f}, no divergences"
            if d["ok"]
            else "  NOT TO BE TRUSTED YET: " + d["problems"][0]
        )
        return "\n".join(lines)

    # -- the linear functionals behind the tables ------------------------------------------------

    def _check_level(self, level: str) -> None:
        valid = ("overall", *self.spec.results.levels)
        checks.choice(level, valid, "level", self.spec.label)

    def _contrasted(self) -> Sequence[tuple[str, str]]:
        group = self.spec.results.group
        if group == "connection":
            return CONTRASTS
        return list(itertools.combinations(dict.fromkeys(self.table[group].astype(str)), 2))

    def _levels(self, estimand: str) -> tuple[list[tuple[str, str, str]], np.ndarray]:
        """Draws of the mean distance per (level, name, connection), shape (chain, draw, n)."""
        valid = (*ESTIMANDS, *self.spec.results.estimands)
        checks.choice(estimand, valid, "estimand")
        if ("levels", estimand) not in self._cache:
            keys, means = level_means(self.design, self.table, self.draws(), estimand)
            chains = self.tree["posterior"].sizes["chain"]
            self._cache["levels", estimand] = keys, means.reshape(chains, -1, len(keys))
        return self._cache["levels", estimand]
