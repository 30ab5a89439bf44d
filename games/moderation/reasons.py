"""Which reasons and which length belong to which act: what the forms offer, and what they refuse."""

from games.models import Reason, What

# What a person can have done, to others or at a table.
CONDUCT = (
    Reason.THREAT,
    Reason.INSULT,
    Reason.NAME,
    Reason.SPAM,
    Reason.CHEATING,
    Reason.COLLUSION,
    Reason.THROWING,
    Reason.STALLING,
)
TALK = (Reason.THREAT, Reason.INSULT, Reason.SPAM)
PLAY = (Reason.CHEATING, Reason.COLLUSION, Reason.THROWING, Reason.STALLING)

REASONS: dict[What, tuple[Reason, ...]] = {
    What.WARN: (*CONDUCT, Reason.REPORTS, Reason.OTHER),
    What.MUTE: (*TALK, Reason.OTHER),
    What.BAR: (*PLAY, Reason.OTHER),
    What.SUSPEND: (*CONDUCT, Reason.REPORTS, Reason.OTHER),
    What.RENAME: (Reason.NAME, Reason.OTHER),
    What.FORGIVE: (Reason.STALLING, Reason.OTHER),
    What.HIDE: (*CONDUCT, Reason.OTHER),
    What.END_GAME: (*CONDUCT, Reason.OTHER),
    What.REMOVE: (*CONDUCT, Reason.OTHER),
    What.VOID_GAME: (*PLAY, Reason.OTHER),
    What.WATCH: (*CONDUCT, Reason.OTHER),
    What.CLOSE_ROOM: (*TALK, Reason.NAME, Reason.STALE, Reason.OTHER),
    What.HAND_OVER: (*TALK, Reason.STALLING, Reason.STALE, Reason.OTHER),
}
# These go on until a moment, and ask for how long.
LASTING = frozenset({What.MUTE, What.BAR, What.SUSPEND})
