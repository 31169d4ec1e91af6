"""Noun pairs and professions, and the sentences that are made of them or of words of any groups.

Source: Bhaskaran & Bhallamudi (2019), Good Secretaries, Bad Truck Drivers? Occupational Gender
Stereotypes in Sentiment Analysis, section 3.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from bayesbias.core import InputError, checks, files, number_of
from bayesbias.wordlists.sentence_tests import article_of, fields_of

GENDERS = ("male", "female")
SENTENCE_COLUMNS = ("sentence", "noun_pair", "noun", "gender", "profession", "category", "control")
_TEMPLATE = "{noun} is {a} {profession}."
_FACTS = ("earnings", "female_share")
_UNSTATED = "not stated"
_KEYS = (
    *("schema", "name", "source", "edits", "disagreements", "template", "control"),
    *("noun_pairs", "professions", "categories", "units"),
)


@dataclass(frozen=True, eq=False)
class Occupations:
    """Noun pairs, professions and the template that makes sentences of them.

    Attributes
    ----------
    name : str
        The set of words.
    source : str
        Where the words come from.
    origin : str
        The file.
    noun_pairs : pandas.DataFrame
        ``noun_pair, male, female, template``.
    professions : pandas.DataFrame
        ``profession, category, article, earnings, female_share``; the last two missing (NA) where
        not stated.
    control : str
        The word for a profession in the control sentences.

    Examples
    --------
    >>> import bayesbias as bb
    >>> occupations = bb.wordlists.load_occupations()
    >>> len(occupations.noun_pairs), len(occupations.professions)
    (20, 20)
    """

    name: str
    source: str
    origin: str
    noun_pairs: pd.DataFrame
    professions: pd.DataFrame
    control: str

    def sentences(self, *, control: bool = False) -> pd.DataFrame:
        """Return the sentences, see `occupation_sentences`."""
        held = self.professions[["profession", "category", "article"]]
        words = [(*row, False) for row in held.itertuples(index=False)]
        persons = [(self.control, "control", article_of(self.control), True)]
        rows = []
        for group, gender in itertools.product((words, persons)[: 1 + control], GENDERS):
            pairs = self.noun_pairs.itertuples(index=False)
            for (of, category, a, is_control), pair in itertools.product(group, pairs):
                noun = getattr(pair, gender)
                text = pair.template.format(noun=noun, a=a, profession=of)
                rows.append((text, pair.noun_pair, noun, gender, of, category, is_control))
        return pd.DataFrame(rows, columns=list(SENTENCE_COLUMNS))

    @property
    def sha256(self) -> str:
        """SHA-256 of all sentences, the control sentences included."""
        return files.sha256_of("\n".join(self.sentences(control=True)["sentence"]))

    @property
    def earnings(self) -> dict[str, float]:
        """Return the median weekly earnings of professions, where stated."""
        return self.covariates.get("earnings", {})

    @property
    def covariates(self) -> dict[str, dict[str, float]]:
        """Return earnings and share of women by profession, where stated."""
        out = {}
        for name in _FACTS:
            known = self.professions.dropna(subset=name).set_index("profession")[name]
            if len(known):
                out[name] = known.astype(float).to_dict()
        return out

    def __repr__(self) -> str:
        n, m = len(self.noun_pairs), len(self.professions)
        listed = f"{number_of(n, 'noun pair')}, {number_of(m, 'profession')}"
        return f"<Occupations {self.name!r}: {listed}, {2 * n * m} sentences and {2 * n} controls>"


type Corpus = checks.FilePath | Mapping[str, Any] | Occupations


def load_occupations(source: Corpus = "occupations") -> Occupations:
    """Load noun pairs, professions and a template.

    Parameters
    ----------
    source : str, path, mapping or Occupations
        ``"occupations"``, the published list; the path of a TOML file of the same form as
        ``wordlists/sentiment/occupations.toml``, which may be copied; or its content as a mapping.

        ``noun_pairs`` (each ``male``, ``female`` and perhaps a ``template``) and ``professions``
        (names, or tables with ``name`` and perhaps ``category``, ``article``, ``earnings``,
        ``female_share``) are needed; ``units`` may say in what the last two are. ``template``
        holds ``{noun}``, ``{profession}`` and perhaps ``{a}``, which becomes a or an.

    Returns
    -------
    Occupations

    Raises
    ------
    InputError
        If something is missing, unknown or stated twice, naming file and key.

    Examples
    --------
    >>> load_occupations()
    <Occupations 'occupations': 20 noun pairs, 20 professions, 800 sentences and 40 controls>
    >>> own = load_occupations(
    ...     {"noun_pairs": [{"male": "He", "female": "She"}], "professions": ["engineer"]}
    ... )
    >>> own.sentences()["sentence"].tolist()
    ['He is an engineer.', 'She is an engineer.']
    """
    if isinstance(source, Occupations):
        return source
    if isinstance(source, Mapping):
        data, where, name = dict(checks.tree(source)), "occupations", "own"
    else:
        path = files.find_toml(source, "wordlists/sentiment", "list of occupations")
        where = files.origin_of(path, "wordlists/sentiment")
        data, name = files.read_toml(path), path.stem
    checks.known_keys(data, _KEYS, where, needed=("noun_pairs", "professions"))
    checks.schema({"schema": 1, **data}, 1, where)
    template = _template(data.get("template", _TEMPLATE), f"{where}, template")
    control = checks.line(data.get("control", "person"), f"{where}, control")
    pairs = []
    for here, item in _listed(data, "noun_pairs", where):
        checks.known_keys(item, (*GENDERS, "template"), here, needed=GENDERS)
        male, female = (checks.line(item[g], f"{here}, {g}") for g in GENDERS)
        own = _template(item["template"], f"{here}, template") if "template" in item else template
        pairs.append((f"{male} / {female}", male, female, own))
    rows = []
    for here, item in _listed(data, "professions", where):
        checks.known_keys(item, ("name", "category", "article", *_FACTS), here, needed=("name",))
        word = checks.line(item["name"], f"{here}, name")
        category = checks.line(item.get("category", _UNSTATED), f"{here}, category")
        article = checks.line(item.get("article", article_of(word)), f"{here}, article")
        numbers = [
            None if key not in item else checks.within(item[key], f"{here}, {key}", 0, most)
            for key, most in (("earnings", math.inf), ("female_share", 100))
        ]
        rows.append((word, category, article, *numbers))
    nouns = pd.DataFrame(pairs, columns=["noun_pair", "male", "female", "template"])
    frame = pd.DataFrame(rows, columns=["profession", "category", "article", *_FACTS])
    frame = frame.astype(dict.fromkeys(_FACTS, "Float64"))
    about = (data.get("name", name), data.get("source", ""), where)
    out = Occupations(*about, nouns, frame, control)
    checks.distinct(out.sentences(control=True)["sentence"].tolist(), "sentence", where)
    return out


def occupation_sentences(
    source: Corpus = "occupations",
    *,
    control: bool = False,
) -> pd.DataFrame:
    """Return the sentences of the test bench.

    Parameters
    ----------
    source
        What `load_occupations` takes.
    control : bool
        Whether to add the control sentences, in which ``person`` stands for the profession.

    Returns
    -------
    pandas.DataFrame
        ``sentence, noun_pair, noun, gender`` (male or female)``, profession, category, control``
        (bool). First all male sentences, professions outer and nouns inner, then all female ones
        in the same order; then the control sentences likewise. That is the published order: row i
        and row i + 400 are a pair.

    Examples
    --------
    >>> sentences = occupation_sentences(control=True)
    >>> sentences.loc[
    ...     [0, 400, 800], ["sentence", "noun_pair", "gender", "profession"]
    ... ].values.tolist()[1:]
    [['She is a doctor.', 'He / She', 'female', 'doctor'], ['He is a person.', 'He / She', 'male', 'person']]
    """
    return load_occupations(source).sentences(control=control)


def response_sentences(words: Any) -> pd.DataFrame:
    """Return sentences to rate: each word in each template with each item.

    Parameters
    ----------
    words : path or mapping
        A TOML file, or its content: ``groups`` (group -> words), ``templates`` with ``{word}`` and
        ``{item}``, and ``items``. ``{a}`` becomes *a* or *an*, as the item asks for. A word list of
        sentiment (``noun_pairs``, ``professions``, ``template``) is one of that kind, with any groups.

    Returns
    -------
    DataFrame
        ``sentence, template, group, word, item``; of a list with pairs also ``pair``.

    Raises
    ------
    InputError
        If there are no two groups of words, a word is in two of them, a template does not have
        ``{word}``, or it has ``{item}`` and there are no items.

    Examples
    --------
    >>> made = response_sentences({"groups": {"black": ["Ebony"], "white": ["Amanda"]},
    ...     "templates": ["{word} feels {item}."], "items": ["angry", "happy"]})
    >>> made["sentence"].tolist()
    ['Ebony feels angry.', 'Ebony feels happy.', 'Amanda feels angry.', 'Amanda feels happy.']
    """
    given = isinstance(words, Mapping)
    about, where = (words, "words") if given else (files.read_toml(Path(words).expanduser()), words)
    templates = [about["template"]] if "template" in about else about.get("templates", [])
    checks.texts(templates, f"{where}, templates")
    things = about.get("items", about.get("professions", []))
    items = [thing["name"] if isinstance(thing, Mapping) else str(thing) for thing in things]
    pairs = about.get("noun_pairs", [])
    groups = about.get("groups", {})
    lists = {str(g): checks.texts(own, f"{where}, {g}") for g, own in groups.items()}
    checks.distinct([word for own in lists.values() for word in own], "word", where)
    named = [(group, word, "", templates) for group, own in lists.items() for word in own]
    for pair in pairs:
        sides = {key: noun for key, noun in pair.items() if key != "template"}
        own = [pair["template"]] if "template" in pair else templates
        named += [(group, noun, " / ".join(sides.values()), own) for group, noun in sides.items()]
    n, valid = len({group for group, *_ in named}), "[groups], templates, items"
    if n < 2 or not any(own for *_, own in named):
        problem = (
            f"expected words of two groups or more, and templates, got {number_of(n, 'group')}"
        )
        raise InputError(problem, where=where, valid=valid)
    rows = []
    for template, group, word, pair in [(t, *rest) for *rest, own in named for t in own]:
        if "{word}" not in template and "{noun}" not in template:
            raise InputError("expected a template with {word}", where=where, found=template)
        asked = items if "{item}" in template or "{profession}" in template else [""]
        if not asked:
            problem = f"expected items for the template {template!r}, got none"
            raise InputError(problem, where=where, valid=valid)
        for item in asked:
            article = article_of(item)
            parts = {"word": word, "noun": word, "item": item, "profession": item, "a": article}
            filled = template
            for name, part in parts.items():
                filled = filled.replace(f"{{{name}}}", part)
            rows.append((filled, template, group, word, item, pair))
    frame = pd.DataFrame(rows, columns=["sentence", "template", "group", "word", "item", "pair"])
    return frame if pairs else frame.drop(columns="pair")


def _listed(data: Mapping[str, Any], key: str, where: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the tables of a list, each with its place."""
    items = data[key]
    if not isinstance(items, list | tuple) or not items:
        raise InputError("expected a list that is not empty", where=f"{where}, {key}", found=items)
    out = []
    for i, item in enumerate(items, start=1):
        place = f"{where}, {key}, number {i}"
        out.append((place, {"name": item} if isinstance(item, str) else checks.table(item, place)))
    return out


def _template(value: Any, where: str) -> str:
    text = checks.line(value, where)
    if fields_of(text) - {"a"} != {"noun", "profession"}:
        problem = "expected the fields {noun} and {profession}, and perhaps {a}"
        raise InputError(problem, where=where, found=text)
    return text
