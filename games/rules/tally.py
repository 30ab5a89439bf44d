"""Points and ranking counted a second time, from the bare events and knowing nothing of the engine.

Whatever is wrong in the engine's own count would have to be wrong here in the same way to go unseen.
"""

from collections import Counter

from .edition import SILVER, Collection, Edition
from .events import Abandoned, BagOpened, Bought, Event, ExchangeStarted, GameEnded, Placed
from .scoring import Score


class Tally:
    """What every seat has, as far as it counts in the end."""

    def __init__(self, edition: Edition, players: int) -> None:
        self._edition = edition
        self._art: list[Counter[str]] = [Counter() for _ in range(players)]
        self._cards: list[list[str]] = [[] for _ in range(players)]
        self._filled: Counter[str] = Counter()
        self._order: tuple[int, ...] = tuple(range(players))
        self._left: dict[int, int] = {}
        self._void = False

    def count(self, event: Event) -> None:
        match event:
            case Bought() if event.art is None:
                self._cards[event.seat] += event.got
            case Bought():
                self._art[event.seat].update(event.got)
            case BagOpened(got=str(kind)):
                self._art[event.seat][kind] += 1
            case Placed():
                self._art[event.seat][event.art] -= 1
                self._filled[event.card] += 1
            case ExchangeStarted():
                self._order = event.order
            case Abandoned():
                self._left[event.seat] = event.at
            case GameEnded():
                self._void = event.reason == "void"
            case _:
                pass

    def scores(self) -> tuple[Score, ...]:
        """Points by seat (R7.3)."""
        return tuple(self._score(seat) for seat in range(len(self._art)))

    def ranking(self) -> tuple[int, ...]:
        """The seats, best first: who stayed by points, then by token; who left behind them (R7.4, R8.8)."""
        if self._void:
            return ()
        points = [score.total for score in self.scores()]
        by_merit = sorted(range(len(points)), key=lambda seat: (-points[seat], self._order.index(seat)))
        stayed = [seat for seat in by_merit if seat not in self._left]
        left = [seat for seat in by_merit if seat in self._left]
        return (*stayed, *sorted(left, key=lambda seat: -self._left[seat]))

    def _score(self, seat: int) -> Score:
        art = self._art[seat]
        silver = sum(number for kind, number in art.items() if kind in SILVER)
        uniques = collections = 0
        for name in self._cards[seat]:
            card = self._edition.card[name]
            if isinstance(card, Collection):
                filled = self._filled[name]
                collections += card.worth[filled - 1] if filled else 2
            else:
                uniques += 3
        return Score(seat, silver, 2 * (art.total() - silver), uniques, collections)
