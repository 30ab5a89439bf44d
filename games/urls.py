"""Addresses of the game's pages."""

from django.urls import path

from games import views

app_name = "games"
urlpatterns = [
    path("", views.home, name="home"),
    path("play/", views.lobby, name="lobby"),
]
