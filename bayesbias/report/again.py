"""How a run is made again: by the command that made it, or from Python; and its inputs with their hashes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from bayesbias.columns.table import Cell, of_cells
from bayesbias.core.wording import literal
from bayesbias.inference.estimands import PROB, ROPE, STANDARD_ROPE
from bayesbias.inference.fitting import settings_of_sampler
from bayesbias.models.loading import list_models, load_model
from bayesbias.models.spec import ModelSpec
from bayesbias.report.parts import Again
from bayesbias.tables.reading_covariates import OWN_COLUMN
from bayesbias.wordlists.controls import list_controls
from bayesbias.wordlists.listfile import list_wordlists

_HUBS = ("transformers", "sentence-transformers")  # whose names hold a slash and are no paths

# Options whose values are no paths, so that a slash in them is one of a name.
_OF_NAMES = (
    "--classes",
    "--dask",
    "--covariate",
    "--language",
    "--name",
    "--positive",
    "--require",
    "--slope",
)


def called(function: str, *arguments: Any, **settings: Any) -> str:
    """Return the text of a call in Python; an argument that is a `Code` is put in as it is."""
    shown = [repr(value) for value in arguments if value is not None]
    shown += [f"{name}={value!r}" for name, value in settings.items() if value is not None]
    return f"bb.{function}({', '.join(shown)})"


class Code(str):
    """A piece of Python, which stands in a call without quotes."""

    def __repr__(self) -> str:
        return str(self)


def table_call(about: Mapping[str, Any], default: str, notes: list[str]) -> Code:
    """Return the call that makes a table of pairs again, from what its provenance says of it."""
    if "wordlist" not in about or "embedding" not in about:
        return _read_again(about, default, notes)
    listed = about["wordlist"]
    name, controls = str(listed.get("name", "wordlist")), str(listed.get("controls", ""))
    if name not in list_wordlists():
        notes.append(f"The word list {name} is your own: the file whose hash is given below.")
        name = str(listed.get("file", f"{name}.toml"))
    known = controls in list_controls() or controls == "none"
    from_files = _covariates_of_files(about)
    joined = list(dict.fromkeys(last_of_path(covariate["source"]) for covariate in from_files))
    if len(from_files) < len(about.get("covariates", {})):
        notes.append("Covariates that came from memory or the word list are not in a file of their own.")
    counts = None
    if matched := listed.get("matched"):
        counts, known = last_of_path(matched["counts"]), True
        if matched["counts"] == "mapping":
            notes.append("The counts of words came from memory and are not in a file of their own.")
    return Code(
        called(
            "distance_table",
            vectors_call(about["embedding"]),
            name,
            controls=controls if known else None,
            covariates=joined or None,
            counts=counts,
        )
    )


def _read_again(about: Mapping[str, Any], default: str, notes: list[str]) -> Code:
    """Return the call that reads a table of distances again, and joins the covariates that it was given."""
    repeats = "keep" if about.get("repeats") == "keep" else None
    call = Code(called("load_distances", last_of_path(about.get("source", default)), repeats=repeats))
    covariates = []
    for column, covariate in about.get("covariates", {}).items():
        if covariate.get("sha256"):
            covariates.append(last_of_path(covariate["source"]))
        elif covariate.get("source") == OWN_COLUMN:
            covariates.append(column)
        else:
            notes.append("Covariates that came from memory are not in a file of their own.")
    return (
        Code(called("tables.join_covariates", call, list(dict.fromkeys(covariates)))) if covariates else call
    )


def vectors_call(about: Mapping[str, Any]) -> str:
    """Return what names vectors, or the call that reads them where they were moved."""
    source = last_of_path(about.get("source", "embedding"))
    moved = about.get("postprocess")
    return Code(called("load_embedding", source, postprocess=moved.get("method"))) if moved else source


def _covariates_of_files(about: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what is known of the covariates that were joined from files, which have a hash; others came from memory or the list."""
    return [covariate for covariate in about.get("covariates", {}).values() if covariate.get("sha256")]


def files_of_covariates(covariates: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the files that covariates are read from, and what to note of those that were in none."""
    files, notes = [], []
    for name, of in covariates.items():
        files.append(last_of_path(of["source"]) if of.get("sha256") else f"{name}.csv")
        if not of.get("sha256"):
            notes.append(
                f"{name} was not read from a file of its own: save it as one with a column word first."
            )
    return list(dict.fromkeys(files)), notes


def model_name(spec: ModelSpec, notes: list[str]) -> str:
    """Return what names a model: a shipped one, or a file of one's own."""
    if spec.name in list_models() and load_model(spec.name).sha256 == spec.sha256:
        return spec.name
    notes.append(
        "The model is not the shipped one: save the text shown above as the file that is named here."
    )
    return f"{spec.name}.toml"


def sampler_settings(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked of the sampler, as far as it is known: what changes the draws, without what is usual."""
    return settings_of_sampler(provenance.get("sampler", {}))


def report_call(result: str, prob: float, rope: float, standard_rope: float = STANDARD_ROPE) -> str:
    """Return the call that writes the page, with the settings that are not the usual ones."""
    usual = {"prob": (prob, PROB), "rope": (rope, ROPE), "standard_rope": (standard_rope, STANDARD_ROPE)}
    settings = {name: None if value == default else value for name, (value, default) in usual.items()}
    return called("write_report", Code(result), "report.html", **settings)


def reproduction(
    lines: Sequence[str],
    command: Sequence[str] | None,
    spec: ModelSpec | None,
    provenance: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]],
    notes: list[str],
) -> Again:
    """Gather what repeats a run, with the hashes of its inputs.

    Parameters
    ----------
    lines : sequence of str
        What makes it from Python; shown where there is no `command`.
    command : sequence of str, optional
        The arguments of ``bayesbias`` that made it.
    spec : ModelSpec or None
        None where nothing was fitted.
    provenance : mapping
    tables : mapping
        Name -> what is known of an input.
    notes : list of str
        To stand below.
    """
    # What was read from a file has the size of it, what is shipped a hash.
    if any("embedding" in of and not {"bytes", "sha256"} & set(of["embedding"]) for of in tables.values()):
        notes.append("Vectors that came from memory have to be saved to a file first.")
    notes.append(
        "Paths are given by their last part. Same inputs, seed and versions on the same machine: same "
        f"{'numbers' if spec is None else 'draws'}."
    )
    rows = []
    for label, table in tables.items():
        lead = f"{label}: " if label else ""
        for kind in ("wordlist", "embedding"):
            if kind in table:
                about = table[kind]
                digest = about.get("sha256") or about.get("sha256_vectors") or ""
                noun = "word list" if kind == "wordlist" else "vectors"
                rows.append([Cell(f"{lead}{noun}"), Cell(str(about.get("name", ""))), Cell(str(digest))])
        for source, digest in dict.fromkeys((f["source"], f["sha256"]) for f in _covariates_of_files(table)):
            rows.append([Cell(f"{lead}covariates"), Cell(last_of_path(source)), Cell(str(digest))])
        if "sha256" in table:
            source = last_of_path(table.get("source", table.get("name", "")))
            rows.append(
                [Cell(f"{lead}{table.get('noun', 'table')}"), Cell(source), Cell(str(table["sha256"]))]
            )
    if spec is not None:
        rows.append([Cell("model"), Cell(spec.name), Cell(spec.sha256)])
    versions = [[Cell(str(name)), Cell(str(of))] for name, of in provenance.get("versions", {}).items()]
    inputs = [of_cells("t-hashes", "Inputs", ["input", "name", "SHA-256"], rows)] if rows else []
    if versions:
        inputs.append(of_cells("t-versions", "Versions", ["program", "version"], versions))
    if command is None:
        sentence = "This makes the run again, from Python:"
        text = "\n".join(literal(line) for line in ("import bayesbias as bb", "", *lines))
    else:
        sentence = "This command made the run:"
        columns = [
            column
            for of in tables.values()
            for column, covariate in of.get("covariates", {}).items()
            if covariate.get("source") == OWN_COLUMN
        ]
        text = command_text(command, sampler_settings(provenance).get("seed"), columns)
        if "--seed" in text and "--seed" not in command:
            sentence = "This command made the run; the seed that it took is given here:"
    return Again(sentence, text, notes, inputs)


def command_text(command: Sequence[str], seed: int | None, columns: Sequence[str] = ()) -> str:
    """Return a command as one types it, with the seed that was drawn where none was given.

    `columns` are those of a table that ``--covariates`` names.
    """
    words = ["bayesbias"]
    for option, word in zip(["", *command], command, strict=False):
        named = option in _OF_NAMES or (option == "--covariates" and word in columns)
        words.append(word if named else without_folders(word))
    if seed is not None and "--seed" not in command:
        words += ["--seed", str(seed)]
    return " ".join(shlex.quote(literal(word)) for word in words)


def without_folders(word: str) -> str:
    """Return an argument with the last part of a path alone; what stands before it or after it stays."""
    scheme, colon, rest = word.partition(":")
    if len(scheme) < 2 or not colon:  # a drive, or no scheme at all
        scheme, colon, rest = "", "", word
    if scheme in _HUBS and not re.match(r"[/\\~.]|[A-Za-z]:", rest):
        return word
    path, mark, options = rest.partition("?")
    return f"{scheme}{colon}{last_of_path(path)}{mark}{options}"


def last_of_path(source: Any) -> str:
    """Return the last part of a path: a report is passed on, and need not tell where its author keeps files."""
    text = str(source)
    return re.split(r"[\\/]", text.rstrip("\\/"))[-1] or text


def model_of(source: str) -> str:
    """Return the name of a model on the hub as it is, and of a folder its last part alone."""
    return without_folders(f"{_HUBS[0]}:{source}").partition(":")[2]
