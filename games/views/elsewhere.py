"""Whoever asks for a live seat and has one in a running game is led to that game."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.models import User
from games import rooms
from games.rooms import RoomRefusal


def to_own_game(request: HttpRequest, me: User, refused: RoomRefusal) -> HttpResponse | None:
    """The way to the game that keeps this person, who reads there why; None where it was something else."""
    game = rooms.live_game_of(me.pk) if refused.code == "elsewhere" else None
    if game is None:
        return None
    messages.error(request, str(refused))
    return redirect(rooms.address_of_seat(game))
