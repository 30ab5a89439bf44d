"""What the read API says, as plain values for JSON; `openapi.json` promises their fields."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from accounts.models import User
from accounts.site_links import link_to
from games.dumps import Dump
from games.history import Entry
from games.models import Rating, Seat
from games.opening import FORMER_GUEST
from games.rating import PROVISIONAL_GAMES

Shape = dict[str, Any]


def address(view: str, *args: object) -> str:
    """Where to find something, whole."""
    return link_to(f"games:{view}", *args)


def moment(when: datetime | None) -> str | None:
    return None if when is None else when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def game(entry: Entry) -> Shape:
    played = entry.game
    return {
        "id": played.code,
        "began": moment(entry.began),
        "ended": moment(played.ended),
        "pace": played.pace,
        "rulebook": played.rulebook,
        "ranked": played.ranked,
        "reason": played.reason,
        "rounds": played.rounds,
        "seats": [seat(one) for one in sorted(entry.seats, key=lambda one: one.number)],
        "page": address("story", played.code),
        "record": address("api_record", played.code),
    }


def seat(one: Seat) -> Shape:
    return {
        "seat": one.number,
        "kind": one.kind,
        "player": one.user_id,
        "name": one.user.name if one.user else one.strength or FORMER_GUEST,
        "character": one.character,
        "place": one.place,
        "points": one.points,
    }


def player(person: User, ratings: Iterable[Rating]) -> Shape:
    return {
        "id": person.pk,
        "name": person.name,
        "guest": person.is_guest,
        "deleted": person.deleted_at is not None,
        "ratings": [rating(one) for one in ratings],
    }


def rating(one: Rating) -> Shape:
    return {
        "pace": one.pace,
        "rating": float(one.rating),
        "games": one.games,
        "provisional": one.games < PROVISIONAL_GAMES,
    }


def line(place: int, one: Rating) -> Shape:
    """A line of a leaderboard."""
    standing = {"rating": float(one.rating), "games": one.games, "season_gain": float(one.season_gain)}
    return {"place": place, "player": one.user_id, "name": one.user.name, **standing}


def dump(one: Dump) -> Shape:
    return {"month": one.month, "records": address("dump", one.name), "bytes": one.size, "made": moment(one.made)}


def some(things: Iterable[Shape], following: str | None) -> Shape:
    """A page of a list; `next` is the whole address of the one after it."""
    return {"items": list(things), "next": following}
