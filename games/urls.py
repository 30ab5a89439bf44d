"""Addresses of the game's pages."""

from django.urls import path

from games import views

app_name = "games"
urlpatterns = [
    path("", views.home, name="home"),
    path("play/", views.lobby, name="lobby"),
    path("play/bots/", views.play_against_bots, name="play_against_bots"),
    path("games/<slug:code>/", views.game, name="game"),
    path("games/<slug:code>/exchange/", views.exchange, name="exchange"),
]
