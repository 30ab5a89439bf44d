"""What the judge says: the rule behind each kind of event, each refusal and each wrong field, with a sentence."""

from collections.abc import Iterable

from .documents import shown
from .errors import Code
from .events import (
    Abandoned,
    BagOpened,
    Bought,
    CountdownStarted,
    Escaped,
    Event,
    ExchangeStarted,
    GameEnded,
    Lifted,
    Passed,
    Placed,
    Ready,
    Resumed,
    Returned,
    RoundStarted,
    SearchStarted,
    Stashed,
)
from .state import Offer, State

# Why a command does not count, said of the player and not to the player. Where the rule depends on what was asked,
# it is that of the event: see `rule_of`.
REFUSALS: dict[Code, tuple[str | None, str]] = {
    "malformed": (None, "nobody can ask for this"),
    "game_over": ("R7.2", "the game is over"),
    "you_left": ("R8.8", "this player left the game"),
    "clock_first": ("R8.9", "a limit is over, and the clock acts first"),
    "not_now": (None, "this is not the phase for it"),
    "resuming": ("R8.10", "the countdown after the fault still runs"),
    "already_ready": ("R8.7", "this player is ready already"),
    "not_ready": ("R8.7", "this player is not ready"),
    "ready_too_often": ("R8.12", "this player has pressed ready too often in this round"),
    "you_stopped": ("R4.1", "this player has an escape token"),
    "hand_full": (None, "the hand holds a tile"),
    "tile_gone": ("R3.1", "the tile is not among the others"),
    "needs_key": ("R3.4", "no such key lies on the board"),
    "let_go": ("R8.3", "the clock took this tile from this hand before"),
    "not_in_hand": ("R3.2", "the tile is not in the hand"),
    "too_early": ("R8.3", "the tile still turns over"),
    "board_full": ("R3.3", "the board is full"),
    "second_key": ("R3.3", "such a key lies on the board already"),
    "not_yours": ("R3.2", "the tile is neither in the hand nor on the board"),
    "key_stays": ("R3.5", "a stashed key stays until the end of the round"),
    "face_down_only": ("R8.1", "in this rulebook tiles go back face down only"),
    "board_not_full": ("R4.1", "the board is not full"),
    "not_your_turn": ("R5.1", "it is not this player's turn"),
    "closing_tour": ("R8.2a", "in the closing tour nothing is traded"),
    "no_market": ("R5.2", "there is no such market or slot"),
    "sold": ("R5.2", "the slot is empty"),
    "not_on_board": (None, "a tile is not on the board, or named twice"),
    "wrong_price": ("R5.2", "this is not the price"),
    "not_a_bag": ("R5.3", "the tile is no leather bag"),
    "no_art": ("R6.5", "there is no such art on the board"),
    "no_card": ("R6.3", "there is no such open collection"),
    "does_not_fit": ("R6.3", "the next slot is for other art"),
}


def rule_of(event: Event) -> str:
    """The rule by which such an event happens."""
    match event:
        case RoundStarted():
            return "R2.1" if event.round == 1 else "R7.1"
        case Ready() | CountdownStarted() | SearchStarted():
            return "R8.7"
        case Lifted():
            return "R3.1"
        case Stashed():
            return "R3.2"
        case Returned(by="player"):
            return "R3.2" if event.source == "hand" else "R3.5"
        case Returned():
            return "R8.3" if event.by == "clock" else "R4.2"
        case Escaped():
            return {"player": "R4.1", "last": "R4.2", "clock": "R8.4", "abandoned": "R8.8"}[event.by]
        case ExchangeStarted():
            return "R5.1"
        case Bought():
            return "R5.2"
        case BagOpened():
            return "R5.3"
        case Placed():
            return "R6.5"
        case Passed():
            return {"player": "R5.1", "auto": "R5.4", "clock": "R8.6", "abandoned": "R8.8"}[event.by]
        case Abandoned():
            return "R8.8"
        case Resumed():
            return "R8.10"
        case GameEnded(reason="void"):
            return "R8.8" if event.by == "rules" else "R8.10a"
        case GameEnded():
            return "R8.8" if event.reason == "abandoned" else "R7.2"


def deed(event: Event) -> str:
    """The event in a few words, to begin a sentence with."""
    match event:
        case RoundStarted():
            return f"the start of round {event.round}"
        case CountdownStarted():
            return "the countdown"
        case SearchStarted():
            return "the start of the search"
        case ExchangeStarted():
            return "the start of the exchange"
        case Resumed():
            return "the takeover by another server"
        case GameEnded():
            return f"the end of the game ({event.reason})"
        case Ready():
            return f"seat {event.seat} {'is ready' if event.on else 'is no longer ready'}"
        case Lifted():
            return f"seat {event.seat} lifts tile {event.tile}"
        case Stashed():
            return f"seat {event.seat} stashes tile {event.tile}"
        case Returned():
            return f"tile {event.tile} goes back from the {event.source} of seat {event.seat} ({event.by})"
        case Escaped():
            return f"seat {event.seat} takes escape token {event.token} ({event.by})"
        case Bought():
            return f"seat {event.seat} buys from market {event.market}"
        case BagOpened():
            return f"seat {event.seat} opens leather bag {event.tile}"
        case Placed():
            return f"seat {event.seat} places {event.art} on {_worded(event.card)}"
        case Passed():
            return f"seat {event.seat} passes ({event.by})"
        case Abandoned():
            return f"seat {event.seat} abandons the game ({event.by})"


def listed(values: Iterable[object]) -> str:
    """The values as a piece of a sentence."""
    return ", ".join(_worded(value) for value in values) or "nothing"


def refusal(code: Code, event: Event) -> tuple[str, str]:
    """The rule and the sentence for an event that answers a command which does not count."""
    rule, why = REFUSALS[code]
    return rule or rule_of(event), f"{deed(event)}, but {why}"


def ruling(state: State, event: Event, expected: Event, field: str) -> tuple[str, str]:
    """The rule and the sentence for one field of an event that is not as it must be."""
    said: object = getattr(event, field)
    right: object = getattr(expected, field)
    if isinstance(event, RoundStarted) and isinstance(expected, RoundStarted):
        if field == "tiles":
            return "R8.11", _tiles(event, expected)
        if field == "markets":
            return _markets(state, event, expected)
    rule = rule_of(expected)
    if isinstance(expected, BagOpened) and isinstance(event, BagOpened) and None not in (event.got, expected.got):
        rule = "R8.11"
    elif isinstance(expected, Placed):
        rule = "R6.3"
    return rule, f"{deed(event)}: its {field} is {_worded(said)}, it must be {_worded(right)}"


def _tiles(event: RoundStarted, expected: RoundStarted) -> str:
    if len(event.tiles) != len(expected.tiles):
        return f"{len(event.tiles)} tiles are laid out, there are {len(expected.tiles)}"
    pairs = zip(event.tiles, expected.tiles, strict=True)
    spot, said, right = next((spot, *pair) for spot, pair in enumerate(pairs) if pair[0] != pair[1])
    return f"tile {spot} is {said.place} {said.loot}, the seed gives {right.place} {right.loot}"


def _markets(state: State, event: RoundStarted, expected: RoundStarted) -> tuple[str, str]:
    """What the first wrong slot breaks: chance where it was to be filled, R7.1 where it was not empty."""
    if [offer.face for offer in event.markets] != [offer.face for offer in expected.markets]:
        return "R2.2", "other markets are laid out than are in play"
    for number, (said, right) in enumerate(zip(event.markets, expected.markets, strict=True)):
        before = state.offers[number] if state.offers else None
        where = f"market {number} ({_worded(right.face)})"
        for field in ("art", "cards"):
            wrong = _first_wrong(said, right, field)
            if wrong is None:
                continue
            if wrong >= len(_slots(right, field)) or wrong >= len(_slots(said, field)):
                return "R7.1" if before else "R2.3", f"{where} has the wrong number of slots of {field}"
            sentence = (
                f"{field} slot {wrong} of {where} has {_worded(_slots(said, field)[wrong])}, "
                f"it must have {_worded(_slots(right, field)[wrong])}"
            )
            kept = before is not None and bool(_slots(before, field)[wrong])
            return "R7.1" if kept else "R8.11", sentence
    raise AssertionError("the markets differ somewhere")


def _slots(offer: Offer, field: str) -> tuple[object, ...]:
    return offer.art if field == "art" else offer.cards


def _first_wrong(said: Offer, right: Offer, field: str) -> int | None:
    ours, theirs = _slots(said, field), _slots(right, field)
    if ours == theirs:
        return None
    for slot, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if one != other:
            return slot
    return min(len(ours), len(theirs))


def _worded(value: object) -> str:
    if isinstance(value, tuple):
        return listed(value)
    if isinstance(value, str):
        # A name of somebody else's edition may hold anything, a line of this very output too.
        return value if value.isascii() and value.isprintable() else shown(value)
    return "nothing" if value is None else str(value)
