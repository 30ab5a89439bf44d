"""Leaving for good, missing rounds, and games that are left (R8.8)."""

import pytest

from games import rules
from games.rules.commands import Buy, Command, Escape, Leave, Lift, OpenBag, Pass, Place, Ready
from games.rules.events import Abandoned, Escaped, GameEnded, Passed, Returned
from games.rules.state import Reason
from games.rules.terms import Pace
from tests.rules.tabletop import ALICE, BOB, CHARLIE, DORA, Table, agree, kinds, only

FACES = ("1A", "2A", "3A")
SIX = ("jewels", "jewels", "cash", "cash", "drawer", "drawer")


def escapes(*happened: object) -> list[tuple[int, int, str]]:
    return [(event.seat, event.token, event.by) for event in happened if isinstance(event, Escaped)]


def passes(*happened: object) -> list[tuple[int, str]]:
    return [(event.seat, event.by) for event in happened if isinstance(event, Passed)]


def outcome(table: Table) -> tuple[Reason, tuple[int, ...]]:
    result = rules.result(table.state)
    assert result is not None
    return result.reason, result.ranking


def test_R8_8_in_the_search_the_hand_drops_its_tile_and_the_seat_takes_the_highest_token() -> None:
    table = Table(agree(4)).search()
    (stashed,) = table.take(BOB, "cash")
    tile = table.find("jewels", BOB)
    table.lift(BOB, tile)
    happened = table.do(BOB, Leave())
    assert kinds(happened) == ["abandoned", "returned", "escaped"]
    back = only(happened, Returned)
    assert (back.tile, back.face, back.source, back.by) == (tile, "down", "hand", "end")
    assert escapes(*happened) == [(BOB, 4, "abandoned")]
    assert table.refused(ALICE, Lift(stashed)) == "tile_gone"
    assert escapes(*table.do(ALICE, Leave())) == [(ALICE, 3, "abandoned")]


def test_R8_8_who_escaped_before_keeps_that_token() -> None:
    table = Table(agree(3)).search()
    table.take(ALICE, *SIX)
    table.do(ALICE, Escape())
    assert kinds(table.do(ALICE, Leave())) == ["abandoned"]
    assert table.state.players[ALICE].token == 1


def test_R4_2_the_last_player_stops_also_when_the_others_left() -> None:
    table = Table(agree(3)).search()
    table.take(ALICE, *SIX)
    table.do(ALICE, Escape())
    table.lift(CHARLIE, table.find("cash", CHARLIE))
    table.lift(BOB, table.find("cash", BOB))
    happened = table.do(BOB, Leave())
    assert kinds(happened)[:6] == ["abandoned", "returned", "escaped", "returned", "escaped", "exchange_started"]
    assert escapes(*happened) == [(BOB, 3, "abandoned"), (CHARLIE, 2, "last")]
    assert len({event.at for event in happened}) == 1


def test_R8_8_who_left_before_a_search_has_the_highest_tokens_from_its_start() -> None:
    table = Table(agree(4))
    table.do(CHARLIE, Leave())
    table.do(ALICE, Leave())
    for seat in (BOB, DORA):
        table.do(seat, Ready(True))
    happened = table.wait_for_the_clock()
    assert kinds(happened) == ["search_started", "escaped", "escaped"]
    assert escapes(*happened) == [(CHARLIE, 4, "abandoned"), (ALICE, 3, "abandoned")]
    happened = table.wait_for_the_clock()
    assert [event.type for event in happened][:3] == ["escaped", "escaped", "exchange_started"]
    table.search()
    assert [table.state.players[seat].token for seat in range(4)] == [3, None, 4, None]


def test_R8_8_in_the_exchange_it_passes_in_every_tour() -> None:
    table = Table(agree(3, faces=FACES)).exchange(["jewels", "jewels", "cash"], ["cash"] * 2, ["gems"] * 2)
    table.do(ALICE, Buy(0, (table.board(ALICE, "jewels"),), art=0))
    happened = table.do(BOB, Leave())
    assert kinds(happened) == ["abandoned", "passed"]
    assert passes(*happened) == [(BOB, "abandoned")]
    happened = table.do(CHARLIE, Buy(2, (table.board(CHARLIE, "gems"),), art=0))
    assert table.state.in_turn() == ALICE
    assert passes(*table.do(ALICE, Pass())) == [(ALICE, "player"), (BOB, "abandoned")]


def test_R8_8_out_of_turn_nothing_else_happens() -> None:
    table = Table(agree(3, faces=FACES)).exchange(["jewels"], ["cash"], ["gems"])
    assert kinds(table.do(CHARLIE, Leave())) == ["abandoned"]
    assert table.state.in_turn() == ALICE


@pytest.mark.parametrize("command", [Leave(), Pass(), Place("watch", "watch-1"), OpenBag(0), Ready(True)])
def test_R8_8_whoever_left_is_out(command: Command) -> None:
    table = Table(agree(3, faces=FACES))
    table.give(ALICE, art=["watch"], cards=["watch-1"])
    table.exchange(["jewels"], ["cash"], ["gems"])
    table.do(ALICE, Leave())
    assert table.refused(ALICE, command) == "you_left"
    assert rules.legal(table.state, ALICE, table.at) == ()


def test_R8_8_its_points_stand() -> None:
    table = Table(agree(2, faces=FACES[:2]))
    table.give(ALICE, art=["watch", "chalice"], cards=["watch-1", "psalter"])
    table.do(ALICE, Leave())
    result = rules.result(table.state)
    assert result is not None
    assert result.scores[ALICE].total == 2 + 1 + 2 + 3


@pytest.mark.parametrize("phase", ["gathering", "countdown", "search", "exchange"])
def test_R8_8_the_game_ends_at_once_when_one_player_stays(phase: str) -> None:
    table = Table(agree(2, faces=FACES[:2]))
    if phase == "countdown":
        table.wait(30_000)
    elif phase == "search":
        table.search()
        table.lift(ALICE, table.find("cash"))
    elif phase == "exchange":
        table.exchange(["cash"], ["jewels"])
    assert table.state.phase == phase
    happened = table.do(ALICE, Leave())
    assert kinds(happened) == ["abandoned", "game_ended"]
    assert outcome(table) == ("abandoned", (BOB, ALICE))


def test_R8_8_who_stays_to_the_end_wins_whatever_the_points() -> None:
    table = Table(agree(3))
    table.give(ALICE, cards=["psalter"] * 5)
    table.do(CHARLIE, Leave())
    table.wait(5)
    table.do(ALICE, Leave())
    assert outcome(table) == ("abandoned", (BOB, ALICE, CHARLIE))


def test_R8_8_staff_removes_a_player() -> None:
    table = Table(agree(3)).search()
    happened = table.happen(rules.remove(table.state, BOB, table.at))
    assert only(happened, Abandoned).by == "staff"
    assert escapes(*happened) == [(BOB, 3, "abandoned")]
    with pytest.raises(rules.Refused) as refused:
        rules.remove(table.state, BOB, table.at)
    assert refused.value.code == "you_left"
    with pytest.raises(rules.Refused) as refused:
        rules.remove(table.state, ALICE, table.at + 10**7)
    assert refused.value.code == "clock_first"


def idle_round(table: Table, *present: int) -> list[str]:
    """A round in which only these press ready, and nobody does more."""
    started = len(table.log)
    for seat in present:
        if table.state.players[seat].left_at is None:
            table.do(seat, Ready(True))
    number = table.state.round
    while table.state.round == number and table.state.phase != "over":
        table.wait_for_the_clock()
    return [event.type for event in table.log[started:]]


def test_R8_8_two_missed_rounds_in_a_row_are_one_too_many_in_a_live_game() -> None:
    table = Table(agree(3))
    idle_round(table, ALICE, BOB)
    assert table.state.leavers == ()
    happened = idle_round(table, ALICE, BOB)
    assert happened[-3:] == ["passed", "abandoned", "round_started"]
    assert table.state.leavers == (CHARLIE,)
    (gone,) = (event for event in table.log if isinstance(event, Abandoned))
    assert (gone.seat, gone.by) == (CHARLIE, "clock")


def test_R8_8_in_a_row_only() -> None:
    table = Table(agree(3))
    for present in ((ALICE, BOB), (ALICE, BOB, CHARLIE), (ALICE, BOB)):
        idle_round(table, *present)
    assert table.state.leavers == ()


def test_R8_8_one_is_in_a_relaxed_game() -> None:
    table = Table(agree(3, pace="relaxed"))
    idle_round(table, ALICE, BOB)
    assert table.state.leavers == (CHARLIE,)


@pytest.mark.parametrize("act", ["ready", "lift", "place"])
def test_R8_8_any_event_of_ones_own_counts_as_being_there(act: str) -> None:
    table = Table(agree(3, pace="relaxed", faces=FACES))
    table.give(CHARLIE, art=["watch"], cards=["watch-2"])
    for seat in (ALICE, BOB):
        table.do(seat, Ready(True))
    if act == "ready":
        table.do(CHARLIE, Ready(True))
    else:
        table.wait_for_the_clock()
    table.wait_for_the_clock()
    assert table.state.phase == "search"
    if act == "lift":
        table.lift(CHARLIE, table.find("cash", CHARLIE))
    while table.state.phase == "search":
        table.wait_for_the_clock()
    if act == "place":
        table.do(CHARLIE, Place("watch", "watch-2"))
    while table.state.round == 1:
        table.wait_for_the_clock()
    assert table.state.leavers == ()


def test_R8_8_what_the_clock_does_for_a_player_does_not() -> None:
    table = Table(agree(2, pace="relaxed"))
    assert idle_round(table, ALICE)[-2:] == ["abandoned", "game_ended"]
    assert outcome(table) == ("abandoned", (ALICE, BOB))


@pytest.mark.parametrize("pace", ["live", "relaxed"])
def test_R8_8_all_who_are_missing_are_found_at_once_and_a_game_that_nobody_plays_is_void(pace: Pace) -> None:
    table = Table(agree(3, pace=pace))
    rounds = 2 if pace == "live" else 1
    for _ in range(rounds):
        happened = idle_round(table)
    assert happened[-4:] == ["abandoned", "abandoned", "abandoned", "game_ended"]
    assert table.state.leavers == (ALICE, BOB, CHARLIE)
    ended = table.log[-1]
    assert isinstance(ended, GameEnded)
    assert (ended.reason, ended.by) == ("void", "rules")
    assert outcome(table) == ("void", ())


def test_R8_8_missing_players_are_found_before_the_end_of_the_game() -> None:
    table = Table(agree(3, pace="relaxed"))
    for seat in (ALICE, BOB):
        table.do(seat, Ready(True))
    table.give(CHARLIE, cards=["psalter"] * 9)
    table.state = table.state._replace(bag=())
    assert idle_round(table)[-2:] == ["abandoned", "game_ended"]
    assert outcome(table) == ("bag_empty", (ALICE, BOB, CHARLIE))
