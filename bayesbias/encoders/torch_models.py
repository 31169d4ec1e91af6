"""What torch models of sentences have in common: finding and loading them, and what is said about them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bayesbias.core.errors import InputError, nearest, warn_user
from bayesbias.core.extras import needed
from bayesbias.core.opening import sha256_file
from bayesbias.encoders.encoder import fingerprint_of

UNBOUNDED = 10**6
"""Tokenizers that know no limit state a very large one."""


def import_libraries(wanted: str) -> tuple[Any, Any]:
    """Import torch and the library, or say how to install them."""
    instead = "minilm-static, cbow:EMBEDDING, a callable, or a file of vectors"
    library, torch = needed("encoders", wanted, "torch", purpose="this encoder", instead=instead)
    return torch, library


def folder_or_hub_name(model: str | os.PathLike[str]) -> tuple[str, bool]:
    """Return the model's folder, or its name on the hub, and whether it is a folder."""
    text = os.fspath(model)
    path = Path(os.path.expanduser(text))
    if os.path.isdir(path):
        return str(path), True
    if os.path.isfile(path):
        raise InputError(
            "is a file, not the folder of a model", where=path, hint=f"its folder: {path.parent}"
        )
    if not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?", text) or (
        os.path.isdir(path.parent) and path.parent != Path(".")
    ):
        beside = [str(other) for other in path.parent.glob("*") if os.path.isdir(other)]
        raise InputError(
            "no such model",
            found=text,
            valid="the folder of a model, or a name on the hub such as owner/name",
            hint=nearest(str(path), beside),
        )
    return text, False


@contextlib.contextmanager
def quiet_loading(text: str, local: bool) -> Iterator[None]:
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
            first, hint = "needs code of its own, which is never run", "choose a model without such code"
        raise InputError(f"cannot be loaded: {first}", where=f"model {text!r}", hint=hint) from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def chosen_device(torch: Any, asked: str | None) -> str:
    """Return the device asked for, or the first accelerator, or the CPU."""
    have = ["cpu"]
    if torch.cuda.is_available():
        have += [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        have.append("mps")
    if asked is None:
        return have[1] if len(have) > 1 else "cpu"
    if (device := "cuda:0" if asked == "cuda" else asked) not in have:
        raise InputError(
            "no such device here", where="device", found=asked, valid=have, hint=nearest(asked, have)
        )
    return device


def check_max_length(asked: Any, most: int, text: str) -> None:
    """Refuse a length below 3 tokens (two mark the ends) or above what the model reads."""
    if not isinstance(asked, int) or isinstance(asked, bool) or not 3 <= asked <= most:
        valid = "3 or more tokens" if most >= UNBOUNDED else f"3 to {most} tokens"
        raise InputError(
            "the model does not bear this length", where=text, found=f"max_length={asked}", valid=valid
        )


def tokenizer_facts(tokenizer: Any) -> dict[str, Any]:
    """Return class, hash and casing; the casing as it behaves, since settings have been wrong before."""
    out = {"tokenizer": type(tokenizer).__name__, "tokenizer_sha256": None, "casing": "unknown"}
    if callable(tokenizer) and hasattr(tokenizer, "get_vocab"):
        fast = getattr(tokenizer, "backend_tokenizer", None)
        whole = json.loads(fast.to_str()) if fast is not None else {"vocabulary": tokenizer.get_vocab()}
        whole = {key: value for key, value in whole.items() if key not in ("truncation", "padding")}
        out["tokenizer_sha256"] = fingerprint_of(whole)
        probes = ["Amy is an engineer.", "NASA", "The Engineer"]
        same = [tokenizer(text)["input_ids"] == tokenizer(text.lower())["input_ids"] for text in probes]
        out["casing"] = "ignored" if all(same) else "kept"
    return out


def warn_of_casing(text: str, casing: str) -> None:
    """Warn where a model's name says (un)cased and its tokenizer does the opposite."""
    casings: list[str] = re.findall(r"(un)?cased", Path(text).name.lower())
    if casings and casing != "unknown" and (casings[-1] == "un") != (casing == "ignored"):
        warn_user(
            f"model {text!r} is {casings[-1]}cased by its name, but case is {casing} by its tokenizer: "
            "the tokenizer may not be its own"
        )


def cut_finder(tokenizer: Any, limit: int | None) -> Callable[[list[str]], dict[str, Any]]:
    """Make the function that says which sentences are longer than ``limit`` tokens and will be cut."""

    def look(sentences: list[str]) -> dict[str, Any]:
        if limit is None:
            return {"cut": [], "max_length": None}
        # A token takes one byte or more, so that short sentences need no look.
        long = [s for s in dict.fromkeys(sentences) if len(s.encode("utf-8", "replace")) > limit - 8]
        cut = [s for s in long if len(tokenizer(s, truncation=False, verbose=False)["input_ids"]) > limit]
        return {"cut": cut, "max_length": limit}

    return look


def weights_hash(model: Any) -> str:
    """Hash all weights, with their names and shapes: the same model gives the same 64 digits anywhere."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        array = tensor.detach().cpu().contiguous().numpy()
        digest.update(f"{name} {array.dtype.name} {array.shape}\n".encode())
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()


def module_config(module: Any) -> dict[str, Any]:
    """Return the plain settings that a module of sentence-transformers tells about itself."""
    settings: dict[str, Any] = getattr(module, "get_config_dict", dict)()
    return {
        key: value for key, value in settings.items() if isinstance(value, str | int | float | bool | None)
    }


def origin_of_model(text: str, local: bool, config: Any) -> dict[str, Any]:
    """Say where the weights came from: hashes of local files, or the commit of the download."""
    if not local:
        return {"commit": getattr(config, "_commit_hash", None)}
    weights = sorted(
        path
        for path in Path(text).rglob("*")
        if path.suffix in (".safetensors", ".bin") and path.name.startswith(("model", "pytorch_model"))
    )
    return {"files_sha256": {path.relative_to(text).as_posix(): sha256_file(path) for path in weights}}


def name_of_model(text: str) -> str:
    """Return the last part of a model's path or hub name."""
    return Path(text).name or text
