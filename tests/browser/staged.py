"""Games that were played to some moment before anybody opens their page: the log of bots, with a person in seat 0."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from asgiref.sync import sync_to_async
from django.db import transaction

from accounts.models import User
from games import clock, log, opening, rules, shares, steps
from games.bots.selfplay import SelfPlay, seated
from games.frames import Step
from games.models import Game, GameSecret
from games.opening import NewSeat, open_game
from games.rules import State, chance, terms
from games.rules import events as rules_events
from games.rules.exchange import placements, trades

# Time enough to look at everything.
PATIENT = replace(terms.DEFAULT_LIMITS["live"], turn_ms=600_000, ready_ms=600_000, search_ms=600_000)
# Even at what passes by.
STILL = replace(PATIENT, hand_ms=60_000, countdown_ms=10_000)
MOST_ATTEMPTS = 20


def gathering(state: State) -> bool:
    return state.phase == "gathering"


def searching(state: State) -> bool:
    """In the middle of a search, with seat 0's hand free and an office open to it."""
    one = state.players[0]
    keys = [tile for tile in one.board if state.tiles[tile].loot == "iron_key"]
    return state.phase == "search" and len(one.board) == 3 and one.hand is None and bool(keys)


def escaping(state: State) -> bool:
    """Seat 0's board is full and its hand free: nothing keeps it any longer."""
    one = state.players[0]
    return state.phase == "search" and len(one.board) == 6 and one.hand is None and one.token is None


def trading(state: State) -> bool:
    """Seat 0's turn, with something to buy and something to place."""
    return state.in_turn() == 0 and bool(placements(state.players[0])) and any(trades(state, 0))


def waiting(state: State) -> bool:
    """Somebody else's turn, while seat 0 could place something, and has a leather bag."""
    one = state.players[0]
    bag = any(state.tiles[tile].loot == "bag" for tile in one.board)
    return state.in_turn() not in (0, None) and bag and bool(placements(one))


def over(state: State) -> bool:
    return state.phase == "over"


def last_exchange(state: State) -> bool:
    """Seat 0's turn in an exchange after which the markets cannot be filled again (R7.2)."""
    market = state.terms.edition.market
    art = sum(kind is None for offer in state.offers for kind in offer.art)
    cards = sum(
        number
        for offer in state.offers
        for number, slot in zip(market[offer.face].cards, offer.cards, strict=True)
        if not slot
    )
    return state.in_turn() == 0 and (len(state.bag) <= art or len(state.deck) < cards)


def stage(
    people: Sequence[User], moment: Callable[[State], bool], bots: int = 2, limits: terms.Limits = PATIENT
) -> Game:
    """A game of these people against so many bots, as it is at the first such moment; bots played everybody so far."""
    characters = iter(terms.CHARACTERS)
    seats = [NewSeat(next(characters), person.pk) for person in people]
    seats += [NewSeat(next(characters), strength="apprentice") for _ in range(bots)]
    for attempt in range(MOST_ATTEMPTS):
        game = open_game(seats, limits=limits)
        # The same game every time: its chance is chosen, and there is no page yet that anything was promised to.
        server_seed = bytes([attempt]) * chance.SEED_BYTES
        GameSecret.objects.filter(game=game).update(server_seed=server_seed)
        game.commitment = chance.commitment(server_seed)
        game.save(update_fields=["commitment"])
        with transaction.atomic():
            shares.seal(game.pk)
            # Not due any more: otherwise the site would begin it while the bots below still play.
            Game.objects.filter(pk=game.pk).update(wake_at=None)
        opened = opening.find_by_id(game.pk)
        assert opened is not None
        agreed = opened.terms()
        play = SelfPlay(agreed, seated(agreed, ["apprentice"] * len(seats), str(attempt)))
        while not moment(play.state) and play.state.phase != "over":
            play.step()
        if moment(play.state):
            _write(game, play)
            return game
        game.delete()
    raise AssertionError(f"no such moment in {MOST_ATTEMPTS} games")


def _write(game: Game, play: SelfPlay) -> None:
    lines = []
    for event in play.log:
        body = rules_events.write(event)
        lines.append(log.Line(body.pop("seq"), body.pop("at"), json.dumps(body)))  # type: ignore[arg-type]
    now = clock.database_now()
    started = now - play.state.at
    wakes = rules.wake_at(play.state)
    behind = log.write(
        [
            log.Append(
                game_id=game.pk,
                head=0,
                lines=lines,
                kept_by=None,
                wake_at=None if wakes is None else started + wakes,
                started_ms=started,
                ended_ms=now if play.state.phase == "over" else None,
                departures=steps.departures_of([Step(event, play.state) for event in play.log], started),
                ending=steps.ending_of(Step(play.log[-1], play.state)),
            )
        ]
    )
    assert not behind


staged = sync_to_async(stage)
