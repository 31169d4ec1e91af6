"""wefe (WEAT 7 with a p-value) and bambi (the crossed model), each in an environment of its own."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import bayesbias as bb
from benchmarks._common import paper_table, slowest_ess, spread

ENVIRONMENTS = Path(__file__).resolve().parents[1] / ".venv-bench"

WEFE = """
import json, sys, time
from gensim.models import KeyedVectors
from wefe.metrics import WEAT
from wefe.query import Query
from wefe.word_embedding_model import WordEmbeddingModel
sets = json.load(open(sys.argv[2]))
model = WordEmbeddingModel(KeyedVectors.load_word2vec_format(sys.argv[1]), "vectors")
query = Query([sets["x"], sets["y"]], [sets["a"], sets["b"]], ["X", "Y"], ["A", "B"])
begun = time.perf_counter()
result = WEAT().run_query(query, model, calculate_p_value=True, p_value_iterations=10000)
print(json.dumps({"seconds": time.perf_counter() - begun, "effect_size": result["effect_size"], "p": result["p_value"]}))
"""

BAMBI = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import arviz as az, bambi as bmb, pandas as pd
frame = pd.read_csv(sys.argv[1])
formula = bmb.Formula("distance ~ 0 + connection + (0 + connection | protected_word) + (1 | attribute)", "sigma ~ 0 + connection")
model = bmb.Model(formula, frame)
begun = time.perf_counter()
idata = model.fit(draws=1000, tune=1000, chains=4, cores=2, random_seed=1, inference_method="nutpie", progressbar=False)
seconds = time.perf_counter() - begun
ess = float(az.ess(idata["posterior"].to_dataset()[["connection"]], method="bulk")["connection"].min())
print(json.dumps({"seconds": seconds, "ess": ess}))
"""


def _environment(package: str, *also: str) -> Path:
    """Return the Python of an environment that holds the peer; made once."""
    folder = ENVIRONMENTS / package
    python = folder / "bin" / "python"
    needed = (package, *also)
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *needed], check=True)
    return python


def _run(python: Path, code: str, *arguments: Path) -> dict[str, float]:
    done = subprocess.run(
        [python, "-c", code, *map(str, arguments)], capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"the peer failed: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def _weat() -> None:
    words = bb.load_wordlist("weat7", controls="none")
    vectors = bb.load_embedding("minilm-static", words=words.words)
    x, y = words.classes
    with tempfile.TemporaryDirectory() as folder:
        file, sets = Path(folder) / "vectors.txt", Path(folder) / "sets.json"
        bb.save_embedding(vectors, file)
        parts = {"x": x.protected, "y": y.protected, "a": x.attributes, "b": y.attributes}
        sets.write_text(json.dumps({k: list(v) for k, v in parts.items()}))
        python = _environment("wefe")
        theirs = [_run(python, WEFE, file, sets) for _ in range(3)]
    ours = []
    for _ in range(3):
        start = time.perf_counter()
        result = bb.weat(vectors, words)
        ours.append(time.perf_counter() - start)
    print("WEAT 7 on minilm-static with a p-value")
    seconds = [run["seconds"] for run in theirs]
    print(
        f"  wefe, 10,000 sampled partitions: {spread(seconds)}; "
        f"effect size {theirs[0]['effect_size']:.3f}, p {theirs[0]['p']:.4f}"
    )
    print(
        f"  bayesbias, exact:                {spread(ours)}; effect size {result.effect_size:.3f}, p {result.p_value:.4f}"
    )
    print(f"  ratio of medians: {statistics.median(seconds) / statistics.median(ours):.0f}")


def _bambi() -> None:
    table = paper_table()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        table.save(file)
        theirs = _run(_environment("bambi", "nutpie"), BAMBI, file)
    start = time.perf_counter()
    fit = bb.fit(table, "crossed", seed=1, pointwise=False)
    ours = time.perf_counter() - start
    ess = slowest_ess(fit)
    print(
        f"crossed effects on {table.provenance['name']}, one fit, compilation counted on both sides (priors: each package's own)"
    )
    print(
        f"  bambi with nutpie: {theirs['seconds']:.1f} s, {theirs['ess']:.0f} effective draws of the slowest mean"
    )
    print(f"  bayesbias:         {ours:.1f} s, {ess:.0f} effective draws of the slowest mean")
    print(
        f"  ratio of effective draws per second: {(ess / ours) / (theirs['ess'] / theirs['seconds']):.0f}"
    )


def main() -> None:
    _weat()
    _bambi()
