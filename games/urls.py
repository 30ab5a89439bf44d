"""Addresses of the game's pages."""

from django.urls import path

from games.api import doors as api
from games.views import game, history, lobby, moderators, records, reports, rooms, talk

app_name = "games"
urlpatterns = [
    path("", lobby.home, name="home"),
    path("play/", lobby.lobby, name="lobby"),
    path("play/bots/", lobby.play_against_bots, name="play_against_bots"),
    path("rooms/", rooms.open_room, name="open_room"),
    path("rooms/new/", rooms.new_room, name="new_room"),
    path("rooms/<slug:code>/", rooms.room, name="room"),
    path("rooms/<slug:code>/settings/", rooms.settings, name="room_settings"),
    path("rooms/<slug:code>/<slug:what>/", rooms.act, name="room_act"),
    path("games/<slug:code>/", game.game, name="game"),
    path("games/<slug:code>/exchange/", game.exchange, name="exchange"),
    path("games/<slug:code>/record.json", api.record, name="record"),
    path("games/<slug:code>/story/", records.tell, name="story"),
    path("history/", history.games, name="history"),
    path("data/", history.data, name="data"),
    path("data/<str:name>", api.dump, name="dump"),
    path("api/1/openapi.json", api.describe, name="api"),
    path("api/1/games/", api.games, name="api_games"),
    path("api/1/games/<slug:code>/", api.game, name="api_game"),
    path("api/1/games/<slug:code>/record/", api.record, name="api_record"),
    path("api/1/players/", api.players, name="api_players"),
    path("api/1/players/<int:pk>/", api.player, name="api_player"),
    path("api/1/dumps/", api.all_dumps, name="api_dumps"),
    path("talk/<slug:channel>/", talk.talk, name="talk"),
    path("talk/<slug:channel>/switch/", talk.switch, name="talk_switch"),
    path("people/<int:pk>/ignore/", talk.ignore, name="ignore"),
    path("report/<int:pk>/", reports.report, name="report"),
    path("letters/", reports.letter_list, name="letters"),
    path("letters/<int:pk>/appeal/", reports.appeal, name="appeal"),
    path("moderation/", moderators.queue, name="moderation"),
    path("moderation/cases/<int:pk>/", moderators.case, name="case"),
    path("moderation/cases/<int:pk>/claim/", moderators.claim, name="claim"),
    path("moderation/cases/<int:pk>/release/", moderators.release, name="release"),
    path("moderation/cases/<int:pk>/act/", moderators.act_in_case, name="act_in_case"),
    path("moderation/cases/<int:pk>/decide/", moderators.decide, name="decide_case"),
    path("moderation/people/<int:pk>/", moderators.person, name="person"),
    path("moderation/people/<int:pk>/signs/", moderators.signs, name="signs"),
    path("moderation/games/<slug:code>/", moderators.game, name="moderated_game"),
    path("moderation/messages/<int:pk>/hide/", moderators.hide, name="hide"),
    path("moderation/acts/", moderators.log, name="acts"),
    path("moderation/acts/<int:pk>/undo/", moderators.undo, name="undo"),
    path("moderation/figures/", moderators.figures, name="figures"),
    path("moderation/appeals/", moderators.appeal_list, name="appeals"),
    path("moderation/appeals/<int:pk>/", moderators.decide_appeal, name="decide_appeal"),
]
