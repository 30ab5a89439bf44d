"""What is agreed before the first move: rulebook, pace, limits, edition, seats and the secret seed (R1, R2, R8)."""

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Literal

from . import chance
from .edition import Edition, load_edition

Rulebook = Literal["fr", "it", "de", "es", "pt"]
Pace = Literal["live", "relaxed"]
Kind = Literal["human", "bot"]
Character = Literal["violet", "scarlet", "emerald", "amber"]
MarketsBy = Literal["draw", "owner"]

RULEBOOKS: tuple[Rulebook, ...] = ("fr", "it", "de", "es", "pt")
PACES: tuple[Pace, ...] = ("live", "relaxed")
KINDS: tuple[Kind, ...] = ("human", "bot")
CHARACTERS: tuple[Character, ...] = ("violet", "scarlet", "emerald", "amber")
MARKETS_BY: tuple[MarketsBy, ...] = ("draw", "owner")
PLAYERS = (2, 3, 4)  # R1.1
RANKED_EDITION = "house-1"

_SECOND = 1_000
_MINUTE = 60 * _SECOND
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR

# The least and the most that a room may set, in milliseconds (R8.9).
LIMIT_RANGES: dict[str, tuple[int, int]] = {
    "hold_ms": (0, 2 * _SECOND),
    "hand_ms": (3 * _SECOND, 60 * _SECOND),
    "search_ms": (30 * _SECOND, 30 * _MINUTE),
    "turn_ms": (10 * _SECOND, 7 * _DAY),
    "ready_ms": (10 * _SECOND, 7 * _DAY),
    "countdown_ms": (1 * _SECOND, 10 * _SECOND),
}
# The least and the most that a game may count (R8.12), and what games have that are opened now.
COUNT_RANGES: dict[str, tuple[int, int]] = {"events": (1_000, 1_000_000), "readies": (1, 1_000)}
MOST_EVENTS = 20_000
MOST_READIES = 10
MOST_LIVE_READY_MS = 5 * _MINUTE


class TermsError(ValueError):
    """Terms that no game can have: the message is a sentence, the code is for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits of a game (R8.3 to R8.9, in milliseconds, and R8.12); they cannot be made outside their ranges.

    `events` and `readies` are how many events the game may have, and how often a seat may press *ready* in one round;
    None in games from before these two.
    """

    hold_ms: int
    hand_ms: int
    search_ms: int
    turn_ms: int
    ready_ms: int
    countdown_ms: int
    events: int | None = None
    readies: int | None = None

    def __post_init__(self) -> None:
        for name, value in self.as_json().items():
            least, most = (LIMIT_RANGES | COUNT_RANGES)[name]
            if not least <= value <= most:
                code, rule = ("limit_range", "R8.9") if name in LIMIT_RANGES else ("count_range", "R8.12")
                raise TermsError(code, f"{name} is {value}, it must be {least} to {most} ({rule})")

    def as_json(self) -> dict[str, int]:
        """The limits as records and settings hold them."""
        values: dict[str, int | None] = asdict(self)
        return {name: value for name, value in values.items() if value is not None}

    def of_new_game(self, pace: Pace) -> "Limits":
        """These limits as a game has them that is opened now (R8.12): with counts, and minutes to get ready."""
        ready_ms = min(self.ready_ms, MOST_LIVE_READY_MS) if pace == "live" else self.ready_ms
        counts = {"events": self.events or MOST_EVENTS, "readies": self.readies or MOST_READIES}
        return replace(self, ready_ms=ready_ms, **counts)

    def of_room(self) -> "Limits":
        """The part of these limits that a room sets."""
        return replace(self, events=None, readies=None)


# What a room has unless its owner says otherwise, and what a ranked game always has (R8.9).
DEFAULT_LIMITS: dict[Pace, Limits] = {
    "live": Limits(500, 10 * _SECOND, 180 * _SECOND, 45 * _SECOND, 30 * _SECOND, 3 * _SECOND),
    "relaxed": Limits(500, 10 * _SECOND, 180 * _SECOND, 24 * _HOUR, 48 * _HOUR, 3 * _SECOND),
}


def settable(name: str, pace: Pace) -> tuple[int, int]:
    """The least and the most that a room of this pace may set a limit to (R8.9, R8.12)."""
    least, most = LIMIT_RANGES[name]
    return (least, min(most, MOST_LIVE_READY_MS)) if (name, pace) == ("ready_ms", "live") else (least, most)


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits here, as far as the rules care; the nonce is this seat's share of the game's chance."""

    kind: Kind
    character: Character
    nonce: bytes = chance.NO_NONCE


@dataclass(frozen=True)
class Terms:
    """Everything that is fixed before the first event. Terms that break a rule cannot be made.

    `faces` are the market faces that the owner chose, in their order; empty where they are drawn.
    """

    rulebook: Rulebook
    pace: Pace
    ranked: bool
    limits: Limits
    edition: Edition
    seats: tuple[Seat, ...]
    server_seed: bytes
    faces: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_seats(self)
        _check_faces(self)
        if self.ranked:
            _check_ranked(self)

    @property
    def markets_by(self) -> MarketsBy:
        return "owner" if self.faces else "draw"

    @cached_property
    def seed(self) -> bytes:
        """The seed of all chance in this game."""
        return chance.game_seed(self.server_seed, [seat.nonce for seat in self.seats])

    @cached_property
    def commitment(self) -> str:
        return chance.commitment(self.server_seed)

    @cached_property
    def markets(self) -> tuple[str, ...]:
        """The faces in play, in their order (R2.2)."""
        return self.faces or tuple(chance.draw_markets(self.seed, len(self.seats)))


def _check_seats(terms: Terms) -> None:
    if len(terms.seats) not in PLAYERS:
        raise TermsError("players", f"{len(terms.seats)} seats, a game has 2 to 4 (R1.1)")
    if len({seat.character for seat in terms.seats}) < len(terms.seats):
        raise TermsError("characters", "two seats have the same character (R1.1)")
    if len(terms.server_seed) != chance.SEED_BYTES:
        raise TermsError("seed", f"the server seed must be {chance.SEED_BYTES} bytes (R8.11)")
    if any(len(seat.nonce) != chance.NONCE_BYTES for seat in terms.seats):
        raise TermsError("nonce", f"a nonce must be {chance.NONCE_BYTES} bytes (R8.11)")


def _check_faces(terms: Terms) -> None:
    if not terms.faces:
        return
    if any(face not in terms.edition.market for face in terms.faces):
        raise TermsError("faces", "a market face is not in the edition (R2.2)")
    if len(terms.faces) != len(terms.seats):
        raise TermsError("faces", "there must be as many markets as players (R2.2)")
    if len({face[0] for face in terms.faces}) < len(terms.faces):
        raise TermsError("faces", "a market board has two faces, but lies on one (R2.2)")


def _check_ranked(terms: Terms) -> None:
    if terms.limits.of_room() != DEFAULT_LIMITS[terms.pace]:
        raise TermsError("ranked", "a ranked game has the limits of its pace (R8.9)")
    if terms.faces:
        raise TermsError("ranked", "the markets of a ranked game are drawn (R8.9)")
    if terms.edition != load_edition(RANKED_EDITION):
        raise TermsError("ranked", f"a ranked game is played with edition {RANKED_EDITION} (R8.9)")
    if any(seat.kind != "human" for seat in terms.seats):
        raise TermsError("ranked", "only people sit in a ranked game (R8.9)")
