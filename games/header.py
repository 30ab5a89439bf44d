"""What every page's header says: that somebody waits for one's turn, that an invitation or a letter has come."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from games import lobby, pace, rooms
from games.models import Seat
from games.moderation import letters


def context(request: HttpRequest) -> dict[str, object]:
    """For every template: `turns`, `invitations` and `unread`, asked for only where they are shown, and for somebody
    signed in."""
    person_id: int | None = getattr(getattr(request, "user", None), "pk", None)

    # A table's page, by itself or in its room, says of the others.
    match = request.resolver_match
    here = request.GET.get("bar") or (match.kwargs.get("code") if match else None)

    def turns() -> list[Seat]:
        owed = [] if person_id is None else pace.owed(person_id)
        others = [seat for seat in owed if seat.game.code != here]
        return [seat for seat in others if rooms.address_of_seat(seat.game) != request.path]

    def invitations() -> int:
        return 0 if person_id is None else lobby.invitations(person_id)

    def unread() -> int:
        return 0 if person_id is None else letters.unread(person_id)

    said = {"turns": turns, "invitations": invitations, "unread": unread}
    return {name: SimpleLazyObject(ask) for name, ask in said.items()}
