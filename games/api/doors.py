"""The addresses of the read API."""

import functools
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from accounts import addresses
from accounts.models import User
from games import archive, dumps, history
from games.api import shapes
from games.api.limits import SECONDS, take
from games.history import Cursor, HistoryForm, WrongCursor
from games.ladder import boards
from games.models import Game

View = Callable[..., HttpResponse]
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
    """A door of the API: for reading, for pages of any site, so often, and every answer is JSON."""

    @functools.wraps(view)
    def opened(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        left = take(addresses.of_request(request))
        if left is None:
            response = _refused(Refusal(429, "too_fast", f"At most {settings.API_LIMIT} requests a minute."))
            response["Retry-After"] = str(SECONDS)
        else:
            try:
                response = view(request, *args, **kwargs)
            except Refusal as why:
                response = _refused(why)
            response["X-RateLimit-Remaining"] = str(left)
        response["Access-Control-Allow-Origin"] = "*"
        patch_cache_control(response, no_cache=True)
        return response

    return require_safe(gzip_page(opened))


def _refused(why: Refusal) -> HttpResponse:
    return JsonResponse({"error": {"code": why.code, "message": str(why)}}, status=why.status)


@door
def describe(request: HttpRequest) -> HttpResponse:
    return JsonResponse(DOCUMENT | {"servers": [{"url": settings.SITE_URL}]})


@door
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
def game(request: HttpRequest, code: str) -> HttpResponse:
    """One finished game; who has the address of one that is not listed gets it too."""
    entry = history.entry(code)
    if entry is None:
        raise no_game()
    return JsonResponse(shapes.game(entry))


@door
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
def players(request: HttpRequest) -> HttpResponse:
    """Somebody by name."""
    person = history.find_player(request.GET.get("name", ""))
    if person is None:
        raise Refusal(404, "no_player", "Nobody here has this name.")
    return _player(person)


@door
def player(request: HttpRequest, pk: int) -> HttpResponse:
    person = User.objects.filter(history.TO_BE_FOUND, pk=pk).first()
    if person is None:
        raise Refusal(404, "no_player", "There is no such player.")
    return _player(person)


def _player(person: User) -> HttpResponse:
    return JsonResponse(shapes.player(person, boards.in_force().filter(user=person).order_by("pace")))


@door
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
def all_dumps(request: HttpRequest) -> HttpResponse:
    """All public records, a file a month."""
    return JsonResponse(shapes.some(map(shapes.dump, dumps.all_dumps()), None))


@require_safe
def dump(request: HttpRequest, name: str) -> HttpResponseBase:
    """The file of a month."""
    found = dumps.find(name)
    if found is None:
        return _refused(Refusal(404, "no_dump", "There is no such file."))
    response = FileResponse(found.path.open("rb"), content_type="application/gzip", as_attachment=True)
    response["Access-Control-Allow-Origin"] = "*"
    return response
