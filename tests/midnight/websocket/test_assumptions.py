"""What midnight/websocket/README.md assumes of Daphne, Autobahn and Twisted is there."""

import inspect

import pytest
from autobahn.websocket.protocol import WebSocketServerProtocol
from daphne.server import Server
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from twisted.internet import tcp, unix

TRANSPORT = "stopReading stopWriting getHandle registerProducer unregisterProducer abortConnection"


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (Server, "run create_application handle_reply protocol_disconnected timeout_checker application_checker"),
        (WebSocketFactory, "protocol buildProtocol"),
        (WebSocketProtocol, "onOpen onClose handle_reply handle_exception check_timeouts duration"),
        (
            WebSocketServerProtocol,
            "processHandshake succeedHandshake failHandshake onFrameBegin STATE_CONNECTING",
        ),
        (tcp.Server, TRANSPORT),
        (unix.Server, TRANSPORT),
    ],
)
def test_the_names_that_are_used_exist(owner: type, names: str) -> None:
    assert not [name for name in names.split() if not hasattr(owner, name)]


def test_the_server_says_when_it_is_ready() -> None:
    options = inspect.signature(Server.__init__).parameters
    assert "ready_callable" in options
    source = inspect.getsource(Server.run)
    assert source.index("self.ws_factory =") < source.index("self.ready_callable()") < source.index("reactor.run(")


def test_the_server_keeps_what_it_is_told_of_sockets() -> None:
    server = Server(None, endpoints=["unix:/nowhere"], websocket_max_message_size=7, ping_interval=8, ping_timeout=9)
    assert (server.websocket_max_message_size, server.ping_interval, server.ping_timeout) == (7, 8, 9)
    assert server.websocket_timeout > 0


def test_every_frame_begins_where_it_is_counted() -> None:
    source = inspect.getsource(WebSocketServerProtocol.processData)
    assert "self.onFrameBegin()" in source
    assert "self.current_frame = FrameHeader(" in source
