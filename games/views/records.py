"""What is given out of one finished game: its record as anybody may check it, and its story as a page."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from games import archive, names, opening, showing, story
from games.models import Game

# The words of a refusal are for programs and whoever writes them: in English.
NO_GAME = {"code": "no_game", "message": "There is no such game."}
RUNNING = {"code": "game_running", "message": "The game still runs: it has no record before its end."}
PARKED = {"code": "no_record", "message": "This game makes no record without a fault. We are looking at it."}


def refuse(why: dict[str, str], status: int = 404) -> HttpResponse:
    return JsonResponse({"error": why}, status=status)


@require_safe
@gzip_page
def record(request: HttpRequest, code: str) -> HttpResponse:
    """The public record, with the names of today; nothing of a game that still runs."""
    game = Game.objects.filter(code=code).first()
    if game is None:
        return refuse(NO_GAME)
    if game.ended is None:
        return refuse(RUNNING)
    document = archive.record_of(game)
    return refuse(PARKED) if document is None else given(document)


def given(document: dict[str, Any]) -> HttpResponse:
    """A record as a file to keep. Caches ask each time: names may go."""
    response = JsonResponse(document, json_dumps_params={"separators": (",", ":")})
    response["Content-Disposition"] = f'inline; filename="midnight-{document["id"]}.json"'
    response["Access-Control-Allow-Origin"] = "*"
    patch_cache_control(response, no_cache=True)
    return response


@require_safe
def tell(request: HttpRequest, code: str) -> HttpResponse:
    """How a finished game went, round by round; one that still runs is at its table."""
    game = Game.objects.filter(code=code).first()
    opened = None if game is None else opening.find_by_id(game.pk)
    if game is None or opened is None:
        raise Http404
    document = archive.record_of(game)
    if document is None:
        return redirect("games:game", code)
    told = story.tell_story(document, showing.names_of(opened))
    own = opened.seat_of(request.user.pk)
    context = {"game": game, "opened": opened, "story": told, "own": own, "names": names, "record": document}
    return render(request, "games/story.html", context)
