"""The page: the result first, all else folded."""

import re

import bayesbias as bb
from output.results import MAKERS


def test_the_result_comes_first_and_all_else_is_folded(tmp_path):
    result = MAKERS["sentiment"]()
    page = bb.write_report(result, tmp_path / "page.html").read_text(encoding="utf-8")
    body = page[page.index("<body>") :]
    first = re.sub(r"(?s)<details.*?</details>", "", body)
    said = bb.interpret(result)
    assert said.headline in first
    for warning in said.warnings:
        assert warning.replace("<", "&lt;") in first
    assert len(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<script.*?</script>", "", first)).split()) < 250
    assert len(re.findall("<table", first)) == 1
    assert len(re.findall("<details", body)) > 5
    assert "width=device-width" in page
