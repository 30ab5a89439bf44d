"""The page about one finished game."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from games import archive, history, ladder, names, opening, replaying, showing, story
from games.limits import costly
from games.models import Game
from games.opening import Opened


@require_safe
@costly
def tell(request: HttpRequest, code: str) -> HttpResponse:
    """How a finished game went, round by round; one that still runs is at its table."""
    game = Game.objects.filter(code=code).first()
    opened = None if game is None else opening.find_by_id(game.pk)
    if game is None or opened is None:
        raise Http404
    if replaying.is_too_long(game):
        return too_long(request, game, opened)
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
        # What a link to a moment of the replay ends in: those who played see it from their own seat.
        "seat_seen": "" if own is None else f"&as={own}",
        "names": names,
        "record": document,
        "rating": ladder.explain(game),
        "with_page": [seat.number for seat in game.seats.select_related("user") if seat.user and seat.user.has_page],
        "is_indexed": history.is_indexed(game),
    }
    return render(request, "games/story.html", context)


def too_long(request: HttpRequest, game: Game, opened: Opened) -> HttpResponse:
    """What there is to see of a finished game that no page plays again: its rows say it."""
    context = {"game": game, "opened": opened, "entry": history.entry(game.code)}
    return render(request, "games/too_long.html", context)
