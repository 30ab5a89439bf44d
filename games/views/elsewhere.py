"""Whoever asks for a live seat and has one in a running game is led to that game."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from accounts.models import User
from games import rooms
from games.models import Game
from games.rooms import RoomRefusal


def to_own_game(request: HttpRequest, me: User, refused: RoomRefusal) -> HttpResponse | None:
    """The way to the game that keeps this person, who reads there why; None where it was something else."""
    game = rooms.live_game_of(me.pk) if refused.code == "elsewhere" else None
    if game is None:
        return None
    messages.error(request, str(refused))
    return redirect(address_of_seat(game))


def address_of_seat(game: Game) -> str:
    """Where its players play it: in its room, or by itself."""
    return (
        reverse("games:game", args=[game.code]) if game.room is None else reverse("games:room", args=[game.room.code])
    )
