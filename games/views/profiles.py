"""The pages of players."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from games import history, profiles


@require_safe
def person(request: HttpRequest, name: str) -> HttpResponse:
    """Somebody's ratings, games and searches; a deleted account is a pseudonym, a guest has no page."""
    player = history.find_player(name)
    if player is None or player.is_guest:
        raise Http404
    if player.name != name:
        return redirect("games:person", player.name)
    context = {
        "player": player,
        "own": player.pk == request.user.pk,
        "profile": profiles.profile(player, request.user.pk),
    }
    return render(request, "games/person.html", context)
