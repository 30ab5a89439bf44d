"""Whole games of bots in simulated time: by the rules, by the seed, and by nothing else."""

from collections.abc import Sequence
from hashlib import sha256
from random import Random
from typing import NamedTuple

from games import rules
from games.rules import Refused, State, Terms
from games.rules.commands import Command
from games.rules.edition import Edition, load_edition
from games.rules.events import Event
from games.rules.terms import CHARACTERS, DEFAULT_LIMITS, Rulebook, Seat

from .bot import Bot
from .hand import Choice
from .prospects import Plan
from .strengths import Strength


class Played(NamedTuple):
    """A command that was accepted, and when."""

    seat: int
    command: Command
    at: int


class SelfPlay:
    """A game that bots play against each other.

    Everybody's choices are played in the order of their times, then of their seats; what the clock does comes first.
    """

    def __init__(self, terms: Terms, bots: Sequence[Bot]) -> None:
        self.terms = terms
        self.bots = bots
        self.state: State = rules.blank(terms)
        self.log: list[Event] = []
        self.played: list[Played] = []
        self.pending: dict[int, tuple[int, Choice]] = {}  # when each bot's choice is due
        for bot in bots:
            bot.see(rules.sight(self.state, bot.memory.seat))
        self.happen(rules.setup(terms), 0)

    def play(self) -> list[Event]:
        """Plays to the end."""
        while self.state.phase != "over":
            self.step()
        return self.log

    def step(self) -> None:
        """Lets the next thing happen, whether the clock or a bot does it."""
        wakes = rules.wake_at(self.state)
        assert wakes is not None
        due, seat = min(((at, seat) for seat, (at, _) in self.pending.items()), default=(wakes, -1))
        if wakes <= due:
            self.happen(rules.tick(self.state, wakes), wakes)
            return
        _, choice = self.pending.pop(seat)
        due = max(due, self.state.at)  # where time has jumped, all who are late come now
        try:
            happened = rules.decide(self.state, seat, choice.command, due)
        except Refused:
            happened = ()  # somebody was faster: this bot is asked again
        else:
            self.played.append(Played(seat, choice.command, due))
        self.happen(happened, due)

    def happen(self, happened: Sequence[Event], at: int) -> None:
        """Puts these events into effect, shows them to the bots, and asks whoever has nothing to do."""
        for event in happened:
            self.state = rules.apply(self.state, event)
            self.log.append(event)
            for bot in self.bots:
                bot.see(rules.sight_of_event(self.state, event, bot.memory.seat))
        for bot in self.bots:
            seat = bot.memory.seat
            if seat not in self.pending:
                choice = bot.choose()
                if choice is not None:
                    self.pending[seat] = (at + choice.after_ms, choice)


def terms_for_bots(rulebook: Rulebook, players: int, server_seed: bytes, edition: Edition | None = None) -> Terms:
    """A live, casual game in whose seats only bots sit."""
    return Terms(
        rulebook=rulebook,
        pace="live",
        ranked=False,
        limits=DEFAULT_LIMITS["live"],
        edition=edition or load_edition(),
        seats=tuple(Seat("bot", character) for character in CHARACTERS[:players]),
        server_seed=server_seed,
    )


def self_play(terms: Terms, strengths: Sequence[Strength], seed: str, plans: Sequence[Plan | None] = ()) -> list[Event]:
    """The log of a whole game of these bots, in the order of the seats; the same arguments give the same log."""
    return SelfPlay(terms, seated(terms, strengths, seed, plans)).play()


def seated(terms: Terms, strengths: Sequence[Strength], seed: str, plans: Sequence[Plan | None] = ()) -> list[Bot]:
    """Bots of these strengths, each with a chance of its own that comes from the seed."""
    wishes = plans or [None] * len(strengths)
    return [
        Bot(strength, seat, terms.edition, Random(sha256(f"{seed}/{seat}".encode()).digest()), plan)
        for seat, (strength, plan) in enumerate(zip(strengths, wishes, strict=True))
    ]
