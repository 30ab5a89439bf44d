"""Addresses of the game's pages."""

from django.urls import path

from games.views import game, lobby

app_name = "games"
urlpatterns = [
    path("", lobby.home, name="home"),
    path("play/", lobby.lobby, name="lobby"),
    path("play/bots/", lobby.play_against_bots, name="play_against_bots"),
    path("games/<slug:code>/", game.game, name="game"),
    path("games/<slug:code>/exchange/", game.exchange, name="exchange"),
]
