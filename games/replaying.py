"""A finished game, ready to be seen again: its record, what each event says in words, and the moments of note.

The browser plays the events again by itself (static/games/js/replay.js); all it cannot know is put into words here, in
the language of whoever looks.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.translation import gettext as say

from games import archive, names, rules
from games.models import Game
from games.rules import State
from games.rules.edition import TILES, Art, Collection, Edition, Loot, Place
from games.rules.events import (
    Abandoned,
    BagOpened,
    CountdownStarted,
    Escaped,
    Event,
    GameEnded,
    Lifted,
    Placed,
    Ready,
    Resumed,
    Returned,
    RoundStarted,
    SearchStarted,
    Stashed,
)
from games.rules.record import Head, Record, as_json, read_events, read_head, read_result
from games.templatetags.table import WHY_OVER
from games.told import tell

# Several times the most that anybody plays: a program that presses all the time makes more of them, and its game can be
# seen again at home, by its record.
MOST_EVENTS = 10_000
# Of an edition from outside: twice the slots of the largest collection that was ever printed.
MOST_SLOTS = 12
Moment = Literal["round", "key", "token", "exchange", "bag", "complete", "left", "end"]
KEYS = ("iron_key", "brass_key")


@dataclass(frozen=True, slots=True)
class Noted:
    """A moment of note: the number of its event, what happened, and every seat's points once it had."""

    seq: int
    kind: Moment
    sentence: str
    points: list[int]


@dataclass(frozen=True, slots=True)
class Replay:
    """What the page of a replay is made of: `document` for its script, everything else for its template."""

    document: dict[str, Any]
    first: dict[str, Any]
    who: list[str]
    edition: Edition
    moments: list[Noted]

    @property
    def art(self) -> list[Art]:
        return [kind for kind, _ in self.edition.art]

    @property
    def tiles(self) -> list[tuple[Place, Loot]]:
        """Every tile that there is, once."""
        return sorted(set(TILES))

    @property
    def cards(self) -> list[tuple[str, list[int]]]:
        """Every card that was on offer, with each number of filled slots that it had in this game."""
        offered = {
            card
            for event in self.document["events"]
            if event["type"] == "round_started"
            for market in event["markets"]
            for slot in market["cards"]
            for card in slot
        }
        filled = Counter(event["card"] for event in self.document["events"] if event["type"] == "placed")
        return [(card.id, list(range(filled[card.id] + 1))) for card in self.edition.cards if card.id in offered]


def is_too_long(game: Game) -> bool:
    """Whether so much happened in this finished game that no page plays it again."""
    return game.ended is not None and game.kept_as != Game.Kept.PARKED and game.head > MOST_EVENTS


def is_too_much_to_draw(record: Record) -> bool:
    """Whether a record from outside is longer, or its cards larger, than a page shows."""
    cards = record.head.terms.edition.cards
    slots = max((len(card.needs) for card in cards if isinstance(card, Collection)), default=0)
    return slots > MOST_SLOTS or len(record.events) > MOST_EVENTS


def of_game(game: Game) -> Record | None:
    """The record of a game of this site; None while it runs, or where it makes none."""
    document = archive.record_of(game)
    if document is None:
        return None
    head = read_head(document)
    return Record(head, tuple(read_events(document)), read_result(document, len(head.terms.seats)))


def prepare(record: Record) -> Replay:
    """The replay of a record that has no fault."""
    terms = record.head.terms
    who = names_of(record.head)
    told: list[list[str]] = []
    moments: list[Noted] = []
    phases: list[tuple[int, str]] = []
    state = rules.blank(terms)
    first: dict[str, Any] = {}
    for event in record.events:
        before, state = state, rules.apply(state, event)
        first = first or rules.sight(state, None)
        sentences = _sentences(before, state, event, who)
        told.append(sentences)
        if moment := _moment(state, event):
            moments.append(Noted(event.seq, moment, sentences[-1], _points(state)))
        if state.phase != before.phase:
            phases.append((event.seq, state.phase))
    document = as_json(record)
    for seat, name in zip(_seats(document), who, strict=True):
        seat["name"] = name
    document |= {
        "told": told,
        "phases": phases,
        "moments": [(moment.seq, moment.kind) for moment in moments],
        "reveal": rules.sight(state, None)["reveal"],
    }
    return Replay(document, first, who, terms.edition, moments)


def _seats(document: dict[str, Any]) -> list[dict[str, Any]]:
    seats: list[dict[str, Any]] = document["seats"]
    return seats


def names_of(head: Head) -> list[str]:
    """What people and bots are called: bots by the character they play, as at the table."""
    return [
        name if seat.kind == "human" else str(names.CHARACTERS[seat.character])
        for seat, name in zip(head.terms.seats, head.names, strict=True)
    ]


def _points(state: State) -> list[int]:
    return [rules.score(seat, player).total for seat, player in enumerate(state.players)]


def _moment(state: State, event: Event) -> Moment | None:
    """What this event is to somebody who looks for the turns of a game."""
    match event:
        case RoundStarted():
            return "round"
        case Stashed() if state.tiles[event.tile].loot in KEYS:
            return "key"
        case Escaped():
            return "token"
        case BagOpened():
            return "bag"
        case Placed():
            held = next(one for one in state.players[event.seat].cards if one.card.id == event.card)
            return "complete" if isinstance(held.card, Collection) and held.filled == len(held.card.needs) else None
        case Abandoned():
            return "left"
        case GameEnded():
            return "end"
    return "exchange" if event.type == "exchange_started" else None


def _sentences(before: State, state: State, event: Event, who: Sequence[str]) -> list[str]:
    """The event as everybody sees it; then, where that is more, as its own player does."""
    edition = state.terms.edition
    seat = getattr(event, "seat", None)
    said = {} if seat is None else {"name": who[seat]}
    match event:
        case Lifted() | Stashed() | Returned():
            return list(_of_tile(before, event, said))
        case RoundStarted():
            return [say("Round %(round)s is laid out.") % {"round": event.round}]
        case Ready(on=True):
            return [say("%(name)s is ready.") % said]
        case Ready():
            return [say("%(name)s is not ready any more.") % said]
        case CountdownStarted():
            return [say("The countdown begins.")]
        case SearchStarted():
            return [say("The search begins.")]
        case Resumed():
            return [
                say("The server was away for %(seconds)s s; all limits move on.")
                % {"seconds": round(event.lost_ms / 1000)}
            ]
        case GameEnded():
            return [" ".join(_end(state, event, who))]
    return tell([rules.sight_of_event(state, event, None)], who, edition)


def _of_tile(before: State, event: Lifted | Stashed | Returned, said: dict[str, str]) -> Iterator[str]:
    place, loot = before.tiles[event.tile]
    template = _tile_sentence(event)
    # What lay open on a board or face up, everybody had seen.
    known = isinstance(event, Stashed) or before.lies[event.tile] in ("board", "up")
    known = known or (isinstance(event, Returned) and event.face == "up")
    if not known:
        yield template % {**said, "tile": names.of_tile(place)}
    yield template % {**said, "tile": names.of_tile(place, loot)}


def _tile_sentence(event: Lifted | Stashed | Returned) -> str:
    if isinstance(event, Lifted):
        return say("%(name)s lifts: %(tile)s.")
    if isinstance(event, Stashed):
        return say("%(name)s stashes: %(tile)s.")
    if event.by == "clock":
        return say("%(name)s held it too long, and it goes back: %(tile)s.")
    if event.by == "end":
        return say("%(name)s has to let go of: %(tile)s.")
    if event.face == "up":
        return say("%(name)s puts back, face up: %(tile)s.")
    return say("%(name)s puts back, face down: %(tile)s.")


def _end(state: State, event: GameEnded, who: Sequence[str]) -> Iterator[str]:
    yield str(WHY_OVER[event.reason])
    ended = rules.result(state)
    if ended is not None and ended.ranking:
        yield say("%(name)s wins") % {"name": who[ended.ranking[0]]} + "."
