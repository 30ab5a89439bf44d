"""The page of a room, and what one does there."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from allauth.core import ratelimit
from asgiref.sync import sync_to_async
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect

from accounts import entrance
from accounts.buttons import button_of
from accounts.models import User
from games import names, pace, rooms
from games.bots.strengths import STRENGTHS
from games.forms import UNITS, RoomForm, SettingsForm
from games.ladder import standings
from games.models import Game, Room
from games.ranked import Newcomer, newcomer_of, pause_of
from games.rooms import RoomRefusal
from games.rules import terms
from games.views.elsewhere import to_own_game
from games.views.game import game as game_page

# On every answer with a room: a page drops what is older than what it shows.
VERSION = "Midnight-Version"
# What a page says of itself when it asks: which game it knows of, and for whom it was made.
GAME, MADE_FOR = "Midnight-Game", "Midnight-Made-For"


def _number(request: HttpRequest) -> int | None:
    said = request.POST.get("number", "")
    return int(said) if said.isdecimal() and len(said) < 3 else None


def _sit(request: HttpRequest, room: Room, me: User) -> None:
    rooms.sit(room, me, _number(request))


def _bot(request: HttpRequest, room: Room, me: User) -> None:
    said = request.POST.get("strength", "")
    rooms.add_bot(room, me, next((one for one in STRENGTHS if one == said), "apprentice"), _number(request))


def _bot_away(request: HttpRequest, room: Room, me: User) -> None:
    rooms.take_bot_away(room, me, _number(request) or 0)


def _show_out(request: HttpRequest, room: Room, me: User) -> None:
    said = request.POST.get("person", "")
    rooms.show_out(room, me, int(said) if said.isdecimal() and len(said) < 19 else 0)


def _invite(request: HttpRequest, room: Room, me: User) -> None:
    rooms.invite(room, me, request.POST.get("name", ""))


ACTS: dict[str, Callable[[HttpRequest, Room, User], object]] = {
    "sit": _sit,
    "stand": lambda request, room, me: rooms.stand(room, me),
    "agree": lambda request, room, me: rooms.agree(room, me),
    "wait": lambda request, room, me: rooms.agree(room, me, on=False),
    "start": lambda request, room, me: rooms.start_now(room, me),
    "bot": _bot,
    "bot-away": _bot_away,
    "show-out": _show_out,
    "invite": _invite,
    "decline": lambda request, room, me: rooms.decline(room, me),
    "close": lambda request, room, me: rooms.close(room, me),
    "back": lambda request, room, me: rooms.back(room, me.pk),
}


@button_of("games:new_room")
def open_room(request: HttpRequest) -> HttpResponse:
    """A new room; who is nobody yet opens it as a guest."""
    form = RoomForm(request.POST, newcomer=_newcomer(request))
    if not form.is_valid():
        return render(request, "games/open_room.html", {"form": form}, status=422)
    me = _somebody(request)
    if isinstance(me, HttpResponse):
        return me
    if late := _too_often(request, me, "open_room"):
        return late
    try:
        room = rooms.open_room(me, **form.chosen())
    except RoomRefusal as refused:
        if led := to_own_game(request, me, refused):
            return led
        form.add_error(None, str(refused))
        pause = pause_of(me.pk) if refused.code == "paused" else None
        return render(request, "games/open_room.html", {"form": form, "pause": pause}, status=422)
    return redirect("games:room", room.code)


@button_of("games:lobby")
def sit_anywhere(request: HttpRequest) -> HttpResponse:
    """Quick start: the first table that lacks somebody."""
    me = _somebody(request)
    if isinstance(me, HttpResponse):
        return me
    if late := _too_often(request, me, "open_room"):
        return late
    try:
        return redirect("games:room", rooms.sit_anywhere(me).code)
    except RoomRefusal as refused:
        if led := to_own_game(request, me, refused):
            return led
        messages.error(request, str(refused))
        return redirect("games:lobby")


@require_safe
def new_room(request: HttpRequest) -> HttpResponse:
    return render(request, "games/open_room.html", {"form": RoomForm(newcomer=_newcomer(request))})


@require_safe
@never_cache
async def room(request: HttpRequest, code: str) -> HttpResponse:
    """A room at its one address: its seats; to those who sit there also its game while one is played, and then the
    score sheet."""
    before = await sync_to_async(_game_before)(request, code)
    return await (sync_to_async(seats)(request, code) if before is None else game_page(request, before))


def _game_before(request: HttpRequest, code: str) -> str | None:
    if request.user.pk is None:
        return None
    found = get_object_or_404(Room, code=code)
    rooms.note(found, request.user.pk)
    game = rooms.game_before(found, request.user.pk)
    return None if game is None else game.code


@require_safe
@never_cache
def seats(request: HttpRequest, code: str) -> HttpResponse:
    """The room's seats whatever is played; asked for as a fragment, whoever sits there goes along to a game that has
    begun meanwhile."""
    found = get_object_or_404(Room.objects.select_related("owner"), code=code)
    if request.user.pk is not None:
        rooms.note(found, request.user.pk)
    context = _context(request, found)
    if request.htmx:  # type: ignore[attr-defined]
        return _gone_along(request, context) or _made_anew(request, context) or _fragment(request, context)
    return render(request, "games/room.html", context)


@button_of("games:room", "code")
def act(request: HttpRequest, code: str, what: str) -> HttpResponse:
    """Do one of `ACTS`, and show the room as it is then."""
    found = get_object_or_404(Room, code=code)
    if what not in ACTS:
        raise Http404
    me = _somebody(request)
    if isinstance(me, HttpResponse):
        return me
    if what == "invite" and (late := _too_often(request, me, "invite")):
        return late
    refusal, own_game = "", None
    try:
        ACTS[what](request, found, me)
    except RoomRefusal as refused:
        refusal, own_game = str(refused), rooms.live_game_of(me.pk) if refused.code == "elsewhere" else None
    found.refresh_from_db()
    context = _context(request, found) | {"refusal": refusal, "elsewhere": own_game and rooms.address_of_seat(own_game)}
    if request.htmx:  # type: ignore[attr-defined]
        return _gone_along(request, context) or _made_anew(request, context) or _fragment(request, context)
    if refusal:
        return render(request, "games/room.html", context, status=422)
    return redirect("games:room", code)


@button_of("games:room", "code")
def settings(request: HttpRequest, code: str) -> HttpResponse:
    """The owner changes what is played."""
    found = get_object_or_404(Room, code=code)
    me = request.user
    form = SettingsForm(request.POST, of_pace=found.pace, newcomer=_newcomer(request))
    if not isinstance(me, User) or not form.is_valid():
        return render(request, "games/room.html", _context(request, found) | {"settings_form": form}, status=422)
    try:
        rooms.change(found, me, **form.chosen())
    except RoomRefusal as refused:
        return with_refusal(request, found, refused)
    return redirect("games:room", code)


def with_refusal(request: HttpRequest, room: Room, refused: RoomRefusal) -> HttpResponse:
    """The room as it is now, and why what was asked for cannot be."""
    return render(request, "games/room.html", _context(request, room) | {"refusal": str(refused)}, status=422)


def _somebody(request: HttpRequest) -> User | HttpResponse:
    """Whoever asks; who is nobody yet comes in as a guest, or learns why not."""
    if isinstance(request.user, AnonymousUser):
        entered: HttpResponse = entrance.come_as_guest(request)
        if isinstance(request.user, AnonymousUser):
            return entered
    return request.user


def _newcomer(request: HttpRequest) -> Newcomer | None:
    """How far the person who asks is on the way to ranked games; None for visitors, guests and established players."""
    me = request.user
    return newcomer_of(me) if isinstance(me, User) and not me.is_guest else None


def _too_often(request: HttpRequest, me: User, action: str) -> HttpResponse | None:
    """Why this person waits, where they did it too often lately; of visitors only so many come in from an address."""
    late: HttpResponse | None = ratelimit.consume_or_429(request, action=action, user=me)
    return late


def _context(request: HttpRequest, room: Room) -> dict[str, Any]:
    me = request.user if isinstance(request.user, User) else None
    by_number = {seat.number: seat for seat in room.seats.select_related("user").order_by("number")}
    mine = next((seat for seat in by_number.values() if me and seat.user_id == me.pk), None)
    running, last = rooms.running_game(room), rooms.last_game(room)
    relaxed_game = running if running is not None and room.pace == Game.Pace.RELAXED else None
    meeting = pace.meeting_of(relaxed_game) if relaxed_game else None
    is_owner = me is not None and room.owner_id == me.pk
    may_change = is_owner and running is None and room.closed is None
    ranked_seats = room.ranked and running is None and room.closed is None
    return {
        "room": room,
        "made_for": f"{me.pk if me else 0} {bool(mine):d}{may_change:d}{room.closed is None:d}",
        "away": {seat.pk for seat in by_number.values() if rooms.is_away(room, seat)} if running is None else set(),
        "standings": standings([seat.user_id for seat in by_number.values() if seat.user_id], room.pace)
        if room.ranked
        else {},
        "places": [(number, by_number.get(number)) for number in range(room.size)],
        "mine": mine,
        "is_owner": is_owner,
        "running": running,
        "last": None if running else last,
        "result": [] if running or last is None else rooms.result_of(last),
        "awaited": pace.awaited_people(relaxed_game) if relaxed_game else set(),
        "relaxed": relaxed_game is not None,
        "plays": me is not None and relaxed_game is not None and rooms.plays_on(relaxed_game, me.pk),
        "meeting": meeting,
        "undecided": pace.undecided(meeting) if meeting else [],
        "admission": rooms.admission_of(room, me.pk) if me else None,
        "unwelcome": rooms.unwelcome(room, me.pk) if me and mine is None and room.closed is None else "",
        "pause": pause_of(me.pk) if me and ranked_seats else None,
        "newcomer": _newcomer(request) if ranked_seats else None,
        "link": request.build_absolute_uri(reverse("games:room", args=[room.code])),
        "strengths": [(one, names.STRENGTHS[one]) for one in STRENGTHS],
        "rulebook": names.RULEBOOKS[room.rulebook],  # type: ignore[index]
        "limits": _limits(room),
        "turn_time": _turn_time(room),
        "invited": _invited(room) if mine else [],
        "faces": [names.of_market(face) for face in room.faces],
        "settings_form": SettingsForm.of(room, _newcomer(request)) if may_change else None,
    }


def _turn_time(room: Room) -> str:
    """How long a turn of a relaxed room may take, such as "1 day"."""
    turn_ms = room.limits["turn_ms"] if room.limits else terms.DEFAULT_LIMITS["relaxed"].turn_ms
    now = timezone.now()
    return timesince(now, now + timedelta(milliseconds=turn_ms))


def _limits(room: Room) -> list[tuple[str, str]]:
    """The limits that are not as usual, each with its name; the turns of a relaxed room are told with its pace."""
    usual = terms.DEFAULT_LIMITS["relaxed" if room.pace == Game.Pace.RELAXED else "live"].as_json()
    units = UNITS[room.pace]
    told = {"turn_ms"} if room.pace == Game.Pace.RELAXED else set()
    other = [name for name in units if room.limits and room.limits[name] != usual[name] and name not in told]
    form = SettingsForm(of_pace=room.pace)
    return [(str(form.fields[name].label), str(room.limits[name] // units[name])) for name in other]


def _invited(room: Room) -> list[str]:
    """Who was invited and does not sit here yet."""
    sitting = room.seats.exclude(user=None).values("user")
    invited = room.admissions.filter(invited=True).exclude(user__in=sitting)
    return list(invited.order_by("at").values_list("user__name", flat=True))


def _gone_along(request: HttpRequest, context: dict[str, Any]) -> HttpResponse | None:
    """To the game, for whoever sits in it and whose page did not know of it yet."""
    running = context["running"]
    known = request.headers.get(GAME, "")
    if running is None or context["mine"] is None or known == running.code:
        return None
    return HttpResponseClientRedirect(reverse("games:room", args=[context["room"].code]))


def _made_anew(request: HttpRequest, context: dict[str, Any]) -> HttpResponse | None:
    """The whole page, for whoever is somebody else there by now than their page says: its header, its chat and what an
    owner may change stand outside the part that lives."""
    if request.headers.get(MADE_FOR, context["made_for"]) == context["made_for"]:
        return None
    if context.get("refusal"):
        messages.error(request, context["refusal"])
    here = reverse("games:seats", args=[context["room"].code])
    is_here = request.htmx.current_url_abs_path == here  # type: ignore[attr-defined]
    return HttpResponseClientRedirect(here if is_here else reverse("games:room", args=[context["room"].code]))


def _fragment(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    status = 422 if context.get("refusal") else 200
    response = render(request, "games/_room.html", context | {"is_part": True}, status=status)
    response[VERSION] = context["room"].version
    return response
