"""The search with a plan: which tile to reach for, what to keep, when to run (R3, R4)."""

from collections.abc import Mapping
from random import Random
from typing import NamedTuple
from zlib import crc32

from games.rules.commands import Command, Escape, Lift, Return, Stash
from games.rules.edition import LOOT_TABLE, SLOTS
from games.rules.search import KEY_TO, KEYS
from games.rules.state import Face

from .memory import Memory, Side
from .prospects import EMPTY, KEYS_OF, PLANS, PURSE, Plan, Prospects, Purse, extra_gain
from .worth import Collector

_PRINTED: dict[str, dict[str, int]] = {place: dict(rows) for place, rows in LOOT_TABLE}
_PLACES = tuple(_PRINTED)
_ANYTHING = -1.0  # the bar that every tile passes
_NOTHING = 0.3  # points that are not worth another look
_LOOKS_A_SLOT = 2.0  # so many looks fill one slot, as a rule
_USUAL_SLOTS = 6  # as many slots' time is taken for granted before anybody was seen to search
_STAKES = 2.0  # points that hang on the order of the exchange and halve the patience
_LEANING = 2.0  # what a plan adds to the keys on its way, in points
_SWAP_GAIN = 1.5  # what a better tile must add to a full board, in points


class Habits(NamedTuple):
    """How somebody searches.

    Who `watches` the others sees what they have and how fast they are, and takes keys for what lies behind them now;
    anybody else follows a plan of the round.
    """

    patience: float  # how much of the time that the others need is spent on finding something good
    watches: bool
    moods: float = 0.0  # how far the choice of a plan strays, in points
    plan: Plan | None = None  # this one in every round


class Search:
    """One round's search in one player's head; `act` may be asked again and again."""

    def __init__(self, memory: Memory, mine: Collector, habits: Habits, look_ms: int) -> None:
        self.memory = memory
        self.habits = habits
        self.look_ms = look_ms
        self.prospects = Prospects(memory, mine)
        self.plan = habits.plan or (None if habits.watches else self._plan())
        self.depth = KEYS_OF[self.plan] if self.plan else len(KEYS)
        self.leaning = _LEANING if self.plan else 0.0

    def act(self, rng: Random) -> Command | None:
        """The next thing to do; None where there is nothing to reach for."""
        return _Moment(self).act(rng)

    def _plan(self) -> Plan:
        """The best plan, more or less: the same player sees the same table differently in another round."""
        memory = self.memory
        players = len(memory.rivals) + 1
        mood = crc32(f"{memory.seat} {memory.round} {memory.places}".encode())

        def worth(plan: Plan) -> float:
            strays = (mood >> (8 * PLANS.index(plan))) % 256 / 255 - 0.5
            return self.prospects.plan_worth(plan, players) + strays * self.habits.moods

        return max(PLANS, key=worth)


class _Moment:
    """The table at one moment of a search: what is where, as far as this player knows, and what it would add."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.memory = memory = search.memory
        self.habits = search.habits
        self.prospects = search.prospects
        board = memory.me.board
        self.kept = [memory.loot[tile] for tile in board]
        self.free = SLOTS - len(board)
        self.purse = _purse(memory, board)
        self.open = [place for place in _PLACES if place not in KEY_TO or KEY_TO[place] in self.kept]
        self.left = {place: dict(rows) for place, rows in _PRINTED.items()}  # what may be there, of what is unknown
        self.known: list[tuple[int, str]] = []  # within reach, like the unknown ones
        self.unknown: dict[str, list[int]] = {place: [] for place in self.open}
        self._sort_tiles()
        self.gains: dict[str, float] = {}
        self.crowd = self._crowd()
        self.looks = self._looks_left()
        self.bar = self._bar()

    def act(self, rng: Random) -> Command | None:
        hand = self.memory.me.hand
        if hand is not None:
            return self._with_tile(hand)
        if not self.free:
            return self._with_full_board()
        return self._reach(rng)

    def _sort_tiles(self) -> None:
        memory = self.memory
        let_go, looked = memory.me.let_go, memory.looked
        for tile, (place, lies, seen) in enumerate(zip(memory.places, memory.lies, memory.loot, strict=True)):
            loot = seen or looked.get(tile)
            if loot is not None:
                self.left[place][loot] -= 1
            if place in self.unknown and (lies == "down" or lies == "up") and tile not in let_go:
                if loot is None:
                    self.unknown[place].append(tile)
                else:
                    self.known.append((tile, loot))

    def _crowd(self) -> tuple[float, ...]:
        rivals = self.memory.rivals
        if not self.habits.watches:
            return self.prospects.crowd(len(rivals))
        free = [0 if side.token is not None else SLOTS - len(side.board) for side in rivals]
        return self.prospects.crowd_of([_purse(self.memory, side.board) for side in rivals], free)

    def _bar(self) -> float:
        """What a tile must add to be kept: so much that the slots fill up just in time before the others are gone."""
        bars = [self._bar_of(self.left[place]) for place, tiles in self.unknown.items() if tiles]
        return max(bars, default=_ANYTHING)

    def _bar_of(self, left: Mapping[str, int]) -> float:
        """The bar if all looks went into a place where this is left."""
        total = sum(left.values())
        wanted: float = self.free
        for gain, number in sorted(((self._gain(loot), number) for loot, number in left.items()), reverse=True):
            wanted -= self.looks * number / total
            if wanted <= 0:
                return gain if gain >= _NOTHING else _ANYTHING
        return _ANYTHING

    def _yield(self, place: str, free: int, looks: float) -> float:
        """About what so many looks into this place would bring for so many slots."""
        left = self.left[place]
        total = sum(left.values())
        brought = 0.0
        room: float = free
        gains = sorted(((self._gain(loot), number) for loot, number in left.items() if loot not in KEYS), reverse=True)
        for gain, number in gains:
            found = min(room, max(0.0, looks) * number / max(1, total))
            brought += found * gain
            room -= found
        return brought

    def _key_gain(self, key: str) -> float:
        """What the place behind this key would bring more than the places that are open, as the plan sees it."""
        if key in self.kept or KEYS.index(key) >= self.search.depth:
            return 0.0
        there = next(place for place, opens in KEY_TO.items() if opens == key)
        here = max(self._yield(place, self.free, self.looks) for place in self.open)
        return max(0.0, self._yield(there, self.free - 1, self.looks - 1) - here + self.search.leaning)

    def _looks_left(self) -> float:
        """How often this player may look until the others are through."""
        rivals = self.memory.rivals
        looks = sum(self._looks_for_slot(side) * (SLOTS - len(side.board)) for side in rivals if side.token is None)
        return self._patience() * looks / max(1, len(rivals))

    def _patience(self) -> float:
        """Less of it where much hangs on the order of the exchange, for whoever thinks of it."""
        if not self.habits.watches:
            return self.habits.patience
        return self.habits.patience / (1 + self.prospects.stakes(self.purse, self.crowd) / _STAKES)

    def _looks_for_slot(self, side: Side) -> float:
        """How often this player may look while that one fills a slot: as usual, or as that one was seen to do it."""
        if not self.habits.watches:
            return _LOOKS_A_SLOT
        usual = _LOOKS_A_SLOT * self.search.look_ms * _USUAL_SLOTS
        return (usual + side.searched_ms) / (_USUAL_SLOTS + side.found) / self.search.look_ms

    def _gain(self, loot: str) -> float:
        """What stashing this loot would add; a key is worth what the plan makes of it."""
        gain = self.gains.get(loot)
        if gain is None:
            gain = self.gains[loot] = self._gain_anew(loot)
        return gain

    def _gain_anew(self, loot: str) -> float:
        if loot in KEYS:
            return self._key_gain(loot)
        return self.prospects.more(self.purse, loot, self.crowd) + extra_gain(self.search.plan, loot)

    def _with_tile(self, tile: int) -> Command:
        loot = self.memory.loot[tile]
        assert loot is not None
        if self.free and self._may_stash(loot) and self._gain(loot) >= self.bar:
            return Stash(tile)
        return Return(tile, self._face(loot))

    def _may_stash(self, loot: str) -> bool:
        return loot not in KEYS or loot not in self.kept

    def _face(self, loot: str) -> Face:
        """What nobody can use may lie open, so that nobody looks at it again; who watches the others lets them look."""
        return "up" if loot == "drawer" and self.memory.variant.face_up and not self.habits.watches else "down"

    def _with_full_board(self) -> Command:
        """Six tiles: run, unless a bad one can be put back for a better one before anybody else runs."""
        fullest = max((len(side.board) for side in self.memory.rivals if side.token is None), default=SLOTS)
        if fullest >= SLOTS - 2:
            return Escape()
        losses = [
            (self.prospects.less(self.purse, loot, self.crowd), tile)
            for tile, loot in zip(self.memory.me.board, self.kept, strict=True)
            if loot is not None and loot not in KEYS
        ]
        loss, worst = min(losses)
        best = max((self._gain(loot) for _, loot in self.known), default=0.0)
        return Return(worst, "down") if best > loss + _SWAP_GAIN else Escape()

    def _reach(self, rng: Random) -> Lift | None:
        known = [(self._gain(loot) - self.bar, tile) for tile, loot in self.known if self._may_stash(loot)]
        unknown = [(self._hope(place), tiles) for place, tiles in self.unknown.items() if tiles]
        best, tile = max(known, default=(-1.0, None))
        hope, tiles = max(unknown, default=(-1.0, []))
        if tile is not None and (best >= hope or not tiles):
            return Lift(tile)
        return Lift(rng.choice(self._fresh(tiles))) if tiles else None

    def _hope(self, place: str) -> float:
        """What one look at an unknown tile of this place is worth."""
        left = self.left[place]
        total = sum(left.values())
        return sum(number * max(0.0, self._gain(loot) - self.bar) for loot, number in left.items()) / total

    def _fresh(self, tiles: list[int]) -> list[int]:
        """What others put back is seldom good."""
        if not self.habits.watches:
            return tiles
        return [tile for tile in tiles if tile not in self.memory.shunned] or tiles


def _purse(memory: Memory, board: list[int]) -> Purse:
    purse = list(EMPTY)
    for tile in board:
        at = PURSE.get(memory.loot[tile] or "")
        if at is not None:
            purse[at] += 1
    return tuple(purse)
