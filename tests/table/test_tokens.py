"""A program of somebody's own plays over the same socket, by a token, in casual games, and everybody can know."""

import contextlib

import pytest
from channels.db import database_sync_to_async

from accounts import tokens
from accounts.models import User
from games.frames import CloseCode
from tests.browser.site import Site
from tests.table.conftest import Match, NewMatch
from tests.table.page import Page

pytestmark = [pytest.mark.both_databases]


@database_sync_to_async
def token_of(match: Match, seat: int) -> tuple[User, int, str]:
    person = User.objects.get(seats__game=match.game, seats__number=seat)
    token, secret = tokens.make(person, "My bot")
    return person, token.pk, secret


async def test_a_program_plays_its_owners_seat_and_is_marked_as_one(web: Site, new_match: NewMatch) -> None:
    match = await new_match()
    people = await match.search(web)
    _, _, secret = await token_of(match, 0)
    program = match.page(web, 0, "program")
    program.headers = {"Authorization": f"Bearer {secret}"}
    await program.open()
    tile = next(spot for spot, tile in enumerate(program.sight["tiles"]) if tile["place"] == "garage")
    assert (await program.do("lift", tile=tile))["type"] == "events"
    await people[1].until(lambda page: page.sight["players"][0]["hand"] == tile)
    assert [seat["program"] for seat in people[1].welcome["seats"]] == [True, False]


async def test_a_revoked_token_ends_its_connection(web: Site, new_match: NewMatch) -> None:
    match = await new_match()
    await match.search(web)
    person, pk, secret = await token_of(match, 0)
    program = match.page(web, 0, "program")
    program.headers = {"Authorization": f"Bearer {secret}"}
    await program.open()
    await database_sync_to_async(tokens.revoke)(person, pk)
    await program.until(lambda page: page.close_code is not None)
    assert program.close_code == CloseCode.SIGNED_OUT


async def test_in_a_ranked_game_only_people_play(web: Site, new_match: NewMatch) -> None:
    match = await new_match(ranked=True, limits=None)
    _, _, secret = await token_of(match, 0)
    assert await closed_with(match.page(web, 0), f"Bearer {secret}") == CloseCode.NOT_ALLOWED


async def test_a_token_that_is_not_good_is_told_so(web: Site, new_match: NewMatch) -> None:
    match = await new_match()
    assert await closed_with(match.page(web, 0), "Bearer midnight_guess") == CloseCode.SIGNED_OUT


async def closed_with(page: Page, authorization: str) -> int | None:
    page.headers = {"Authorization": authorization}
    with contextlib.suppress(ConnectionError):
        await page.open()
    return page.close_code
