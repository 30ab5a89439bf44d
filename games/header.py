"""The header of every page: running games, turns, an offered rematch, invitations and unread messages."""

from functools import cache

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from games import lobby, pace, rooms
from games.models import Meeting, Seat
from games.moderation import letters


def context(request: HttpRequest) -> dict[str, object]:
    """Add `turns`, `live_seat`, `rematch`, `invitations` and `unread`, queried only where a template shows them."""
    person_id: int | None = getattr(getattr(request, "user", None), "pk", None)

    # The page of a game or of its room does not lead to itself. A fragment belongs to the page that asked for it.
    match = request.resolver_match
    here = request.GET.get("bar") or (match.kwargs.get("code") if match else None)
    page = getattr(getattr(request, "htmx", None), "current_url_abs_path", None) or request.path

    def is_elsewhere(seat: Seat) -> bool:
        return seat.game.code != here and rooms.address_of_seat(seat.game) != page

    @cache
    def seats() -> list[Seat]:
        running = [] if person_id is None else rooms.running_seats(person_id)
        return [seat for seat in running if is_elsewhere(seat)]

    def turns() -> list[Seat]:
        return pace.owed_of(seats())

    def live_seat() -> Seat | None:
        return rooms.live_seat_in(seats())

    def proposals() -> list[Meeting]:
        return pace.unanswered(seats())

    def rematch() -> rooms.Rematch | None:
        offered = None if person_id is None else rooms.rematch_for(person_id)
        if offered is None or "bar" in request.GET:
            return offered
        addresses = [reverse(name, args=[offered.room.code]) for name in ("games:room", "games:seats")]
        return None if page in addresses else offered

    def invitations() -> int:
        return 0 if person_id is None else lobby.invitations(person_id)

    def unread() -> int:
        return 0 if person_id is None else letters.unread(person_id)

    asked = {
        "turns": turns,
        "live_seat": live_seat,
        "proposals": proposals,
        "rematch": rematch,
        "invitations": invitations,
        "unread": unread,
    }
    return {name: SimpleLazyObject(ask) for name, ask in asked.items()}
