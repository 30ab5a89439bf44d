"""The game's pages: permission, form, one call, one template."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def home(request: HttpRequest) -> HttpResponse:
    return render(request, "games/home.html")


def lobby(request: HttpRequest) -> HttpResponse:
    return render(request, "games/lobby.html")
