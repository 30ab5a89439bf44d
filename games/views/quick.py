"""The page on which one waits for a match."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect

from accounts.buttons import button_of
from accounts.models import User
from games import quick, rooms
from games.models import Waiting
from games.ranked import newcomer_of, pause_of
from games.rooms import RoomRefusal
from games.rules import terms
from games.views.elsewhere import to_own_game


@never_cache
@login_required
@require_safe
def wait(request: HttpRequest) -> HttpResponse:
    """Where one waits; whoever does not wait chooses a size."""
    me = _me(request)
    row = Waiting.objects.filter(user=me).first()
    if row is None and (game := rooms.live_game_of(me.pk)):
        return redirect(rooms.address_of_seat(game))
    return render(request, "games/quick.html", _context(me, row) | {"ended": row is None and "ended" in request.GET})


@login_required
@button_of("games:quick")
def enter(request: HttpRequest) -> HttpResponse:
    me = _me(request)
    said = request.POST.get("players", "")
    players = next((number for number in terms.PLAYERS if str(number) == said), terms.PLAYERS[0])
    try:
        quick.enter(me, players)
    except RoomRefusal as refused:
        page = _context(me, None) | {"refusal": str(refused)}
        return to_own_game(request, me, refused) or render(request, "games/quick.html", page, status=422)
    return redirect("games:quick")


@never_cache
@login_required
@button_of("games:quick")
def beat(request: HttpRequest) -> HttpResponse:
    """The page still waits; the answer is how things stand, or the way to the game."""
    me = _me(request)
    row = quick.beat(me.pk)
    if row is None:
        game = rooms.live_game_of(me.pk)
        ended = reverse("games:quick", query={"ended": "yes"})
        return HttpResponseClientRedirect(rooms.address_of_seat(game) if game else ended)
    return render(request, "games/_waiting.html", _context(me, row))


@login_required
@button_of("games:quick")
def leave(request: HttpRequest) -> HttpResponse:
    quick.leave(_me(request).pk)
    return redirect("games:lobby")


def _me(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def _context(me: User, row: Waiting | None) -> dict[str, Any]:
    return {
        "outlook": quick.outlook(row) if row else None,
        "sizes": quick.crowd().items(),
        "pause": pause_of(me.pk),
        "newcomer": None if me.is_guest else newcomer_of(me),
        "beat_seconds": quick.BEAT_SECONDS,
    }
