"""How fast a search is: from a tap to the own picture, to the others', and sixty frames a second on a slow machine."""

from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import Page, expect

from accounts.models import User
from tests.browser import staged
from tests.browser.conftest import OpenPage
from tests.browser.tracing import traced

FRAME_MS = 1000 / 60
LONG_TASK_MS = 50
SLOW = 4
TAPS = 20

# When the tap began, and how long until the frame with the own tile in it was ready to be shown.
TAPPED = """async () => {
  const began = performance.timeOrigin + performance.now();
  document.querySelector("#tiles .tile.garage.down").click();
  if (!document.querySelector("#tiles .own")) throw new Error("no tile in the hand");
  await new Promise(requestAnimationFrame);
  return [began, performance.timeOrigin + performance.now() - began];
}"""
LOOK_OUT = """() => {
  window.seen = new Promise((seen) => new MutationObserver((_, observer) => {
    if (!document.querySelector("#tiles .tile.hand")) return;
    observer.disconnect();
    seen(performance.timeOrigin + performance.now());
  }).observe(document.getElementById("tiles"), { subtree: true, attributes: true }));
}"""

# The own hand lifts and puts back while the others move theirs: how far apart the frames are.
WATCHED = """(seconds) => new Promise((done) => {
  const frames = [];
  const began = performance.now();
  let last = began, moved = 0;
  const hands = setInterval(() => {
    const own = document.querySelector("#hand.holding");
    if (own) document.getElementById("down").click();
    else document.querySelector("#tiles .tile.garage.down")?.click();
  }, 350);
  new MutationObserver((all) => { moved += all.length; })
    .observe(document.getElementById("tiles"), { subtree: true, attributes: true });
  const frame = (now) => {
    frames.push(now - last);
    last = now;
    if (now - began < seconds * 1000) return requestAnimationFrame(frame);
    clearInterval(hands);
    done({ frames, moved });
  };
  requestAnimationFrame(frame);
})"""


def p95(measured: list[float]) -> float:
    return sorted(measured)[int(len(measured) * 0.95) - 1]


async def two_at_a_search(open_page: OpenPage, bots: int) -> list[Page]:
    people = [await sync_to_async(User.objects.create_user)(name) for name in ("Irma Vep", "Max")]
    game = await staged.staged(people, staged.searching, bots=bots)
    pages = [await open_page(person=person) for person in people]
    for page in pages:
        await page.goto(f"/games/{game.code}/")
        await expect(page.locator("body")).to_have_attribute("data-line", "open")
        await expect(page.locator("#tiles .tile")).to_have_count(54)
    return pages


@pytest.mark.alone
async def test_a_tap_is_answered_within_50_ms_and_seen_elsewhere_within_150(
    open_page: OpenPage, in_time: Callable[[float], float]
) -> None:
    pages = await two_at_a_search(open_page, bots=0)
    # What was in a hand when the game was staged goes back by the clock.
    await expect(pages[1].locator("#tiles .tile.hand")).to_have_count(0)
    own, others = [], []
    for _ in range(TAPS):
        await pages[1].evaluate(LOOK_OUT)
        began, took = await pages[0].evaluate(TAPPED)
        own.append(took)
        others.append(await pages[1].evaluate("window.seen") - began)
        await expect(pages[0].locator("#hand.holding > .back")).to_be_visible()
        await pages[0].keyboard.press("d")
        await expect(pages[1].locator("#tiles .tile.hand")).to_have_count(0)
    assert p95(own) < in_time(50)
    assert p95(others) < in_time(150)


async def test_a_search_shows_sixty_frames_a_second_on_a_machine_four_times_slower(
    open_page: OpenPage,
    so_often: Callable[[int, int], int],
    in_time: Callable[[float], float],
    in_work: Callable[[float], float],
) -> None:
    page, _ = await two_at_a_search(open_page, bots=2)
    browser = await page.context.new_cdp_session(page)
    await browser.send("Emulation.setCPUThrottlingRate", {"rate": SLOW})
    await page.evaluate(WATCHED, 1)  # warm
    seen, tasks = await traced(page, lambda: page.evaluate(WATCHED, 6))
    assert seen["moved"] > 20, "nobody moved"
    # By the processor's time: what a frame asks for fits into it, and no task is a long one.
    assert sum(tasks) / len(seen["frames"]) < in_work(FRAME_MS)
    assert max(tasks) < in_work(LONG_TASK_MS)
    # How far apart they come hangs on whatever else runs here, unless the machine is left alone for it.
    assert p95(seen["frames"]) < in_time(so_often(200, int(FRAME_MS * 1.5)))
