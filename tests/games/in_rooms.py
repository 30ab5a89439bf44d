"""Games that people begin in a room: everybody sits down and agrees."""

from collections.abc import Sequence

from accounts.models import User
from games import rooms
from games.models import Game, Room
from games.rules.terms import Pace


def play(room: Room, *people: User) -> Game:
    """Everybody agrees; the game that this begins."""
    for person in people:
        rooms.agree(room, person)
    game = rooms.running_game(room)
    assert game is not None
    # An event loop may ask for it, and must not ask the database.
    game.room = room
    return game


def begin(*people: User, pace: Pace = "live", bots: Sequence[str] = ()) -> tuple[Room, Game]:
    """A room of the first one's in which all of them sit, and the game that begins there."""
    room = rooms.open_room(people[0], size=len(people) + len(bots), pace=pace, bots=bots)
    for person in people[1:]:
        rooms.sit(room, person)
    return room, play(room, *people)
