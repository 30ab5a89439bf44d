"""What open sockets hear when their server stops."""

import signal
from pathlib import Path

import pytest

from midnight.websocket import frames
from tests.midnight.websocket.served import PATIENCE, serving


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_pages_are_closed_when_the_server_stops(kind: str, tmp_path: Path) -> None:
    with serving(kind, tmp_path) as site:
        pages = [site.open() for _ in range(5)]
        site.process.send_signal(signal.SIGTERM)
        assert [page.close_code() for page in pages] == [frames.GOING_AWAY] * 5
        assert site.process.wait(PATIENCE) == 0
