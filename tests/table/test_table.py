"""A table over real sockets, behind a real Daphne."""

import asyncio

import pytest

from tests.browser.site import Site
from tests.table.conftest import NewMatch, same_as_reload

pytestmark = [pytest.mark.both_databases]


async def test_a_game_begins_when_all_nonces_are_there_and_each_page_gets_its_own_back(
    web: Site, new_match: NewMatch
) -> None:
    match = await new_match()
    pages = await match.sit_down(web)
    assert [page.nonce for page in pages] == [f"{1:032x}", f"{2:032x}"]
    assert pages[0].sight["round"] == 1
    assert pages[0].welcome["commitment"] == match.game.commitment


async def test_of_two_hands_on_one_tile_exactly_one_gets_it_and_the_other_is_told_at_once(
    web: Site, new_match: NewMatch
) -> None:
    pages = await (await new_match()).search(web)
    tile = next(spot for spot, tile in enumerate(pages[0].sight["tiles"]) if tile["place"] == "garage")
    answers = await asyncio.gather(*(page.do("lift", tile=tile) for page in pages))
    assert sorted(answer["type"] for answer in answers) == ["events", "refused"]
    refused = next(answer for answer in answers if answer["type"] == "refused")
    assert refused["code"] == "tile_gone"


async def test_a_server_that_stops_tells_its_pages_and_the_next_one_goes_on_with_the_game(
    web: Site, new_match: NewMatch
) -> None:
    pages = await (await new_match()).search(web)
    tile = next(spot for spot, tile in enumerate(pages[0].sight["tiles"]) if tile["place"] == "garage")
    await pages[0].do("lift", tile=tile)
    web.stop()
    for page in pages:
        await page.until(lambda page: page.close_code is not None)
        assert page.notices == ["stopping"]
        assert page.close_code == 4503
    web.start()
    for page in pages:
        await page.open()
    # After a longer stop a countdown comes first, in which no command counts (R8.10).
    answer = await pages[0].do("stash", tile=tile)
    if answer.get("code") == "resuming":
        await asyncio.sleep((pages[0].sight["resumes_at"] - pages[0].sight["at"]) / 1000)
        answer = await pages[0].do("stash", tile=tile)
    assert answer["type"] == "events"
    await pages[1].until(lambda page: tile in page.sight["players"][0]["board"])
    for page in pages:
        await same_as_reload(page)


@pytest.mark.slow
async def test_a_bot_plays_its_seat_like_anybody_else(web: Site, new_match: NewMatch) -> None:
    match = await new_match(1, bots=["burglar"])
    [page] = await match.search(web)
    await page.until(lambda page: page.sight["players"][1]["board"] != [], seconds=30)
    await page.do("leave")
    await page.until(lambda page: page.sight["phase"] == "over")
    assert page.sight["reveal"]["ranking"] == [1, 0]
