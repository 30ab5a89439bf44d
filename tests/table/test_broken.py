"""A game whose log cannot be read: whoever comes is told, and nobody else suffers."""

import json
from collections.abc import Awaitable, Callable

import pytest

from games.models import Event, Game
from games.tables import here, stop_here
from tests.table.conftest import Match, NewMatch, line_of
from tests.table.long_games import long_game

pytestmark = [pytest.mark.both_databases]


async def break_the_log(match: Match) -> None:
    """It begins with what no event is."""
    await long_game(match, 10)
    await Event.objects.filter(game=match.game, seq=2).aupdate(body='{"type":"dance"}')


async def take_away_the_game(match: Match) -> None:
    """Its table is here, and the game is no more."""
    assert await (await here()).table(match.game.code) is not None
    await Game.objects.filter(pk=match.game.pk).adelete()


@pytest.mark.parametrize(
    ("happens", "notice", "code"), [(break_the_log, "fault", 4500), (take_away_the_game, "no_game", 4404)]
)
async def test_a_page_that_cannot_be_let_in_hears_why_and_is_closed(
    happens: Callable[[Match], Awaitable[None]], notice: str, code: int, new_match: NewMatch
) -> None:
    match = await new_match()
    await happens(match)
    line = await line_of(match, 0, f"/ws/1/games/{match.game.code}")
    await line.send_json_to({"do": "join", "page": "alice"})
    assert json.loads((await line.receive_output())["text"])["code"] == notice
    assert await line.receive_output() == {"type": "websocket.close", "code": code, "reason": None}
    await line.disconnect()
    await stop_here()
