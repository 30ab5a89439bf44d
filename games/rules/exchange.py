"""The exchange, in turns; collections and art (R5, R6)."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations, product

from .commands import Buy, Command, OpenBag, Pass, Place
from .edition import Collection, Loot
from .errors import Refused
from .events import BagOpened, Bought, ExchangeStarted, Passed, Placed
from .state import Exchange, Held, Offer, Player, State
from .variants import VARIANTS


def buy(state: State, seat: int, command: Buy, at: int) -> Bought:
    player = _trading(state, seat)
    if command.market >= len(state.offers):
        raise Refused("no_market")
    offer = state.offers[command.market]
    got: tuple[str, ...] = ()
    if command.art is not None:
        if command.art >= len(offer.art):
            raise Refused("no_market")
        kind = offer.art[command.art]
        got = () if kind is None else (kind,)
    elif command.cards is not None:
        if command.cards >= len(offer.cards):
            raise Refused("no_market")
        got = offer.cards[command.cards]
    if not got:
        raise Refused("sold")
    if any(tile not in player.board for tile in command.pay) or len(set(command.pay)) < len(command.pay):
        raise Refused("not_on_board")
    if Counter(state.tiles[tile].loot for tile in command.pay) != _price(state, offer):
        raise Refused("wrong_price")
    return Bought(state.seq + 1, at, seat, command.market, command.art, command.cards, command.pay, got)


def open_bag(state: State, seat: int, command: OpenBag, at: int) -> BagOpened:
    player = _trading(state, seat)
    if command.tile not in player.board:
        raise Refused("not_on_board")
    if state.tiles[command.tile].loot != "bag":
        raise Refused("not_a_bag")
    return BagOpened(state.seq + 1, at, seat, command.tile, state.bag[0] if state.bag else None)


def place(state: State, seat: int, command: Place, at: int) -> Placed:
    if state.phase != "exchange":
        raise Refused("not_now")
    player = state.players[seat]
    if command.art not in player.art:
        raise Refused("no_art")
    for held in player.cards:
        card = held.card
        if card.id == command.card and isinstance(card, Collection) and held.filled < len(card.needs):
            if card.needs[held.filled] != command.art:
                raise Refused("does_not_fit")
            return Placed(state.seq + 1, at, seat, command.art, card.id, card.worth[held.filled])
    raise Refused("no_card")


def pass_on(state: State, seat: int, at: int) -> Passed:
    _in_turn(state, seat)
    return Passed(state.seq + 1, at, seat, "player")


def legal(state: State, seat: int) -> list[Command]:
    """Every command of the exchange that counts now."""
    commands: list[Command] = []
    if state.in_turn() == seat:
        commands += trades(state, seat)
        commands.append(Pass())
    commands += placements(state.players[seat])
    return commands


def trades(state: State, seat: int) -> Iterator[Buy | OpenBag]:
    """Every trade that this seat could make if it were its turn; a purchase once for each way to pay it."""
    if _closing(state):
        return
    stock: defaultdict[Loot, list[int]] = defaultdict(list)
    for tile in state.players[seat].board:
        stock[state.tiles[tile].loot].append(tile)
    for market, offer in enumerate(state.offers):
        ways = [combinations(stock[loot], number) for loot, number in _price(state, offer).items()]
        for way in product(*ways):
            pay = tuple(tile for part in way for tile in part)
            for slot, kind in enumerate(offer.art):
                if kind is not None:
                    yield Buy(market, pay, art=slot)
            for slot, cards in enumerate(offer.cards):
                if cards:
                    yield Buy(market, pay, cards=slot)
    for tile in stock["bag"]:
        yield OpenBag(tile)


def placements(player: Player) -> list[Place]:
    """Every placement that this player could make in an exchange (R6.5)."""
    return [
        Place(held.card.needs[held.filled], held.card.id)
        for held in player.cards
        if isinstance(held.card, Collection)
        and held.filled < len(held.card.needs)
        and held.card.needs[held.filled] in player.art
    ]


def follow(state: State) -> Passed | None:
    """The pass that follows by itself where the player in turn has nothing to do (R5.4, R6.6, R8.8)."""
    seat = state.in_turn()
    if seat is None:
        return None
    player = state.players[seat]
    if player.left_at is not None:
        return Passed(state.seq + 1, state.at, seat, "abandoned")
    if player.final or not (_can_trade(state, player) or placements(player)):
        return Passed(state.seq + 1, state.at, seat, "auto")
    return None


def time_is_up(state: State, at: int) -> Passed:
    """The limit of a turn: the player passes (R8.6)."""
    seat = state.in_turn()
    assert seat is not None
    return Passed(state.seq + 1, at, seat, "clock")


def exchange_started(state: State, event: ExchangeStarted) -> State:
    return state._replace(
        seq=event.seq,
        at=event.at,
        phase="exchange",
        limit=event.at + state.terms.limits.turn_ms,
        resumes_at=0,
        exchange=Exchange(order=event.order, tour=1, turn=0),
    )


def bought(state: State, event: Bought) -> State:
    player = state.players[event.seat]
    offer = state.offers[event.market]
    if event.art is not None:
        kind = offer.art[event.art]
        assert kind is not None
        player = player._replace(art=(*player.art, kind))
        offer = offer._replace(art=(*offer.art[: event.art], None, *offer.art[event.art + 1 :]))
    elif event.cards is not None:
        cards = tuple(Held(state.terms.edition.card[name]) for name in offer.cards[event.cards])
        player = player._replace(cards=player.cards + cards)
        offer = offer._replace(cards=(*offer.cards[: event.cards], (), *offer.cards[event.cards + 1 :]))
    offers = (*state.offers[: event.market], offer, *state.offers[event.market + 1 :])
    return _traded(state._replace(offers=offers), event, player, event.paid)


def bag_opened(state: State, event: BagOpened) -> State:
    player = state.players[event.seat]
    if event.got is None:
        state = state._replace(exchange=state.exchange._replace(short=True))
    else:
        player = player._replace(art=(*player.art, event.got))
        state = state._replace(bag=state.bag[1:])
    return _traded(state, event, player, (event.tile,))


def placed(state: State, event: Placed) -> State:
    player = state.players[event.seat]
    token = player.art.index(event.art)
    player = player._replace(
        art=player.art[:token] + player.art[token + 1 :],
        cards=tuple(
            held._replace(filled=held.filled + 1) if held.card.id == event.card else held for held in player.cards
        ),
        acted=True,
    )
    return state._replace(seq=event.seq, at=event.at, players=state.with_player(event.seat, player))


def passed(state: State, event: Passed) -> State:
    player = state.players[event.seat]
    if event.by in ("player", "clock"):
        player = player._replace(
            final=not _can_trade(state, player),
            acted=player.acted or event.by == "player",
        )
    return state._replace(
        seq=event.seq,
        at=event.at,
        limit=event.at + state.terms.limits.turn_ms,
        players=state.with_player(event.seat, player),
        exchange=_next_turn(state.exchange),
    )


def _traded(state: State, event: Bought | BagOpened, player: Player, paid: tuple[int, ...]) -> State:
    """The tiles that were paid go back, and the turn goes on."""
    stays = [tile not in paid for tile in player.board]
    player = player._replace(
        board=tuple(tile for tile, stay in zip(player.board, stays, strict=True) if stay),
        stashed_at=tuple(seq for seq, stay in zip(player.stashed_at, stays, strict=True) if stay),
        acted=True,
    )
    return state._replace(
        seq=event.seq,
        at=event.at,
        limit=event.at + state.terms.limits.turn_ms,
        lies=tuple("down" if tile in paid else lies for tile, lies in enumerate(state.lies)),
        players=state.with_player(event.seat, player),
        exchange=_next_turn(state.exchange._replace(traded=True)),
    )


def _next_turn(exchange: Exchange) -> Exchange:
    """The phase ends when a whole tour was passes only (R5.1)."""
    assert exchange.turn is not None
    if exchange.turn + 1 < len(exchange.order):
        return exchange._replace(turn=exchange.turn + 1)
    if exchange.traded:
        return exchange._replace(tour=exchange.tour + 1, turn=0, traded=False)
    return exchange._replace(turn=None)


def _in_turn(state: State, seat: int) -> Player:
    if state.phase != "exchange":
        raise Refused("not_now")
    if state.in_turn() != seat:
        raise Refused("not_your_turn")
    return state.players[seat]


def _trading(state: State, seat: int) -> Player:
    player = _in_turn(state, seat)
    if _closing(state):
        raise Refused("closing_tour")
    return player


def _closing(state: State) -> bool:
    """Whether this is the closing tour, in which no trade is legal (R8.2a)."""
    tours = VARIANTS[state.terms.rulebook].trading_tours
    return tours is not None and state.exchange.tour > tours


def _can_trade(state: State, player: Player) -> bool:
    """Whether this player would have a legal trade if it were this player's turn."""
    if not player.board or _closing(state):
        return False
    stock = Counter(state.tiles[tile].loot for tile in player.board)
    return stock["bag"] > 0 or any(
        _price(state, offer) <= stock for offer in state.offers if any(offer.art) or any(offer.cards)
    )


def _price(state: State, offer: Offer) -> Counter[Loot]:
    return Counter(dict(state.terms.edition.market[offer.face].cost))
