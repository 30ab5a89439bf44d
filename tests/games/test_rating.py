"""Elo for two to four: the table that was agreed on, and what must hold whatever the ratings."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.rating import FLOOR, START, Standing, changes, expectation, k_factor, pairs

SETTLED = 20
ratings = st.decimals(min_value=100, max_value=3_500, places=2)
standings = st.lists(st.builds(Standing, ratings, st.integers(0, 60)), min_size=2, max_size=4)


def settled(*ratings: int) -> list[Standing]:
    return [Standing(Decimal(rating), SETTLED) for rating in ratings]


def deltas(players: list[Standing], places: list[int]) -> list[Decimal]:
    return [change.delta for change in changes(players, places)]


@st.composite
def played(draw: st.DrawFn) -> tuple[list[Standing], list[int]]:
    players = draw(standings)
    return players, draw(st.lists(st.integers(1, len(players)), min_size=len(players), max_size=len(players)))


@pytest.mark.parametrize(
    ("ratings", "places", "expected"),
    [
        ([1500, 1500], [1, 2], ["10.00", "-10.00"]),
        ([1500, 1600, 1400], [1, 1, 3], ["6.67", "1.34", "-8.00"]),
        ([1500] * 4, [1, 2, 3, 4], ["15.00", "5.00", "-5.00", "-15.00"]),
    ],
)
def test_the_table_of_examples_comes_out(ratings: list[int], places: list[int], expected: list[str]) -> None:
    assert [str(delta) for delta in deltas(settled(*ratings), places)] == expected


@pytest.mark.parametrize(("games", "k"), [(0, 60), (9, 60), (10, 40), (19, 40), (20, 20), (1_000, 20)])
def test_a_rating_moves_less_the_more_games_made_it(games: int, k: int) -> None:
    assert k_factor(games) == k
    assert changes([Standing(START, games), Standing()], [1, 2])[0].delta == Decimal(k) / 2


def test_a_newcomer_starts_at_1500_and_is_provisional_for_ten_games() -> None:
    assert Standing() == Standing(Decimal("1500.00"), 0)
    assert [Standing(START, games).provisional for games in (0, 9, 10)] == [True, True, False]


def test_people_see_whole_numbers_and_a_doubt() -> None:
    shown = [str(Standing(Decimal(rating), games)) for rating, games in (("1512.49", 9), ("1512.50", 10), ("99.9", 10))]
    assert shown == ["1512?", "1512", "100"]


@given(played(), st.randoms(use_true_random=False))
def test_seats_may_change_places(game: tuple[list[Standing], list[int]], random: object) -> None:
    players, places = game
    order = list(range(len(players)))
    random.shuffle(order)  # type: ignore[attr-defined]
    found = deltas(players, places)
    assert deltas([players[i] for i in order], [places[i] for i in order]) == [found[i] for i in order]


@given(standings)
def test_a_better_place_never_yields_less(players: list[Standing]) -> None:
    last = len(players)
    for better in range(1, last):
        others = [place for place in range(1, last + 1) if place not in (better, better + 1)]
        ahead = deltas(players, [better, better + 1, *others])
        behind = deltas(players, [better + 1, better, *others])
        assert ahead[0] >= behind[0]
        assert ahead[1] <= behind[1]


@given(ratings, ratings)
def test_two_players_have_plain_elo(one: Decimal, other: Decimal) -> None:
    won, lost = deltas([Standing(one, SETTLED), Standing(other, SETTLED)], [1, 2])
    plain = 20 * (1 - 1 / (1 + 10 ** (float(other - one) / 400)))
    assert abs(float(won) - plain) <= 0.00501
    assert won == -lost


@given(ratings, st.integers(2, 4))
def test_equals_that_tie_keep_what_they_have(rating: Decimal, players: int) -> None:
    assert set(deltas([Standing(rating, SETTLED)] * players, [1] * players)) == {Decimal(0)}


@given(played())
def test_no_game_moves_a_rating_by_more_than_it_may(game: tuple[list[Standing], list[int]]) -> None:
    players, places = game
    for change in changes(players, places):
        assert abs(change.delta) <= Decimal(2 * change.k) / len(players) * (len(players) - 1)
        assert change.after == max(FLOOR, change.before + change.delta)
        assert change.delta == round(change.delta, 2)


@given(played())
def test_the_pairs_of_a_player_add_up_to_the_change(game: tuple[list[Standing], list[int]]) -> None:
    players, places = game
    for player, change in enumerate(changes(players, places)):
        found = pairs(players, places, player)
        assert [pair.opponent for pair in found] == [other for other in range(len(players)) if other != player]
        assert sum(pair.points for pair in found) == change.delta
        for pair in found:
            assert pair.expectation == expectation(players[player].rating, players[pair.opponent].rating)
            exact = Decimal(2 * change.k) / len(players) * (pair.result - pair.expectation)
            assert abs(pair.points - exact) <= Decimal("0.01")


@given(ratings, ratings)
def test_what_one_expects_the_other_does_not(one: Decimal, other: Decimal) -> None:
    assert abs(expectation(one, other) + expectation(other, one) - 1) < Decimal("1e-25")


def test_nobody_falls_below_the_floor() -> None:
    lost = changes(settled(100, 100), [1, 2])[1]
    assert (lost.delta, lost.after) == (Decimal("-10.00"), FLOOR)


@pytest.mark.parametrize("players", [0, 1, 5])
def test_only_games_of_two_to_four_are_rated(players: int) -> None:
    with pytest.raises(ValueError, match="cannot be rated"):
        changes([Standing()] * players, list(range(players)))
    with pytest.raises(ValueError, match="cannot be rated"):
        changes([Standing()] * 2, [1, 2, 3])
