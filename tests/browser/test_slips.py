"""What goes wrong is said where it happened, and is put right without anybody doing anything where that can be."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.async_api import Page, Route, WebSocketRoute, expect

from games.rules import State
from tests.browser import player, staged
from tests.browser.conftest import OpenPage
from tests.browser.test_game import PHONE, at_the_table, leave_for_good, somebody
from tests.browser.watch import Watch, assert_fits, assert_no_barriers, shot

IN_SIGHT = """(part) => {
  const { top, bottom } = part.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}"""


async def test_a_refused_trade_says_why_beside_the_button_that_was_pressed(open_page: OpenPage, watch: Watch) -> None:
    watch.expect(r"status of 422")
    page = await at_the_table(open_page, staged.trading, viewport=PHONE, has_touch=True, reduced_motion="reduce")
    ware = page.locator("#trade input[type=radio]").last
    # Something that has gone meanwhile.
    await ware.evaluate("""(input) => { input.value = '{"do": "open_bag", "tile": 0}'; }""")
    await page.locator("#trade label.ware").last.click()
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 3)")
    scrolled = await page.evaluate("scrollY")
    assert scrolled > 0
    await page.get_by_role("button", name="Trade", exact=True).click()
    said = page.locator("#exchange").get_by_role("alert")
    await expect(said).to_be_visible()
    assert await page.evaluate("scrollY") == scrolled
    assert await said.evaluate(IN_SIGHT)
    await expect(page.locator(".confirm").get_by_role("alert")).to_have_count(1)
    await assert_fits(page)
    await assert_no_barriers(page)
    await shot(page, "game-refused")


async def test_an_exchange_that_did_not_come_is_asked_for_again_though_nobody_moves(
    open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(r"ERR_FAILED|htmx:(sendError|afterRequest)|status of 502|Status Error Code 502")
    irma, max_ = await somebody(), await somebody("Max")
    game = await staged.staged([irma, max_], staged.trading, bots=0)
    hers, his = await open_page(person=irma), await open_page(person=max_)
    asked = 0

    async def fail_twice(route: Route) -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            await route.abort()
        elif asked == 2:
            await route.fulfill(status=502)
        else:
            await route.continue_()

    # Before it opens the table: the process that takes the game over tells of that, and a page may ask at once.
    await his.route("**/exchange/", fail_twice)
    for page in (hers, his):
        await page.goto(f"/games/{game.code}/")
        await expect(page.locator("body")).to_have_attribute("data-line", "open")
    await hers.locator("button.place").first.click()
    await expect(his.locator(".told li").first).to_contain_text("Irma Vep places art")
    assert asked >= 3


LOST = "That did not reach the server. Try it again."


async def shown_anew(page: Page) -> None:
    """The exchange is fetched once more, as after somebody's move."""
    seq = int(await player.seq_of(page)) + 1
    shown = await (await page.request.get(f"{page.url}exchange/")).text()
    newer = re.sub(r'data-seq="\d+"', f'data-seq="{seq}"', shown, count=1)

    async def answer(route: Route) -> None:
        await route.fulfill(body=newer, headers={"Midnight-Seq": str(seq), "Content-Type": "text/html"})

    await page.route("**/exchange/", answer)
    await page.evaluate("htmx.trigger('#exchange', 'moved')")
    await expect(page.locator("#exchange .shown")).to_have_attribute("data-seq", str(seq))
    await page.unroute("**/exchange/", answer)


@pytest.mark.parametrize("status", [0, 502])
async def test_a_form_that_was_lost_says_so_by_its_button_until_it_gets_through(
    status: int, open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(r"ERR_FAILED|htmx:(sendError|afterRequest)|status of 502|Status Error Code 502")
    page = await at_the_table(open_page, staged.trading, viewport=PHONE, has_touch=True, reduced_motion="reduce")

    async def lose(route: Route) -> None:
        if route.request.method == "GET":
            await route.continue_()
        elif status:
            await route.fulfill(status=status)
        else:
            await route.abort()

    await page.route("**/exchange/", lose)
    said = page.locator(".confirm").get_by_role("alert")
    await page.locator(".market.bag label").click()
    await page.get_by_role("button", name="Trade", exact=True).click()
    await expect(said).to_have_text(LOST)
    await expect(page.locator("body > .line")).to_be_hidden()
    assert await said.evaluate(IN_SIGHT)
    await assert_fits(page)
    await assert_no_barriers(page)
    await shot(page, "game-unsent")
    # What somebody else does meanwhile takes it away as little as the choice.
    await shown_anew(page)
    await expect(said).to_have_text(LOST)
    await page.unroute("**/exchange/", lose)
    await page.get_by_role("button", name="Trade", exact=True).click()
    await expect(page.locator(".told li", has_text="Irma Vep opens a leather bag")).to_have_count(1)
    await expect(said).to_have_count(0)


async def test_a_form_says_that_it_was_lost_though_the_exchange_was_drawn_anew_meanwhile(
    open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(r"ERR_FAILED|htmx:(sendError|afterRequest)")
    page = await at_the_table(open_page, staged.trading)
    held: list[Route] = []

    async def hold(route: Route) -> None:
        held.append(route)

    await page.locator(".market.bag label").click()
    await page.route("**/exchange/", hold)
    async with page.expect_request(player.is_posted):
        await page.get_by_role("button", name="Trade", exact=True).click()
    await shown_anew(page)
    await held[0].abort()
    await expect(page.locator(".confirm").get_by_role("alert")).to_have_text(LOST)


async def test_what_was_said_at_a_table_and_lost_is_said_too_and_what_the_page_looks_for_is_not(
    open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(r"ERR_FAILED|htmx:(sendError|afterRequest)")
    page = await at_the_table(open_page, staged.trading)
    await page.get_by_label("Chat", exact=True).click()
    field = page.get_by_label("Say something")
    await field.fill("Good luck")
    await page.route("**/*", lambda route: route.abort())
    async with page.expect_event("requestfailed"):
        await page.evaluate("htmx.trigger('.turns', 'rung')")
    await expect(page.locator("body > .line")).to_be_hidden()
    await field.press("Enter")
    await expect(page.locator("body > .line")).to_have_text(LOST, use_inner_text=True)


async def test_a_chat_message_that_the_server_fails_on_is_said(open_page: OpenPage, watch: Watch) -> None:
    watch.expect(r"status of 503|Status Error Code 503")
    page = await at_the_table(open_page, staged.trading)
    await page.get_by_label("Chat", exact=True).click()
    field = page.get_by_label("Say something")
    await field.fill("Good luck")
    await page.route("**/talk/**", lambda route: route.fulfill(status=503))
    await field.press("Enter")
    await expect(page.locator("body > .line .fault")).to_be_visible()
    await expect(field).to_have_value("Good luck")


async def test_an_answer_older_than_what_the_page_has_heard_of_is_asked_for_again(open_page: OpenPage) -> None:
    irma, max_ = await somebody(), await somebody("Max")
    game = await staged.staged([irma, max_], staged.trading, bots=0)
    hers, his = await open_page(person=irma), await open_page(person=max_)
    for page in (hers, his):
        await page.goto(f"/games/{game.code}/")
        await expect(page.locator("body")).to_have_attribute("data-line", "open")
    shown = his.locator("#exchange .shown")
    old, seq = await shown.evaluate("(shown) => [shown.outerHTML, shown.dataset.seq]")
    heard = []

    async def lag(route: Route) -> None:
        heard.append(int(route.request.headers["midnight-seq"]))
        if len(heard) > 1:
            await route.continue_()
        else:
            await route.fulfill(body=old, headers={"Midnight-Seq": seq, "Content-Type": "text/html"})

    await his.route("**/exchange/", lag)
    await hers.locator("button.place").first.click()
    await expect(his.locator(".told li").first).to_contain_text("Irma Vep places art")
    assert len(heard) > 1
    assert min(heard) > int(seq)


async def test_an_exchange_that_never_comes_is_given_up_and_asked_for_again(open_page: OpenPage, watch: Watch) -> None:
    watch.expect(r"htmx:(timeout|afterRequest)")
    irma, max_ = await somebody(), await somebody("Max")
    game = await staged.staged([irma, max_], staged.trading, bots=0)
    hers, his = await open_page(person=irma), await open_page(person=max_)
    for page in (hers, his):
        await page.goto(f"/games/{game.code}/")
        await expect(page.locator("body")).to_have_attribute("data-line", "open")
    patience = json.loads(str(await his.locator("#exchange").get_attribute("hx-request")))["timeout"]
    assert 5_000 <= patience <= 15_000
    # Nobody waits so long here.
    await his.evaluate("document.getElementById('exchange').setAttribute('hx-request', '{\"timeout\": 500}')")
    hanging: list[Route] = []

    async def hang(route: Route) -> None:
        if hanging:
            await route.continue_()
        else:
            hanging.append(route)

    await his.route("**/exchange/", hang)
    await hers.locator("button.place").first.click()
    await expect(his.locator(".told li").first).to_contain_text("Irma Vep places art")
    assert hanging


NO = "Not at this table."


@pytest.mark.parametrize("moment", [staged.gathering, staged.trading], ids=lambda one: one.__name__)
async def test_what_is_refused_where_no_tiles_lie_is_said_all_the_same(
    moment: Callable[[State], bool], open_page: OpenPage
) -> None:
    irma = await somebody()
    game = await staged.staged([irma], moment)
    page = await open_page(person=irma, viewport=PHONE, has_touch=True, reduced_motion="reduce")

    def refuse(line: WebSocketRoute) -> None:
        server = line.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            asked = json.loads(message)
            if asked["do"] in ("ready", "leave"):
                line.send(json.dumps({"type": "refused", "id": asked["id"], "code": "flood", "text": NO, "head": 0}))
            else:
                server.send(message)

        line.on_message(pass_on)

    await page.route_web_socket(re.compile("/games/"), refuse)
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    if moment is staged.gathering:
        await page.get_by_role("button", name="Ready").click()
    else:
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 3)")
        await leave_for_good(page)
    said = page.get_by_role("alert").filter(has_text=NO)
    await expect(said).to_be_visible()
    assert await said.evaluate(IN_SIGHT)
    await assert_fits(page)
    await assert_no_barriers(page)
    await shot(page, f"game-no-{moment.__name__}")


async def test_a_second_press_on_the_way_out_asks_for_nothing_and_is_not_refused(open_page: OpenPage) -> None:
    irma = await somebody()
    game = await staged.staged([irma], staged.escaping)
    page = await open_page(person=irma, viewport=PHONE, has_touch=True, reduced_motion="reduce")
    asked: list[str] = []
    let_through: list[Callable[[], None]] = []

    def hold(line: WebSocketRoute) -> None:
        server = line.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            asked.append(json.loads(message)["do"])
            if asked[-1] == "escape":
                let_through.append(lambda: server.send(message))
            else:
                server.send(message)

        line.on_message(pass_on)

    await page.route_web_socket(re.compile("/games/"), hold)
    await page.goto(f"/games/{game.code}/")
    escape = page.locator("#escape")
    hand = page.locator("#hand")
    await escape.click()
    await expect(escape).to_be_hidden()
    await expect(hand).to_have_text("You slip away …", use_inner_text=True)
    assert await hand.locator(".name").evaluate("(words) => words.clientWidth") > 100
    await assert_no_barriers(page)
    await shot(page, "game-on-the-way-out")
    await escape.dispatch_event("click")
    await page.keyboard.press("e")
    await page.locator("#tiles .tile.garage.down").first.dispatch_event("click")
    assert await page.evaluate("document.querySelectorAll('#tiles .own').length") == 0
    let_through[0]()
    await expect(hand).not_to_have_text("You slip away …")
    assert set(asked) - {"beat"} == {"join", "escape"}
    assert asked.count("escape") == 1
    await expect(page.locator("#refusal")).to_be_hidden()


async def test_a_page_whose_seat_is_played_elsewhere_asks_for_nothing_and_keeps_nothing_for_later(
    open_page: OpenPage,
) -> None:
    irma = await somebody()
    game = await staged.staged([irma], staged.searching)
    page = await open_page(person=irma)
    asked: list[str] = []

    def lose(line: WebSocketRoute) -> None:
        server = line.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            do = json.loads(message)["do"]
            if do == "lift":
                asked.append(do)
            else:
                server.send(message)

        line.on_message(pass_on)

    await page.route_web_socket(re.compile("/games/"), lose)
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    tile = page.locator("#tiles .tile.garage.down").first
    await tile.click()
    await expect(page.locator("#tiles .own")).to_have_count(1)
    second = await open_page(person=irma)
    await second.goto(page.url)
    here = page.get_by_role("button", name="Play here")
    await expect(here).to_be_visible()
    # What was never answered is not in the hand.
    await expect(page.locator("#tiles .own")).to_have_count(0)
    await tile.click()
    await expect(page.locator("#tiles .own")).to_have_count(0)
    await expect(page.locator("#end")).to_be_focused()
    await shot(page, "game-elsewhere")
    assert asked == ["lift"]
    await here.click()
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    await expect(here).to_be_hidden()
    await expect(page.locator("#tiles .own")).to_have_count(0)
    assert asked == ["lift"]
