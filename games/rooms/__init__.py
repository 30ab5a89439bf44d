"""Rooms, from the first seat to the next game: one function for each thing that happens.

`seats` is opening, sitting and standing, `starting` leads from agreeing to a game, `owner` and `staff` are what those
decide, `state` is what is so, `holding` what every act is made of, `refusals` why something cannot be.

Who locks what: first the rows of people, then rows of rooms, each in the order of their ids, then whatever hangs on
them. So nobody waits in a circle, and what two people do at once happens one after the other.
"""

from .holding import blocked_pairs, kept_apart
from .owner import change, close, decline, invite, show_out
from .refusals import REFUSALS, RoomRefusal
from .rematch import Rematch, rematch_for
from .seats import MOST_SEATS, add_bot, free_live_seat, open_room, sit, sit_anywhere, stand, take_bot_away, unwelcome
from .staff import close_room, hand_over, let_go, let_in, remove_person, reopen, seating, stand_up_absent
from .starting import agree, open_matched, start_now
from .state import (
    AWAY,
    address_of_seat,
    admission_of,
    back,
    game_before,
    is_away,
    last_game,
    live_game_of,
    live_seat_in,
    note,
    plays_on,
    resting,
    result_of,
    running_game,
    running_seats,
    welcoming,
)

__all__ = [
    "AWAY",
    "MOST_SEATS",
    "REFUSALS",
    "Rematch",
    "RoomRefusal",
    "add_bot",
    "address_of_seat",
    "admission_of",
    "agree",
    "back",
    "blocked_pairs",
    "change",
    "close",
    "close_room",
    "decline",
    "free_live_seat",
    "game_before",
    "hand_over",
    "invite",
    "is_away",
    "kept_apart",
    "last_game",
    "let_go",
    "let_in",
    "live_game_of",
    "live_seat_in",
    "note",
    "open_matched",
    "open_room",
    "plays_on",
    "rematch_for",
    "remove_person",
    "reopen",
    "resting",
    "result_of",
    "running_game",
    "running_seats",
    "seating",
    "show_out",
    "sit",
    "sit_anywhere",
    "stand",
    "stand_up_absent",
    "start_now",
    "take_bot_away",
    "unwelcome",
    "welcoming",
]
