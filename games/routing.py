"""Addresses of the game's sockets."""

from typing import Any

from django.urls import path, re_path

from games.consumers import TableConsumer, nowhere
from games.listening import NewsConsumer
from games.talking import TalkConsumer

# Channels' routes hold consumers where Django's types expect views.
websocket_urlpatterns: list[Any] = [
    path("ws/1/games/<slug:code>", TableConsumer.as_asgi()),  # type: ignore[arg-type]
    path("ws/1/talk/<slug:channel>", TalkConsumer.as_asgi()),  # type: ignore[arg-type]
    path("ws/1/news", NewsConsumer.as_asgi()),  # type: ignore[arg-type]
    path("ws/1/news/rooms/<slug:code>", NewsConsumer.as_asgi()),  # type: ignore[arg-type]
    path("ws/1/news/<slug:where>", NewsConsumer.as_asgi()),  # type: ignore[arg-type]
    re_path("", nowhere),  # type: ignore[arg-type]
]
