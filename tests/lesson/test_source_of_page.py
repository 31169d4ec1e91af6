"""The source of the lesson page, without a browser."""

import re

import pytest

import bayesbias as bb
from bayesbias.core import InputError
from bayesbias.lesson.page import lesson_text


def test_the_source_is_small_and_asks_no_host():
    text = lesson_text()
    assert len(text.encode()) < 200_000
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//[^\"]*", text)
    assert "default-src 'none'" in text
    for name in re.findall(r'<(?:label|output) for="([\w-]+)"', text):
        assert f'id="{name}"' in text


def test_a_path_that_is_no_page_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected the path of an HTML file"):
        bb.lesson.write_lesson(tmp_path / "averaging.txt")
