"""Noun pairs and professions, and the sentences that are made of them.

Source: Bhaskaran & Bhallamudi (2019), Good Secretaries, Bad Truck Drivers? Occupational Gender Stereotypes in
Sentiment Analysis, section 3.
"""

from __future__ import annotations

import os
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesbias.core import checks
from bayesbias.core.errors import InputError
from bayesbias.core.files import MOST_TEXT, data_dir, find_toml, parse_toml, read_bytes, sha256_of
from bayesbias.core.formatting import number_of
from bayesbias.wordlists.grammar import article_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Occupations", "load_occupations", "occupation_sentences"]

GENDERS = ("male", "female")
SENTENCE_COLUMNS = ("sentence", "noun_pair", "noun", "gender", "profession", "category", "control")
_TEMPLATE = "{noun} is {a} {profession}."
_FACTS = ("earnings", "female_share")
_UNSTATED = "not stated"


@dataclass(frozen=True, eq=False, repr=False)
class Occupations:
    """Noun pairs, professions and the template that makes sentences of them.

    Attributes
    ----------
    name : str
    source : str
        Where the words come from.
    origin : str
        The file.
    noun_pairs : pandas.DataFrame
        ``noun_pair, male, female, template``.
    professions : pandas.DataFrame
        ``profession, category, article, earnings, female_share``; the last two missing (NA) where not stated.
    control : str
        What stands for a profession in the control sentences.
    categories : dict
        Category -> what it means.
    units : dict
        Earnings or share of women -> the unit of its numbers, where that is stated.

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
    categories: dict[str, str]
    units: dict[str, str] = field(default_factory=dict)

    def sentences(self, *, control: bool = False) -> pd.DataFrame:
        """Return the sentences, see `occupation_sentences`."""
        import pandas as pd

        rows = []
        words = [
            (*row, False)
            for row in self.professions[["profession", "category", "article"]].itertuples(index=False)
        ]
        checks = [(self.control, "control", article_of(self.control), True)]
        pairs = list(self.noun_pairs.itertuples(index=False))
        for group in (words, checks) if control else (words,):
            for gender in GENDERS:
                for profession, category, article, is_control in group:
                    for pair in pairs:
                        noun = getattr(pair, gender)
                        text = pair.template.format(noun=noun, a=article, profession=profession)
                        rows.append((text, pair.noun_pair, noun, gender, profession, category, is_control))
        return pd.DataFrame(rows, columns=list(SENTENCE_COLUMNS))

    @property
    def sha256(self) -> str:
        """SHA-256 of all sentences, the control sentences included."""
        return sha256_of("\n".join(self.sentences(control=True)["sentence"]))

    @property
    def earnings(self) -> dict[str, float]:
        """Profession -> median weekly earnings, of the professions for which they are stated."""
        return self.covariates.get("earnings", {})

    @property
    def covariates(self) -> dict[str, dict[str, float]]:
        """Earnings and share of women, of the professions for which they are stated: name of the covariate -> profession -> number."""
        out = {}
        for name in _FACTS:
            known = self.professions.dropna(subset=name)
            if len(known):
                out[name] = {p: float(e) for p, e in zip(known["profession"], known[name], strict=True)}
        return out

    def __repr__(self) -> str:
        n, m = len(self.noun_pairs), len(self.professions)
        made = f"{number_of(n, 'noun pair')}, {number_of(m, 'profession')}, {2 * n * m} sentences and {2 * n} controls"
        return f"<Occupations {self.name!r}: {made}>"


def load_occupations(
    source: str | os.PathLike[str] | Mapping[str, Any] | Occupations = "occupations",
) -> Occupations:
    """Load noun pairs, professions and a template.

    Parameters
    ----------
    source : str, path, mapping or Occupations
        ``"occupations"``, the published list; the path of a TOML file of the same form as
        ``wordlists/sentiment/occupations.toml``, which may be copied; or its content as a mapping.

        ``noun_pairs`` (each ``male``, ``female`` and perhaps a ``template``) and ``professions`` (names, or
        tables with ``name`` and perhaps ``category``, ``article``, ``earnings``, ``female_share``) are
        needed; ``units`` may say in what the last two are. ``template`` holds ``{noun}``, ``{profession}`` and perhaps
        ``{a}``, which becomes a or an.

    Returns
    -------
    Occupations

    Raises
    ------
    InputError
        Naming file and key, where something is missing, unknown or stated twice.

    Examples
    --------
    >>> load_occupations()
    <Occupations 'occupations': 20 noun pairs, 20 professions, 800 sentences and 40 controls>
    >>> own = load_occupations({"noun_pairs": [{"male": "He", "female": "She"}], "professions": ["engineer"]})
    >>> own.sentences()["sentence"].tolist()
    ['He is an engineer.', 'She is an engineer.']
    """
    import pandas as pd

    if isinstance(source, Occupations):
        return source
    if isinstance(source, Mapping):
        data, where, name = dict(checks.tree(source, "occupations")), "occupations", "own"
    else:
        path = find_toml(source, "wordlists/sentiment", "list of occupations")
        where = (
            f"wordlists/sentiment/{path.name}"
            if path.parent == data_dir("wordlists/sentiment")
            else str(path)
        )
        data, name = parse_toml(read_bytes(path, MOST_TEXT), where), path.stem
    valid = (
        "schema",
        "name",
        "source",
        "edits",
        "disagreements",
        "template",
        "control",
        "noun_pairs",
        "professions",
        "categories",
        "units",
    )
    checks.known_keys(data, valid, where, needed=("noun_pairs", "professions"))
    checks.schema({"schema": 1, **data}, 1, where)
    template = _template(data.get("template", _TEMPLATE), f"{where}, template")
    control = _text(data.get("control", "person"), f"{where}, control")
    categories = data.get("categories", {})
    checks.table(categories, f"{where}, categories")
    units = checks.table(data.get("units", {}), f"{where}, units")
    checks.known_keys(units, _FACTS, f"{where}, units")
    units = {key: _text(unit, f"{where}, units, {key}") for key, unit in units.items()}

    pairs = []
    for i, item in enumerate(_listed(data["noun_pairs"], f"{where}, noun_pairs"), start=1):
        here = f"{where}, noun_pairs, number {i}"
        checks.table(item, here, '{ male = "...", female = "..." }')
        checks.known_keys(item, (*GENDERS, "template"), here, needed=GENDERS)
        male, female = (_text(item[gender], f"{here}, {gender}") for gender in GENDERS)
        own = _template(item["template"], f"{here}, template") if "template" in item else template
        pairs.append((f"{male} / {female}", male, female, own))
    rows = []
    for i, item in enumerate(_listed(data["professions"], f"{where}, professions"), start=1):
        here = f"{where}, professions, number {i}"
        item = {"name": item} if isinstance(item, str) else item
        if not isinstance(item, Mapping):
            raise InputError("must be a text or a table", where=here, found=item)
        checks.known_keys(
            item, ("name", "category", "article", "earnings", "female_share"), here, needed=("name",)
        )
        word = _text(item["name"], f"{here}, name")
        category = _text(item.get("category", _UNSTATED), f"{here}, category")
        if categories and category != _UNSTATED:
            checks.choice(category, categories, "category", f"{here}, category")
        article = _text(item.get("article", article_of(word)), f"{here}, article")
        numbers = [
            _number(item, key, most, here) for key, most in (("earnings", None), ("female_share", 100))
        ]
        rows.append((word, category, article, *numbers))
    frame = pd.DataFrame(rows, columns=["profession", "category", "article", "earnings", "female_share"])
    frame = frame.astype({"earnings": "Float64", "female_share": "Float64"})
    nouns = pd.DataFrame(pairs, columns=["noun_pair", "male", "female", "template"])
    said_name, said_source = data.get("name", name), data.get("source", "")
    for value, key in ((said_name, "name"), (said_source, "source")):
        if not isinstance(value, str):
            raise InputError("must be a text", where=f"{where}, {key}", found=value)
    out = Occupations(said_name, said_source, where, nouns, frame, control, dict(categories), units)
    for column, label in (("noun_pair", "noun pair"), ("profession", "profession")):
        values = (nouns if column == "noun_pair" else frame)[column]
        checks.distinct(values.tolist(), f"a {label}", where)
    sentences_made = out.sentences(control=True)["sentence"]
    if sentences_made.duplicated().any():
        raise InputError(
            "a sentence is made twice",
            where=where,
            found=sentences_made[sentences_made.duplicated()].iloc[0],
            valid="nouns and professions that differ, and a control that is none of the professions",
        )
    return out


def occupation_sentences(
    source: str | os.PathLike[str] | Mapping[str, Any] | Occupations = "occupations", *, control: bool = False
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
        ``sentence, noun_pair, noun, gender`` (male or female)``, profession, category, control`` (bool).
        First all male sentences, professions outer and nouns inner, then all female ones in the same order;
        then the control sentences likewise. That is the published order: row i and row i + 400 are a pair.

    Examples
    --------
    >>> sentences = occupation_sentences(control=True)
    >>> sentences.loc[[0, 400, 800], ["sentence", "noun_pair", "gender", "profession"]].values.tolist()[1:]
    [['She is a doctor.', 'He / She', 'female', 'doctor'], ['He is a person.', 'He / She', 'male', 'person']]
    """
    return load_occupations(source).sentences(control=control)


def _listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list | tuple) or not value:
        raise InputError("must be a list that is not empty", where=where, found=value)
    return list(value)


def _text(value: Any, where: str) -> str:
    return checks.text(value, where).strip()


def _number(item: Mapping[str, Any], key: str, most: float | None, where: str) -> float | None:
    value = item.get(key)
    if value is None:
        return None
    return checks.not_negative(value, f"{where}, {key}", most)


def _template(value: Any, where: str) -> str:
    text = _text(value, where)
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError as error:
        raise InputError(f"is not a template: {error}", where=where, found=text) from None
    fields = [name for _, name, _, _ in parts if name is not None]
    plain = all(not spec and not conversion for _, name, spec, conversion in parts if name is not None)
    if set(fields) - {"a"} != {"noun", "profession"} or not plain:
        raise InputError(
            "does not hold the right fields",
            where=where,
            found=text,
            valid="{noun} and {profession}, and perhaps {a}",
        )
    return text
