"""What a table says to its pages, as PROTOCOL.md has it, and what it may ask of them."""

import enum
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from accounts.models import EndedSession
from games import rules
from games.opening import Opened
from games.rules import State
from games.rules.edition import load_edition
from games.rules.events import Abandoned, Event, GameEnded, Lifted, Resumed, Returned, RoundStarted, Stashed

# Events after which everything lies differently: the whole sight follows.
ANEW = (RoundStarted, Abandoned, Resumed, GameEnded)
# Events that say all they change.
PLAIN = (Lifted, Stashed, Returned)

compact = json.JSONEncoder(separators=(",", ":")).encode


class CloseCode(enum.IntEnum):
    """Why a connection ends; PROTOCOL.md says what a page does then."""

    UNREADABLE = 4400
    SIGNED_OUT = 4401
    NOT_ALLOWED = 4403
    NO_GAME = 4404
    QUIET = 4408
    MOVED = 4409
    FLOOD = 4429
    FAULT = 4500
    STOPPING = 4503


class Page(Protocol):
    """Whoever looks at a table: the side of a connection that the table talks to.

    `key` is the page's own name for itself, `joined_ms` when it came, `browser_session` the key of the session that a
    signed-in browser has. None of these raise: a page that is gone is gone.
    """

    user_id: int | None
    seat: int | None
    key: str
    joined_ms: int
    browser_session: str | None

    async def tell(self, frame: str) -> None: ...

    async def refuse(self, command_id: str, code: str, values: dict[str, int | str], head: int) -> None: ...

    async def notify(self, code: str) -> None:
        """Say how it stands with the moves (`moves_wait`, `moves_count`, `uncertain`); the connection stays."""

    async def end(self, code: CloseCode, notice: str) -> None:
        """Say why, then close."""

    def is_quiet(self) -> bool: ...

    def is_of(self, ended: EndedSession) -> bool: ...


@dataclass(frozen=True, slots=True)
class Step:
    """An event with the state that it made, or a later one of its round: enough to show it to anybody."""

    event: Event
    after: State


def welcome_frame(opened: Opened, seat: int | None, at: int, head: int) -> str:
    return compact(
        {
            "type": "welcome",
            "you": seat,
            "at": at,
            "head": head,
            "commitment": opened.commitment,
            "rulebook": opened.rulebook,
            "pace": opened.pace,
            "ranked": opened.ranked,
            "markets_by": "owner" if opened.faces else "draw",
            **({"markets": list(opened.faces)} if opened.faces else {}),
            "limits": opened.limits.as_json(),
            "edition": load_edition(opened.edition).as_json(),
            "seats": [
                {
                    "seat": number,
                    "name": sitter.name,
                    "kind": sitter.kind,
                    "character": sitter.character,
                    "program": sitter.program,
                }
                for number, sitter in enumerate(opened.sitters)
            ],
        }
    )


def shares_frame(opened: Opened) -> str:
    """What every seat committed to, which of it counts by now, and the game's line in the public list."""
    assert opened.place is not None
    place = {"number": opened.place.number, "day": opened.place.day, "digest": opened.digest, "head": opened.place.head}
    return compact({"type": "shares", "shares": opened.shares(), "counts": opened.counting(), "line": place})


class Frames:
    """What happened, as each seat may see it: the same text for all who see the same, made once."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._anew = any(isinstance(step.event, ANEW) for step in steps)
        self._plain = all(isinstance(step.event, PLAIN) for step in steps)
        self._public = [rules.sight_of_event(step.after, step.event, None) for step in steps]
        self._texts = [compact(event) for event in self._public]
        self._by_seat: dict[int | None, str] = {}

    def for_seat(self, seat: int | None) -> str:
        if seat not in self._by_seat:
            self._by_seat[seat] = self._frame(seat)
        return self._by_seat[seat]

    def _frame(self, seat: int | None) -> str:
        after = self._steps[-1].after
        texts = self._texts if seat is None else [self._text(number, seat) for number in range(len(self._steps))]
        frame = f'{{"type":"events","head":{after.seq},"events":[{",".join(texts)}]'
        # What a page cannot tell from the events alone: the moment, or all of it anew.
        if self._anew:
            frame += f',"sight":{compact(rules.sight(after, seat))}'
        elif not self._plain:
            frame += f',"now":{compact(rules.sight_of_moment(after, seat))}'
        return frame + "}"

    def _text(self, number: int, seat: int) -> str:
        step = self._steps[number]
        own = rules.sight_of_event(step.after, step.event, seat)
        return self._texts[number] if own == self._public[number] else compact(own)


def sight_frame(state: State, seat: int | None) -> str:
    return compact({"type": "sight", "head": state.seq, "sight": rules.sight(state, seat)})
