"""The reference of files: word lists, models, tables and runs, as the code that reads and writes them has them."""

from __future__ import annotations

from collections.abc import Iterator

from bayesbias.runs.kinds import LAYOUTS

from bayesbias.models.distributions import DISTRIBUTIONS
from bayesbias.models.loading import list_models, load_model
from bayesbias.tables.pair_table import COLUMNS
from bayesbias.wordlists.listfile import wordlist_template

__all__ = ["COLUMNS_OF_RESULTS", "COLUMNS_OF_TABLES", "MODEL_KEYS", "pages"]

MODEL_KEYS = {
    "schema": "1, the form of the file",
    "name, description, source, notes": "what a reader should know; shown with every result",
    "trim": "whether terms of which a table can say nothing are left out before the fit",
    "[likelihood] outcome": "the column that is modelled",
    "[likelihood] distribution": "`Normal`, or `StudentT` with `nu`",
    "[likelihood] mu": "the parameters that are added up to the mean of a row",
    "[likelihood] sigma, nu": "the parameter or number of the noise",
    "[likelihood] units": "the columns that together identify one observation; by default `protected_word` and `attribute`",
    "[parameter.NAME] distribution": "its prior, one of those below, with its arguments: numbers, or other parameters",
    "[parameter.NAME] dims": "the columns that it varies over; none for a single number",
    "[parameter.NAME] times": "a parameter that its spread is multiplied by, or a column of numbers: then it is a slope",
    "[parameter.NAME] only": 'a column and a label, `{ attribute_kind = "stereotype" }`: rows of other labels are without the term',
    "[results] group": "the column whose values are contrasted",
    "[results] fixed": "columns whose values are all there are; those of others are a sample of more",
    "[results.level.NAME] by, held": "a level that results are given for, and which columns are held as listed there",
    "[results.estimand.NAME] held": "an estimand besides `population` and `listed_words`, and which columns it holds as listed",
}
COLUMNS_OF_TABLES = {
    "protected_word, protected_class": "a word for a group of people, and the group",
    "attribute, attribute_class, attribute_kind": "the other word, its list, and `stereotype`, `human` or `neutral`",
    "connection": "`associated`, `different`, `human` or `neutral`; derived, never typed in; checked where it is there",
    "distance": "1 - cosine similarity, from 0 to 2",
}
COLUMNS_OF_RESULTS = {
    "connection": "the connection that a mean is of",
    "level, name": "overall, class, stereotype or word; and which one",
    "contrast": "what is subtracted from what",
    "estimand": "for whom the answer holds: `population`, `one_new_word`, `listed_words`",
    "mean, sd": "of the posterior",
    "hpdi_low, hpdi_high": "ends of the narrowest interval that holds `prob` of the posterior",
    "mcse_mean, mcse_sd, mcse_low, mcse_high": "Monte Carlo errors: of the column of that name, and of the ends of the interval; so for others",
    "prob": "probability of the interval",
    "ess_bulk, r_hat": "effective draws, and whether chains agree (below 1.01)",
    "p_below_zero": "posterior probability of a value below zero",
    "p_in_rope, rope": "posterior probability of practical equivalence, and its half-width",
    "unit": "what a standardized contrast is measured in",
    "superiority, superiority_low, superiority_high": "how often a random pair of the first is nearer than one of the second",
    "opposite, opposite_low, opposite_high": "share of new words that go the other way",
    "n_pairs": "how many rows there are",
}


def _table(head: tuple[str, str], rows: dict[str, str]) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "| --- | --- |"]
    for names, said in rows.items():
        section, _, rest = names.rpartition("] ")
        keys = ", ".join(f"`{key}`" for key in rest.split(", "))
        lines.append(f"| {f'`{section}]` ' if section else ''}{keys} | {said} |")
    return "\n".join(lines)


def _distributions() -> str:
    lines = ["| name | arguments | may be | of the noise |", "| --- | --- | --- | --- |"]
    for name, row in DISTRIBUTIONS.items():
        support = "any number" if row.support == "real" else "above zero"
        lines.append(
            f"| `{name}` | {', '.join(f'`{arg}`' for arg in row.args)} | {support} | {'yes' if row.noise else ''} |"
        )
    return "\n".join(lines)


def _models() -> str:
    parts = []
    for name in list_models():
        model = load_model(name)
        parts.append(
            f":::{{dropdown}} `{name}`: {model.description}\n```toml\n{model.text.strip()}\n```\n:::"
        )
    return "\n\n".join(parts)


def _runs() -> str:
    lines = ["| kind | files |", "| --- | --- |"]
    for kind, layout in LAYOUTS.items():
        names = [*layout.files, *layout.own_names, *(["figures/"] if layout.figures else [])]
        lines.append(f"| {kind} | {', '.join(f'`{name}`' for name in names)} |")
    return "\n".join(lines)


def pages() -> Iterator[tuple[str, bytes]]:
    """Yield a page each for word lists, models, and tables."""
    lists = f"""# Word lists

A TOML file, or a JSON file with the same keys. `bayesbias show template` prints what stands below, `bayesbias check-wordlist FILE`
says everything that is wrong with yours, and `bayesbias show religion` shows what is in one that is shipped.
[How to write one](../howto/own-list.md).

```toml
{wordlist_template().strip()}
```

Lists of other programs (WEFE's queries, tests of May et al., PsychWordVec, plain tables) are read too:
{{py:obj}}`bb.load_wordlist <bayesbias.load_wordlist>`.
"""
    models = f"""# Model files

A model is what is believed of a row before it is seen. `bayesbias show cells > mymodel.toml` gives one to edit, and
`--model mymodel.toml` or {{py:obj}}`bb.fit(table, "mymodel.toml") <bayesbias.fit>` fits it. [What the models mean](../methods/models.md).

{_table(("key", "what it is"), MODEL_KEYS)}

## Distributions

{_distributions()}

## The shipped models

{_models()}
"""
    tables = f"""# Tables and runs

## A table of distances

CSV or Parquet, one row a pair, read by {{py:obj}}`bb.load_distances <bayesbias.load_distances>` and `bayesbias fit --distances FILE`.

{_table(("columns", "what they are"), COLUMNS_OF_TABLES)}

Other columns are kept, and a model may name them. The published layout (`word_to_compare`) is read too.
{len(COLUMNS)} columns are those of every {{py:obj}}`PairTable <bayesbias.PairTable>`.

## Columns of results

The same in Python, in CSV files and in JSON.

{_table(("columns", "what they are"), COLUMNS_OF_RESULTS)}

## The files of a run

What `--out` and {{py:obj}}`bb.save_run <bayesbias.save_run>` write, by kind; a file that a run has nothing for is left out. Beside
them lies `run.json`: kind, settings, versions, the command, and size and SHA-256 of every file. {{py:obj}}`bb.load_run <bayesbias.load_run>` reads a folder back, and
[`bayesbias verify`](../damaged-files.md) checks it.

{_runs()}
"""
    for name, text in {"word-lists": lists, "model-files": models, "tables": tables}.items():
        yield f"reference/{name}.md", text.encode()
