"""How long the game may go on, and which art may still come this way: counted from what everybody sees."""

from games.rules.edition import ART

from .memory import Memory

_ON_SALE = 0.11  # for each of somebody's trades in a round, the chance to get one token that lies on a market now
_COMING = 0.1  # the same for a kind that shows up in a later round
_TRADES = 3  # that a player makes in a round, where the rulebook sets no bound
_SOLD = 0.6  # of the art on the markets in a round


def rounds_left(memory: Memory) -> float:
    """How many exchange phases are likely to follow the one that is on or comes next (R7.2)."""
    sizes = [memory.edition.market[face].cards for face in memory.faces]
    slots = sum(len(art) for art in memory.art)
    cards = sum(sum(size) for size in sizes)
    if memory.phase == "exchange":
        bag = memory.bag - sum(art.count(None) for art in memory.art)
        deck = memory.deck - sum(
            size for market, row in enumerate(sizes) for slot, size in enumerate(row) if not memory.cards[market][slot]
        )
        if bag <= 0 or deck < 0:
            return 0.0
    players = len(memory.rivals) + 1
    tours = memory.variant.trading_tours
    sold = min(1.0, players * (tours or _TRADES) / max(1, slots + sum(len(size) for size in sizes)))
    by_art = memory.bag / max(1.0, slots * sold)
    by_cards = memory.deck / max(1.0, cards * sold)
    return min(by_art, by_cards)


def chances(memory: Memory) -> list[float]:
    """For each kind of art how likely one token of it can still be had."""
    rounds = rounds_left(memory)
    trades = memory.variant.trading_tours or _TRADES
    left = memory.bag_left
    number = max(1, sum(left.values()))
    coming = _SOLD * sum(len(art) for art in memory.art)
    found = []
    for kind in ART:
        on_sale = sum(art.count(kind) for art in memory.art)
        not_now = (1 - _ON_SALE * trades) ** min(on_sale, 2)
        shows = 1 - (1 - max(0, left[kind]) / number) ** coming
        found.append(1 - not_now * (1 - _COMING * trades * shows) ** rounds)
    return found
