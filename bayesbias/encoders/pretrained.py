"""Encoders of pretrained models: sentence-transformers and transformers.

Source of the poolings: May, Wang, Bordia, Bowman & Rudinger (2019), arXiv:1903.10561, section 4 and
appendix C.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bayesbias.core import InputError, checks, nearest, packages
from bayesbias.core.errors import warn_user
from bayesbias.core.files import sha256_file
from bayesbias.encoders.encoder import BuiltEncoder, Encoder, fingerprint_of, option_of_prompt

_UNBOUNDED = 10**6
"""Tokenizers that know no limit state a very large one."""


POOLINGS = ("cls", "mean", "max", "last")
"""How the vectors of a sentence's tokens become one vector."""


def _pooled(torch: Any, pooling: str, hidden: Any, seen: Any) -> Any:
    """Return one vector for each sentence, from those of the tokens that are seen."""
    mask = seen.unsqueeze(-1)
    if pooling == "mean":
        return (hidden * mask).sum(dim=1) / mask.sum(dim=1)
    if pooling == "max":
        return hidden.masked_fill(~mask, -torch.inf).max(dim=1).values
    places = torch.arange(seen.shape[1], device=seen.device)
    last = torch.where(seen, places, -1).max(dim=1).values  # for cls, only [CLS] is seen
    return hidden[torch.arange(len(hidden), device=hidden.device), last]


def sentence_transformers_encoder(
    model: checks.FilePath,
    *,
    max_length: int | None = None,
    device: str | None = None,
    revision: str | None = None,
    name: str | None = None,
    prompt: str | None = None,
    prompt_name: str | None = None,
) -> Encoder:
    """Return a sentence-transformers model, with its own pooling.

    Parameters
    ----------
    model : str or path
        The folder of a model, or its name on the model hub (downloaded once, by that library).
    max_length : int, optional
        Longest sentence in tokens, special ones included; by default what the model states.
        `encode` warns of sentences that were cut.
    device : str, optional
        ``cpu``, ``cuda``, ``mps``; by default the first accelerator, else the processor.
    revision : str, optional
        Branch, tag or commit on the hub.
    name : str, optional
        Short name; by default the last part of `model`.
    prompt : str, optional
        A text before each sentence, such as ``"query: "``; by default that of the model, if it
        has one.
    prompt_name : str, optional
        The name of a prompt that the model has, such as ``query``.

    Returns
    -------
    Encoder
        Computed in single precision. ``provenance`` holds the modules of the model, tokenizer
        class, casing, pooling, prompt, longest length, versions, and ``weights_sha256`` (as in
        `transformers_encoder`). Code that comes with a model is never run
        (``trust_remote_code=False``).

    Raises
    ------
    InputError
        Where the extra ``encoders`` is not installed, the model cannot be loaded, or it has no prompt
        of that name.

    Warns
    -----
    UserWarning
        Where the model has prompts and none is used.

    Examples
    --------
    >>> from bayesbias import load_encoder
    >>> load_encoder("sentence-transformers:some/folder?maxlength=128")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: ...option: expected max_length, device, ... Did you mean 'max_length'?
    """
    library, torch = _import_libraries("sentence_transformers")
    text, local = _folder_or_hub_name(model)
    where = _chosen_device(torch, device)
    with _quiet_loading(text, local):
        common = {"revision": revision, "trust_remote_code": False}
        loaded = library.SentenceTransformer(text, device=where, **common).float().eval()
    limit = loaded.max_seq_length
    if max_length is not None:
        checks.count(max_length, "max_length", 3, None if limit is None else int(limit))
        loaded.max_seq_length = limit = max_length
    limit = None if limit is None or limit >= _UNBOUNDED else int(limit)
    modules = []
    for module in loaded:
        settings: dict[str, Any] = getattr(module, "get_config_dict", dict)()
        plain = {
            k: v for k, v in settings.items() if isinstance(v, str | int | float | bool | None)
        }
        modules.append({"type": type(module).__name__, **plain})
    modes = [str(m["pooling_mode"]) for m in modules if "pooling_mode" in m]
    tokenizer = getattr(loaded, "tokenizer", None)
    used, stated = _prompt_of(loaded, text, prompt, prompt_name)
    vital = {
        "library": "sentence-transformers",
        **_tokenizer_facts(tokenizer),
        "pooling": modes[0] if modes else "as the model does",
        "modules": modules,
        "prompt": used,
        "max_length": limit,
        "precision": "float32",
        "weights_sha256": _weights_hash(loaded),
        "versions": packages.versions_of(
            "sentence-transformers", "transformers", "tokenizers", "torch"
        ),
    }

    def run(sentences: list[str]) -> Any:
        given = {"prompt": used} if stated else {}
        return loaded.encode(sentences, batch_size=len(sentences), show_progress_bar=False, **given)

    config = getattr(loaded, "config", None)
    settings_shown = [] if max_length is None else [f"max_length={max_length}"]
    if stated and used:
        settings_shown.append(option_of_prompt(used))
    options = ";".join(settings_shown)
    return _built(name, run, options, (text, local, config, where), vital, tokenizer)


def _prompt_of(
    model: Any, text: str, prompt: str | None, prompt_name: str | None
) -> tuple[str | None, bool]:
    """Return the prompt that a model gets, and whether the user stated it."""
    known = {
        name: words for name, words in (getattr(model, "prompts", None) or {}).items() if words
    }
    if prompt is not None and prompt_name is not None:
        problem = "expected a prompt or the name of one, got both"
        raise InputError(problem, where=f"model {text!r}, prompt")
    if prompt is not None:
        return checks.text(prompt, "prompt"), True
    if prompt_name is not None:
        if not known:
            problem = f"expected a prompt of the model named {prompt_name!r}, got none"
            hint = "write it out: prompt=query: "
            raise InputError(problem, where=f"model {text!r}", hint=hint)
        return known[checks.choice(prompt_name, list(known), "prompt_name")], True
    default = getattr(model, "default_prompt_name", None)
    if default is not None:
        return known.get(default), False
    if known:
        names = ", ".join(known)
        warn_user(
            f"model {text!r} has prompts ({names}), and none is used; choose one with "
            f"?prompt_name={next(iter(known))}"
        )
    return None, False


def transformers_encoder(
    model: checks.FilePath,
    *,
    pooling: str = "mean",
    layer: int = -1,
    special_tokens: str = "include",
    max_length: int | None = None,
    device: str | None = None,
    revision: str | None = None,
    name: str | None = None,
) -> Encoder:
    """Return a Hugging Face transformer, with a pooling and a layer.

    Parameters
    ----------
    model : str or path
        The folder of a model, or its name on the model hub (downloaded once, by that library). Of
        an encoder-decoder model the encoder is used.
    pooling : {"cls", "mean", "max", "last"}
        How the vectors of a sentence's tokens become one: their mean or largest values, that of the
        [CLS] token (wherever the tokenizer puts it), or that of the last token. Padding never
        counts.
    layer : int
        The layer whose output is pooled: 0 is the input embeddings, 1 the first layer; -1 the
        last, -2 the one before it.
    special_tokens : {"include", "exclude"}
        Whether mean, max and last see the tokens that the tokenizer adds, such as [CLS] and
        [SEP]. The model sees them in either case. sentence-transformers includes them.
    max_length : int, optional
        Longest sentence in tokens, special ones included; by default what tokenizer and model
        bear. `encode` warns of sentences that were cut.
    device : str, optional
        ``cpu``, ``cuda``, ``mps``; by default the first accelerator, else the processor.
    revision : str, optional
        Branch, tag or commit on the hub.
    name : str, optional
        Short name; by default the last part of `model`.

    Returns
    -------
    Encoder
        Computed in single precision, padded on the right whatever the tokenizer says, so that
        positions count from a sentence's first token. ``provenance`` holds tokenizer class,
        casing as it behaves, pooling, layer, special tokens, longest length, versions, and
        ``weights_sha256``: over all tensors of the model in the order of their names, for each
        its name, type, shape and bytes, after conversion to single precision. Of a local folder
        also the SHA-256 of its weight files, of the hub the commit. Code that comes with a model
        is never run (``trust_remote_code=False``).

    Raises
    ------
    InputError
        Where the extra ``encoders`` is not installed; for an unknown pooling or layer; where the
        model cannot be loaded, or its file lacks weights, which would be random.

    Warns
    -----
    UserWarning
        Where a model named cased has a tokenizer that ignores case, or the other way round.

    Notes
    -----
    The paper's BERT (May et al. 2019, appendix C) is ``pooling="cls", layer=-1``: the topmost
    hidden state of [CLS], not the pooler's output. Its GPT is ``pooling="last"``.

    Examples
    --------
    >>> transformers_encoder("some/folder", pooling="avg")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: pooling: expected cls, mean, max or last, got 'avg'.
    """
    checks.choice(pooling, POOLINGS, "pooling")
    checks.choice(special_tokens, ("include", "exclude"), "special_tokens")
    if pooling == "cls" and special_tokens == "exclude":
        problem = "expected special tokens for pooling=cls, got 'exclude'"
        raise InputError(problem, where="special_tokens")
    transformers, torch = _import_libraries("transformers")
    text, local = _folder_or_hub_name(model)
    where = _chosen_device(torch, device)
    with _quiet_loading(text, local):
        common = {"revision": revision or "main", "trust_remote_code": False}
        tokenizer = transformers.AutoTokenizer.from_pretrained(text, **common)
        common["output_loading_info"] = True
        loaded, loading = transformers.AutoModel.from_pretrained(text, **common)
    # We never use a pooler.
    if random := sorted(key for key in loading["missing_keys"] if "pooler" not in key):
        problem = f"expected all weights in the files of the model, got none for {random[0]}"
        raise InputError(problem, where=text)
    if getattr(loaded.config, "is_encoder_decoder", False):
        loaded = loaded.get_encoder()
    loaded = loaded.float().eval().to(where)
    if tokenizer.pad_token is None:  # as of GPT-2; the mask hides it
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if pooling == "cls" and tokenizer.cls_token_id is None:
        raise InputError("expected a tokenizer with [CLS] for pooling=cls, got none", where=text)
    bounds = [tokenizer.model_max_length, getattr(loaded.config, "max_position_embeddings", None)]
    most = min((bound for bound in bounds if bound and bound < _UNBOUNDED), default=None)
    if max_length is not None:
        checks.count(max_length, "max_length", 3, most)
    limit = max_length or most

    def states(sentences: list[str]) -> tuple[Any, Any]:
        batch = tokenizer(
            sentences,
            padding=True,
            padding_side="right",
            truncation=limit is not None,
            max_length=limit,
            return_tensors="pt",
            return_special_tokens_mask=True,
        )
        special = batch.pop("special_tokens_mask")
        batch = batch.to(where)
        with torch.inference_mode():
            output = loaded(**batch, output_hidden_states=True, return_dict=True)
        seen = batch["attention_mask"].bool()
        if special_tokens == "exclude":
            seen &= ~special.bool().to(where)
        if pooling == "cls":
            seen &= batch["input_ids"] == tokenizer.cls_token_id
        return output.hidden_states, seen

    def run(sentences: list[str]) -> np.ndarray:
        hidden, seen = states(sentences)
        empty = (~seen.any(dim=1)).nonzero()
        if len(empty):
            sentence = f"sentence {sentences[int(empty[0])]!r}"
            raise InputError("expected a token to pool over, got none", where=sentence)
        return _pooled(torch, pooling, hidden[index], seen).cpu().numpy()

    layers = len(states(["a"])[0]) - 1
    if not -layers - 1 <= layer <= layers:
        valid = f"0 (input embeddings) to {layers}, or -1 (last) to {-layers - 1}"
        raise InputError(f"expected a layer from {valid}, got {layer}", where=text)
    index = layer % (layers + 1)
    vital = {
        "library": "transformers",
        "architecture": type(loaded).__name__,
        **_tokenizer_facts(tokenizer),
        "pooling": pooling,
        "layer": index,
        "layers": layers,
        "special_tokens": special_tokens,
        "max_length": limit,
        "padding": "right",
        "precision": "float32",
        "weights_sha256": _weights_hash(loaded),
        "versions": packages.versions_of("transformers", "tokenizers", "torch"),
    }
    options = f"pooling={pooling};layer={layer}"
    options += ";special_tokens=exclude" * (special_tokens == "exclude")
    options += f";max_length={max_length}" * (max_length is not None)
    return _built(name, run, options, (text, local, loaded.config, where), vital, tokenizer)


def _built(
    name: str | None,
    run: Callable[[list[str]], Any],
    options: str,
    model: tuple[str, bool, Any, str],
    vital: dict[str, Any],
    tokenizer: Any,
) -> Encoder:
    """Put an encoder together; `vital` is all that its vectors depend on."""
    text, local, config, device = model
    limit, casing = vital["max_length"], vital["casing"]
    # Where a model's name says (un)cased and its tokenizer does the opposite.
    casings = re.findall(r"(un)?cased", Path(text).name.lower())
    if casings and casing != "unknown" and (casings[-1] == "un") != (casing == "ignored"):
        said = f"{casings[-1]}cased by its name, but case is {casing} by its tokenizer"
        warn_user(f"model {text!r} is {said}: the tokenizer may not be its own")
    origin = {"commit": getattr(config, "_commit_hash", None)}
    if local:
        files = [*Path(text).rglob("*.safetensors"), *Path(text).rglob("*.bin")]
        weights = sorted(p for p in files if p.name.startswith(("model", "pytorch_model")))
        hashes = {path.relative_to(text).as_posix(): sha256_file(path) for path in weights}
        origin = {"files_sha256": hashes}

    def look(sentences: list[str]) -> dict[str, Any]:
        """Say which sentences are longer than the limit and will be cut."""
        # A token takes one byte or more, so that short sentences need no look.
        long = [
            s for s in dict.fromkeys(sentences) if limit and len((prompt + s).encode()) > limit - 8
        ]
        whole = [prompt + sentence for sentence in long]
        tokens = [tokenizer(s, truncation=False, verbose=False)["input_ids"] for s in whole]
        cut = [s for s, ids in zip(long, tokens, strict=True) if len(ids) > limit]
        return {"cut": cut, "max_length": limit}

    facts = {"model": text, **origin, **vital, "device": device}
    prompt = vital.get("prompt") or ""
    seen = None if casing == "unknown" else look
    own = name or Path(text).name or text
    return BuiltEncoder(own, run, options, facts, fingerprint_of(vital), look=seen)


def _import_libraries(wanted: str) -> Any:
    """Import the library and torch, or say how to install them."""
    instead = "minilm-static, cbow:EMBEDDING, a callable, or a file of vectors"
    return packages.needed("encoders", wanted, "torch", purpose="this encoder", instead=instead)


def _folder_or_hub_name(model: checks.FilePath) -> tuple[str, bool]:
    """Return the model's folder, or its name on the hub, and whether it is a folder."""
    text = os.fspath(model)
    path = Path(os.path.expanduser(text))
    if os.path.isdir(path):
        return str(path), True
    if path.is_file():
        raise InputError("expected the folder of a model, got a file", where=path)
    if path.parent != Path(".") and path.parent.is_dir():
        hint = nearest(str(path), map(str, path.parent.glob("*")))
        raise InputError(f"expected the folder of a model, got {text!r}", where="model", hint=hint)
    return text, False


@contextlib.contextmanager
def _quiet_loading(text: str, local: bool) -> Iterator[None]:
    """Load a model quietly; whatever goes wrong is said in one sentence."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    if local:  # a download shows its bar
        logging.disable_progress_bar()
    try:
        yield
    except Exception as error:  # from damaged files to a broken line: the libraries raise anything
        first = str(error).strip().split("\n")[0] or type(error).__name__
        hint = None if local else "without a network, give the folder of a model"
        if "trust_remote_code" in str(error):
            first, hint = "needs code of its own, which is never run", None
        raise InputError(
            f"expected a model to load, got: {first}", where=f"model {text!r}", hint=hint
        ) from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _chosen_device(torch: Any, asked: str | None) -> str:
    """Return the device asked for, or the first accelerator, or the CPU."""
    have = ["cpu"]
    if torch.cuda.is_available():
        have += [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        have.append("mps")
    if asked is None:
        return have[1] if len(have) > 1 else "cpu"
    return checks.choice("cuda:0" if asked == "cuda" else asked, have, "device")


def _tokenizer_facts(tokenizer: Any) -> dict[str, Any]:
    """Return class, hash and casing.

    The casing as it behaves, since settings have been wrong before.
    """
    out = {"tokenizer": type(tokenizer).__name__, "tokenizer_sha256": None, "casing": "unknown"}
    if callable(tokenizer) and hasattr(tokenizer, "get_vocab"):
        fast = getattr(tokenizer, "backend_tokenizer", None)
        whole = {"vocabulary": tokenizer.get_vocab()} if fast is None else json.loads(fast.to_str())
        whole = {key: value for key, value in whole.items() if key not in ("truncation", "padding")}
        out["tokenizer_sha256"] = fingerprint_of(whole)
        probes = ["Amy is an engineer.", "NASA", "The Engineer"]
        ids, lower = (
            [tokenizer(t)["input_ids"] for t in each]
            for each in (probes, [t.lower() for t in probes])
        )
        out["casing"] = "ignored" if ids == lower else "kept"
    return out


def _weights_hash(model: Any) -> str:
    """Hash all weights, with their names and shapes.

    The same model gives the same 64 digits anywhere.
    """
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        array = tensor.detach().cpu().contiguous().numpy()
        digest.update(f"{name} {array.dtype.name} {array.shape}\n".encode())
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()
