"""Real games to be told again and again: all that happens at a busy site, played by bots in the seats of people.

Somebody leaves, or does not come back; staff removes a player or ends a game; a server was away; the room's owner chose
the markets; some seats are bots' own. The same number gives the same game.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Any, Literal

from games import packing, rules, steps
from games.bots import Strength
from games.bots.selfplay import SelfPlay, seated
from games.figures import figures_of
from games.frames import Step
from games.log import CONDUCT
from games.rules import Refused, chance
from games.rules.commands import Leave
from games.rules.edition import load_edition
from games.rules.events import Abandoned, Event, Resumed
from games.rules.record import as_json, make_record
from games.rules.terms import CHARACTERS, DEFAULT_LIMITS, Pace, Rulebook, Seat, Terms

CREATED = "2026-01-01T00:00:00Z"
STRENGTH: Strength = "apprentice"
# How many of a hundred games have so many players, are played by which rulebook, are relaxed, are ranked.
PLAYERS = ((2, 15), (3, 20), (4, 65))
RULEBOOKS: tuple[tuple[Rulebook, int], ...] = (("fr", 50), ("de", 20), ("it", 15), ("es", 10), ("pt", 5))
RELAXED = 10
RANKED = 88
# And how many of a hundred casual ones have bots in some seats, or markets that the owner chose.
WITH_BOTS = 50
CHOSEN = 20
FACES = ("4B", "1A", "3A", "2B")

Mishap = Literal["", "leaves", "stays_away", "removed", "void", "away"]
MISHAPS: tuple[tuple[Mishap, int], ...] = (
    ("", 90),
    ("leaves", 4),
    ("stays_away", 2),
    ("removed", 1),
    ("void", 1),
    ("away", 2),
)


@dataclass(frozen=True, slots=True)
class Told:
    """One real game, ready to be told again; what a person did is said in the order of the seats."""

    terms: Terms
    packed: bytes
    head: int
    length_ms: int
    lost_ms: int
    reason: str
    rounds: int
    standings: Sequence[tuple[int | None, int]]
    conduct: Sequence[str]
    left_ms: Sequence[int | None]
    figures: Sequence[dict[str, Any]]


def play(number: int) -> Told:
    """The game of this number."""
    rng = Random(number)
    terms = _terms(number, rng)
    game = SelfPlay(terms, seated(terms, [STRENGTH] * len(terms.seats), str(number)))
    _let_happen(_drawn(MISHAPS, rng), game, rng)
    log = game.play()
    record = make_record("", CREATED, terms, [""] * len(terms.seats), log)
    counted = figures_of(terms, log)
    ending = steps.ending_of(Step(log[-1], counted.state))
    assert ending is not None
    scores = [rules.score(seat, player) for seat, player in enumerate(counted.state.players)]
    return Told(
        terms,
        packing.pack(as_json(record)),
        len(log),
        log[-1].at,
        sum(event.lost_ms for event in log if isinstance(event, Resumed)),
        ending.reason,
        ending.rounds,
        ending.standings,
        *_departures(log, len(scores)),
        [seat.columns(score) for seat, score in zip(counted.seats, scores, strict=True)],
    )


def _terms(number: int, rng: Random) -> Terms:
    players = _drawn(PLAYERS, rng)
    pace: Pace = "relaxed" if rng.randrange(100) < RELAXED else "live"
    rulebook = _drawn(RULEBOOKS, rng)
    ranked = rng.randrange(100) < RANKED
    bots = 0 if ranked or rng.randrange(100) >= WITH_BOTS else rng.randrange(1, players)
    people = players - bots
    return Terms(
        rulebook=rulebook,
        pace=pace,
        ranked=ranked,
        limits=DEFAULT_LIMITS[pace],
        edition=load_edition(),
        seats=tuple(
            Seat("human", one, rng.randbytes(16)) if seat < people else Seat("bot", one, chance.NO_NONCE)
            for seat, one in enumerate(CHARACTERS[:players])
        ),
        server_seed=sha256(f"seed/{number}".encode()).digest(),
        faces=() if ranked or rng.randrange(100) >= CHOSEN else FACES[:players],
    )


def _drawn(shares: Sequence[tuple[Any, int]], rng: Random) -> Any:
    return rng.choices([one for one, _ in shares], [share for _, share in shares])[0]


def _let_happen(mishap: Mishap, game: SelfPlay, rng: Random) -> None:
    """Play to some moment of the game and let this happen to the player of the first seat."""
    if mishap == "stays_away":
        game.bots = game.bots[1:]
        game.pending.pop(0, None)
    if mishap in ("", "stays_away") or (mishap == "away" and game.terms.pace == "relaxed"):
        # A relaxed game at rest needs no server.
        return
    moment = rng.randrange(10, 400)
    while game.state.phase != "over":
        if game.state.seq >= moment and game.state.phase != "countdown":
            try:
                _happen(mishap, game, rng)
            except Refused:
                pass  # the clock comes first
            else:
                return
        game.step()


def _happen(mishap: Mishap, game: SelfPlay, rng: Random) -> None:
    state, at = game.state, game.state.at
    match mishap:
        case "leaves":
            game.happen(rules.decide(state, 0, Leave(), at), at)
        case "removed":
            game.happen(rules.remove(state, 0, at), at)
        case "void":
            game.happen(rules.void(state, "staff", at), at)
        case "away":
            lost_ms = rng.randrange(3_000, 90_000)
            game.happen(rules.resume(state, lost_ms, at + lost_ms), at + lost_ms)


def _departures(log: Sequence[Event], seats: int) -> tuple[list[str], list[int | None]]:
    """How everybody left, and when."""
    left = {event.seat: event for event in log if isinstance(event, Abandoned)}
    found = [left.get(seat) for seat in range(seats)]
    return [CONDUCT[one.by] if one else "finished" for one in found], [one.at if one else None for one in found]
