"""A bot in its seat: it is shown what its seat may see, and says what its hand does next."""

from dataclasses import replace
from random import Random

from games.rules.commands import Command, Pass, Ready
from games.rules.edition import ART, Edition

from . import apprentice
from .hand import Choice, jittered
from .memory import Memory, Seen
from .outlook import chances, rounds_left
from .prospects import Plan
from .searching import Search
from .strengths import SKILLS, Strength
from .trading import best_trade, command_for, far_seeing_trade, placing, trades
from .worth import Collector

_TURNED_MS = (20, 120)  # how much later than it could a hand that waited moves a tile that has turned over
_IN_TIME_MS = 300  # how much sooner than the clock a hand lets go
_PARTS_OF_TURN = 4  # a trade takes one of them at most
_HOPEFUL = 0.45  # Burglar's chance for any art to come, while the game goes on


class Bot:
    """One bot in one game.

    `see` every sight and event of this seat, in order; whenever the bot has no choice pending, `choose`. A choice is to
    be played `after_ms` later, whatever happens in between; when it has been accepted or refused, ask again. None
    means that there is nothing to do until something else happens. All chance is the caller's `rng`.
    """

    def __init__(self, strength: Strength, seat: int, edition: Edition, rng: Random, plan: Plan | None = None) -> None:
        self.skill = SKILLS[strength]
        self.memory = Memory(seat, edition, self.skill.span)
        self.rng = rng
        self.plan = plan
        self._search: Search | None = None

    def see(self, seen: Seen) -> None:
        self.memory.see(seen)
        if seen.get("type") == "round_started" or "phase" in seen:
            self._search = None

    def choose(self) -> Choice | None:
        memory = self.memory
        if memory.phase in ("setup", "countdown", "over") or memory.me.left:
            return None
        pace = self.skill.pace
        if memory.phase == "gathering":
            return None if memory.me.ready else self._choice(Ready(on=True), pace.ready_ms)
        if memory.phase == "search":
            return None if memory.me.token is not None else self._searching()
        return self._trading() if memory.my_turn else None

    def _searching(self) -> Choice | None:
        memory, pace = self.memory, self.skill.pace
        command = self._next_in_search()
        if command is None:
            return None
        wait_ms = max(0, memory.resumes_at - memory.at)
        if memory.me.hand is None:
            return self._choice(command, pace.reach_ms, wait_ms)
        held = memory.at - memory.lifted_at
        choice = self._choice(command, pace.look_ms)
        at_most = memory.limits["hand_ms"] - held - _IN_TIME_MS
        at_least = max(wait_ms, memory.limits["hold_ms"] - held) + self.rng.randint(*_TURNED_MS)
        return replace(choice, after_ms=max(at_least, min(choice.after_ms, at_most)))

    def _next_in_search(self) -> Command | None:
        habits, pace = self.skill.habits, self.skill.pace
        if habits is None:
            return apprentice.search(self.memory, self.rng)
        if self._search is None:
            if self.plan is not None:
                habits = habits._replace(plan=self.plan)
            self._search = Search(self.memory, self._collector(), habits, pace.reach_ms + pace.look_ms)
        return self._search.act(self.rng)

    def _trading(self) -> Choice:
        pace = self.skill.pace
        place = placing(self.memory)
        if place is not None:
            return self._choice(place, pace.look_ms)
        mine = self._collector()
        found = trades(self.memory, mine) if self.memory.may_trade else []
        if not found:
            return self._choice(Pass(), pace.look_ms)
        if self.skill.far_seeing:
            trade = far_seeing_trade(self.memory, found, mine, mine.chances)
        else:
            trade = best_trade(self.memory, found, self.skill.slip, self.rng)
        choice = self._choice(command_for(self.memory, trade), pace.trade_ms)
        return replace(choice, after_ms=min(choice.after_ms, self.memory.limits["turn_ms"] // _PARTS_OF_TURN))

    def _collector(self) -> Collector:
        memory, me = self.memory, self.memory.me
        if self.skill.far_seeing:
            hopes = chances(memory)
        elif self.skill.habits is not None:
            hopes = [_HOPEFUL if rounds_left(memory) > 0 else 0.2] * len(ART)
        else:
            hopes = [0.0] * len(ART)
        return Collector.of(me.art, me.collections, hopes, memory.edition)

    def _choice(self, command: Command, usual_ms: int, wait_ms: int = 0) -> Choice:
        return Choice(command, wait_ms + jittered(self.rng, usual_ms, self.skill.pace.spread))
