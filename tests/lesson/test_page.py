"""The page of the lesson in a real browser: sliders, steps, guesses, keyboard, narrow windows."""

import pytest
from helpers.chromium import Chromium, browser

import bayesbias as bb

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(browser() is None, reason="needs Chromium, which is not installed"),
]
SHARES = (
    "[...document.querySelectorAll('#alarms .share')].map((cell) => Number(cell.dataset.count))"
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return bb.lesson.write_lesson(tmp_path_factory.mktemp("lesson") / "averaging.html")


@pytest.fixture
def page(path, tmp_path):
    with Chromium(tmp_path / "profile") as window:
        window.open(path)
        assert window.run("document.documentElement.dataset.ready") == "true"
        yield window
        assert window.errors == []
        assert {url for url in window.requests if not url.startswith("data:")} == {path.as_uri()}


def move(page, **values):
    """Move sliders, as a user does, and return the counts of the five tests."""
    for name, value in values.items():
        page.run(
            f"(() => {{ const slider = document.getElementById('{name.replace('_', '-')}');"
            f"slider.value = {value}; slider.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
        )
    return dict(
        zip(("pairs", "manzini", "weat", "words", "crossed"), page.run(SHARES), strict=True)
    )


def text_of(page, name):
    return page.run(f"document.getElementById('{name}').textContent")


def test_sliders_draw_tables_again(page):
    few = move(page)
    assert few["pairs"] > 3 * 20 > few["crossed"]  # 20 of 400 are 5%
    more_attributes = move(page, attributes=4)
    assert more_attributes["pairs"] > few["pairs"]
    assert more_attributes["words"] < few["words"]
    more_words = move(page, attributes=2, words=4)
    for name in ("pairs", "manzini", "weat", "words"):
        assert more_words[name] > 1.5 * few[name]
    assert more_words["crossed"] < 40
    assert int(page.run("document.getElementById('pairs-coverage').dataset.count")) < 300
    assert int(page.run("document.getElementById('crossed-coverage').dataset.count")) > 360
    independent = move(page, words=2, word_sd=0, attribute_sd=0)
    assert max(independent.values()) < 45
    assert "False alarms" in text_of(page, "alarms-caption")
    found = move(page, difference=-0.08)
    assert min(found.values()) > 300
    assert "False alarms" not in text_of(page, "alarms-caption")
    before = move(page, difference=0)
    page.run("document.getElementById('again').click()")
    assert page.run(SHARES) != list(before.values())


def test_real_numbers_are_those_of_the_package(page):
    table = bb.distance_table("minilm-static", "gender", controls="none")
    row = bb.simulation.crossed_intervals(table, 0.95).iloc[0]
    expected = f"[{row['low']:.3f}, {row['high']:.3f}]".replace("-", "−")
    assert text_of(page, "real-crossed-interval") == expected
    assert text_of(page, "real-crossed") == f"{row['estimate']:.3f}".replace("-", "−")
    sentiment = bb.sentiment_table(bb.list_predictions("m1"))
    for name, unit in (("sentences", "sentence_pair"), ("nouns", "noun_pair")):
        p = bb.paired_test(sentiment, unit=unit)["p_value"].iloc[0]
        shown = text_of(page, f"{name}-p")
        digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
        shown = float(shown.replace(" × 10⁻", "e-").translate(digits))
        assert shown == pytest.approx(p, rel=0.05)
    page.run(
        "(() => { const s = document.getElementById('professions'); s.value = 1;"
        "s.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    assert text_of(page, "sentences-n") == "20"
    assert text_of(page, "sentences-p") == text_of(page, "nouns-p")


def test_answers_are_hidden_until_asked_and_know_the_guess(page):
    assert page.run("document.querySelectorAll('details[open]').length") == 0
    page.run("document.querySelectorAll('input[name=\"guess-words\"]')[2].click()")
    page.run("document.querySelector('details[data-for=\"guess-words\"] summary').click()")
    shown = page.run("document.querySelector('details[data-for=\"guess-words\"]').innerText")
    assert "That is right" in shown
    page.run("document.getElementById('open-all').click()")
    assert page.run("document.querySelectorAll('details:not([open])').length") == 0


def test_steps_average_to_one_number(page):
    marks = "document.querySelectorAll('#points-figure circle, #points-figure svg > rect').length"
    counts = []
    for step in range(4):
        page.run(f"document.querySelectorAll('input[name=step]')[{step}].click()")
        counts.append(page.run(marks))
    assert counts == [350, 28, 4, 2]
    assert "−0.070" in text_of(page, "points-figure")


def test_keys_alone_move_a_slider(page):
    before = move(page)
    page.run("document.querySelector('button[data-set]:last-of-type').focus()")
    page.press("Tab")
    assert page.run("document.activeElement.id") == "words"
    page.press("ArrowRight")
    assert text_of(page, "words-value") == "16"
    assert page.run(SHARES) != list(before.values())


def test_all_that_is_moved_or_chosen_has_a_name(page):
    code = """[...document.querySelectorAll('input')].filter((input) => !input.labels.length ||
      !input.labels[0].textContent.trim()).length"""
    assert page.run(code) == 0
    assert page.run(
        "[...document.querySelectorAll('svg')].every((svg) => svg.getAttribute('aria-label'))"
    )
    assert page.run(
        "[...document.querySelectorAll('fieldset')].every((set) => set.querySelector('legend'))"
    )


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_no_part_is_wider_than_the_window(page, path, width):
    page.resize(width)
    page.open(path)
    page.run("document.getElementById('open-all').click()")
    assert page.run("document.documentElement.scrollWidth") == width
    wide = """[...document.querySelectorAll('.scroll, .plot')].filter((part) =>
      part.scrollWidth > part.clientWidth + 1).map((part) => part.innerText.slice(0, 40))"""
    assert page.run(wide) == []
    cut = """[...document.querySelectorAll('svg text')].filter((text) => {
      const box = text.getBoundingClientRect(), svg = text.ownerSVGElement.getBoundingClientRect();
      return box.left < svg.left - 1 || box.right > svg.right + 1; }).map((text) => text.textContent)"""
    assert page.run(cut) == []


def test_it_prints(page, tmp_path):
    assert page.printed(tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
