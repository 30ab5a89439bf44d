"""The bots at one table: what they have seen, and what their hands are about to do.

They are shown what their seats may see, like any page, and nothing else; whoever keeps the game moves their hands.
"""

import asyncio
import secrets
from collections.abc import Callable
from random import Random

from games import rules
from games.bots import STRENGTHS, Bot
from games.opening import Opened
from games.rules import State
from games.rules.commands import Command, Leave
from games.rules.documents import choice
from games.rules.edition import load_edition
from games.rules.events import Abandoned, Event


class BotHands:
    """All bots of a game. `move(seat, command)` is called when a hand has done what its bot chose."""

    def __init__(self, opened: Opened, move: Callable[[int, Command], None]) -> None:
        edition = load_edition(opened.edition)
        self._bots = {
            seat: Bot(
                choice(sitter.strength, "a bot's strength", STRENGTHS),
                seat,
                edition,
                # Nobody can replay what a bot will think.
                Random(secrets.token_bytes(16)),  # noqa: S311  (its seed is a secret)
            )
            for seat, sitter in enumerate(opened.sitters)
            if sitter.kind == "bot" and sitter.strength
        }
        self._move = move
        self._moving: dict[int, asyncio.TimerHandle] = {}
        # The bot that gives up next, once the last person has left the game.
        self._gives_up: int | None = None

    def sit_down(self, state: State) -> None:
        """Show everybody the table as it is."""
        for seat, bot in self._bots.items():
            bot.see(rules.sight(state, seat))

    def see(self, state: State, event: Event) -> None:
        """Show everybody what happened; `state` is the one after it."""
        for seat, bot in self._bots.items():
            bot.see(rules.sight_of_event(state, event, seat))
        if isinstance(event, Abandoned):
            self._gives_up = _worst_of(state)

    def think(self) -> None:
        """Let every hand that rests begin what its bot chooses; without people the bots leave, and the game ends."""
        if self._gives_up is not None:
            self.rest()
            self._moving[self._gives_up] = asyncio.get_running_loop().call_later(0, self._done, self._gives_up, Leave())
            return
        for seat, bot in self._bots.items():
            if seat not in self._moving and (chosen := bot.choose()):
                self._moving[seat] = asyncio.get_running_loop().call_later(
                    chosen.after_ms / 1000, self._done, seat, chosen.command
                )

    def rest(self) -> None:
        """Let go of everything: somebody else moves these hands."""
        for timer in self._moving.values():
            timer.cancel()
        self._moving.clear()

    def _done(self, seat: int, command: Command) -> None:
        del self._moving[seat]
        self._move(seat, command)


def _worst_of(state: State) -> int | None:
    """Return the bot with the fewest points where only bots are left to play against each other, else None."""
    staying = state.staying()
    if len(staying) < 2 or any(state.terms.seats[seat].kind == "human" for seat in staying):
        return None
    return min(staying, key=lambda seat: (rules.score(seat, state.players[seat]).total, -seat))
