"""A fit to words as a folder: table, fit, summaries and figures, all or none of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias.basics.errors import BayesbiasError, InputError

if TYPE_CHECKING:
    from bayesbias.inference.posterior import BiasFit
    from bayesbias.tables.pair_table import PairTable


def write_run(result: BiasFit, table: PairTable, out: Path, prob: float, rope: float) -> list[Path]:
    """Write table, fit, summaries and figures into a folder, all or none of them; return the paths."""
    import tempfile

    made = not out.exists()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the output folder cannot be made ({error.strerror})", where=out, hint="choose another --out"
        ) from None
    try:
        # Filled beside the files of an earlier run, which stay as they are until all is written.
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=out) as name:
            written = [path.relative_to(name) for path in _write_files(result, table, Path(name), prob, rope)]
            for path in written:
                (out / path).parent.mkdir(exist_ok=True)
                os.replace(Path(name) / path, out / path)
    except BayesbiasError as error:
        raise InputError(str(error).replace(name, str(out))) from error
    finally:
        if made and not any(out.iterdir()):
            out.rmdir()
    return [out / path for path in written]


def _write_files(result: BiasFit, table: PairTable, out: Path, prob: float, rope: float) -> list[Path]:
    from bayesbias.basics.files import whole_file
    from bayesbias.figures.saving import save_figures

    files = [out / "pairs.csv", out / "fit.nc"]
    table.save(files[0])
    result.save(files[1])
    frames = {
        "summary": result.summary(prob),
        "words": result.words(prob),
        "contrasts": result.contrasts(prob, rope),
        "parameters": result.parameters(prob),
        "coverage": table.coverage.frame(),
    }
    for name, frame in frames.items():
        files.append(out / f"{name}.csv")
        with whole_file(files[-1]) as temporary:
            frame.to_csv(temporary, index=False)
    files.append(out / "provenance.json")
    with whole_file(files[-1]) as temporary:
        temporary.write_text(json.dumps(dict(result.provenance), indent=2) + "\n", encoding="utf-8")
    # What the screen says of the result travels with it.
    from bayesbias.findings.words import in_words

    files.append(out / "result.txt")
    with whole_file(files[-1]) as temporary:
        temporary.write_text("\n".join(in_words(result, prob, rope)) + "\n", encoding="utf-8")
    return [*files, *save_figures(result, out / "figures")]
