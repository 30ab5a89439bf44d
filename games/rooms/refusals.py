"""Why something cannot be done in a room: a closed list of codes, each with its sentence."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

REFUSALS: dict[str, str | Promise] = {
    "closed": _("This room is closed."),
    "playing": _("A game is being played here. Sit down when it is over."),
    "full": _("All seats are taken."),
    "taken": _("Somebody was faster: this seat is taken."),
    "no_seat": _("You have no seat here."),
    "not_owner": _("Only the owner of the room can do that."),
    "removed": _("The owner of this room has shown you out."),
    "blocked": _("Somebody here has blocked you, or you have blocked them."),
    "guest": _("Guests do not play ranked games. Keep your account first."),
    "new": _("Ranked games open to you after a few casual ones."),
    "household": _("Each household has one seat at a ranked table. Casual games are open to all of you."),
    "barred": _("You are barred from ranked games."),
    "paused": _("You left ranked games more than once, so you wait before the next one."),
    "company": _("Somebody at this table may not play ranked games just now."),
    "met": _("Two of you have met in ranked games ten times today. That is enough for a day."),
    "too_many": _("You sit in as many rooms as anybody may."),
    "elsewhere": _("You sit in another live game. Finish it or leave it first."),
    "nobody": _("Nobody has this name."),
    "gone": _("Whoever sat here sits elsewhere by now."),
    "too_small": _("More people sit here than that."),
    "people_only": _("Only people play ranked games."),
    "no_such_time": _("Choose a time within the next seven days."),
    "after_limit": _("The game goes on by itself before that. Choose an earlier time."),
    "other_time": _("This time is not proposed any more."),
    "alone": _("One player is not enough."),
}


class RoomRefusal(Exception):
    """What cannot be done in a room now. Nothing has changed."""

    def __init__(self, code: str) -> None:
        super().__init__(REFUSALS[code])
        self.code = code
        self.sentence = REFUSALS[code]
