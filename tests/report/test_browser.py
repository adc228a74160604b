"""The page in a real browser: Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pages import HOSTILE, HOSTILE_ID, PROBLEMS

pytestmark = pytest.mark.slow

playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")

_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if path is None:
        pytest.skip(f"needs a browser: none of {', '.join(_BROWSERS)} is installed")
    with playwright.sync_playwright() as driver:
        # A new folder for the user's data is what Playwright takes by itself.
        browser = driver.chromium.launch(executable_path=path, args=_FLAGS, timeout=120_000)
        yield browser
        browser.close()


class Opened:
    """A page in the browser with what went wrong on it and what it asked the network for."""

    def __init__(self, browser: Any, path: Path, fragment: str = "", **settings: Any) -> None:
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.problems.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri() + fragment)
        self.page.wait_for_selector("html[data-ready]")

    def listed(self) -> list[str]:
        return list(self.page.locator("#problems tbody tr th").all_inner_texts())


@pytest.fixture
def opened(browser: Any, page: Path) -> Iterator[Opened]:
    opened = Opened(browser, page)
    yield opened
    opened.context.close()


def test_renders_without_errors_or_requests(opened: Opened, page: Path) -> None:
    assert opened.problems == []
    assert opened.requests == [page.as_uri()]
    assert opened.page.locator("figure svg").count() > 5
    assert sorted(opened.listed()) == sorted(problem.id for problem in PROBLEMS)
    assert opened.page.inner_text("#count") == f"{len(PROBLEMS)} of {len(PROBLEMS)} problems"


def test_hostile_text_stays_text(opened: Opened) -> None:
    names = list(HOSTILE)
    shown = {
        "separators": "a\\u2028b\\u2029c",
        "bidi": "a\\u202eb\\u2066c\\u200bd",
        "null": "a\\x00b\\x1b[31mc",
        "surrogate": "a\\ud800b",
    }
    for number, problem in enumerate(PROBLEMS):
        opened.page.evaluate("id => { location.hash = '#' + encodeURIComponent(id); }", problem.id)
        opened.page.wait_for_function(
            "id => document.querySelector('#title-problem')?.textContent === id", arg=problem.id
        )
        if number != 1:
            name = names[number % len(names)]
            completion = opened.page.locator("#problem pre[aria-label=Completion]").first.text_content()
            assert completion.startswith(shown.get(name, HOSTILE[name]) + "\n")
    assert opened.page.evaluate("window.pwned") is None
    assert opened.page.locator("img").count() == 0
    assert opened.page.locator("script").count() == 2
    assert opened.problems == []


def test_the_policy_stops_scripts_that_get_in_all_the_same(opened: Opened) -> None:
    opened.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.pwned = 1'; document.body.append(s); }"
    )
    assert opened.page.evaluate("window.pwned") is None
    assert any("Content Security Policy" in problem for problem in opened.problems)


def test_a_problem_opens_with_answer_verdict_and_difference(opened: Opened) -> None:
    opened.page.get_by_role("link", name=PROBLEMS[0].id, exact=True).click()
    article = opened.page.locator("#problem")
    assert article.locator("h3").inner_text() == PROBLEMS[0].id
    assert article.locator(".code").text_content() == PROBLEMS[0].code
    assert article.locator(".code span[class=k]").count() > 0
    passed, failed = article.locator("section").first.locator(".sample").all()
    assert passed.locator("h5").inner_text() == "Sample 1 of 3: passed"
    assert passed.locator("pre mark").inner_text() == PROBLEMS[0].output
    assert failed.locator("h5").inner_text() == "Samples 2, 3 of 3: wrong"
    values = failed.locator("dd").all_inner_texts()
    assert "'no function here returns this'" in values
    assert PROBLEMS[0].output in values
    assert failed.locator("mark.differs").count() > 0
    assert opened.page.evaluate("document.activeElement.id") == "title-problem"
    assert not opened.page.locator("#list").is_visible()
    article.get_by_text("Prompt of run 1").click()
    assert "== ??" in article.locator("pre[aria-label=Prompt]").inner_text()


def test_keyboard_alone_opens_a_problem_and_goes_back(opened: Opened) -> None:
    page = opened.page
    page.locator("#filter-text").focus()
    page.keyboard.type("def f")
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('#problems tbody') !== null"):
            break
    first = opened.listed()[0]
    page.keyboard.press("Enter")
    page.wait_for_selector("#title-problem")
    assert page.inner_text("#title-problem") == first
    page.keyboard.press("Escape")
    page.wait_for_selector("#list", state="visible")
    assert page.evaluate("document.activeElement.textContent") == first


def test_a_link_leads_straight_to_a_problem(browser: Any, page: Path) -> None:
    for key in (PROBLEMS[3].id, HOSTILE_ID):
        opened = Opened(browser, page, "#" + quote(key))
        assert opened.page.inner_text("#title-problem") == key
        assert not opened.page.locator("#list").is_visible()
        assert opened.problems == []
        opened.context.close()


def test_an_unknown_link_shows_the_list(browser: Any, page: Path) -> None:
    opened = Opened(browser, page, "#sample_9999%")
    assert opened.page.locator("#list").is_visible()
    assert opened.problems == []
    opened.context.close()


def test_filters(opened: Opened) -> None:
    page = opened.page
    odd = [problem.id for number, problem in enumerate(PROBLEMS) if number % 2]
    even = [problem.id for number, problem in enumerate(PROBLEMS) if not number % 2]

    page.select_option("#filter-run", "2")  # the input run, which solves every other problem
    page.select_option("#filter-passed", "all")
    assert sorted(opened.listed()) == sorted(odd)
    page.select_option("#filter-passed", "none")
    assert sorted(opened.listed()) == sorted(even)
    assert page.inner_text("#count") == f"{len(even)} of {len(PROBLEMS)} problems"
    page.select_option("#filter-passed", "some")
    assert opened.listed() == []

    page.click("text=Clear")
    page.wait_for_function(f"document.querySelectorAll('#problems tbody tr').length === {len(PROBLEMS)}")
    page.select_option("#filter-run", "0")  # one of three samples passes on each problem
    page.select_option("#filter-passed", "some")
    assert len(opened.listed()) == len(PROBLEMS)
    page.select_option("#filter-status", "wrong")
    assert len(opened.listed()) == len(PROBLEMS)
    page.select_option("#filter-run", "1")  # all of its samples pass
    page.select_option("#filter-passed", "")
    assert opened.listed() == []

    page.click("text=Clear")
    page.wait_for_function(f"document.querySelectorAll('#problems tbody tr').length === {len(PROBLEMS)}")
    page.fill("#filter-text", "</SCRIPT>")
    assert opened.listed() == [HOSTILE_ID]
    page.fill("#filter-text", "")
    page.select_option("#filter-type", "str")
    strings = [problem.id for problem in PROBLEMS if problem.output.startswith(("'", '"'))]
    assert sorted(opened.listed()) == sorted(strings)
    page.select_option("#filter-type", "")
    page.check("#filter-differ")  # the two output runs: one in three against all
    assert len(opened.listed()) == len(PROBLEMS)


def test_sorting(opened: Opened) -> None:
    page = opened.page
    heading = page.locator("#problems th:has(button[data-sort=run2])")
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    rates = [row.split("/")[0] for row in page.locator("#problems tbody td:nth-child(5)").all_inner_texts()]
    assert rates == sorted(rates)
    assert set(rates) == {"0", "1"}
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    turned = [row.split("/")[0] for row in page.locator("#problems tbody td:nth-child(5)").all_inner_texts()]
    assert turned == rates[::-1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_is_wider_than_the_window_and_text_stands_out(
    browser: Any, page: Path, scheme: str, width: int
) -> None:
    for fragment in ("", f"#{PROBLEMS[1].id}"):
        opened = Opened(browser, page, fragment, viewport={"width": width, "height": 800}, color_scheme=scheme)
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.page.evaluate(_LEAST_CONTRAST) >= 4.5  # what WCAG 2 asks of text, level AA
        opened.context.close()


_LEAST_CONTRAST = """() => {
  const channels = (text) => text.match(/[0-9.]+/g).map(Number);
  const luminance = (text) => channels(text).slice(0, 3).map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor, [, , , alpha = 1] = channels(colour);
      if (alpha > 0) return colour;
    }
    return getComputedStyle(document.body).backgroundColor;
  };
  let least = 21;
  for (const element of document.querySelectorAll("body *:not(script):not(style):not(noscript)")) {
    const texts = [...element.childNodes].filter((n) => n.nodeType === 3 && n.textContent.trim());
    if (!texts.length || !element.getClientRects().length || element.closest("[aria-hidden], option")) continue;
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
    least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
  }
  return least;
}"""
