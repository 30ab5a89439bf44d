"""The leaderboards."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from games import ladder
from games.ladder.boards import Board, Key
from games.models import Game

BOARDS: tuple[Board, ...] = ("all", "season")


@require_safe
def ladders(request: HttpRequest) -> HttpResponse:
    """One board: of live or relaxed games, of all time or of this season."""
    pace = request.GET.get("pace", Game.Pace.LIVE)
    kind = next((board for board in BOARDS if board == request.GET.get("board", "all")), None)
    after = Key.read(request.GET["after"]) if "after" in request.GET else None
    if pace not in Game.Pace.values or kind is None or ("after" in request.GET and after is None):
        raise Http404
    page = ladder.board(pace, kind, timezone.now(), after, request.user.pk)
    rows = [(place, row) for place, row in enumerate(page.rows, start=page.first)]
    context = {"pace": pace, "kind": kind, "paces": Game.Pace, "page": page, "rows": rows}
    return render(request, "games/ladders.html", context)


@require_safe
def explained(request: HttpRequest, code: str) -> HttpResponse:
    """What a game did to the ratings of its players: a piece of its pages."""
    game = get_object_or_404(Game, code=code)
    return render(request, "games/_rating.html", {"game": game, "rating": ladder.explain(game)})
