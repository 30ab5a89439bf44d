"""Apprentice: takes what comes, forgets what it saw, buys what shines."""

from random import Random

from games.rules.commands import Command, Escape, Lift, Return, Stash
from games.rules.edition import SLOTS
from games.rules.search import KEY_TO, KEYS

from .memory import Memory

_CURIOSITY = 0.35  # how often a key is kept that opens another place
_SHOWS = 0.4  # how often a tile goes back face up
_CARELESS = 0.12  # how often something useless is kept


def search(memory: Memory, rng: Random) -> Command | None:
    me = memory.me
    if me.hand is not None:
        return _with_tile(memory, me.hand, rng)
    if len(me.board) == SLOTS:
        return Escape()
    return _reach(memory, rng)


def _with_tile(memory: Memory, tile: int, rng: Random) -> Command:
    loot = memory.loot[tile]
    assert loot is not None
    kept = {memory.loot[one] for one in memory.me.board}
    free = SLOTS - len(memory.me.board)
    if loot in KEYS:
        stash = loot not in kept and free > 1 and rng.random() < _CURIOSITY
    else:
        stash = free > 0 and (loot in _sought(memory) or rng.random() < _CARELESS)
    if stash:
        return Stash(tile)
    return Return(tile, "up" if memory.variant.face_up and rng.random() < _SHOWS else "down")


def _sought(memory: Memory) -> set[str]:
    """Bags, and everything that some price names, whether or not the rest of the price can be had."""
    return {"bag"} | {loot for face in memory.faces for loot, _ in memory.edition.market[face].cost}


def _reach(memory: Memory, rng: Random) -> Lift | None:
    kept = {memory.loot[one] for one in memory.me.board}
    closed = {place for place, key in KEY_TO.items() if key not in kept}
    sought = _sought(memory)
    unknown, useless = [], []
    for tile, lies in enumerate(memory.lies):
        if lies not in ("down", "up") or memory.places[tile] in closed or tile in memory.me.let_go:
            continue
        loot = memory.known(tile)
        if loot is None:
            unknown.append(tile)
        elif loot in sought:
            return Lift(tile)
        elif loot not in kept or loot not in KEYS:
            useless.append(tile)
    tiles = unknown or useless
    return Lift(rng.choice(tiles)) if tiles else None
