"""The addresses of the read API."""

import functools
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from django.conf import settings
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponsePermanentRedirect,
    JsonResponse,
)
from django.urls import resolve
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page

from accounts.models import User
from games import archive, dumps, history
from games.api import sending, shapes
from games.history import Cursor, HistoryForm, WrongCursor
from games.ladder import boards
from games.limits import seconds_to_wait, take
from games.models import Game

View = Callable[..., HttpResponseBase]
ALLOWED = ("GET", "HEAD")
KINDS: tuple[boards.Board, ...] = ("all", "season")
DOCUMENT: dict[str, Any] = json.loads((files(__package__) / "openapi.json").read_text())


class Refusal(Exception):
    """What is asked for cannot be given: a code for programs, a sentence for whoever writes them."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


def no_game() -> Refusal:
    return Refusal(404, "no_game", "There is no such finished game.")


def door(view: View) -> View:
    """A door of the API: for reading, for pages of any site, so often, and whatever it says of itself is JSON."""

    @csrf_exempt  # Who may only read can be made to do no harm.
    @functools.wraps(view)
    def opened(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        left = take("api", request, settings.API_LIMIT)
        try:
            if left is None:
                raise Refusal(429, "too_fast", f"At most {settings.API_LIMIT} requests a minute.")
            if request.method not in ALLOWED:
                raise Refusal(405, "read_only", "There is nothing to do here but to read.")
            response = view(request, *args, **kwargs)
        except Refusal as why:
            response = _refused(why)
        response["X-RateLimit-Remaining"] = str(left or 0)
        response["Access-Control-Allow-Origin"] = "*"
        response["Access-Control-Expose-Headers"] = "X-RateLimit-Remaining, Retry-After"
        patch_cache_control(response, no_cache=True)
        return response

    return opened


def _refused(why: Refusal) -> HttpResponse:
    response = JsonResponse({"error": {"code": why.code, "message": str(why)}}, status=why.status)
    if why.status == 405:
        response["Allow"] = ", ".join(ALLOWED)
    if why.status in (429, 503):
        response["Retry-After"] = str(seconds_to_wait())
    return response


@door
def nowhere(request: HttpRequest) -> HttpResponse:
    """No address of the API; one that lacks only its last slash leads on."""
    own = request.resolver_match
    if own and not request.path.endswith("/") and resolve(f"{request.path_info}/").view_name != own.view_name:
        return HttpResponsePermanentRedirect(request.get_full_path(force_append_slash=True))
    raise Refusal(404, "no_address", "There is no such address: /api/1/openapi.json says which there are.")


@door
@gzip_page
def describe(request: HttpRequest) -> HttpResponse:
    return JsonResponse(DOCUMENT | {"servers": [{"url": settings.SITE_URL}]})


@door
@gzip_page
def games(request: HttpRequest) -> HttpResponse:
    """Finished games, the latest end first, by the filters of the page."""
    form = HistoryForm(request.GET)
    if not form.is_valid():
        field, errors = next(iter(form.errors.get_json_data().items()))
        raise Refusal(422, "bad_filter", f"{field}: {errors[0]['message']}")
    try:
        after = Cursor.read(request.GET["after"]) if request.GET.get("after") else None
    except WrongCursor:
        raise Refusal(422, "bad_cursor", "after: this is no place in the list.") from None
    page = history.page(form.asked(), after=after)
    return JsonResponse(shapes.some(map(shapes.game, page.entries), _next(request, page.older)))


def _next(request: HttpRequest, after: str) -> str | None:
    if not after:
        return None
    query = request.GET.copy()
    query["after"] = after
    return f"{settings.SITE_URL}{request.path}?{query.urlencode()}"


@door
@gzip_page
def game(request: HttpRequest, code: str) -> HttpResponse:
    """One finished game; who has the address of one that is not listed gets it too."""
    entry = history.entry(code)
    if entry is None:
        raise no_game()
    return JsonResponse(shapes.game(entry))


@door
@gzip_page
def record(request: HttpRequest, code: str) -> HttpResponse:
    """The public record, by which anybody can replay and check the game."""
    found = Game.objects.filter(code=code).first()
    if found is None:
        raise no_game()
    if found.ended is None:
        raise Refusal(404, "game_running", "The game still runs: it has no record before its end.")
    document = archive.record_of(found)
    if document is None:
        raise Refusal(404, "no_record", "This game makes no record without a fault. We are looking at it.")
    response = JsonResponse(document, json_dumps_params={"separators": (",", ":")})
    response["Content-Disposition"] = f'inline; filename="midnight-{code}.json"'
    return response


@door
@gzip_page
def players(request: HttpRequest) -> HttpResponse:
    """Somebody by name."""
    person = history.find_player(request.GET.get("name", ""))
    if person is None:
        raise Refusal(404, "no_player", "Nobody here has this name.")
    return _player(person)


@door
@gzip_page
def player(request: HttpRequest, pk: int) -> HttpResponse:
    person = User.objects.filter(history.TO_BE_FOUND, pk=pk).first()
    if person is None:
        raise Refusal(404, "no_player", "There is no such player.")
    return _player(person)


def _player(person: User) -> HttpResponse:
    return JsonResponse(shapes.player(person, boards.in_force().filter(user=person).order_by("pace")))


@door
@gzip_page
def ladder(request: HttpRequest, pace: str) -> HttpResponse:
    """A leaderboard, the best first."""
    kind = next((one for one in KINDS if one == request.GET.get("board", "all")), None)
    after = boards.Key.read(request.GET["after"]) if request.GET.get("after") else None
    if pace not in Game.Pace.values:
        raise Refusal(404, "no_ladder", "There is no such ladder.")
    if kind is None:
        raise Refusal(422, "bad_filter", "board: all or season.")
    if request.GET.get("after") and after is None:
        raise Refusal(422, "bad_cursor", "after: this is no place in the list.")
    page = boards.board(pace, kind, timezone.now(), after, None)
    lines = (shapes.line(place, row) for place, row in enumerate(page.rows, start=page.first))
    return JsonResponse(shapes.some(lines, _next(request, str(page.next or ""))))


@door
@gzip_page
def all_dumps(request: HttpRequest) -> HttpResponse:
    """All public records, a file a month."""
    return JsonResponse(shapes.some(map(shapes.dump, dumps.all_dumps()), None))


@door
def dump(request: HttpRequest, name: str) -> HttpResponseBase:
    """The file of a month."""
    found = dumps.find(name)
    if found is None:
        raise Refusal(404, "no_dump", "There is no such file.")
    try:
        return sending.give_out(request, found.path)
    except sending.NoPlace:
        raise Refusal(503, "busy", "As many files as we give out at once are on their way: try again later.") from None
