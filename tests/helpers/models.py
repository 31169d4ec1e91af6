"""A model of one's own."""

from __future__ import annotations

from bayesbias.models.spec import ModelSpec, list_models, load_model, parse_model

# A model of one's own: a mean with three terms, a spread per kind, Student-t noise with numbers and parameters.
OWN = """\
schema = 1
name = "own"
description = "for the tests"
source = "these tests"
notes = ["one note"]

[likelihood]
outcome = "distance"
distribution = "StudentT"
nu = 4
mu = ["word_by_connection", "attribute_effect", "shift"]
sigma = "sigma"

[parameter.word_by_connection]
dims = ["protected_word", "connection"]
distribution = "Normal"
mu = "connection_mean"
sigma = "word_by_connection_sd"

[parameter.connection_mean]
dims = ["connection"]
distribution = "Normal"
mu = 1
sigma = 0.3

[parameter.word_by_connection_sd]
dims = ["connection"]
distribution = "Exponential"
lam = 2

[parameter.attribute_effect]
dims = ["attribute"]
distribution = "Normal"
mu = 0
sigma = "attribute_sd"

[parameter.attribute_sd]
dims = ["attribute_kind"]
distribution = "Exponential"
lam = 2

[parameter.shift]
distribution = "StudentT"
nu = 3
mu = 0
sigma = 0.1

[parameter.sigma]
dims = ["attribute_kind", "connection"]
distribution = "HalfNormal"
sigma = 0.5
"""


MODELS = [*list_models(), "own"]


def own(*edits: tuple[str, str], where: str = "own.toml"):
    text = OWN
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    return parse_model(text.encode(), where)


def spec_of(name: str):
    return own() if name == "own" else load_model(name)


# Slopes: of two covariates about words, of one about attributes, by connection, class, list and, scattering, by attribute.
SLOPES = """
[parameter.a]
dims = ["connection"]
distribution = "Normal"
mu = 0
sigma = 0.1
times = "frequency"
[parameter.y]
dims = ["protected_class"]
distribution = "Normal"
mu = 0.05
sigma = "ysd"
times = "year"
[parameter.ysd]
distribution = "Exponential"
lam = 10
[parameter.h]
distribution = "Normal"
mu = 0
sigma = 0.2
times = "age"
[parameter.r]
dims = ["attribute"]
distribution = "Normal"
mu = 0
sigma = "rsd"
times = "frequency"
[parameter.rsd]
dims = ["attribute_kind"]
distribution = "HalfNormal"
sigma = 0.1
"""


def slopes_model(*terms: str) -> ModelSpec:
    """Return the model cells with slopes: all of them, or some."""
    terms = terms or ("a", "y", "h", "r")
    chosen = [part for part in SLOPES.strip().split("[parameter.")[1:] if part[0] in terms]
    needed = "".join(f"[parameter.{part}" for part in chosen)
    names = ", ".join(f'"{term}"' for term in terms)
    text = load_model("default").text.replace('"word_effect"]', f'"word_effect", {names}]')
    return parse_model((text + "\n" + needed).encode(), "slopes")
