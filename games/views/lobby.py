"""The home page, and the ways into a game."""

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts import entrance
from games import lobby as lobbies
from games.forms import BotsForm


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "games/home.html")


@require_safe
def lobby(request: HttpRequest) -> HttpResponse:
    running = [] if isinstance(request.user, AnonymousUser) else lobbies.running_games(request.user.pk)
    return render(request, "games/lobby.html", {"form": BotsForm(), "running": running})


@require_POST
def play_against_bots(request: HttpRequest) -> HttpResponse:
    """A game that begins at once; who is nobody yet plays as a guest."""
    form = BotsForm(request.POST)
    if not form.is_valid():
        return render(request, "games/lobby.html", {"form": form}, status=422)
    if isinstance(request.user, AnonymousUser):
        entered: HttpResponse = entrance.come_as_guest(request)
        if isinstance(request.user, AnonymousUser):
            return entered
    game = lobbies.play_against_bots(request.user.pk, form.cleaned_data["bots"], form.cleaned_data["strength"])
    return redirect("games:game", game.code)
