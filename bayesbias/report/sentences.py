"""The page on sentence tests. Sentences come from `findings.sentences`, numbers from the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesbias.columns.sentences import (
    IN_SDS,
    contrast_columns,
    dropped_columns,
    encoder_column,
    encoder_columns,
    failure_columns,
    related_columns,
    result_columns,
    size_columns,
    slopes_shown,
)
from bayesbias.columns.slopes import SLOPES_SAID, slopes_on_page
from bayesbias.columns.table import Table, p_text, page_table, text
from bayesbias.core.digits import interval_known
from bayesbias.core.errors import InputError
from bayesbias.core.wording import as_percent, conjoined, ended, number_of
from bayesbias.findings.parts import Findings
from bayesbias.findings.sentences import findings_of_sentences, named_encoder
from bayesbias.inference.estimands import PROB, ROPE
from bayesbias.inference.scope import sure_ends
from bayesbias.inference.verdicts import Verdict, side as side_of
from bayesbias.models.loading import list_models, load_model
from bayesbias.models.spec import ModelSpec
from bayesbias.plots.sentences import plates
from bayesbias.report.again import (
    called,
    files_of_covariates,
    last_of_path,
    model_of,
    report_call,
    reproduction,
    sampler_settings,
    without_folders,
)
from bayesbias.report.parts import (
    Again,
    Answer,
    Box,
    Data,
    Labelled,
    Model,
    Page,
    Part,
    about_spec,
    labelled,
    look_again,
    not_trusted,
)
from bayesbias.report.pictures import Gallery, in_order
from bayesbias.report.sentence_words import sets_of, spaced, words_of
from bayesbias.report.texts import as_sentence
from bayesbias.studies.seat_result import SeatResult
from bayesbias.wordlists.sentence_making import list_tests, sentence_test
from bayesbias.wordlists.sentence_tests import SentenceTest

if TYPE_CHECKING:
    import pandas as pd

_CLEAR = 0.01
_FEW = 12  # rows, up to which the whole table stands beside the answer
_MODEL = "sentence"
_LEVELS = {
    "word": "of words",
    "sentence": "of sentences",
    "unbleached": "of unbleached sentences",
    "text": "of sentences whose words are not stated",
}
_METHODS = {
    "exact": "counted over all partitions",
    "bounds": "enclosed in rigorous bounds over all partitions, of which the upper is shown",
    "montecarlo": "sampled, with a bound that holds with high confidence",
}


@dataclass(frozen=True, eq=False)
class _Study:
    """What the parts of the page are made of."""

    result: SeatResult
    rows: pd.DataFrame  # in the order of the paper, with the names it gives them
    findings: Findings
    figures: Gallery

    @property
    def several(self) -> bool:
        """Whether there are several encoders, each of which is named."""
        return len(self.encoders) > 1

    @property
    def encoders(self) -> list[tuple[str, str]]:
        """Name and options of each encoder."""
        return list(dict.fromkeys(zip(self.result.frame["model"], self.result.frame["options"], strict=True)))

    @property
    def prob(self) -> float | None:
        """Probability of the intervals; None where nothing was fitted."""
        return float(self.result.provenance["prob"]) if "contrast" in self.result.frame else None


def of_sentences(result: SeatResult, prob: float, command: Sequence[str] | None = None) -> Page:
    """Return the page on sentence tests."""
    if "contrast" in result.frame and prob != result.provenance["prob"]:
        raise InputError(
            "the intervals of sentence tests are made with the result",
            where="prob",
            found=prob,
            valid=str(result.provenance["prob"]),
            hint="seat(..., bayes=True, prob=...)",
        )
    named = result.named()
    rows = result.frame.loc[named.index].assign(title=named["title"], context=named["context"])
    study = _Study(result, rows, findings_of_sentences(result), Gallery(plates(result)))
    spec, models = _models(study)
    names = [named_encoder(*encoder) for encoder in study.encoders]
    tests = list(dict.fromkeys(rows["test"]))
    return Page(
        kicker="Sentence tests (SEAT) on sentence encoders",
        title=f"{', '.join(tests) if len(tests) <= 4 else number_of(len(tests), 'test')} on {conjoined(names)}",
        question="Do sentences about two groups lie nearer to one set of attributes than to the other, does that hold when "
        "each word counts once, and would it hold for other words and templates?",
        answer=_answer(study),
        data=_data(study),
        sections=in_order(_SECTIONS, study, [study.figures]),
        models=models,
        without_model=_without_model(study, spec),
        trust=_trust(study),
        again=_again(study, spec, command),
        glossary=_glossary(study),
    )


# -- the answer ------------------------------------------------------------------------------------


def _answer(study: _Study) -> Answer:
    findings, failures = study.findings, study.result.failures
    doubts = []
    if len(failures):
        whose = [
            f"{named_encoder(row.model, row.options)}, {row.test}: {row.reason}"
            for row in failures.itertuples()
        ]
        reasons = list(dict.fromkeys(map(ended, whose)))
        rest = (
            [f"And {number_of(len(reasons) - 3, 'more reason')}; the table below names all."]
            if len(reasons) > 3
            else []
        )
        doubts = [Box(f"{number_of(len(failures), 'failure')}: not all of it was run", [*reasons[:3], *rest])]
    few = [_results_table(study)] if len(study.rows) <= _FEW else []
    return Answer(
        [findings.headline],
        warnings=not_trusted(findings.problems),
        covariates=[] if study.several else _covariates(study),
        doubts=[*doubts, *look_again(findings.doubts)],
        tables=[_encoders_table(study), *few] if study.several else few,
        sentences=findings.sentences,
    )


def _covariates(study: _Study) -> list[Labelled]:
    if len(study.rows) == 1:
        return _covariates_of_one(study, next(iter(study.rows.itertuples())))
    (row,) = _counts(study)
    covariates = [
        Labelled("tests with p < 0.01, as published", f"{row['published']} of {row['tests']}"),
        Labelled("tests with p < 0.01, after Holm's correction", f"{row['holm']} of {row['tests']}"),
    ]
    if row["by_sentence"]:
        shown = f"{row['by_words']} of {row['by_sentence']}"
        covariates.append(
            Labelled("sentence tests with p < 0.01 that keep it when each word counts once", shown)
        )
    if study.prob is not None:
        label = f"{as_percent(study.prob)} HPDI below zero, for new words and templates"
        covariates.append(Labelled(label, row["supposed"]))
    return covariates


def _covariates_of_one(study: _Study, row: Any) -> list[Labelled]:
    covariates = {
        "effect size": "none"
        if row.effect_size != row.effect_size
        else f"{row.effect_size:.2f}".replace("-", "−"),
        "p, as published": p_text(row.p_value, "none"),
        "p, each word once": p_text(row.p_words, "words not known"),
    }
    if study.prob is not None and row.contrast == row.contrast and row.converged:
        label = f"associated − different for new words and templates, {as_percent(study.prob)} HPDI"
        covariates[label] = interval_known(row, signed=True)
    return labelled(covariates)


def _counts(study: _Study) -> list[dict[str, Any]]:
    """Count for each encoder how many tests are clear by each way of counting."""
    out = []
    for model, options in study.encoders:
        rows = study.rows[(study.rows["model"] == model) & (study.rows["options"] == options)]
        sentences = rows[(rows["level"] == "sentence") & rows["p_words"].notna()]
        sentences = sentences[sentences["p_upper"] < _CLEAR]
        counts = {
            "name": named_encoder(model, options),
            "tests": len(rows),
            "published": int((rows["p_value"] < _CLEAR).sum()),
            "holm": int((rows["p_holm"] < _CLEAR).sum()),
            "by_sentence": len(sentences),
            "by_words": int((sentences["p_words"] < _CLEAR).sum()),
        }
        if study.prob is not None:
            fitted = rows[rows["contrast"].notna()]
            fitted = fitted[fitted["converged"].astype(bool)]
            below = [side_of(*sure_ends(row)) for row in fitted.itertuples()].count(Verdict.BELOW)
            counts["supposed"] = f"{below} of {len(fitted)}"
        out.append(counts)
    return out


def _encoders_table(study: _Study) -> Table:
    note = (
        "Holm's correction is over all rows of the result. The fifth and sixth column are about tests whose words stand in "
        "several sentences."
    )
    return page_table("t-encoders", "The encoders", encoder_columns(study.prob), _counts(study), note)


def _results_table(study: _Study) -> Table:
    note = (
        "A positive effect is what the test supposes; p is one-sided. Published: as the paper samples it. All partitions: "
        "exact, or the upper of two bounds. Holm: corrected for all rows. Each word once: the mean score of its sentences "
        "counts, since they are not independent."
    )
    return page_table("t-results", "Every test", result_columns(study.several), study.rows.itertuples(), note)


# -- figures and tables ----------------------------------------------------------------------------


def _tests(study: _Study) -> Part:
    tables = [_results_table(study)] if len(study.rows) > _FEW else []
    return Part("Every test on every encoder", figures=study.figures.take("seat"), tables=tables)


def _contrasts(study: _Study) -> Part | None:
    if study.prob is None:
        return None
    names = ["seat_contrasts", *(f"seat_contrasts_{n}" for n in range(1, len(study.encoders) + 1))]
    table = page_table(
        "t-contrasts",
        "Associated − different, for new words and, where there are several, new templates",
        contrast_columns(study.prob, study.several),
        study.rows.itertuples(),
        "In cosine distance; below zero lies what the test supposes. Shares of variance: between words, between templates, "
        "what takes a word and a template together (both), and the rest; – where a test cannot tell them. "
        f"{IN_SDS}",
    )
    pictures = [picture for name in names for picture in study.figures.take(name)]
    return Part("The hierarchical reading", figures=pictures, tables=[table])


def _related(study: _Study) -> Part | None:
    frame = study.result.consistency()
    if not len(frame):
        return None
    note = "Tests that ask the same of other words, or of fewer. Where they disagree, one of them alone says little."
    table = page_table(
        "t-related", "Tests that should agree", related_columns(study.several), frame.itertuples(), note
    )
    return Part("Do related tests agree?", tables=[table])


def _slopes(study: _Study) -> Part | None:
    if study.prob is None or not len(study.result.slopes):
        return None
    frame = slopes_shown(study.result)
    before = [text("test", "test"), *encoder_column(study.several)]
    table, each = slopes_on_page(frame, study.prob, "Slopes", before)
    folded = [Part("Slopes of every word or template", tables=[each])] if each else []
    return Part(
        "Covariates about words",
        [SLOPES_SAID],
        figures=study.figures.take("slopes"),
        tables=[table],
        folded=folded,
    )


# The sections of the page, in order.
_SECTIONS = (_tests, _contrasts, _slopes, _related)


# -- data ------------------------------------------------------------------------------------------


def _data(study: _Study) -> Data:
    result, rows = study.result, study.rows
    tests = rows.drop_duplicates("test")
    kinds = [
        f"{int(n)} {_LEVELS[str(level)]}" for level, n in tests["level"].value_counts(sort=False).items()
    ]
    names = [named_encoder(*encoder) for encoder in study.encoders]
    sentences = [
        f"{number_of(len(tests), 'test')} ({conjoined(kinds)}) on {number_of(len(names), 'encoder')} ({', '.join(names)}). "
        "A test holds two sets of targets and two of attributes; each example becomes one vector, and its score is how much "
        "nearer it lies to the first attributes than to the second."
    ]
    if not len(result.dropped):
        sentences.append("Every example has a vector of its own.")
    asked = _asked(result)
    called = {about["name"]: about.get("categories") for about in result.provenance.get("tests", ())}
    called |= {name: test.categories for name, test in asked.items()}
    sized = rows.assign(
        targets=[_sides(called.get(test), "targ1", "targ2") for test in rows["test"]],
        attributes=[_sides(called.get(test), "attr1", "attr2") for test in rows["test"]],
    )
    # The sizes are those of the tests, but for what an encoder lacks.
    lacking_some = len(result.dropped) > 0
    of_each = study.several and lacking_some
    sizes = page_table(
        "t-sizes",
        "Examples in each set",
        size_columns(of_each, lacking_some),
        (sized if of_each else sized.drop_duplicates("test")).itertuples(),
        "Left out: examples whose own word the encoder lacks." if lacking_some else "",
    )
    few = len(sizes.rows) <= _FEW
    tables = [_origins(result), *([sizes] if few else [])]
    folded = [] if few else [Part("How many examples stand in each set", tables=[sizes])]
    if len(result.dropped):
        lacking = result.dropped.groupby(["model", "options", "word"], sort=False, as_index=False).agg(
            examples=("sentence", "size"), tests=("test", lambda names: ", ".join(dict.fromkeys(names)))
        )
        tables.append(
            page_table(
                "t-dropped",
                "Words without a form of their own",
                dropped_columns(study.several),
                lacking.itertuples(),
            )
        )
    notes = [as_sentence(note) for note in study.findings.notes]
    sets = sets_of(result, asked)
    unknown = [name for name in tests["test"] if name not in sets]
    if unknown:
        notes.append(f"The words of {', '.join(unknown)} are in the files of these tests, not in the result.")
    words = words_of([name for name in tests["test"] if name in sets], sets)
    return Data(sentences, tables, notes, words, "All words of the tests", folded)


def _asked(result: SeatResult) -> dict[str, SentenceTest]:
    """Return the tests of the result that are shipped, with the same content."""
    out = {}
    for about in result.provenance.get("tests", ()):
        for cut in (False, True) if about["name"] in list_tests() else ():
            test = sentence_test(about["name"], published_cut=cut)
            if test.sha256 == about["sha256"]:
                out[test.name] = test
                break
    return out


def _published_cut(result: SeatResult) -> bool:
    """Whether the tests are those of the files as they were published, of which some stop short."""
    digests = {about["name"]: about["sha256"] for about in result.provenance.get("tests", ())}
    return any(sentence_test(name).sha256 != digests[name] for name in _asked(result))


def _sides(categories: Mapping[str, str] | None, first: str, second: str) -> str:
    """Name two sets; results of earlier versions do not hold what those of one's own tests are called."""
    if not categories:
        return "not known"
    of = (
        "those of " if first == "attr1" and categories[first] == categories["targ1"] else ""
    )  # of a word list
    return f"{of}{spaced(categories[first])} against {of}{spaced(categories[second])}"


def _origins(result: SeatResult) -> Table:
    """Tabulate what is known of each encoder."""
    columns = [
        text("encoder", lambda about: named_encoder(about["name"], about["options"])),
        text(
            "what is known of it", lambda about: "; ".join(_covariates_of(about["provenance"])) or "nothing"
        ),
    ]
    return page_table(
        "t-origin", "Where the vectors come from", columns, result.provenance.get("encoders", ())
    )


def _covariates_of(about: Mapping[str, Any], lead: str = "") -> Iterator[str]:
    """Yield what an encoder says of itself, without hashes, which stand elsewhere, and folders."""
    for key, value in about.items():
        name = f"{lead}{key}".replace("_", " ")
        if key.startswith("sha256"):
            continue
        if isinstance(value, Mapping):
            yield from _covariates_of(value, f"{name}: ")
        elif isinstance(value, str | int | float) and value != "":
            if isinstance(value, str) and key in ("source", "path", "file", "model"):
                value = model_of(value) if key == "model" else without_folders(value)
            yield f"{name}: {value}"


# -- model, trust, reproduction ---------------------------------------------------------------------


def _models(study: _Study) -> tuple[ModelSpec | None, list[Model]]:
    about = study.result.provenance.get("model")
    if about is None or about["name"] not in list_models():
        return None, []
    spec = load_model(about["name"])
    covariates = list(study.result.provenance.get("slopes", {}))
    about_covariates = (
        f"fitted to each test{f', with slopes on {conjoined(covariates)}' if covariates else ''}"
    )
    return (spec, [about_spec(spec, about_covariates)]) if spec.sha256 == about["sha256"] else (None, [])


def _without_model(study: _Study, spec: ModelSpec | None) -> str:
    about = study.result.provenance.get("model")
    if spec is not None:
        return ""
    if about is not None:
        return f"Fitted with a model {about['name']} that this version does not hold (SHA-256 {about['sha256']})."
    return (
        "No model was fitted: effect sizes and permutation tests need none. With --bayes (from Python bayes=True) the model "
        f"{_MODEL} is fitted to every test, and says what holds for new words and templates."
    )


def _trust(study: _Study) -> Part:
    result, rows = study.result, study.rows
    sentences = [as_sentence(problem) for problem in study.findings.problems]
    if study.prob is not None:
        fitted = rows[rows["contrast"].notna()]
        if len(fitted) and not study.findings.problems:
            sentences.append(
                f"The {number_of(len(fitted), 'fit')} converged: the chains agree and no transition diverged."
            )
        if len(fitted) < len(rows):
            sentences.append(f"{number_of(len(rows) - len(fitted), 'test')} could not be fitted.")
    for method, count in rows["p_method"].value_counts(sort=False).items():
        sentences.append(
            f"p over all partitions of {number_of(int(count), 'test')}: {_METHODS[str(method)]}."
        )
    sentences.append(
        "p over sentences counts the sentences of one word as independent, which they are not; p with each word once does not."
    )
    sentences.append(
        "How far a single word or template carries an effect is not part of the result: bayesbias.studies.leave_one_out "
        "says it."
    )
    tables = []
    if len(result.failures):
        tables.append(
            page_table(
                "t-failures",
                "What could not be run",
                failure_columns(study.several),
                result.failures.itertuples(),
            )
        )
    return Part(sentences=sentences, tables=tables)


def _again(study: _Study, spec: ModelSpec | None, command: Sequence[str] | None) -> Again:
    about = study.result.provenance
    names = [test["name"] for test in about.get("tests", ())]
    asked = _asked(study.result)
    tests: Any = "all" if set(names) == set(list_tests()) else names
    notes = []
    own = [test["name"] for test in about.get("tests", ()) if test["name"] not in asked]
    if own:
        notes.append(f"Tests of your own are named as they are called here: {', '.join(own)}.")
    encoders = [
        without_folders(str(encoder["provenance"].get("source", encoder["name"])))
        for encoder in about.get("encoders", ())
    ]
    cut = True if _published_cut(study.result) else None
    settings: dict[str, Any] = {
        "published_cut": cut,
        "seed": about.get("seed"),
        "samples": about.get("samples"),
    }
    if study.prob is not None:
        settings |= {"bayes": True, **sampler_settings(about)}
        settings |= {} if study.prob == PROB else {"prob": study.prob}
    if about.get("slopes"):
        files, remarks = files_of_covariates(about["covariates"])
        notes += remarks
        by = any(columns is not None for columns in about["slopes"].values())
        settings |= {"covariates": files, "slopes": about["slopes"] if by else list(about["slopes"])}
    lines = [f"result = {called('seat', tests, encoders, **settings)}", report_call("result", PROB, ROPE)]
    inputs = {
        test["name"]: {"sha256": test["sha256"], "source": test["origin"], "noun": "test"}
        for test in about.get("tests", ())
    }
    inputs |= {
        f"covariate {name}": {
            "sha256": of["sha256"],
            "source": last_of_path(of["source"]),
            "noun": "covariates",
        }
        for name, of in about.get("covariates", {}).items()
        if of["sha256"]
    }
    for encoder in about.get("encoders", ()):
        name = named_encoder(encoder["name"], encoder["options"])
        for file, digest in _hashes(encoder["provenance"]):
            inputs[f"{name}: {file}" if file else name] = {
                "sha256": digest,
                "source": file or name,
                "noun": "vectors",
            }
    sampler = {**about.get("sampler", {}), "seed": about.get("seed")}
    return reproduction(lines, command, spec, {**about, "sampler": sampler}, inputs, notes)


def _hashes(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the files of an encoder and their hashes, as far as it states them."""
    for key, value in about.items():
        if key.startswith("sha256"):
            yield from value.items() if isinstance(value, Mapping) else [("", str(value))]
        elif isinstance(value, Mapping):
            yield from _hashes(value)


def _glossary(study: _Study) -> list[Labelled]:
    entries = {
        "Sentence test": "Two sets of targets, such as terms for women and for men, and two of attributes, such as arts and "
        "mathematics, as words or put into sentences. Bleached sentences (sent) say little beside the word, such as “This is "
        "a mother.”; unbleached ones (sent (u)) say more.",
        "Effect size": "The difference of the mean scores of the two target sets in standard deviations of all scores, between "
        "−2 and 2 where both sets are of one size. Positive: as the test supposes. It "
        "depends on the spread of the scores, not only on how far they differ.",
        "p, published and over all partitions": "How often a random partition of the targets into two sets has a difference at "
        "least as large. The paper samples partitions; beside it stands what all of them give.",
        "p, each word once": "The same over words, each with the mean score of its sentences. Ten sentences of one word are not "
        "ten observations: p over sentences falls with every template that is added, p over words does not.",
        "Holm's correction": "Raises p-values so that among all tests shown here the chance of even one false alarm is held.",
    }
    if study.prob is not None:
        prob = as_percent(study.prob)
        entries |= {
            "Associated − different": "The mean cosine distance of sentences to attributes that the test puts together with "
            "them, minus that to the other attributes, by the model. Negative: as the test supposes.",
            f"{prob} HPDI": f"The narrowest interval that holds the value with a probability of {prob}, given the data and the "
            "model.",
            "New words and templates": "The answer for words and templates like those of the test, not for these alone; so it "
            "is less sure, and says more.",
            "Shares of variance": "How much of the scatter of single distances lies between words, between templates, in words "
            "and templates together, and in neither. Where templates hold much, other templates would give other numbers.",
        }
    entries["What is measured"] = (
        "Association in vectors. A clear test shows that an encoder places sentences so; whether it does harm depends on what "
        "it is used for, and a test that is not clear does not show that there is no association."
    )
    return labelled(entries)
