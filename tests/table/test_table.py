"""A table over real sockets, behind a real Daphne."""

import asyncio

import pytest

from tests.browser.site import Site
from tests.table.conftest import NewMatch

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
