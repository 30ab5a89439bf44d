"""A process that is busy is not gone: it keeps its games, and no player is spared a defeat by keeping it busy."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from django.utils import timezone

from accounts.models import User
from games import clock, ladder, servers, troubles
from games.models import Game, Server
from games.opening import NewSeat, open_game
from games.rules import terms
from games.rules.events import Resumed
from games.tables import Tables
from tests.browser.site import Site
from tests.games.written import Written
from tests.table.conftest import Match, NewMatch, NewTables, eventually, garage, log_of, session_of, stand_still
from tests.table.inside import InnerPage

pytestmark = [pytest.mark.both_databases]

ALICE, BOB = 0, 1
LONGER_THAN_SILENCE = servers.SILENT_MS / 1000 + 0.5


def ranked_match() -> Match:
    """A ranked live game of two people with accounts, who have played one round and gather for the next."""
    people = [User.objects.create_user(name) for name in ("Alice", "Bob")]
    seats = [NewSeat(character, one.pk) for one, character in zip(people, terms.CHARACTERS, strict=False)]
    game = open_game(seats, ranked=True)
    play = Written(game)
    while play.state.round == 1:
        play.step()
    now = clock.database_now()
    times = {"started_ms": now - play.state.at, "wake_at": now - play.state.at + play.state.limit}
    Game.objects.filter(pk=game.pk).update(**times)
    return Match(game, [session_of(person) for person in people])


@database_sync_to_async
def losses_of(match: Match) -> list[tuple[bool, int]]:
    return [(event.stalled, event.lost_ms) for event in log_of(match.game.pk) if isinstance(event, Resumed)]


@database_sync_to_async
def rated(match: Match) -> Game:
    """The game, once its ladder has seen to it."""
    ladder.rate_game(match.game.pk)
    return Game.objects.get(pk=match.game.pk)


@database_sync_to_async
def staff_is_shown(match: Match) -> bool:
    what = "Rated games whose server stood still for more than a minute"
    (finding,) = [finding for finding in troubles.look() if finding.what == what]
    return finding.wrong and list(finding.games) == [match.game.code]


class Onlooker(threading.Thread):
    """Another process, as it were: what it finds about that one, again and again, whatever this loop does."""

    def __init__(self, server: int) -> None:
        super().__init__()
        self.server = server
        self.peers = servers.Peers()
        self.own = Server.objects.create(name="onlooker", seen=clock.database_now()).pk
        self.found: list[bool] = []
        self.enough = threading.Event()

    def run(self) -> None:
        while not self.enough.wait(0.1):
            now = clock.database_now()
            Server.objects.filter(pk=self.own).update(seen=now)
            self.peers.look(self.own, servers.signs(), [], now)
            self.found.append(self.server not in self.peers.alive())
        connection.close()


@pytest.mark.slow
async def test_a_process_whose_loop_stands_still_is_not_taken_for_gone(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, keeper = await new_match(), await new_tables()
    alice, _ = await match.inside(keeper)
    onlooker = await database_sync_to_async(Onlooker)(keeper.server)
    onlooker.start()
    time.sleep(LONGER_THAN_SILENCE)  # noqa: ASYNC251 - the loop is to stand still
    assert (await alice.do("lift", tile=garage(alice)[0]))["code"] == "resuming"
    onlooker.enough.set()
    onlooker.join()
    assert onlooker.found
    assert not any(onlooker.found)
    # One fault, one event: and it does not say that the process was gone.
    ((stalled, lost_ms),) = await losses_of(match)
    assert stalled
    assert lost_ms > servers.SILENT_MS
    assert await match.faults() == []


async def test_a_stuck_process_loses_its_games_without_being_gone(new_match: NewMatch, new_tables: NewTables) -> None:
    match, keeper = await new_match(), await new_tables()
    await match.inside(keeper)
    assert keeper._looking is not None
    keeper._looking.cancel()
    keeper.heartbeat.fall_silent()
    for table in keeper._tables.values():
        table._set_timer(None)
        table._turns.stop()
    ago = 2 * servers.STUCK_MS
    await Game.objects.filter(pk=match.game.pk).aupdate(started_ms=keeper.clock.now() - ago - 10_000)
    heir = await new_tables()
    await InnerPage(ALICE).join(heir, match.game)

    async def is_taken() -> bool:
        # It goes on to say that it lives, and that its loop does not turn.
        now = heir.clock.now()
        await Server.objects.filter(pk=keeper.server).aupdate(seen=now, clock=now, turned=now - ago)
        return (await Game.objects.aget(pk=match.game.pk)).kept_by_id == heir.server

    await eventually(is_taken)
    ((stalled, lost_ms),) = await losses_of(match)
    assert stalled
    assert lost_ms > servers.STUCK_MS


@database_sync_to_async
def orphans_beside(keeper: Tables, stands_still_ms: int) -> list[int]:
    """The games that another process would take while that one says that it has stood still for so long."""
    servers.beat(keeper.server, keeper.clock, stands_still_ms)
    mine, now, peers = keeper.server + 1, keeper.clock.now(), servers.Peers()
    peers.look(mine, servers.signs(), [], now)
    return servers.orphans(now, mine, peers.alive())


async def test_a_busy_process_keeps_its_games_and_a_stuck_one_does_not(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, keeper = await new_match(), await new_tables()
    await match.inside(keeper)
    keeper.heartbeat.fall_silent()
    assert await orphans_beside(keeper, servers.STUCK_MS - 1_000) == []
    assert await orphans_beside(keeper, servers.STUCK_MS + 1_000) == [match.game.pk]


async def test_leaving_a_process_that_is_kept_busy_is_a_rated_defeat(
    transactional_db: Any, new_tables: NewTables, so_often: Callable[[int, int], int]
) -> None:
    match, keeper = await database_sync_to_async(ranked_match)(), await new_tables()
    pages = [await InnerPage(seat).join(keeper, match.game) for seat in (ALICE, BOB)]
    for turn in range(26):
        if so_often(0, 1):
            time.sleep(LONGER_THAN_SILENCE)  # noqa: ASYNC251 - the loop is to stand still
        else:
            stand_still(keeper, LONGER_THAN_SILENCE * 1000)
        await pages[ALICE].do("ready", on=turn % 2 == 0)
    await pages[BOB].do("leave")
    losses = await losses_of(match)
    assert all(stalled for stalled, _ in losses)
    assert sum(lost_ms for _, lost_ms in losses) > ladder.finished.MOST_LOST_MS
    game = await rated(match)
    assert (game.rated, game.lost_ms) == (Game.Rated.RATED, 0)
    assert game.stalled_ms == sum(lost_ms for _, lost_ms in losses)
    assert await staff_is_shown(match)
    await Game.objects.filter(pk=game.pk).aupdate(voided=timezone.now())
    assert not await staff_is_shown(match)


async def test_a_game_whose_process_was_killed_and_stayed_away_is_not_rated(web: Site, transactional_db: Any) -> None:
    match = await database_sync_to_async(ranked_match)()
    pages = [await match.page(web, seat).open() for seat in (ALICE, BOB)]
    await pages[ALICE].do("ready", on=True)
    web.kill()
    # More than a minute goes by.
    away = ladder.finished.MOST_LOST_MS + 1_000
    game = await Game.objects.aget(pk=match.game.pk)
    assert game.started_ms is not None
    assert game.wake_at is not None
    await Game.objects.filter(pk=game.pk).aupdate(started_ms=game.started_ms - away, wake_at=game.wake_at - away)
    keeper = await Server.objects.aget(pk=game.kept_by_id)
    assert keeper.clock is not None
    ago = {"seen": keeper.seen - away, "turned": keeper.seen - away, "clock": keeper.clock - away}
    await Server.objects.filter(pk=keeper.pk).aupdate(**ago)
    web.start()
    for page in pages:
        await page.open()
    await pages[BOB].do("leave")
    ((stalled, lost_ms),) = await losses_of(match)
    assert not stalled
    assert lost_ms > away
    game = await rated(match)
    assert (game.rated, game.lost_ms, game.stalled_ms) == (Game.Rated.FAULT, lost_ms, 0)
    await match.close()
