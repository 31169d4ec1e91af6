"""Classifiers that need torch or transformers: run by `make claims`, in an environment with both."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip(
    "torch", reason="needs torch, which `make claims` installs in an environment of its own"
)
transformers = pytest.importorskip("transformers", reason="needs the extra `encoders`")

import bayesbias as bb  # noqa: E402
from bayesbias.classifiers import training  # noqa: E402

GOOD, BAD = ("good", "fine", "lovely"), ("bad", "poor", "awful")
THINGS = ("film", "story", "end", "day", "meal", "song")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "train.tsv"
    rows = [
        f"{label}\tthe {thing} is {'not ' if turned else ''}{word} .\n"
        for words, plain in ((GOOD, 1), (BAD, 0))
        for word in words
        for thing in THINGS
        for turned in (False, True)
        for label in [plain ^ turned]
    ]
    path.write_text("label\tsentence\n" + "".join(rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def vectors() -> dict[str, list[float]]:
    rng = np.random.default_rng(3)
    words = (
        "the",
        "is",
        ".",
        *GOOD[:2],
        *BAD[:2],
        *THINGS,
        "he",
        "nurse",
    )  # lovely, awful and not are missing
    return {word: rng.normal(size=8).tolist() for word in words}


def trained(data, vectors, **changes):
    settings = {
        "hidden": 8,
        "epochs": 40,
        "patience": 40,
        "batch": 8,
        "learning_rate": 0.02,
        "dev": data,
        "seed": 1,
    }
    return bb.classifiers.train_bilstm(data, vectors, **{**settings, **changes})


@pytest.fixture(scope="module")
def bilstm(data, vectors, tmp_path_factory):
    return trained(data, vectors, out=tmp_path_factory.mktemp("out") / "lstm")


def test_bilstm_learns_what_a_bag_of_words_cannot(bilstm):
    assert bilstm.provenance["dev_accuracy"] == 1.0  # "not" turns every word around
    assert bilstm(["the day is good .", "the day is not good ."])[0] > 0.9
    assert bilstm(["the day is good .", "the day is not good ."])[1] < 0.1
    coverage = bilstm.provenance["coverage"]
    assert (coverage["words"], coverage["words_with_vector"]) == (16, 13)
    assert "bartender" in coverage["bench_words_without"]
    assert "nurse" not in coverage["bench_words_without"]
    assert "not" not in bilstm.unknown_words(["it is not a nurse"])
    assert bilstm.unknown_words(["it is not a nurse"]) == ("it", "a")


def test_given_vectors_stay(bilstm, vectors):
    def part(classifier, words):
        model = classifier.predict
        return model.weights["vectors"][[model.vocabulary[w] for w in words]]

    known = [w for w in vectors if w in bilstm.predict.vocabulary]
    given = np.array([vectors[w] for w in known])
    scale = part(bilstm, known) / given
    np.testing.assert_allclose(scale, scale[0, 0], rtol=1e-5)
    assert np.sqrt(np.mean(part(bilstm, known) ** 2)) == pytest.approx(0.3, rel=1e-5)


def test_numpy_predicts_what_torch_does(bilstm):
    model = bilstm.predict
    hidden, dim = 8, 8
    lstm = torch.nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for side, ending in (("forward", "l0"), ("backward", "l0_reverse")):
            getattr(lstm, f"weight_ih_{ending}")[:] = torch.from_numpy(
                model.weights[f"{side}_input"]
            )
            getattr(lstm, f"weight_hh_{ending}")[:] = torch.from_numpy(
                model.weights[f"{side}_state"]
            )
            getattr(lstm, f"bias_ih_{ending}")[:] = torch.from_numpy(model.weights[f"{side}_bias"])
            getattr(lstm, f"bias_hh_{ending}").zero_()
        for sentence in ("the film is not awful .", "he", "the nurse is not a lovely poor thing"):
            rows = [
                model.weights["vectors"][model.vocabulary[w]]
                if w in model.vocabulary
                else np.zeros(dim, np.float32)
                for w in sentence.split()
            ]
            _, (last, _) = lstm(torch.from_numpy(np.array(rows))[None])
            state = torch.cat([last[0], last[1]], dim=1).numpy()[0]
            z = state @ model.weights["output"] + model.weights["output_bias"][0]
            assert bilstm([sentence])[0] == pytest.approx(1 / (1 + np.exp(-z)), abs=1e-6)


def test_the_accuracy_recorded_in_training_is_that_of_numpy(bilstm, data):
    best = max(record["accuracy"] for record in bilstm.provenance["epochs"])
    sentences, labels = training.read_labelled(data)
    assert best == ((bilstm(sentences) >= 0.5) == labels).mean()


def test_the_same_seed_trains_the_same_classifier(data, vectors):
    state = torch.random.get_rng_state()
    one, two, other = (trained(data, vectors, epochs=2, seed=seed) for seed in (7, 7, 8))
    assert torch.equal(
        torch.random.get_rng_state(), state
    )  # the caller's random numbers are left alone
    asked = ["the film is good ."]
    assert one(asked) == two(asked)
    assert one(asked) != other(asked)


def test_training_stops_early_and_keeps_the_best_pass(data, vectors, tmp_path):
    # One label in four is wrong: as the classifier grows sure, its loss on them grows.
    header, *rows = data.read_text(encoding="utf-8").splitlines()
    rows = [f"{1 - int(row[0])}{row[1:]}" if i % 4 == 0 else row for i, row in enumerate(rows)]
    noisy = tmp_path / "noisy.tsv"
    noisy.write_text("\n".join([header, *rows]), encoding="utf-8")
    made = trained(data, vectors, dev=noisy, epochs=80, patience=15)
    record = made.provenance["epochs"]
    assert len(record) < 80
    keys = [(r["accuracy"], -r["loss"]) for r in record]
    assert keys.index(max(keys)) == len(record) - 16
    assert made.provenance["dev_accuracy"] == max(keys)[0] == 0.75
    assert made.provenance["stopped_on"] == "dev"
    aside = trained(data, vectors, dev=None, epochs=2)
    assert aside.provenance["stopped_on"] == "5 % of the training data"
    assert "dev_accuracy" not in aside.provenance


def test_a_trained_folder_gives_the_same_predictions_on_the_bench(bilstm, data, vectors, tmp_path):
    bilstm.save(tmp_path / "copy")
    again = bb.load_classifier(tmp_path / "copy")
    made = bb.score_sentences(bilstm)
    assert made.frame["probability"].equals(bb.score_sentences(again).frame["probability"])
    assert len(bb.sentiment_table(made)) == 400


# -- Hugging Face ----------------------------------------------------------------------------------


def tiny(
    folder: Path, labels: dict[int, str], kind: str = "BertForSequenceClassification", **more
) -> Path:
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "he",
        "she",
        "is",
        "a",
        "doctor",
        "good",
        "bad",
        ".",
    ]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
        id2label=labels, label2id={v: k for k, v in labels.items()}, **more,
    )  # fmt: skip
    torch.manual_seed(0)
    getattr(transformers, kind)(config).save_pretrained(folder)
    return folder


def test_transformers_models(tmp_path):
    folder = tiny(tmp_path / "tiny", {0: "POSITIVE", 1: "neutral", 2: "NEGATIVE"})
    classifier = bb.load_classifier(f"transformers:{folder}")
    assert (classifier.name, classifier.provenance["positive"]) == ("tiny", "POSITIVE")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    sentences = ["He is a doctor.", "good", "She is bad bad bad bad."]
    with torch.no_grad():  # one at a time: padding must change nothing
        right = [
            torch.softmax(model(**tokenizer(s, return_tensors="pt")).logits, 1)[0, 0].item()
            for s in sentences
        ]
    np.testing.assert_allclose(classifier(sentences), right, atol=1e-6)
    stated = bb.load_classifier(f"transformers:{folder}", positive="NEGATIVE", name="other")
    assert stated.name == "other"
    assert (np.abs(stated(sentences) - classifier(sentences)) > 1e-6).all()


def test_a_pipeline_is_a_classifier_as_its_model_is(tmp_path):
    folder = tiny(tmp_path / "tiny", {0: "POSITIVE", 1: "neutral", 2: "NEGATIVE"})
    pipeline = transformers.pipeline("text-classification", model=str(folder))
    sentences = ["He is a doctor.", "good", "She is bad bad bad bad."]
    right = bb.load_classifier(f"transformers:{folder}")(sentences)
    classifier = bb.load_classifier(pipeline)
    assert (classifier.name, classifier.provenance["positive"]) == ("tiny", "POSITIVE")
    np.testing.assert_allclose(classifier(sentences), right, atol=1e-6)
    np.testing.assert_allclose(classifier(sentences[:1]), right[:1], atol=1e-6)
    # A function around it answers with the scores of all labels, or with one, which tells too little.
    np.testing.assert_allclose(
        bb.load_classifier(lambda s: pipeline(s, top_k=None))(sentences), right, atol=1e-6
    )
    with pytest.raises(bb.InputError, match="scores of all labels"):
        bb.load_classifier(lambda s: pipeline(s))(sentences)


def test_labels_of_transformers_models_are_never_guessed(tmp_path):
    folder = tiny(tmp_path / "plain", {0: "LABEL_0", 1: "LABEL_1"})
    with pytest.raises(bb.InputError, match="positive class, got LABEL_0, LABEL_1"):
        bb.load_classifier(f"transformers:{folder}")
    with pytest.raises(bb.InputError, match=r"positive: expected .*got 'LABEL_2'.*Did you mean"):
        bb.load_classifier(f"transformers:{folder}", positive="LABEL_2")
    p = bb.load_classifier(f"transformers:{folder}", positive="LABEL_1")(["good"])
    q = bb.load_classifier(f"transformers:{folder}", positive="LABEL_0")(["good"])
    assert p + q == pytest.approx(1)


def test_what_is_no_text_classifier(tmp_path):
    masked = tiny(tmp_path / "masked", {0: "negative", 1: "positive"}, "BertForMaskedLM")
    with pytest.raises(bb.InputError, match="text-classification model, got BertForMaskedLM"):
        bb.load_classifier(f"transformers:{masked}")
    many = tiny(
        tmp_path / "many", {0: "negative", 1: "positive"}, problem_type="multi_label_classification"
    )
    with pytest.raises(bb.InputError, match="chooses between classes"):
        bb.load_classifier(f"transformers:{many}")
    with pytest.raises(bb.InputError, match="transformers:"):
        bb.load_classifier(tiny(tmp_path / "bare", {0: "negative", 1: "positive"}))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(bb.InputError, match="empty: expected a text-classification model"):
        bb.load_classifier(f"transformers:{empty}")
    (empty / "config.json").write_text(
        json.dumps({"auto_map": {"AutoConfig": "x.Y"}}), encoding="utf-8"
    )
    with pytest.raises(bb.InputError, match="expected a text-classification model"):
        bb.load_classifier(f"transformers:{empty}")
