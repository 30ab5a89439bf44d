"""A line that breaks costs nothing: what a page shows after it came back is what a reload shows, to the byte."""

import asyncio
import itertools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from channels.db import database_sync_to_async

from games import allowance, clock, log, rules, steps
from games.frames import Step
from games.models import Game, GameSecret, SeatSecret
from games.rules import commands
from games.rules.record import Record
from games.table import Table
from tests.browser.site import Site
from tests.games.finished import NAMES, kept
from tests.table.conftest import Match, NewMatch, NewTables, as_shown, garage
from tests.table.inside import InnerPage
from tests.table.page import Page
from tests.table.test_secrets import any_wish

# Together they have every event that there is, of players, of the clock, of leavers and after faults.
SOME_GAMES = ["pt-3-dozers", "es-2-resumed-and-left", "es-3-forsaken", "pt-4"]
# So many events before the last one a line may have broken: a page is told these, or where that is shorter the sight.
MISSED = (2, 7, 30, 63, 64, 65, 100)


def causes(record: Record) -> Iterator[list[Step]]:
    """What happened, each cause with all that followed from it: together it goes into the log."""
    state = rules.blank(record.head.terms)
    for _, happened in itertools.groupby(record.events, key=lambda event: event.at):
        done = steps.steps_of(state, list(happened))
        state = done[-1].after
        yield done


async def about_to_happen(new_match: NewMatch, record: Record) -> Match:
    """The game of this record before its first event."""
    terms = record.head.terms
    how = {"rulebook": terms.rulebook, "pace": terms.pace, "ranked": terms.ranked, "faces": terms.faces}
    match = await new_match(len(terms.seats), terms.limits, **how)
    # With the record's own limits: a game that is opened today has bounds that older ones had not.
    kept_so = {"commitment": terms.commitment, "limits": terms.limits.as_json()}
    await Game.objects.filter(pk=match.game.pk).aupdate(**kept_so)
    await GameSecret.objects.filter(game=match.game).aupdate(server_seed=terms.server_seed)
    for number, seat in enumerate(terms.seats):
        await SeatSecret.objects.filter(game=match.game, number=number).aupdate(nonce=seat.nonce)
    return match


async def happen(match: Match, done: list[Step]) -> None:
    """Another process writes this, and will not let go of the game."""

    def write() -> None:
        append = steps.append_of(match.game.pk, done, steps.lines_of(done), now=now, started_ms=now, kept_by=None)
        assert not log.write([replace(append, wake_at=None)])

    now = await database_sync_to_async(clock.database_now)()
    await database_sync_to_async(write)()


@pytest.mark.slow
async def test_cut_after_each_event_of_recorded_games_even_between_those_of_one_moment_a_page_resumes_to_the_byte(
    new_match: NewMatch, new_tables: NewTables, so_often: Callable[[int, int], int]
) -> None:
    tables, long = await new_tables(), bool(so_often(0, 1))
    for name in NAMES if long else SOME_GAMES:
        record = kept(name)
        match = await about_to_happen(new_match, record)
        viewers = [*range(len(record.head.terms.seats)), None]
        turns, missed = itertools.cycle(viewers), itertools.cycle(MISSED)
        pages: dict[int | None, InnerPage] = {}
        reloads: list[dict[int | None, str]] = [{}]
        for done in causes(record):
            before = max(1, len(reloads) - 1)
            for step in done:
                reloads.append({seat: json.dumps(rules.sight(step.after, seat), sort_keys=True) for seat in viewers})
            await happen(match, done)
            table = await tables.table(match.game.code)
            assert table is not None
            table.catch_up(len(reloads) - 1)
            await table.settle()
            for seat, page in pages.items():
                assert as_shown(page) == reloads[-1][seat]
            for after in [*range(before, len(reloads)), max(1, len(reloads) - 1 - next(missed))]:
                for seat in viewers if long or not pages else [next(turns)]:
                    if seat is None and None in pages:
                        pages[None].leave()
                    page = pages[seat] = InnerPage(seat)
                    page.sight, page.head = json.loads(reloads[after][seat]), after
                    await page.join(tables, match.game, after)
                    assert as_shown(page) == reloads[-1][seat], (name, after, seat)
        assert len(reloads) == 1 + len(record.events)
        assert await match.faults() == []


async def shows_the_present(page: Page, follower: InnerPage, table: Table) -> None:
    """Once a page has heard as much as one that was never cut off, it shows what a reload would show."""
    while page.head != follower.head:
        await page.until(lambda page: page.head >= follower.head)
        await follower.until(lambda follower: follower.head >= page.head)
    assert table.state is not None
    assert as_shown(page) == json.dumps(rules.sight(table.state, page.seat), sort_keys=True)


@pytest.mark.both_databases
@pytest.mark.slow
async def test_cut_after_each_event_of_a_whole_game_over_real_sockets_a_page_resumes_to_the_byte(
    web: Site, new_match: NewMatch, new_tables: NewTables, so_often: Callable[[int, int], int]
) -> None:
    match, tables, chance = await new_match(4), await new_tables(), random.Random(4)
    players = await match.sit_down(web)
    pages = [*players, await match.page(web, None).open()]
    turns, long = itertools.cycle(pages), bool(so_often(0, 1))
    follower = await InnerPage(None).join(tables, match.game)
    table = await tables.table(match.game.code)
    assert table is not None
    cuts = head = 0
    while not table.over:
        assert table.state is not None
        if (wish := any_wish(table.state, table.at(), chance)) is not None:
            seat, command = wish
            said = commands.write(command)
            if (await players[seat].do(str(said.pop("do")), **said)).get("code") == "flood":
                await asyncio.sleep(1 / allowance.FORGIVEN_FLOODS)
        else:
            # Only the clock has something to do.
            await asyncio.sleep(0.01)
        if table.head > head:
            head = table.head
            for page in pages if long else [next(turns)]:
                await page.cut()
                await page.open()
                await shows_the_present(page, follower, table)
                cuts += 1
    assert cuts > 100
    await match.all_see_the_log(pages)
    assert await match.faults() == []


@pytest.mark.both_databases
async def test_whoever_missed_more_than_a_little_gets_a_whole_sight(new_match: NewMatch, new_tables: NewTables) -> None:
    match, tables = await new_match(), await new_tables()
    alice, bob = await match.inside(tables)
    alice.leave()
    missed = alice.head
    for turn in range(40):
        tile = garage(bob)[turn % 10]
        await bob.do("lift", tile=tile)
        await bob.do("return", tile=tile, face="up")
        if turn == 10:
            await alice.join(tables, match.game, missed)
            assert [frame[:15] for frame in alice.frames[-2:]] == ['{"type":"welcom', '{"type":"events']
            assert as_shown(alice) == (await match.in_the_log(0))[0]
            alice.leave()
    alice.head = missed
    await alice.join(tables, match.game, missed)
    assert alice.frames[-1].startswith('{"type":"sight"')
    assert as_shown(alice) == (await match.in_the_log(0))[0]


@pytest.mark.both_databases
async def test_whoever_comes_from_a_process_that_was_ahead_is_not_thrown_back(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, one, other = await new_match(), await new_tables(), await new_tables()
    alice, bob = await match.inside(one, other)
    behind = await other.table(match.game.code)
    assert behind is not None
    # No ring is heard there for a moment.
    heard, other.doorbell._heard = other.doorbell._heard, lambda *_: None
    done = await alice.do("lift", tile=garage(alice)[0])
    assert behind.head < done["head"]
    alice.leave()
    await alice.join(other, match.game, alice.head)
    assert alice.frames[-1].startswith('{"type":"welcome"')
    assert alice.head == done["head"] == behind.head == bob.head
    other.doorbell._heard = heard


@pytest.mark.both_databases
async def test_a_page_that_claims_to_know_the_future_is_told_the_present(
    new_match: NewMatch, new_tables: NewTables
) -> None:
    match, tables = await new_match(), await new_tables()
    await match.inside(tables)
    prophet = await InnerPage(None).join(tables, match.game, 999_999)
    assert as_shown(prophet) == (await match.in_the_log(None))[0]
