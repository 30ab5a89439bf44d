"""Laying out a round, and the end of the game (R2, R7)."""

from collections.abc import Iterator

from . import chance
from .edition import TILES, Art
from .events import GameEnded, RoundStarted
from .state import Lies, Offer, Player, Reason, State, Tile, blank
from .terms import Terms


def first_round(terms: Terms) -> RoundStarted:
    """The setup (R2); it ends no game (R7.2)."""
    state = blank(terms)
    empty = []
    for face in terms.markets:
        market = terms.edition.market[face]
        empty.append(Offer(face, (None,) * market.art, ((),) * len(market.cards)))
    return _deal(state._replace(offers=tuple(empty)))


def after_exchange(state: State) -> RoundStarted | GameEnded:
    """The next round, or the end of the game where R7.2 says so."""
    reason = _ending(state)
    if reason is not None:
        return GameEnded(state.seq + 1, state.at, reason)
    return _deal(state)


def too_long(state: State) -> GameEnded | None:
    """The end of a game that has room for one more event only (R8.12)."""
    most = state.terms.limits.events
    if most is None or state.seq < most - 1:
        return None
    return GameEnded(state.seq + 1, state.at, "void", "rules")


def _ending(state: State) -> Reason | None:
    """One looks first and deals then (R7.2)."""
    if state.exchange.short:
        return "bag_opened_empty"
    if len(state.bag) <= sum(offer.art.count(None) for offer in state.offers):
        return "bag_empty"
    if len(state.deck) < sum(_cards_wanted(state, offer) for offer in state.offers):
        return "deck_short"
    return None


def _cards_wanted(state: State, offer: Offer) -> int:
    sizes = state.terms.edition.market[offer.face].cards
    return sum(size for size, slot in zip(sizes, offer.cards, strict=True) if not slot)


def _deal(state: State) -> RoundStarted:
    """Fills every empty slot, market by market, art before cards, and shuffles all tiles (R7.1)."""
    number = state.round + 1
    bag, deck = iter(state.bag), iter(state.deck)
    tiles = chance.shuffle(state.terms.seed, f"tiles/{number}", TILES)
    return RoundStarted(
        seq=state.seq + 1,
        at=state.at,
        round=number,
        tiles=tuple(Tile(*tile) for tile in tiles),
        markets=tuple(_full(state, offer, bag, deck) for offer in state.offers),
        bag=len(list(bag)),
        deck=len(list(deck)),
    )


def _full(state: State, offer: Offer, bag: Iterator[Art], deck: Iterator[str]) -> Offer:
    sizes = state.terms.edition.market[offer.face].cards
    return Offer(
        offer.face,
        tuple(next(bag) if kind is None else kind for kind in offer.art),
        tuple(slot or tuple(next(deck) for _ in range(size)) for size, slot in zip(sizes, offer.cards, strict=True)),
    )


def round_started(state: State, event: RoundStarted) -> State:
    face_down: tuple[Lies, ...] = ("down",)
    return state._replace(
        seq=event.seq,
        at=event.at,
        phase="gathering",
        round=event.round,
        limit=event.at + state.terms.limits.ready_ms,
        tiles=event.tiles,
        lies=face_down * len(event.tiles),
        offers=event.markets,
        bag=state.bag[len(state.bag) - event.bag :],
        deck=state.deck[len(state.deck) - event.deck :],
        players=tuple(_next_morning(state, player) for player in state.players),
    )


def _next_morning(state: State, player: Player) -> Player:
    """A player's side of the table as a round begins: art and cards stay, everything else went back (R7.1)."""
    return Player(
        art=player.art,
        cards=player.cards,
        missed=0 if player.acted or state.round == 0 else player.missed + 1,
        left_at=player.left_at,
    )


def game_ended(state: State, event: GameEnded) -> State:
    return state._replace(seq=event.seq, at=event.at, phase="over", reason=event.reason)
