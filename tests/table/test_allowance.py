"""How many messages somebody may send (R8.5), whatever connections and forms they use."""

import json

import pytest
from django.conf import settings
from django.test import AsyncClient

from games import allowance, tables
from games.allowance import FORGIVEN_FLOODS, MOST_COMMANDS, MOST_FLOODS, Allowance
from tests.sockets import Socket
from tests.table.conftest import Match, NewMatch, at_table


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Time passes when a test says so."""
    time_is = [0.0]
    monkeypatch.setattr(allowance, "monotonic", lambda: time_is[0])
    return time_is


def test_it_comes_back_with_time_and_never_grows_beyond_one_second(clock: list[float]) -> None:
    own = Allowance()
    for _ in range(2):
        assert [own.take() for _ in range(MOST_COMMANDS + 1)] == [True] * MOST_COMMANDS + [False]
        clock[0] += 60
    clock[0] += 0.5
    assert [own.take() for _ in range(MOST_COMMANDS + 1)][-1] is False
    clock[0] += 0.5
    assert [own.take() for _ in range(MOST_COMMANDS // 2 + 1)] == [True] * (MOST_COMMANDS // 2) + [False]


def test_many_refusals_are_too_many_until_they_are_forgiven(clock: list[float]) -> None:
    own = Allowance()
    for _ in range(MOST_COMMANDS + MOST_FLOODS):
        own.take()
    assert not own.is_abused
    own.take()
    assert own.is_abused
    clock[0] += 2 / FORGIVEN_FLOODS
    own.take()
    assert not own.is_abused


async def asks(line: Socket, commands: int) -> list[str]:
    """With which codes so many commands are refused."""
    for number in range(commands):
        await line.send_json_to({"do": "lift", "tile": 0, "id": f"a{number}"})
    codes: list[str] = []
    while len(codes) < commands:
        said = json.loads((await line.receive_output())["text"])
        codes += [said["code"]] if said["type"] == "refused" else []
    return codes


def poster(match: Match, seat: int) -> AsyncClient:
    client = AsyncClient()
    client.cookies[settings.SESSION_COOKIE_NAME] = match.cookies[seat]
    return client


async def test_who_connects_again_or_posts_forms_begins_with_what_was_left(
    new_match: NewMatch, clock: list[float]
) -> None:
    match = await new_match(pace="relaxed")
    line = await at_table(match, 0)
    assert await asks(line, MOST_COMMANDS - 5) == ["not_begun"] * (MOST_COMMANDS - 5)
    await line.disconnect()
    line = await at_table(match, 0)
    assert await asks(line, 3) == ["not_begun"] * 3
    client, address = poster(match, 0), f"/games/{match.game.code}/exchange/"
    words = {"command": json.dumps({"do": "pass"})}
    said = [(await client.post(address, words)).content.decode() for _ in range(3)]
    assert ["That was too fast" in one for one in said] == [False, False, True]
    assert await asks(line, 1) == ["flood"]
    # The other one has lost nothing by that.
    other = await at_table(match, 1)
    assert await asks(other, 1) == ["not_begun"]
    for one in (line, other):
        await one.disconnect()
    # Connections of their own are what spectators have, whom nobody knows.
    for _ in range(2):
        watcher = await at_table(match, None)
        assert await asks(watcher, MOST_COMMANDS) == ["no_seat"] * MOST_COMMANDS
        await watcher.disconnect()
    await tables.stop_here()


async def test_a_page_that_floods_is_sent_away_at_once_when_it_comes_back_for_more(
    new_match: NewMatch, clock: list[float]
) -> None:
    match = await new_match(pace="relaxed")
    line = await at_table(match, 0)
    await asks(line, MOST_COMMANDS + MOST_FLOODS)
    for _ in range(2):
        await line.send_json_to({"do": "beat"})
        assert json.loads((await line.receive_output())["text"])["code"] == "flood_page"
        assert (await line.receive_output())["code"] == 4429
        line = await at_table(match, 0)
    clock[0] += MOST_FLOODS / FORGIVEN_FLOODS
    assert await asks(line, 1) == ["not_begun"]
    await line.disconnect()
    await tables.stop_here()
