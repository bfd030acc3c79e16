"""The pages in a browser, without JavaScript, wide and narrow, light and dark."""

import re
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from urllib.parse import urldefrag, urljoin

import httpx
import pytest
from playwright.async_api import Browser, Page

from tests.api.running import RunningRegistry
from tests.browser.conftest import PATIENCE_MS

pytestmark = pytest.mark.browser

SEARCH = "/?q=book+a+table+for+two&city=Amman&country="
PAGES = [
    "/",
    SEARCH,
    "/?q=qwrtz+plimf",
    "/?q=book&city=Nowhereville",
    "/policy",
    "/sites/zaytoun-table.test",
    "/bot",
    "/openapi",
    "/problems/city_unknown",
]
Opener = Callable[[str], Coroutine[Any, Any, Page]]


@dataclass
class Shown:
    """A page that is open, with what it asked for and complained of."""

    page: Page
    path: str
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def listen(self) -> None:
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda text: self.complaints.append(text.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))


@pytest.fixture
async def opened(browser: Browser, registry: RunningRegistry) -> AsyncIterator[Opener]:
    """Opens a path as somebody does who allows no JavaScript."""
    page = await browser.new_page(base_url=registry.origin, java_script_enabled=False)
    page.set_default_timeout(PATIENCE_MS)

    async def opener(path: str) -> Page:
        await page.goto(path)
        return page

    yield opener
    await page.close()


@pytest.fixture(scope="module", params=PAGES)
async def shown(
    request: pytest.FixtureRequest, browser: Browser, registry: RunningRegistry
) -> AsyncIterator[Shown]:
    """Each page once, with JavaScript: only for the test to look around."""
    page = await browser.new_page(base_url=registry.origin)
    page.set_default_timeout(PATIENCE_MS)
    shown = Shown(page, request.param)
    shown.listen()
    await page.goto(shown.path)
    yield shown
    await page.close()


async def test_a_search_shows_sites_and_why(opened: Opener) -> None:
    page = await opened("/")
    await page.get_by_label("What should be done?").fill("book a table for two")
    await page.get_by_label("City").fill("Amman")
    await page.get_by_role("button", name="Search").click()
    await page.get_by_text("seen from Amman (JO)").wait_for()
    first = page.locator(".results > li").first
    assert "Zaytoun Table" in await first.inner_text()
    rows = first.locator("tbody tr")
    titles = [await rows.nth(n).locator("th").inner_text() for n in range(5)]
    assert titles == [
        "Relevance",
        "Proximity",
        "Capability depth",
        "Quality",
        "Freshness",
    ]
    for number in range(5):
        assert await rows.nth(number).locator(".because").inner_text()
    assert await page.get_by_label("What should be done?").input_value() == (
        "book a table for two"
    )


async def test_the_contributions_shown_add_up_to_the_score(opened: Opener) -> None:
    page = await opened(SEARCH)
    table = page.locator("table.factors").first
    caption = await table.locator("caption").inner_text()
    adds = await table.locator("tbody td:nth-child(4)").all_inner_texts()
    score = float(caption.removeprefix("Score ").removesuffix(" of 100"))
    assert sum(map(float, adds)) == pytest.approx(score, abs=0.3)


async def test_what_put_a_site_before_the_next_is_said(opened: Opener) -> None:
    page = await opened(SEARCH)
    texts = await page.locator(".results .lead").all_inner_texts()
    assert len(texts) == await page.locator(".results > li").count() - 1
    assert re.match(r"Ahead of the next by \d+\.\d, most of all in [a-z ]+\.", texts[0])


async def test_an_unknown_city_is_said_where_it_was_typed(opened: Opener) -> None:
    page = await opened("/?q=book&city=Nowhereville")
    text = await page.get_by_role("alert").inner_text()
    assert "Nowhereville" in text
    assert "15,000" in text
    assert await page.get_by_label("City").input_value() == "Nowhereville"


async def test_a_city_among_the_words_is_a_link_to_the_search_from_there(
    opened: Opener,
) -> None:
    page = await opened("/?q=book+a+table+in+Amman")
    await page.get_by_role("link", name="Search from Amman (JO)").click()
    await page.wait_for_url(re.compile("city=Amman"))
    assert await page.get_by_label("City").input_value() == "Amman"
    assert "seen from Amman (JO)" in " ".join(
        (await page.get_by_role("status").inner_text()).split()
    )


async def test_nothing_found_is_said(opened: Opener) -> None:
    page = await opened("/?q=qwrtz+plimf")
    assert "No listed site" in await page.get_by_role("status").inner_text()
    assert await page.locator(".results > li").count() == 0


async def test_a_narrow_page_does_not_scroll_sideways(shown: Shown) -> None:
    await shown.page.set_viewport_size({"width": 360, "height": 800})
    widths = await shown.page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert widths == [360, 360]


CONTRAST = """
() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((one) => {
      const share = one / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = getComputedStyle(one).backgroundColor;
      if (!color.endsWith(", 0)") && color !== "transparent") return color;
    }
    return "rgb(255, 255, 255)";
  };
  const poor = [];
  let measured = 0;
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !element.offsetParent) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    measured += 1;
    if (ratio < 4.5) poor.push([element.outerHTML.slice(0, 80), ratio]);
  }
  return [measured, poor];
}
"""


@pytest.mark.parametrize("width", [360, 1100])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_text_can_be_read(shown: Shown, scheme: Any, width: int) -> None:
    """WCAG 2.2, 1.4.3: a contrast of 4.5 to 1."""
    await shown.page.set_viewport_size({"width": width, "height": 800})
    await shown.page.emulate_media(color_scheme=scheme)
    measured, poor = await shown.page.evaluate(CONTRAST)
    assert measured > 5
    assert poor == []


async def test_a_page_is_built_for_every_reader(shown: Shown) -> None:
    page = shown.page
    assert await page.locator("html").get_attribute("lang") == "en"
    assert await page.title()
    assert await page.locator("main").count() == 1
    assert await page.locator("h1").count() == 1
    levels = await page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])"
    )
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    nameless = await page.evaluate(
        "[...document.querySelectorAll('input:not([type=hidden]),select,textarea')]"
        ".filter(field => !field.labels.length).length"
    )
    assert nameless == 0
    silent = await page.evaluate(
        "[...document.querySelectorAll('a,button,caption,th')]"
        ".filter(one => !one.textContent.trim()).map(one => one.outerHTML)"
    )
    assert silent == []
    ids = await page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(set(ids)) == len(ids)


async def test_the_form_can_be_used_by_keyboard_alone(opened: Opener) -> None:
    page = await opened("/")
    await page.get_by_label("What should be done?").focus()
    await page.keyboard.type("book a table for two")
    await page.keyboard.press("Tab")
    await page.keyboard.type("Amman")
    await page.keyboard.press("Enter")
    await page.get_by_text("seen from Amman (JO)").wait_for()


async def test_a_page_asks_nobody_else_and_keeps_its_policy(
    shown: Shown, registry: RunningRegistry
) -> None:
    await shown.page.wait_for_load_state("networkidle")
    assert shown.requests
    assert all(url.startswith(f"{registry.origin}/") for url in shown.requests)
    # A console remarks on the 400 of a page that shows a refusal.
    assert [
        complaint for complaint in shown.complaints if "status of 400" not in complaint
    ] == []


async def test_every_link_leads_somewhere(
    shown: Shown, registry: RunningRegistry
) -> None:
    links = await shown.page.evaluate(
        "[...document.querySelectorAll('a[href],link[href]')]"
        ".map(one => one.getAttribute('href'))"
    )
    own = {urljoin(registry.origin + shown.path, link) for link in links}
    pages: dict[str, httpx.Response] = {}
    for url in sorted(item for item in own if item.startswith(registry.origin)):
        address, fragment = urldefrag(url)
        if address not in pages:
            pages[address] = registry.http.get(address)
        assert pages[address].status_code == 200, url
        if fragment:
            assert f'id="{fragment}"' in pages[address].text, url
    assert len(pages) > 4
