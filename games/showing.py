"""What the page of a game shows of an exchange and of the end, made of one seat's sight and of nothing else.

Everything one may ask for is written out as the words of the table's protocol, ready to be sent back as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from games import names, rules
from games.frames import compact
from games.opening import Opened
from games.rules import State, commands
from games.rules.commands import Buy, Command, OpenBag, Pass, Place
from games.rules.documents import Misread, parse
from games.rules.edition import Collection, Edition, Loot, load_edition
from games.rules.events import Event
from games.rules.scoring import worth
from games.rules.state import Held
from games.rules.variants import VARIANTS
from games.told import tell

Sight = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stall:
    """A market with what its wares would be paid with: nothing where the own board does not hold the price."""

    market: Sight
    pay: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Placement:
    """Art that fits a collection, and what the card is worth before and after."""

    command: str
    art: str
    card: str
    filled: int
    before: int
    after: int


@dataclass(frozen=True)
class Showing:
    """One seat's exchange, ready for its template."""

    sight: Sight
    who: list[str]
    edition: Edition
    told: list[str] = field(default_factory=list)

    @property
    def own(self) -> Sight | None:
        return None if self.sight["seat"] is None else self.sight["players"][self.sight["seat"]]

    @property
    def player(self) -> Sight | None:
        """Oneself as long as one plays: nothing is offered to whoever has left (R8.8)."""
        own = self.own
        return None if own is None or own["left"] else own

    @property
    def others(self) -> list[Sight]:
        """Everybody else, in the order of the exchange."""
        order = self.sight["order"] or range(len(self.who))
        return [self.sight["players"][seat] for seat in order if seat != self.sight["seat"]]

    @property
    def my_turn(self) -> bool:
        return self.sight["turn"] is not None and self.sight["turn"] == self.sight["seat"]

    @property
    def closing(self) -> bool:
        """Whether this is the tour in which nothing is traded any more (R8.2a)."""
        tours = VARIANTS[self.sight["rulebook"]].trading_tours
        return tours is not None and self.sight["tour"] > tours

    @property
    def stalls(self) -> list[Stall]:
        return [Stall(market, self._payment(market)) for market in self.sight["markets"]]

    def _payment(self, market: Sight) -> tuple[int, ...]:
        """The tiles that pay here, first stashed first; none where it cannot be paid, is sold out or too late."""
        if self.player is None or self.closing or not (any(market["art"]) or any(market["cards"])):
            return ()
        paid: list[int] = []
        for loot, number in self.edition.market[market["face"]].cost:
            paid += self._stashed(loot)[:number]
        price = sum(number for _, number in self.edition.market[market["face"]].cost)
        return tuple(paid) if len(paid) == price else ()

    def _stashed(self, loot: Loot) -> list[int]:
        player = self.player
        return [] if player is None else [tile for tile in player["board"] if self.sight["tiles"][tile]["loot"] == loot]

    @property
    def bag(self) -> str:
        """The command that opens a leather bag of one's own; nothing where there is none."""
        bags = [] if self.closing else self._stashed("bag")
        return written(OpenBag(bags[0])) if bags else ""

    @property
    def can_trade(self) -> bool:
        return bool(self.bag) or any(stall.pay for stall in self.stalls)

    @property
    def placements(self) -> list[Placement]:
        return list(self._placements(self.player)) if self.player and self.sight["phase"] == "exchange" else []

    def _placements(self, player: Sight) -> Iterator[Placement]:
        for held in player["collections"]:
            card, filled = self.edition.card[held["card"]], held["filled"]
            if isinstance(card, Collection) and card.needs[filled] in player["art"]:
                before, after = worth(Held(card, filled)), worth(Held(card, filled + 1))
                art = card.needs[filled]
                yield Placement(written(Place(art, card.id)), art, card.id, filled, before, after)

    @property
    def passing(self) -> str:
        return written(Pass())

    @property
    def order(self) -> list[Sight]:
        return [self.sight["players"][seat] for seat in self.sight["order"]]

    @property
    def ranking(self) -> list[tuple[Sight, str, Sight]]:
        """Everybody best first: the player, the name, the score. Nobody has a place in a game that is void."""
        reveal = self.sight["reveal"]
        order: Sequence[int] = reveal["ranking"] or range(len(self.who))
        return [(self.sight["players"][seat], self.who[seat], reveal["scores"][seat]) for seat in order]

    @property
    def lines(self) -> list[tuple[str, names.Name, list[tuple[Sight, int]]]]:
        """The score sheet line by line, as the rules count it (R7.3): everybody's points, best first."""
        return [
            (line, name, [(player, score[line]) for player, _, score in self.ranking])
            for line, name in names.SCORE.items()
        ]

    @property
    def tied(self) -> bool:
        """Whether the escape token decided between any two who stayed (R7.4)."""
        if not self.sight["reveal"]["ranking"]:
            return False
        totals = [score["total"] for player, _, score in self.ranking if not player["left"]]
        return len(set(totals)) < len(totals)


def written(command: Command) -> str:
    return compact(commands.write(command))


def buying(market: int, what: str, slot: int, pay: Sequence[int]) -> str:
    """The command that takes this slot of a market for these tiles."""
    return written(Buy(market, tuple(pay), **{what: slot}))


def read_command(text: str) -> Command:
    """The command that a form sent back; `Malformed` if it is none."""
    try:
        return commands.read(parse(text))
    except Misread as wrong:
        raise rules.Malformed(str(wrong)) from None


def names_of(opened: Opened) -> list[str]:
    """What the people and bots in the seats are called: bots by the character they play."""
    return [
        sitter.name if sitter.kind == "human" else str(names.CHARACTERS[sitter.character]) for sitter in opened.sitters
    ]


def show(opened: Opened, state: State, round_so_far: Sequence[Event], seat: int | None) -> Showing:
    """The table as this seat may see it."""
    edition = load_edition(opened.edition)
    who = names_of(opened)
    events = [rules.sight_of_event(state, event, seat) for event in round_so_far]
    return Showing(rules.sight(state, seat), who, edition, tell(events, who, edition))
