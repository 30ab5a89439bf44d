"""What a seat or a spectator (None) may see (R6.7): plain values for JSON, built up from nothing.

A page keeps a sight and applies the sights of events to it; a bot's memory is made of nothing else. Cards are named by
their ids, markets by their faces: what these are is in the edition, which everybody may read.
"""

from . import clock
from .edition import Collection
from .events import BagOpened, Bought, Event, GameEnded, Lifted, Returned, RoundStarted, Stashed, write
from .scoring import result, score
from .state import Held, Offer, Player, State


def sight(state: State, seat: int | None) -> dict[str, object]:
    """The whole table as this viewer may see it.

    `limit` is when the clock ends the phase or the turn, `resumes_at` the end of the countdown that followed a fault.
    `traded` tells of a trade in this tour, `short` of a leather bag that was opened over an empty bag of art.
    After the game `reveal` has all that was hidden.
    """
    terms = state.terms
    seen: dict[str, object] = {
        "seq": state.seq,
        "at": state.at,
        "seat": seat,
        "rulebook": terms.rulebook,
        "pace": terms.pace,
        "ranked": terms.ranked,
        "limits": terms.limits.as_json(),
        "edition": terms.edition.name,
        "commitment": terms.commitment,
        **_moment(state),
        "round": state.round,
        "tiles": _tiles(state, seat),
        "players": [_player(state, one, own=one == seat) for one in range(len(state.players))],
        "markets": [_market(offer) for offer in state.offers],
        "bag": len(state.bag),
        "deck": len(state.deck),
        "leavers": list(state.leavers),
    }
    if state.phase == "over":
        seen["reveal"] = _reveal(state)
    return seen


def sight_of_event(state: State, event: Event, seat: int | None) -> dict[str, object]:
    """The event as this viewer may see it; `state` is any state of the event's round, from the event on."""
    seen: dict[str, object] = {"seq": event.seq, "at": event.at, "type": event.type}
    match event:
        case Lifted():
            seen |= {"seat": event.seat, "tile": event.tile}
            if event.seat == seat:
                seen["loot"] = state.tiles[event.tile].loot
        case Stashed():
            seen |= {"seat": event.seat, "tile": event.tile, "loot": state.tiles[event.tile].loot}
        case Returned():
            seen |= {"seat": event.seat, "tile": event.tile, "face": event.face}
            seen |= {"source": event.source, "by": event.by}
            if event.face == "up":
                seen["loot"] = state.tiles[event.tile].loot
        case Bought():
            seen |= {"seat": event.seat, "market": event.market}
            seen |= {"cards": event.cards} if event.art is None else {"art": event.art}
            seen |= {"paid": list(event.paid), "loot": [state.tiles[tile].loot for tile in event.paid]}
            seen["got"] = list(event.got)
        case BagOpened():
            seen |= {"seat": event.seat, "tile": event.tile, "got": event.got}
        case RoundStarted():
            seen["round"] = event.round
            seen["places"] = [tile.place for tile in event.tiles]
            seen["markets"] = [_market(offer) for offer in event.markets]
            seen |= {"bag": event.bag, "deck": event.deck}
        case GameEnded():
            seen = write(event)
            seen["reveal"] = _reveal(state)
        case _:
            return write(event)  # of all other events everybody sees everything
    return seen


def sight_of_moment(state: State, seat: int | None) -> dict[str, object]:
    """The part of a sight that events do not spell out: phase, limits, turn, and what this seat knows of its own."""
    seen = _moment(state)
    if seat is not None:
        seen["own"] = _own(state, seat)
    return seen


def _moment(state: State) -> dict[str, object]:
    return {
        "phase": state.phase,
        "limit": state.limit,
        "resumes_at": state.resumes_at,
        "order": list(state.exchange.order),
        "tour": state.exchange.tour,
        "turn": state.in_turn(),
        "traded": state.exchange.traded,
        "short": state.exchange.short,
    }


def _tiles(state: State, seat: int | None) -> list[dict[str, object]]:
    in_hand = None if seat is None else state.players[seat].hand
    seen: list[dict[str, object]] = []
    for spot, (tile, lies) in enumerate(zip(state.tiles, state.lies, strict=True)):
        if lies == "up" or lies == "board" or spot == in_hand:
            seen.append({"place": tile.place, "lies": lies, "loot": tile.loot})
        else:
            seen.append({"place": tile.place, "lies": lies})
    return seen


def _player(state: State, seat: int, own: bool) -> dict[str, object]:
    player = state.players[seat]
    who = state.terms.seats[seat]
    collections = [held for held in player.cards if _face_up(held)]
    seen: dict[str, object] = {
        "seat": seat,
        "kind": who.kind,
        "character": who.character,
        "ready": player.ready,
        "hand": player.hand,
        "lifted_at": None if player.hand is None else player.lifted_at,
        "board": list(player.board),
        "let_go": sorted(player.let_go),
        "token": player.token,
        "art": list(player.art),
        "collections": [{"card": held.card.id, "filled": held.filled} for held in collections],
        "face_down": len(player.cards) - len(collections),
        "left": player.left_at is not None,
    }
    return seen | _own(state, seat) if own else seen


def _own(state: State, seat: int) -> dict[str, object]:
    """What only this player sees of their side of the table."""
    player = state.players[seat]
    return {
        "hidden": _hidden_cards(player),
        "points": score(seat, player).as_json(),
        "readies": clock.readies_left(state, seat),
    }


def _face_up(held: Held) -> bool:
    """A unique piece lies face down, a collection does once it is complete (R6.1, R6.2, R6.4)."""
    return isinstance(held.card, Collection) and held.filled < len(held.card.needs)


def _hidden_cards(player: Player) -> list[str]:
    return sorted(held.card.id for held in player.cards if not _face_up(held))


def _market(offer: Offer) -> dict[str, object]:
    return {"face": offer.face, "art": list(offer.art), "cards": [list(slot) for slot in offer.cards]}


def _reveal(state: State) -> dict[str, object]:
    """What nobody or not everybody could see until now; after the game everybody may."""
    ended = result(state)
    assert ended is not None
    return {
        "reason": ended.reason,
        "ranking": list(ended.ranking),
        "scores": [one.as_json() for one in ended.scores],
        "loot": [tile.loot for tile in state.tiles],
        "hidden": [_hidden_cards(player) for player in state.players],
        "bag": list(state.bag),
        "deck": list(state.deck),
        "server_seed": state.terms.server_seed.hex(),
        "nonces": [seat.nonce.hex() for seat in state.terms.seats],
    }
