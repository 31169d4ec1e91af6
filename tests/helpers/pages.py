"""HTML pages in tests."""

import base64
import hashlib
import itertools
import re
from collections import Counter
from html.parser import HTMLParser

import pytest


def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw an empty figure for each section, since drawing takes most of the time of a page or a folder."""
    from matplotlib.figure import Figure

    from bayesbias.core.sections import Section

    monkeypatch.setattr(Section, "draw", lambda section: Figure(figsize=(1, 1)))


def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw each figure, but save an empty one: the layout and the saving of all have tests of their own."""
    from matplotlib.figure import Figure

    save = Figure.savefig
    empty = Figure(figsize=(1, 1))
    monkeypatch.setattr(Figure, "savefig", lambda _, *given, **more: save(empty, *given, **more))


VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """Tags, attributes and texts of a page, with a check that tags are closed in order."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self.open, self.comments = [], [], [], 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def handle_comment(self, data):
        self.comments += 1

    def of(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    def all_text(self):
        return " ".join(
            "".join(text for tag, text in self.texts if tag not in ("script", "style")).split()
        )


def check_structure(text: str) -> Page:
    """What holds for every report: closed tags, one script named by its hash, nothing from elsewhere."""
    parsed = Page(text)
    assert parsed.open == []
    assert parsed.comments == 0
    assert parsed.of("html") == [{"lang": "en"}]
    ids = Counter(attrs["id"] for _, attrs in parsed.tags if "id" in attrs)
    assert [name for name, n in ids.items() if n > 1] == []
    # Headings go down one level at a time.
    levels = [int(tag[1]) for tag, _ in parsed.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    # One script, our own, and the policy names its hash and forbids the rest.
    (script,) = [data for tag, data in parsed.texts if tag == "script"]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [attrs["content"] for attrs in parsed.of("meta") if "http-equiv" in attrs]
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "'unsafe-inline'" not in policy.split("script-src")[1]
    for tag, attrs in parsed.tags:
        assert not [name for name in attrs if name.startswith("on")], tag
        for name in ("src", "href", "srcset", "action", "data"):
            if name in attrs:
                assert attrs[name].startswith(("#", "data:")), (tag, attrs[name])
                assert not attrs[name].startswith("#") or attrs[name][1:] in ids, attrs[name]
        for used in re.findall(r"url\(([^)]*)\)", " ".join(str(v) for v in attrs.values())):
            assert used[1:] in ids
    assert not re.search(
        r"https?://", "".join(data for tag, data in parsed.texts if tag in ("script", "style"))
    )
    assert "@import" not in text
    assert "url(" not in "".join(data for tag, data in parsed.texts if tag == "style")
    figures = parsed.of("figure")
    drawings = [a for a in parsed.of("svg")] + [a for a in parsed.of("img")]
    assert len(drawings) == len(figures) > 2
    for attrs in parsed.of("svg"):
        assert attrs["role"] == "img"
        assert len(attrs["aria-label"]) > 20
    assert all(len(attrs["alt"]) > 20 for attrs in parsed.of("img"))
    return parsed
