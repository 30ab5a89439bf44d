"""Whole games, and not one message that tells a seat what it may not know (R6.7)."""

import asyncio
import json
import random
from collections.abc import Callable

import pytest
from channels.db import database_sync_to_async

from games import log, opening, rules
from games.rules import commands, events, terms
from games.tables import Tables
from tests.rules.random_play import choose, random_game, terms_for
from tests.table.conftest import QUICK, Match, NewMatch, NewTables
from tests.table.inside import InnerPage
from tests.table.oracle import Oracle
from tests.table.page import Message

AT_ONCE = 10


def skip(tables: Tables, ms: int) -> None:
    """Time passes for these tables, and nobody was away meanwhile."""
    assert tables.clock._ahead is not None
    tables.clock._ahead += ms
    tables._beaten += ms


async def play_through(match: Match, tables: Tables, seed: int) -> list[InnerPage]:
    """A whole game of any legal commands; pages break off and come back as they like."""
    chance = random.Random(seed)
    pages = await match.inside(tables)
    pages.append(await InnerPage(None, "watcher").join(tables, match.game))
    table = await tables.table(match.game.code)
    assert table is not None
    while not table.over:
        state = table.state
        assert state is not None
        seat = chance.choice(state.staying())
        if chance.random() < 0.03:
            page = chance.choice(pages)
            page.leave()
            await page.settle()
            await page.join(tables, match.game, chance.choice((None, page.head)))
        wish = choose(rules.legal(state, seat, table.at()), chance)
        if chance.random() < 0.001:
            wish = commands.Leave()
        if wish is not None:
            await asyncio.wait_for(pages[seat].ask(wish), 30)
        else:
            due = rules.wake_at(state)
            if state.phase == "countdown" and due is not None:
                skip(tables, max(0, due - table.at()))
                table.wake()
            await table.settle()
    return pages


def raw_log(match: Match) -> list[dict[str, object]]:
    return [{**json.loads(line.body), "seq": line.seq, "at": line.at} for line in log.since(match.game.pk, 0).lines]


@pytest.mark.slow
async def test_no_message_of_a_whole_game_tells_a_seat_what_it_may_not_know(
    new_match: NewMatch, new_tables: NewTables, so_often: Callable[[int, int], int]
) -> None:
    tables = await new_tables()
    told = 0
    for batch in range(so_often(10, 100) // AT_ONCE):
        seeds = range(batch * AT_ONCE, (batch + 1) * AT_ONCE)
        matches = [
            await new_match(2 + seed % 3, QUICK, rulebook=terms.RULEBOOKS[seed % len(terms.RULEBOOKS)])
            for seed in seeds
        ]
        games = await asyncio.gather(
            *(play_through(match, tables, seed) for match, seed in zip(matches, seeds, strict=True))
        )
        for match, pages in zip(matches, games, strict=True):
            opened = await database_sync_to_async(opening.find_by_id)(match.game.pk)
            assert opened is not None
            raw = await database_sync_to_async(raw_log)(match)
            oracle = Oracle(pages[0].welcome["edition"], len(opened.sitters), raw)
            seed = opened.server_seed.hex()
            for page in pages:
                for frame in page.frames:
                    assert list(oracle.betrayals(frame, page.seat)) == []
                    assert seed not in frame or '"reveal"' in frame
                told += len(page.frames)
            assert await match.faults() == []
    assert told > so_often(5_000, 50_000)


def tampered(sight: Message, name: str) -> None:
    match name:
        case "loot":
            next(tile for tile in sight["tiles"] if tile["lies"] == "down")["loot"] = "cash"
        case "deck":
            sight["deck"] = ["tiara"]
        case "bag":
            sight["bag"] = ["watch"]
        case "hand":
            next(tile for tile in sight["tiles"] if tile["lies"] == "hand")["loot"] = "cash"
        case "card":
            sight["players"][1]["hidden"] = []
        case "points":
            sight["players"][1]["points"] = {"total": 3}
        case "seed":
            sight["server_seed"] = "00"


@pytest.mark.parametrize("name", ["loot", "deck", "bag", "hand", "card", "points", "seed"])
def test_whoever_told_a_secret_would_be_found_out(name: str) -> None:
    game = random_game(terms_for(1), 1)
    held = next(number for number, event in enumerate(game.log) if event.type == "lifted" and event.seat == 1)
    happened = game.log[: held + 1]
    oracle = Oracle(game.terms.edition.as_json(), 2, [events.write(event) for event in happened])
    sight: Message = json.loads(json.dumps(rules.sight(rules.replay(game.terms, happened), 0)))
    frame = {"type": "sight", "head": happened[-1].seq, "sight": sight}
    assert list(oracle.betrayals(json.dumps(frame), 0)) == []
    tampered(sight, name)
    assert list(oracle.betrayals(json.dumps(frame), 0)) != []
