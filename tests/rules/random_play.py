"""Whole games played by nobody in particular: any legal command, any time, with crashes and leavers where wanted."""

import random
from dataclasses import dataclass, field

from games.rules import Terms, apply, decide, legal, resume, setup, tick, void, wake_at
from games.rules import remove as remove_player
from games.rules.chance import NO_NONCE
from games.rules.commands import Command, Leave, Pass, Ready, Return
from games.rules.edition import Edition, load_edition
from games.rules.events import Event
from games.rules.record import Record, make_record
from games.rules.state import State, blank
from games.rules.terms import CHARACTERS, DEFAULT_LIMITS, Kind, Pace, Rulebook, Seat


@dataclass
class Luck:
    """How often, in a thousand steps, things happen that are not moves."""

    leave: int = 0
    remove: int = 0
    crash: int = 0
    void: int = 0
    doze: int = 0  # everybody at once, until the clock acts
    sleepy: tuple[int, ...] = ()  # seats that never do anything
    dreamy: tuple[int, ...] = ()  # seats that forget what they have in their hand
    step_ms: int = 250  # of a search, at most from one thing to the next


@dataclass
class Game:
    """A running game and the log of it."""

    terms: Terms
    log: list[Event] = field(default_factory=list)
    state: State = field(init=False)

    def __post_init__(self) -> None:
        self.state = blank(self.terms)
        self.happen(setup(self.terms))

    def happen(self, events: tuple[Event, ...]) -> None:
        for event in events:
            self.log.append(event)
            self.state = apply(self.state, event)

    def do(self, seat: int, command: Command, at: int) -> None:
        self.happen(tick(self.state, at))
        self.happen(decide(self.state, seat, command, at))

    def record(self, name: str = "test") -> Record:
        names = [f"Player {seat}" for seat in range(len(self.terms.seats))]
        return make_record(name, "2026-01-31T20:00:00Z", self.terms, names, self.log)


def terms_for(
    seed: int,
    rulebook: Rulebook = "fr",
    players: int = 2,
    pace: Pace = "live",
    kind: Kind = "human",
    edition: Edition | None = None,
    faces: tuple[str, ...] = (),
) -> Terms:
    rng = random.Random(f"terms {seed}")
    return Terms(
        rulebook=rulebook,
        pace=pace,
        ranked=False,
        limits=DEFAULT_LIMITS[pace],
        edition=edition or load_edition(),
        seats=tuple(
            Seat(kind, character, rng.randbytes(16) if kind == "human" else NO_NONCE)
            for character in CHARACTERS[:players]
        ),
        server_seed=rng.randbytes(32),
        faces=faces,
    )


def random_game(terms: Terms, seed: int, luck: Luck | None = None) -> Game:
    """A game from its first event to its last."""
    luck = luck or Luck()
    rng = random.Random(f"play {seed}")
    game = Game(terms)
    at = 0
    while game.state.phase != "over":
        at = _step(game, rng, luck, at)
    return game


def _step(game: Game, rng: random.Random, luck: Luck, at: int) -> int:
    """One thing happens, or only time passes."""
    state = game.state
    at += rng.randint(0, luck.step_ms if state.phase == "search" else 3_000)
    if rng.randrange(1_000) < luck.crash:
        lost = rng.randint(2_001, 30_000)
        at = max(at, state.at + lost)
        game.happen(resume(state, lost, at, stalled=lost % 2 == 0))
        return at
    due = wake_at(state)
    if luck.doze and due is not None and rng.randrange(1_000) < luck.doze:
        at = max(at, due)
    if due is not None and due <= at:
        at = max(state.at, due + rng.randint(0, 300))
        game.happen(tick(state, at))
        return at
    staying = state.staying()
    seat = rng.choice(staying)
    if rng.randrange(1_000) < luck.void:
        game.happen(void(state, rng.choice(("staff", "server")), at))
    elif rng.randrange(1_000) < luck.remove:
        game.happen(remove_player(state, seat, at))
    elif rng.randrange(1_000) < luck.leave:
        game.happen(decide(state, seat, Leave(), at))
    elif seat not in luck.sleepy and (
        seat not in luck.dreamy or state.players[seat].hand is None or rng.random() < 0.02
    ):
        wanted = choose(legal(state, seat, at), rng)
        if wanted is not None:
            game.happen(decide(state, seat, wanted, at))
    return at


def choose(found: tuple[Command, ...], rng: random.Random) -> Command | None:
    """Any legal command, but rather one that brings the game on."""
    moves = [move for move in found if not isinstance(move, Leave)]
    eager = [move for move in moves if not isinstance(move, Return | Pass) and move != Ready(False)]
    if eager and rng.random() < 0.9:
        return rng.choice(eager)
    return rng.choice(moves) if moves else None
