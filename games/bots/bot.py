"""A bot in its seat: it is shown what its seat may see, and says what its hand does next."""

from dataclasses import replace
from random import Random

from games.rules.commands import Command, Lift, Pass, Ready
from games.rules.edition import ART, Edition

from . import apprentice
from .hand import Choice, jittered
from .memory import Memory, Seen
from .outlook import chances, rounds_left
from .prospects import Plan
from .searching import Search
from .strengths import CHARACTERS, Strength
from .trading import best_trade, command_for, far_seeing_trade, placing, trades
from .worth import Collector

_HOPEFUL = 0.45  # Burglar's chance for any art to come, while the game goes on


class Bot:
    """One bot in one game.

    `see` every sight and event of this seat, in order; whenever the bot has no choice pending, `choose`. A choice is to
    be played `after_ms` later, whatever happens in between; when it has been accepted or refused, ask again. None
    means that there is nothing to do until something else happens. All chance is the caller's `rng`.
    """

    def __init__(self, strength: Strength, seat: int, edition: Edition, rng: Random, plan: Plan | None = None) -> None:
        self.character = CHARACTERS[strength]
        self.memory = Memory(seat, edition, self.character.span)
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
        pace = self.character.pace
        if memory.phase == "gathering":
            return None if memory.me.ready else self._choice(Ready(on=True), pace.ready_ms)
        if memory.phase == "search":
            return None if memory.me.token is not None else self._searching()
        return self._trading() if memory.my_turn else None

    def _searching(self) -> Choice | None:
        pace = self.character.pace
        command = self._next_in_search()
        if command is None:
            return None
        wait = max(0, self.memory.resumes_at - self.memory.at)
        if isinstance(command, Lift) or self.memory.me.hand is None:
            return self._choice(command, pace.reach_ms, wait)
        choice = self._choice(command, pace.look_ms)
        turned = self.memory.lifted_at + self.memory.hold_ms - self.memory.at
        return replace(choice, after_ms=max(choice.after_ms, turned + self.rng.randint(20, 120)))

    def _next_in_search(self) -> Command | None:
        habits, pace = self.character.habits, self.character.pace
        if habits is None:
            return apprentice.search(self.memory, self.rng)
        if self._search is None:
            if self.plan is not None:
                habits = habits._replace(plan=self.plan)
            self._search = Search(self.memory, self._collector(), habits, pace.reach_ms + pace.look_ms)
        return self._search.act(self.rng)

    def _trading(self) -> Choice:
        pace = self.character.pace
        place = placing(self.memory)
        if place is not None:
            return self._choice(place, pace.look_ms)
        mine = self._collector()
        found = trades(self.memory, mine) if self.memory.may_trade else []
        if not found:
            return self._choice(Pass(), pace.look_ms)
        if self.character.far_seeing:
            trade = far_seeing_trade(self.memory, found, mine, mine.chances)
        else:
            trade = best_trade(self.memory, found, self.character.slip, self.rng)
        return self._choice(command_for(self.memory, trade), pace.trade_ms)

    def _collector(self) -> Collector:
        memory, me = self.memory, self.memory.me
        if self.character.far_seeing:
            hopes = chances(memory)
        elif self.character.habits is not None:
            hopes = [_HOPEFUL if rounds_left(memory) > 0 else 0.2] * len(ART)
        else:
            hopes = [0.0] * len(ART)
        return Collector.of(me.art, me.collections, hopes, memory.edition)

    def _choice(self, command: Command, usual_ms: int, wait_ms: int = 0) -> Choice:
        return Choice(command, wait_ms + jittered(self.rng, usual_ms, self.character.pace.spread))
