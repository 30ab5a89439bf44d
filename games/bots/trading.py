"""The exchange: which trade to make, and where to place art (R5, R6)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from games.rules.commands import Buy, OpenBag, Place
from games.rules.edition import ART, Collection, Loot

from .memory import Memory, Side
from .worth import Collector, Item, best_filling

BAG = -1  # in the place of a market: the bag of art

_COMPARED = 6  # so many trades are looked at in depth
_TURNS_AHEAD = 3  # so many own turns are looked ahead, this one included

Cost = tuple[tuple[Loot, int], ...]
Stock = Mapping[str, int]


class Ware(NamedTuple):
    """Something that a market sells; `slot` counts its art slots first, then its card slots."""

    market: int
    slot: int
    item: Item
    cost: Cost


class Trade(NamedTuple):
    """Something to be had now for what lies on the board; a draw from the bag of art has no item."""

    ware: Ware
    gain: float


_DRAW = Ware(BAG, 0, (), (("bag", 1),))


def wares(memory: Memory) -> list[Ware]:
    """Everything on sale."""
    found = []
    for market, face in enumerate(memory.faces):
        cost = memory.edition.market[face].cost
        art = memory.art[market]
        found += [Ware(market, slot, kind, cost) for slot, kind in enumerate(art) if kind is not None]
        found += [
            Ware(market, len(art) + slot, tuple(ids), cost) for slot, ids in enumerate(memory.cards[market]) if ids
        ]
    return found


def stock_of(memory: Memory, side: Side) -> Counter[str]:
    """What lies on somebody's board, for all to see."""
    return Counter(loot for tile in side.board if (loot := memory.loot[tile]) is not None)


def can_pay(stock: Stock, cost: Cost) -> bool:
    return all(stock.get(loot, 0) >= number for loot, number in cost)


def trades(memory: Memory, collector: Collector) -> list[Trade]:
    """Every different trade that this seat can make, the bag of art too unless it is empty."""
    stock = stock_of(memory, memory.me)
    found = [Trade(ware, collector.gain(ware.item)) for ware in wares(memory) if can_pay(stock, ware.cost)]
    if stock["bag"] and memory.bag:
        found.append(Trade(_DRAW, collector.gain_of_draw(memory.bag_left)))
    return found


def best_trade(memory: Memory, found: Sequence[Trade], slip: float, rng: Random) -> Trade:
    """The trade that adds the most for what it costs, as far as this player judges right."""
    stock = stock_of(memory, memory.me)
    return max(found, key=lambda trade: trade.gain - _shadow(memory, trade, found, stock) + rng.gauss(0.0, slip))


def far_seeing_trade(memory: Memory, found: Sequence[Trade], mine: Collector, chances: Sequence[float]) -> Trade:
    """The trade after which the next turns, everybody taking what is best for them, go best for this seat."""
    stock = stock_of(memory, memory.me)
    ranked = sorted(found, key=lambda trade: trade.gain - _shadow(memory, trade, found, stock), reverse=True)
    ranked = _different(ranked)[:_COMPARED]
    if len(ranked) == 1:
        return ranked[0]
    table = _Table(memory, mine, chances)
    return max(ranked, key=table.balance_after)


def command_for(memory: Memory, trade: Trade) -> Buy | OpenBag:
    """The words for this trade; tiles of one loot are all the same."""
    ware = trade.ware
    pay: list[int] = []
    for loot, number in ware.cost:
        pay += [tile for tile in memory.me.board if memory.loot[tile] == loot][:number]
    if ware.market == BAG:
        return OpenBag(pay[0])
    slots = len(memory.art[ware.market])
    if ware.slot < slots:
        return Buy(ware.market, tuple(pay), art=ware.slot)
    return Buy(ware.market, tuple(pay), cards=ware.slot - slots)


def placing(memory: Memory) -> Place | None:
    """The next art to place, on the way to the most points that there are in what this seat has."""
    me = memory.me
    if not me.art or not me.collections:
        return None
    mine = Collector.of(me.art, me.collections, (0.0,) * len(ART), memory.edition)
    _, filling = best_filling(mine.art, mine.cards)
    for (card, filled), level in zip(me.collections.items(), filling, strict=True):
        if level:
            found = memory.edition.card[card]
            assert isinstance(found, Collection)
            return Place(found.needs[filled], card)
    return None


def _shadow(memory: Memory, trade: Trade, found: Sequence[Trade], stock: Stock) -> float:
    """What the loot of a price of several could have bought by itself."""
    cost = trade.ware.cost
    if len(cost) == 1 or memory.variant.trading_tours is not None:
        return 0.0
    lost = 0.0
    for loot, number in cost:
        alone = sorted((other.gain for other in found if other.ware.cost == ((loot, 1),)), reverse=True)
        spare = stock[loot] - number
        lost += sum(alone[spare : spare + number])
    return lost


def _different(ranked: Sequence[Trade]) -> list[Trade]:
    """The same item at the same price twice is no choice."""
    first: dict[tuple[Item, Cost], Trade] = {}
    for trade in ranked:
        first.setdefault((trade.ware.item, trade.ware.cost), trade)
    return list(first.values())


class _Table:
    """The markets and everybody's boards, to try out what the next turns would bring."""

    def __init__(self, memory: Memory, mine: Collector, chances: Sequence[float]) -> None:
        self.memory = memory
        self.seat = memory.seat
        self.mine = mine
        self.wares = wares(memory)
        self.turns = self._turns()
        self.stocks = [stock_of(memory, side) for side in memory.sides]
        self.collectors = [
            mine if seat == memory.seat else Collector.of(side.art, side.collections, chances, memory.edition)
            for seat, side in enumerate(memory.sides)
        ]
        self.draws = [collector.gain_of_draw(memory.bag_left) for collector in self.collectors]
        self.rivalry = 1.0 / max(1, len(memory.rivals))

    def _turns(self) -> list[int]:
        """The seats that come after this turn, in order, as far as this player looks ahead."""
        memory = self.memory
        tours = memory.variant.trading_tours
        ahead = _TURNS_AHEAD - 1 if tours is None else min(_TURNS_AHEAD - 1, tours - memory.tour)
        later = memory.order[memory.turn + 1 :]
        for _ in range(ahead):
            later = [*later, *memory.order]
        if ahead and tours is None:
            while later[-1] != self.seat:
                later.pop()
        return [seat for seat in later if not memory.sides[seat].left]

    def balance_after(self, trade: Trade) -> float:
        """What this trade and the turns after it give to this seat, less what they give to the others."""
        balance = trade.gain
        taken = {trade.ware[:2]}
        stocks = {seat: dict(stock) for seat, stock in enumerate(self.stocks)}
        _pay(stocks[self.seat], trade.ware.cost)
        mine = self.mine if trade.ware.market == BAG else self.mine.having(trade.ware.item)
        for seat in self.turns:
            collector = mine if seat == self.seat else self.collectors[seat]
            next_trade = self._best(seat, collector, stocks[seat], taken)
            if next_trade is None:
                continue
            _pay(stocks[seat], next_trade.ware.cost)
            if next_trade.ware.market != BAG:
                taken.add(next_trade.ware[:2])
            balance += next_trade.gain if seat == self.seat else -self.rivalry * next_trade.gain
        return balance

    def _best(
        self, seat: int, collector: Collector, stock: dict[str, int], taken: set[tuple[int, int]]
    ) -> Trade | None:
        best: Trade | None = None
        if stock.get("bag"):
            best = Trade(_DRAW, self.draws[seat])
        for ware in self.wares:
            if not can_pay(stock, ware.cost) or ware[:2] in taken:
                continue
            gain = collector.gain(ware.item)
            if best is None or gain > best.gain:
                best = Trade(ware, gain)
        return best


def _pay(stock: dict[str, int], cost: Cost) -> None:
    for loot, number in cost:
        stock[loot] -= number
