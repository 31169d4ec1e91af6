"""Encoders that run a pretrained model with torch: sentence-transformers, and transformers with a pooling."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.versions import versions_of
from bayesbias.core.wording import number_of
from bayesbias.encoders import torch_models
from bayesbias.encoders.encoder import BuiltEncoder, Encoder, fingerprint_of
from bayesbias.encoders.pooling import POOLINGS

__all__ = ["sentence_transformers_encoder", "transformers_encoder"]


def sentence_transformers_encoder(
    model: str | os.PathLike[str],
    *,
    max_length: int | None = None,
    device: str | None = None,
    revision: str | None = None,
    name: str | None = None,
) -> Encoder:
    """Return a sentence-transformers model, with its own pooling and normalisation.

    Parameters
    ----------
    model : str or path
        The folder of a model, or its name on the model hub (downloaded once, by that library).
    max_length : int, optional
        Longest sentence in tokens, special ones included; by default what the model states. `encode` warns of
        sentences that were cut.
    device : str, optional
        ``cpu``, ``cuda``, ``mps``; by default the first accelerator, else the processor.
    revision : str, optional
        Branch, tag or commit on the hub.
    name : str, optional
        Short name; by default the last part of `model`.

    Returns
    -------
    Encoder
        Computed in single precision. ``provenance`` holds the modules of the model, tokenizer class, casing,
        pooling, prompt, longest length, versions, and ``weights_sha256`` (as in `transformers_encoder`).
        Code that comes with a model is never run (``trust_remote_code=False``).

    Raises
    ------
    InputError
        Where the extra ``encoders`` is not installed, or the model cannot be loaded.

    Examples
    --------
    >>> from bayesbias import load_encoder
    >>> load_encoder("sentence-transformers:some/folder?maxlength=128")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: ...unknown option; found: 'maxlength'; valid: max_length, ...
    """
    torch, _ = torch_models.import_libraries("sentence_transformers")
    from sentence_transformers import SentenceTransformer

    text, local = torch_models.folder_or_hub_name(model)
    where = torch_models.chosen_device(torch, device)
    with torch_models.quiet_loading(text, local):
        loaded = (
            SentenceTransformer(text, device=where, revision=revision, trust_remote_code=False).float().eval()
        )
    limit = loaded.max_seq_length
    if max_length is not None:
        torch_models.check_max_length(
            max_length, limit if limit is not None else torch_models.UNBOUNDED, text
        )
        loaded.max_seq_length = limit = max_length
    limit = None if limit is None or limit >= torch_models.UNBOUNDED else int(limit)
    modules = [{"type": type(module).__name__, **torch_models.module_config(module)} for module in loaded]
    pooling = next((str(m["pooling_mode"]) for m in modules if "pooling_mode" in m), "as the model does")
    tokenizer = getattr(loaded, "tokenizer", None)
    prompt = getattr(loaded, "default_prompt_name", None)
    vital = {
        "library": "sentence-transformers",
        **torch_models.tokenizer_facts(tokenizer),
        "pooling": pooling,
        "modules": modules,
        "prompt": (loaded.prompts or {}).get(prompt) if prompt else None,
        "max_length": limit,
        "precision": "float32",
        "weights_sha256": torch_models.weights_hash(loaded),
        "versions": versions_of("sentence-transformers", "transformers", "tokenizers", "torch"),
    }
    facts = {
        "model": text,
        **torch_models.origin_of_model(text, local, getattr(loaded, "config", None)),
        **vital,
        "device": where,
    }
    torch_models.warn_of_casing(text, facts["casing"])

    def run(sentences: list[str]) -> Any:
        return loaded.encode(
            sentences, batch_size=len(sentences), show_progress_bar=False, convert_to_numpy=True
        )

    look = torch_models.cut_finder(tokenizer, limit) if facts["casing"] != "unknown" else None
    options = "" if max_length is None else f"max_length={max_length}"
    return BuiltEncoder(
        name or torch_models.name_of_model(text), run, options, facts, fingerprint_of(vital), look=look
    )


def transformers_encoder(
    model: str | os.PathLike[str],
    *,
    pooling: str = "mean",
    layer: int = -1,
    special_tokens: str = "include",
    max_length: int | None = None,
    device: str | None = None,
    revision: str | None = None,
    name: str | None = None,
) -> Encoder:
    """Return a Hugging Face transformer, with the pooling and the layer of your choice.

    Parameters
    ----------
    model : str or path
        The folder of a model, or its name on the model hub (downloaded once, by that library). Of an
        encoder-decoder model the encoder is used.
    pooling : str
        A row of `bayesbias.encoders.pooling.POOLINGS`, such as ``mean``; the error for another lists them.
        How the vectors of a sentence's tokens become one: their mean or largest values, that of the [CLS]
        token (wherever the tokenizer puts it), or that of the last token. Padding never counts.
    layer : int
        The layer whose output is pooled: 0 is the input embeddings, 1 the first layer; -1 the last, -2 the
        one before it.
    special_tokens : {"include", "exclude"}
        Whether mean, max and last see the tokens that the tokenizer adds, such as [CLS] and [SEP]. The model
        sees them in either case. sentence-transformers includes them.
    max_length : int, optional
        Longest sentence in tokens, special ones included; by default what tokenizer and model bear. `encode`
        warns of sentences that were cut.
    device : str, optional
        ``cpu``, ``cuda``, ``mps``; by default the first accelerator, else the processor.
    revision : str, optional
        Branch, tag or commit on the hub.
    name : str, optional
        Short name; by default the last part of `model`.

    Returns
    -------
    Encoder
        Computed in single precision, padded on the right whatever the tokenizer says, so that positions
        count from a sentence's first token. ``provenance`` holds tokenizer class, casing as it behaves,
        pooling, layer, special tokens, longest length, versions, and ``weights_sha256``: over all tensors
        of the model in the order of their names, for each its name, type, shape and bytes, after conversion
        to single precision. Of a local folder also the SHA-256 of its weight files, of the hub the commit.
        Code that comes with a model is never run (``trust_remote_code=False``).

    Raises
    ------
    InputError
        Where the extra ``encoders`` is not installed; for an unknown pooling or layer; where the model
        cannot be loaded, or its file lacks weights, which would be random.

    Warns
    -----
    UserWarning
        Where a model named cased has a tokenizer that ignores case, or the other way round.

    Notes
    -----
    The paper's BERT (May et al. 2019, appendix C) is ``pooling="cls", layer=-1``: the topmost hidden state of
    [CLS], not the pooler's output. Its GPT is ``pooling="last"``.

    Examples
    --------
    >>> transformers_encoder("some/folder", pooling="avg")
    Traceback (most recent call last):
    ...
    bayesbias.InputError: unknown pooling; found: 'avg'; valid: cls, mean, max, last
    """
    checks.choice(pooling, POOLINGS, "pooling")
    checks.choice(special_tokens, ("include", "exclude"), "value of special_tokens")
    way = POOLINGS[pooling]
    if way.token and special_tokens == "exclude":
        raise InputError(
            f"{way.token} is itself a special token", found=f"pooling={pooling}, special_tokens=exclude"
        )
    torch, transformers = torch_models.import_libraries("transformers")
    text, local = torch_models.folder_or_hub_name(model)
    where = torch_models.chosen_device(torch, device)
    with torch_models.quiet_loading(text, local):
        common = {"revision": revision or "main", "trust_remote_code": False}
        tokenizer = transformers.AutoTokenizer.from_pretrained(text, **common)
        loaded, loading = transformers.AutoModel.from_pretrained(text, output_loading_info=True, **common)
    random = sorted(key for key in loading["missing_keys"] if "pooler" not in key)  # we never use a pooler
    if random:
        raise InputError(
            "the files of the model lack weights, which would be random numbers",
            where=text,
            found=f"{number_of(len(random), 'tensor')} without values, such as {random[0]}",
        )
    if getattr(loaded.config, "is_encoder_decoder", False):
        loaded = loaded.get_encoder()
    loaded = loaded.float().eval().to(where)
    if tokenizer.pad_token is None:  # as of GPT-2; the mask hides it
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    if way.token and getattr(tokenizer, way.token_id) is None:
        others = [name for name, other in POOLINGS.items() if not other.token]
        raise InputError(
            f"the tokenizer has no {way.token} token", where=text, found=f"pooling={pooling}", valid=others
        )
    bounds = [tokenizer.model_max_length, getattr(loaded.config, "max_position_embeddings", None)]
    most = min((bound for bound in bounds if bound and bound < torch_models.UNBOUNDED), default=None)
    if max_length is not None:
        torch_models.check_max_length(max_length, most or torch_models.UNBOUNDED, text)
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
        if way.token:
            seen &= batch["input_ids"] == getattr(tokenizer, way.token_id)
        return output.hidden_states, seen

    def run(sentences: list[str]) -> np.ndarray:
        hidden, seen = states(sentences)
        empty = (~seen.any(dim=1)).nonzero()
        if len(empty):
            raise InputError(
                "the sentence has no token to pool over",
                where=f"sentence {sentences[int(empty[0])]!r}",
                found=f"pooling={pooling}, special_tokens={special_tokens}",
            )
        return way.pool(torch, hidden[index], seen).cpu().numpy()

    layers = len(states(["a"])[0]) - 1
    if not isinstance(layer, int) or not -layers - 1 <= layer <= layers:
        valid = f"0 (input embeddings) to {layers}, or -1 (last) to {-layers - 1}"
        raise InputError("the model has no such layer", where=text, found=layer, valid=valid)
    index = layer % (layers + 1)
    vital = {
        "library": "transformers",
        "architecture": type(loaded).__name__,
        **torch_models.tokenizer_facts(tokenizer),
        "pooling": pooling,
        "layer": index,
        "layers": layers,
        "special_tokens": special_tokens,
        "max_length": limit,
        "padding": "right",
        "precision": "float32",
        "weights_sha256": torch_models.weights_hash(loaded),
        "versions": versions_of("transformers", "tokenizers", "torch"),
    }
    facts = {
        "model": text,
        **torch_models.origin_of_model(text, local, loaded.config),
        **vital,
        "device": where,
    }
    torch_models.warn_of_casing(text, facts["casing"])
    options = f"pooling={pooling};layer={layer}"
    options += ";special_tokens=exclude" if special_tokens == "exclude" else ""
    options += f";max_length={max_length}" if max_length is not None else ""
    look = torch_models.cut_finder(tokenizer, limit)
    return BuiltEncoder(
        name or torch_models.name_of_model(text), run, options, facts, fingerprint_of(vital), look=look
    )
