"""Every public function and method with arguments that it takes: for tests that knock at all of them.

An argument that begins with @ is the `thing` of that name, one that begins with < the path of a `file` there is, and
one that begins with > a path in a folder of its own. What is drawn, fitted or trained is as small as it may be.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import inspect
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import bayesbias as bb
from bayesbias.encoders.encoder import BuiltEncoder
from bayesbias.models.design import Design
from helpers import every_figure
from helpers.classifiers import toy
from helpers.places import ROOT
from helpers.sweeps import write_inputs
from helpers.tables import with_covariates

SMALL: dict[str, Any] = {"draws": 20, "tune": 20, "chains": 1, "seed": 1}
JOBS = {"percent": {"nurse": 88.0, "clerk": 60.0, "chemist": 35.0, "baker": 50.0, "plumber": 2.0}}
TWO = {"n_x": 2, "n_y": 2, "draws": 20}


def _of_figure(name: str) -> Callable[[], Any]:
    return every_figure.DATA[name][1]


def _drawn_spreads() -> tuple[Design, dict[str, np.ndarray]]:
    design = Design.of(bb.load_model("crossed"), thing("frame"))
    return design, {name: np.full((3, *design.shape(name)), 0.1) for name in design.spec.parameters}


THINGS: dict[str, Callable[[], Any]] = {
    "vectors": lambda: bb.load_embedding("minilm-static", bb.load_wordlist("religion").words),
    "table": lambda: bb.distance_table(thing("vectors"), "religion", controls="none"),
    "frame": lambda: thing("table").frame,
    "covariates": lambda: with_covariates(every_figure.pairs()),
    "fit": _of_figure("plot_words"),
    "counted": _of_figure("plot_frequencies"),
    "sloped": _of_figure("plot_slopes"),
    "comparison": _of_figure("plot_changes"),
    "seat": _of_figure("plot_seat"),
    "sentiment fit": _of_figure("plot_earnings"),
    "single": _of_figure("plot_covariate"),
    "sweep": _of_figure("plot_sweep"),
    "grid": _of_figure("plot_false_alarms"),
    "shapes": _of_figure("plot_cosines"),
    "paper": _of_figure("plot_paper"),
    "wordlist": lambda: bb.load_wordlist("religion"),
    "spec": lambda: bb.load_model("crossed"),
    "predictions": lambda: bb.list_predictions("m1"),
    "toy": toy,
    "sentiment": lambda: bb.sentiment_table(thing("predictions")),
    "analysis": lambda: bb.sentiment_analysis(thing("predictions")),
    "scenario": lambda: bb.simulation.Scenario(words=(2, 2), attributes=(2, 2), human=2, neutral=2),
    "occupations": lambda: bb.wordlists.load_occupations(),
    "test": lambda: bb.sentence_test("sent-weat7"),
    "encoder": lambda: bb.load_encoder("minilm-static"),
    "classifier": lambda: bb.load_classifier(
        lambda sentences: [0.5 if " " in text else 0.4 for text in sentences], name="own"
    ),
    "construction": lambda: bb.studies.find_construction(thing("pairs")),
    "pairs": lambda: bb.tables.join_pairs(thing("table"), thing("table"))[0],
    "counts": lambda: bb.tables.load_counts(
        dict.fromkeys(thing("wordlist").words, 3), thing("wordlist").words
    ),
    "small": lambda: bb.fit(thing("table"), **FITTED),
    "kept frequency": lambda: thing("frequency").as_dict(),
    "random": lambda: bb.simulation.RRandom(1),
    "wefat": lambda: bb.scores.wefat("minilm-static", "wefat", JOBS, samples=99, seed=1),
    "design": lambda: _drawn_spreads()[0],
    "draws": lambda: _drawn_spreads()[1],
    "rows": lambda: np.arange(4),
    "frequency": lambda: bb.studies.frequency_of(thing("counted")),
    "verification": lambda: bb.runs.verify_run(file("run")),
    "state": lambda: thing("verification").files[0].state,
    "engine": lambda: bb.inference.Engine,
}


@functools.cache
def thing(name: str) -> Any:
    """Return the one thing of a name; results have made-up draws."""
    return THINGS[name]()


def _run(path: Path) -> None:
    bb.save_run(thing("seat"), path)


def _reviews(path: Path) -> None:
    lines = [
        f"a {kind} {word}\t{int(kind == 'good')}"
        for word in ("film", "food", "play")
        for kind in ("good", "bad")
    ]
    path.write_text("\n".join(["sentence\tlabel", *lines]), encoding="utf-8")


FILES: dict[str, Callable[[Path], Any]] = {
    "fit.nc": lambda path: thing("fit").save(path),
    "run": _run,
    "m1.csv": lambda path: thing("predictions").save(path),
    "plan.toml": lambda path: write_inputs(path.parent),
    "test.jsonl": lambda path: bb.wordlists.write_test(thing("test"), path),
    "train.csv": _reviews,
    "vectors.txt": lambda path: path.write_text("priest 1 0\nrabbi 0 1\n", encoding="utf-8"),
}


@functools.cache
def file(name: str) -> Path:
    """Return the path of a file or folder of a name, written once."""
    path = _folder() / name
    FILES[name](path)
    return path


@functools.cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="bayesbias-doors-")
    atexit.register(shutil.rmtree, folder)
    return Path(folder)


FITTED: dict[str, Any] = {**SMALL, "progress": False}
STATIC = {"embedding": "@vectors", "wordlist": "religion"}

# What each function is called with: all that it needs, and what keeps it small.
FUNCTIONS: dict[str, dict[str, Any]] = {
    "coverage_simulated": {"scenario": "@scenario", "tables": 2, "methods": ["weat"], "workers": 1, "progress": False},
    "coverage_on_pools": {
        "vectors": "minilm-static", "pools": "religion", "words": 2, "attributes": 2, "tables": 2,
        "methods": ["moments"], "workers": 1, "progress": False,
    },
    "compare": {"original": "@table", "debiased": "@table", **FITTED},
    "compare_models": {"fits": ["@fit", "@fit"]},
    "direct_bias": STATIC,
    "distance_table": STATIC,
    "encode": {"encoder": "@encoder", "sentences": ["a rabbi"], "cache": False},
    "finding": {"result": "@fit"},
    "findings_of": {"result": "@fit"},
    "fit": {"table": "@table", **FITTED},
    "hard_debias": STATIC,
    "load_classifier": {"x": len},
    "load_embedding": {"x": {"a": [1.0, 0.0], "b": [0.0, 1.0]}},
    "load_encoder": {"spec": "minilm-static"},
    "load_fit": {"path": "<fit.nc"},
    "load_model": {"model": "crossed"},
    "load_wordlist": {"x": "religion"},
    "mac": {"source": "@table"},
    "load_run": {"path": "<run"},
    "paired_test": {"table": "@sentiment"},
    "pairs": {"wordlist": "religion"},
    "sample_size": {"width": 0.1, "scenario": "@scenario", "words": [3], "attributes": [3], "check": 0, "progress": False},
    "plot_connections": {"fit": "@fit"},
    "plot_contrasts": {"fit": "@fit"},
    "plot_ppc": {"fit": "@fit"},
    "plot_priors": {"model_or_fit": "crossed"},
    "plot_words": {"fit": "@fit"},
    "predict": {"classifier": "@classifier", "batch": 5000, "progress": False},
    "sentiment_analysis": {"predictions": ("@predictions",)},
    "load_distances": {"source": "@frame"},
    "load_predictions": {"path": "<m1.csv"},
    "relative_norm_distance": {"embedding": "minilm-static", "wordlist": "weat7"},
    "run_sweep": {"plan": "<plan.toml", "out": ">sweep", "workers": 1, "progress": False},
    "save_run": {"result": "@fit", "folder": ">out"},
    "save_embedding": {"embedding": "@vectors", "path": ">two.txt"},
    "seat": {"tests": ["weat7"], "encoders": "minilm-static", "samples": 99, **FITTED, "cache": False},
    "sentence_table": {"test": "@test", "cache": False},
    "sentence_test": {"source": "weat7"},
    "sentiment_table": {"predictions": ("@predictions",)},
    "list_predictions": {"name": "m1"},
    "wefat": {"embedding": "minilm-static", "sets": "wefat", "covariates": JOBS, "samples": 99, **SMALL},
    "soft_debias": STATIC,
    "weat": {"source": "minilm-static", "wordlist": "weat7", "samples": 99, "seed": 1},
    "write_report": {"run": "@fit", "path": ">run.html"},
    "classifiers.train_bilstm": {"data": "<train.csv", "vectors": "@vectors", "epochs": 1, "hidden": 2, "progress": False},
    "classifiers.train_bow": {"data": "<train.csv"},
    "encoders.cbow_encoder": {"embedding": "@vectors"},
    "encoders.describe_encoder": {"encoder": "@encoder", "sentences": ["a rabbi"]},
    "encoders.function_encoder": {"function": len},
    "encoders.sentence_transformers_encoder": {"model": ">none"},
    "encoders.static_encoder": {},
    "encoders.transformers_encoder": {"model": ">none"},
    "encoders.vectors_encoder": {"path": ">none.npz"},
    "figures.figure_style": {"style": "journal"},
    "figures.plot_changes": {"comparison": "@comparison"},
    "figures.plot_controls": {"comparison": "@comparison"},
    "figures.plot_correlations": {"result": "@single"},
    "figures.plot_cosines": {"shapes": "@shapes"},
    "figures.plot_dimensions": {"shapes": "@shapes"},
    "figures.plot_earnings": {"table": "@sentiment fit"},
    "figures.plot_covariate": {"result": "@single"},
    "figures.plot_false_alarms": {"grid": "@grid"},
    "figures.plot_frequencies": {"fit": "@counted"},
    "figures.plot_frequency_contrasts": {"fit": "@counted"},
    "figures.plot_genders": {"table": "@sentiment fit"},
    "figures.plot_noun_pairs": {"fit": "@sentiment fit"},
    "figures.plot_paper": {"case": "@paper"},
    "figures.plot_professions": {"fit": "@sentiment fit"},
    "figures.plot_ranking": {"comparison": "@comparison"},
    "figures.plot_raw_pairs": {"comparison": "@comparison"},
    "figures.plot_seat": {"result": "@seat"},
    "figures.plot_seat_contrasts": {"result": "@seat"},
    "figures.plot_sentiment_predictive": {"fit": "@sentiment fit"},
    "figures.plot_slopes": {"result": "@sloped"},
    "figures.plot_sweep": {"result": "@sweep"},
    "figures.save_figures": {"result": "@single", "folder": ">figures"},
    "findings.carrying_pairs": {"table": "@sentiment", "classifier": "m1"},
    "findings.construction_sentences": {"construction": "@construction"},
    "inference.answers_by_model": {"fit": "@small", "models": ["default"]},
    "inference.build": {"model": "crossed", "table": "@table"},
    "inference.contrasts_at": {"fit": "@sloped", "covariates": {"year": 0.0}},
    "inference.excluded_observed": {"fit": "@fit", "level": "overall"},
    "inference.loo": {"fit": "@fit"},
    "inference.power_scaling": {"fit": "@fit"},
    "inference.prior_expectation": {"model": "crossed", "table": "@table", "draws": 20},
    "inference.total_sd": {"design": "@design", "draws": "@draws", "rows": "@rows"},
    "models.list_models": {},
    "models.slopes_for": {"model": "crossed", "table": "@covariates", "covariate": "year"},
    "models.stretched_prior": {"spec": "@spec", "name": "ws", "factor": 2.0},
    "models.trimmed": {"spec": "@spec", "frame": "@frame"},
    "models.with_slopes": {"model": "crossed", "covariate": "year"},
    "runs.verify_run": {"path": "<run"},
    "scores.ect": {"embedding": "minilm-static", "wordlist": "weat7", "resamples": 99, "seed": 1},
    "scores.effect_size": {"scores_x": [0.1, 0.2], "scores_y": [0.3, 0.1]},
    "scores.holm": {"p_values": [0.1, 0.2]},
    "scores.permutation_test": {"scores_x": [0.1, 0.2], "scores_y": [0.3, 0.1], "samples": 99, "seed": 1},
    "scores.ripa": {"embedding": "minilm-static", "wordlist": "weat7", "sets": [["he", "she"]], "resamples": 99, "seed": 1},
    "scores.rnsb": {"embedding": "minilm-static", "wordlist": "weat7", "resamples": 99, "seed": 1},
    "scores.sc_weat": {"source": "minilm-static", "wordlist": "weat7", "samples": 99, "seed": 1},
    "scores.sign_flip_test": {"scores": [0.1, 0.2, -0.3], "samples": 99, "seed": 1},
    "scores.wefat": {"embedding": "minilm-static", "sets": "wefat", "covariates": JOBS, "samples": 99, "seed": 1},
    "simulation.negative_controls": {
        "embedding": "@vectors", "wordlist": "religion", "kinds": ["shuffled_classes"], "tables": 1,
        "workers": 1, "progress": False,
    },
    "simulation.null_distribution": {"draws": 20},
    "simulation.paper_draws": {"case": "no difference, sd 0.05", "draws": 20},
    "simulation.plan_reliability": {"fit": "@fit", "words": [3], "attributes": [3]},
    "simulation.scenario_from_fit": {"fit": "@fit"},
    "simulation.simulate_grid": {"n_words": [2], "pair_sd": [0.05], "attribute_sd": [0.0], "draws": 4},
    "simulation.simulate_paper": {"draws": 4},
    "simulation.simulate_table": {"scenario": "@scenario", "seed": 1},
    "studies.analysis_of": {"fit": "@sentiment fit"},
    "studies.analysis_of_table": {"table": "@sentiment"},
    "studies.check_requirements": {"comparison": "@comparison", "requirements": "controls > 0.7"},
    "studies.classifier_contrasts": {"fit": "@sentiment fit"},
    "studies.earnings_correlation": {"table": "@sentiment"},
    "studies.find_construction": {"pairs": "@pairs"},
    "studies.find_geometry": {"pairs": "@pairs"},
    "studies.frequency_of": {"fit": "@counted"},
    "studies.leave_one_out": {"test": "@test", "cache": False, "progress": False},
    "studies.noun_pair_differences": {"table": "@sentiment"},
    "studies.profession_sentiment": {"table": "@sentiment"},
    "studies.top_bottom": {"table": "@sentiment"},
    "studies.unequal_frequencies": {"table": "@frame", "counts": "@counts"},
    "studies.with_analysis": {"fit": "@sentiment fit", "analysis": "@analysis"},
    "studies.with_frequency": {"fit": "@small", "counts": "@counts"},
    "sweeps.load_plan": {"plan": {"embeddings": ["minilm-static"], "wordlists": ["religion"]}},
    "tables.join_covariates": {
        "table": "@table", "side": "protected", "covariates": {"f": {"rabbi": 1.0, "imam": 2.0, "priest": 4.0, "jew": 3.0}},
    },
    "tables.join_pairs": {"original": "@table", "debiased": "@table"},
    "tables.load_counts": {"source": {"priest": 3}, "words": ["priest"]},
    "tables.losses": {"coverage": {}},
    "tables.matched_controls": {"words": "@wordlist", "counts": "@counts"},
    "vectors.describe_vectors": {"embedding": "@vectors"},
    "vectors.postprocess": {"embedding": "@vectors", "method": "center"},
    "vectors.ranks_of": {"source": "<vectors.txt", "words": ["priest"]},
    "vectors.save_vectors": {"embedding": "@vectors", "path": ">vectors.npz"},
    "vectors.list_embeddings": {},
    "vectors.static_vectors": {"texts": ["a rabbi"]},
    "words.check_wordlist": {"x": "religion"},
    "words.load_occupations": {},
    "words.occupation_sentences": {},
    "words.read_test": {"path": "<test.jsonl"},
    "words.list_tests": {},
    "words.list_wordlists": {},
    "words.wordlist_template": {},
    "words.write_test": {"test": "@test", "path": ">test.jsonl"},
}  # fmt: skip

# The things whose methods are asked, their classes, and what the methods need.
OWNERS: dict[str, type] = {
    "fit": bb.BiasFit, "vectors": bb.Embedding, "spec": bb.ModelSpec, "table": bb.PairTable,
    "classifier": bb.classifiers.Classifier, "predictions": bb.classifiers.Predictions, "encoder": BuiltEncoder,
    "wefat": bb.scores.WefatScore, "random": bb.simulation.RRandom, "comparison": bb.studies.Comparison,
    "frequency": bb.studies.Frequency, "seat": bb.studies.SeatResult, "analysis": bb.studies.SentimentAnalysis,
    "single": bb.studies.WefatResult, "sweep": bb.sweeps.SweepResult, "occupations": bb.wordlists.Occupations,
    "test": bb.wordlists.SentenceTest, "verification": bb.runs.Verification, "engine": bb.inference.Engine,
}  # fmt: skip
METHODS: dict[str, dict[str, dict[str, Any]]] = {
    "fit": {"means": {"level": "overall"}, "draws_of": {"table": "contrasts"}, "save": {"path": ">fit.nc"}},
    "vectors": {"vectors_of": {"words": ["rabbi"]}},
    "spec": {"is_random": {"name": "ws"}},
    "table": {"save": {"path": ">table.csv"}},
    "classifier": {"unknown_words": {"sentences": ["a rabbi"]}, "save": {"folder": ">folder"}, "__call__": {"sentences": ["a"]}},
    "predictions": {"save": {"path": ">m.csv"}},
    "encoder": {"encode": {"sentences": ["a rabbi"]}, "account": {"sentences": ["a rabbi"]}},
    "wefat": {"p_text": {"digits": 3}},
    "random": {"runif": {"n": 3}, "rnorm": {"n": 3}},
    "comparison": {
        "geometry_of": {"method": "method 1"}, "results_of": {"method": "method 1"},
        "levels_of": {"method": "method 1"}, "draws_of": {"table": "changes"},
    },
    "frequency": {"from_dict": {"data": "@kept frequency"}},
    "seat": {"write_tsv": {"path": ">seat.tsv"}},
    "analysis": {},
    "single": {"at": {"prob": 0.5}, "predict": {"values": 1.0}},
    "sweep": {},
    "occupations": {},
    "test": {"sentences": {"name": "targ1"}},
    "verification": {"count": {"state": "@state"}},
    "engine": {"of": {"sampler": {"engine": "nuts"}}},
}  # fmt: skip


def _public() -> Iterator[tuple[str, Any]]:
    """Yield every public name as users call it, without the package's, and what it stands for."""
    for stub in sorted((ROOT / "bayesbias").rglob("__init__.pyi")):
        folder = "" if stub.parent.name == "bayesbias" else f"{stub.parent.name}."
        package = importlib.import_module(f"bayesbias.{folder}".rstrip("."))
        for name in package.__all__:
            yield folder + name, getattr(package, name)


def public_functions() -> dict[str, Callable[..., Any]]:
    """Return every public function."""
    return {name: value for name, value in _public() if inspect.isfunction(value)}


def public_classes() -> dict[str, type]:
    """Return every public class that has methods to ask; of encoders any object will do that has theirs."""
    found = {
        name: kind for name, kind in _public() if inspect.isclass(kind) and not issubclass(kind, Exception)
    }
    return {
        name: kind for name, kind in found.items() if name != "encoders.Encoder" and any(public_methods(kind))
    }


def public_methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Return the methods of a class that take something, with their signatures."""
    for name in dir(kind):
        method = inspect.getattr_static(kind, name)
        own = method.__func__ if isinstance(method, classmethod | staticmethod) else method
        if (
            inspect.isfunction(own)
            and (name == "__call__" or not name.startswith("_"))
            and len(inspect.signature(own).parameters) > 1
        ):
            yield name, own


@functools.cache
def doors() -> dict[str, tuple[Callable[[], Callable[..., Any]], dict[str, Any]]]:
    """Return how each public function and method is got at, and its arguments."""
    found: dict[str, tuple[Callable[[], Callable[..., Any]], dict[str, Any]]] = {
        name: (functools.partial(lambda f: f, function), FUNCTIONS[name])
        for name, function in public_functions().items()
    }
    for owner, needed in METHODS.items():
        for name, _ in public_methods(OWNERS[owner]):
            found[f"{owner}: {name}"] = (
                functools.partial(lambda o, n: getattr(thing(o), n), owner, name),
                needed.get(name, {}),
            )
    return found


def asked_of() -> dict[str, list[str]]:
    """Return the parameters of each public function and method that can be asked one by one."""
    found = public_functions()
    for owner, kind in OWNERS.items():
        found |= {f"{owner}: {name}": method for name, method in public_methods(kind)}
    return {
        name: [
            parameter
            for parameter, about in inspect.signature(function).parameters.items()
            if about.kind is not about.VAR_KEYWORD and parameter not in ("self", "cls")
        ]
        for name, function in found.items()
    }


def in_place(argument: Any, folder: Path) -> Any:
    """Return an argument as it is handed over."""
    if isinstance(argument, str) and argument.startswith("@"):
        return thing(argument[1:])
    if isinstance(argument, str) and argument.startswith("<"):
        return str(file(argument[1:]))
    if isinstance(argument, str) and argument.startswith(">"):
        return str(folder / argument[1:])
    if isinstance(argument, list | tuple):
        return type(argument)(in_place(one, folder) for one in argument)
    return argument


def call(function: Callable[..., Any], arguments: Mapping[str, Any], folder: Path) -> Any:
    """Call a function with arguments by name, also one that takes some by place alone."""
    placed, named = [], {}
    given = {name: in_place(value, folder) for name, value in arguments.items()}
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in given:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            placed += given[name]
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            placed.append(given[name])
        else:
            named[name] = given[name]
    return function(*placed, **named)
