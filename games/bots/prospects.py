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
EMPTY: Purse = (0,) * len(BUYING)

_BAG = PURSE["bag"]
_BAGS_FIRST = 1.5  # what this plan adds to a leather bag in its own eyes
_LOOK = 0.25  # points that the time of one look costs


@dataclass(frozen=True, slots=True)
class Shop:
    """One price, and what can be had for it: the gains from the best to the least."""

    cost: Purse
    gains: tuple[float, ...]


class Prospects:
    """What a purse would buy, as the markets stand when a search begins.

    A crowd says for each shop how much of it others take while one item is bought.
    """

    def __init__(self, memory: Memory, mine: Collector) -> None:
        by_cost: dict[Purse, list[float]] = {}
        copies: dict[tuple[Purse, Item], Collector] = {}
        for ware in wares(memory):
            cost = list(EMPTY)
            for loot, number in ware.cost:
                cost[PURSE[loot]] = number
            key = tuple(cost)
            having = copies.get((key, ware.item), mine)
            by_cost.setdefault(key, []).append(having.gain(ware.item))
            copies[key, ware.item] = having.having(ware.item)
        self.shops = [Shop(cost, tuple(sorted(gains, reverse=True))) for cost, gains in by_cost.items()]
        self.draw = mine.gain_of_draw(memory.bag_left) if memory.bag else 0.0
        self.most_trades = memory.variant.trading_tours or SLOTS
        self._hauls: dict[tuple[Purse, tuple[float, ...]], float] = {}

    def haul(self, purse: Purse, crowd: tuple[float, ...]) -> float:
        """About what this purse brings in the exchange."""
        key = (purse, crowd)
        found = self._hauls.get(key)
        if found is None:
            found = self._hauls[key] = self._spend(list(purse), crowd)
        return found

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

    def _spend(self, purse: list[int], crowd: tuple[float, ...]) -> float:
        """Buys the best for its price, again and again, while others take their part."""
        total = 0.0
        reached = [part / 2 for part in crowd]
        few_trades = self.most_trades < SLOTS
        for _ in range(self.most_trades):
            best = best_gain = 0.0
            chosen = -2
            if purse[_BAG]:
                best = best_gain = self.draw
                chosen = -1
            for number, shop in enumerate(self.shops):
                at = int(reached[number])
                if at >= len(shop.gains) or any(have < cost for have, cost in zip(purse, shop.cost, strict=True)):
                    continue
                gain = shop.gains[at]
                rate = gain if few_trades else gain / sum(shop.cost)
                if rate > best:
                    best, best_gain, chosen = rate, gain, number
            if chosen == -2:
                break
            total += best_gain
            if chosen == -1:
                purse[_BAG] -= 1
                continue
            reached[chosen] += 1 + crowd[chosen]
            for at, cost in enumerate(self.shops[chosen].cost):
                purse[at] -= cost
        return total

    def crowd(self, part: float) -> tuple[float, ...]:
        """The same crowd at every shop."""
        return (part,) * len(self.shops)

    def crowd_of(self, purses: Sequence[Purse], free_slots: Sequence[int]) -> tuple[float, ...]:
        """The crowd that the others' boards promise, and what they still may find."""
        found = []
        for shop in self.shops:
            part = 0.0
            for purse, free in zip(purses, free_slots, strict=True):
                ready = all(have >= cost for have, cost in zip(purse, shop.cost, strict=True))
                part += 0.7 if ready else 0.5 * free / SLOTS
            found.append(round(part, 1))
        return tuple(found)

    def plan_worth(self, plan: Plan, players: int) -> float:
        """About what a round with this plan brings, less what its time costs."""
        keys = KEYS_OF[plan]
        supply = [0.0] * len(BUYING)
        for depth, (_, rows) in enumerate(LOOT_TABLE[: keys + 1]):
            share = 1.25 / players if depth == 0 else 1.25 / (1 + 0.6 * (players - 1))
            for loot, number in rows:
                if loot in PURSE:
                    supply[PURSE[loot]] += number * min(1.0, share)
        crowd = self.crowd(0.35 * (players - 1))
        purse = EMPTY
        for _ in range(SLOTS - keys):
            ranked = sorted(
                (
                    (self.more(purse, loot, crowd) + _BAGS_FIRST * (plan == "bags" and loot == "bag"), at)
                    for at, loot in enumerate(BUYING)
                    if supply[at] >= 0.5
                ),
                reverse=True,
            )
            if not ranked or ranked[0][0] <= 0:
                break
            at = ranked[0][1]
            supply[at] -= 1
            purse = (*purse[:at], purse[at] + 1, *purse[at + 1 :])
        return self.haul(purse, crowd) - _LOOK * 4 * keys
