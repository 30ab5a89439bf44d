"""News for pages: that a room, the lobby or what a person owes has changed. A word, never content, and it may be lost.

A page that hears it fetches what it shows. It also fetches by itself now and then, so what was lost is made good.
"""

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

LOBBY, QUEUE = "lobby", "quick"


def of_room(code: str) -> str:
    return f"room.{code}"


def of_person(person_id: int) -> str:
    return f"person.{person_id}"


def ring_on_commit(*groups: str) -> None:
    """Tell the pages of these groups, once what they will fetch is there."""
    transaction.on_commit(lambda: ring(*groups), robust=True)


def ring(*groups: str) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    for group in groups:
        async_to_sync(layer.group_send)(group, {"type": "rung"})
