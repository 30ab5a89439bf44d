"""Whatever is sent at a table: a clear refusal, then a close code, and the others play on."""

import asyncio
import json
import statistics
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from games import allowance, consumers
from games.frames import CloseCode
from tests.browser.site import Site
from tests.table.conftest import Match, NewMatch, garage
from tests.table.page import Message, Page
from tests.table.racers import Racer, racing
from tests.table.test_crash import LONG

pytestmark = [pytest.mark.both_databases]

UNREADABLE: dict[str, str | bytes] = {
    "nothing": "",
    "too much": '{"do": "escape", "id": "a"' + " " * 5_000 + "}",
    "far too much": "x" * 60_000,
    "no JSON": "lift tile 3",
    "half an object": '{"do": "lift"',
    "a list": "[]",
    "a number": "7",
    "a text": '"lift"',
    "null": "null",
    "not a number": '{"do": "lift", "tile": NaN, "id": "a"}',
    "no word": '{"id": "a"}',
    "a word that is none": '{"do": "dance", "id": "a"}',
    "a word that is a number": '{"do": 7, "id": "a"}',
    "a word that is a list": '{"do": ["lift"], "id": "a"}',
    "a name twice": '{"do": "lift", "tile": 3, "tile": 4, "id": "a"}',
    "no field": '{"do": "lift", "id": "a"}',
    "a field too many": '{"do": "escape", "tile": 3, "id": "a"}',
    "a tile that is a text": '{"do": "lift", "tile": "3", "id": "a"}',
    "a tile that is a fraction": '{"do": "lift", "tile": 3.0, "id": "a"}',
    "a tile that is true": '{"do": "lift", "tile": true, "id": "a"}',
    "a tile that is null": '{"do": "lift", "tile": null, "id": "a"}',
    "a tile below": '{"do": "lift", "tile": -1, "id": "a"}',
    "a tile beyond": '{"do": "lift", "tile": 54, "id": "a"}',
    "a tile far beyond": f'{{"do": "lift", "tile": {"9" * 3000}, "id": "a"}}',
    "a tile out of this world": '{"do": "lift", "tile": 1e999, "id": "a"}',
    "a face that is none": '{"do": "return", "tile": 3, "face": "sideways", "id": "a"}',
    "a price that is endless": f'{{"do": "buy", "market": 0, "art": 0, "pay": {list(range(54))}, "id": "a"}}',
    "a price paid twice": '{"do": "buy", "market": 0, "art": 0, "pay": [3, 3], "id": "a"}',
    "a purchase of both": '{"do": "buy", "market": 0, "art": 0, "cards": 0, "pay": [3], "id": "a"}',
    "no id": '{"do": "lift", "tile": 3}',
    "an empty id": '{"do": "lift", "tile": 3, "id": ""}',
    "a long id": f'{{"do": "lift", "tile": 3, "id": "{"a" * 41}"}}',
    "an id that is none": '{"do": "lift", "tile": 3, "id": "a b\\u0000"}',
    "an id that is an object": '{"do": "lift", "tile": 3, "id": {}}',
    "half a character": '{"do": "lift", "tile": 3, "id": "\\ud800"}',
    "deep lists": "[" * 4000,
    "deep objects": '{"a":' * 800,
    "deep inside": '{"do": "lift", "tile": ' + "[" * 2000 + "]" * 2000 + "}",
    "bytes": b'{"do": "lift", "tile": 3, "id": "a"}',
    "rubbish": b"\x00\xff\xfe" * 100,
    "a nonce that is short": '{"do": "nonce", "nonce": "00"}',
    "a nonce that is big": f'{{"do": "nonce", "nonce": "{"A" * 32}"}}',
    "a second introduction": '{"do": "join", "page": "again"}',
}


async def refusal(page: Page, frame: str | bytes) -> Message:
    """The refusal that the page hears next, once it has said this."""
    before = len(page.frames)
    refusals: list[Message] = []

    def is_refused(page: Page) -> bool:
        refusals[:] = [said for said in map(json.loads, page.frames[before:]) if said["type"] == "refused"]
        return bool(refusals)

    await page.send_raw(frame)
    await page.until(is_refused)
    return refusals[0]


@pytest.mark.slow
async def test_what_cannot_be_read_is_refused_with_a_sentence_and_changes_nothing(
    web: Site, new_match: NewMatch
) -> None:
    page, other = await (await new_match()).search(web)
    for number, (what, frame) in enumerate(UNREADABLE.items(), 1):
        answer = await refusal(page, frame)
        assert (answer["type"], answer["code"], answer["head"]) == ("refused", "unreadable", other.head), what
        assert 10 < len(answer["text"]) < 250, what
        if number % (consumers.MOST_UNREADABLE - 1) == 0:
            # A fresh page, before the patience with this one ends; and no flood.
            await page.open()
            await asyncio.sleep(consumers.MOST_UNREADABLE / allowance.MOST_COMMANDS)
    assert (await page.do("lift", tile=garage(page)[0]))["type"] == "events"


async def test_what_is_too_much_is_counted_in_bytes(web: Site, new_match: NewMatch) -> None:
    page, _ = await (await new_match()).search(web)
    for sign, many in (("x", consumers.MOST_BYTES + 1), ("€", consumers.MOST_BYTES // 3 + 1)):
        assert "at most 4,096 bytes" in (await refusal(page, sign * many))["text"]
    assert "at most 4,096 bytes" not in (await refusal(page, "€" * (consumers.MOST_BYTES // 3)))["text"]


async def test_who_cannot_be_read_again_and_again_is_closed(web: Site, new_match: NewMatch) -> None:
    page, other = await (await new_match()).search(web)
    for _ in range(consumers.MOST_UNREADABLE):
        await page.send_raw("{")
    await page.until(lambda page: page.close_code is not None)
    assert page.close_code == CloseCode.UNREADABLE
    assert page.notices == ["unreadable_page"]
    assert other.close_code is None


@pytest.mark.parametrize(
    "frame", ["x" * 1_000_000, b"\x00" * 100_000, ["x" * 4_000] * 20], ids=["text", "bytes", "pieces"]
)
async def test_a_huge_message_breaks_its_line_and_nobody_elses(
    web: Site, new_match: NewMatch, frame: str | bytes | list[str]
) -> None:
    page, other = await (await new_match()).search(web)
    with suppress(ConnectionClosed):
        await page.send_raw(frame)
    await page.until(lambda page: page.close_code is not None)
    assert other.close_code is None
    await page.open()


async def test_a_first_message_that_is_no_introduction_closes_the_connection(web: Site, new_match: NewMatch) -> None:
    match = await new_match()
    page = match.page(web, 0)
    for first in ('{"do": "lift", "tile": 3, "id": "a"}', '{"do": "join"}', '{"do": "join", "page": "a b"}', "{"):
        async with connect(page.address, additional_headers=page.headers) as socket:
            await socket.send(first)
            assert json.loads(await socket.recv())["code"] == "unreadable"
            await until_closed(socket)
            assert socket.close_code == CloseCode.UNREADABLE


@pytest.mark.parametrize(
    ("language", "answer"),
    [("fr", "Vous regardez"), ("xx", "You are watching"), (["fr"], "You are watching"), (None, "You are watching")],
)
async def test_sentences_are_in_the_language_that_the_page_names(
    web: Site, new_match: NewMatch, language: object, answer: str
) -> None:
    page = (await new_match()).page(web, None)
    async with connect(page.address, additional_headers=page.headers) as socket:
        await socket.send(json.dumps({"do": "join", "page": "a", "language": language}))
        await socket.send(json.dumps({"do": "ready", "on": True, "id": "a"}))
        while (message := json.loads(await socket.recv()))["type"] != "refused":
            pass
    assert message["text"].startswith(answer)


async def test_there_are_no_tables_but_those_of_games(web: Site, new_match: NewMatch) -> None:
    match = await new_match()
    page = match.page(web, 0)
    server = page.address.partition("/ws/")[0]
    for code in ("nosuchgame", match.game.code.upper(), "a" * 500):
        async with connect(f"{server}/ws/1/games/{code}", additional_headers=page.headers) as socket:
            await until_closed(socket)
            assert socket.close_code == CloseCode.NO_GAME
    for path in ("/ws/2/games/x", "/ws/", "/", "/ws/1/games/../../admin", "/ws/1/games/%00"):
        with pytest.raises(InvalidStatus):
            async with connect(server + path, additional_headers=page.headers):
                pass


async def test_a_page_of_another_site_gets_no_socket(web: Site, new_match: NewMatch) -> None:
    page = (await new_match()).page(web, 0)
    with pytest.raises(InvalidStatus) as refused:
        await connect(page.address, additional_headers={**page.headers, "Origin": "https://elsewhere.example"})
    assert refused.value.response.status_code == 403


async def test_who_has_no_seat_cannot_play_not_even_with_the_ids_of_those_who_have(
    web: Site, new_match: NewMatch
) -> None:
    match, other = await new_match(), await new_match()
    alice, _ = await match.search(web)
    done = await alice.do("lift", "mine", tile=garage(alice)[0])
    stranger = match.page(web, None, "stranger")
    # Somebody who plays, but another game.
    stranger.headers["Cookie"] = f"sessionid={other.cookies[0]}"
    await stranger.open()
    assert stranger.welcome["you"] is None
    for word, fields in (("lift", {"tile": 3}), ("ready", {"on": True}), ("leave", {})):
        assert (await stranger.do(word, "mine", **fields))["code"] == "no_seat"
    assert (await refusal(stranger, json.dumps({"do": "nonce", "nonce": "0" * 32})))["code"] == "no_seat"
    assert alice.head == done["head"]


@pytest.mark.slow
async def test_a_flood_is_refused_then_closed(web: Site, new_match: NewMatch) -> None:
    page, other = await (await new_match()).search(web)
    await flood(page)
    assert page.close_code == CloseCode.FLOOD
    refused = [json.loads(frame).get("code") for frame in page.frames if '"refused"' in frame]
    assert refused.count("flood") >= allowance.MOST_FLOODS
    assert page.notices == ["flood_page"]
    # Whoever was too fast comes back, and nobody else noticed.
    await page.open()
    assert page.close_code is other.close_code is None


async def flood(page: Page) -> None:
    """A hundred commands a second, until the line is closed; what a busy machine holds up comes at once afterwards."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    with suppress(ConnectionClosed):
        for number in range(100_000):
            await page.send(do="lift", tile=number % 54, id=f"flood-{page.key}-{number}")
            await asyncio.sleep(began + number / 100 - loop.time())
    await page.until(lambda page: page.close_code is not None)


async def until_closed(socket: ClientConnection) -> None:
    with suppress(ConnectionClosed):
        while True:
            async with asyncio.timeout(30):
                await socket.recv()


def resident_bytes(web: Site) -> int:
    assert web.process is not None
    status = Path(f"/proc/{web.process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))) * 1024


@asynccontextmanager
async def attack(match: Match, web: Site) -> AsyncIterator[None]:
    """Watchers and a player who flood, send rubbish and huge things, break off, and come back for more."""

    async def floods(number: int) -> None:
        page = match.page(web, 0 if number == 0 else None, f"flood{number}")
        while True:
            await page.open()
            await flood(page)

    async def raves(number: int) -> None:
        page = match.page(web, None, f"rave{number}")
        while True:
            with suppress(OSError, WebSocketException, asyncio.TimeoutError):
                await page.open()
                for frame in UNREADABLE.values():
                    await page.send_raw(frame)
                    await asyncio.sleep(0.01)
                await page.send_raw("x" * 100_000)
            await asyncio.sleep(0.1)

    async def breaks_off(number: int) -> None:
        page = match.page(web, None, f"off{number}")
        while True:
            with suppress(OSError, WebSocketException, asyncio.TimeoutError):
                await page.open()
                await page.cut()
            await asyncio.sleep(0.1)

    tasks = [asyncio.create_task(act(number)) for act in (floods, raves, breaks_off) for number in range(4)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def slowest_of_hundred(racers: list[Racer], seconds: float) -> float:
    """The 99th percentile of how long these players wait for an answer."""
    for racer in racers:
        racer.waits.clear()
    await asyncio.sleep(seconds)
    return statistics.quantiles([wait for racer in racers for wait in racer.waits], n=100)[98]


def about_as_quick(during: float, before: float, in_time: Callable[[float], float]) -> bool:
    """Whether these players wait about as long as before: three times as long, or 20 ms."""
    return during < max(in_time(3) * before, in_time(0.02))


@pytest.mark.alone
@pytest.mark.slow
async def test_under_attack_the_others_play_on_and_memory_stays(
    web: Site, new_match: NewMatch, so_often: Callable[[int, int], int], in_time: Callable[[float], float]
) -> None:
    calm, victim = await new_match(4, LONG), await new_match(2, LONG)
    pages = await calm.search(web)
    await victim.search(web)
    seconds = so_often(3, 60)
    async with racing(pages) as racers:
        before = await slowest_of_hundred(racers, seconds)
        async with attack(victim, web):
            await asyncio.sleep(1)
            memory = resident_bytes(web)
            during = await slowest_of_hundred(racers, seconds)
            grown = resident_bytes(web) - memory
    assert about_as_quick(during, before, in_time), (during, before)
    assert grown < 20 * 1024 * 1024
    assert all(page.close_code is None for page in pages)
    assert all("flood" not in racer.refused for racer in racers)
