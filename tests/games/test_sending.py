"""A month's records go out block by block, few files at once, or by the proxy; no web process ever holds one whole."""

import asyncio
import gc
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest

from games.api import sending

pytestmark = [pytest.mark.django_db(transaction=True)]

NAME = "midnight-2026-01.jsonl.gz"
SIZE = 40 * 1024 * 1024


class Reader:
    """Somebody who asks for the file as a server asks the site, takes so many messages of it, and stays or goes."""

    def __init__(self, method: str = "GET", takes: float = float("inf"), **headers: str) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.size = 0
        self.largest = 0
        self.body = b""
        self._takes = takes
        self.has_enough, self._gone, self._asked = asyncio.Event(), asyncio.Event(), False
        scope = {
            "type": "http",
            "method": method,
            "path": f"/data/{NAME}",
            "query_string": b"",
            "headers": [(b"host", b"localhost"), *((name.encode(), value.encode()) for name, value in headers.items())],
        }
        self.reading = asyncio.create_task(ASGIHandler()(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request"}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
            return
        part = message.get("body", b"")
        self.size += len(part)
        self.largest = max(self.largest, len(part))
        self.body = part or self.body
        self._takes -= 1
        if self._takes <= 0:
            self.has_enough.set()
            await asyncio.Event().wait()

    async def go(self) -> None:
        self._gone.set()
        await self.reading


@pytest.fixture
def file(settings: LazySettings, tmp_path: Path) -> Path:
    """A dump with nothing in it, and much of that."""
    settings.DUMPS = tmp_path
    with (tmp_path / NAME).open("wb") as made:
        made.truncate(SIZE)
    return tmp_path / NAME


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a pause."""
    monkeypatch.setattr(sending, "BYTES_A_SECOND", float("inf"))


async def test_a_file_goes_out_whole_and_is_never_in_memory(file: Path, at_once: None) -> None:
    tracemalloc.start()
    try:
        reader = Reader()
        await reader.reading
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (reader.status, reader.size) == (200, SIZE)
    assert reader.headers["content-length"] == str(SIZE)
    assert reader.headers["content-type"] == "application/gzip"
    assert reader.headers["content-disposition"] == f'attachment; filename="{NAME}"'
    assert most < SIZE / 4


async def test_nothing_is_read_that_nobody_takes(file: Path, at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[sending.Blocks] = []
    begin = sending.Blocks.__init__

    def begun(self: sending.Blocks, path: Path) -> None:
        begin(self, path)
        given.append(self)

    monkeypatch.setattr(sending.Blocks, "__init__", begun)
    reader = Reader(takes=1)
    await reader.has_enough.wait()
    assert given[0]._file.tell() == sending.BLOCK
    given.clear()
    await reader.go()


async def test_who_asks_only_about_a_file_gets_nothing_of_it(file: Path) -> None:
    reader = Reader("HEAD")
    await reader.reading
    assert (reader.status, reader.size) == (200, 0)
    assert reader.headers["content-length"] == str(SIZE)


async def test_so_many_go_out_at_once_and_whoever_leaves_makes_place(file: Path, at_once: None) -> None:
    readers = [Reader(takes=1) for _ in range(sending.AT_ONCE)]
    for reader in readers:
        await reader.has_enough.wait()
    late = Reader()
    await late.reading
    assert (late.status, json.loads(late.body)["error"]["code"]) == (503, "busy")
    assert 1 <= int(late.headers["retry-after"]) <= 60
    asked = Reader("HEAD")
    await asked.reading
    assert asked.status == 200
    await readers[0].go()
    late = Reader()
    await late.reading
    assert (late.status, late.size) == (200, SIZE)
    for reader in readers[1:]:
        await reader.go()


async def test_an_answer_that_is_lost_keeps_no_place(file: Path) -> None:
    for _ in range(sending.AT_ONCE):
        sending.give_out(_request(), file)
        gc.collect()
    blocks = [sending.Blocks(file) for _ in range(sending.AT_ONCE)]
    with pytest.raises(sending.NoPlace):
        sending.Blocks(file)
    for one in blocks:
        one.close()


async def test_a_file_that_is_gone_keeps_no_place(file: Path) -> None:
    for _ in range(sending.AT_ONCE):
        with pytest.raises(FileNotFoundError):
            sending.Blocks(file.parent / "gone")
    sending.Blocks(file).close()


def _request(**headers: str) -> HttpRequest:
    request = HttpRequest()
    request.method = "GET"
    request.META |= {f"HTTP_{name}": value for name, value in headers.items()}
    return request


async def test_a_proxy_that_says_that_it_can_gives_the_file_out(file: Path, settings: LazySettings) -> None:
    settings.TRUSTED_PROXIES = 1
    reader = Reader(**{"x-sendfile-type": "X-Accel-Redirect", "x-forwarded-for": "192.0.2.1"})
    await reader.reading
    assert (reader.status, reader.size) == (200, 0)
    assert reader.headers["x-accel-redirect"] == f"/given-out/{NAME}"
    assert reader.headers["content-type"] == "application/gzip"
    assert reader.headers["content-disposition"] == f'attachment; filename="{NAME}"'


@pytest.mark.parametrize(("proxies", "says"), [(1, ""), (1, "X-Sendfile"), (0, "X-Accel-Redirect")])
async def test_nobody_else_is_left_with_an_address_for_the_file(
    proxies: int, says: str, file: Path, at_once: None, settings: LazySettings
) -> None:
    settings.TRUSTED_PROXIES = proxies
    reader = Reader(**{"x-sendfile-type": says})
    await reader.reading
    assert (reader.status, reader.size) == (200, SIZE)
    assert "x-accel-redirect" not in reader.headers


@pytest.mark.parametrize(
    ("size", "lasts"), [(8 * 1024 * 1024, 1), (200 * 1024 * 1024, 25), (10 * 1024**3, sending.MOST_SECONDS)]
)
def test_a_file_goes_out_slowly_and_before_its_answer_is_cut_off(size: int, lasts: float) -> None:
    assert sending.seconds(size) == lasts
