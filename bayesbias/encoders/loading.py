"""Encoders by name and options, path, or function."""

import inspect
import os
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bayesbias.core import InputError, checks, nearest
from bayesbias.embeddings.loading import GENSIM_DATA
from bayesbias.embeddings.static import STATIC_EMBEDDING
from bayesbias.encoders.averages import cbow_encoder, static_encoder, vectors_encoder
from bayesbias.encoders.encoder import Encoder, function_encoder, with_prompt
from bayesbias.encoders.pretrained import sentence_transformers_encoder, transformers_encoder

VECTOR_FILES = (".npz", ".h5", ".hdf5", ".parquet", ".csv", ".json", ".jsonl")
_MAKERS: dict[str, Callable[..., Encoder]] = {
    "cbow": cbow_encoder,
    "sentence-transformers": sentence_transformers_encoder,
    "transformers": transformers_encoder,
}
_VALID = (
    f"{STATIC_EMBEDDING}, cbow:EMBEDDING, sentence-transformers:NAME_OR_PATH, "
    f"transformers:NAME_OR_PATH?pooling=mean&layer=-1, or a file ({', '.join(VECTOR_FILES)})"
)


def load_encoder(
    spec: Encoder | Callable[..., Any] | checks.FilePath,
    *,
    name: str | None = None,
    version: str | None = None,
    device: str | None = None,
    prompt: str | None = None,
) -> Encoder:
    """Make an encoder of what names it.

    Parameters
    ----------
    spec : str, path, callable or Encoder
        * ``minilm-static``: the one in the package (`static_encoder`);
        * ``cbow:EMBEDDING``: means of word vectors of any embedding (`cbow_encoder`);
        * ``sentence-transformers:NAME_OR_PATH`` (`sentence_transformers_encoder`);
        * ``transformers:NAME_OR_PATH?pooling=cls&layer=-2`` (`transformers_encoder`);
        * the path of sentence vectors: ``.npz``, ``.h5``, ``.hdf5``, ``.parquet``, ``.csv``,
          ``.json``, ``.jsonl`` (`vectors_encoder`);
        * a callable, sentences -> array (`function_encoder`);
        * an `Encoder`, which is returned as it is.

        After a ``?`` stand options of the function, such as ``name=BERT&max_length=128``, and
        ``prompt=query``: a text before each sentence.
    name : str, optional
        Short name, in place of the one the function would choose.
    version : str, optional
        For a callable: see `function_encoder`.
    device : str, optional
        For models: ``cpu``, ``cuda``, ``cuda:1``, ``mps``. By default the first accelerator, else
        the processor.
    prompt : str, optional
        A text before each sentence, such as ``"query: "`` for e5 models. A prompt in `spec`
        counts instead.

    Returns
    -------
    Encoder

    Raises
    ------
    InputError
        If a name or option is unknown, or an extra is not installed.

    Examples
    --------
    >>> load_encoder("minilm-static")
    <Encoder 'minilm-static'>
    >>> load_encoder("cbow:minilm-static", name="CBoW").provenance["pooling"]
    'mean of the vectors of the tokens found'
    """
    if isinstance(spec, Encoder) and isinstance(spec.name, str):
        if name is not None or version is not None:
            problem = f"expected no name or version beside an encoder, got them for {spec.name!r}"
            raise InputError(problem, where="encoder")
        return spec if prompt is None else with_prompt(spec, prompt)
    if hasattr(spec, "encode") and not isinstance(spec, str):
        how = "give its method and a name: load_encoder(model.encode, name='...')"
        raise checks.wrong_kind(spec, "encoder", "an encoder with a name", how)
    if callable(spec):
        made = function_encoder(spec, name=name, version=version)
        return made if prompt is None else with_prompt(made, prompt)
    text = checks.path(spec, "encoder", f"a callable, an encoder, {_VALID}")
    if version is not None:
        problem = f"expected a callable beside a version, got {text!r}"
        raise InputError(problem, where="version")
    kind, colon, rest = text.partition(":")
    make, target = _MAKERS.get(kind if colon and not os.path.exists(text) else ""), rest
    if make is None and Path(text.partition("?")[0]).suffix.lower() in VECTOR_FILES:
        make, target = vectors_encoder, text
    elif text.partition("?")[0] == STATIC_EMBEDDING:
        make, target = static_encoder, text.removeprefix(STATIC_EMBEDDING)
    if make is None:
        path, hint = Path(text).expanduser(), nearest(kind, [STATIC_EMBEDDING, *_MAKERS])
        if path.is_dir():
            hint = f"a model in a folder: transformers:{text} or sentence-transformers:{text}"
        elif path.is_file() or text in GENSIM_DATA:
            hint = f"the mean of its word vectors: cbow:{text}"
        problem = "expected an encoder"
        raise InputError(problem, where="encoder", found=text, valid=_VALID, hint=hint)
    target, _, query = target.partition("?")
    where, valid = f"encoder {text!r}", list(inspect.signature(make).parameters)
    options: dict[str, Any] = {}
    settings = [name for name in valid if name not in ("model", "embedding", "path")]
    if make is not vectors_encoder:
        settings = checks.once([*settings, "prompt"])
    for key, value in urllib.parse.parse_qsl(query, keep_blank_values=True):
        checks.choice(key, settings, f"{where}, option")
        checks.text(value, f"{where}, {key}")
        whole = key in ("layer", "max_length")
        if whole and not value.removeprefix("-").isdecimal():
            raise InputError("expected a whole number", where=f"{where}, {key}", found=value)
        options[key] = int(value) if whole else value
    if device is not None and "device" not in valid:
        raise InputError(f"expected a model beside a device, got {text!r}", where="device")
    given = {"name": name, "device": device}
    options |= {key: value for key, value in given.items() if value is not None}
    if prompt is not None:
        if make is vectors_encoder:
            problem = f"expected a model beside a prompt, got {text!r}"
            hint = "sentence vectors in a file were made with their prompt"
            raise InputError(problem, where="prompt", hint=hint)
        if "prompt_name" not in options:
            options.setdefault("prompt", prompt)
    before = None if "prompt" in valid else options.pop("prompt", None)
    if make is static_encoder:
        encoder = make(**options)
    elif target:
        encoder = make(target, **options)
    else:
        raise InputError("expected the name of a model", where="encoder", found=text, valid=_VALID)
    return encoder if before is None else with_prompt(encoder, before)
