"""A game whose log cannot be read: whoever comes is told, and nobody else suffers."""

import json
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from games import tables as tables_module
from games.models import Event, Game
from games.pauses import FIRST_SECONDS, MOST_SECONDS, Pauses
from games.pulse import pulse
from games.tables import here, stop_here
from tests.table.conftest import Match, NewMatch, NewTables, eventually, line_of
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


async def test_a_process_takes_such_a_game_up_again_only_after_a_pause_but_for_whoever_asks_for_it(
    new_match: NewMatch, new_tables: NewTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables_module, "LOOK_SECONDS", 0.02)
    match = await new_match()
    await break_the_log(match)
    await Game.objects.filter(pk=match.game.pk).aupdate(wake_at=0)
    faults, tables, now = pulse.faults, await new_tables(), 0.0
    tables.pauses = Pauses(lambda: now)

    async def broke_off(times: int) -> None:
        """So often, and not again however often the process looks."""

        async def so_often() -> bool:
            return pulse.faults == faults + times

        async def looked_on() -> bool:
            return tables._looks > looks + 5

        await eventually(so_often)
        looks = tables._looks
        await eventually(looked_on)
        assert await so_often()

    await broke_off(1)
    now = FIRST_SECONDS
    await broke_off(2)
    now += FIRST_SECONDS
    await broke_off(2)
    now += FIRST_SECONDS
    await broke_off(3)
    table = await tables.table(match.game.code)
    assert table is not None
    assert await table.look() is None
    await broke_off(4)


def test_a_pause_grows_up_to_a_bound_and_a_game_that_held_for_long_begins_anew() -> None:
    now = 0.0
    pauses = Pauses(lambda: now)
    ends = [0.0]
    for _ in range(15):
        pauses.begin(7)
        assert not pauses.hold(8)
        while pauses.hold(7):
            now += 1.0
        ends.append(now)
    lengths = [after - before for before, after in pairwise(ends)]
    assert lengths[:3] == [FIRST_SECONDS, 2 * FIRST_SECONDS, 4 * FIRST_SECONDS]
    assert lengths == sorted(lengths)
    assert lengths[-1] == MOST_SECONDS
    now += MOST_SECONDS
    pauses.begin(7)
    now += FIRST_SECONDS
    assert not pauses.hold(7)
