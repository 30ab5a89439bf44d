"""What somebody may not see makes no difference to what is shown: hidden facts are changed, and no byte moves."""

import json
import random
from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from games import rules
from games.rules.edition import Collection
from games.rules.events import Event, RoundStarted
from games.rules.state import Held, State, Tile
from tests.rules.random_play import Game, Luck, random_game, terms_for

MOMENTS = st.builds(
    lambda seed, players: random_game(terms_for(seed, "fr", players), seed, Luck(leave=1, dreamy=(0,))),
    seed=st.integers(0, 2**32),
    players=st.sampled_from([2, 3, 4]),
)


def hidden_tiles(state: State, seat: int | None) -> list[int]:
    """The spots whose loot this viewer may not know now."""
    own = None if seat is None else state.players[seat].hand
    return [spot for spot, lies in enumerate(state.lies) if lies in ("down", "hand") and spot != own]


def other_loot(state: State, spots: list[int], rng: random.Random) -> State:
    """These tiles have each other's loot."""
    tiles = list(state.tiles)
    loot = [tiles[spot].loot for spot in spots]
    rng.shuffle(loot)
    for spot, one in zip(spots, loot, strict=True):
        tiles[spot] = Tile(tiles[spot].place, one)
    return state._replace(tiles=tuple(tiles))


def other_bag_and_deck(state: State, rng: random.Random) -> State:
    return state._replace(
        bag=tuple(rng.sample(state.bag, len(state.bag))), deck=tuple(rng.sample(state.deck, len(state.deck)))
    )


def other_hidden_cards(state: State, seat: int | None, rng: random.Random) -> State:
    """Whoever is not the viewer has other cards face down: any that could lie so."""
    edition = state.terms.edition
    players = list(state.players)
    for one, player in enumerate(players):
        if one != seat:
            cards = []
            for held in player.cards:
                if not isinstance(held.card, Collection) or held.filled == len(held.card.needs):
                    card = rng.choice(edition.cards)
                    held = Held(card, len(card.needs) if isinstance(card, Collection) else 0)
                cards.append(held)
            players[one] = player._replace(cards=tuple(cards))
    return state._replace(players=tuple(players))


def other_shares(state: State, rng: random.Random) -> State:
    seats = tuple(replace(seat, nonce=rng.randbytes(16)) for seat in state.terms.seats)
    return state._replace(terms=replace(state.terms, seats=seats))


def some_moment(game: Game, cut: int) -> tuple[State, list[Event]]:
    """The game after some of its events, still running, and the events of that round."""
    log = game.log[: 1 + cut % (len(game.log) - 1)]
    begun = max(place for place, event in enumerate(log) if isinstance(event, RoundStarted))
    return rules.replay(game.terms, log), log[begun:]


@given(game=MOMENTS, cut=st.integers(0, 2**32), seed=st.integers(0, 2**32))
def test_R6_7_no_hidden_fact_shows_in_a_sight(game: Game, cut: int, seed: int) -> None:
    rng = random.Random(seed)
    state, _ = some_moment(game, cut)
    for seat in [*range(len(state.players)), None]:
        seen = json.dumps(rules.sight(state, seat))
        changes: list[Callable[[State], State]] = [
            lambda state, seat=seat: other_loot(state, hidden_tiles(state, seat), rng),
            lambda state: other_bag_and_deck(state, rng),
            lambda state, seat=seat: other_hidden_cards(state, seat, rng),
            lambda state: other_shares(state, rng),
        ]
        for change in changes:
            assert json.dumps(rules.sight(change(state), seat)) == seen


@given(game=MOMENTS, cut=st.integers(0, 2**32), seed=st.integers(0, 2**32))
def test_R6_7_no_hidden_fact_shows_in_the_sight_of_an_event(game: Game, cut: int, seed: int) -> None:
    """Of a round's events so far: what this viewer has never seen in them may be anything."""
    rng = random.Random(seed)
    state, log = some_moment(game, cut)
    for seat in [*range(len(state.players)), None]:
        seen = [rules.sight_of_event(state, event, seat) for event in log]
        shown: set[object] = set()
        for event in seen:
            if "loot" in event:
                tiles = event.get("paid", [event.get("tile")])
                assert isinstance(tiles, list)
                shown |= set(tiles)
        never_seen = [spot for spot in range(len(state.tiles)) if spot not in shown]
        other = other_hidden_cards(other_bag_and_deck(other_loot(state, never_seen, rng), rng), seat, rng)
        changed = [replace(event, tiles=other.tiles) if isinstance(event, RoundStarted) else event for event in log]
        assert json.dumps([rules.sight_of_event(other, event, seat) for event in changed]) == json.dumps(seen)


@given(game=MOMENTS, cut=st.integers(0, 2**32))
def test_R6_7_an_event_tells_no_more_than_the_sight_after_it(game: Game, cut: int) -> None:
    """What a viewer learns of a lifted or returned tile is what a page that is loaded then would show."""
    state, log = some_moment(game, cut)
    event = log[-1]
    for seat in [*range(len(state.players)), None]:
        seen = rules.sight_of_event(state, event, seat)
        if event.type in ("lifted", "stashed", "returned"):
            tiles = rules.sight(state, seat)["tiles"]
            assert isinstance(tiles, list)
            tile = seen["tile"]
            assert isinstance(tile, int)
            assert tiles[tile].get("loot") == seen.get("loot")
