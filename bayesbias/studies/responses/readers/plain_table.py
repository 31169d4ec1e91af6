"""Any table with a row an answer, whose columns have usual names or are named by the user."""

from bayesbias.studies.responses.readers.layout import Answers, Layout, Request, Source


def recognizes(source: Source) -> bool:
    """Take any file that no other layout recognizes."""
    return True


def read(source: Source, request: Request) -> Answers:
    """Return the rows as they are."""
    return Answers(source.rows)


LAYOUT = Layout("table", recognizes, read, is_open=True)
