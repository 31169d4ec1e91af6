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


def open_answer(page, guess):
    """Open the answer to a guess, and wait until the page has seen it."""
    page.run(
        f"""(() => {{ document.querySelector('details[data-for="{guess}"] summary').click();
        return new Promise((resolve) => setTimeout(resolve, 50)); }})()"""
    )


def is_shown(page, selector):
    """Whether a part takes room on the page."""
    return page.run(f"document.querySelector('{selector}').getClientRects().length > 0")


def press(page, selector):
    page.run(f"document.querySelector('{selector}').click()")


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
    open_answer(page, "guess-stripes")
    sentiment = bb.sentiment_table(bb.list_predictions("m1"))
    for name, unit in (("sentences", "sentence_pair"), ("nouns", "noun_pair")):
        p = bb.paired_test(sentiment, unit=unit)["p_value"].iloc[0]
        shown = text_of(page, f"{name}-p")
        digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
        shown = float(shown.replace(" × 10⁻", "e-").translate(digits))
        assert shown == pytest.approx(p, rel=0.05)
    move(page, professions=1)
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


@pytest.mark.parametrize("first", ["answer", "slider"])
def test_the_result_of_part_2_waits_for_the_answer_or_the_slider(page, first):
    box = '.point[data-after="guess-stripes"]'
    assert text_of(page, "nouns-p") == text_of(page, "nouns-mean") == "?"
    assert not is_shown(page, box)
    if first == "answer":
        open_answer(page, "guess-stripes")
    else:
        move(page, professions=20)
    assert text_of(page, "nouns-p") == ".190"
    assert is_shown(page, box)


def test_the_table_of_part_4_waits_for_the_answer(page):
    label = 'small[data-after="guess-interval"]'
    assert not is_shown(page, label)
    open_answer(page, "guess-interval")
    assert is_shown(page, label)


def test_sds_of_zero_show_their_shares_and_lead_back(page):
    at_first = move(page)
    assert not is_shown(page, "#independent")
    assert not is_shown(page, "#no-sds-note")
    assert "8 words a class and 8 attributes a set" in text_of(page, "drawn-with")
    press(page, "#tables .no-sds")
    assert max(move(page).values()) < 45
    cells = page.run("[...document.querySelectorAll('#alarms .share')].map((c) => c.textContent)")
    shares = text_of(page, "independent-shares").split(", ")
    assert [share.split()[-1] for share in shares] == cells
    assert is_shown(page, "#independent")
    assert is_shown(page, "#no-sds-note")
    assert "0.00 (words), 0.00 (attributes)" in text_of(page, "drawn-with")
    move(page, difference=-0.05)
    assert not is_shown(page, "#independent")  # these are no false alarms
    press(page, "#no-sds-note .no-sds")
    assert move(page) == at_first
    assert not is_shown(page, "#no-sds-note")
    assert page.run("document.activeElement.textContent") == "Change the tables"


def test_each_button_sets_all_sliders(page):
    at_first = move(page)
    move(page, word_sd=0, attribute_sd=0, pair_sd=0.2, difference=0.1)
    press(page, 'button[data-set="attributes=4"]')
    values = "['words', 'attributes', 'word-sd', 'attribute-sd', 'pair-sd', 'difference']"
    code = f"{values}.map((name) => Number(document.getElementById(name).value))"
    assert page.run(code) == [2, 4, 0.03, 0.04, 0.08, 0]
    press(page, 'button[data-set=""]')
    assert move(page) == at_first


def test_intervals_beyond_the_figure_have_an_arrow(page):
    arrows = "document.querySelector('#crossed-figure .arrows').getAttribute('d')"
    assert page.run(arrows)
    assert is_shown(page, "#cut-note")


@pytest.mark.parametrize("width", [360, 1280])
def test_what_has_the_focus_or_is_linked_is_in_sight(page, path, width):
    page.resize(width, 740)
    page.open(path)
    code = """[...document.querySelectorAll('.lab input, .lab button')].filter((part) => {
      window.scrollTo({top: document.body.scrollHeight, behavior: 'instant'});
      document.documentElement.style.scrollBehavior = 'auto';
      part.focus();
      const box = part.closest('.slider, p').getBoundingClientRect();
      const seen = document.elementFromPoint(box.left + 20, box.top + 10);
      return box.top < 0 || seen.closest('.shown'); }).map((part) => part.id)"""
    assert page.run(code) == []
    code = """(() => { window.scrollTo(0, document.body.scrollHeight);
      document.querySelector('a[href="#words"]').click();
      const label = document.querySelector('label[for="words"]').getBoundingClientRect();
      const seen = document.elementFromPoint(label.left + 5, label.top + 5);
      return [label.top >= 0, seen.tagName]; })()"""
    assert page.run(code) == [True, "LABEL"]


def test_points_end_on_the_axis(page):
    code = """(() => { const figure = document.querySelector('#points-figure svg');
      const ends = [...figure.querySelectorAll('line')].filter((line) =>
        line.getAttribute('y1') === line.getAttribute('y2')).map((line) => line.getBBox());
      const axis = ends.at(-1);
      return [...figure.querySelectorAll('circle')].every((point) =>
        point.cx.baseVal.value <= axis.x + axis.width && point.cx.baseVal.value >= axis.x); })()"""
    assert page.run(code)


def test_counts_are_shown_in_narrow_windows(page, path):
    page.resize(360)
    page.open(path)
    assert is_shown(page, "#alarms .counts")
    assert page.run("document.querySelector('#row-crossed .counts').innerText") == "16 and 16"


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
