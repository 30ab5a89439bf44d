"""The relaxed pace's pages: whose turn it is, no more mail, and a time to meet."""

import re
from datetime import UTC, datetime, timedelta

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from accounts.buttons import button_of
from accounts.models import User
from games import pace, rooms
from games.models import Room
from games.rooms import RoomRefusal
from games.views.rooms import with_refusal

MOST_MINUTES = 14 * 60
OFFSET = re.compile(r"-?[0-9]{1,4}")


@never_cache
@require_safe
def turns(request: HttpRequest) -> HttpResponse:
    """The header's word on whose turn it is; for the bar of a table's page, on the games besides this `bar`."""
    return render(request, "games/_turns.html", {"bar": "bar" in request.GET})


@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def mute(request: HttpRequest, token: str) -> HttpResponse:
    """The link in a letter: a page with a button, since mail programs look at every link by themselves.

    Whoever knows the link may press it: a mail program does so without a page of ours and without a cookie.
    """
    seat = pace.seat_of_letter(token)
    if seat is None:
        raise Http404
    if request.method == "POST":
        pace.mute(seat, on="again" not in request.POST)
    shown = {"game": seat.game, "muted": pace.is_muted(seat), "said": request.method == "POST"}
    return render(request, "games/mute.html", shown)


@button_of("games:seats", "code")
def meet(request: HttpRequest, code: str) -> HttpResponse:
    """Propose a time, or accept the one that this person saw."""
    room = get_object_or_404(Room, code=code)
    game = rooms.running_game(room)
    if not isinstance(request.user, User) or game is None:
        raise PermissionDenied
    try:
        if "at" in request.POST:
            pace.propose(game, request.user, _moment(request))
        else:
            pace.accept(game, request.user, _seen(request))
    except RoomRefusal as refused:
        return with_refusal(request, room, refused)
    return redirect("games:seats", code)


def _moment(request: HttpRequest) -> datetime:
    """The time that a page's clock says, which its script tells the distance of to UTC."""
    said, offset = request.POST["at"], request.POST.get("offset", "")
    minutes = int(offset) if OFFSET.fullmatch(offset) else 0
    try:
        local = datetime.strptime(said, "%Y-%m-%dT%H:%M").replace(tzinfo=UTC)
        return local + timedelta(minutes=max(-MOST_MINUTES, min(MOST_MINUTES, minutes)))
    except (ValueError, OverflowError):
        # Some years lie beyond what a clock can show elsewhere.
        raise RoomRefusal("no_such_time") from None


def _seen(request: HttpRequest) -> datetime:
    """The time that a page showed as proposed."""
    try:
        return datetime.fromisoformat(request.POST.get("seen", ""))
    except ValueError:
        raise RoomRefusal("other_time") from None
