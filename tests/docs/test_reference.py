"""The reference of names: each in one group, each with an example that runs, and what docstrings name is there."""

from __future__ import annotations

import doctest
import importlib
import re
from collections import Counter

import pytest

from tools.pages.docstrings import linked, parted, set_section
from tools.pages.reference import GROUPS, PACKAGE, find, of, page, public_names

NAMES = list(public_names().values())


def test_there_are_ten_groups_and_each_name_is_in_one():
    assert len(GROUPS) == 10
    count = Counter(public.path for group in GROUPS for public in of(group))
    assert set(count) == set(public_names())
    assert set(count.values()) == {1}
    assert len({public.name for public in NAMES}) == len(NAMES) > 170
    assert all((PACKAGE / folder).is_dir() for group in GROUPS for folder in group.folders)


@pytest.mark.parametrize("public", NAMES, ids=lambda public: public.path)
def test_every_public_name_has_words_and_an_example(public):
    """Of a class, that of one of its methods will do; examples in docstrings are run with the tests."""
    assert public.doc
    of_members = [doctest.DocTestParser().get_examples(doc) for _, _, doc in public.members()]
    assert public.examples or any(of_members)


def test_examples_of_constants_run():
    """Doctest does not look below an assignment, so they are run here."""
    constants = [public for public in NAMES if not callable(public.value)]
    assert len(constants) >= 3
    for public in constants:
        tests = doctest.DocTestParser().get_doctest(public.doc, {}, public.path, None, None)
        assert tests.examples
        assert doctest.DocTestRunner().run(tests).failed == 0


def is_there(name: str) -> bool:
    """Tell whether a whole name is public, or stands in a file of the package."""
    room, _, last = name.rpartition(".")
    return find(name) is not None or hasattr(importlib.import_module(room), last)


def test_what_docstrings_call_by_its_whole_name_is_there():
    """A name with a role is a promise of a link."""
    docs = [doc for public in NAMES for doc in (public.doc, *(doc for _, _, doc in public.members()))]
    whole = {name for doc in docs for name in re.findall(r"(?<!`)`(bayesbias\.[\w.]+)`(?!`)", doc)}
    linked_to = {name for doc in docs for name in re.findall(r":(?:func|class|meth):`([^`]+)`", doc)}
    assert len(whole | linked_to) > 15
    assert [name for name in whole if not is_there(name)] == []
    assert [name for name in linked_to if find(name) is None] == []


def test_names_are_found_as_they_are_written():
    assert find("fit") == find("bb.fit") == find("bayesbias.fit") == find("fit()") == "bayesbias.fit"
    assert find("plot_seat") == "bayesbias.plots.plot_seat"
    assert find("BiasFit.save") == "bayesbias.BiasFit.save"
    assert find("BiasFit.no_such") is None
    assert find("no_such") is None


def test_a_docstring_is_set_section_by_section():
    doc = "Measure `fit` and `x`.\n\nParameters\n----------\n*words : tuple of str\n    What |x| is.\ntable : PairTable\n"
    lead, parameters = parted(doc)
    assert linked(lead.text, find) == "Measure :py:obj:`fit <bayesbias.fit>` and ``x``."
    text = set_section(parameters, find)
    assert "**\\*words** : tuple of str\n    What \\|x| is." in text
    assert "**table** : :py:obj:`PairTable <bayesbias.PairTable>`\n" in text


def test_a_page_says_of_each_name_what_its_docstring_says():
    text = page(next(group for group in GROUPS if group.slug == "fits"))
    assert ".. py:function:: bayesbias.fit(table, model='default', *, draws=1000" in text
    assert ".. py:class:: bayesbias.BiasFit\n" in text  # made by functions, not by hand
    assert ".. py:method:: save(path)" in text
    assert "Its value is ``0.02``." in text
    assert ">>> bb.inference.ROPE" in text
