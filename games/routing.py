"""Addresses of the game's sockets."""

from typing import Any

websocket_urlpatterns: list[Any] = []
