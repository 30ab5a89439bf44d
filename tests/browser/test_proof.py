"""The proof of the shuffles, which anybody may check in the browser: true of every honest game, and of no other."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import Page, Route, WebSocketRoute, expect

from accounts.models import User
from games import rules
from games.rules.record import Record, read_record
from tests.browser import staged
from tests.browser.conftest import OpenPage
from tests.browser.watch import Watch

RECORDS = Path(__file__).resolve().parents[1] / "records"
NAMES = sorted(path.stem for path in RECORDS.glob("*.jsonl"))
EMPTY_BAG = "fr-4-bag-opened-empty"

CHECK = """async ([sight, record, edition, own]) => {
  const { check } = await import("/static/games/js/proof.js");
  return Object.fromEntries(await check(sight, record, edition, own));
}"""
NOTHING = {"nonce": None, "commitment": None}


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


async def checked(page: Page, sight: object, document: dict[str, Any], own: object = NOTHING) -> dict[str, bool]:
    await page.goto("/about/")
    found: dict[str, bool] = await page.evaluate(CHECK, [sight, document, document["edition"], own])
    return found


@pytest.mark.parametrize("name", NAMES)
async def test_every_shuffle_of_every_kept_record_is_found_true(name: str, page: Page) -> None:
    record, document = kept(name)
    found = await checked(page, last_sight(record), document)
    assert set(found) - {"markets"} == {"seed", "tiles", "bag", "deck"}
    assert ("markets" in found) == (document["markets_by"] == "draw")
    assert all(found.values()), found


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
    assert {name for name, holds in found.items() if not holds} == {untrue}


async def test_what_this_browser_gave_and_was_shown_must_be_in_it(page: Page) -> None:
    record, document = kept(EMPTY_BAG)
    sight = last_sight(record, 0)
    own = {"nonce": document["seats"][0]["nonce"], "commitment": document["commitment"]}
    assert all((await checked(page, sight, document, own)).values())
    assert not (await checked(page, sight, document, own | {"nonce": "ab" * 16}))["nonce"]
    assert not (await checked(page, sight, document, own | {"commitment": "0" * 64}))["seed"]


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
    await expect(told.filter(has_text="The seed is the one whose hash was shown")).to_contain_text("NOT true")
    await expect(told.filter(has_text="The tiles of every round")).to_contain_text("NOT true")
    await expect(told.filter(has_text="All art came out of the bag")).to_contain_text("NOT true")


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
