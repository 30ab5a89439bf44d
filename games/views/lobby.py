"""The home page, and the ways into a game."""

from typing import Any

from allauth.decorators import rate_limit
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts import entrance
from accounts.buttons import button_of
from accounts.models import User
from games import lobby as lobbies
from games import quick
from games.forms import BotsForm
from games.models import Game
from games.ranked import newcomer_of, pause_of
from games.rooms import RoomRefusal
from games.views.elsewhere import to_own_game


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "games/home.html")


@require_safe
@never_cache
def lobby(request: HttpRequest) -> HttpResponse:
    """What one can play; asked for as a fragment, the part of it that lives."""
    context = _tables(request)
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "games/_hall.html", context | {"is_part": True})
    return render(request, "games/lobby.html", context | {"form": BotsForm()})


def _tables(request: HttpRequest) -> dict[str, Any]:
    me = request.user if isinstance(request.user, User) else None
    pace, ranked = request.GET.get("pace", ""), request.GET.get("ranked", "")
    return {
        "page": lobbies.free_rooms(
            request.GET.get("page", "1"),
            pace=pace if pace in Game.Pace.values else "",
            ranked={"yes": True, "no": False}.get(ranked),
        ),
        "pace": pace,
        "ranked": ranked,
        "own_rooms": lobbies.rooms_of(me.pk) if me else [],
        "sizes": quick.crowd().items(),
        "pause": pause_of(me.pk) if me else None,
        "newcomer": newcomer_of(me) if me and not me.is_guest else None,
        "to_watch": lobbies.games_to_watch(),
        "running": lobbies.running_games(me.pk) if me else [],
    }


@button_of("games:lobby")
@rate_limit(action="bots")
def play_against_bots(request: HttpRequest) -> HttpResponse:
    """A game that begins at once; who is nobody yet plays as a guest."""
    form = BotsForm(request.POST)
    if not form.is_valid():
        return render(request, "games/lobby.html", _tables(request) | {"form": form}, status=422)
    if isinstance(request.user, AnonymousUser):
        entered: HttpResponse = entrance.come_as_guest(request)
        if isinstance(request.user, AnonymousUser):
            return entered
    me = request.user
    try:
        game = lobbies.play_against_bots(me, form.cleaned_data["bots"], form.cleaned_data["strength"])
    except RoomRefusal as refused:
        return to_own_game(request, me, refused) or redirect("games:lobby")
    return redirect("games:game", game.code)
