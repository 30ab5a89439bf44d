"""Rooms and the queue in real browsers: people who find each other without anybody reloading a page."""

import asyncio
import re
from collections.abc import Callable, Sequence
from datetime import timedelta

from asgiref.sync import sync_to_async
from django.utils import timezone
from playwright.async_api import Page, Route, expect

from accounts.models import User
from games import pace, quick, rooms
from games.models import Game, Room, Waiting
from tests.browser.conftest import PATIENCE_MS, OpenPage
from tests.browser.watch import Watch, assert_fits, assert_no_barriers, shot
from tests.games.in_rooms import begin
from tests.games.written import Written
from tests.people import established

ROOM = re.compile(r"/rooms/[a-z0-9]{10}/$")
PHONE, LAPTOP = {"width": 360, "height": 640}, {"width": 1280, "height": 800}


async def named(*names: str) -> Sequence[User]:
    return [await sync_to_async(established)(name) for name in names]


async def at_a_table(page: Page) -> None:
    """In its room, whose address it keeps."""
    await expect(page).to_have_title(re.compile(r"^Everybody ready\? · "))
    assert ROOM.search(page.url)


async def press(page: Page, name: str) -> None:
    await page.get_by_role("button", name=name, exact=True).first.click()


async def test_two_strangers_find_each_other_by_quick_match(open_page: OpenPage) -> None:
    alice, bob = await named("Alice", "Bob")
    ours, theirs = await open_page(person=alice), await open_page(person=bob)
    for page in (ours, theirs):
        await page.goto("/play/")
        await page.get_by_role("button", name="2 players").click()
        if page is ours:
            await expect(page.get_by_role("timer")).to_have_text(re.compile(r"^(?!0:0[0-2])\d+:\d\d$"))
            await expect(page.get_by_role("main")).to_contain_text("1400–1600")
    for page in (ours, theirs):
        await at_a_table(page)
    assert ours.url == theirs.url
    game = await Game.objects.aget()
    assert game.ranked
    assert game.pace == "live"
    assert not await Waiting.objects.aexists()


IN_THE_BACKGROUND = """
Object.defineProperty(document, "hidden", { get: () => true });
const [later, again] = [setTimeout, setInterval];
window.setTimeout = (act, ms, ...said) => later(act, Math.max(ms ?? 0, 60_000), ...said);
window.setInterval = (act, ms, ...said) => again(act, Math.max(ms ?? 0, 60_000), ...said);
"""


async def test_whoever_waits_in_the_background_is_still_matched_and_led_to_the_game(open_page: OpenPage) -> None:
    alice, bob = await named("Alice", "Bob")
    page = await open_page(person=alice)
    await page.add_init_script(IN_THE_BACKGROUND)
    await page.goto("/play/quick/")
    await page.get_by_role("button", name="2 players").click()
    await expect(page.get_by_role("timer")).to_be_visible()
    await Waiting.objects.aupdate(seen=timezone.now() - 2 * quick.GONE)
    await sync_to_async(quick.enter)(bob, 2)
    for _ in range(PATIENCE_MS // 100):
        await Waiting.objects.filter(user=bob).aupdate(seen=timezone.now())
        if await sync_to_async(quick.match)(2, timezone.now()):
            break
        await asyncio.sleep(0.1)
    await at_a_table(page)


async def test_friends_meet_in_a_room_play_and_find_its_link_back(open_page: OpenPage) -> None:
    alice, bob = await named("Alice", "Bob")
    ours, theirs = await open_page(person=alice), await open_page(person=bob)
    await theirs.goto("/play/")
    await expect(theirs.get_by_role("main")).to_contain_text("No room has a free seat")
    await ours.goto("/rooms/new/")
    await press(ours, "Open a room")
    await theirs.get_by_role("link", name="Come in").click()
    await press(theirs, "Sit down")
    await expect(ours.locator(".place").nth(1)).to_contain_text("Bob")
    await press(ours, "I want to play")
    await expect(theirs.locator(".place.agrees")).to_contain_text("Alice")
    await ours.get_by_label("Invite by name").fill("Charl")
    await press(theirs, "I want to play")
    for page in (ours, theirs):
        await at_a_table(page)
    assert ours.url == theirs.url
    await ours.locator(".gamebar").get_by_label("Menu").click()
    await ours.get_by_role("link", name="To the room").click()
    await expect(ours.get_by_role("link", name="To your seat")).to_be_visible()


async def test_a_rematch_reaches_another_page_and_starts_by_one_press(
    open_page: OpenPage, in_time: Callable[[float], float]
) -> None:
    alice, bob = await named("Alice", "Bob")

    @sync_to_async
    def played() -> Room:
        room, game = begin(alice, bob)
        Written(game).play()
        return room

    room = await played()
    ours, theirs = await open_page(person=alice), await open_page(person=bob, viewport=PHONE)
    await theirs.goto("/ladders/")
    await ours.goto(f"/rooms/{room.code}/")
    await expect(theirs.locator(".turns")).not_to_contain_text("Rematch")
    await press(ours, "Play again")
    offer = theirs.get_by_role("button", name="Alice wants a rematch (1 of 2 ready)")
    await expect(offer).to_be_visible(timeout=in_time(1) * 1000)
    await assert_fits(theirs)
    await shot(theirs, "rematch-phone")
    await offer.click()
    for page in (ours, theirs):
        await at_a_table(page)
    await theirs.goto("/history/")
    await expect(theirs.get_by_role("link", name="Back to your game")).to_be_visible()
    await assert_fits(theirs)
    await assert_no_barriers(theirs)
    await shot(theirs, "live-game-elsewhere-phone")
    await theirs.get_by_role("link", name="Back to your game").click()
    await at_a_table(theirs)


async def test_a_refusal_in_a_room_outlives_the_next_look(open_page: OpenPage, watch: Watch) -> None:
    watch.expect(r"status of 422")
    alice, bob = await named("Alice", "Bob")
    room = await sync_to_async(rooms.open_room)(alice)
    page = await open_page(person=alice)
    await page.goto(f"/rooms/{room.code}/")
    await page.get_by_label("Invite by name").fill("Fantomas")
    await press(page, "Invite")
    refusal = page.locator("#room .notice.bad")
    await expect(refusal).to_be_visible()
    await sync_to_async(rooms.sit)(room, bob)
    await expect(page.locator(".place").nth(1)).to_contain_text("Bob")
    await expect(refusal).to_be_visible()


async def test_two_visitors_who_sit_down_anywhere_meet_at_one_table(open_page: OpenPage) -> None:
    pages = [await open_page(), await open_page()]
    for page in pages:
        await page.goto("/")
        await page.get_by_role("link", name="Choose a table").first.click()
        await press(page, "Sit down anywhere")
        await page.wait_for_url(ROOM)
    ours, theirs = pages
    assert ours.url == theirs.url
    await press(ours, "I want to play")
    await expect(theirs.locator(".place.agrees")).to_have_count(1)
    await press(theirs, "I want to play")
    for page in pages:
        await at_a_table(page)
    assert ours.url == theirs.url
    assert await User.objects.filter(is_guest=True).acount() == 2


async def test_the_same_people_play_again_with_one_click_each(open_page: OpenPage) -> None:
    alice, bob = await named("Alice", "Bob")
    ours, theirs = await open_page(person=alice), await open_page(person=bob)
    game = await sync_to_async(played_to_its_end)(alice, bob)
    room = await Room.objects.aget()
    for page in (ours, theirs):
        await page.goto(f"/rooms/{room.code}/")
        await expect(page.get_by_role("table", name="Score sheet")).to_be_visible()
    await press(ours, "To the room")
    await expect(ours.get_by_role("link", name="Score sheet")).to_be_visible()
    await ours.reload()
    await press(ours, "Play again")
    await expect(ours.locator(".place.agrees")).to_contain_text("Alice")
    await press(theirs, "Play again")
    for page in (ours, theirs):
        await at_a_table(page)
    assert ours.url == theirs.url
    again = await Game.objects.exclude(pk=game.pk).aget()
    assert again.room_id == game.room_id
    assert {seat.user_id async for seat in again.seats.all()} == {alice.pk, bob.pk}


async def test_markets_limits_and_bots_are_chosen_when_a_room_opens(open_page: OpenPage, watch: Watch) -> None:
    # Whoever takes pictures hides the text cursor by an attribute, which htmx then finds in a field.
    watch.expect(r"style-src")
    watch.expect(r"status of 422")
    (alice,) = await named("Irma Vep")
    page = await open_page(person=alice)
    await page.goto("/rooms/new/")
    for fold in ("Bots", "Markets", "Limits"):
        await page.get_by_text(fold, exact=True).click()
    await look_at(page, "new-room-all")
    await page.get_by_label("Bots in free seats").select_option("1")
    await page.get_by_label("How good they are").select_option("Burglar")
    await page.get_by_label("First market").select_option("2B")
    await page.get_by_label("Turn, seconds").fill("5")
    await press(page, "Open a room")
    await expect(page.get_by_role("alert")).to_contain_text("Choose a market for each player, or none.")
    await page.get_by_label("Second market").select_option("4A")
    await press(page, "Open a room")
    await expect(page.get_by_role("alert")).to_contain_text("Between 10 and 604800.")
    await page.get_by_label("Turn, seconds").fill("20")
    await press(page, "Open a room")
    await expect(page.locator(".facts")).to_contain_text("Market 2B, Market 4A")
    await expect(page.locator(".place").nth(1)).to_contain_text("Bot: Burglar")
    await press(page, "I want to play")
    await at_a_table(page)
    assert (await Game.objects.aget()).limits["turn_ms"] == 20_000


async def test_whoever_is_shown_out_learns_it_at_once(open_page: OpenPage) -> None:
    alice, bob = await named("Alice", "Bob")
    room = await sync_to_async(rooms.open_room)(alice)
    await sync_to_async(rooms.sit)(room, bob)
    ours, theirs = await open_page(person=alice), await open_page(person=bob)
    await theirs.goto(f"/rooms/{room.code}/")
    await ours.goto(f"/rooms/{room.code}/")
    await press(ours, "Show out")
    await expect(theirs.get_by_role("main")).to_contain_text("has shown you out")


async def test_a_page_that_lives_is_the_page_that_a_reload_brings(open_page: OpenPage) -> None:
    (alice,) = await named("Alice")
    room = await sync_to_async(rooms.open_room)(alice, size=3)
    ours, theirs, watching = await open_page(person=alice), await open_page(), await open_page()
    for page in (ours, theirs, watching):
        await page.goto(f"/rooms/{room.code}/")
    await press(theirs, "Sit down")
    await expect(theirs.locator(".masthead")).to_contain_text("Guest")
    await expect(theirs.get_by_role("link", name="Sign in")).to_have_count(0)
    for page in (ours, theirs):
        await page.get_by_label("Chat").click()
    await press(ours, "Good evening!")
    await expect(theirs.locator(".said li b")).to_have_text("Alice")
    await press(ours, "Stand up")
    for page in (theirs, watching):
        await expect(page.get_by_role("heading", level=1)).to_contain_text("The room of Guest")
    await press(theirs, "Change the game")
    await theirs.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(theirs.get_by_role("button", name="Change the game")).to_be_visible()


async def test_the_focus_stays_while_pages_are_fetched_anew_and_what_is_the_same_is_not_put_there_again(
    open_page: OpenPage,
) -> None:
    alice, bob, charlie = await named("Alice", "Bob", "Charlie")
    await sync_to_async(relaxed_game_of)(alice, bob)
    page = await open_page(person=alice)
    await page.goto("/play/")
    turn = page.get_by_role("banner").get_by_role("link", name="Your turn")
    await turn.focus()
    room = await sync_to_async(rooms.open_room)(bob, size=4)
    await sync_to_async(rooms.invite)(room, bob, "Alice")
    await expect(page.get_by_role("link", name="1 invitation")).to_be_visible()
    await expect(turn).to_be_focused()
    await expect(page).to_have_title(re.compile(r"^Your turn · "))
    await page.get_by_role("link", name="Live", exact=True).focus()
    await sync_to_async(rooms.sit)(room, charlie)
    await expect(page.locator(".room-row")).to_contain_text("Bob, Charlie")
    await expect(page.get_by_role("link", name="Live", exact=True)).to_be_focused()
    await page.get_by_role("button", name="2 players").focus()
    await sync_to_async(rooms.stand)(room, charlie)
    await sync_to_async(quick.enter)(charlie, 2)
    await expect(page.get_by_role("button", name="2 players 1 waits")).to_be_focused()
    await sync_to_async(rooms.sit)(room, alice)
    await page.goto(f"/rooms/{room.code}/")
    await page.get_by_role("button", name="Stand up").focus()
    await sync_to_async(rooms.agree)(room, bob)
    await expect(page.locator(".place.agrees")).to_have_count(1)
    await expect(page.get_by_role("button", name="Stand up")).to_be_focused()
    await page.evaluate("window.seats = document.querySelector('.places')")
    async with page.expect_response(f"**/rooms/{room.code}/seats/"):
        await page.evaluate("htmx.trigger('#room', 'rung')")
    await page.keyboard.press("Shift+Tab")
    await expect(page.get_by_role("button", name="I want to play")).to_be_focused()
    assert await page.evaluate("window.seats.isConnected")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="You agree. Take it back")).to_be_focused()


async def test_what_the_server_refuses_to_a_press_is_said_in_its_own_words_and_its_faults_as_such(
    open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(r"(?i)status (of|error code) (404|500)")
    (alice,) = await named("Alice")
    room = await sync_to_async(rooms.open_room)(alice)
    page = await open_page()
    await page.goto(f"/rooms/{room.code}/")
    await page.wait_for_load_state("networkidle")
    await room.adelete()
    await press(page, "Sit down")
    said = page.get_by_text("The address is wrong, or what was here is gone. It happens to everybody.")
    await expect(said).to_be_visible()
    async with page.expect_response(f"**/rooms/{room.code}/seats/"):
        await page.evaluate("htmx.trigger('#room', 'rung')")
    await expect(said).to_be_visible()
    await page.route("**/sit/", lambda route: route.fulfill(status=500))
    await press(page, "Sit down")
    await expect(page.get_by_text("The mistake is ours")).to_be_visible()
    await expect(said).to_be_hidden()


async def test_a_press_while_the_page_looks_for_news_is_not_lost(open_page: OpenPage) -> None:
    alice, bob = await named("Alice", "Bob")
    room = await sync_to_async(rooms.open_room)(alice)
    await sync_to_async(rooms.sit)(room, bob)
    page, looks, answer = await open_page(person=alice), asyncio.Event(), asyncio.Event()

    async def late(route: Route) -> None:
        if route.request.method == "GET" and "hx-request" in route.request.headers:
            looks.set()
            await answer.wait()
        await route.continue_()

    await page.route(f"**/rooms/{room.code}/seats/", late)
    await page.goto(f"/rooms/{room.code}/")
    await looks.wait()
    await press(page, "Show out")
    answer.set()
    await expect(page.locator(".place.free")).to_have_count(1)
    assert not await room.seats.filter(user=bob).aexists()


async def test_the_pages_around_rooms_fit_and_put_up_no_barriers(open_page: OpenPage, watch: Watch) -> None:
    # Whoever takes pictures hides the text cursor by an attribute, which htmx then finds in a field.
    watch.expect(r"style-src")
    alice, bob, charlie = await named("Irma Vep", "Arsène Lupin", "Fantômas")
    room = await sync_to_async(full_lobby)(alice, bob, charlie)
    page = await open_page(person=alice)
    for name, address in (("lobby", "/play/"), ("room", f"/rooms/{room.code}/"), ("new-room", "/rooms/new/")):
        await page.goto(address)
        await look_at(page, name)
    waiting = await open_page(person=charlie)
    await waiting.goto("/play/quick/")
    await look_at(waiting, "waiting")


async def test_a_room_between_games_and_one_that_plays_over_days_fit_and_put_up_no_barriers(
    open_page: OpenPage, watch: Watch
) -> None:
    watch.expect(r"style-src")
    alice, bob = await named("Irma Vep", "Arsène Lupin")
    between, days = await sync_to_async(played_rooms)(alice, bob)
    page = await open_page(person=alice)
    for name, room in (("room-between", between), ("room-days", days)):
        await page.goto(f"/rooms/{room.code}/seats/")
        await look_at(page, name)
        if room == between:
            await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
            lines = "(names) => names.map((one) => one.offsetHeight / parseFloat(getComputedStyle(one).lineHeight))"
            assert max(await page.locator(".result .name").evaluate_all(lines)) < 2.5
    await expect(page.locator("time[data-local]")).not_to_contain_text("UTC")
    await page.goto("/play/")
    await assert_no_barriers(page)
    await page.get_by_role("banner").get_by_role("link", name="Your turn").click()
    await page.wait_for_url(ROOM)
    await expect(page.get_by_role("heading", name="Everybody ready?")).to_be_visible()


async def test_the_owner_changes_the_game_in_a_dialog(open_page: OpenPage) -> None:
    (alice,) = await named("Irma Vep")
    room = await sync_to_async(rooms.open_room)(alice)
    page = await open_page(person=alice)
    await page.goto(f"/rooms/{room.code}/")
    await press(page, "Change the game")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("Markets", exact=True).click()
    await dialog.get_by_text("Limits", exact=True).click()
    await assert_no_barriers(page)
    await dialog.get_by_label("Turn, seconds").fill("90")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.locator(".facts")).to_contain_text("90")


def played_rooms(alice: User, bob: User) -> tuple[Room, Room]:
    """One whose last game Bob left, and one with a relaxed game that waits for both, who look for a time."""
    between, game = begin(alice, bob)
    days, relaxed = begin(alice, bob, pace="relaxed")
    Game.objects.filter(pk=game.pk).update(ended=timezone.now())
    game.seats.filter(user=alice).update(place=1, points=37, conduct="finished")
    game.seats.filter(user=bob).update(place=2, points=21, conduct="left")
    pace.propose(relaxed, bob, timezone.now() + timedelta(days=1))
    return between, days


def relaxed_game_of(alice: User, bob: User) -> Game:
    """One that waits for both."""
    return begin(alice, bob, pace="relaxed")[1]


def played_to_its_end(alice: User, bob: User) -> Game:
    """A game of theirs in a room, which is over."""
    _, game = begin(alice, bob)
    Written(game).play()
    return game


async def look_at(page: Page, name: str) -> None:
    await shot(page, name)
    for size, scheme in ((PHONE, "dark"), (LAPTOP, "light")):
        await page.set_viewport_size(size)  # type: ignore[arg-type]
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        await assert_fits(page)
        await assert_no_barriers(page)


def full_lobby(alice: User, bob: User, charlie: User) -> Room:
    """Some rooms, one of them Alice's with Bob in it, and Charlie who waits."""
    for number, (name, at_pace, ranked) in enumerate(
        [("Milady", "live", True), ("Vidocq", "relaxed", False), ("Cartouche", "live", False)]
    ):
        other = established(name)
        rooms.open_room(other, size=2 + number, pace=at_pace, ranked=ranked)  # type: ignore[arg-type]
    room = rooms.open_room(alice, size=4)
    rooms.sit(room, bob)
    rooms.agree(room, bob)
    rooms.add_bot(room, alice, "burglar")
    quick.enter(charlie, 3)
    now = timezone.now()
    Waiting.objects.update(since=now - timedelta(seconds=47), seen=now)
    return room
