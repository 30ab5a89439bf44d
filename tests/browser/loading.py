"""A page on a phone with a slow line and a slow processor: what moves while it loads, and how soon it is there."""

from dataclasses import dataclass
from typing import Any

from playwright.async_api import CDPSession, Page, ViewportSize

PHONE = {
    "viewport": ViewportSize(width=412, height=823),
    "device_scale_factor": 1.75,
    "is_mobile": True,
    "has_touch": True,
}
A_SLOW_LOAD_MS = 120_000

OBSERVE = """
window.shifts = [];
window.painted = { tasks: [] };
const observe = (type, heard) => new PerformanceObserver((list) => list.getEntries().forEach(heard))
  .observe({ type, buffered: true });
observe("layout-shift", ({ value, hadRecentInput, sources }) => {
  if (!hadRecentInput) window.shifts.push([value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? "")]);
});
observe("largest-contentful-paint", ({ startTime }) => { window.painted.largest = startTime; });
observe("paint", ({ name, startTime }) => { if (name === "first-contentful-paint") window.painted.first = startTime; });
observe("longtask", ({ startTime, duration }) => window.painted.tasks.push([startTime, duration]));
"""
# When fonts have come and the page has stood still since.
SETTLED = """(quietMs) => document.fonts.ready
  .then(() => new Promise((done) => requestIdleCallback(done, { timeout: 5000 })))
  .then(() => new Promise((done) => setTimeout(done, quietMs)))
  .then(() => true)"""


@dataclass(frozen=True, slots=True)
class Line:
    """How long an answer takes to begin, and how many bytes come in a second."""

    latency_ms: float
    bytes_down: float
    bytes_up: float


SLOW = Line(100, 800_000, 200_000)


@dataclass(frozen=True, slots=True)
class Load:
    """One cold load: what moved, the paints in milliseconds, and the long tasks as start and length."""

    shifts: list[list[Any]]
    first_paint: float
    largest_paint: float
    tasks: list[tuple[float, float]]

    @property
    def shift(self) -> float:
        """What browsers call the cumulative layout shift."""
        return float(sum(value for value, *_ in self.shifts))

    @property
    def blocked_ms(self) -> float:
        """For how long after the first paint the page would have answered nothing: tasks beyond 50 ms."""
        return sum(max(0.0, length - 50) for start, length in self.tasks if start + length > self.first_paint)


async def slow_down(page: Page, line: Line, slower: float = 1) -> CDPSession:
    """From now on this page loads everything anew, over this line and by a processor so many times slower."""
    await page.add_init_script(OBSERVE)
    browser = await page.context.new_cdp_session(page)
    await browser.send("Network.enable")
    await browser.send("Network.setCacheDisabled", {"cacheDisabled": True})
    conditions = {
        "offline": False,
        "latency": line.latency_ms,
        "downloadThroughput": line.bytes_down,
        "uploadThroughput": line.bytes_up,
    }
    await browser.send("Network.emulateNetworkConditions", conditions)
    await browser.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    return browser


async def load(page: Page, address: str, quiet_ms: int = 0) -> Load:
    """Load the page as `slow_down` left it, until nothing of it is missing."""
    await page.goto(address, wait_until="load", timeout=A_SLOW_LOAD_MS)
    await page.evaluate(SETTLED, quiet_ms)
    shifts, painted = await page.evaluate("[window.shifts, window.painted]")
    tasks = [(start, length) for start, length in painted["tasks"]]
    return Load(shifts, painted.get("first", 0), painted.get("largest", 0), tasks)
