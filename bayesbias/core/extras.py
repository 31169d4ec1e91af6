"""What is installed only on request: one way to import it, and one message where it is not there."""

from __future__ import annotations

import importlib
from typing import Any

from bayesbias.core.errors import InputError
from bayesbias.core.wording import conjoined

_DISTRIBUTIONS = {"sklearn": "scikit-learn"}


def needed(extra: str, *modules: str, purpose: str, where: object = None, instead: str | None = None) -> Any:
    """Import modules of an extra, or say how it is installed.

    Parameters
    ----------
    extra : str
        The name of the extra, such as ``"encoders"``.
    *modules : str
        What to import.
    purpose : str
        What they are needed for, as the subject of a sentence, such as ``"a Dask cluster"``.
    where : object, optional
        The file or the option that asks for them.
    instead : str, optional
        What works without them.

    Returns
    -------
    module, or list of modules where there are several

    Raises
    ------
    InputError
        With the line that installs the extra.

    Examples
    --------
    >>> needed("dask", "no_such_module", purpose="a cluster")  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
    ...
    bayesbias.InputError: a cluster needs no-such-module, which is not installed;
    install it with: pip install 'bayesbias[dask]'
    """
    try:
        imported = [importlib.import_module(module) for module in modules]
    except ImportError as error:
        names = [_DISTRIBUTIONS.get(root, root.replace("_", "-")) for root in _roots(modules)]
        absent = isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] in _roots(
            modules
        )
        be = "are" if len(names) > 1 else "is"
        state = f"{be} not installed" if absent else f"cannot be imported ({error})"
        raise InputError(
            f"{purpose} needs {conjoined(names)}, which {state}",
            where=where,
            valid=instead and f"without {'them' if len(names) > 1 else 'it'}: {instead}",
            hint=f"install {'them' if len(names) > 1 else 'it'} with: pip install 'bayesbias[{extra}]'",
        ) from None
    return imported[0] if len(imported) == 1 else imported


def _roots(modules: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(module.partition(".")[0] for module in modules))
