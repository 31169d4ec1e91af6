"""What is written of where pairs come from, read back: texts where pages expect texts, and tables where they expect tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError

_TEXTS = ("name", "source", "sha256", "sha256_vectors", "file", "of", "controls", "format")


def hold_account(about: Any, where: str) -> Mapping[str, Any]:
    """Return what is known of a table of pairs: its word list, its vectors, its covariates.

    Raises
    ------
    InputError
        For what is none, with the key where it stands.
    """
    for key, value in _texts(checks.table(about, where), where).items():
        if key in ("wordlist", "embedding"):
            part = _texts(checks.table(value, f"{where}: {key}"), f"{where}: {key}")
            if "classes" in part:
                checks.texts(part["classes"], f"{where}: {key}: classes")
            for name in ("matched", "postprocess"):
                if name in part:
                    _texts(checks.table(part[name], f"{where}: {key}: {name}"), f"{where}: {key}: {name}")
        elif key == "covariates":
            for name, covariate in checks.table(value, f"{where}: covariates").items():
                at = f"{where}: covariates: {name}"
                if "source" not in _texts(checks.table(covariate, at), at):
                    raise InputError("says nothing of where it is from", where=at, valid="the key source")
    return dict(about)


def _texts(about: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    for key in _TEXTS:
        if not isinstance(about.get(key, ""), str | None):
            raise InputError("must be a text", where=f"{where}: {key}", found=about[key])
    return about
