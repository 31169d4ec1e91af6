"""Vectors in the plane, so that a cosine can be read off."""

from __future__ import annotations

# Two classes, two controls; vectors in the plane, so that a cosine can be read off.
VECTORS = {
    "a1": [1.0, 0.0],
    "a2": [3.0, 4.0],
    "b1": [0.0, 2.0],
    "b2": [-1.0, 0.0],
    "kind": [5.0, 0.0],
    "rude": [1.0, 1.0],
    "late": [0.0, -7.0],
    "loud": [-1.0, 1.0],
    "hand": [4.0, 3.0],
    "neck": [0.0, 5.0],
    "door": [1.0, -1.0],
    "Lamp": [0.0, 1.0],
}


LIST = {
    "a": {"protected": ["a1", "a2"], "attributes": ["kind", "rude"]},
    "b": {"protected": ["b1", "b2"], "attributes": ["late", "loud"]},
}


CONTROLS = {"human": ["hand", "neck"], "neutral": ["door", "lamp"]}
