"""One reader under a fuzzer that is guided by what is executed: ``python -m proof.guided_child READER SECONDS SEED FOLDER``.

It ends with 0 where nothing but `InputError` came of any input; else it prints what did, and leaves the input in the folder.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["bayesbias"]):
    pass

from helpers.fuzz_seeds import READERS, witness_in

from bayesbias.core.errors import InputError


def main(name: str, seconds: str, seed: str, folder: str) -> None:
    """Fuzz one reader for so many seconds."""
    warnings.simplefilter("ignore")  # of libraries, about what they find in damaged files
    place = Path(folder)
    suffix, read, seeds = READERS[name](place)
    corpus = place / "corpus"
    corpus.mkdir()
    for number, content in enumerate(seeds):
        (corpus / str(number)).write_bytes(content)
    path = place / f"input{suffix}"

    def try_one(content: bytes) -> None:
        path.write_bytes(content)
        try:
            read(path)
        except InputError as error:
            if len(str(error)) > 300:
                raise RuntimeError(f"a message of {len(str(error))} characters") from error
        if witness_in(place).exists():
            raise RuntimeError("a pickle ran")

    limits = [
        f"-max_total_time={seconds}",
        f"-seed={seed}",
        "-timeout=5",
        "-rss_limit_mb=2048",
        "-max_len=4096",
    ]
    atheris.Setup(
        [sys.argv[0], *limits, "-print_final_stats=1", f"-artifact_prefix={place}/", str(corpus)], try_one
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
