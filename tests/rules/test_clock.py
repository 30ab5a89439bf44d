"""Limits, the start of a search, and taking over after a fault (R8.3 to R8.7, R8.9 to R8.12)."""

import re
from dataclasses import replace

import pytest

from games import rules
from games.rules import chance
from games.rules.commands import Escape, Leave, Lift, Pass, Ready, Return, Stash
from games.rules.errors import Refused
from games.rules.events import CountdownStarted, Escaped, GameEnded, Passed, Resumed, Returned, SearchStarted, write
from games.rules.judge import judge
from games.rules.record import make_record, write_record
from games.rules.terms import (
    COUNT_RANGES,
    DEFAULT_LIMITS,
    LIMIT_RANGES,
    MOST_EVENTS,
    MOST_LIVE_READY_MS,
    MOST_READIES,
    Limits,
    Pace,
    Terms,
    TermsError,
)
from tests.rules.tabletop import ALICE, BOB, CHARLIE, DORA, Table, agree, kinds, only

LIVE = DEFAULT_LIMITS["live"]


@pytest.fixture
def table() -> Table:
    return Table(agree(2)).search()


def resume(table: Table, lost_ms: int, away_ms: int | None = None) -> None:
    """The server is away for so long, and says that it lost so much of it."""
    table.at += lost_ms if away_ms is None else away_ms
    table.happen(rules.resume(table.state, lost_ms, table.at))


# R8.3: hold and hand


@pytest.mark.parametrize("early", [1, 500])
def test_R8_3_a_tile_stays_in_the_hand_while_it_turns_over(table: Table, early: int) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    table.wait(500 - early)
    assert table.refused(ALICE, Stash(tile)) == "too_early"
    assert table.refused(ALICE, Return(tile, "down")) == "too_early"
    assert rules.legal(table.state, ALICE, table.at) == (Leave(),)
    table.wait(early)
    table.do(ALICE, Stash(tile))


def test_R8_3_who_is_too_early_learns_when_it_is_time(table: Table) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    with pytest.raises(Refused) as refused:
        rules.decide(table.state, ALICE, Stash(tile), table.at + 499)
    assert refused.value.values == {"until": table.at + 500}


def test_R8_3_a_hand_drops_its_tile_after_ten_seconds(table: Table) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    assert rules.wake_at(table.state) == table.at + 10_000
    assert table.wait(9_999) == ()
    back = only(table.wait(1), Returned)
    assert (back.tile, back.face, back.source, back.by) == (tile, "down", "hand", "clock")
    assert table.state.players[ALICE].hand is None


def test_R8_3_who_held_it_too_long_may_not_lift_it_again_in_this_search(table: Table) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    table.wait(10_000)
    assert table.refused(ALICE, Lift(tile)) == "let_go"
    table.lift(BOB, tile)
    table.put_back(BOB, tile, "up")
    assert table.refused(ALICE, Lift(tile)) == "let_go"
    assert Lift(tile) not in rules.legal(table.state, ALICE, table.at)
    table.wait(table.terms.limits.search_ms)
    table.search()
    if table.tile(tile).place == "garage":
        table.lift(ALICE, tile)
    assert table.state.players[ALICE].let_go == frozenset()


def test_R8_3_who_puts_it_back_in_time_may(table: Table) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    table.put_back(ALICE, tile)
    table.lift(ALICE, tile)


def test_R8_3_each_hand_has_its_own_limit(table: Table) -> None:
    first, second = table.find("cash"), table.find("jewels")
    table.lift(ALICE, first)
    table.wait(4_000)
    table.lift(BOB, second)
    table.wait(6_000)
    assert (table.state.players[ALICE].hand, table.state.players[BOB].hand) == (None, second)


def test_R8_3_several_hands_that_are_over_drop_in_the_order_of_their_limits(table: Table) -> None:
    table.lift(BOB, table.find("cash"))
    table.wait(100)
    table.lift(ALICE, table.find("cash"))
    happened = table.wait(11_000)
    assert [event.seat for event in happened if isinstance(event, Returned)] == [BOB, ALICE]
    assert {event.at for event in happened} == {table.at}


# R8.4: the limit of a search


def test_R8_4_the_limit_takes_all_hands_first_then_deals_the_tokens() -> None:
    table = Table(agree(3)).search()
    table.wait(175_000)
    table.lift(CHARLIE, table.find("cash"))
    table.lift(ALICE, table.find("cash"))
    happened = table.wait(5_000)
    assert kinds(happened)[:6] == ["returned", "returned", "escaped", "escaped", "escaped", "exchange_started"]
    assert [(event.seat, event.by) for event in happened if isinstance(event, Returned)] == [
        (ALICE, "end"),
        (CHARLIE, "end"),
    ]
    assert [event.by for event in happened if isinstance(event, Escaped)] == ["clock"] * 3


def tokens(table: Table) -> list[tuple[int, int]]:
    """Who got which token at the limit of the search."""
    happened = table.wait_for_the_clock()
    return [(event.seat, event.token) for event in happened if isinstance(event, Escaped)]


def test_R8_4_most_tiles_first() -> None:
    table = Table(agree(3)).search()
    table.take(ALICE, "cash")
    table.take(CHARLIE, "cash", "jewels")
    table.take(BOB, "cash", "jewels", "drawer")
    assert tokens(table) == [(BOB, 1), (CHARLIE, 2), (ALICE, 3)]


def test_R8_4_then_whose_last_tile_was_stashed_earlier() -> None:
    table = Table(agree(3)).search()
    table.take(CHARLIE, "cash", "jewels")
    table.take(ALICE, "cash", "jewels")
    table.take(BOB, "cash", "jewels")
    assert tokens(table) == [(CHARLIE, 1), (ALICE, 2), (BOB, 3)]


def test_R8_4_the_last_tile_that_is_still_on_the_board() -> None:
    table = Table(agree(2)).search()
    table.take(BOB, "cash")
    table.take(ALICE, "cash")
    (later,) = table.take(BOB, "jewels")
    table.put_back(BOB, later)
    assert tokens(table) == [(BOB, 1), (ALICE, 2)]


def test_R8_4_a_tile_that_went_back_and_came_again_counts_anew() -> None:
    table = Table(agree(2)).search()
    (first,) = table.take(BOB, "cash")
    table.take(ALICE, "cash")
    table.put_back(BOB, first)
    table.lift(BOB, first)
    table.stash(BOB, first)
    assert tokens(table) == [(ALICE, 1), (BOB, 2)]


def test_R8_4_in_one_millisecond_the_order_of_arrival_decides() -> None:
    table = Table(agree(2)).search()
    tiles = {}
    for seat in (ALICE, BOB):
        tiles[seat] = table.find("cash", seat)
        table.lift(seat, tiles[seat])
    table.wait(500)
    table.do(BOB, Stash(tiles[BOB]))
    table.do(ALICE, Stash(tiles[ALICE]))
    assert tokens(table) == [(BOB, 1), (ALICE, 2)]


def test_R8_4_then_the_lower_seat() -> None:
    assert tokens(Table(agree(4)).search()) == [(ALICE, 1), (BOB, 2), (CHARLIE, 3), (DORA, 4)]


def test_R8_4_tokens_that_were_taken_stay_with_their_owners() -> None:
    table = Table(agree(3)).search()
    table.take(CHARLIE, "cash", "cash", "jewels", "jewels", "drawer", "drawer")
    table.do(CHARLIE, Escape())
    table.take(BOB, "cash")
    assert tokens(table) == [(BOB, 2), (ALICE, 3)]


def test_R8_4_where_a_hand_and_the_search_are_over_together_the_search_ends() -> None:
    table = Table(agree(2)).search()
    table.wait(170_000)
    table.lift(ALICE, table.find("cash"))
    assert only(table.wait(10_000), Returned).by == "end"


def test_R8_4_a_hand_that_was_over_before_is_the_clocks() -> None:
    table = Table(agree(2)).search()
    table.wait(169_999)
    table.lift(ALICE, table.find("cash"))
    happened = table.wait(10_001)
    assert only(happened, Returned).by == "clock"
    assert kinds(happened)[1:3] == ["escaped", "escaped"]


# R8.5 to R8.7


def test_R8_5_the_rules_know_no_flood(table: Table) -> None:
    for _ in range(200):
        assert table.refused(ALICE, Escape()) == "board_not_full"
    table.lift(ALICE, table.find("cash"))


@pytest.mark.parametrize(("pace", "turn_ms"), [("live", 45_000), ("relaxed", 24 * 3_600_000)])
def test_R8_6_when_a_turn_is_over_the_player_passes(pace: Pace, turn_ms: int) -> None:
    table = Table(agree(2, pace=pace, faces=("1A", "2A"))).exchange(["cash"], ["jewels"])
    assert table.wait(turn_ms - 1) == ()
    passed = only(table.wait(1), Passed)
    assert (passed.seat, passed.by) == (ALICE, "clock")
    assert rules.wake_at(table.state) == table.at + turn_ms


def test_R8_7_a_countdown_starts_when_all_are_ready() -> None:
    table = Table(agree(3))
    assert kinds(table.do(ALICE, Ready(True))) == ["ready"]
    assert kinds(table.do(CHARLIE, Ready(True))) == ["ready"]
    happened = table.do(BOB, Ready(True))
    assert kinds(happened) == ["ready", "countdown_started"]
    assert rules.wake_at(table.state) == table.at + 3_000
    assert table.wait(2_999) == ()
    only(table.wait(1), SearchStarted)
    assert rules.wake_at(table.state) == table.at + 180_000


def test_R8_7_who_goes_away_is_no_longer_ready() -> None:
    table = Table(agree(2))
    assert table.refused(ALICE, Ready(False)) == "not_ready"
    table.do(ALICE, Ready(True))
    assert table.refused(ALICE, Ready(True)) == "already_ready"
    table.do(ALICE, Ready(False))
    assert kinds(table.do(BOB, Ready(True))) == ["ready"]


@pytest.mark.parametrize(("pace", "ready_ms"), [("live", 30_000), ("relaxed", 48 * 3_600_000)])
def test_R8_7_or_when_the_time_for_it_is_over(pace: Pace, ready_ms: int) -> None:
    table = Table(agree(2, pace=pace))
    table.do(ALICE, Ready(True))
    assert table.wait(ready_ms - 1) == ()
    only(table.wait(1), CountdownStarted)


def test_R8_7_nothing_stops_a_countdown_but_leaving_is_possible() -> None:
    table = Table(agree(3))
    for seat in (ALICE, BOB, CHARLIE):
        table.do(seat, Ready(True))
    assert table.refused(ALICE, Ready(False)) == "not_now"
    assert kinds(table.do(BOB, Leave())) == ["abandoned"]
    assert table.state.phase == "countdown"
    table.wait(3_000)
    assert table.state.phase == "search"


def test_R8_7_the_leaving_that_was_last_waited_for_starts_it() -> None:
    table = Table(agree(3))
    table.do(ALICE, Ready(True))
    table.do(BOB, Ready(True))
    assert kinds(table.do(CHARLIE, Leave())) == ["abandoned", "countdown_started"]


def test_R8_7_everybody_is_asked_anew_each_round() -> None:
    table = Table(agree(2)).search()
    table.wait(180_000)
    assert table.state.round == 2
    assert [player.ready for player in table.state.players] == [False, False]


# R8.9


@pytest.mark.parametrize("name", LIMIT_RANGES)
def test_R8_9_a_room_sets_its_limits_within_bounds(name: str) -> None:
    least, most = LIMIT_RANGES[name]
    for value in (least, most):
        assert replace(LIVE, **{name: value}).as_json()[name] == value
    for value in (least - 1, most + 1):
        with pytest.raises(TermsError) as refused:
            replace(LIVE, **{name: value})
        assert refused.value.code == "limit_range"


def test_R8_9_every_limit_is_the_rooms() -> None:
    limits = Limits(hold_ms=0, hand_ms=3_000, search_ms=30_000, turn_ms=10_000, ready_ms=10_000, countdown_ms=1_000)
    table = Table(agree(2, limits=limits, faces=("1A", "2A")))
    assert kinds(table.wait(10_000)) == ["countdown_started"]
    assert kinds(table.wait(1_000)) == ["search_started"]
    tile = table.find("cash")
    table.lift(ALICE, tile)
    table.do(ALICE, Stash(tile))
    table.lift(ALICE, table.find("cash"))
    assert kinds(table.wait(3_000)) == ["returned"]
    assert rules.wake_at(table.state) == 41_000
    table.wait(27_000)
    assert table.state.in_turn() == ALICE
    assert kinds(table.wait(10_000))[0] == "passed"


def test_R8_9_where_a_limit_and_a_command_meet_the_clock_acts_first(table: Table) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    due = table.at + 10_000
    assert rules.decide(table.state, ALICE, Stash(tile), due - 1)
    for seat, command in ((ALICE, Stash(tile)), (BOB, Lift(table.find("jewels", BOB))), (BOB, Leave())):
        with pytest.raises(Refused) as refused:
            rules.decide(table.state, seat, command, due)
        assert refused.value.code == "clock_first"
    assert rules.legal(table.state, BOB, due) == ()
    table.wait(10_000)
    assert table.refused(ALICE, Stash(tile)) == "not_in_hand"


def test_R8_9_the_clock_is_never_early_and_acts_once(table: Table) -> None:
    due = rules.wake_at(table.state)
    assert due is not None
    assert rules.tick(table.state, due - 1) == ()
    table.wait(due - table.at)
    assert table.wait(0) == ()


RANKED = agree(2, ranked=True)


@pytest.mark.parametrize(
    "change",
    [
        {"limits": replace(LIVE, turn_ms=60_000)},
        {"limits": DEFAULT_LIMITS["relaxed"]},
        {"faces": ("1A", "2A")},
        {"edition": replace(RANKED.edition, name="house-2")},
        {"seats": (RANKED.seats[0], replace(RANKED.seats[1], kind="bot"))},
    ],
)
def test_R8_9_a_ranked_game_is_played_as_all_others(change: dict[str, object]) -> None:
    with pytest.raises(TermsError) as refused:
        replace(RANKED, **change)
    assert refused.value.code == "ranked"


# R8.10


def test_R8_10_limits_move_on_by_what_was_lost() -> None:
    table = Table(agree(2))
    resume(table, 5_000)
    assert rules.wake_at(table.state) == 35_000
    table = Table(agree(2, faces=("1A", "2A"))).exchange(["cash"], ["jewels"])
    due = rules.wake_at(table.state)
    assert due is not None
    resume(table, 60_000)
    assert rules.wake_at(table.state) == due + 60_000
    assert table.state.in_turn() == ALICE


def test_R8_10_a_countdown_begins_again_whole_each_time() -> None:
    table = Table(agree(2))
    for seat in (ALICE, BOB):
        table.do(seat, Ready(True))
    table.wait(2_000)
    resume(table, 9_000)
    assert rules.wake_at(table.state) == table.at + 3_000
    table.wait(2_000)
    resume(table, 9_000)
    assert rules.wake_at(table.state) == table.at + 3_000
    only(table.wait(3_000), SearchStarted)


def test_R8_10_a_search_gets_a_countdown_in_which_nothing_counts_and_no_clock_runs(table: Table) -> None:
    tile = table.find("cash")
    table.lift(ALICE, tile)
    table.wait(400)
    resume(table, 20_000)
    assert table.refused(ALICE, Stash(tile)) == "resuming"
    assert table.refused(BOB, Lift(table.tile_of("garage"))) == "resuming"
    assert rules.legal(table.state, BOB, table.at) == (Leave(),)
    table.wait(3_000)
    assert table.refused(ALICE, Stash(tile)) == "too_early"
    table.wait(100)
    table.do(ALICE, Stash(tile))


def test_R8_10_all_limits_of_a_search_move_on_by_that_countdown_too(table: Table) -> None:
    started = table.at
    table.lift(ALICE, table.find("cash"))
    table.wait(9_000)
    resume(table, 4_000)
    assert rules.wake_at(table.state) == started + 10_000 + 4_000 + 3_000
    assert table.wait_for_the_clock()[0].type == "returned"
    assert rules.wake_at(table.state) == started + 180_000 + 4_000 + 3_000


def test_R8_10_no_limit_acts_in_that_countdown_even_one_that_was_over_before(table: Table) -> None:
    table.lift(ALICE, table.find("cash"))
    resume(table, 2_001, away_ms=20_000)
    assert rules.wake_at(table.state) == table.at + 3_000
    assert table.wait(2_999) == ()
    only(table.wait(1), Returned)


def test_R8_10_leaving_is_possible_in_that_countdown(table: Table) -> None:
    resume(table, 4_000)
    assert kinds(table.do(ALICE, Leave())) == ["abandoned", "game_ended"]


@pytest.mark.parametrize(("lost_ms", "away_ms"), [(2_000, 9_000), (0, 9_000), (9_001, 9_000)])
def test_R8_10_only_more_than_two_seconds_and_never_more_than_there_were(lost_ms: int, away_ms: int) -> None:
    table = Table(agree(2))
    with pytest.raises(ValueError, match="cannot have been lost"):
        rules.resume(table.state, lost_ms, away_ms)
    (event,) = rules.resume(table.state, 2_001, 2_001)
    assert isinstance(event, Resumed)


def test_R8_10_a_server_that_stood_still_says_so_and_limits_move_on() -> None:
    absent, stalled = Table(agree(2)), Table(agree(2))
    for table in (absent, stalled):
        table.at = 5_000
        table.happen(rules.resume(table.state, 4_000, 5_000, stalled=table is stalled))
    assert [write(table.log[-1]).get("stalled") for table in (absent, stalled)] == [None, True]
    assert absent.state == stalled.state


def test_R8_10a_staff_or_server_may_void_a_game_at_any_moment() -> None:
    for phase in ("gathering", "countdown", "search", "exchange"):
        table = Table(agree(2, faces=("1A", "2A")))
        table.give(BOB, art=["watch"])
        if phase == "exchange":
            table.exchange(["cash"], ["jewels"])
        elif phase == "search":
            table.search()
        elif phase == "countdown":
            table.wait(30_000)
        assert table.state.phase == phase
        late = table.at + 10**8
        (ended,) = table.happen(rules.void(table.state, "staff", late))
        assert isinstance(ended, GameEnded)
        assert (ended.reason, ended.by) == ("void", "staff")
        result = rules.result(table.state)
        assert result is not None
        assert (result.ranking, result.scores[BOB].total) == ((), 2)
        with pytest.raises(Refused) as refused:
            rules.void(table.state, "server", late)
        assert refused.value.code == "game_over"


# R8.11


def test_R8_11_the_same_seed_gives_the_same_game_and_the_hash_is_known_before() -> None:
    assert rules.setup(agree(3, seed=7)) == rules.setup(agree(3, seed=7))
    assert rules.setup(agree(3, seed=7)) != rules.setup(agree(3, seed=8))
    terms = agree(3, seed=7)
    state = rules.replay(terms, rules.setup(terms))
    assert rules.sight(state, None)["commitment"] == chance.commitment(terms.server_seed)
    assert terms.server_seed.hex() not in repr(rules.sight(state, ALICE))


def test_R8_11_every_seat_has_its_share_in_the_chance() -> None:
    terms = agree(2)
    other = replace(terms, seats=(terms.seats[0], replace(terms.seats[1], nonce=b"another nonce..!")))
    assert rules.setup(terms) != rules.setup(other)


@pytest.mark.parametrize("seed", [b"", b"x" * 31])
def test_R8_11_the_seed_has_256_bits(seed: bytes) -> None:
    with pytest.raises(TermsError) as refused:
        replace(agree(2), server_seed=seed)
    assert refused.value.code == "seed"


# R8.12


def bounded(players: int = 2, **limits: int) -> Terms:
    """The terms of a game as it is opened now, but for these limits: its length, unless said otherwise."""
    return agree(players, limits=replace(LIVE.of_new_game("live"), **{"events": 1_000, **limits}))


def judged(table: Table) -> list[str]:
    names = [f"Player {seat}" for seat in range(len(table.terms.seats))]
    record = make_record("test", "2026-01-31T20:00:00Z", table.terms, names, table.log)
    return [str(fault) for fault in judge(write_record(record))]


def change_minds(table: Table, times: int) -> None:
    for _ in range(times):
        table.do(ALICE, Ready(True))
        table.do(ALICE, Ready(False))


def handle(table: Table, up_to: int) -> None:
    """A hand that rests as little as it can, until the game has so many events, or one less, or is over."""
    while table.state.phase == "search" and len(table.log) + 2 <= up_to:
        tile = table.find("cash")
        table.lift(ALICE, tile)
        if table.state.phase == "search":
            table.put_back(ALICE, tile)


def test_R8_12_a_seat_presses_ready_ten_times_in_a_round_at_most() -> None:
    table = Table(bounded())
    change_minds(table, MOST_READIES)
    assert table.refused(ALICE, Ready(True)) == "ready_too_often"
    assert rules.legal(table.state, ALICE, table.at) == (Leave(),)
    assert [rules.sight(table.state, seat)["players"][seat]["readies"] for seat in (ALICE, BOB)] == [0, MOST_READIES]
    with pytest.raises(Refused, match=f"press Ready {MOST_READIES} times at most"):
        rules.decide(table.state, ALICE, Ready(True), table.at)
    # Which is one seat's own doing: the other one is asked as ever, and so is this one in the next round.
    table.do(BOB, Ready(True))
    for _ in ("countdown", "search", "exchange"):
        table.wait_for_the_clock()
    assert table.state.round == 2
    change_minds(table, MOST_READIES)


def test_R8_12_who_pressed_ready_for_the_last_time_may_still_take_it_back() -> None:
    table = Table(bounded())
    change_minds(table, MOST_READIES - 1)
    table.do(ALICE, Ready(True))
    assert rules.legal(table.state, ALICE, table.at) == (Ready(False), Leave())
    table.do(ALICE, Ready(False))


def test_R8_12_a_page_learns_with_each_change_how_often_it_may_press() -> None:
    table = Table(bounded())
    (pressed,) = table.do(ALICE, Ready(True))
    assert pressed.type == "ready"
    moment = rules.sight_of_moment(table.state, ALICE)
    assert moment["own"]["readies"] == MOST_READIES - 1
    assert rules.sight_of_moment(Table(agree(2)).state, ALICE)["own"]["readies"] is None


def test_R8_12_a_game_ends_void_at_its_greatest_length() -> None:
    table = Table(bounded(search_ms=30 * 60_000)).search()
    handle(table, 1_001)
    assert len(table.log) == 1_000
    last = table.log[-1]
    assert isinstance(last, GameEnded)
    assert (last.reason, last.by, last.at) == ("void", "rules", table.log[-2].at)
    assert table.refused(BOB, Leave()) == "game_over"
    assert judged(table) == []


@pytest.mark.parametrize("room", range(1, 17))
def test_R8_12_events_of_one_moment_stop_at_that_length(room: int) -> None:
    """The end of a search is many events: the game ends among them, with none too many."""
    table = Table(bounded(4, search_ms=30 * 60_000)).search()
    handle(table, 996 - room)
    table.wait(table.state.limit - table.at - 2_000)
    for seat in (ALICE, BOB, CHARLIE, DORA):
        table.lift(seat, table.find("cash", seat))
    # Four tiles go back and four tokens are taken, then all pass and the next round is laid out.
    table.wait(2_000)
    assert len(table.log) <= 1_000
    assert (table.state.phase == "over") == (len(table.log) == 1_000)
    assert room > 13 or table.state.phase == "over"
    table.happen(() if table.state.phase == "over" else rules.void(table.state, "staff", table.at))
    assert judged(table) == []


@pytest.mark.parametrize("lost_ms", [3_000])
def test_R8_12_a_fault_at_the_end_of_the_log_ends_the_game_too(lost_ms: int) -> None:
    table = Table(bounded(search_ms=30 * 60_000)).search()
    handle(table, 998)
    if len(table.log) < 998:
        table.lift(ALICE, table.find("cash"))
    resume(table, lost_ms)
    assert kinds(table.log[-2:]) == ["resumed", "game_ended"]
    assert judged(table) == []


def test_R8_12_a_game_from_before_has_neither_limit_and_its_record_stays_valid() -> None:
    table = Table(agree(2))
    change_minds(table, 600)
    table.search()
    table.happen(rules.void(table.state, "staff", table.at))
    assert judged(table) == []
    # The same events of a game with these limits break the rule.
    claimed = replace(table.terms, limits=replace(LIVE, events=1_000, readies=MOST_READIES))
    table.terms = claimed
    assert judged(table)[0].startswith(f"seq {2 * MOST_READIES + 2}: R8.12: seat 0 is ready, but")


def test_R8_12_a_record_that_goes_on_beyond_its_length_is_faulty() -> None:
    table = Table(replace(agree(2), limits=replace(LIVE, search_ms=30 * 60_000))).search()
    handle(table, 1_010)
    table.happen(rules.void(table.state, "staff", table.at))
    table.terms = replace(table.terms, limits=replace(table.terms.limits, events=1_000))
    assert [fault.split(":")[:2] for fault in judged(table)] == [["seq 1000", " R8.12"]]


def test_R8_12_one_busy_hand_does_not_fill_a_ranked_game() -> None:
    """The fastest that one hand can be with the limits of a ranked game: lift, stash and put back, again and again.

    A tile rests for `hold_ms` in between, so a search has at most three events of it for each such rest. The greatest
    length leaves room for eighteen whole searches of that: far more than a ranked game has rounds, whose searches end
    sooner, with the second to last player.
    """
    table = Table(bounded(events=MOST_EVENTS)).search()
    before = len(table.log)
    while table.state.phase == "search":
        tile = table.find("cash")
        table.lift(ALICE, tile)
        table.wait(LIVE.hold_ms)
        if table.state.phase == "search":
            table.do(ALICE, Stash(tile))
            table.do(ALICE, Return(tile, "down"))
    most = 3 * (LIVE.search_ms // LIVE.hold_ms)
    assert 0.9 * most < len(table.log) - before < most + 10
    assert 18 * most < MOST_EVENTS


@pytest.mark.parametrize(("pace", "ready_ms"), [("live", MOST_LIVE_READY_MS), ("relaxed", 7 * 86_400_000)])
def test_R8_12_a_new_game_is_bounded_whatever_its_room_says(pace: Pace, ready_ms: int) -> None:
    week = replace(DEFAULT_LIMITS[pace], ready_ms=7 * 86_400_000)
    opened = week.of_new_game(pace)
    assert opened == replace(week, ready_ms=ready_ms, events=MOST_EVENTS, readies=MOST_READIES)
    assert opened.of_room() == replace(week, ready_ms=ready_ms)
    assert DEFAULT_LIMITS[pace].of_new_game(pace).of_room() == DEFAULT_LIMITS[pace]


@pytest.mark.parametrize("name", COUNT_RANGES)
def test_R8_12_the_counts_have_bounds_too(name: str) -> None:
    least, most = COUNT_RANGES[name]
    for value in (least - 1, most + 1):
        with pytest.raises(TermsError, match=re.escape("R8.12")) as refused:
            replace(LIVE, **{name: value})
        assert refused.value.code == "count_range"


def test_passing_is_for_who_is_in_turn_only() -> None:
    table = Table(agree(2))
    assert table.refused(ALICE, Pass()) == "not_now"
