"""Log probabilities of a sentence in the form of each group: columns ``sentid`` and ``GROUP_score``, as for Winogender."""

import pandas as pd

from bayesbias.studies.responses.readers.layout import Answers, Layout, Request, Source


def recognizes(source: Source) -> bool:
    """Say whether a table has a sentence id and two or more columns of scores."""
    scores = [name for name in source.columns if name.endswith("_score")]
    return "sentid" in source.columns and len(scores) > 1


def parts_of_ids(ids: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return occupation and sentence of ids such as ``technician.customer.1``.

    The participant of a sentence is called *participant*, unless two sentences of an occupation
    would then have one name.

    Examples
    --------
    >>> ids = pd.Series(["technician.customer.1", "technician.someone.1"])
    >>> parts_of_ids(ids)[1].tolist()
    ['participant.1', 'someone.1']
    """
    parts = ids.astype(str).str.split(".", n=1, expand=True).reindex(columns=[0, 1])
    item, rest = parts[0], parts[1].fillna("")
    general = rest.str.replace(r"^(?!someone)[^.]+", "participant", regex=True)
    named = pd.DataFrame({"id": ids, "item": item, "template": general}).drop_duplicates("id")
    if named.duplicated(["item", "template"]).any():
        return item, rest
    return item, general


def read(source: Source, request: Request) -> Answers:
    """Return a row a sentence and group; the occupation is the item."""
    rows = source.rows
    item, template = parts_of_ids(rows["sentid"])
    frame = rows.assign(item=item, template=template, model=rows.get("model", ""))
    scores = rows.filter(regex="_score$").columns
    long = frame.melt(["item", "template", "model"], scores, "group", "outcome")
    long["group"] = long["group"].str.removesuffix("_score")
    return Answers(long, outcome="log probability")


LAYOUT = Layout("logprob", recognizes, read)
