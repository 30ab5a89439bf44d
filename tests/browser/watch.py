"""Who looks over a page's shoulder: complaints of the console, of the CSP, of the network; barriers; pictures."""

import re
from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import BrowserContext, ConsoleMessage, Page, Request

SCREENSHOTS = Path(__file__).resolve().parent.parent.parent / ".var" / "screenshots"

TELL_OF_CSP = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`CSP: ${event.violatedDirective} blocked ${event.blockedURI} in ${event.sourceFile ?? "the page"}`);
});
"""


class Watch:
    """Collects what went wrong on a context's pages; `expect` says what is meant to go wrong."""

    def __init__(self, site_url: str) -> None:
        self.site_url = site_url
        self.complaints: list[str] = []
        self.expected: list[re.Pattern[str]] = []

    def expect(self, pattern: str) -> None:
        """Complaints that match are part of this test, such as r"status of 404"."""
        self.expected.append(re.compile(pattern))

    async def over(self, context: BrowserContext) -> None:
        await context.add_init_script(TELL_OF_CSP)
        context.on("console", self.heard)
        context.on("weberror", lambda error: self.complaints.append(f"error: {error.error}"))
        context.on("request", self.asked)
        context.on("requestfailed", self.failed)

    def heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"console: {message.text} ({message.location.get('url')})")

    def asked(self, request: Request) -> None:
        own = (self.site_url, self.site_url.replace("http", "ws", 1), "data:", "blob:")
        if not request.url.startswith(own):
            self.complaints.append(f"another host: {request.url}")

    def failed(self, request: Request) -> None:
        # A page that one leaves drops what it was still loading.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"failed: {request.url} ({request.failure})")

    def unexpected(self) -> list[str]:
        return [text for text in self.complaints if not any(pattern.search(text) for pattern in self.expected)]


async def barriers(page: Page, *rules: str) -> list[str]:
    """Find what axe says of the page as it stands, by its best practices and these other rules: a line an element."""
    # A colour halfway between two themes is no finding; an endless animation cannot be finished, and may go on.
    await page.evaluate("document.getAnimations().forEach((a) => { try { a.finish(); } catch { a.cancel(); } })")
    # Through the debugger, which the page's CSP does not bind.
    await page.evaluate(AXE_SCRIPT + "; undefined")
    options = {"resultTypes": ["violations"], "rules": {rule: {"enabled": True} for rule in rules}}
    found: dict[str, Any] = await page.evaluate("(options) => axe.run(document, options)", options)
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


async def assert_no_barriers(page: Page, *rules: str) -> None:
    found = await barriers(page, *rules)
    assert not found, f"{page.url}:\n" + "\n".join(found)


async def assert_fits(page: Page) -> None:
    """Nothing hangs over the page's right edge."""
    wide, what = await page.evaluate(
        """() => {
            const edge = document.documentElement.clientWidth;
            const over = [...document.body.querySelectorAll("*")].filter(
                (one) => one.getBoundingClientRect().right > edge + 0.5);
            const named = over.slice(0, 5).map((one) => one.outerHTML.slice(0, 90));
            return [document.documentElement.scrollWidth - edge, named];
        }"""
    )
    assert wide <= 0, f"{page.url} is {wide} px wider than its window: {what}"


async def shot(page: Page, name: str) -> list[Path]:
    """The whole page in light and dark, on a laptop and a phone, as .var/screenshots/NAME-….png."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    before = page.viewport_size
    pictures = []
    for kind, scheme, width, height in [
        ("light", "light", 1280, 800),
        ("dark", "dark", 1280, 800),
        ("phone-light", "light", 360, 640),
        ("phone-dark", "dark", 360, 640),
    ]:
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        await page.set_viewport_size({"width": width, "height": height})
        # From its head, or what keeps in sight lies in the midst of the picture.
        await page.evaluate("scrollTo(0, 0)")
        path = SCREENSHOTS / f"{name}-{kind}.png"
        await page.screenshot(path=path, full_page=True, animations="disabled")
        pictures.append(path)
    await page.emulate_media(color_scheme="null")
    if before:
        await page.set_viewport_size(before)
    return pictures
