"""The game in a real Chromium: every phase, from the first page to the score sheet."""

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import Locator, Page, Route, WebSocketRoute, expect

from accounts.models import User
from games.rules import State
from tests.browser import keyboard, player, staged
from tests.browser.conftest import OpenPage
from tests.browser.site import HANGS_SECONDS, Site
from tests.browser.watch import Watch, assert_fits, assert_no_barriers, shot

PHONE = {"width": 360, "height": 640}

AS_SHOWN = """() => {
  const tiles = [...document.querySelectorAll("#tiles .tile")].map((tile) => `${tile.className} ${tile.ariaLabel}`);
  const part = (id) => document.getElementById(id).innerText;
  const parts = ["phase", "round", "sitters", "hand", "board", "others", "tokens"].map(part);
  const page = [document.getElementById("game").dataset.phase, ...tiles, ...parts];
  const shown = document.querySelector("#exchange .shown").cloneNode(true);
  shown.querySelectorAll("input[type=hidden], [data-turn-clock]").forEach((part) => part.remove());
  return [...page, shown.outerHTML].join("\\n");
}"""


TILES_SHOWN = """() => [...document.querySelectorAll("#tiles .tile, #board .slot, #others > li")]
  .map((part) => `${part.className} ${part.ariaLabel} ${part.innerText}`).join("\\n")"""


async def somebody(name: str = "Irma Vep") -> User:
    return await sync_to_async(User.objects.create_user)(name)


async def at_the_table(open_page: OpenPage, moment: Callable[[State], bool], **options: object) -> Page:
    """Irma's page of a game that was played to this moment."""
    irma = await somebody()
    game = await staged.staged([irma], moment)
    page = await open_page(person=irma, **options)
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    await expect(page.locator("#tiles .tile")).to_have_count(54)
    return page


async def test_a_visitor_is_in_a_search_after_two_clicks(
    open_page: OpenPage, in_time: Callable[[float], float]
) -> None:
    page = await open_page(viewport=PHONE, has_touch=True)
    await page.goto("/")
    began = time.monotonic()
    await page.get_by_role("button", name="Play against bots").first.click()
    await page.get_by_role("button", name="Ready").click()
    await player.until(page, "search")
    assert time.monotonic() - began < in_time(10)
    await expect(page.locator("#coach")).to_contain_text("Lift a blue tile")
    await page.get_by_role("button", name="No more hints").click()
    await expect(page.locator("#coach")).to_be_hidden()


async def test_a_whole_game_on_a_phone_from_the_first_page_to_the_score_sheet(open_page: OpenPage) -> None:
    page = await open_page(viewport=PHONE, has_touch=True)
    await page.goto("/")
    await page.get_by_role("link", name="Choose a table").first.click()
    await page.get_by_label("3").check(force=True)
    await page.get_by_label("Master").check(force=True)
    await page.get_by_role("main").get_by_role("button", name="Play against bots").click()
    for number in range(1, 20):
        await player.get_ready(page)
        if number == 2:
            await page.reload()
            await player.until(page, "search")
        await player.search(page)
        await player.trade(page)
        if await player.phase(page) == "over":
            break
    await expect(page.get_by_role("table", name="Score sheet")).to_be_visible()
    await assert_no_barriers(page)


async def test_everybody_sees_the_same_after_the_server_came_back(
    open_page: OpenPage, site: Site, watch: Watch
) -> None:
    watch.expect("WebSocket connection")
    watch.expect("ERR_CONNECTION")
    irma, max_ = await somebody(), await somebody("Max")
    game = await staged.staged([irma, max_], staged.searching, bots=0)
    pages = [await open_page(person=person) for person in (irma, max_)]
    for page in pages:
        await page.goto(f"/games/{game.code}/")
        await expect(page.locator("body")).to_have_attribute("data-line", "open")
    tile = pages[0].locator("#tiles .tile.garage.down").first
    await tile.click()
    await expect(pages[1].locator("#tiles .tile.hand")).not_to_have_count(0)
    site.stop()
    await expect(pages[0].locator("#line")).to_contain_text("Line cut")
    site.start()
    for page in pages:
        await expect(page.locator("body")).to_have_attribute("data-line", "open")
    # The tile that was in the hand is still there, or went back by the clock: both pages and their reloads agree.
    await expect(pages[0].locator("#tiles .own")).to_have_count(0)
    for page in pages:
        shown = await page.evaluate(TILES_SHOWN)
        await page.reload()
        await page.wait_for_function(f"(shown) => ({TILES_SHOWN})() === shown", arg=shown)


async def test_a_page_whose_line_falls_mute_is_back_within_ten_seconds(
    open_page: OpenPage, in_time: Callable[[float], float]
) -> None:
    irma = await somebody()
    game = await staged.staged([irma], staged.searching)
    page = await open_page(person=irma)
    joined: list[float] = []
    mute_since: list[float] = []
    come_back = asyncio.Event()
    loop = asyncio.get_running_loop()

    def fall_mute(line: WebSocketRoute) -> None:
        """The first line loses every packet after its first beat: its host is gone, and nothing says so."""
        server, first = line.connect_to_server(), not joined

        def pass_on(message: str | bytes) -> None:
            if json.loads(message)["do"] == "join":
                joined.append(loop.time())
                if len(joined) == 2:
                    come_back.set()
            elif first:
                mute_since.append(loop.time())
            if not (first and mute_since):
                server.send(message)

        line.on_message(pass_on)
        server.on_message(lambda message: None if first and mute_since else line.send(message))

    await page.route_web_socket(re.compile("/ws/1/games/"), fall_mute)
    await page.goto(f"/games/{game.code}/")
    async with asyncio.timeout(HANGS_SECONDS):
        await come_back.wait()
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    # With the pause between two beats, and the two seconds in which a proxy looks for another process.
    assert joined[1] - mute_since[0] < in_time(10 - 2.5 - 2)


async def test_the_last_exchange_leads_to_the_score_sheet_and_to_another_game(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.last_exchange)
    await player.trade(page)
    await player.until(page, "over")
    sheet = page.get_by_role("table", name="Score sheet")
    await expect(sheet.locator("thead th")).to_have_count(3)
    await expect(sheet).to_contain_text("Irma Vep")
    await page.get_by_text("Proof of the shuffles").click()
    await page.get_by_role("button", name="Check it yourself").click()
    await expect(page.locator("#checked li.good")).to_have_count(7)
    await expect(page.locator("#checked li.bad")).to_have_count(0)
    first = page.url
    await page.get_by_role("button", name="Play again").click()
    await expect(page.get_by_role("button", name="Ready")).to_be_visible()
    assert page.url != first


@pytest.mark.parametrize(
    "moment",
    [staged.gathering, staged.searching, staged.trading, staged.waiting, staged.over],
    ids=lambda one: one.__name__,
)
async def test_no_phase_has_a_barrier_and_a_reload_shows_the_same(
    moment: Callable[[State], bool], open_page: OpenPage
) -> None:
    page = await at_the_table(open_page, moment, reduced_motion="reduce")
    for scheme, size in (("light", None), ("dark", PHONE)):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        if size:
            await page.set_viewport_size(size)  # type: ignore[arg-type]
        await assert_no_barriers(page)
        await assert_fits(page)
    if moment in (staged.gathering, staged.over):
        # Nobody but us could do anything: what is shown stays as it is.
        shown = await page.evaluate(AS_SHOWN)
        await page.reload()
        await expect(page.locator("#tiles .tile")).to_have_count(54)
        await page.wait_for_function(f"(shown) => ({AS_SHOWN})() === shown", arg=shown)
    for picture in await shot(page, f"game-{moment.__name__}"):
        assert picture.stat().st_size > 10_000


async def test_all_tiles_are_in_sight_at_every_size_and_big_enough_for_a_finger(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.searching)
    for width, height, least in [(360, 640, 44), (390, 844, 44), (768, 1024, 44), (1280, 720, 60), (1366, 650, 60)]:
        await page.set_viewport_size({"width": width, "height": height})
        # All at once: the bots go on, and the search does not wait for a slow machine.
        boxes = await page.locator("#tiles .tile").evaluate_all(
            "(tiles) => tiles.map((tile) => tile.getBoundingClientRect().toJSON())"
        )
        assert len(boxes) == 54
        for box in boxes:
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= height, f"{width} × {height}"
            assert box["x"] + box["width"] <= width
            assert min(box["width"], box["height"]) >= least, f"{box['width']} px at {width} × {height}"
        assert await page.evaluate("document.documentElement.scrollHeight") <= height, f"{width} × {height}"
        for part in ("#board", "#coach"):
            box = await page.locator(part).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= height, f"{part} at {width} × {height}"


SMALL = """(least) => [...document.querySelectorAll("button, summary, a[href], label:has(input)")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !one.matches(".skip"))
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 0 && Math.min(width, height) < least)
  .map(([one, { width, height }]) => `${one.outerHTML.slice(0, 90)}: ${width} × ${height}`)"""


@pytest.mark.parametrize(
    "moment", [staged.gathering, staged.searching, staged.trading, staged.over], ids=lambda one: one.__name__
)
async def test_whatever_a_finger_may_touch_on_a_phone_is_44_px_big(
    moment: Callable[[State], bool], open_page: OpenPage
) -> None:
    page = await at_the_table(open_page, moment, viewport=PHONE, has_touch=True, reduced_motion="reduce")
    small = await page.evaluate(SMALL, 43.9)
    assert not small, "\n".join(small)


@pytest.mark.parametrize("moment", [staged.searching, staged.trading, staged.over], ids=lambda one: one.__name__)
async def test_at_twice_the_size_everything_still_fits(moment: Callable[[State], bool], open_page: OpenPage) -> None:
    page = await at_the_table(open_page, moment, viewport={"width": 640, "height": 400}, reduced_motion="reduce")
    await assert_fits(page)
    await assert_no_barriers(page)
    if moment is staged.searching:
        boxes = [await tile.bounding_box() for tile in await page.locator("#tiles .tile").all()]
        assert all(box is not None and box["y"] + box["height"] <= 400 for box in boxes)


async def drag_onto_card(page: Page) -> tuple[Locator, Locator]:
    """Hold art of one's own over a card that it fits; the answer is that card, and the button that does the same."""
    button = page.locator("button.place").first
    kind, card = await button.get_attribute("data-art"), await button.get_attribute("data-card")
    worth = await button.locator("b").inner_text()
    art, onto = page.locator(f".identity.mine [data-art={kind}]"), page.locator(f".mine [data-card={card}]")
    await art.scroll_into_view_if_needed()
    await onto.scroll_into_view_if_needed()
    await art.hover()
    await page.mouse.down()
    await move_over(page, onto)
    await expect(onto).to_have_attribute("data-worth", worth)
    return onto, page.locator(f"button.place[data-art={kind}][data-card={card}]")


async def move_over(page: Page, part: Locator) -> None:
    box = await part.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)


async def test_art_is_placed_by_dragging_it_onto_its_card(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.trading)
    _, button = await drag_onto_card(page)
    await page.mouse.up()
    await expect(button).to_have_count(0)
    await expect(page.locator(".dragged")).to_have_count(0)
    await expect(page.locator(".told li").first).to_contain_text("Irma Vep places art")


async def test_what_somebody_drags_stays_in_their_hand_when_somebody_else_moves(open_page: OpenPage) -> None:
    irma, max_ = await somebody(), await somebody("Max")
    game = await staged.staged([irma, max_, await somebody("Fandor")], staged.trading, bots=0)
    hers, his = await open_page(person=irma), await open_page(person=max_)
    for page in (hers, his):
        await page.goto(f"/games/{game.code}/")
        await expect(page.locator("body")).to_have_attribute("data-line", "open")
    onto, button = await drag_onto_card(hers)
    await leave_for_good(his)
    await expect(hers.locator(".told li").first).to_contain_text("Max leaves the game.")
    await expect(hers.locator(".dragged")).to_have_count(1)
    await expect(onto).to_have_class(re.compile("fits"))
    await move_over(hers, onto)
    await hers.mouse.up()
    await expect(hers.locator(".told li").first).to_contain_text("Irma Vep places art")
    await expect(hers.locator(".dragged, .fits")).to_have_count(0)
    await expect(button).to_have_count(0)


# What the page shows of a leather bag while it passes by.
SHOWN_OF_BAG = """() => {
  const moment = document.getElementById("moment");
  window.shown = new Promise((shown) => new MutationObserver(() => {
    if (moment.querySelector(".art")?.checkVisibility()) shown(moment.innerText);
  }).observe(moment, { childList: true, attributes: true }));
}"""


async def test_a_leather_bag_has_its_moment(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.trading)
    await page.evaluate(SHOWN_OF_BAG)
    await page.locator(".market.bag label").click()
    await page.get_by_role("button", name="Trade", exact=True).click()
    assert "Irma Vep opens a leather bag" in await page.evaluate("window.shown")
    await expect(page.locator("#said")).to_contain_text("Irma Vep opens a leather bag")
    await expect(page.locator("#moment")).to_be_hidden()


async def test_the_ready_button_says_why_it_cannot_be_pressed_again(open_page: OpenPage) -> None:
    irma, other = await somebody(), await somebody("Fantomas")
    once = replace(staged.PATIENT, readies=1)
    game = await sync_to_async(staged.stage)([irma, other], staged.gathering, bots=1, limits=once)
    page = await open_page(person=irma, viewport=PHONE)
    await page.goto(f"/games/{game.code}/")
    ready, why = page.locator("#ready"), page.locator("#spent")
    # Two presses follow each other faster than a person's.
    await ready.evaluate("(button) => delete button.dataset.steady")
    await expect(ready).to_be_enabled()
    await expect(why).to_be_hidden()
    await ready.click()
    await expect(why).to_be_visible()
    await expect(ready).to_be_enabled()
    await ready.click()
    await expect(ready).to_be_disabled()
    await expect(ready).to_have_accessible_description(re.compile("as often as one round allows"))
    await assert_fits(page)
    await assert_no_barriers(page)


async def test_whoever_leaves_for_good_is_asked_first(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.gathering)
    await page.get_by_label("Menu").click()
    await page.get_by_role("button", name="Leave for good").click()
    asked = page.get_by_role("dialog")
    await assert_no_barriers(page)
    await asked.get_by_role("button", name="Stay").click()
    await expect(asked).to_be_hidden()
    await leave_for_good(page)
    await expect(page.locator("#ready")).to_be_hidden()
    await expect(page.locator("#sitters li", has_text="Irma Vep")).to_contain_text("has left")


async def leave_for_good(page: Page) -> None:
    await page.get_by_label("Menu").click()
    await page.get_by_role("button", name="Leave for good").click()
    await page.get_by_role("dialog").get_by_role("button", name="Leave for good").click()


@pytest.mark.parametrize("moment", [staged.searching, staged.trading], ids=lambda one: one.__name__)
async def test_the_others_see_who_leaves_for_good_as_it_happens_and_play_on(
    moment: Callable[[State], bool], open_page: OpenPage
) -> None:
    irma, max_ = await somebody(), await somebody("Max")
    # Nobody else does anything that is called out.
    game = await staged.staged([irma, max_, await somebody("Fandor")], moment, bots=0)
    hers, his = await open_page(person=irma), await open_page(person=max_)
    for page in (hers, his):
        await page.goto(f"/games/{game.code}/")
        await expect(page.locator("body")).to_have_attribute("data-line", "open")
    await leave_for_good(his)
    await expect(hers.locator("#called")).to_have_text("Max leaves the game.")
    await expect(hers.locator("#said")).to_contain_text("Max leaves the game.")
    await shot(hers, f"game-left-{moment.__name__}")
    await assert_no_barriers(hers)
    if moment is staged.searching:
        await expect(hers.locator("#others li", has_text="Max: has left")).to_be_visible()
        assert await player.lift_and_stash(hers)
    else:
        await expect(hers.locator(".told li").first).to_contain_text("Max leaves the game.")
        await expect(hers.locator(".identity.left")).to_contain_text("Max has left", use_inner_text=True)
        await hers.locator("button.place").first.click()
        await expect(hers.locator(".told li").first).to_contain_text("Irma Vep places art")
    await expect(his.locator("#called")).to_have_text("Max leaves the game.")


async def test_whoever_has_left_is_offered_nothing_any_more(open_page: OpenPage) -> None:
    irma = await somebody()
    game = await staged.staged([irma, await somebody("Max"), await somebody("Fandor")], staged.waiting, bots=0)
    page = await open_page(person=irma)
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    await expect(page.locator("button.place").first).to_be_visible()
    await leave_for_good(page)
    await expect(page.locator("#exchange")).to_contain_text("You left this game.")
    await expect(page.locator("button.place, #trade input[type=radio], .confirm")).to_have_count(0)
    await expect(page.locator(".market.payable")).to_have_count(0)
    await assert_no_barriers(page)
    await shot(page, "game-has-left")


# The lines of a score sheet, in the order in which they were counted.
COUNTED = """() => {
  window.counted = new Set();
  new MutationObserver((all) => {
    for (const { target } of all) if (target.classList.contains("now")) window.counted.add(target.className);
  }).observe(document.body, { subtree: true, attributeFilter: ["class"] });
}"""


async def test_the_score_sheet_counts_up_line_by_line_and_at_once_for_who_wants_calm(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.last_exchange)
    await page.evaluate(COUNTED)
    await player.trade(page)
    await expect(page.locator("table.sheet")).to_be_visible()
    await page.wait_for_function("() => window.counted.size === 4")
    lines = ["line-silver", "line-gold", "line-uniques", "line-collections"]
    assert await page.evaluate("[...window.counted]") == [f"{line} now" for line in lines]
    await expect(page.locator("table.counting")).to_have_count(0)
    counted = await page.locator("table.sheet").inner_text()
    await page.emulate_media(reduced_motion="reduce")
    await page.reload()
    await expect(page.locator("table.sheet")).to_have_text(counted, use_inner_text=True)


async def test_a_late_answer_to_the_last_move_does_not_stop_the_counting(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.last_exchange)

    async def after_the_news(route: Route) -> None:
        """Answer the form when the page has heard of the move by its socket, and has fetched what it changed."""
        answer = await route.fetch()
        if route.request.method == "POST" and answer.ok:
            shown = "(seq) => Number(document.querySelector('#exchange .shown').dataset.seq) >= seq"
            await page.wait_for_function(shown, arg=int(answer.headers["midnight-seq"]))
        await route.fulfill(response=answer)

    await page.route("**/exchange/", after_the_news)
    await page.evaluate(COUNTED)
    await player.trade(page)
    await page.wait_for_function("() => window.counted.size === 4")
    await page.unroute_all(behavior="wait")


async def test_a_search_by_keyboard_alone(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.searching)
    stashed = page.locator("#board .stashed")
    await expect(stashed).to_have_count(3)
    await page.keyboard.press("ArrowRight")
    for _ in range(54):
        label = await page.evaluate("document.activeElement.ariaLabel")
        if re.match(r"(Garage|Office) tile, face down, row", label):
            break
        await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    await expect(page.locator("#hand.holding > .back")).to_be_visible()
    await page.keyboard.press("d")
    await expect(page.locator("#hand.holding")).to_have_count(0)
    await expect(stashed).to_have_count(3)


async def test_a_tile_goes_back_down_by_a_tap(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.searching, viewport=PHONE, has_touch=True)
    await page.locator("#tiles .tile.garage.down").first.tap()
    await expect(page.locator("#hand.holding > .back")).to_be_visible()
    spot = await page.evaluate("[...document.querySelectorAll('#tiles .tile')].findIndex((one) => one.matches('.own'))")
    await page.locator("#down").tap()
    await expect(page.locator("#hand.holding")).to_have_count(0)
    await expect(page.locator("#tiles .tile").nth(spot)).to_have_class(re.compile(r"\bdown\b"))


async def test_who_is_writing_when_the_search_begins_goes_on_writing(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.gathering)
    await page.get_by_label("Chat", exact=True).click()
    field = page.get_by_label("Say something")
    await field.focus()
    await page.evaluate("document.getElementById('ready').click()")
    await player.until(page, "search")
    await expect(field).to_be_focused()
    await page.keyboard.type("Good luck, all of you")
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("What was said")).to_contain_text("Good luck, all of you")
    await expect(page.locator("#tiles .own")).to_have_count(0)


async def test_the_own_tile_answers_before_the_server_does(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.searching)
    # A tap and a look in one breath of the page: no answer can have come in between.
    own = await page.evaluate(
        """() => {
          document.querySelector("#tiles .tile.garage.down").click();
          return document.querySelectorAll("#tiles .own").length;
        }"""
    )
    assert own == 1
    await expect(page.locator("#hand.holding > .back")).to_be_visible()


async def test_a_locked_place_says_which_key_it_wants_where_it_was_touched(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.searching)
    locked = page.locator("#tiles .tile.safe.locked").first
    await locked.click()
    said = page.get_by_role("alert").filter(has_text="The safe is locked: stash a brass key first.")
    await expect(said).to_be_visible()
    assert "locked" in str(await locked.get_attribute("aria-label"))
    await expect(page.locator("#tiles .own")).to_have_count(0)


async def test_what_one_is_choosing_survives_the_others_moves(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.waiting)
    chosen = asyncio.Event()

    async def news(route: Route) -> None:
        if route.request.method == "GET":
            await chosen.wait()
        await route.continue_()

    await page.route("**/exchange/", news)
    # Placing is possible in anybody's turn; and this process now keeps the game, so the bots begin to move.
    seq = await page.locator(".shown").get_attribute("data-seq")
    await page.locator("button.place").first.click()
    await expect(page.locator(".shown")).not_to_have_attribute("data-seq", str(seq))
    seq = await page.locator(".shown").get_attribute("data-seq")
    # One's own leather bag, which nobody else can take.
    await page.locator(".market.bag label").click()
    await expect(page.locator(".purse .pays")).to_have_count(1)
    undo = page.get_by_role("button", name="Take it back")
    await undo.focus()
    chosen.set()
    await expect(page.locator(".shown")).not_to_have_attribute("data-seq", str(seq))
    await expect(page.locator(".market.bag input")).to_be_checked()
    await expect(undo).to_be_focused()
    await expect(page.locator(".purse .pays")).to_have_count(1)


async def choose(page: Page) -> Locator:
    """A ware is chosen by keyboard; the focus is on it."""
    assert await keyboard.tab_to(page, type="radio")
    await page.keyboard.press("Space")
    await expect(page.locator("#trade :checked")).to_be_focused()
    value = await page.locator("#trade :checked").get_attribute("value")
    return page.locator(f"#trade input[value='{value}']")


async def test_what_is_taken_back_has_the_focus_again(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.trading)
    ware = await choose(page)
    assert await keyboard.tab_to(page, id="undo")
    await page.keyboard.press("Enter")
    await expect(ware).to_be_focused()
    await expect(ware).not_to_be_checked()
    await expect(page.locator(".purse .pays")).to_have_count(0)
    await expect(page.locator("#undo")).to_be_hidden()
    # By a pointer, too.
    await page.locator(".market.bag label").click()
    await expect(page.locator(".purse .pays")).to_have_count(1)
    await page.get_by_role("button", name="Take it back").click()
    await expect(page.locator("#trade :checked")).to_have_count(0)
    await expect(page.locator("#take")).to_be_hidden()


async def test_after_a_trade_the_keyboard_goes_on_from_whose_turn_it_is(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.trading)
    seq = await player.seq_of(page)
    await choose(page)
    assert await keyboard.tab_to(page, said="Trade")
    assert await player.answered(page, keyboard.enter(page))
    await player.until_moved(page, seq)
    await expect(page.locator("#whose")).to_be_focused()


ASKED_AND_ANSWERED = """() => new Promise((done) => {
  const exchange = document.getElementById("exchange");
  exchange.addEventListener("htmx:afterOnLoad", () => setTimeout(done), { once: true });
  htmx.trigger(exchange, "moved");
})"""


async def test_a_late_answer_never_takes_the_page_back(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.trading)
    old = await page.locator(".shown").evaluate("(shown) => shown.outerHTML")
    seq = int(await page.locator(".shown").get_attribute("data-seq") or 0)
    await page.locator("button.place").first.click()
    await expect(page.locator(".shown")).not_to_have_attribute("data-seq", str(seq))

    async def late(route: Route) -> None:
        await route.fulfill(body=old, headers={"Midnight-Seq": str(seq), "Content-Type": "text/html"})

    await page.route("**/exchange/", late)
    await page.evaluate(ASKED_AND_ANSWERED)
    assert int(await page.locator(".shown").get_attribute("data-seq") or 0) > seq


async def test_a_pass_that_leaves_points_behind_is_asked_about(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.trading)
    await page.locator("#passing > summary").click()
    await expect(page.get_by_text("You could still place art. Pass and leave these points?")).to_be_visible()
    await page.get_by_role("button", name="Yes, pass").click()
    await expect(page.locator(".whose.mine")).to_have_count(0)


async def test_a_second_page_takes_the_seat_and_the_first_one_may_take_it_back(open_page: OpenPage) -> None:
    page = await at_the_table(open_page, staged.gathering)
    second = await page.context.new_page()
    await second.goto(page.url)
    await expect(page.get_by_role("alert").filter(has_text="You play from another page now.")).to_be_visible()
    await page.get_by_role("button", name="Play here").click()
    await expect(second.get_by_role("button", name="Play here")).to_be_visible()
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
