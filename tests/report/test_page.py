"""The report: one file that is whole in itself, says what the draws say, and shows every word as text."""

from __future__ import annotations

import base64
import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.draws import made_up_comparison
from helpers.pages import Page, check_structure, with_plain_pictures, without_pictures
from helpers.seeds import shifted

import bayesbias as bb
from bayesbias.cli.main import cli
from bayesbias.core.digits import as_known, ends_as_known, interval_known, number_known
from bayesbias.core.errors import InputError
from bayesbias.findings.of_result import finding
from bayesbias.findings.trust import convergence
from bayesbias.inference.reliability import LEFT_OUT
from bayesbias.plots.plates import Plate, on_axes
from bayesbias.plots.words import plates, plot_connections
from bayesbias.report import pictures, texts, words as words_page
from bayesbias.runs.change import write_comparison

pytestmark = pytest.mark.slow  # whole pages are drawn

PHRASE = ("a phrase of two hundred characters that somebody pasted into the list " * 3)[:199] + "."
EVIL = [
    "<script>alert(1)</script>",
    "שלום עולם",
    "👩🏽‍🚀",
    PHRASE,
    "$x_1$ & \"q\" 'r'",
    "]]>--><svg onload=x>",
]
SETTINGS = {"seed": shifted(1), "draws": 200, "tune": 300, "chains": 2, "pointwise": False}


def pairs_frame() -> pd.DataFrame:
    """Two classes of three words each, and among words and attributes those that a page could take for markup."""
    words = {"first <b>class</b>": EVIL[:3], "second": [*EVIL[3:5], "plain"]}
    attributes = {
        "first <b>class</b>": ["near", EVIL[5], "נמוך"],
        "second": ["far", "wide", "</td></table>"],
        "human": ["hand", "head", "\u202eesrever"],
        "neutral": ["door", "lamp", "leaf"],
    }
    rng = np.random.default_rng(5)
    rows = []
    for own, protected in words.items():
        for word in protected:
            for kind, others in attributes.items():
                connection = (
                    kind if kind in ("human", "neutral") else "associated" if kind == own else "different"
                )
                shift = -0.3 if connection == "associated" else 0.0
                rows += [(word, own, a, kind, connection, 0.9 + shift + rng.normal(0, 0.1)) for a in others]
    columns = ["protected_word", "protected_class", "attribute", "attribute_class", "connection", "distance"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture(scope="module")
def fit():
    return bb.fit(bb.load_distances(pairs_frame()), "crossed", **SETTINGS)


@pytest.fixture(scope="module")
def page(fit, tmp_path_factory) -> Path:
    return bb.write_report(fit, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def comparison():
    before = bb.distance_table("minilm-static", "religion", controls="2021")
    tables = {
        kind: bb.distance_table(debias("minilm-static", "religion").embedding, "religion", controls="2021")
        for kind, debias in {"hard <i>": bb.hard_debias, "soft": bb.soft_debias}.items()
    }
    return made_up_comparison(before, tables, draws=400, chains=2, seed=shifted(1))


def test_the_page_is_whole_in_itself(page):
    parsed = check_structure(page.read_text(encoding="utf-8"))
    sections = [attrs["id"] for attrs in parsed.of("section")]
    assert sections == ["answer", "data", "details", "model", "trust", "again", "reading"]


def test_the_page_says_what_the_draws_say(page, fit):
    text = Page(page.read_text(encoding="utf-8")).all_text()
    assert " ".join(finding(fit).split()) in text
    assert " ".join(convergence(fit).split()) in text
    row = fit.contrasts(estimand="population").iloc[0]
    assert number_known(row, "mean", signed=True) in text
    for r in fit.words().itertuples():
        assert interval_known(r) in text, r.protected_word
    assert " ".join(fit.spec.text.split()) in text
    assert fit.spec.sha256 in text
    assert f"bb.fit(table, 'crossed', seed={shifted(1)}, draws=200, tune=300, chains=2)" in text


def test_classes_stand_beside_their_lists_and_for_whom_they_hold(page, tmp_path, monkeypatch):
    """The words are those of the model's file: crossed holds the listed words of a class, cells the class alone."""
    without_pictures(monkeypatch)
    own = bb.fit(bb.load_distances(pairs_frame()), "default", **SETTINGS)
    text = Page(bb.write_report(own, tmp_path / "own.html").read_text(encoding="utf-8")).all_text()
    assert "For a class it holds for new words of the class." in text
    assert "Each class, and its list of stereotypes" in text
    assert "A single new word" in text
    row = own.contrasts(estimand="population", level="stereotype").iloc[0]
    assert number_known(row, "mean", signed=True) in text
    other = Page(page.read_text(encoding="utf-8")).all_text()
    assert "For a class it holds for its listed words, new attributes." in other
    assert "its list of stereotypes" not in other


def test_nothing_is_concluded_from_a_fit_that_has_not_converged(tmp_path, monkeypatch):
    without_pictures(monkeypatch)
    result = bb.fit(bb.load_distances(pairs_frame()), "crossed", **SETTINGS | {"draws": 20, "tune": 20})
    assert not result.diagnostics()["ok"]
    text = Page(bb.write_report(result, tmp_path / "x.html").read_text(encoding="utf-8")).all_text()
    top = text[text.index("The answer") : text.index("Data and coverage")]
    assert top.index("Not to be trusted yet") < top.index("no conclusion")
    assert "HPDI" not in top
    assert "below zero" not in top


def test_every_word_is_text(page):
    raw = page.read_text(encoding="utf-8")
    parsed = check_structure(raw)
    text = parsed.all_text()
    for word in [*EVIL, "</td></table>", "first <b>class</b>"]:
        assert " ".join(word.split()) in text, word
    assert len(parsed.of("script")) == 1
    assert not parsed.of("b")
    # The figures hold them as well, cut where they are long.
    drawn = " ".join(data for tag, data in parsed.texts if tag == "text")
    for word in [EVIL[0], EVIL[2], EVIL[4]]:
        assert word in drawn, word
    assert re.search(f"{PHRASE[:8]}[^…]*….*{PHRASE[-8:]}", drawn)
    # A word from right to left stands apart; an override of direction reaches no further than itself.
    assert "<bdi>שלום עולם</bdi>" in raw
    assert "\u202e" not in raw
    assert "\\u202eesrever" in raw


@pytest.mark.claim
def test_the_same_fit_gives_the_same_bytes(fit, page, tmp_path):
    assert bb.write_report(fit, tmp_path / "again.html").read_bytes() == page.read_bytes()


@pytest.mark.slow
def test_a_saved_fit_is_reported_with_the_settings_of_its_folder(fit, tmp_path, monkeypatch):
    without_pictures(monkeypatch)
    fit.save(tmp_path / "fit.nc")
    fit.contrasts(0.5, 0.05).to_csv(tmp_path / "contrasts.csv", index=False)
    of_folder = bb.write_report(tmp_path, tmp_path / "a.html").read_text(encoding="utf-8")
    of_file = bb.write_report(tmp_path / "fit.nc", tmp_path / "b.html").read_text(encoding="utf-8")
    asked = bb.write_report(fit, tmp_path / "c.html", prob=0.5, rope=0.05).read_text(encoding="utf-8")
    assert "50% HPDI" in of_folder
    assert "ROPE, ±0.05" in of_folder
    assert "bb.write_report(fit, &#39;report.html&#39;, prob=0.5, rope=0.05)" in of_folder
    assert "89% HPDI" in of_file
    assert "ROPE, ±0.02" in of_file
    assert of_folder == asked


def test_a_fit_of_one_connection_has_a_report(tmp_path, monkeypatch):
    with_plain_pictures(monkeypatch)
    frame = pairs_frame()
    table = bb.load_distances(frame[frame["connection"] == "neutral"])
    result = bb.fit(table, "crossed", **SETTINGS)
    text = bb.write_report(result, tmp_path / "one.html").read_text(encoding="utf-8")
    assert "no two connections to hold against each other" in check_structure(text).all_text()


def test_reliability_stands_in_the_appendix(fit, page):
    """Each coefficient that the model has, with its interval; what it has not is named with its reason."""
    found = check_structure(page.read_text(encoding="utf-8"))
    frame = fit.reliability()
    for row in frame[frame["left_out"] == ""].itertuples():
        assert interval_known(row) in found.all_text()
    reasons = set(frame["left_out"]) - {""}
    assert reasons
    assert all(LEFT_OUT[reason] in found.all_text() for reason in reasons)


def test_bad_runs_are_refused_and_nothing_is_written(fit, tmp_path):
    out = tmp_path / "report.html"
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "run.nc").write_bytes(b"no netCDF")
    (tmp_path / "run.txt").write_text("x")
    broken = tmp_path / "broken"
    broken.mkdir()
    fit.save(broken / "fit.nc")
    (broken / "contrasts.csv").write_text("a,b\n1,2\n")
    for run, says in [
        (empty, "holds no run"),
        (tmp_path / "runs.nc", "no such file or folder.*did you mean 'run.nc'"),
        (tmp_path / "run.nc", "cannot be read as netCDF"),
        (tmp_path / "run.txt", "is no run"),
        (broken, "no table of contrasts"),
    ]:
        with pytest.raises(InputError, match=says):
            bb.write_report(run, out)
    for path, says in [(tmp_path / "report.pdf", "HTML file"), (empty / "x.html" / "..", "HTML file")]:
        with pytest.raises(InputError, match=says):
            bb.write_report(fit, path)
    with pytest.raises(InputError, match="must lie between 0 and 1"):
        bb.write_report(fit, out, prob=1.0)
    with pytest.raises(InputError, match="rope: must be a finite number above 0"):
        bb.write_report(fit, out, rope=0.0)
    assert not out.exists()


def test_a_new_figure_is_on_the_page_without_a_change_of_the_page(fit, tmp_path, monkeypatch):
    without_pictures(monkeypatch)
    known = plates(fit)
    new = Plate("new_one", on_axes(plot_connections, fit), (7, 3), "caption", "alt")
    monkeypatch.setattr(words_page, "plates", lambda *_, **__: [*known, new])
    parsed = Page(bb.write_report(fit, tmp_path / "report.html").read_text(encoding="utf-8"))
    on_page = [attrs["id"] for attrs in parsed.of("figure")]
    assert sorted(on_page) == sorted(f"figure-{plate.name}" for plate in [*known, new])
    assert "More figures" in parsed.all_text()


def test_very_many_shapes_become_a_picture(fit, monkeypatch):
    monkeypatch.setattr(pictures, "_LARGEST_SVG", 1000)
    plate = Plate("x", on_axes(plot_connections, fit), (7, 3), "caption", 'alt "text" <b>')
    picture = pictures.as_picture(plate)
    assert (picture.id, picture.caption) == ("figure-x", "caption")
    (attrs,) = Page(str(picture.content)).of("img")
    assert attrs["alt"] == 'alt "text" <b>'
    assert base64.b64decode(attrs["src"].removeprefix("data:image/png;base64,")).startswith(b"\x89PNG")
    assert (attrs["width"], attrs["height"]) == ("1400", "600")


def test_characters_that_no_file_can_hold_are_shown_as_such():
    shown = r"a\x00b\ud800c\u202ed" + "\te👩🏽‍🚀"
    assert str(texts.escaped("a\x00b\ud800c\u202ed\te👩🏽‍🚀")) == shown
    assert str(texts.escaped("<i>, שלום, אב")) == "&lt;i&gt;, <bdi>שלום</bdi>, <bdi>אב</bdi>"


@pytest.mark.claim
def test_a_comparison_says_what_the_method_forces_before_its_results(comparison, tmp_path, monkeypatch):
    with_plain_pictures(monkeypatch)
    (tmp_path / "run").mkdir()
    write_comparison(comparison, tmp_path / "run")
    comparison.contrasts(0.8, 0.03).to_csv(tmp_path / "run" / "contrasts.csv", index=False)
    out = tmp_path / "report.html"
    done = CliRunner().invoke(
        cli, ["report", str(tmp_path / "run"), "--out", str(out)], catch_exceptions=False
    )
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == f"written: {out}\n"
    raw = out.read_text(encoding="utf-8")
    parsed = check_structure(raw)
    text = parsed.all_text()
    assert not parsed.of("i")
    answer = text.index("The answer")
    forced = text.index("BY CONSTRUCTION", answer)
    gap = text.index("hard <i>: of new words treated likewise, associated - different was", answer)
    assert answer < forced < gap < text.index("Data and coverage", gap)
    assert "80% HPDI" in text
    row = comparison.contrasts(0.8, 0.03, "population", "hard <i>").iloc[0]
    assert (
        f"changed by {as_known(row, 'mean', signed=True)} (80% HPDI {' to '.join(ends_as_known(row, signed=True))}"
        in text
    )
    for name, item in comparison.methods.items():
        for r in item.construction.means.itertuples():
            assert f"{r.after:.4f}" in text, (name, r.connection)
    assert "hard <i> against soft: " in text
    assert "'soft': bb.distance_table(" in text
    assert f"bb.compare(before, after, 'change', seed={shifted(1)}" in text


@pytest.mark.slow
def test_the_command_refuses_a_bad_run(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "bayesbias.cli", "report", str(tmp_path), "--out", str(tmp_path / "x.html")],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 2
    assert "holds no run" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


# -- in a browser ---------------------------------------------------------------------------------

HARNESS = """<!DOCTYPE html><html><head><link rel="icon" href="data:,"></head><body>
<iframe src="/report.html" width="360" height="800" style="border:0"></iframe><pre id="result"></pre><script>
document.querySelector("iframe").onload = event => {
  const inner = event.target.contentWindow, page = inner.document, said = {};
  const width = () => page.documentElement.scrollWidth;
  said.inner = inner.innerWidth;
  said.closed = width();
  page.querySelectorAll("details").forEach(part => part.open = true);
  said.open = width();
  said.requests = inner.performance.getEntriesByType("resource").map(r => r.name).filter(n => !n.startsWith("data:"));
  const table = page.querySelector("#t-words + div table") ?? page.querySelector("table");
  const numbers = place => [...table.tBodies[0].rows].map(row => Number(row.cells[place].dataset.v));
  const place = [...table.tHead.rows[0].cells].findIndex((_, k) => k > 1 && !numbers(k).some(Number.isNaN));
  const column = () => numbers(place);
  said.before = column();
  const button = table.tHead.rows[0].cells[place].querySelector("button");
  button.click(); said.up = column();
  button.click(); said.down = column();
  said.sorted = table.tHead.rows[0].cells[place].getAttribute("aria-sort");
  said.smallest = Math.min(...[...page.querySelectorAll("p, li, td, th, dd, figcaption")].map(
    x => parseFloat(inner.getComputedStyle(x).fontSize)));
  document.getElementById("result").textContent = JSON.stringify(said);
};
</script></body></html>"""


@pytest.fixture
def chromium():
    """Return a function that runs headless Chromium; skip where it is not installed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip(
            "Chromium is not installed (Debian's package `chromium`): the page is not opened in a browser"
        )

    def run(*arguments: str) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            return subprocess.run(
                [
                    program,
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-quic",
                    "--no-first-run",
                    "--disable-background-networking",
                    "--disable-component-update",
                    "--disable-sync",
                    f"--user-data-dir={profile}",
                    "--enable-logging=stderr",
                    *arguments,
                ],
                capture_output=True,
                text=True,
                timeout=600,
            )

    return run


@pytest.fixture
def served():
    """Serve pages from memory; return the address, the pages and what was asked for."""
    pages: dict[str, bytes] = {}
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            content = pages.get(self.path)
            self.send_response(200 if content is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_):
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", pages, asked
    server.shutdown()
    thread.join()
    server.server_close()


def console(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if ":CONSOLE" in line]


@pytest.mark.claim
@pytest.mark.parametrize("which", ["fit", "comparison"])
def test_a_browser_has_nothing_to_complain_of(which, chromium, served, tmp_path, request):
    address, pages, asked = served
    path = bb.write_report(request.getfixturevalue(which), tmp_path / "report.html")
    pages["/report.html"] = path.read_bytes()
    pages["/harness.html"] = HARNESS.encode()
    done = chromium("--virtual-time-budget=5000", "--dump-dom", f"{address}/harness.html")
    assert console(done.stderr) == []
    (result,) = re.findall(r'<pre id="result">(\{.*?\})</pre>', done.stdout, re.S)
    said = json.loads(result)
    assert said["inner"] == 360
    assert said["closed"] <= 360
    assert said["open"] <= 360
    assert said["smallest"] >= 12
    assert said["requests"] == []
    assert sorted(asked) == ["/harness.html", "/report.html"]
    assert said["up"] == sorted(said["before"])
    assert said["down"] == said["up"][::-1]
    assert said["sorted"] == "descending"


@pytest.mark.claim
def test_the_policy_stops_what_the_page_should_not_do(chromium, served, page):
    """What the tests above do not find would be found: a picture and a script put in are refused and reported."""
    address, pages, asked = served
    put_in = f'<img src="{address}/spy.png"><script>document.title = "taken"</script></body>'
    pages["/report.html"] = page.read_text(encoding="utf-8").replace("</body>", put_in).encode()
    done = chromium("--virtual-time-budget=3000", "--dump-dom", f"{address}/report.html")
    assert len(console(done.stderr)) == 2
    assert all("Content Security Policy" in line for line in console(done.stderr))
    assert asked == ["/report.html"]
    assert "<title>taken" not in done.stdout


@pytest.mark.claim
@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_nothing_is_lost_in_print(script, chromium, page, tmp_path):
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (Debian's package `poppler-utils`): the print is not read")
    raw = page.read_text(encoding="utf-8")
    parsed = Page(raw)
    if not script:
        raw = re.sub(r"<script>.*</script>", "", raw, flags=re.S)
    source, printed = tmp_path / "page.html", tmp_path / "page.pdf"
    source.write_text(raw, encoding="utf-8")
    chromium("--no-pdf-header-footer", f"--print-to-pdf={printed}", source.as_uri())
    done = subprocess.run(["pdftotext", "-layout", printed, "-"], capture_output=True, text=True, check=True)
    numbers = {data for tag, data in parsed.texts if tag == "td" and re.fullmatch(r"[+−]?\d+\.\d+", data)}
    assert len(numbers) > 50
    assert [x for x in numbers if x not in done.stdout] == []
    letters = "".join(re.findall(r"\w", done.stdout))
    for tag, data in parsed.texts:
        word = "".join(re.findall(r"[A-Za-z0-9_]", data))
        if tag in ("bdi", "summary", "h2", "h3", "dd") and len(word) <= 12:
            assert word in letters, data
    assert "".join(re.findall(r"\w", PHRASE[:30])) in letters
    assert "<script>alert(1)</script>" in done.stdout
