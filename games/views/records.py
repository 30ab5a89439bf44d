"""The page about one finished game."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from games import archive, ladder, names, opening, showing, story
from games.models import Game


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
    context = {
        "game": game,
        "opened": opened,
        "story": told,
        "own": own,
        "names": names,
        "record": document,
        "rating": ladder.explain(game),
    }
    return render(request, "games/story.html", context)
