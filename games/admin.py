"""Django's administration of games and of their moderation: found fast, read, and led on to where one acts.

Nothing is changed here: a change is an act, with its reason, its letter and its line in the log.
"""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Case as Whether
from django.db.models import Model, Prefetch, QuerySet, Value, When
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext, pgettext_lazy

from accounts.admin_lookups import ShownFiltersOnly
from accounts.models import User
from accounts.paging import NearPages
from accounts.templatetags.sanctions import until
from games import clock, rooms, servers
from games.models import Act, Appeal, Case, Game, RatingEvent, Reason, Report, Room, RoomSeat, Seat, Server, What
from games.moderation import acts, roles, sides, visibility
from games.moderation.acts import Why
from games.templatetags.table import why_over
from games.views.moderators import prove_again, proved_again

if TYPE_CHECKING:
    AnyRows = admin.TabularInline[Any, Any]
else:
    AnyRows = admin.TabularInline

# Nobody uses a room in which nothing has happened for so long.
STALE = timedelta(minutes=30)


class ReadOnly(ShownFiltersOnly):
    """For whoever looks after the site; nothing is added, changed or deleted."""

    show_full_result_count = False
    # Counts beside filters would count whole tables.
    show_facets = admin.ShowFacets.NEVER
    paginator = NearPages
    list_per_page = 50
    ordering = ("-pk",)
    list_max_show_all = 0
    change_list_template = "games/admin/change_list.html"

    def has_module_permission(self, request: HttpRequest) -> bool:
        return roles.is_moderator(request.user)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return roles.is_moderator(request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def people_called(beginning: str) -> QuerySet[User]:
    """Whose names begin so; few enough to look among what is theirs."""
    return User.objects.filter(pk__in=list(User.objects.called(beginning).values_list("pk", flat=True)[:200]))


def link(name: str, text: object, *args: object) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse(name, args=args), text)


class ReadOnlyRows(AnyRows):
    """What belongs to a row, shown with it."""

    extra = 0
    can_delete = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return roles.is_moderator(request.user)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def sign_of_life(game: Game) -> object:
    """When the process that keeps a game was last heard of, or when the game ended."""
    if game.ended:
        return game.ended
    if game.kept_by is None:
        return "–"
    # By the clock of this process: nobody asks the database for the time again for each row of a list.
    silent = max(0, int(timezone.now().timestamp() * 1000) - game.kept_by.seen) // 1000
    return _("%(seconds)d s ago") % {"seconds": silent}


class StateFilter(admin.SimpleListFilter):
    """Rows by whether something has happened to them yet: `since` is the column that says when."""

    title = _("state")
    parameter_name = "state"
    since = "decided"
    words: tuple[Any, Any] = (_("waiting"), _("decided"))

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("no", self.words[0]), ("yes", self.words[1])]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() not in ("no", "yes"):
            return queryset
        return queryset.filter(**{f"{self.since}__isnull": self.value() == "no"})


class GameState(StateFilter):
    since = "ended"
    words = (_("running"), _("over"))


class RoomState(StateFilter):
    """Open rooms, the stale ones among them, and closed ones."""

    since = "closed"
    words = (pgettext_lazy("room", "open"), pgettext_lazy("room", "closed"))

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [*super().lookups(request, model_admin), ("stale", _("stale"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "stale":
            return queryset.filter(pk__in=stale_rooms().values("pk"))
        return super().queryset(request, queryset)


def stale_rooms() -> QuerySet[Room]:
    """Open rooms without a game in which nothing has happened for half an hour."""
    return rooms.resting().filter(touched__lt=timezone.now() - STALE)


class SeatInline(ReadOnlyRows):
    model = Seat
    fields = readonly_fields = (
        "number",
        "kind",
        "user",
        "strength",
        "character",
        "program",
        "place",
        "points",
        "conduct",
    )


@admin.register(Game)
class GameAdmin(ReadOnly):
    """Games with their state, who plays, when they last gave a sign of life, and the ways to look and to act."""

    list_display = ("code", "ways", "state", "players", "sign_of_life", "pace", "ranked", "created")
    list_filter = (GameState, "pace", "ranked")
    search_fields = ("code",)
    search_help_text = _("A game's address, or the beginning of a player's name.")
    inlines = (SeatInline,)
    fields = readonly_fields = (
        *("code", "created", "rulebook", "pace", "ranked", "limits", "edition", "faces"),
        *("head", "state", "rounds", "lost_ms", "stalled_ms", "finish_seq", "ended", "kept_as", "ways"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Game]:
        return Game.objects.select_related("kept_by").prefetch_related("seats__user")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term:
            return queryset, False
        if queryset.filter(code=search_term).exists():
            return queryset.filter(code=search_term), False
        seats = Seat.objects.filter(user__in=people_called(search_term))
        return queryset.filter(pk__in=seats.values("game")), False

    @admin.display(description=_("state"))
    def state(self, game: Game) -> object:
        if game.ended:
            return why_over(game.reason) if game.reason else _("over")
        return _("running") if game.started_ms else _("waiting")

    @admin.display(description=_("players"))
    def players(self, game: Game) -> str:
        return ", ".join(str(seat.user or seat.strength) for seat in game.seats.all())

    @admin.display(description=_("last sign of life"))
    def sign_of_life(self, game: Game) -> object:
        return sign_of_life(game)

    @admin.display(description=_("look and act"))
    def ways(self, game: Game) -> SafeString:
        seen = link("games:replay", _("replay"), game.code) if game.ended else link("games:game", _("table"), game.code)
        return format_html("{} · {}", seen, link("games:moderated_game", _("acts"), game.code))


class RoomSeatInline(ReadOnlyRows):
    model = RoomSeat
    fields = readonly_fields = ("number", "user", "strength", "character", "agrees", "since", "seen")


@admin.register(Room)
class RoomAdmin(ReadOnly):
    """Rooms with who sits there and when anything last happened; many stale ones are closed at once, after a look."""

    list_display = ("code", "ways", "state", "owner", "people", "touched", "pace", "ranked", "public")
    list_filter = (RoomState, "pace", "ranked", "public")
    list_select_related = ("owner",)
    search_fields = ("code",)
    search_help_text = _("A room's address, or the beginning of a name of who sits or rules there.")
    inlines = (RoomSeatInline,)
    actions = ("close_stale",)
    fields = readonly_fields = (
        *("code", "created", "owner", "size", "rulebook", "pace", "ranked", "public", "faces", "limits"),
        *("touched", "state", "closed", "why_closed", "last_games", "ways"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Room]:
        running = Game.objects.filter(ended=None).select_related("kept_by")
        return Room.objects.prefetch_related("seats__user", Prefetch("games", running, to_attr="running"))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term:
            return queryset, False
        if queryset.filter(code=search_term).exists():
            return queryset.filter(code=search_term), False
        people = people_called(search_term)
        sits = RoomSeat.objects.filter(user__in=people).values("room")
        return queryset.filter(pk__in=sits) | queryset.filter(owner__in=people), False

    @admin.display(description=_("people"))
    def people(self, room: Room) -> str:
        return ", ".join(str(seat.user or seat.strength) for seat in room.seats.all())

    @admin.display(description=_("look and act"))
    def ways(self, room: Room) -> SafeString:
        page = link("games:room", _("room"), room.code)
        return format_html("{} · {}", page, link("games:moderated_room", _("acts"), room.code))

    @admin.display(description=_("state"))
    def state(self, room: Room) -> object:
        """What goes on there now: the game that is played, and when its process last gave a sign of life."""
        if room.closed:
            return room.get_why_closed_display()
        running: list[Game] = getattr(room, "running", [])
        if not running:
            return pgettext("room", "open")
        return format_html("{} · {}", link("games:game", _("a game runs"), running[0].code), sign_of_life(running[0]))

    @admin.display(description=_("last games"))
    def last_games(self, room: Room) -> SafeString:
        last = Game.objects.filter(room=room).order_by("-pk")[:10]
        ways = ((reverse("games:replay" if game.ended else "games:game", args=[game.code]), game.code) for game in last)
        return format_html_join(" · ", '<a href="{}">{}</a>', ways)

    @admin.action(description=_("Close stale rooms"), permissions=["view"])
    def close_stale(self, request: HttpRequest, chosen: QuerySet[Room]) -> HttpResponse | None:
        """Show first which of the chosen rooms nobody uses, then close those, each with its line in the log: as many as
        may be closed in an hour, the ones that were left the longest ago."""
        assert isinstance(request.user, User)
        due = stale_ones(request.user, chosen)
        most = roles.MOST_OF[What.CLOSE_ROOM]
        stale = list(due.order_by("touched", "pk")[:most])
        if request.POST.get("sure") == "yes" and not proved_again(request):
            return prove_again(request)
        if request.POST.get("sure") != "yes":
            many = due.count()
            context = {
                **self.admin_site.each_context(request),
                "title": _("Close stale rooms"),
                "stale": stale,
                "more": many - len(stale),
                "kept": chosen.filter(closed=None).count() - many,
                "most": most,
            }
            return TemplateResponse(request, "games/admin/close_stale.html", context)
        done = 0
        for room in stale:
            try:
                acts.close_room(request.user, room, Why(Reason.STALE))
            except ValidationError as refused:
                self.message_user(request, f"{room}: {' '.join(refused.messages)}", messages.ERROR)
                if refused.code == roles.TOO_MANY:
                    break
            else:
                done += 1
        self.message_user(request, _("Rooms closed: %(number)d") % {"number": done})
        return None


def stale_ones(moderator: User, chosen: QuerySet[Room]) -> QuerySet[Room]:
    """Those of the chosen rooms in which nothing has happened for half an hour, and the moderator has no side."""
    stale = sides.without_own(moderator, stale_rooms())
    return chosen.filter(pk__in=stale.values("pk")).select_related("owner").prefetch_related(None)


class ReportInline(ReadOnlyRows):
    model = Report
    fk_name = "case"
    fields = readonly_fields = ("at", "reporter", "reason", "words", "said", "game", "seq", "verdict")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Who said what is not for whoever has a side in the case."""
        if not super().has_view_permission(request, obj):
            return False
        return not (isinstance(obj, Case) and isinstance(request.user, User) and sides.is_involved(obj, request.user))


@admin.register(Case)
class CaseAdmin(ReadOnly):
    list_display = ("pk", "about", "urgency", "opened", "claimed_by", "decided", "outcome", "way")
    list_filter = (StateFilter, "outcome")
    list_select_related = ("about", "claimed_by")
    search_fields = ("about__folded_name",)
    inlines = (ReportInline,)
    fields = readonly_fields = (
        *("about", "opened", "urgency", "claimed_by", "claimed_at", "decided", "decided_by", "outcome", "way"),
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        return (queryset.filter(about__in=people_called(search_term)) if search_term else queryset), False

    @admin.display(description=_("look and act"))
    def way(self, case: Case) -> SafeString:
        return link("games:case", _("work on it"), case.pk)


@admin.register(Act)
class ActAdmin(ReadOnly):
    """The log: read, never written here."""

    list_display = ("at", "by", "what", "person", "game", "reason", "lasts", "said")
    list_filter = ("what", "reason")
    list_select_related = ("by", "person", "game", "undoes")
    search_fields = ("person__folded_name",)
    search_help_text = _("The beginning of a name, of whoever acted or was acted on.")
    fields = readonly_fields = (
        *("at", "by", "person", "what", "reason", "said", "lasts", "before", "after"),
        *("case", "game", "room", "message", "undoes"),
    )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term:
            return queryset, False
        people = people_called(search_term)
        return queryset.filter(person__in=people) | queryset.filter(by__in=people), False

    def get_fields(self, request: HttpRequest, obj: Act | None = None) -> list[Any]:
        """Of whoever has left, the log shows no former name and no words of theirs."""
        if obj is None or obj.person_id is None or User.objects.filter(pk=obj.person_id, deleted_at=None).exists():
            return [*self.fields]
        return [name for name in self.fields if name not in ("before", "after")]

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Act | None:
        """The row without the words that it keeps, for a moderator who may not read them."""
        act = super().get_object(request, object_id, from_field)
        if isinstance(act, Act) and isinstance(request.user, User) and not visibility.may_read_act(request.user, act):
            act.before.pop(visibility.WORDS, None)
            act.after.pop(visibility.WORDS, None)
        return act

    def get_queryset(self, request: HttpRequest) -> QuerySet[Act]:
        about_reader = When(person=request.user.pk, then=Value(True))
        return Act.objects.annotate(about_reader=Whether(about_reader, default=Value(False)))

    @admin.display(description=_("words"))
    def said(self, act: Act) -> str:
        """Nobody reads what a decision about themselves says of those who reported them."""
        return act.words if act.tells_why or not getattr(act, "about_reader", True) else ""

    @admin.display(description=_("until"))
    def lasts(self, act: Act) -> str | None:
        return until(act.until) if act.until else None


@admin.register(Appeal)
class AppealAdmin(ReadOnly):
    list_display = ("at", "act", "granted", "decided", "decided_by")
    list_filter = (StateFilter,)
    list_select_related = ("act", "decided_by")
    fields = readonly_fields = ("act", "at", "words", "decided", "decided_by", "granted", "answer")


@admin.register(RatingEvent)
class LedgerAdmin(ReadOnly):
    """The ratings' ledger: read here, written by finished games, replayed when one is voided."""

    list_display = ("pk", "game", "player", "generation", "before", "delta", "after", "k", "games_before")
    list_select_related = ("game", "player")
    search_fields = ("game__code",)
    search_help_text = _("A game's address, or the beginning of a player's name.")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term:
            return queryset, False
        if game := Game.objects.filter(code=search_term).first():
            return queryset.filter(game=game), False
        return queryset.filter(player__in=people_called(search_term)), False


@admin.register(Server)
class ServerAdmin(ReadOnly):
    """The processes that look after games."""

    list_display = ("name", "alive", "pulse")
    fields = readonly_fields = ("name", "alive", "pulse")

    @admin.display(description=_("alive"), boolean=True)
    def alive(self, server: Server) -> bool:
        return bool(servers.seem_alive([servers.sign_of(server)], clock.site_now(), servers.SILENT_MS))
