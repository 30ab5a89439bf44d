"""What a page's main thread does, by the processor's time: on a busy machine everything takes longer but that."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Page

MARK = "traced"
CATEGORIES = ["-*", "disabled-by-default-devtools.timeline", "blink.user_timing"]


async def traced(page: Page, act: Callable[[], Awaitable[Any]]) -> tuple[Any, list[float]]:
    """What `act` comes to, and the milliseconds of processor time of every task of the page's main thread meanwhile."""
    browser = page.context.browser
    assert browser is not None
    await browser.start_tracing(page=page, categories=CATEGORIES)
    await page.evaluate("(mark) => { performance.mark(mark) }", MARK)
    result = await act()
    events = json.loads(await browser.stop_tracing())["traceEvents"]
    thread = next((event["pid"], event["tid"]) for event in events if event["name"] == MARK)
    tasks = [
        event["tdur"] / 1_000
        for event in events
        if event["name"] == "RunTask" and (event["pid"], event["tid"]) == thread and "tdur" in event
    ]
    return result, tasks
