"""Orbits of levels, against a comparison of rows one by one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers.seeds import shifted
from helpers.tables import grid

from bayesbias.inference.likelihood import factors_of, find_orbits
from bayesbias.models.design import Design
from bayesbias.models.spec import load_model


def one_by_one(factors, index, variance_of, kinds):
    """The same from the definition: levels are alike where their rows, sorted by the other factors, are."""
    out = []
    for f, codes in enumerate(factors):
        seen, orbit = {}, []
        alone = {
            name: all(len(set(codes[idx == entry])) == 1 for entry in set(idx))
            for name, idx in index.items()
        }
        for level in range(codes.max() + 1):
            rows = np.flatnonzero(codes == level)
            others = [factor for g, factor in enumerate(factors) if g != f]
            rows = sorted(rows, key=lambda row: [factor[row] for factor in others])
            key = []
            for row in rows:
                its = [int(column[row]) for column in (*others, *kinds)]
                for name, idx in index.items():
                    own = sorted({int(idx[r]) for r in rows})
                    place = own.index(idx[row]) if alone[name] else int(idx[row])
                    its += [int(variance_of[name][idx[row]]), place]
                key.append(tuple(its))
            orbit.append(seen.setdefault(tuple(key), len(seen)))
        out.append(orbit)
    return out


def made_up(rng, sizes, repeats, holes):
    """Random rows of a grid, and terms of all sorts over it."""
    grids = np.indices(sizes).reshape(len(sizes), -1)
    keep = rng.permutation(grids.shape[1])[holes:]
    if repeats:
        keep = np.append(keep, keep[:repeats])
    factors = [codes[keep].astype(np.int32) for codes in grids]
    factors = [np.unique(codes, return_inverse=True)[1] for codes in factors]
    if repeats:
        factors.append((np.arange(len(keep)) >= len(keep) - repeats).astype(np.int64))
    group = [rng.integers(0, 2, codes.max() + 1)[codes] for codes in factors]
    index = {
        "level": np.zeros(len(keep), dtype=np.int64),
        "first": factors[0],
        "grouped": group[0] * 2 + group[1],
        "own": factors[0] * 2 + group[1],
        "other": factors[1] * 2 + group[0],
    }
    variance_of = {name: np.full(idx.max() + 1, 3) for name, idx in index.items()}
    variance_of["own"] = 5 + np.arange(index["own"].max() + 1) % 2
    variance_of["other"] = 7 + (rng.random(index["other"].max() + 1) < 0.1)
    return factors, index, variance_of, [group[1]]


@pytest.mark.parametrize(("repeats", "holes"), [(0, 0), (0, 3), (4, 0), (4, 3)])
def test_are_those_of_a_comparison_one_by_one(repeats, holes):
    rng = np.random.default_rng(shifted(repeats + 10 * holes))
    for sizes in ((4, 6), (3, 4, 2)):
        factors, index, variance_of, kinds = made_up(rng, sizes, repeats, holes)
        order = np.lexsort(factors[::-1])
        rows = [codes[order] for codes in factors]
        terms = {name: idx[order] for name, idx in index.items()}
        own = {
            name: tuple(
                all(len(set(codes[idx == entry])) == 1 for entry in set(idx)) for codes in rows
            )
            for name, idx in terms.items()
        }
        found = find_orbits(rows, terms, variance_of, [k[order] for k in kinds], own)
        assert [orbit.tolist() for orbit in found] == one_by_one(factors, index, variance_of, kinds)


def test_repeats_of_a_pair_are_counted():
    design = Design.of(load_model("default"), grid()).ordered()
    order = np.sort(np.append(np.arange(len(design.y)), [0, 1, 2]))
    twice = {unit: codes[order] for unit, codes in design.units.items()}
    repeated = factors_of(dataclasses.replace(design, codes=twice, y=design.y[order]))
    assert len(factors_of(design)) == 2
    assert repeated[2].tolist() == [0, 1, 0, 1, 0, 1] + [0] * (len(design.y) - 3)
