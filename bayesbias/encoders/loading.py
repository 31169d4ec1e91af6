"""Encoders by name and options, path, or function."""

import os
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError, nearest
from bayesbias.core.files import guarded
from bayesbias.embeddings.loading import GENSIM_DATA
from bayesbias.encoders.averages import STATIC_ENCODER, cbow_encoder, static_encoder
from bayesbias.encoders.encoder import Encoder, function_encoder
from bayesbias.encoders.precomputed import VECTOR_FILES, vectors_encoder
from bayesbias.encoders.pretrained import sentence_transformers_encoder, transformers_encoder

__all__ = ["load_encoder"]

_OPTIONS: dict[str, tuple[str, ...]] = {
    "cbow": ("name",),
    "sentence-transformers": ("max_length", "device", "revision", "name"),
    "transformers": (
        *("pooling", "layer", "special_tokens"),
        *("max_length", "device", "revision", "name"),
    ),
    "file": ("name",),
}
_VALID = (
    f"{STATIC_ENCODER}, cbow:EMBEDDING, sentence-transformers:NAME_OR_PATH, "
    "transformers:NAME_OR_PATH?pooling=mean&layer=-1, or the path of vectors (.npz, .h5, .hdf5, "
    ".parquet)"
)


def load_encoder(
    spec: Encoder | Callable[..., Any] | str | os.PathLike[str],
    *,
    name: str | None = None,
    version: str | None = None,
    device: str | None = None,
) -> Encoder:
    """Make an encoder of what names it.

    Parameters
    ----------
    spec : str, path, callable or Encoder
        * ``minilm-static``: the one in the package (`static_encoder`);
        * ``cbow:EMBEDDING``: means of word vectors of any embedding (`cbow_encoder`);
        * ``sentence-transformers:NAME_OR_PATH`` (`sentence_transformers_encoder`);
        * ``transformers:NAME_OR_PATH?pooling=cls&layer=-2`` (`transformers_encoder`);
        * the path of vectors computed elsewhere: ``.npz``, ``.h5``, ``.hdf5``, ``.parquet``
          (`vectors_encoder`);
        * a callable, sentences -> array (`function_encoder`);
        * an `Encoder`, which is returned as it is.

        After a ``?`` stand options of the function, such as ``name=BERT&max_length=128``.
    name : str, optional
        Short name, in place of the one the function would choose.
    version : str, optional
        For a callable: see `function_encoder`.
    device : str, optional
        For models: ``cpu``, ``cuda``, ``cuda:1``, ``mps``. By default the first accelerator, else
        the processor.

    Returns
    -------
    Encoder

    Raises
    ------
    InputError
        For an unknown name or option, naming the nearest, and where an extra is not installed.

    Examples
    --------
    >>> load_encoder("minilm-static")
    <Encoder 'minilm-static'>
    >>> load_encoder("cbow:minilm-static", name="CBoW").provenance["pooling"]
    'mean of the vectors of the tokens found'
    """
    text = None
    if isinstance(spec, str | os.PathLike):
        text = checks.path(spec, "spec", "a name, or the path of a file or folder")
    kind, colon, rest = text.partition(":") if text is not None else ("", "", "")
    if version is not None and text is not None:
        raise InputError(f"expected a version of a callable, got one of {text}", where="version")
    if device is not None and not (colon and kind in ("sentence-transformers", "transformers")):
        raise InputError(f"expected a model beside a device, got {text}", where="device")
    if text is None:
        return _from_object(spec, name, version)
    if text == STATIC_ENCODER:
        return static_encoder(name=name)
    if colon and kind in _OPTIONS and not os.path.exists(text):
        target, options = _parsed_spec(kind, rest, text)
        given = {"name": name, "device": device}
        options |= {key: value for key, value in given.items() if value is not None}
        if kind == "cbow":
            return cbow_encoder(target, **options)
        make = transformers_encoder if kind == "transformers" else sentence_transformers_encoder
        return make(target, **options)
    file = text.partition("?")[0]
    if Path(file).suffix.lower() in VECTOR_FILES:
        target, options = _parsed_spec("file", text, text)
        return vectors_encoder(target, **options | ({} if name is None else {"name": name}))
    raise _unknown_encoder(text)


def _from_object(spec: Any, name: str | None, version: str | None) -> Encoder:
    if isinstance(spec, Encoder) and isinstance(spec.name, str) and callable(spec.encode):
        if name is not None or version is not None:
            problem = f"expected no name or version beside an encoder, got them for {spec.name!r}"
            raise InputError(problem, where="spec")
        return spec
    if callable(getattr(spec, "encode", None)):
        hint = "give its method and a name: load_encoder(model.encode, name='...')"
        got = f"expected an encoder with a name, got {type(spec).__name__} without one"
        raise InputError(got, where="spec", hint=hint)
    if not callable(spec):
        problem = f"expected an encoder, got {type(spec).__name__}"
        raise InputError(problem, where="spec", valid=_VALID)
    return function_encoder(spec, name=name, version=version)


def _parsed_spec(kind: str, rest: str, text: str) -> tuple[str, dict[str, Any]]:
    """Split ``NAME?key=value&key=value``; numbers become numbers."""
    target, _, query = rest.partition("?")
    if not target:
        raise InputError(f"expected the name of a model, got {text}", where="spec", valid=_VALID)
    options: dict[str, Any] = {}
    where = f"encoder {text!r}"
    for key, value in urllib.parse.parse_qsl(query, keep_blank_values=True):
        checks.choice(key, _OPTIONS[kind], "option", where)
        checks.text(value, f"{where}, {key}")
        with guarded(where, f"{key}: expected a whole number, got {value!r}"):
            options[key] = int(value) if key in ("layer", "max_length") else value
    return target, options


def _unknown_encoder(text: str) -> InputError:
    kind, colon, _ = text.partition(":")
    path = os.path.expanduser(text)
    hint: str | None = f"a model in a folder: transformers:{text} or sentence-transformers:{text}"
    if os.path.isdir(path):
        pass
    elif os.path.isfile(path) or text in GENSIM_DATA:
        hint = f"the mean of its word vectors: cbow:{text}"
    else:
        hint = nearest(kind if colon else text, [STATIC_ENCODER, *_OPTIONS])
    return InputError(f"expected an encoder, got {text!r}", where="spec", valid=_VALID, hint=hint)
