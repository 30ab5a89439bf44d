"""Players' pages."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.models import User
from games import history, profiles
from games.models import Ignored
from games.profiles import Met


@require_safe
def person(request: HttpRequest, name: str) -> HttpResponse:
    """Somebody's ratings, games and searches; a deleted account is a pseudonym, a guest has no page."""
    player = _player(name)
    if player.name != name:
        return redirect("games:person", player.name)
    me = request.user.pk
    own = player.pk == me
    context = {
        "player": player,
        "own": own,
        "ignored": None if own or me is None else Ignored.objects.filter(person=me, other=player).first(),
        "profile": profiles.profile(player, me),
    }
    return render(request, "games/person.html", context)


@require_safe
def opponents(request: HttpRequest, name: str) -> HttpResponse:
    """Everybody whom somebody has met, and who was ahead how often."""
    player = _player(name)
    after = Met.read(request.GET["after"]) if "after" in request.GET else None
    if "after" in request.GET and after is None:
        raise Http404
    rows, following = profiles.opponents(player, after)
    own = player.pk == request.user.pk
    context = {"player": player, "own": own, "rows": rows, "after": after, "next": following}
    return render(request, "games/opponents.html", context)


def _player(name: str) -> User:
    player = history.find_player(name)
    if player is None or player.is_guest:
        raise Http404
    return player
