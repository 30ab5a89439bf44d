"""The search with a plan: which tile to reach for, what to keep, when to run (R3, R4)."""

from collections import Counter
from random import Random
from typing import NamedTuple
from zlib import crc32

from games.rules.commands import Command, Escape, Lift, Return, Stash
from games.rules.edition import LOOT_TABLE, SLOTS
from games.rules.search import KEY_TO, KEYS
from games.rules.state import Face

from .memory import Memory
from .prospects import EMPTY, KEYS_OF, PLANS, PURSE, Plan, Prospects, Purse
from .worth import Collector

_PRINTED: dict[str, Counter[str]] = {place: Counter(dict(rows)) for place, rows in LOOT_TABLE}
_PLACES = tuple(_PRINTED)
_NOTHING = 0.3  # points that are not worth another look
_ANYTHING = -1.0  # the bar that every tile passes
_KEY_GAIN = 3.0  # what the key that the plan asks for is worth, in points


class Habits(NamedTuple):
    """How somebody searches: `patience` is how good a tile must be to be kept, in parts of what is usual."""

    patience: float
    watches: bool  # looks at the others' boards
    moods: float  # how far the choice of a plan strays, in points
    plan: Plan | None = None  # always this one


class Search:
    """One round's search as one seat sees it; `act` may be asked again and again."""

    def __init__(self, memory: Memory, mine: Collector, habits: Habits) -> None:
        self.memory = memory
        self.habits = habits
        self.prospects = Prospects(memory, mine)
        self.plan = habits.plan or self._plan()
        self.depth = KEYS_OF[self.plan]

    def _plan(self) -> Plan:
        """The best plan, more or less: the same player sees the same table differently in another round."""
        memory = self.memory
        players = len(memory.rivals) + 1
        mood = crc32(f"{memory.seat} {memory.round} {memory.places}".encode())

        def worth(plan: Plan) -> float:
            strays = (mood >> (8 * PLANS.index(plan))) % 256 / 255 - 0.5
            return self.prospects.plan_worth(plan, players) + strays * self.habits.moods

        return max(PLANS, key=worth)

    def act(self, rng: Random) -> Command | None:
        """The next thing to do; None where there is nothing to reach for."""
        self._look_around()
        me = self.memory.me
        if me.hand is not None:
            return self._with_tile(me.hand)
        if len(me.board) == SLOTS:
            return self._with_full_board()
        return self._reach(rng)

    def _look_around(self) -> None:
        memory = self.memory
        self.purse = _purse(memory, memory.me.board)
        self.keys = sum(memory.loot[tile] in KEYS for tile in memory.me.board)
        self.free = SLOTS - len(memory.me.board)
        rivals = [side for side in memory.rivals if side.token is None]
        self.fullest = max((len(side.board) for side in rivals), default=0)
        if self.habits.watches:
            purses = [_purse(memory, side.board) for side in memory.rivals]
            free = [0 if side.token is not None else SLOTS - len(side.board) for side in memory.rivals]
            self.crowd = self.prospects.crowd_of(purses, free)
        else:
            self.crowd = self.prospects.crowd(0.35 * len(memory.rivals))
        self.bar = _ANYTHING
        self.bar = self._bar(len(rivals))

    def _bar(self, searching: int) -> float:
        """What a tile must add to be kept: less and less as the end of the search comes near."""
        reachable = {loot for place in _PLACES[: self.depth + 1] for loot in _PRINTED[place] if loot in PURSE}
        best = max(self._gain(loot) for loot in reachable)
        if best < _NOTHING or not any(True for _ in self._unknown()):
            return _ANYTHING
        near = self.fullest / SLOTS
        calm = 1 - near * near if searching <= 1 else 1 - near * near / 2
        return self.habits.patience * best * calm

    def _gain(self, loot: str) -> float:
        """What stashing this loot would add; a key is worth what the plan makes of it."""
        if loot in KEYS:
            return _KEY_GAIN if self._wants(loot) else 0.0
        extra = 1.5 if self.plan == "bags" and loot == "bag" else 0.0
        return self.prospects.more(self.purse, loot, self.crowd) + extra

    def _wants(self, key: str) -> bool:
        wanted = KEYS[: self.depth]
        mine = {self.memory.loot[tile] for tile in self.memory.me.board}
        return key in wanted and key not in mine and self.free >= 2 + (len(wanted) - 1 - wanted.index(key))

    def _with_tile(self, tile: int) -> Command:
        loot = self.memory.loot[tile]
        assert loot is not None
        if self.free and self._may_stash(loot) and self._gain(loot) >= self._bar_for(loot):
            return Stash(tile)
        return Return(tile, self._face(loot))

    def _may_stash(self, loot: str) -> bool:
        return loot not in KEYS or all(self.memory.loot[tile] != loot for tile in self.memory.me.board)

    def _bar_for(self, loot: str) -> float:
        """In a hurry the last slot takes anything."""
        hurry = self.free == 1 and self.fullest >= SLOTS - 1
        return _ANYTHING if hurry else self.bar

    def _face(self, loot: str) -> Face:
        """What nobody can use may lie open: nobody looks at it again."""
        return "up" if loot == "drawer" and self.memory.variant.face_up and not self.habits.watches else "down"

    def _with_full_board(self) -> Command:
        """Six tiles: run, unless there is time to put back a bad one for a better one."""
        memory = self.memory
        loose = [tile for tile in memory.me.board if memory.loot[tile] not in KEYS]
        if not loose or self.fullest >= SLOTS - 2:
            return Escape()
        worst = min(loose, key=lambda tile: self.prospects.less(self.purse, memory.loot[tile] or "", self.crowd))
        lost = self.prospects.less(self.purse, memory.loot[worst] or "", self.crowd)
        better = max((self._gain(loot) for _, loot in self._known()), default=0.0)
        if better > lost + 1.5:
            return Return(worst, "down")
        return Escape()

    def _reach(self, rng: Random) -> Lift | None:
        known = [(self._gain(loot) - self.bar, tile) for tile, loot in self._known() if self._may_stash(loot)]
        unknown = [(self._hope(place), tiles) for place, tiles in self._unknown()]
        best, tile = max(known, default=(-1.0, None))
        hope, tiles = max(unknown, default=(-1.0, []))
        if tile is not None and (best >= hope or not tiles):
            return Lift(tile)
        return Lift(rng.choice(self._fresh(tiles))) if tiles else None

    def _fresh(self, tiles: list[int]) -> list[int]:
        """What others put back is seldom good."""
        fresh = [tile for tile in tiles if tile not in self.memory.shunned]
        return fresh if fresh and self.habits.watches else tiles

    def _open_places(self) -> list[str]:
        mine = {self.memory.loot[tile] for tile in self.memory.me.board}
        return [place for place in _PLACES if place not in KEY_TO or KEY_TO[place] in mine]

    def _known(self) -> list[tuple[int, str]]:
        """The tiles within reach whose loot this player knows."""
        memory = self.memory
        reach = set(self._open_places())
        return [
            (tile, loot)
            for tile, lies in enumerate(memory.lies)
            if lies in ("down", "up")
            and memory.places[tile] in reach
            and tile not in memory.me.let_go
            and (loot := memory.known(tile)) is not None
        ]

    def _unknown(self) -> list[tuple[str, list[int]]]:
        memory = self.memory
        found: dict[str, list[int]] = {place: [] for place in self._open_places()}
        for tile, lies in enumerate(memory.lies):
            if lies == "down" and tile not in memory.looked and tile not in memory.me.let_go:
                place = memory.places[tile]
                if place in found:
                    found[place].append(tile)
        return [(place, tiles) for place, tiles in found.items() if tiles]

    def _hope(self, place: str) -> float:
        """What one look at an unknown tile of this place is worth."""
        memory = self.memory
        left = dict(_PRINTED[place])
        for tile, where in enumerate(memory.places):
            if where == place and (loot := memory.known(tile)) is not None:
                left[loot] -= 1
        total = sum(left.values())
        if not total:
            return 0.0
        return sum(count * max(0.0, self._gain(loot) - self.bar) for loot, count in left.items() if count) / total


def _purse(memory: Memory, board: list[int]) -> Purse:
    purse = list(EMPTY)
    for tile in board:
        at = PURSE.get(memory.loot[tile] or "")
        if at is not None:
            purse[at] += 1
    return tuple(purse)
