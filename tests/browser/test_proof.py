"""The proof of the shuffles, which anybody may check in the browser: true of every honest game, and of no other."""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import Page, Route, WebSocketRoute, expect

from accounts.models import User
from games import chance_secrets, intervention, rules, shares
from games.models import Game
from games.opening import NewSeat, open_game
from games.rules.record import Record, read_record
from tests.browser import staged
from tests.browser.conftest import OpenPage
from tests.browser.watch import Watch, assert_fits, assert_no_barriers, shot
from tests.midnight.running import eventually

RECORDS = Path(__file__).resolve().parents[1] / "records"
NAMES = sorted(path.stem for path in RECORDS.glob("*.jsonl"))
EMPTY_BAG = "fr-4-bag-opened-empty"

CHECK = """async ([sight, record, edition, kept, list]) => {
  const { check, readList } = await import("/static/games/js/proof.js");
  const found = await check(sight, record, edition, kept, await readList(list));
  return Object.fromEntries(found.map(({ name, verdict }) => [name, verdict]));
}"""
SHUFFLES = {"seed", "tiles", "bag", "deck"}
MEMORIES = {"shown", "agreed", "nonce"}
SEALED = "fr-3-sealed"
LIST = (RECORDS / f"{SEALED}.txt").read_text()


def kept(name: str) -> tuple[Record, dict[str, Any]]:
    document = (RECORDS / f"{name}.jsonl").read_bytes()
    return read_record(document), json.loads(document)


def last_sight(record: Record, seat: int | None = None) -> dict[str, Any]:
    """What a page shows of this game when it is over."""
    state = rules.blank(record.head.terms)
    for event in record.events:
        state = rules.apply(state, event)
    shown: dict[str, Any] = json.loads(json.dumps(rules.sight(state, seat)))
    return shown


async def checked(
    page: Page, sight: object, document: dict[str, Any], kept: object = None, public_list: str = ""
) -> dict[str, str]:
    await page.goto("/about/")
    asked = [sight, document, document["edition"], kept or {}, public_list]
    found: dict[str, str] = await page.evaluate(CHECK, asked)
    return found


def those(found: dict[str, str], verdict: str) -> set[str]:
    return {name for name, said in found.items() if said == verdict}


@pytest.mark.parametrize("name", NAMES)
async def test_every_shuffle_of_every_kept_record_holds(name: str, page: Page) -> None:
    record, document = kept(name)
    found = await checked(page, last_sight(record), document)
    drawn = {"markets"} if document["markets_by"] == "draw" else set()
    sealed = {"shares"} if name == SEALED else set()
    assert those(found, "holds") == SHUFFLES | drawn | sealed
    # Who was not there can say nothing of what was shown.
    assert those(found, "unsure") == MEMORIES | {"line", "shares"} - sealed


async def test_a_record_is_held_against_a_list_that_was_kept(page: Page) -> None:
    record, document = kept(SEALED)
    sight = last_sight(record)
    assert (await checked(page, sight, document, None, LIST))["line"] == "holds"
    first, before, _, after = LIST.splitlines()
    without = f"{first}\n{before}\n{after}\n"
    assert (await checked(page, sight, document, None, without))["line"] == "unsure"
    elsewhere = document | {"line": document["line"] | {"head": "ab" * 32}}
    assert (await checked(page, sight, elsewhere, None, LIST))["line"] == "broken"
    renamed = document | {"id": "another"}
    assert (await checked(page, sight, renamed, None, LIST))["line"] == "broken"


def swapped_art(events: list[dict[str, Any]]) -> None:
    """Somebody gets another kind of art from a leather bag than the seed had for them."""
    opened = next(event for event in reversed(events) if event["type"] == "bag_opened" and event["got"])
    opened["got"] = "watch" if opened["got"] != "watch" else "chalice"


def swapped_refill(events: list[dict[str, Any]]) -> None:
    """What the last refill laid on sale comes in another order."""
    markets = [event for event in events if event["type"] == "round_started"][-1]["markets"]
    slots = [(market["cards"], slot) for market in markets for slot in range(len(market["cards"]))]
    (first, one), (last, other) = slots[0], slots[-1]
    first[one], last[other] = last[other], first[one]


def swapped_tiles(events: list[dict[str, Any]]) -> None:
    """Two tiles of the first round change places."""
    tiles = events[0]["tiles"]
    other = next(spot for spot, tile in enumerate(tiles) if tile != tiles[0])
    tiles[0], tiles[other] = tiles[other], tiles[0]


@pytest.mark.parametrize(
    ("tamper", "untrue"), [(swapped_art, "bag"), (swapped_refill, "deck"), (swapped_tiles, "tiles")]
)
async def test_a_shuffle_that_was_touched_is_found_even_where_the_bag_is_empty(
    tamper: Any, untrue: str, page: Page
) -> None:
    record, document = kept(EMPTY_BAG)
    sight = last_sight(record)
    assert sight["reveal"]["bag"] == []
    tamper(document["events"])
    found = await checked(page, sight, document)
    assert those(found, "broken") == {untrue}


async def irmas_game() -> tuple[User, Game]:
    irma = await sync_to_async(User.objects.create_user)("Irma Vep")
    seats = [NewSeat("violet", irma.pk), NewSeat("amber", strength="apprentice")]
    # It waits for her page for a day, however busy this machine is.
    return irma, await sync_to_async(open_game)(seats, pace="relaxed")


async def begun(page: Page, game: Game) -> None:
    """The page's game has begun, with whatever this browser added."""
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("#tiles .tile")).to_have_count(54)


async def time_is_over(page: Page, game: Game, sign: str, over: Callable[[int], object]) -> None:
    """Once there is this sign of it, the game begins without what this page has not sent: `over` sees to that."""
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator(sign)).to_be_visible()
    await sync_to_async(over)(game.pk)
    await expect(page.locator("#tiles .tile")).to_have_count(54)


async def ended(game: Game) -> None:
    """Void, for it is the quickest end; its chance is revealed like that of any other."""
    assert await sync_to_async(intervention.void)(game.pk)


async def at_the_end(open_page: OpenPage) -> Page:
    irma = await sync_to_async(User.objects.create_user)("Irma Vep")
    game = await staged.staged([irma], staged.over)
    page = await open_page(person=irma)
    await page.goto(f"/games/{game.code}/")
    return page


async def ask_for_the_proof(page: Page) -> None:
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    await page.get_by_text("Proof of the shuffles").click()
    await page.get_by_role("button", name="Check it yourself").click()


async def verdicts(page: Page) -> dict[str, list[str]]:
    """What the page says after the check, by the kind of it."""
    await ask_for_the_proof(page)
    await expect(page.locator("#checked li").first).to_be_visible()
    return {kind: await page.locator(f"#checked li.{kind}").all_inner_texts() for kind in ("good", "bad", "warn")}


def lies(page: Page, tell: Callable[[str], str], hear: Callable[[str], str | None] = str) -> Awaitable[None]:
    """A server that tells this page other things than the real one, and hears other things."""

    def between(line: WebSocketRoute) -> None:
        server = line.connect_to_server()
        server.on_message(lambda message: line.send(tell(str(message))))
        line.on_message(lambda message: (said := hear(str(message))) is not None and server.send(said))

    return page.route_web_socket(re.compile("/ws/1/games/"), between)


async def lies_in_the_record(page: Page, tell: Callable[[str], str]) -> None:
    async def record(route: Route) -> None:
        answer = await route.fetch()
        await route.fulfill(response=answer, body=tell(await answer.text()))

    await page.route("**/record.json", record)


SHOWN = "The hash is the one that this browser was shown"
AGREED = "All that was agreed on"
GIVEN = "What this browser added is part of it"
FITS = "Every random number is the one that was sealed"
LISTED = "The game stands in the public list"


def beginnings(said: list[str]) -> set[str]:
    return {one for one in (SHOWN, AGREED, GIVEN, FITS, LISTED, "The seed fits") if any(one in text for text in said)}


async def test_of_an_honest_game_everything_holds_and_a_fresh_browser_cannot_say(open_page: OpenPage) -> None:
    irma, game = await irmas_game()
    page, fresh = await open_page(person=irma), await open_page(person=irma)
    await begun(page, game)
    await expect(page.locator("#chance .good")).to_have_text(
        "This browser’s random number is part of every shuffle of this game."
    )
    await expect(page.locator("#listed")).to_contain_text("Line 1 of the public list")
    await page.reload()
    await expect(page.locator("#chance .good")).to_be_visible()
    await ended(game)
    await expect(page.locator("#the-end")).to_be_visible()
    said = await verdicts(page)
    assert (said["bad"], said["warn"]) == ([], [])
    assert beginnings(said["good"]) == {SHOWN, AGREED, GIVEN, FITS, LISTED, "The seed fits"}
    await assert_no_barriers(page)
    await shot(page, "proof-holds")
    await page.set_viewport_size({"width": 360, "height": 640})
    await assert_fits(page)
    await fresh.goto(f"/games/{game.code}/")
    said = await verdicts(fresh)
    assert said["bad"] == []
    assert beginnings(said["warn"]) == {SHOWN, AGREED, GIVEN}
    assert not any(SHOWN in one for one in said["good"])
    assert beginnings(said["good"]) == {FITS, LISTED, "The seed fits"}
    await shot(fresh, "proof-fresh")


async def test_a_server_that_ignored_this_browsers_share_is_caught(open_page: OpenPage) -> None:
    irma, game = await irmas_game()
    page = await open_page(person=irma)
    await begun(page, game)
    own = await page.evaluate(f"JSON.parse(localStorage['chance-{game.code}'])")
    await ended(game)
    others = "ab" * 16
    share = hashlib.sha256(bytes.fromhex(others)).hexdigest()

    def ignore(text: str) -> str:
        return text.replace(own["nonce"], others).replace(own["share"], share)

    await lies(page, ignore)
    await lies_in_the_record(page, ignore)
    await page.reload()
    said = await verdicts(page)
    # The share was changed with it, so that they fit each other; but not what was shown, nor the list.
    assert beginnings(said["bad"]) == {GIVEN, AGREED, LISTED}
    assert beginnings(said["good"]) == {SHOWN, FITS, "The seed fits"}
    await shot(page, "proof-broken")


async def test_a_server_that_changed_its_commitment_is_caught(open_page: OpenPage) -> None:
    irma, game = await irmas_game()
    page = await open_page(person=irma)
    await begun(page, game)
    await ended(game)
    seed = (await sync_to_async(chance_secrets.of_game)(game.pk)).server_seed.hex()
    commitment = hashlib.sha256(bytes.fromhex("ab" * 32)).hexdigest()

    def change(text: str) -> str:
        return text.replace(seed, "ab" * 32).replace(game.commitment, commitment)

    await lies(page, change)
    await lies_in_the_record(page, change)
    await page.reload()
    said = await verdicts(page)
    assert beginnings(said["bad"]) == {SHOWN, AGREED, LISTED}
    assert "The seed fits" in beginnings(said["good"])


async def test_a_share_that_comes_too_late_is_said_so_at_the_table(open_page: OpenPage) -> None:
    irma, game = await irmas_game()
    page = await open_page(person=irma)
    await lies(page, str, lambda said: None if '"do":"share"' in said else said)
    await time_is_over(page, game, "body[data-line=open]", shares.fix)
    await expect(page.locator("#chance .bad").first).to_contain_text("it came too late")
    await expect(page.locator("#chance .bad").last).to_contain_text("No player’s random number counts")
    await assert_no_barriers(page)
    await shot(page, "share-late")
    await ended(game)
    said = await verdicts(page)
    assert beginnings(said["warn"]) == {GIVEN}
    assert "No player’s browser added a random number" in said["warn"][-1]


async def test_a_share_that_the_server_did_not_open_is_said_so_at_the_table(open_page: OpenPage) -> None:
    irma, game = await irmas_game()
    page = await open_page(person=irma)
    await lies(page, str, lambda said: None if '"do":"nonce"' in said else said)
    await time_is_over(page, game, "#listed", shares.seal)
    await expect(page.locator("#chance .bad").first).to_contain_text("though it was sealed in time")
    await ended(game)
    said = await verdicts(page)
    assert beginnings(said["bad"]) == {GIVEN}


async def test_a_share_that_a_player_withheld_is_said_at_the_table_and_in_the_check(open_page: OpenPage) -> None:
    irma, max_ = [await sync_to_async(User.objects.create_user)(name) for name in ("Irma Vep", "Max")]
    seats = [NewSeat("violet", irma.pk), NewSeat("amber", max_.pk)]
    game = await sync_to_async(open_game)(seats, pace="relaxed")
    await sync_to_async(shares.commit)(game.pk, 1, "ab" * 32)
    page = await open_page(person=irma, viewport={"width": 360, "height": 640})
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("#listed")).to_be_visible()
    await sync_to_async(eventually)(lambda: chance_secrets.nonce_of(game.pk, 0))
    await sync_to_async(shares.seal)(game.pk)
    withheld = "Max sealed a random number and did not open it in time."
    await expect(page.locator("#chance .warn")).to_have_text(withheld)
    await assert_fits(page)
    await assert_no_barriers(page)
    await shot(page, "share-withheld")
    await ended(game)
    said = await verdicts(page)
    assert said["warn"] == [withheld]
    assert GIVEN in beginnings(said["good"])


async def test_a_browser_that_keeps_nothing_plays_and_cannot_say(open_page: OpenPage) -> None:
    irma, game = await irmas_game()
    page = await open_page(person=irma)
    await page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }"
    )
    await begun(page, game)
    await expect(page.locator("#chance .good")).to_be_visible()
    await ended(game)
    await page.reload()
    said = await verdicts(page)
    assert said["bad"] == []
    assert beginnings(said["warn"]) == {SHOWN, AGREED, GIVEN}


async def test_a_full_store_loses_the_games_that_were_checked_first(open_page: OpenPage) -> None:
    irma, game = await irmas_game()
    page = await open_page(person=irma)
    await page.goto("/about/")
    await page.evaluate(
        """() => {
          localStorage.setItem("chance-older", JSON.stringify({ at: 1, pad: "x".repeat(4000) }));
          localStorage.setItem("chance-checked", JSON.stringify({ at: 2, checked: true, pad: "x".repeat(4000) }));
          localStorage.setItem("fills", "");
          for (let size = 1 << 22; size > 0; size >>= 1) {
            try { localStorage.fills += "x".repeat(size); } catch { /* less, then */ }
          }
        }"""
    )
    await begun(page, game)
    names = await page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('chance-'))")
    assert f"chance-{game.code}" in names
    assert "chance-checked" not in names
    assert "chance-older" in names


async def test_a_seed_with_one_digit_changed_is_told_as_not_true(open_page: OpenPage) -> None:
    page = await at_the_end(open_page)

    def lie(line: WebSocketRoute) -> None:
        server = line.connect_to_server()
        server.on_message(lambda message: line.send(re.sub(r'("server_seed": ?")(.)', changed, str(message))))

    def changed(found: re.Match[str]) -> str:
        return found[1] + ("1" if found[2] == "0" else "0")

    await page.route_web_socket(re.compile("ws"), lie)
    await page.reload()
    await ask_for_the_proof(page)
    told = page.locator("#checked li.bad")
    await expect(told.filter(has_text="The seed fits its hash")).to_contain_text("BROKEN")
    await expect(told.filter(has_text="The tiles of every round")).to_contain_text("BROKEN")
    await expect(told.filter(has_text="All art came out of the bag")).to_contain_text("BROKEN")


async def test_without_the_record_nothing_is_called_true(open_page: OpenPage, watch: Watch) -> None:
    watch.expect("status of 404")
    page = await at_the_end(open_page)

    async def none(route: Route) -> None:
        await route.fulfill(status=404, body="{}")

    await page.route("**/record.json", none)
    await ask_for_the_proof(page)
    await expect(page.locator("#checked")).to_have_text(
        "The record of this game cannot be had now: nothing was checked."
    )
