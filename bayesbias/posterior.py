"""BiasFit: what a fit found, and the questions one may ask of it.

Two estimands, never mixed, always named:

``population``
    Random effects that are not held are set to the mean of their population: the answer for *new* words
    like the listed ones. Overall nothing is held. At the levels ``class`` and ``word`` the named
    protected words keep their own effects, and only the attributes are new.
``these_words``
    Every effect is the one of the words on the list, averaged over the pairs at hand: the answer for
    this list and no other.

Means are over pairs: where classes have unequal numbers of attributes, a word counts in each connection as
often as it has pairs there, so ``these_words`` compares connections with slightly different mixes of words.

Effects with a spread that is a number, not a parameter (the shifts of the additive model), have no
population to generalise to; they are averaged over the listed words under both estimands.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._resources import whole_file
from bayesbias.errors import FitError, InputError, nearest
from bayesbias.spec import Design, ModelSpec, labels_of, parse_model

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["CONTRASTS", "ESTIMANDS", "PROB", "ROPE", "BiasFit", "compare_models", "load_fit", "loo"]

PROB = 0.89
"""The default probability of an HPDI: the convention of the papers; any other can be asked for."""

ROPE = 0.02
"""Half-width of the default region of practical equivalence, in cosine distance.

Single pairs of one connection scatter with a standard deviation near 0.2 around their mean (0.17 to 0.22
on the published Reddit tables). A standardised difference of 0.1, half of what is by convention called a
small effect, is therefore about 0.02 in cosine distance; a difference inside +-0.02 is lost among the pairs
even for someone who looks for it. On vectors whose distances scatter otherwise, set your own.
"""

CONTRASTS = (
    ("associated", "different"),
    ("associated", "human"),
    ("associated", "neutral"),
    ("different", "neutral"),
    ("human", "neutral"),
)
ESTIMANDS = ("population", "these_words")
MAX_R_HAT = 1.01
MIN_ESS_PER_CHAIN = 100
_MIN_DRAWS = 4  # per chain; R-hat and ESS split each chain in two and need a variance in both halves
_MOST_LINES = 5  # of results in a repr
_FORMAT = 1  # of the netCDF file
_ATTRS = ("model", "provenance", "pointwise")


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
        frame = described(draws[..., rows], prob)
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
        frame = described(draws, prob)
        frame.insert(0, "source", sources)
        return frame

    def _shares(self, group: str | None) -> tuple[list[str], np.ndarray]:
        """Return sources of variance, and draws of their shares, shape (chain, draw, source)."""
        if self.spec.likelihood != "Normal":
            raise FitError(f"shares of variance need normal noise, and {self.spec.label} has another")
        labels, codes = labels_of(self.table[self.spec.results.group], self.spec.results.group)
        if group is not None and group not in labels:
            raise InputError("no such rows", found=group, valid=labels, hint=nearest(str(group), labels))
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

        if not rope > 0:
            raise InputError("the half-width of the ROPE must be positive", found=rope)
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
            frame = described(stacked, prob)
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
        frame = described(np.stack(columns, axis=-1), prob)
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
        with _quiet():
            r_hat = {str(k): v.to_numpy() for k, v in az.rhat(posterior).data_vars.items()}
            ess = {str(k): v.to_numpy() for k, v in az.ess(posterior, method="bulk").data_vars.items()}
        chains, per_chain = posterior.sizes["chain"], posterior.sizes["draw"]
        known = chains > 1 and per_chain >= _MIN_DRAWS
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
                f"R-hat needs at least two chains of {_MIN_DRAWS} draws, and here are {chains} of {per_chain}: nothing "
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
        tree.attrs["bayesbias_format"] = _FORMAT
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
        if level not in valid:
            raise InputError(
                f"{self.spec.label} has no such level",
                found=level,
                valid=valid,
                hint=nearest(str(level), valid),
            )

    def _contrasted(self) -> Sequence[tuple[str, str]]:
        group = self.spec.results.group
        if group == "connection":
            return CONTRASTS
        return list(itertools.combinations(dict.fromkeys(self.table[group].astype(str)), 2))

    def _levels(self, estimand: str) -> tuple[list[tuple[str, str, str]], np.ndarray]:
        """Draws of the mean distance per (level, name, connection), shape (chain, draw, n)."""
        valid = (*ESTIMANDS, *self.spec.results.estimands)
        if estimand not in valid:
            raise InputError(
                "unknown estimand", found=estimand, valid=valid, hint=nearest(str(estimand), valid)
            )
        if ("levels", estimand) not in self._cache:
            keys, means = level_means(self.design, self.table, self.draws(), estimand)
            chains = self.tree["posterior"].sizes["chain"]
            self._cache["levels", estimand] = keys, means.reshape(chains, -1, len(keys))
        return self._cache["levels", estimand]


def described(draws: np.ndarray, prob: float) -> pd.DataFrame:
    """Mean, sd, HPDI, effective draws and R-hat of quantities given as draws, shape (chain, draw, n)."""
    import arviz as az
    import pandas as pd
    import xarray as xr

    if not 0 < prob < 1:
        raise InputError("the probability of an interval must lie between 0 and 1", found=prob)
    data = xr.Dataset({"x": (("chain", "draw", "row"), draws)})
    with _quiet():
        hpdi = az.hdi(data, prob=prob)["x"].to_numpy()
        ess = az.ess(data, method="bulk")["x"].to_numpy()
        r_hat = az.rhat(data)["x"].to_numpy()
        flat = draws.reshape(-1, draws.shape[-1])
        sd = flat.std(axis=0, ddof=1)
    return pd.DataFrame(
        {
            "mean": flat.mean(axis=0),
            "sd": sd,
            "hpdi_low": hpdi[:, 0],
            "hpdi_high": hpdi[:, 1],
            "prob": prob,
            "ess_bulk": ess,
            "r_hat": r_hat,
        }
    )


def effective_draws(draws: np.ndarray) -> float:
    """Return the smallest bulk ESS of quantities given as draws, shape (chain, draw, n)."""
    import arviz as az
    import xarray as xr

    with _quiet():
        ess = az.ess(xr.Dataset({"x": (("chain", "draw", "row"), draws)}), method="bulk")["x"].to_numpy()
    return float(np.nanmin(ess, initial=np.inf))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Let few or equal draws have no R-hat without a warning; the result says it."""
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        for message in ("Found chain dimension to be longer", "Degrees of freedom <= 0"):
            warnings.filterwarnings("ignore", message=message)
        yield


def level_means(
    design: Design, table: pd.DataFrame, draws: Mapping[str, np.ndarray], estimand: str
) -> tuple[list[tuple[str, str, str]], np.ndarray]:
    """Return the mean distance per (level, name, connection) that given parameter values imply.

    Parameters
    ----------
    design : Design
    table : DataFrame
        The rows the design was laid over.
    draws : Mapping of str to ndarray, shape (n, *shape of the parameter)
    estimand : {"population", "these_words"}
        Or one that the model declares.

    Returns
    -------
    keys : list of (level, name, connection)
    means : ndarray, shape (n, len(keys))
    """
    from scipy import sparse

    results = design.spec.results
    for column in (results.group, *(level.by for level in results.levels.values())):
        if column not in table.columns:
            raise FitError(f"means per {results.group} need the column {column!r}, which the table lacks")
    present, group = labels_of(table[results.group], results.group)
    every = set(design.coords)
    given = every if estimand == "these_words" else set(results.estimands.get(estimand, ()))
    levels = {"overall": (["all"], np.zeros(len(table), dtype=np.int64), given)}
    for level, about in results.levels.items():
        levels[level] = (*labels_of(table[about.by], about.by), given | set(about.held))
    keys: list[tuple[str, str, str]] = []
    blocks = []
    for level, (labels, codes, held) in levels.items():
        cells, rows, counts = np.unique(codes * len(present) + group, return_inverse=True, return_counts=True)
        keys += [(level, labels[c // len(present)], present[c % len(present)]) for c in cells]
        average = functools.partial(_average, design, draws, held | set(results.fixed), sparse, rows, counts)
        mean = sum(average(name, design.index[name]) for name in design.spec.mu)
        # Where every effect is averaged away to a number of the model file, all draws are that number.
        blocks.append(np.broadcast_to(mean, (len(draws[design.spec.mu[0]]), len(cells))))
    return keys, np.concatenate(blocks, axis=-1)


def _average(
    design: Design,
    draws: Mapping[str, np.ndarray],
    held: set[str],
    sparse: Any,
    group: np.ndarray,
    counts: np.ndarray,
    name: str,
    idx: np.ndarray,
) -> Any:
    """Average one term of the mean over the pairs of each group; see the module's docstring."""
    parameter = design.spec.parameters[name]
    # An effect is known only where all that it was sampled over is held: the effect of a class on a listed attribute
    # says nothing of the class and a new attribute.
    if design.spec.is_random(name) and not set(parameter.dims) <= held:
        mu = parameter.args["mu"]
        if not isinstance(mu, str):
            return np.full((1, len(counts)), float(mu))
        return _average(design, draws, held, sparse, group, counts, mu, design.parent[name, "mu"][idx])
    weights = sparse.csr_array((1.0 / counts[group], (group, idx)), shape=(len(counts), design.size(name)))
    flat = draws[name].reshape(len(draws[name]), -1)
    return (weights @ flat.T).T


def with_pointwise(fit: BiasFit, *, predictive_draws: int = 200) -> BiasFit:
    """Return the fit with pointwise log-likelihood and predictive draws in its tree.

    Parameters
    ----------
    fit : BiasFit
    predictive_draws : int
        How many draws of the posterior and of the prior are turned into new outcomes.
    """
    import dataclasses

    import xarray as xr

    design, draws, outcome = fit.design, fit.draws(), fit.spec.outcome
    posterior = fit.tree["posterior"]
    chains, per_chain = posterior.sizes["chain"], posterior.sizes["draw"]
    seed = int(fit.provenance["sampler"]["seed"])
    tree = fit.tree.copy()
    shape = (chains, per_chain, len(design.y))
    log_lik = design.log_likelihood(draws).reshape(shape)
    pair = np.arange(len(design.y))
    tree["log_likelihood"] = xr.DataTree(
        xr.Dataset({outcome: (("chain", "draw", "pair"), log_lik)}, coords={"pair": pair})
    )
    keep = np.linspace(0, chains * per_chain - 1, min(predictive_draws, chains * per_chain)).astype(int)
    new = design.outcome_draws({name: values[keep] for name, values in draws.items()}, seed + 1)
    prior = design.outcome_draws(design.prior_draws(predictive_draws, seed + 2), seed + 3)
    for group, values in (("posterior_predictive", new), ("prior_predictive", prior)):
        tree[group] = xr.DataTree(
            xr.Dataset({outcome: (("chain", "draw", "pair"), values[None])}, coords={"pair": pair})
        )
    return dataclasses.replace(fit, tree=tree)


def load_fit(path: str | os.PathLike[str]) -> BiasFit:
    """Read a fit that `BiasFit.save` wrote.

    Raises
    ------
    InputError
        Where the file is missing, cut short, or no bayesbias fit.
    """
    import xarray as xr

    where, valid = os.fspath(path), "a file written by BiasFit.save"
    if os.path.isdir(where):
        raise InputError("is a folder, not a file", where=where, valid=valid)
    try:
        with xr.open_datatree(where, engine="h5netcdf", phony_dims="access") as opened:
            tree = opened.load()
    except FileNotFoundError:
        raise InputError("no such file", where=where) from None
    except (
        OSError,
        ValueError,
        KeyError,
        RuntimeError,
        AttributeError,
    ) as error:  # h5netcdf on damaged files
        raise InputError(
            f"cannot be read as netCDF ({str(error).splitlines()[0]})", where=where, valid=valid
        ) from None
    if "bayesbias_format" not in tree.attrs:
        raise InputError("is a netCDF file, but no bayesbias fit", where=where, valid=valid)
    if tree.attrs["bayesbias_format"] != _FORMAT:
        raise InputError(
            "is a fit in a form that this version does not know",
            where=where,
            found=int(tree.attrs["bayesbias_format"]),
            valid=str(_FORMAT),
        )
    lacking = [name for name in ("posterior", "sample_stats", "table") if name not in tree.children]
    lacking += [f"bayesbias_{name}" for name in _ATTRS if f"bayesbias_{name}" not in tree.attrs]
    if lacking:
        raise InputError("is no complete fit", where=where, found=f"no {', '.join(lacking)}", valid=valid)
    try:
        text = str(tree.attrs["bayesbias_model"]).encode("utf-8")
        provenance = json.loads(tree.attrs["bayesbias_provenance"])
    except ValueError as error:
        raise InputError(f"its model or provenance is damaged ({error})", where=where, valid=valid) from None
    spec = parse_model(text, f"the model in {where}")
    table = tree["table"].to_dataset().to_dataframe().reset_index(drop=True)
    table.index.name = None
    pointwise = bool(tree.attrs["bayesbias_pointwise"])
    del tree["table"]
    for key in [key for key in tree.attrs if str(key).startswith("bayesbias_")]:
        del tree.attrs[key]
    fit = BiasFit(tree=tree, table=table, spec=spec, provenance=provenance)
    return with_pointwise(fit) if pointwise else fit


def loo(fit: BiasFit) -> Any:
    """Estimate how well the model predicts a left-out pair (PSIS-LOO).

    Returns
    -------
    arviz ELPDData
        ``elpd`` (higher is better), its standard error ``se``, ``p`` (effective number of parameters), and the
        Pareto k per pair.
    """
    import arviz as az

    if "loo" in fit._cache:
        return fit._cache["loo"]
    whole = fit if "log_likelihood" in fit.tree.children else with_pointwise(fit)
    with warnings.catch_warnings():
        # High Pareto k are part of the result (`pareto_k`, `warning`) and shown wherever it is printed.
        warnings.filterwarnings("ignore", message="Estimated shape parameter of Pareto", category=UserWarning)
        fit._cache["loo"] = az.loo(whole.tree, var_name=fit.spec.outcome, pointwise=True)
    return fit._cache["loo"]


def compare_models(fits: Mapping[str, BiasFit] | Sequence[BiasFit]) -> pd.DataFrame:
    """Compare models on one table by LOO.

    Parameters
    ----------
    fits : Mapping of str to BiasFit, or sequence of BiasFit
        At least two fits of the same rows. In a sequence they are called by the names of their models.

    Returns
    -------
    DataFrame
        Best first: ``rank, elpd, p, elpd_diff, weight, se, dse`` and diagnostic columns, as ArviZ names them. A
        difference of several `dse` is clear; Pareto k over the limit of ArviZ in a handful of pairs hardly matters
        then.

    Raises
    ------
    FitError
        Where the fits are of different tables.
    """
    import arviz as az

    if isinstance(fits, BiasFit):
        raise InputError(
            "a comparison needs at least two fits", found="one fit", valid="a dict or a list of fits"
        )
    if not isinstance(fits, Mapping):
        named = {fit.spec.name: fit for fit in fits}
        if len(named) < len(fits):
            raise InputError(
                "two fits of one model need names", found=[fit.spec.name for fit in fits], valid="a dict"
            )
        fits = named
    if len(fits) < 2:
        raise InputError("a comparison needs at least two fits", found=list(fits))
    first_name, first = next(iter(fits.items()))
    for name, fit in fits.items():
        same = len(fit.table) == len(first.table) and np.array_equal(fit.design.y, first.design.y)
        keys = [k for k in (*fit.spec.units, *first.spec.units) if k in fit.table and k in first.table]
        if not same or any((fit.table[k].to_numpy() != first.table[k].to_numpy()).any() for k in keys):
            raise FitError(f"{name} and {first_name} were fitted to different tables and cannot be compared")
    return az.compare({name: loo(fit) for name, fit in fits.items()}, round_to="none")
