"""What the page of a game says to whoever does not see it: what matters, each sentence once."""

import asyncio
import json
import re

from asgiref.sync import sync_to_async
from playwright.async_api import Page, WebSocketRoute, expect

from accounts.models import User
from games import names
from tests.browser import player, staged
from tests.browser.conftest import OpenPage

# Everything that the page has said so far, and no hint beside it.
HEAR = """
localStorage.setItem("taught", JSON.stringify(["", "", ""]));
window.heard = [];
new MutationObserver((all) => {
  for (const { target, addedNodes } of all) {
    if (target.id === "said") for (const part of addedNodes) window.heard.push(part.textContent);
  }
}).observe(document, { childList: true, subtree: true });
"""
IN_HAND = re.compile(rf"In your hand: ({'|'.join(str(name) for name in names.LOOT.values())})")


async def people(*called: str) -> list[User]:
    return [await sync_to_async(User.objects.create_user)(name) for name in called]


async def heard(page: Page) -> list[str]:
    said: list[str] = await page.evaluate("window.heard")
    return said


async def hears(page: Page, sentence: str) -> None:
    await page.wait_for_function("(sentence) => window.heard.includes(sentence)", arg=sentence)


async def listening(open_page: OpenPage, person: User, code: str) -> Page:
    page = await open_page(person=person)
    await listen(page, code)
    return page


async def listen(page: Page, code: str) -> None:
    await page.add_init_script(HEAR)
    await page.goto(f"/games/{code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")


async def test_a_whole_round_is_told_to_whoever_does_not_see_it(open_page: OpenPage) -> None:
    irma, max_ = await people("Irma Vep", "Max")
    game = await staged.staged([irma, max_], staged.gathering, bots=0)
    hers, his = [await listening(open_page, person, game.code) for person in (irma, max_)]
    await asyncio.gather(*(player.get_ready(page) for page in (hers, his)))
    lifted = 0
    while not await hers.locator("#escape").is_visible():
        assert await player.lift_and_stash(hers)
        lifted += 1
    await hears(hers, "Six tiles: escape! Whoever leaves first shops first.")
    await hers.locator("#escape").click()
    await asyncio.gather(*(player.until(page, "exchange") for page in (hers, his)))
    await asyncio.gather(*(player.trade(page) for page in (hers, his)))
    for page in (hers, his):
        await hears(page, "Round 2. Everybody ready?")

    told = await heard(hers)
    assert told[:2] == ["Get ready", "The search begins."]
    in_hand = told[2 : 2 + lifted]
    assert all(IN_HAND.fullmatch(sentence) for sentence in in_hand), told
    assert told[2 + lifted : 6 + lifted] == [
        "Six tiles: escape! Whoever leaves first shops first.",
        "One! Irma Vep slips away.",
        "Two! Max slips away.",
        "Exchange.",
    ]
    assert told[6 + lifted] == "It is your turn."
    assert told[-1] == "Round 2. Everybody ready?"
    # What she holds is hers to know, and what lies between does not concern him.
    theirs = await heard(his)
    assert theirs[:5] == told[:2] + told[3 + lifted : 6 + lifted]
    assert theirs[5] == "It is the turn of Irma Vep."


async def test_the_tile_in_the_hand_says_what_it_is(open_page: OpenPage) -> None:
    (irma,) = await people("Irma Vep")
    game = await staged.staged([irma], staged.searching)
    page = await listening(open_page, irma, game.code)
    await page.locator("#tiles .tile.garage.down").first.click()
    await page.wait_for_function("() => window.heard.some((sentence) => sentence.startsWith('In your hand'))")
    said = next(found[1] for found in map(IN_HAND.fullmatch, await heard(page)) if found)
    own = str(await page.locator("#tiles .own").get_attribute("aria-label"))
    assert own.startswith(f"{said}, Garage tile in your hand"), own


async def test_what_a_hand_holds_is_told_once_though_the_server_says_wait(open_page: OpenPage) -> None:
    (irma,) = await people("Irma Vep")
    game = await staged.staged([irma], staged.searching)
    page = await open_page(person=irma)
    refused: list[str] = []

    def too_early(line: WebSocketRoute) -> None:
        server = line.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            asked = json.loads(message)
            if asked["do"] == "return" and not refused:
                refused.append(asked["id"])
                no = {"type": "refused", "id": asked["id"], "code": "too_early", "text": "", "head": 0}
                line.send(json.dumps(no))
            else:
                server.send(message)

        line.on_message(pass_on)

    await page.route_web_socket(re.compile("/games/"), too_early)
    await listen(page, game.code)
    assert await player.tap(page.locator("#tiles .tile.garage.down").first)
    assert await player.held(page)
    await page.keyboard.press("d")
    await expect(page.locator("#hand.holding")).to_have_count(0)
    await page.wait_for_function("() => document.querySelector('#tiles .own') === null")
    assert refused
    assert len([sentence for sentence in await heard(page) if IN_HAND.fullmatch(sentence)]) == 1


async def test_the_end_and_who_won_are_told(open_page: OpenPage) -> None:
    (irma,) = await people("Irma Vep")
    game = await staged.staged([irma], staged.last_exchange)
    page = await listening(open_page, irma, game.code)
    await player.trade(page)
    await expect(page.locator("table.sheet")).to_be_visible()
    told = await heard(page)
    who = await page.locator("#the-end").inner_text()
    assert told[-2] == "The end."
    assert told[-1].startswith(f"{who}. ")
