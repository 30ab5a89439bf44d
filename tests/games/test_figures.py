"""The figures of a game are what its events say, counted here once more in another way."""

from itertools import pairwise

import pytest

from games import charts
from games.charts import Series
from games.figures import SeatFigures, figures_of
from games.rules import apply, blank, replay, result
from games.rules.events import (
    Abandoned,
    BagOpened,
    Bought,
    Escaped,
    GameEnded,
    Lifted,
    Resumed,
    RoundStarted,
    SearchStarted,
    Stashed,
)
from games.rules.judge import LATEST_MS
from tests.games.finished import NAMES, kept

ANY_GAME = pytest.mark.parametrize("name", NAMES)


@ANY_GAME
def test_lifts_stashes_and_trades_are_counted(name: str) -> None:
    record = kept(name)
    seats = figures_of(record.head.terms, record.events).seats
    for seat, figures in enumerate(seats):
        own = [event for event in record.events if getattr(event, "seat", None) == seat]
        assert figures.lifts == sum(isinstance(event, Lifted) for event in own)
        assert figures.stashes == sum(isinstance(event, Stashed) for event in own)
        assert figures.art_bought == sum(isinstance(event, Bought) and event.art is not None for event in own)
        assert figures.cards_bought == sum(
            len(event.got) for event in own if isinstance(event, Bought) and event.art is None
        )
        assert figures.bags_opened == sum(isinstance(event, BagOpened) for event in own)
        assert figures.first_escapes == sum(
            isinstance(event, Escaped) and event.token == 1 and event.by != "abandoned" for event in own
        )


@ANY_GAME
def test_a_tile_is_looked_at_twice_only_within_one_search(name: str) -> None:
    record = kept(name)
    lifted: list[tuple[int, int, int]] = []
    number = 0
    for event in record.events:
        if isinstance(event, RoundStarted):
            number = event.round
        elif isinstance(event, Lifted):
            lifted.append((event.seat, number, event.tile))
    seats = figures_of(record.head.terms, record.events).seats
    again = [len(lifted) - len(set(lifted))]
    assert sum(figures.twice for figures in seats) == again[0]


@ANY_GAME
def test_the_times_in_the_places_make_the_time_of_all_searches(name: str) -> None:
    record = kept(name)
    if any(isinstance(event, Resumed | Abandoned) for event in record.events):
        return
    spent = [0] * len(record.head.terms.seats)
    began, searching = 0, list[int]()
    for event in record.events:
        if isinstance(event, SearchStarted):
            began, searching = event.at, list(range(len(spent)))
        elif isinstance(event, Escaped):
            spent[event.seat] += event.at - began
            searching.remove(event.seat)
        elif isinstance(event, GameEnded):
            for seat in searching:
                spent[seat] += event.at - began
    seats = figures_of(record.head.terms, record.events).seats
    assert [figures.in_place.total() for figures in seats] == spent


@ANY_GAME
def test_points_grow_round_by_round_to_the_result(name: str) -> None:
    record = kept(name)
    by_round = figures_of(record.head.terms, record.events).by_round
    ended = result(replay(record.head.terms, record.events))
    assert ended is not None
    assert by_round[-1] == tuple(score.total for score in ended.scores)
    assert len(by_round) == sum(isinstance(event, RoundStarted) for event in record.events)
    for before, after in pairwise(by_round):
        assert all(one <= other for one, other in zip(before, after, strict=True))


@ANY_GAME
def test_the_time_to_a_key_is_that_of_the_quickest_search(name: str) -> None:
    record = kept(name)
    if any(isinstance(event, Resumed) for event in record.events):
        return
    state, began = blank(record.head.terms), 0
    found: list[tuple[int, str, int]] = []
    for event in record.events:
        state = apply(state, event)
        if isinstance(event, SearchStarted):
            began = event.at
        elif isinstance(event, Stashed):
            found.append((event.seat, state.tiles[event.tile].loot or "", event.at - began))
    for seat, figures in enumerate(figures_of(record.head.terms, record.events).seats):
        for key, took in (("iron_key", figures.iron_key_ms), ("brass_key", figures.brass_key_ms)):
            assert took == min((ms for who, loot, ms in found if (who, loot) == (seat, key)), default=None)


def test_among_the_kept_games_both_keys_were_found_and_not_by_everybody() -> None:
    seats = [seat for name in NAMES for seat in figures_of(kept(name).head.terms, kept(name).events).seats]
    for times in ([seat.iron_key_ms for seat in seats], [seat.brass_key_ms for seat in seats]):
        assert any(times)
        assert None in times


def test_a_pause_of_the_server_is_nobodys_time() -> None:
    record = kept("fr-4-resumed")
    terms = record.head.terms
    # Here everybody searches to the limit, which the clock calls up to 4 s late.
    searches = sum(isinstance(event, SearchStarted) for event in record.events)
    most = searches * (terms.limits.search_ms + LATEST_MS)
    lost = sum(event.lost_ms for event in record.events if isinstance(event, Resumed))
    assert lost > most - searches * terms.limits.search_ms
    for figures in figures_of(terms, record.events).seats:
        assert searches * terms.limits.search_ms <= figures.in_place.total() <= most


@pytest.mark.parametrize(
    ("paying", "bags", "plan"),
    [
        ({}, 0, ""),
        ({"garage": 5}, 0, "garage"),
        ({"garage": 4, "office": 1}, 0, "garage"),
        ({"garage": 3, "office": 1}, 0, "office"),
        ({"garage": 5, "office": 1, "safe": 2}, 0, "safe"),
        ({"garage": 3, "safe": 1}, 3, "garage"),
        ({"garage": 2, "safe": 2}, 4, "bags"),
    ],
)
def test_a_plan_is_told_by_where_the_loot_came_from(paying: dict[str, int], bags: int, plan: str) -> None:
    figures = SeatFigures(bags=bags)
    figures.paying.update(paying)  # type: ignore[arg-type]
    assert figures.plan == plan


def test_a_chart_has_each_value_in_its_place_and_no_two_names_on_each_other() -> None:
    chart = charts.chart(["Start", "1", "2"], [Series("A", "violet", [0, 5, 40]), Series("B", "amber", [0, 9, 39])])
    for line in chart.lines:
        assert len(line.dots) == 3
        heights = [y for _, y in line.dots]
        assert heights == sorted(heights, reverse=True)
    first, second = (line.name_y for line in chart.lines)
    assert abs(first - second) >= charts.LETTERS
    assert [mark.text for mark in chart.along] == ["Start", "1", "2"]
    assert chart.up[0].text == "0"
