"""What loot may buy in the exchange that follows a search, and which plan suits it (R5.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from games.rules.edition import LOOT_TABLE, SLOTS

from .memory import Memory
from .trading import wares
from .worth import Collector, Item

Plan = Literal["garage", "office", "safe", "bags"]
PLANS: tuple[Plan, ...] = ("garage", "office", "safe", "bags")
KEYS_OF: dict[Plan, int] = {"garage": 0, "office": 1, "safe": 2, "bags": 1}

BUYING = ("jewels", "cash", "gems", "gold", "bag")  # all loot that is good for something
PURSE = {loot: number for number, loot in enumerate(BUYING)}
Purse = tuple[int, ...]  # how many of each of them
Cost = tuple[tuple[int, int], ...]  # places in a purse, and how many from each
EMPTY: Purse = (0,) * len(BUYING)

_BAG = PURSE["bag"]
_BAGS_FIRST = 1.5  # what this plan adds to a leather bag in its own eyes
_NO_SHOP, _BAG_OF_ART = -2, -1  # instead of the number of a shop
_PROMISE = 0.6  # how likely the rest of a price is found; for a second price less
_CROWD = 0.35  # while one item is bought, what each other player takes of a shop, as a rule
_READY, _SEARCHING = 0.7, 0.5  # the same of somebody who can pay, and of somebody whose board is still empty
_FIRST, _MIDDLE, _LAST = 0.0, 0.5, 1.0  # in the order of the exchange: which part of the others comes before
_ONE_TILE = 0.5  # expected tiles that are counted on as one
_GARAGE_PART, _DEEP_PART = 1.25, 0.6  # of a garage where all are, and how many of the others come deeper
_KEY_TIME = 1.0  # points that the time to find a key costs


def extra_gain(plan: Plan | None, loot: str) -> float:
    """What a plan sees in a loot besides what it buys."""
    return _BAGS_FIRST if plan == "bags" and loot == "bag" else 0.0


@dataclass(frozen=True, slots=True)
class Shop:
    """One price, and what can be had for it: the gains from the best to the least."""

    cost: Cost
    size: int  # of the price
    weight: int  # how many tiles of the price could buy something by themselves, at least 1
    gains: tuple[float, ...]


class Prospects:
    """What a purse would buy, as the markets stand when a search begins.

    A crowd says for each shop how much of it others take while one item is bought.
    """

    def __init__(self, memory: Memory, mine: Collector) -> None:
        by_cost: dict[Cost, list[float]] = {}
        copies: dict[tuple[Cost, Item], Collector] = {}
        for ware in wares(memory):
            cost = tuple((PURSE[loot], number) for loot, number in ware.cost)
            having = copies.get((cost, ware.item), mine)
            by_cost.setdefault(cost, []).append(having.gain(ware.item))
            copies[cost, ware.item] = having.having(ware.item)
        alone = {cost[0][0] for cost in by_cost if len(cost) == 1}
        self.shops = []
        for cost, gains in by_cost.items():
            size = sum(number for _, number in cost)
            weight = 1 if size == 1 else max(1, sum(number for loot, number in cost if loot in alone))
            self.shops.append(Shop(cost, size, weight, tuple(sorted(gains, reverse=True))))
        self.draw = mine.gain_of_draw(memory.bag_left) if memory.bag else 0.0
        self.most_trades = memory.variant.trading_tours or SLOTS
        self._hauls: dict[tuple[Purse, tuple[float, ...], float], float] = {}

    def haul(self, purse: Purse, crowd: tuple[float, ...], order: float = _MIDDLE) -> float:
        """About what this purse brings in the exchange, to somebody so late in its order."""
        key = (purse, crowd, order)
        found = self._hauls.get(key)
        if found is None:
            found = self._hauls[key] = self._spend(list(purse), crowd, order)
        return found

    def stakes(self, purse: Purse, crowd: tuple[float, ...]) -> float:
        """What this purse brings more to the first in the exchange than to the last."""
        return self.haul(purse, crowd, _FIRST) - self.haul(purse, crowd, _LAST)

    def more(self, purse: Purse, loot: str, crowd: tuple[float, ...]) -> float:
        """What one more tile of this loot would add."""
        at = PURSE.get(loot)
        if at is None:
            return 0.0
        return self.haul((*purse[:at], purse[at] + 1, *purse[at + 1 :]), crowd) - self.haul(purse, crowd)

    def less(self, purse: Purse, loot: str, crowd: tuple[float, ...]) -> float:
        """What one tile of this loot less would cost."""
        at = PURSE.get(loot)
        if at is None:
            return 0.0
        return self.haul(purse, crowd) - self.haul((*purse[:at], purse[at] - 1, *purse[at + 1 :]), crowd)

    def _spend(self, purse: list[int], crowd: tuple[float, ...], order: float) -> float:
        """Buys the best for its price, again and again, while others take their part."""
        total = 0.0
        reached = [part * order for part in crowd]
        few_trades = self.most_trades < SLOTS
        for _ in range(self.most_trades):
            chosen, best, gain = _NO_SHOP, 0.0, 0.0
            if purse[_BAG]:
                chosen, best, gain = _BAG_OF_ART, self.draw, self.draw
            for number, shop in enumerate(self.shops):
                at = int(reached[number])
                if at >= len(shop.gains):
                    continue
                rate = shop.gains[at] if few_trades else shop.gains[at] / shop.weight
                if rate <= best:
                    continue
                for loot, price in shop.cost:
                    if purse[loot] < price:
                        break
                else:
                    chosen, best, gain = number, rate, shop.gains[at]
            if chosen == _NO_SHOP:
                break
            total += gain
            if chosen == _BAG_OF_ART:
                purse[_BAG] -= 1
                continue
            reached[chosen] += 1 + crowd[chosen]
            for loot, price in self.shops[chosen].cost:
                purse[loot] -= price
        return total + self._promised(purse, reached)

    def _promised(self, purse: list[int], reached: list[float]) -> float:
        """What the parts of prices are good for that are not yet whole."""
        total = 0.0
        for number, shop in enumerate(self.shops):
            if shop.size == 1:
                continue
            share = _PROMISE
            for at in range(int(reached[number]), len(shop.gains)):
                there = [min(purse[loot], price) for loot, price in shop.cost]
                if not any(there):
                    break
                total += share * shop.gains[at] * sum(there) / shop.size
                share *= _PROMISE
                for (loot, _), have in zip(shop.cost, there, strict=True):
                    purse[loot] -= have
        return total

    def crowd(self, rivals: int) -> tuple[float, ...]:
        """The crowd that so many others are, as a rule."""
        return (_CROWD * rivals,) * len(self.shops)

    def crowd_of(self, purses: Sequence[Purse], free_slots: Sequence[int]) -> tuple[float, ...]:
        """The crowd that the others' boards promise, and what they still may find."""
        found = []
        for shop in self.shops:
            part = 0.0
            for purse, free in zip(purses, free_slots, strict=True):
                ready = all(purse[loot] >= price for loot, price in shop.cost)
                part += _READY if ready else _SEARCHING * free / SLOTS
            found.append(round(part, 1))
        return tuple(found)

    def plan_worth(self, plan: Plan, players: int) -> float:
        """About what a round with this plan brings, less what its time costs."""
        keys = KEYS_OF[plan]
        supply = [0.0] * len(BUYING)
        for depth, (_, rows) in enumerate(LOOT_TABLE[: keys + 1]):
            share = _GARAGE_PART / (players if depth == 0 else 1 + _DEEP_PART * (players - 1))
            for loot, number in rows:
                if loot in PURSE:
                    supply[PURSE[loot]] += number * min(1.0, share)
        crowd = self.crowd(players - 1)
        purse = EMPTY
        for _ in range(SLOTS - keys):
            ranked = sorted(
                (self.more(purse, loot, crowd) + extra_gain(plan, loot), at)
                for at, loot in enumerate(BUYING)
                if supply[at] >= _ONE_TILE
            )
            if not ranked or ranked[-1][0] <= 0:
                break
            at = ranked[-1][1]
            supply[at] -= 1
            purse = (*purse[:at], purse[at] + 1, *purse[at + 1 :])
        return self.haul(purse, crowd) - _KEY_TIME * keys
