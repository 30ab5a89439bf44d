"""What one seat saw of a game and still knows: the fold of the sights and events it was shown, and of nothing else."""

from collections.abc import Callable, Mapping
from typing import Any

from games.rules.edition import Collection, Edition
from games.rules.variants import VARIANTS, Variant

Seen = Mapping[str, Any]  # what `sight` and `sight_of_event` give


class Side:
    """One player's side of the table, as everybody sees it.

    `closed` are the face-down cards whose faces this memory saw when they were bought or completed. `searched_ms` and
    `found` tell how long this player searched in the rounds so far, and how many tiles that gave.
    """

    __slots__ = (
        "art",
        "board",
        "closed",
        "collections",
        "face_down",
        "found",
        "hand",
        "left",
        "let_go",
        "ready",
        "searched_ms",
        "token",
    )

    def __init__(self, seen: Seen) -> None:
        self.hand: int | None = seen["hand"]
        self.board: list[int] = list(seen["board"])
        self.let_go: set[int] = set(seen["let_go"])
        self.token: int | None = seen["token"]
        self.ready: bool = seen["ready"]
        self.left: bool = seen["left"]
        self.art: list[str] = list(seen["art"])
        self.collections: dict[str, int] = {one["card"]: one["filled"] for one in seen["collections"]}
        self.closed: list[str] = list(seen.get("hidden", ()))
        self.face_down: int = seen["face_down"]
        self.searched_ms = 0
        self.found = 0


class Memory:
    """The table in one player's head.

    Only what was shown to this seat ever gets in. `looked` are face-down tiles whose loot it remembers, at most `span`
    of them, the latest ones; `shunned` are tiles that somebody else put back face down. The same sights and events give
    the same memory, in whatever process.
    """

    def __init__(self, seat: int, edition: Edition, span: int) -> None:
        self.seat = seat
        self.edition = edition
        self.span = span
        self.variant: Variant = VARIANTS["fr"]
        self.limits: Mapping[str, int] = {}
        self.at = 0
        self.lifted_at = 0
        self.resumes_at = 0
        self.searching_since = 0
        self.phase = "setup"
        self.round = 0
        self.places: list[str] = []
        self.lies: list[str] = []
        self.loot: list[str | None] = []  # what lies in sight now: face up, on a board, in the own hand
        self.looked: dict[int, str] = {}
        self.shunned: set[int] = set()
        self.sides: list[Side] = []
        self.faces: list[str] = []
        self.art: list[list[str | None]] = []  # for each market, slot by slot, what it still sells
        self.cards: list[list[list[str]]] = []
        self.bag = 0
        self.deck = 0
        self.bag_left: dict[str, int] = {}  # the art that may still be in the bag, by kind
        self.order: list[int] = []
        self.tour = 0
        self.turn = 0

    @property
    def me(self) -> Side:
        return self.sides[self.seat]

    @property
    def rivals(self) -> list[Side]:
        """The sides of the others who still play."""
        return [side for seat, side in enumerate(self.sides) if seat != self.seat and not side.left]

    @property
    def my_turn(self) -> bool:
        return self.phase == "exchange" and self.order[self.turn] == self.seat

    @property
    def may_trade(self) -> bool:
        """False in the closing tour, in which nothing is traded (R8.2a)."""
        tours = self.variant.trading_tours
        return tours is None or self.tour <= tours

    def known(self, tile: int) -> str | None:
        """The loot of a tile, if it is in sight or remembered."""
        return self.loot[tile] or self.looked.get(tile)

    def see(self, seen: Seen) -> None:
        """Takes in a whole sight, which replaces what was there, or the sight of the event that came next."""
        self.at = seen["at"]
        happened = seen.get("type")
        if happened is None:
            self._see_table(seen)
        else:
            _HAPPENED[happened](self, seen)

    def _see_table(self, seen: Seen) -> None:
        self.variant = VARIANTS[seen["rulebook"]]
        self.limits = seen["limits"]
        self.resumes_at = seen["resumes_at"]
        self.searching_since = seen["at"]
        self.phase = seen["phase"]
        self.round = seen["round"]
        self.places = [tile["place"] for tile in seen["tiles"]]
        self.lies = [tile["lies"] for tile in seen["tiles"]]
        self.loot = [tile.get("loot") for tile in seen["tiles"]]
        self.looked = {}
        self.shunned = set()
        self.sides = [Side(player) for player in seen["players"]]
        self.lifted_at = seen["players"][self.seat]["lifted_at"] or 0
        self._see_markets(seen)
        self.bag_left = self._outside_of_view()
        self.order = list(seen["order"])
        self.tour = seen["tour"]
        self.turn = self.order.index(seen["turn"]) if seen["turn"] is not None else 0

    def _see_markets(self, seen: Seen) -> None:
        self.faces = [market["face"] for market in seen["markets"]]
        self.art = [list(market["art"]) for market in seen["markets"]]
        self.cards = [[list(slot) for slot in market["cards"]] for market in seen["markets"]]
        self.bag = seen["bag"]
        self.deck = seen["deck"]

    def _outside_of_view(self) -> dict[str, int]:
        """All art that lies nowhere in sight; what went to the box with complete collections is in it too."""
        left: dict[str, int] = dict(self.edition.art)
        for kind in [kind for market in self.art for kind in market] + [
            kind for side in self.sides for kind in side.art
        ]:
            if kind is not None:
                left[kind] -= 1
        for side in self.sides:
            for card, filled in side.collections.items():
                for kind in self._needs(card)[:filled]:
                    left[kind] -= 1
        return left

    def _needs(self, card: str) -> tuple[str, ...]:
        found = self.edition.card[card]
        return found.needs if isinstance(found, Collection) else ()

    def _round_started(self, seen: Seen) -> None:
        sold = [[kind is None for kind in art] for art in self.art]
        self.phase = "gathering"
        self.round = seen["round"]
        self.places = list(seen["places"])
        self.lies = ["down"] * len(self.places)
        self.loot = [None] * len(self.places)
        self.looked = {}
        self.shunned = set()
        self._see_markets(seen)
        for market, art in enumerate(self.art):
            for slot, kind in enumerate(art):
                if kind is not None and (not sold or sold[market][slot]):
                    self.bag_left[kind] -= 1
        for side in self.sides:
            side.hand = side.token = None
            side.board = []
            side.let_go = set()
            side.ready = False

    def _ready(self, seen: Seen) -> None:
        self.sides[seen["seat"]].ready = seen["on"]

    def _countdown_started(self, _: Seen) -> None:
        self.phase = "countdown"

    def _search_started(self, seen: Seen) -> None:
        self.phase = "search"
        self.searching_since = seen["at"]

    def _lifted(self, seen: Seen) -> None:
        seat, tile = seen["seat"], seen["tile"]
        loot = self.loot[tile]
        if loot is not None:  # it lay face up
            self._remember(tile, loot)
        self.sides[seat].hand = tile
        self.lies[tile] = "hand"
        self.loot[tile] = seen.get("loot")
        if seat == self.seat:
            self.lifted_at = seen["at"]

    def _stashed(self, seen: Seen) -> None:
        side, tile = self.sides[seen["seat"]], seen["tile"]
        side.hand = None
        side.board.append(tile)
        self.lies[tile] = "board"
        self.loot[tile] = seen["loot"]

    def _returned(self, seen: Seen) -> None:
        seat, tile = seen["seat"], seen["tile"]
        side = self.sides[seat]
        if seen["source"] == "board":
            side.board.remove(tile)
        else:
            side.hand = None
            if seen["by"] == "clock":
                side.let_go.add(tile)
        loot = self.loot[tile]
        self.lies[tile] = seen["face"]
        self.loot[tile] = seen.get("loot")
        if seen["face"] == "down":
            if loot is not None:
                self._remember(tile, loot)
            if seat != self.seat:
                self.shunned.add(tile)

    def _remember(self, tile: int, loot: str) -> None:
        self.looked.pop(tile, None)
        self.looked[tile] = loot
        if len(self.looked) > self.span:
            del self.looked[next(iter(self.looked))]

    def _escaped(self, seen: Seen) -> None:
        side = self.sides[seen["seat"]]
        side.token = seen["token"]
        side.searched_ms += seen["at"] - self.searching_since
        side.found += len(side.board)

    def _exchange_started(self, seen: Seen) -> None:
        self.phase = "exchange"
        self.resumes_at = 0
        self.order = list(seen["order"])
        self.tour = 1
        self.turn = 0

    def _bought(self, seen: Seen) -> None:
        side = self.sides[seen["seat"]]
        self._pay(side, seen["paid"])
        if "art" in seen:
            self.art[seen["market"]][seen["art"]] = None
            side.art.append(seen["got"][0])
        else:
            self.cards[seen["market"]][seen["cards"]] = []
            for card in seen["got"]:
                if self._needs(card):
                    side.collections[card] = 0
                else:
                    self._close(side, card)
        self._next_turn()

    def _bag_opened(self, seen: Seen) -> None:
        side = self.sides[seen["seat"]]
        self._pay(side, [seen["tile"]])
        if seen["got"] is not None:
            side.art.append(seen["got"])
            self.bag -= 1
            self.bag_left[seen["got"]] -= 1
        self._next_turn()

    def _pay(self, side: Side, tiles: list[int]) -> None:
        for tile in tiles:
            side.board.remove(tile)
            self.lies[tile] = "down"
            self.loot[tile] = None

    def _placed(self, seen: Seen) -> None:
        side, card = self.sides[seen["seat"]], seen["card"]
        side.art.remove(seen["art"])
        side.collections[card] += 1
        if side.collections[card] == len(self._needs(card)):
            del side.collections[card]
            self._close(side, card)

    def _close(self, side: Side, card: str) -> None:
        side.closed.append(card)
        side.face_down += 1

    def _passed(self, _: Seen) -> None:
        self._next_turn()

    def _next_turn(self) -> None:
        """Another tour begins after the last seat; where the phase is over instead, the next event says so."""
        self.turn += 1
        if self.turn == len(self.order):
            self.turn = 0
            self.tour += 1

    def _abandoned(self, seen: Seen) -> None:
        self.sides[seen["seat"]].left = True

    def _resumed(self, seen: Seen) -> None:
        if self.phase == "search":
            countdown_ms = self.limits["countdown_ms"]
            self.resumes_at = seen["at"] + countdown_ms
            self.lifted_at += seen["lost_ms"] + countdown_ms
            self.searching_since += seen["lost_ms"] + countdown_ms

    def _game_ended(self, _: Seen) -> None:
        self.phase = "over"


_HAPPENED: dict[str, Callable[[Memory, Seen], None]] = {
    "round_started": Memory._round_started,
    "ready": Memory._ready,
    "countdown_started": Memory._countdown_started,
    "search_started": Memory._search_started,
    "lifted": Memory._lifted,
    "stashed": Memory._stashed,
    "returned": Memory._returned,
    "escaped": Memory._escaped,
    "exchange_started": Memory._exchange_started,
    "bought": Memory._bought,
    "bag_opened": Memory._bag_opened,
    "placed": Memory._placed,
    "passed": Memory._passed,
    "abandoned": Memory._abandoned,
    "resumed": Memory._resumed,
    "game_ended": Memory._game_ended,
}
