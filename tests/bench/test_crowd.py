"""The players of `bench race` measure what a server makes people wait, also where it answers nobody for a while."""

import asyncio
import time
from pathlib import Path
from typing import cast

import pytest
from django.db import connection

from midnight.bench import echo, race
from midnight.bench.crowd import Figures, Player, Room
from midnight.bench.wire import Wire

RATE = 50.0
HALT_SECONDS = 0.5
HALTED = int(HALT_SECONDS * RATE)


class HaltingServer:
    """Answers nothing for half a second, then everything at once."""

    def __init__(self, player: Player) -> None:
        self.player, self.head, self.answers = player, 0, True
        self.heard: list[bytes] = []

    def say(self, text: bytes) -> None:
        self.heard.append(text)
        if self.answers:
            asyncio.get_running_loop().call_soon(self.answer)

    def answer(self) -> None:
        self.head += 1
        frame = b'{"type":"events","head":%d,"events":[],"ack":"%s"}' % (self.head, self.player.command_id)
        self.player.hear(cast(Wire, self), frame)


def one_player() -> tuple[Player, HaltingServer, Figures]:
    figures = Figures(begun=time.perf_counter())
    room = Room(0, 1, RATE, figures)
    room.tiles = [3, 4]
    (player,) = room.players
    server = HaltingServer(player)
    player.wire = cast(Wire, server)
    return player, server, figures


def test_what_a_halted_server_holds_up_is_sent_all_the_same_and_waits_from_when_it_was_due() -> None:
    async def halted() -> tuple[Player, HaltingServer, Figures]:
        player, server, figures = one_player()
        server.answers = False
        playing = asyncio.create_task(player.play_at_own_pace())
        await asyncio.sleep(HALT_SECONDS)
        figures.ended = time.perf_counter()
        assert len(server.heard) == 1
        assert player.unsent() >= HALTED - 3
        server.answers = True
        server.answer()
        await asyncio.wait_for(playing, 10)
        await player.answered.wait()
        return player, server, figures

    player, server, figures = asyncio.run(halted())
    assert player.unsent() == 0
    assert not figures.due
    assert len(figures.to_last_page) == len(server.heard) >= HALTED - 2
    # Evenly spread over the halt: half of them waited for half of it or more.
    assert sorted(figures.to_last_page)[len(figures.to_last_page) // 2] > HALT_SECONDS / 3
    assert max(figures.to_last_page) > HALT_SECONDS * 0.9


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.0, 3.0])
def test_a_crowd_in_a_process_of_its_own_loads_a_server_and_loses_nothing(rate: float, tmp_path: Path) -> None:
    rooms = [{"path": f"/{room}", "cookies": [""] * race.SEATS} for room in range(2)]
    with race.running_web(echo.PROGRAM, tmp_path) as web:
        figures = race.under_load(web, race.Load(2, rate, 1), rooms)
    assert figures["commands_per_second"] > 0
    assert (figures["lost"], figures["refused"], figures["rooms_apart"]) == (0, 0, 0)
    assert 0 < figures["p50_ms"] <= figures["p99_ms"]


@pytest.mark.both_databases
@pytest.mark.django_db
def test_figures_say_whether_the_database_waits_for_its_disk() -> None:
    # SQLite is set up as on the site; the tests' PostgreSQL runs without fsync.
    assert race.durable() is (connection.vendor == "sqlite")
