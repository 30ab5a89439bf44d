"""A second reading of the rules: watches the events of a game and objects to whatever breaks one.

Written for tests apart from the engine, as directly as the rules speak, with no eye to speed. Of `games.rules` it knows
the words, the shuffle and the edition; it never asks the engine what is right.
"""

from collections import Counter

from games.rules import chance
from games.rules.edition import TILES, Collection, Unique
from games.rules.events import (
    Abandoned,
    BagOpened,
    Bought,
    CountdownStarted,
    Escaped,
    Event,
    ExchangeStarted,
    GameEnded,
    Lifted,
    Passed,
    Placed,
    Ready,
    Resumed,
    Returned,
    RoundStarted,
    SearchStarted,
    Stashed,
)
from games.rules.terms import Terms

SILVER = {"manuscript", "chalice", "statuette"}
NEEDED = {"garage": None, "office": "iron_key", "safe": "brass_key"}
FACE_UP = {"fr", "it", "de", "pt"}
TWO_TOURS = {"es", "pt"}


class Referee:
    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.n = len(terms.seats)
        self.bag = chance.shuffle(terms.seed, "bag", terms.edition.art_tokens)
        self.deck = chance.shuffle(terms.seed, "deck", [card.id for card in terms.edition.cards])
        self.box: list[str] = []
        self.art: list[list[str]] = [[] for _ in range(self.n)]
        self.cards: list[dict[str, int]] = [{} for _ in range(self.n)]
        self.markets: list[tuple[str, list[str | None], list[list[str]]]] = []
        self.left: dict[int, int] = {}  # seat: when, in the order of leaving
        self.idle = [0] * self.n  # rounds in a row without an event of this seat's own
        self.own: set[int] = set()
        self.seq = self.at = self.round = 0
        self.part = "setup"
        self.order: tuple[int, ...] = ()
        self.ended: GameEnded | None = None

    def watch(self, event: Event) -> None:
        assert event.seq == self.seq + 1
        assert event.at >= self.at
        assert self.ended is None, "nothing happens after the end"
        must = self.must_follow()
        if must is not None:
            assert event.at == self.at, f"{must} follows at once"
            assert self.is_it(event, must), f"{must} must follow, not {event}"
        else:
            assert not self.by_itself(event), f"nothing brings about {event}"
            self.in_time(event)
        getattr(self, event.type)(event)
        self.seq, self.at = event.seq, event.at

    # What follows by itself

    def staying(self) -> list[int]:
        return [seat for seat in range(self.n) if seat not in self.left]

    def must_follow(self) -> tuple[object, ...] | None:
        """The type of the event that must come now, its seat if it has one, and its `by`."""
        if self.part == "setup":
            return ("round_started",)
        if self.part == "ended phase":
            most = 2 if self.terms.pace == "live" else 1
            for seat in self.staying():
                if seat not in self.own and self.idle[seat] + 1 >= most:
                    return ("abandoned", seat, "clock")
        if len(self.staying()) < 2:
            return ("game_ended", "abandoned" if self.staying() else "void")
        if self.part == "ended phase":
            reason = self.why_it_ends()
            return ("game_ended", reason) if reason else ("round_started",)
        if self.part == "gathering" and self.is_ready >= set(self.staying()):
            return ("countdown_started",)
        if self.part == "search":
            return self.must_follow_in_search()
        if self.part == "exchange":
            return self.must_follow_in_exchange()
        return None

    def must_follow_in_search(self) -> tuple[object, ...] | None:
        if self.time_is_up:
            for seat in range(self.n):
                if seat in self.hands:
                    return ("returned", seat, "end")
            if self.searching():
                return ("escaped", self.next_at_the_limit(), "clock")
        for seat in self.left:
            if seat in self.searching(everybody=True):
                return ("returned", seat, "end") if seat in self.hands else ("escaped", seat, "abandoned")
        if len(self.searching()) == 1 and len(self.tokens) == self.n - 1:
            (seat,) = self.searching()
            return ("returned", seat, "end") if seat in self.hands else ("escaped", seat, "last")
        return None if self.searching() else ("exchange_started",)

    def must_follow_in_exchange(self) -> tuple[object, ...] | None:
        seat = self.in_turn()
        if seat in self.left:
            return ("passed", seat, "abandoned")
        if seat in self.finals or not (self.has_trade(seat) or self.has_placement(seat)):
            return ("passed", seat, "auto")
        return None

    def is_it(self, event: Event, must: tuple[object, ...]) -> bool:
        if event.type != must[0]:
            return False
        if isinstance(event, GameEnded):
            return event.reason == must[1] and event.by == ("rules" if event.reason == "void" else None)
        said = tuple(getattr(event, name) for name in ("seat", "by") if hasattr(event, name))
        return said == must[1:]

    def by_itself(self, event: Event) -> bool:
        """Whether such an event only ever follows by itself."""
        match event:
            case RoundStarted() | ExchangeStarted():
                return True
            case GameEnded():
                return event.by not in ("staff", "server")
            case Passed():
                return event.by in ("auto", "abandoned")
            case Abandoned():
                return event.by == "clock"
            case Escaped():
                return event.by in ("last", "abandoned")
            case _:
                return False

    # Time

    def limits(self) -> list[int]:
        found = [self.limit]
        if self.part == "search":
            found += [lifted + self.terms.limits.hand_ms for _, lifted in self.hands.values()]
            found = [max(limit, self.pause) for limit in found]
        return found

    def in_time(self, event: Event) -> None:
        clock = isinstance(event, CountdownStarted | SearchStarted) or getattr(event, "by", "") in ("clock", "end")
        if clock:
            assert event.at >= min(self.limits()), "the clock is never early (R8.9)"
        elif not isinstance(event, Resumed | GameEnded):
            assert event.at < min(self.limits()), "the clock acts first (R8.9)"
            if not isinstance(event, Abandoned) and self.part == "search":
                assert event.at >= self.pause, "nothing counts in this countdown (R8.10)"

    def act(self, seat: int) -> None:
        assert seat not in self.left
        self.own.add(seat)

    # Rounds

    def why_it_ends(self) -> str | None:
        wanted = sum(kind is None for _, art, _ in self.markets for kind in art)
        cards = sum(
            size
            for face, _, slots in self.markets
            for size, slot in zip(self.terms.edition.market[face].cards, slots, strict=True)
            if not slot
        )
        if self.opened_empty:
            return "bag_opened_empty"
        if len(self.bag) <= wanted:
            return "bag_empty"
        return "deck_short" if len(self.deck) < cards else None

    def round_started(self, event: RoundStarted) -> None:
        for seat in range(self.n):
            self.idle[seat] = 0 if seat in self.own or self.round == 0 else self.idle[seat] + 1
        self.round += 1
        assert event.round == self.round
        if self.round == 1:
            assert event.at == 0
            faces = self.terms.faces or chance.draw_markets(self.terms.seed, self.n)
            for face in faces:
                market = self.terms.edition.market[face]
                self.markets.append((face, [None] * market.art, [[] for _ in market.cards]))
        assert list(event.tiles) == chance.shuffle(self.terms.seed, f"tiles/{self.round}", TILES)
        for (face, art, slots), said in zip(self.markets, event.markets, strict=True):
            for slot, kind in enumerate(art):
                art[slot] = kind or self.bag.pop(0)
            for slot, size in enumerate(self.terms.edition.market[face].cards):
                if not slots[slot]:
                    slots[slot] = [self.deck.pop(0) for _ in range(size)]
            assert (said.face, list(said.art), [list(one) for one in said.cards]) == (face, art, slots)
        assert (event.bag, event.deck) == (len(self.bag), len(self.deck))
        self.tiles = event.tiles
        self.table = dict.fromkeys(range(54), "down")
        self.hands: dict[int, tuple[int, int]] = {}
        self.boards: list[list[tuple[int, int]]] = [[] for _ in range(self.n)]  # (tile, seq of stashing)
        self.lost_right: set[tuple[int, int]] = set()
        self.tokens: dict[int, int] = {}
        self.finals: set[int] = set()
        self.is_ready: set[int] = set()
        self.own = set()
        self.time_is_up = False
        self.opened_empty = False
        self.pause = 0
        self.part = "gathering"
        self.limit = event.at + self.terms.limits.ready_ms

    def ready(self, event: Ready) -> None:
        assert self.part == "gathering"
        self.act(event.seat)
        assert (event.seat in self.is_ready) != event.on
        self.is_ready ^= {event.seat}

    def countdown_started(self, event: CountdownStarted) -> None:
        assert self.part == "gathering"
        self.part = "countdown"
        self.limit = event.at + self.terms.limits.countdown_ms

    # Search

    def searching(self, everybody: bool = False) -> list[int]:
        return [seat for seat in range(self.n) if seat not in self.tokens and (everybody or seat not in self.left)]

    def loot(self, tile: int) -> str:
        return self.tiles[tile].loot

    def board_loot(self, seat: int) -> Counter[str]:
        return Counter(self.loot(tile) for tile, _ in self.boards[seat])

    def search_started(self, event: SearchStarted) -> None:
        assert self.part == "countdown"
        self.part = "search"
        self.limit = event.at + self.terms.limits.search_ms

    def lifted(self, event: Lifted) -> None:
        assert self.part == "search"
        self.act(event.seat)
        assert event.seat in self.searching()
        assert event.seat not in self.hands
        assert event.tile in self.table
        assert (event.seat, event.tile) not in self.lost_right
        key = NEEDED[self.tiles[event.tile].place]
        assert key is None or self.board_loot(event.seat)[key]
        del self.table[event.tile]
        self.hands[event.seat] = (event.tile, event.at)

    def stashed(self, event: Stashed) -> None:
        self.act(event.seat)
        tile, lifted = self.hands.pop(event.seat)
        assert tile == event.tile
        assert event.at >= lifted + self.terms.limits.hold_ms
        self.boards[event.seat].append((tile, event.seq))
        assert len(self.boards[event.seat]) <= 6
        there = self.board_loot(event.seat)
        assert there["iron_key"] <= 1
        assert there["brass_key"] <= 1

    def returned(self, event: Returned) -> None:
        assert self.part == "search"
        assert event.face == "down" or (event.by == "player" and self.terms.rulebook in FACE_UP)
        if event.by == "player":
            self.act(event.seat)
            assert event.seat in self.searching()
        if event.source == "board":
            assert event.by == "player"
            assert event.seat not in self.hands
            assert not self.loot(event.tile).endswith("_key")
            before = len(self.boards[event.seat])
            self.boards[event.seat] = [one for one in self.boards[event.seat] if one[0] != event.tile]
            assert len(self.boards[event.seat]) == before - 1
        else:
            tile, lifted = self.hands.pop(event.seat)
            assert tile == event.tile
            if event.by == "player":
                assert event.at >= lifted + self.terms.limits.hold_ms
            elif event.by == "clock":
                due = max(lifted + self.terms.limits.hand_ms, self.pause)
                assert event.at >= due
                assert due < self.limit
                assert (
                    all(due <= other + self.terms.limits.hand_ms for _, other in self.hands.values())
                    or due == self.pause
                )
                self.lost_right.add((event.seat, event.tile))
            elif not self.must_have_ended:
                self.time_is_up = True
        self.table[event.tile] = event.face

    @property
    def must_have_ended(self) -> bool:
        """Whether a return `end` has another cause than the limit of the search."""
        return (
            self.time_is_up
            or bool(set(self.left) & set(self.searching(everybody=True)))
            or len(self.tokens) == self.n - 1
        )

    def next_at_the_limit(self) -> int:
        def worse(seat: int) -> tuple[int, int, int]:
            board = self.boards[seat]
            return (6 - len(board), max((seq for _, seq in board), default=0), seat)

        return min(self.searching(), key=worse)

    def escaped(self, event: Escaped) -> None:
        assert self.part == "search"
        free = set(range(1, self.n + 1)) - set(self.tokens.values())
        assert event.seat not in self.tokens
        assert event.seat not in self.hands
        if event.by == "player":
            self.act(event.seat)
            assert len(self.boards[event.seat]) == 6
        if event.by == "clock" and not self.time_is_up:
            assert not self.hands
            assert event.seat == self.next_at_the_limit()
            self.time_is_up = True
        assert event.token == (max(free) if event.by == "abandoned" else min(free))
        self.tokens[event.seat] = event.token

    # Exchange

    def exchange_started(self, event: ExchangeStarted) -> None:
        assert not self.hands
        assert event.order == tuple(sorted(self.tokens, key=self.tokens.__getitem__))
        self.order = event.order
        self.turns: list[bool] = []  # of each turn, whether it was a trade
        self.part = "exchange"
        self.limit = event.at + self.terms.limits.turn_ms

    def in_turn(self) -> int:
        return self.order[len(self.turns) % self.n]

    def closing(self) -> bool:
        return self.terms.rulebook in TWO_TOURS and len(self.turns) // self.n >= 2

    def has_trade(self, seat: int) -> bool:
        there = self.board_loot(seat)
        if self.closing():
            return False
        if there["bag"]:
            return True
        return any(
            all(there[loot] >= number for loot, number in self.terms.edition.market[face].cost)
            for face, art, slots in self.markets
            if any(art) or any(slots)
        )

    def has_placement(self, seat: int) -> bool:
        for name, filled in self.cards[seat].items():
            card = self.terms.edition.card[name]
            if isinstance(card, Collection) and filled < len(card.needs) and card.needs[filled] in self.art[seat]:
                return True
        return False

    def turn(self, event: Event, seat: int, trade: bool) -> None:
        assert self.part == "exchange"
        assert seat == self.in_turn()
        assert not (trade and self.closing())
        self.turns.append(trade)
        self.limit = event.at + self.terms.limits.turn_ms
        if len(self.turns) % self.n == 0 and not any(self.turns[-self.n :]):
            self.part = "ended phase"

    def pay(self, seat: int, tiles: tuple[int, ...]) -> None:
        assert len(set(tiles)) == len(tiles)
        for tile in tiles:
            (one,) = [pair for pair in self.boards[seat] if pair[0] == tile]
            self.boards[seat].remove(one)
            self.table[tile] = "down"

    def bought(self, event: Bought) -> None:
        self.act(event.seat)
        face, art, slots = self.markets[event.market]
        assert Counter(self.loot(tile) for tile in event.paid) == Counter(dict(self.terms.edition.market[face].cost))
        self.pay(event.seat, event.paid)
        if event.art is not None:
            assert event.got == (art[event.art],)
            self.art[event.seat] += event.got
            art[event.art] = None
        else:
            assert event.cards is not None
            assert event.got
            assert list(event.got) == slots[event.cards]
            self.cards[event.seat] |= dict.fromkeys(event.got, 0)
            slots[event.cards] = []
        self.turn(event, event.seat, trade=True)

    def bag_opened(self, event: BagOpened) -> None:
        self.act(event.seat)
        assert self.loot(event.tile) == "bag"
        self.pay(event.seat, (event.tile,))
        if self.bag:
            assert event.got == self.bag.pop(0)
            self.art[event.seat].append(event.got)
        else:
            assert event.got is None
            self.opened_empty = True
        self.turn(event, event.seat, trade=True)

    def placed(self, event: Placed) -> None:
        assert self.part == "exchange"
        self.act(event.seat)
        card = self.terms.edition.card[event.card]
        assert isinstance(card, Collection)
        filled = self.cards[event.seat][event.card]
        assert card.needs[filled] == event.art
        assert card.worth[filled] == event.worth
        self.art[event.seat].remove(event.art)
        self.cards[event.seat][event.card] += 1
        if filled + 1 == len(card.needs):
            self.box += card.needs

    def passed(self, event: Passed) -> None:
        if event.by == "player":
            self.act(event.seat)
        if event.by in ("player", "clock"):
            assert event.seat not in self.left
            if not self.has_trade(event.seat):
                self.finals.add(event.seat)
        self.turn(event, event.seat, trade=False)

    # The rest

    def abandoned(self, event: Abandoned) -> None:
        assert event.seat not in self.left
        self.left[event.seat] = event.at

    def resumed(self, event: Resumed) -> None:
        assert 2_000 < event.lost_ms <= event.at - self.at
        countdown = self.terms.limits.countdown_ms
        if self.part == "countdown":
            self.limit = event.at + countdown
            return
        by = event.lost_ms + (countdown if self.part == "search" else 0)
        self.limit += by
        self.hands = {seat: (tile, lifted + by) for seat, (tile, lifted) in self.hands.items()}
        self.pause = event.at + countdown

    def game_ended(self, event: GameEnded) -> None:
        self.ended = event

    # The count

    def points(self, seat: int) -> int:
        total = sum(1 if kind in SILVER else 2 for kind in self.art[seat])
        for name, filled in self.cards[seat].items():
            card = self.terms.edition.card[name]
            if isinstance(card, Unique):
                total += 3
            else:
                total += card.worth[filled - 1] if filled else 2
        return total

    def ranking(self) -> tuple[int, ...]:
        """Best first: found by looking for the worst of those who are left over, again and again."""
        assert self.ended is not None
        if self.ended.reason == "void":
            return ()
        rest = list(range(self.n))
        places: list[int] = []
        while rest:
            gone = [seat for seat in rest if seat in self.left]
            if gone:
                first = min(self.left[seat] for seat in gone)
                gone = [seat for seat in gone if self.left[seat] == first]
            group = gone or rest
            fewest = min(self.points(seat) for seat in group)
            group = [seat for seat in group if self.points(seat) == fewest]
            worst = max(group, key=lambda seat: self.order.index(seat) if self.order else seat)
            places.insert(0, worst)
            rest.remove(worst)
        return tuple(places)
