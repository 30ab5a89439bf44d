"""Why a game changed the ratings as it did: public, and exactly what was worked out."""

from dataclasses import dataclass
from decimal import Decimal

from games import rating
from games.ladder.ledger import spans
from games.models import Game, RatingEvent, Seat
from games.rating import Standing, signed


@dataclass(frozen=True, slots=True)
class Against:
    """One player's share from one opponent: what was expected, what came of it, in points of a win; what it brought."""

    seat: int
    opponent: str
    standing: Standing
    expectation: Decimal
    result: Decimal
    points: Decimal

    @property
    def percent(self) -> int:
        return int((self.expectation * 100).to_integral_value())

    @property
    def shown_points(self) -> str:
        return signed(self.points)


@dataclass(frozen=True, slots=True)
class Explained:
    """What the game did to one player; the points of the pairs add up to `delta`."""

    seat: int
    name: str
    # Whether there is a page of this person.
    is_found: bool
    place: int
    before: Standing
    after: Standing
    delta: Decimal
    k: int
    pairs: tuple[Against, ...]

    @property
    def shown_delta(self) -> str:
        return signed(self.delta)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a ladder made of a game: players by place, or why it was not rated.

    `pending` tells of a ranked game whose turn has not come yet, `voided` of one that staff took out. `weight` is how
    much of the points it brought, in percent.
    """

    ranked: bool
    pending: bool = False
    voided: bool = False
    why_not: str = ""
    players: tuple[Explained, ...] = ()
    weight: int = 100


def explain(game: Game) -> Explanation:
    """What is to be said of this game's ratings: three questions, however many played."""
    if not game.ranked or game.finish_seq is None:
        return Explanation(ranked=game.ranked)
    if game.voided is not None:
        return Explanation(ranked=True, voided=True)
    if not game.rated:
        return Explanation(ranked=True, pending=True)
    if game.rated != Game.Rated.RATED:
        return Explanation(ranked=True, why_not=str(Game.Rated(game.rated).label))
    seats = list(Seat.objects.filter(game=game).select_related("user").order_by("user"))
    lines = _lines(game)
    if not lines or any(seat.user_id not in lines or seat.place is None for seat in seats):
        return Explanation(ranked=True, pending=True)
    return Explanation(ranked=True, players=_explained(seats, lines, game.weight), weight=game.weight)


def _lines(game: Game) -> dict[int, RatingEvent]:
    seq = game.finish_seq or 0
    generation = next(span.generation for span in spans(game.pace) if span.holds(seq))
    return {line.player_id: line for line in RatingEvent.objects.filter(game=game, generation=generation)}


def _explained(seats: list[Seat], lines: dict[int, RatingEvent], weight: int) -> tuple[Explained, ...]:
    own = [lines[seat.user_id or 0] for seat in seats]
    standings = [Standing(line.before, line.games_before) for line in own]
    places = [seat.place or 0 for seat in seats]
    names = ["" if seat.user is None else seat.user.name for seat in seats]
    found = [
        Explained(
            seat=seat.number,
            name=names[player],
            is_found=seat.user is not None and seat.user.is_found,
            place=places[player],
            before=standings[player],
            after=Standing(own[player].after, own[player].games_before + 1),
            delta=own[player].delta,
            k=own[player].k,
            pairs=tuple(
                Against(
                    seat=seats[pair.opponent].number,
                    opponent=names[pair.opponent],
                    standing=standings[pair.opponent],
                    expectation=pair.expectation,
                    result=pair.result,
                    points=pair.points,
                )
                for pair in rating.pairs(standings, places, player, weight)
            ),
        )
        for player, seat in enumerate(seats)
    ]
    return tuple(sorted(found, key=lambda one: one.place))
