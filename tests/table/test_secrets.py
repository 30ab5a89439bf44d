"""Whole games, and not one message that tells a seat what it may not know (R6.7)."""

import asyncio
import itertools
import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pytest
from channels.db import database_sync_to_async
from websockets.exceptions import ConnectionClosed

from games import log, opening, rules
from games.rules import State, commands, events, terms
from games.rules.commands import Command
from games.tables import Tables
from tests.browser.site import Site
from tests.rules.random_play import choose, random_game, terms_for
from tests.table.conftest import QUICK, Match, NewMatch, NewTables, skip
from tests.table.inside import InnerPage
from tests.table.oracle import ENVELOPES, Oracle
from tests.table.page import Message, Page, Picture

AT_ONCE = 10


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
            async with asyncio.timeout(30):
                await pages[seat].ask(wish)
        else:
            due = rules.wake_at(state)
            if state.phase == "countdown" and due is not None:
                skip(tables, max(0, due - table.at()))
                table.wake()
            await table.settle()
    return pages


def oracle_of(match: Match) -> Oracle:
    opened = opening.find_by_id(match.game.pk)
    assert opened is not None
    lines = log.since(match.game.pk, 0).lines
    raw = [{**json.loads(line.body), "seq": line.seq, "at": line.at} for line in lines]
    return Oracle(opened.terms(), [sitter.name for sitter in opened.sitters], raw)


async def secrets_told(match: Match, pages: Sequence[Picture]) -> list[str]:
    """What these pages were told in a game that is over and should not have been."""
    oracle = await database_sync_to_async(oracle_of)(match)
    return [told for page in pages for frame in page.frames for told in oracle.betrayals(frame, page.seat)]


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
            assert await secrets_told(match, pages) == []
            told += sum(len(page.frames) for page in pages)
            assert await match.faults() == []
    assert told > so_often(5_000, 50_000)


@dataclass
class Unruly:
    """Somebody at a real socket, who does everything that a connection may go through."""

    match: Match
    web: Site
    page: Page
    # The last command of this page that counted.
    counted: str = ""

    async def plays(self, command: Command) -> None:
        said, command_id = commands.write(command), self.page.new_id()
        if (await self.page.do(str(said.pop("do")), command_id, **said))["type"] == "events":
            self.counted = command_id

    async def says_what_nobody_understands(self) -> None:
        await self.page.send_raw('{"do": "dance", "id": "d"}')

    async def asks_for_what_cannot_be(self) -> None:
        await self.page.do("escape")

    async def asks_again(self) -> None:
        await self.page.do("pass", self.counted)

    async def asks_too_much(self) -> None:
        await asyncio.gather(*(self.page.do("pass") for _ in range(30)))

    async def beats(self) -> None:
        await self.page.send(do="beat", mark=self.page.mark)

    async def gives_another_nonce(self) -> None:
        await self.page.send(do="nonce", nonce="f" * 32)

    async def breaks_off(self) -> None:
        await self.page.cut()

    async def forgets_everything(self) -> None:
        await self.page.cut()
        self.page.sight = {}

    async def opens_a_second_page(self) -> None:
        await (await self.match.page(self.web, self.page.seat, "second").open()).close()

    async def comes_back(self) -> None:
        if not self.page.is_open:
            await self.page.open()


TROUBLES = [
    Unruly.says_what_nobody_understands,
    Unruly.asks_for_what_cannot_be,
    Unruly.asks_again,
    Unruly.asks_too_much,
    Unruly.beats,
    Unruly.gives_another_nonce,
    Unruly.breaks_off,
    Unruly.forgets_everything,
    Unruly.opens_a_second_page,
]


async def play_over_sockets(match: Match, web: Site, tables: Tables, seed: int) -> None:
    """A whole game of any legal commands and all troubles."""
    chance = random.Random(seed)
    players = [Unruly(match, web, page) for page in await match.sit_down(web)]
    everybody = [*players, Unruly(match, web, await match.page(web, None).open())]
    troubles = itertools.cycle([(one, trouble) for trouble in TROUBLES for one in everybody])
    follower = await InnerPage(None).join(tables, match.game)
    table = await tables.table(match.game.code)
    assert table is not None
    while not table.over:
        assert table.state is not None
        one, trouble = next(troubles)
        with suppress(ConnectionError, ConnectionClosed):
            await trouble(one)
        for _ in range(10):
            for one in everybody:
                await one.comes_back()
            if (wish := any_wish(table.state, table.at(), chance)) is not None:
                seat, command = wish
                with suppress(ConnectionError):
                    await players[seat].plays(command)
            # Nobody is to ask for more than 20 things a second.
            await asyncio.sleep(0.05 / len(players))
    follower.leave()
    for one in everybody:
        await one.comes_back()
        await one.page.until(lambda page: page.sight["phase"] == "over")


def any_wish(state: State, at: int, chance: random.Random) -> tuple[int, Command] | None:
    found = [(seat, choose(rules.legal(state, seat, at), chance)) for seat in state.staying()]
    wishes = [(seat, wish) for seat, wish in found if wish is not None]
    return chance.choice(wishes) if wishes else None


@pytest.mark.slow
@pytest.mark.both_databases
async def test_over_real_sockets_no_message_of_any_kind_tells_a_secret(
    web: Site, new_match: NewMatch, new_tables: NewTables, so_often: Callable[[int, int], int]
) -> None:
    tables, at_once = await new_tables(), so_often(1, AT_ONCE)
    for first in range(0, so_often(1, 100), at_once):
        seeds = range(first, first + at_once)
        matches = [await new_match(4, rulebook=terms.RULEBOOKS[seed % len(terms.RULEBOOKS)]) for seed in seeds]
        await asyncio.gather(
            *(play_over_sockets(match, web, tables, seed) for match, seed in zip(matches, seeds, strict=True))
        )
        for match in matches:
            assert await secrets_told(match, match.pages) == []
            assert {json.loads(frame)["type"] for page in match.pages for frame in page.frames} == ENVELOPES.keys()
            assert await match.faults() == []


TAMPERED: dict[str, Callable[[Message], object]] = {
    "loot": lambda sight: next(tile for tile in sight["tiles"] if tile["lies"] == "down").update(loot="cash"),
    "hand": lambda sight: next(tile for tile in sight["tiles"] if tile["lies"] == "hand").update(loot="cash"),
    "deck": lambda sight: sight.update(deck=["tiara"]),
    "bag": lambda sight: sight.update(bag=["watch"]),
    "art": lambda sight: sight["markets"][0]["art"].append("watch"),
    "tour": lambda sight: sight.update(tour="watch"),
    "card": lambda sight: sight["players"][1].update(hidden=[]),
    "points": lambda sight: sight["players"][1].update(points={"total": 3}),
    "seed": lambda sight: sight.update(server_seed="00"),
    "commitment": lambda sight: sight.update(commitment="00"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_sight_that_told_a_secret_would_be_found_out(name: str) -> None:
    happened, oracle = a_hand_holds_a_tile()
    sight: Message = json.loads(json.dumps(rules.sight(happened, 0)))
    frame = {"type": "sight", "head": happened.seq, "sight": sight}
    assert list(oracle.betrayals(json.dumps(frame), 0)) == []
    TAMPERED[name](sight)
    assert list(oracle.betrayals(json.dumps(frame), 0)) != []


def a_hand_holds_a_tile() -> tuple[State, Oracle]:
    """A game in which seat 1 has a tile in its hand."""
    game = random_game(terms_for(1), 1)
    held = next(number for number, event in enumerate(game.log) if event.type == "lifted" and event.seat == 1)
    happened = game.log[: held + 1]
    oracle = Oracle(game.terms, ["Alice", "Bob"], [events.write(event) for event in happened])
    return rules.replay(game.terms, happened), oracle


NONCES = [seat.nonce.hex() for seat in terms_for(1).seats]
ANSWERS: dict[str, tuple[Message, Message]] = {
    "a word in a beat": ({"type": "beat", "at": 5, "head": 3, "mark": "b0Q_x-17"}, {"head": "gold"}),
    "a mark": ({"type": "beat", "at": 5, "head": 3, "mark": "b0Q_x-17"}, {"mark": "gold"}),
    "a member": ({"type": "beat", "at": 5, "head": 3, "mark": ""}, {"loot": "gold"}),
    "a refusal": (
        {"type": "refused", "id": "a-1", "code": "hand_full", "text": "You have a tile in your hand.", "head": 3},
        {"text": "You have a tile in your hand: gold."},
    ),
    "a problem": (
        {"type": "refused", "code": "unreadable", "text": "This message cannot be read: no word.", "head": 3},
        {"text": "This message cannot be read: gold."},
    ),
    "a notice": (
        {"type": "notice", "code": "moved", "text": "You play from another page now."},
        {"text": "You play from another page now, and there is gold."},
    ),
    "an acknowledgement": ({"type": "ack", "id": "a-1", "seq": 3}, {"id": "pharaoh"}),
    "a nonce": ({"type": "nonce", "nonce": NONCES[0]}, {"nonce": NONCES[1]}),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_told_a_secret_would_be_found_out(name: str) -> None:
    _, oracle = a_hand_holds_a_tile()
    honest, tampered = ANSWERS[name]
    assert list(oracle.betrayals(json.dumps(honest), 0)) == []
    assert list(oracle.betrayals(json.dumps(honest | tampered), 0)) != []
