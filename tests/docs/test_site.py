"""The site as it is built: no warning, every link leads somewhere, and a browser has nothing to complain of."""

from __future__ import annotations

import importlib.util
import json
import re
import resource
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from helpers.browser import chromium, console, served
from helpers.places import ROOT

pytestmark = pytest.mark.claim
MOST_BYTES = 1_000_000  # of a page with all it loads, but for notebooks with their figures
MOST_SECONDS = 60
# Made by Sphinx, without a text of ours.
LISTS = {"genindex.html", "search.html", "py-modindex.html"}


class Links(HTMLParser):
    """The names, the links and the files of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.names, self.links, self.files = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        has = dict(attrs)
        self.names |= {has[key] for key in ("id", "name") if has.get(key)}
        if tag == "a" and has.get("href"):
            self.links.append(has["href"])
        if tag in ("script", "img", "iframe", "source") and has.get("src"):
            self.files.append(has["src"])
        if tag == "link" and has.get("rel") in ("stylesheet", "icon", "preload"):
            self.files.append(has["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    for name in ("sphinx", "furo", "myst_nb", "sphinx_design"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed (extra `docs`, or `make docs`): the site is not built")
    out = tmp_path_factory.mktemp("site") / "html"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "tools.pages", out], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == ""
    assert after.ru_utime - before.ru_utime < MOST_SECONDS  # of the processor: others may be at work here
    return out


@pytest.fixture(scope="module")
def pages(site) -> dict[str, Links]:
    return {
        path.relative_to(site).as_posix(): Links(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }


def test_every_link_leads_to_a_page_and_a_place_on_it(site, pages):
    assert len(pages) > 25
    broken = []
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert parts.scheme in ("https", "mailto"), f"{name}: {link}"
                continue
            goal = (site / name).parent.joinpath(unquote(parts.path)).resolve() if parts.path else site / name
            inside = (
                goal.relative_to(site.resolve()).as_posix() if goal.is_relative_to(site.resolve()) else ""
            )
            there = goal.is_file() and (
                not parts.fragment or inside not in pages or unquote(parts.fragment) in pages[inside].names
            )
            if (not there and parts.fragment not in ("", "top")) or not goal.is_file():
                broken.append(f"{name}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere_and_no_page_is_heavy(site, pages):
    for name, page in pages.items():
        assert [file for file in page.files if urlsplit(file).scheme not in ("", "data")] == [], name
        local = {
            (site / name).parent / urlsplit(file).path for file in page.files if not file.startswith("data:")
        }
        weight = (site / name).stat().st_size + sum(path.stat().st_size for path in local)
        assert weight < MOST_BYTES or name.startswith("tutorials/"), f"{name}: {weight} bytes"
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", text) == [], path.name


def looked_at(folder: Path, names: list[str]) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """Open pages in a browser at two widths, light and dark; return what is wrong, the console, and what was asked for."""
    shutil.copy(Path(__file__).with_name("looking.js"), folder / "looking.js")
    harness = '<!DOCTYPE html><html lang="en"><title>looking</title><body><script src="looking.js"></script>'
    (folder / "looking.html").write_text(harness)
    (folder / "pages.json").write_text(json.dumps(names))
    with served(folder) as (address, asked, posted):
        done = chromium(
            "--window-size=1400,1000", "--virtual-time-budget=600000", "--dump-dom", f"{address}/looking.html"
        )
    result = json.loads(posted[0])
    assert result["looked"] == len(names)
    return result["said"], console(done.stderr), asked


def test_a_browser_has_nothing_to_complain_of(site, pages, tmp_path):
    names = [name for name in pages if name not in LISTS]
    folder = shutil.copytree(site, tmp_path / "site")
    said, printed, asked = looked_at(folder, names)
    assert said == {}
    assert printed == []
    assert {unquote(urlsplit(path).path).lstrip("/") for path in asked} >= set(names)


def test_what_is_wrong_with_a_page_would_be_seen(tmp_path):
    page = """<!DOCTYPE html><html lang="en"><meta name="viewport" content="width=device-width"><title>bad</title><body>
        <p style="color:#999;background:#fff">faint</p><article><pre style="width:900px">wide</pre></article>
        <p style="color:#767676;background:#fff">just enough</p><img src="gone.png"><img src="looking.js" alt="no picture">
        <script>console.error("oh");</script></body></html>"""
    (tmp_path / "bad.html").write_text(page)
    said, printed, _ = looked_at(tmp_path, ["bad.html"])
    wide, narrow = " ".join(said["bad.html at 1280"]), " ".join(said["bad.html at 390"])
    assert "light: p.: 2.85" in wide
    assert "just enough" not in wide
    assert "no alt" in wide
    assert "not there" in wide
    assert "scrolls" in narrow
    assert "scrolls" not in wide
    assert (
        len([line for line in printed if '"oh"' in line]) >= 2
    )  # once at each width; a busy browser may load it again


def test_a_page_reads_from_its_file_and_can_be_searched(site):
    home = chromium("--dump-dom", (site / "index.html").as_uri())
    assert console(home.stderr) == []
    assert "Which question, which model" in home.stdout
    found = chromium(
        "--virtual-time-budget=20000", "--dump-dom", (site / "search.html").as_uri() + "?q=interval"
    )
    assert console(found.stderr) == []
    hits = re.findall(r'<li class="kind-[^"]*"[^>]*>\s*<a href="([^"]+)"', found.stdout)
    assert len(hits) > 5
    assert all((site / urlsplit(hit).path).is_file() for hit in hits if not urlsplit(hit).scheme)


def test_print_loses_nothing(site, tmp_path):
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed (Debian's package `poppler-utils`): the print is not read")
    for name in ("index.html", "which-question.html", "reference/api/fits.html"):
        printed = tmp_path / "page.pdf"
        chromium("--no-pdf-header-footer", f"--print-to-pdf={printed}", (site / name).as_uri())
        done = subprocess.run(["pdftotext", "-raw", printed, "-"], capture_output=True, text=True, check=True)
        letters = "".join(re.findall(r"\w", done.stdout))
        article = re.search(r"<article.*</article>", (site / name).read_text(encoding="utf-8"), re.DOTALL)[0]
        words = re.findall(r"<(?:h1|h2|p|strong)>([\w ,?.']{8,40})", article)
        assert len(words) >= 5
        assert [text for text in words if "".join(re.findall(r"\w", text)) not in letters] == []
