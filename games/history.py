"""Finished games in lists, the latest end first: what one may ask for, and one page of what there is.

A page is a constant number of queries, and a place in a list is the end and the id of a game: nothing that finishes
meanwhile moves it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Self

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts import looks
from accounts.models import User
from games import ladder, names
from games.models import Game, RatingEvent, Seat

PAGE = 25
ANY = ("", pgettext_lazy("choice", "Any"))
RESULTS = [
    ("won", pgettext_lazy("result", "Won")),
    ("lost", pgettext_lazy("result", "Lost")),
    ("ahead", pgettext_lazy("result", "Ahead of the opponent")),
    ("behind", pgettext_lazy("result", "Behind the opponent")),
    ("left", pgettext_lazy("result", "Left early")),
    ("void", pgettext_lazy("result", "Without a result")),
]
LENGTHS = [("short", _("Up to 3 rounds")), ("middle", _("4 to 6 rounds")), ("long", _("7 rounds and more"))]
ROUNDS = {"short": Q(rounds__lte=3), "middle": Q(rounds__range=(4, 6)), "long": Q(rounds__gte=7)}
OF_SEATS = {
    "won": Q(place=1, game__rounds__gt=0),
    "lost": Q(place__gt=1, conduct=Seat.Conduct.FINISHED, game__rounds__gt=0),
    "left": ~Q(conduct=Seat.Conduct.FINISHED),
    "ahead": Q(place__isnull=False, game__rounds__gt=0),
    "behind": Q(place__isnull=False, game__rounds__gt=0),
}
# Results that compare the player's place with the opponent's: the opponent's seat in the same game.
AGAINST = {"ahead": Q(place__gt=OuterRef("place")), "behind": Q(place__lt=OuterRef("place"))}


# Nobody finds a closed account; a deleted one is found by its pseudonym.
TO_BE_FOUND = Q(closed_at=None) | Q(deleted_at__isnull=False)


def find_player(name: str) -> User | None:
    """Whose name this is, however it is written."""
    if "\0" in name:
        return None
    player: User | None = User.objects.filter(TO_BE_FOUND, folded_name=looks.fold(name)).first()
    return player


class PlayerField(forms.CharField):
    """Somebody's name as people write it; the value is the account, None where nothing is asked for."""

    def clean(self, value: Any) -> User | None:
        name = super().clean(value)
        if not name:
            return None
        player = find_player(name)
        if player is None:
            raise ValidationError(_("Nobody here has this name."), code="unknown_player")
        return player


class HistoryForm(forms.Form):
    """What a list of games is filtered by; its fields are the words of the address."""

    player = PlayerField(label=_("Player"), required=False, max_length=40)
    opponent = PlayerField(label=_("Opponent"), required=False, max_length=40)
    result = forms.ChoiceField(label=_("Result"), required=False, choices=[ANY, *RESULTS])
    pace = forms.ChoiceField(label=_("Pace"), required=False, choices=[ANY, *Game.Pace.choices])
    rulebook = forms.ChoiceField(label=_("Rulebook"), required=False, choices=[ANY, *names.RULEBOOKS.items()])
    length = forms.ChoiceField(label=_("Length"), required=False, choices=[ANY, *LENGTHS])
    since = forms.DateField(label=_("From (UTC)"), required=False, widget=forms.DateInput({"type": "date"}, "%Y-%m-%d"))
    until = forms.DateField(label=_("To (UTC)"), required=False, widget=forms.DateInput({"type": "date"}, "%Y-%m-%d"))

    def __init__(self, data: Any, viewer: int | None = None) -> None:
        super().__init__(data)
        self.viewer = viewer

    def clean(self) -> dict[str, Any]:
        asked = self.cleaned_data
        player = asked.get("player")
        if asked.get("opponent") and not player and "player" not in self.errors:
            self.add_error("player", ValidationError(_("Say whose opponent."), code="whose"))
        if asked.get("result") in OF_SEATS and not player and "player" not in self.errors:
            self.add_error("player", ValidationError(_("Say whose result."), code="whose"))
        if asked.get("result") in AGAINST and not asked.get("opponent") and "opponent" not in self.errors:
            self.add_error("opponent", ValidationError(_("Name the opponent for this result."), code="against_whom"))
        if asked.get("result") == "left" and player is not None and player.pk != self.viewer:
            # How often somebody leaves is for nobody else to collect.
            self.add_error("result", ValidationError(_("This can be asked of your own games only."), code="own"))
        return asked

    def asked(self) -> dict[str, Any]:
        """What a valid form asks for, without what it leaves open."""
        return {name: value for name, value in self.cleaned_data.items() if value}


class WrongCursor(ValueError):
    """This is no place in a list."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a list: after, or before, the game with this end and this id."""

    ended: datetime
    game_id: int

    def __str__(self) -> str:
        return f"{(self.ended - EPOCH) // MICROSECOND}-{self.game_id}"

    @classmethod
    def read(cls, text: str) -> Self:
        found = PLACE.fullmatch(text)
        if found is None:
            raise WrongCursor
        try:
            return cls(EPOCH + int(found[1]) * MICROSECOND, int(found[2]))
        except OverflowError:
            raise WrongCursor from None


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
# No longer than the numbers that a database holds.
PLACE = re.compile(r"(\d{1,18})-(\d{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Entry:
    """One game of a list: its seats, best first, the seat whose list this is, and what the game did to its rating."""

    game: Game
    seats: Sequence[Seat]
    own: Seat | None
    change: RatingEvent | None = None

    @property
    def is_walkover(self) -> bool:
        """Whether it ended before its first round did, because others left."""
        return self.game.rounds == 0 and self.game.reason != "void"

    @property
    def began(self) -> datetime:
        return EPOCH + timedelta(milliseconds=self.game.started_ms or 0)


@dataclass(frozen=True, slots=True)
class Page:
    entries: Sequence[Entry]
    newer: str
    older: str


def page(
    asked: dict[str, Any],
    *,
    after: Cursor | None = None,
    before: Cursor | None = None,
    viewer: int | None = None,
    size: int = PAGE,
    lines: Mapping[int, RatingEvent] | None = None,
) -> Page:
    """The games that were asked for after this place, or before that one; without one, the latest.

    A game that is not listed is found in the lists of its own players by themselves. In a list of all games the
    viewer's own seats are marked. `lines` are rating changes of that player, by game, that the caller knows already.
    """
    player: User | None = asked.get("player")
    found = _of_player(player, asked, viewer) if player else _of_all(asked)
    key = "game_id" if player else "id"
    backwards = before is not None
    if place := before or after:
        found = _beyond(found, place, key, backwards)
    order = [F("ended").asc(), F(key).asc()] if backwards else [F("ended").desc(), F(key).desc()]
    rows = list(found.order_by(*order)[: size + 1])
    more = len(rows) > size
    rows = rows[:size]
    if backwards:
        rows.reverse()
    games = [row.game for row in rows] if player else rows
    entries = _entries(games, player.pk if player else viewer, lines)
    first, last = (_cursor(games[0]), _cursor(games[-1])) if games else ("", "")
    return Page(
        entries,
        newer=first if (more if backwards else after is not None) else "",
        older=last if (backwards or more) else "",
    )


def entry(code: str) -> Entry | None:
    """One finished game as lists have it."""
    games = list(Game.objects.filter(code=code, ended__isnull=False))
    return _entries(games, None)[0] if games else None


def is_indexed(game: Game) -> bool:
    """Whether search engines may show this game's pages: it is public, and no player has asked to be left out."""
    return game.listed and not game.seats.filter(user__indexed=False).exists()


def _of_all(asked: dict[str, Any]) -> QuerySet[Any]:
    return Game.objects.filter(_of_games(asked), ended__isnull=False, listed=True).defer("limits")


def _of_player(player: User, asked: dict[str, Any], viewer: int | None) -> QuerySet[Any]:
    own = _of_games(asked, "game__")
    if viewer != player.pk:
        own &= Q(game__listed=True)
    seats = Seat.objects.filter(own, user=player, ended__isnull=False).select_related("game")
    if asked.get("result") in OF_SEATS:
        seats = seats.filter(OF_SEATS[asked["result"]])
    if opponent := asked.get("opponent"):
        against = AGAINST.get(asked.get("result", ""), Q())
        seats = seats.filter(Exists(Seat.objects.filter(against, game=OuterRef("game"), user=opponent)))
        if opponent == player:
            seats = seats.none()
    return seats


def _of_games(asked: dict[str, Any], prefix: str = "") -> Q:
    """What is asked of the games themselves, and of the ends that games and seats both know."""
    found = Q(**{f"{prefix}{name}": asked[name] for name in ("pace", "rulebook") if name in asked})
    if asked.get("result") == "void":
        found &= Q(**{f"{prefix}reason": "void"})
    if "length" in asked:
        for name, value in ROUNDS[asked["length"]].children:  # type: ignore[misc]
            found &= Q(**{f"{prefix}{name}": value})
    if "since" in asked:
        found &= Q(ended__gte=datetime.combine(asked["since"], time(), UTC))
    if "until" in asked:
        # The last day that a calendar has is asked for, too; there is none after it.
        found &= Q(ended__lte=datetime.combine(asked["until"], time.max, UTC))
    return found


def _beyond(found: QuerySet[Any], place: Cursor, key: str, backwards: bool) -> QuerySet[Any]:
    # The first condition says nothing new, but an index understands it.
    if backwards:
        newer = Q(ended__gt=place.ended) | Q(**{f"{key}__gt": place.game_id})
        return found.filter(newer, ended__gte=place.ended)
    older = Q(ended__lt=place.ended) | Q(**{f"{key}__lt": place.game_id})
    return found.filter(older, ended__lte=place.ended)


def _cursor(game: Game) -> str:
    assert game.ended is not None
    return str(Cursor(game.ended, game.pk))


def _entries(games: Iterable[Game], own: int | None, lines: Mapping[int, RatingEvent] | None = None) -> list[Entry]:
    games = list(games)
    seats: dict[int, list[Seat]] = {game.pk: [] for game in games}
    sitting = Seat.objects.filter(game__in=seats).select_related("user")
    for seat in sitting.order_by(F("place").asc(nulls_last=True), "number"):
        seats[seat.game_id].append(seat)
    changes = {} if own is None else ladder.lines_in(games, own, lines)
    return [Entry(game, seats[game.pk], _own(seats[game.pk], own), changes.get(game.pk)) for game in games]


def _own(seats: Iterable[Seat], own: int | None) -> Seat | None:
    return next((seat for seat in seats if own is not None and seat.user_id == own), None)


def name_of(seat: Seat) -> str:
    """What whoever sat here is called in lists."""
    if seat.user is not None:
        return seat.user.name
    if seat.kind == Seat.Kind.BOT:
        return str(names.CHARACTERS[seat.character])  # type: ignore[index]
    return str(_("Former guest"))
