"""What every page's header says of games: that somebody waits for one's turn."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from games import pace
from games.models import Seat


def context(request: HttpRequest) -> dict[str, object]:
    """For every template: `turns`, asked for only where it is shown, and only for somebody signed in."""

    def turns() -> list[Seat]:
        person_id = getattr(getattr(request, "user", None), "pk", None)
        return [] if person_id is None else pace.owed(person_id)

    return {"turns": SimpleLazyObject(turns)}
