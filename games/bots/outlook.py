"""How long the game may go on, and which art may still come this way: counted from what everybody sees."""

from games.rules.edition import ART

from .memory import Memory

_SHARE = 0.55  # of what comes on the markets in a round, what one player who wants it gets
_ON_SALE = 0.6  # the chance to get a token that lies on a market now


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
    trades = players * (4 if tours is None else tours)
    sold = min(1.0, trades / max(1, slots + sum(len(size) for size in sizes)))
    by_art = memory.bag / max(1.0, slots * sold)
    by_cards = memory.deck / max(1.0, cards * sold)
    return min(by_art, by_cards)


def chances(memory: Memory) -> list[float]:
    """For each kind of art how likely one token of it can still be had."""
    rounds = rounds_left(memory)
    left = memory.bag_left
    number = max(1, sum(left.values()))
    coming = 0.6 * sum(len(art) for art in memory.art)
    found = []
    for kind in ART:
        on_sale = sum(art.count(kind) for art in memory.art)
        now = 1 - (1 - _ON_SALE) ** min(on_sale, 2)
        shows = 1 - (1 - max(0, left[kind]) / number) ** coming
        found.append(1 - (1 - now) * (1 - _SHARE * shows) ** rounds)
    return found
