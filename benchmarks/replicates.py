"""Coverage of intervals for another resample of the documents: one set of vectors, and five pooled.

``python -m benchmarks.replicates TEXTS`` reads documents (a file of JSON lines with the key ``text``, or one document a
line; also as .gz), draws twelve resamples as large as the collection, trains word2vec on each, and fits three lists. The
value that an interval is to cover is the difference of the listed words in a resample that was not used.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.studies.replicates.pooling import pool_rows

SETS, POOLED, PROB = 12, 5, 0.89
NEUTRAL = "time year great part day number place means case end view last many first long whole present result form general"
LISTS = {
    "arms and trade": {
        "arms": (
            "army navy troops soldiers militia fleet officers officer regiments guns weapons fortifications",
            "war enemy battle defense victory attack arms peace fight invasion hostilities conflict",
        ),
        "trade": (
            "trade commerce banks manufactures farmers exports industry merchant imports business companies products",
            "money prices market tariff credit gold currency debt profits loans silver wages",
        ),
    },
    "courts and land": {
        "courts": (
            "court courts judges congress senate jury attorney legislature tribunal representatives committee judge",
            "law justice constitution trial rights authority duty vote crime punishment jurisdiction statute",
        ),
        "land": (
            "land lands river rivers forests mines farms railroads canal harbor coast territory",
            "acres miles water soil timber coal survey route irrigation cattle climate oil",
        ),
    },
    "home and abroad": {
        "home": (
            "women children mothers parents families schools teachers homes students workers hospitals colleges",
            "education health care young food housing help college learning medical jobs poverty",
        ),
        "abroad": (
            "spain france britain mexico russia minister ministers envoy germany japan italy austria",
            "negotiations boundary treaty convention claims diplomatic commissioners alliance treaties arbitration indemnity friendship",
        ),
    },
}


def documents_of(path: str) -> list[list[list[str]]]:
    """Return the sentences of each document."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] if line.startswith("{") else line for line in file]
    parts = (re.split(r"[.!?;\n]+", text.lower()) for text in texts)
    return [[re.findall("[a-z]+", sentence) for sentence in document] for document in parts]


def train(documents: list[list[list[str]]], folder: Path) -> None:
    """Write the vectors of the collection (v0) and of its resamples."""
    from gensim.models import Word2Vec

    rng = np.random.default_rng(39)
    for k in range(SETS + 1):
        drawn = rng.integers(len(documents), size=len(documents)) if k else range(len(documents))
        sentences = [sentence for i in drawn for sentence in documents[i] if len(sentence) > 2]
        np.random.default_rng(k).shuffle(sentences)
        model = Word2Vec(sentences, vector_size=50, min_count=20, epochs=5, seed=k + 1, workers=1)
        model.wv.save_word2vec_format(folder / f"v{k}.bin", binary=True)


def wordlist(classes: dict[str, tuple[str, str]]) -> bb.WordList:
    """Return a list of two classes with neutral words."""
    words = {
        name: {"protected": own.split(), "attributes": attributes.split()}
        for name, (own, attributes) in classes.items()
    }
    return bb.load_wordlist(words, controls={"neutral": NEUTRAL.split()})


def fitted(folder: Path, seed: int) -> pd.DataFrame:
    """Return the contrasts of each list in each set."""
    frames = []
    for name, classes in LISTS.items():
        sets = {str(k): folder / f"v{k}.bin" for k in range(1, SETS + 1)}
        found = bb.fit_replicates(
            sets, wordlist(classes), center=folder / "v0.bin", seed=seed, engine="quick"
        )
        frames.append(found.by_set(PROB).assign(list=name))
    return pd.concat(frames, ignore_index=True)


def coverage(contrasts: pd.DataFrame) -> pd.DataFrame:
    """Return how often intervals of one set, and of five pooled, cover the value in another set."""
    listed = contrasts[contrasts["level"].isin(["overall", "class", "attribute_set"])]
    truth = listed[listed["estimand"] == "listed_words"]
    keys = ["list", "level", "name", "contrast"]
    rows = []
    for key, own in truth[truth["set"] != "center"].groupby(keys, sort=False):
        values = own["mean"].to_numpy()
        row = dict(zip(keys, key, strict=True))
        row["sd_within"] = np.sqrt(np.mean(own["sd"] ** 2))
        row["sd_between"] = values.std(ddof=1)
        full = truth[(truth["set"] == "center") & (truth[keys] == list(key)).all(axis=1)]
        row["center"], row["mean"] = float(full["mean"].iloc[0]), values.mean()
        ends = own[["hpdi_low", "hpdi_high"]].to_numpy()
        inside = (ends[:, :1] <= values) & (values <= ends[:, 1:])
        row["one set"] = inside[~np.eye(SETS, dtype=bool)].mean()
        chosen = list(itertools.combinations(range(SETS), POOLED))
        parts = [own.iloc[list(each)] for each in zip(*chosen, strict=True)]
        pooled = pool_rows([part.reset_index(drop=True) for part in parts], PROB)
        pooled_ends = pooled[["hpdi_low", "hpdi_high"]].to_numpy()
        inside = (pooled_ends[:, :1] <= values) & (values <= pooled_ends[:, 1:])
        other = np.array([[k not in each for k in range(SETS)] for each in chosen])
        row["pooled"] = inside[other].mean()
        row["width"] = np.mean(np.diff(pooled_ends)) / np.mean(np.diff(ends))
        rows.append(row)
    return pd.DataFrame(rows)


def main() -> None:
    """Train, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", nargs="?", help="documents; without them the vectors of --folder")
    parser.add_argument("--folder", type=Path, default=Path("replicates"), help="of the vectors")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.texts:
        given.folder.mkdir(exist_ok=True)
        train(documents_of(given.texts), given.folder)
    found = coverage(fitted(given.folder, given.seed))
    print(found.round(3).to_string(index=False))
    columns = ["one set", "pooled", "width"]
    kinds = found["contrast"].where(found["contrast"] == "associated - different", "with neutral")
    print(found.groupby([kinds, "list"], sort=False)[columns].mean().round(3).to_string())
    print(found.groupby(kinds, sort=False)[columns].mean().round(3).to_string())
    nearer = 1 - found["mean"] / found["center"]
    print(
        "resamples nearer to zero:",
        nearer.groupby(found["list"], sort=False).median().round(3).to_dict(),
    )


if __name__ == "__main__":
    main()
