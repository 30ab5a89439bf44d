"""What is kept: games with their seats and their log, and the processes that look after them."""

from games.models.careers import Career, Opponent
from games.models.chance import GameSecret, SeatSecret
from games.models.fairness import FairnessLine
from games.models.moderation import FINAL, Act, Appeal, Case, Glance, Letter, Reason, Report, What
from games.models.play import Event, Finish, Game, Seat, Server, new_code
from games.models.proofs import Proof, keep_proof
from games.models.ratings import Generation, Ladder, Milestone, Rating, RatingEvent
from games.models.records import Figures, Record
from games.models.rooms import Admission, Meeting, Nudge, Room, RoomSeat, Waiting
from games.models.talk import Ignored, Message

__all__ = [
    "FINAL",
    "Act",
    "Admission",
    "Appeal",
    "Career",
    "Case",
    "Event",
    "FairnessLine",
    "Figures",
    "Finish",
    "Game",
    "GameSecret",
    "Generation",
    "Glance",
    "Ignored",
    "Ladder",
    "Letter",
    "Meeting",
    "Message",
    "Milestone",
    "Nudge",
    "Opponent",
    "Proof",
    "Rating",
    "RatingEvent",
    "Reason",
    "Record",
    "Report",
    "Room",
    "RoomSeat",
    "Seat",
    "SeatSecret",
    "Server",
    "Waiting",
    "What",
    "keep_proof",
    "new_code",
]
