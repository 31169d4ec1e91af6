"""Load 600 words of a 1,000,000 x 300 word2vec binary file: against gensim, and against reading the file at all."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._common import spread

N, DIM, WANTED = 1_000_000, 300, 600

OURS = """
import json, resource, sys, time
start = time.perf_counter()
from bayesbias import load_embedding  # as with gensim, the clock starts after the imports
words = json.load(open(sys.argv[2]))
begun = time.perf_counter()
vectors = load_embedding(sys.argv[1], words=words, progress=False)
print(json.dumps([time.perf_counter() - begun, len(vectors.words), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
GENSIM = """
import json, resource, sys, time
from gensim.models import KeyedVectors
begun = time.perf_counter()
vectors = KeyedVectors.load_word2vec_format(sys.argv[1], binary=True)
words = [w for w in json.load(open(sys.argv[2])) if w in vectors]
print(json.dumps([time.perf_counter() - begun, len(words), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""
CAT = """
import json, subprocess, sys, time
begun = time.perf_counter()
subprocess.run(["cat", sys.argv[1]], stdout=subprocess.DEVNULL, check=True)
print(json.dumps([time.perf_counter() - begun, 0, 0]))
"""


def main() -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        file, wanted = Path(folder) / "vectors.bin", Path(folder) / "wanted.json"
        with open(file, "wb") as out:
            out.write(f"{N} {DIM}\n".encode())
            block = rng.normal(size=(1000, DIM)).astype(np.float32)
            for start in range(0, N, 1000):
                out.write(
                    b"".join(f"word{start + i} ".encode() + block[i].tobytes() for i in range(1000))
                )
        wanted.write_text(json.dumps([f"word{i}" for i in rng.choice(N, WANTED, replace=False)]))

        def run(code: str) -> list[float]:
            done = subprocess.run(
                [sys.executable, "-c", code, str(file), str(wanted)],
                check=True,
                capture_output=True,
            )
            return json.loads(done.stdout)

        run(CAT)  # into the page cache
        cat, ours = [], []
        for _ in range(5):
            cat.append(run(CAT)[0])
            seconds, found, memory = run(OURS)
            ours.append(seconds)
            assert found == WANTED
        gensim = [run(GENSIM) for _ in range(2)]
    print(
        f"{WANTED} words of a {N:,} x {DIM} word2vec binary file ({N * DIM * 4 / 1e9:.1f} GB), warm page cache"
    )
    print(f"  cat to /dev/null: {spread(cat)}")
    print(f"  bayesbias:        {spread(ours)}, peak memory {memory:.0f} MB")
    print(
        f"  gensim:           {spread([g[0] for g in gensim])}, peak memory {gensim[0][2]:.0f} MB"
    )
    print(f"  ratios of medians: gensim / bayesbias {statistics.median(g[0] for g in gensim) / statistics.median(ours):.0f}, "
          f"bayesbias / cat {statistics.median(ours) / statistics.median(cat):.1f}")  # fmt: skip
