"""Whole games of random legal commands, for every rulebook and number of players, watched by the referee."""

import copy
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import rules
from games.rules.events import Event
from games.rules.terms import PLAYERS, RULEBOOKS, Pace, Rulebook
from tests.rules.page import Page
from tests.rules.random_play import Game, Luck, random_game, terms_for
from tests.rules.referee import Referee

FATES = {
    "nothing happens": Luck(),
    "servers crash": Luck(crash=10),
    "one dreams and some leave": Luck(leave=3, crash=3, dreamy=(0,)),
    "one sleeps and some are removed": Luck(remove=3, sleepy=(1,)),
    "all dream and it may be void": Luck(void=1, crash=5, dreamy=(0, 1, 2, 3)),
    "only one is awake": Luck(sleepy=(1, 2, 3)),
    "nobody is awake": Luck(sleepy=(0, 1, 2, 3)),
}


def played(seed: int, rulebook: Rulebook, players: int, fate: str) -> Game:
    pace: Pace = "relaxed" if seed % 2 else "live"
    return random_game(terms_for(seed, rulebook, players, pace), seed, FATES[fate])


def check(game: Game) -> None:
    """The referee has nothing to say, and counts what the engine counts."""
    referee = Referee(game.terms)
    for event in game.log:
        referee.watch(event)
    result = rules.result(game.state)
    assert result is not None
    assert result.ranking == referee.ranking()
    assert [score.total for score in result.scores] == [referee.points(seat) for seat in range(referee.n)]
    assert rules.replay(game.terms, game.log) == game.state


def same_as_reload(game: Game, joins_at: int) -> None:
    """A page that joined at this event and heard of the others is what a page that is loaded now is."""
    state = rules.replay(game.terms, game.log[:joins_at])
    viewers = [*range(len(state.players)), None]
    pages = [Page(game.terms.edition, rules.sight(state, seat)) for seat in viewers]
    for event in game.log[joins_at:]:
        state = rules.apply(state, event)
        for seat, page in zip(viewers, pages, strict=True):
            page.hear(copy.deepcopy(rules.sight_of_event(state, event, seat)))
            assert page.sight == rules.sight(state, seat), (seat, event)


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("rulebook", ["fr", "es", "pt"])
def test_a_random_game_is_played_by_the_rules(rulebook: Rulebook, players: int) -> None:
    check(played(1, rulebook, players, "nothing happens"))


@pytest.mark.parametrize("fate", FATES)
def test_a_random_game_is_played_by_the_rules_whatever_happens(fate: str) -> None:
    check(played(2, "fr", 4, fate))


GAMES = st.builds(
    played,
    seed=st.integers(0, 2**32),
    rulebook=st.sampled_from(RULEBOOKS),
    players=st.sampled_from(PLAYERS),
    fate=st.sampled_from(sorted(FATES)),
)


@given(game=GAMES)
def test_any_random_game_is_played_by_the_rules(game: Game) -> None:
    check(game)


@given(game=GAMES, data=st.data())
def test_a_page_that_hears_of_events_is_what_a_loaded_page_is(game: Game, data: st.DataObject) -> None:
    joins_at = data.draw(st.integers(1, len(game.log)))
    game.log = game.log[: joins_at + 200]
    same_as_reload(game, joins_at)


@given(game=GAMES)
def test_a_page_hears_the_end_of_the_game_too(game: Game) -> None:
    same_as_reload(game, joins_at=max(1, len(game.log) - 40))


@pytest.mark.parametrize("seed", range(4))
def test_the_referee_objects_when_anything_that_follows_is_missing(seed: int) -> None:
    """Who watches the watchman: without any of these events every game is wrong."""
    game = played(seed, "fr", 3, "servers crash")
    follows = [event for event in game.log[1:] if getattr(event, "by", "") in ("auto", "last", "abandoned", "end")]
    follows += [
        event for event in game.log if event.type in ("exchange_started", "stashed", "bought", "search_started")
    ]
    assert len(follows) > 20
    for missing in random.Random(seed).sample(follows, 20):
        with pytest.raises((AssertionError, KeyError)):
            watch([event for event in game.log if event is not missing], game)


def watch(log: list[Event], game: Game) -> None:
    referee = Referee(game.terms)
    for seq, event in enumerate(log, 1):
        referee.watch(replace(event, seq=seq))
