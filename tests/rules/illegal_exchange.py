"""Ways to bend a game from the exchange on; each says the rule, and returns the `seq`, of what it breaks."""

from games.rules.edition import Collection
from games.rules.events import (
    Abandoned,
    BagOpened,
    Bought,
    Escaped,
    Event,
    Lifted,
    Passed,
    Placed,
    Resumed,
    RoundStarted,
    SearchStarted,
)
from games.rules.state import State

from .tampering import Changes, Copy, hand, loots, searching

illegal = Changes()

# The exchange.


def buys(state: State, event: Event) -> bool:
    return isinstance(event, Bought)


@illegal("plain", "R5.1")
def a_trade_out_of_turn(copy: Copy) -> int:
    index = copy.find(buys)
    order = copy.before[index].exchange.order
    return copy.change(buys, seat=next(seat for seat in order if seat != copy.events[index]["seat"]))


@illegal("plain", "R5.2")
def a_wrong_price(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return isinstance(event, Bought) and len(state.players[event.seat].board) > len(event.paid)

    index = copy.find(test)
    board = copy.before[index].players[int(str(copy.events[index]["seat"]))].board
    return copy.change(test, paid=list(board))


@illegal("plain", "R5.2")
def a_tile_that_pays_twice(copy: Copy) -> int:
    index = copy.find(buys)
    return copy.change(buys, paid=2 * copy.events[index]["paid"])  # type: ignore[operator]


@illegal("plain", "R5.2")
def payment_from_the_table(copy: Copy) -> int:
    index = copy.find(buys)
    return copy.change(buys, paid=[copy.before[index].lies.index("down")])


@illegal("plain", "R5.2")
def more_than_was_in_the_slot(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return isinstance(event, Bought) and event.cards is not None

    index = copy.find(test)
    return copy.change(test, got=[*copy.events[index]["got"], "grail"])  # type: ignore[misc]


@illegal("plain", "R5.2")
def a_slot_sold_before(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return isinstance(event, Bought) and None in state.offers[event.market].art

    index = copy.find(test)
    event = copy.log[index]
    assert isinstance(event, Bought)
    copy.events[index].pop("cards", None)
    return copy.change(test, art=copy.before[index].offers[event.market].art.index(None))


@illegal("plain", "R5.2")
def a_market_that_is_not_there(copy: Copy) -> int:
    return copy.change(buys, market=3)


@illegal("plain", "R8.11")
def another_draw_from_the_bag(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return isinstance(event, BagOpened) and event.got != "watch"

    return copy.change(test, got="watch")


@illegal("plain", "R5.3")
def nothing_from_a_bag_that_is_not_empty(copy: Copy) -> int:
    return copy.change(lambda state, event: isinstance(event, BagOpened), got=None)


@illegal("plain", "R5.3")
def a_leather_bag_that_is_none(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return isinstance(event, BagOpened) and set(loots(state, event.seat)) != {"bag"}

    index = copy.find(test)
    state, event = copy.before[index], copy.log[index]
    assert isinstance(event, BagOpened)
    tile = next(tile for tile in state.players[event.seat].board if state.tiles[tile].loot != "bag")
    return copy.change(test, tile=tile)


@illegal("plain", "R5.4")
def an_automatic_pass_of_one_who_can_trade(copy: Copy) -> int:
    return copy.insert(buys, type="passed", seat=copy.events[copy.find(buys)]["seat"], by="auto")


@illegal("plain", "R5.4")
def a_turn_of_one_who_can_do_nothing(copy: Copy) -> int:
    return copy.change(lambda state, event: isinstance(event, Passed) and event.by == "auto", by="player")


@illegal("plain", "R8.6")
def a_pass_of_the_clock_too_early(copy: Copy) -> int:
    return copy.change(lambda state, event: isinstance(event, Passed) and event.by == "player", by="clock")


@illegal("spanish", "R8.2a")
def a_third_tour_of_trades(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return (
            state.phase == "exchange"
            and state.exchange.tour == 3
            and isinstance(event, Passed)
            and event.by == "player"
        )

    index = copy.find(test)
    state, event = copy.before[index], copy.log[index]
    assert isinstance(event, Passed)
    return copy.insert(
        test,
        type="bought",
        seat=event.seat,
        market=0,
        art=0,
        paid=list(state.players[event.seat].board)[:1] or [0],
        got=["watch"],
    )


@illegal("plain", "R6.3")
def a_card_worth_more_than_printed(copy: Copy) -> int:
    return copy.change(lambda state, event: isinstance(event, Placed), worth=15)


@illegal("plain", "R6.3")
def art_on_a_slot_for_other_art(copy: Copy) -> int:
    def wrong_card(state: State, event: Event) -> str | None:
        if isinstance(event, Placed):
            for card, filled in state.players[event.seat].cards:
                if isinstance(card, Collection) and (*card.needs, event.art)[filled] != event.art:
                    return card.id
        return None

    index = copy.find(lambda state, event: wrong_card(state, event) is not None)
    return copy.change(
        lambda state, event: wrong_card(state, event) is not None, card=wrong_card(copy.before[index], copy.log[index])
    )


@illegal("plain", "R6.3")
def art_on_a_card_of_nobodys(copy: Copy) -> int:
    return copy.change(lambda state, event: isinstance(event, Placed), card="joker")


@illegal("plain", "R6.5")
def art_that_one_does_not_have(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return isinstance(event, Placed) and "watch" not in state.players[event.seat].art

    return copy.change(test, art="watch")


@illegal("plain", "R6.5")
def placing_in_a_search(copy: Copy) -> int:
    return copy.insert(
        lambda state, event: isinstance(event, Lifted), type="placed", seat=0, art="watch", card="watch-1", worth=5
    )


# The end of a round and of the game.


@illegal("plain", "R7.1")
def an_end_while_there_is_enough(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, RoundStarted) and event.round == 2)
    copy.events[index] = {"seq": index + 1, "at": copy.events[index]["at"], "type": "game_ended", "reason": "bag_empty"}
    del copy.events[index + 1 :]
    return index + 1


@illegal("plain", "R7.2")
def another_reason_for_the_end(copy: Copy) -> int:
    said = copy.events[-1]["reason"]
    copy.events[-1]["reason"] = "bag_empty" if said != "bag_empty" else "deck_short"
    return len(copy.events)


@illegal("plain", "R7.2")
def a_round_after_the_last(copy: Copy) -> int:
    copy.events[-1] = {**copy.events[0], "at": copy.events[-1]["at"], "round": copy.before[-1].round + 1}
    copy.renumber()
    return len(copy.events)


@illegal("plain", "R8.8")
def a_winner_by_abandonment_whom_nobody_left(copy: Copy) -> int:
    copy.events.insert(1, {"seq": 0, "at": 0, "type": "game_ended", "reason": "abandoned"})
    copy.renumber()
    return 2


@illegal("plain", "R7.3")
def a_point_too_many(copy: Copy) -> int:
    row = copy.part("result", "scores", 1)
    row["collections"] = int(str(row["collections"])) + 1
    row["total"] = int(str(row["total"])) + 1
    return len(copy.events)


@illegal("plain", "R7.3")
def a_total_that_is_no_sum(copy: Copy) -> int:
    copy.part("result", "scores", 0)["total"] = 99
    return len(copy.events)


@illegal("plain", "R7.4")
def another_winner(copy: Copy) -> int:
    copy.part("result", "ranking").reverse()  # type: ignore[attr-defined]
    return len(copy.events)


@illegal("plain", "R7.2")
def another_reason_in_the_result(copy: Copy) -> int:
    copy.part("result")["reason"] = "void"
    return len(copy.events)


# Leavers, faults, void games.


@illegal("left", "R8.8")
def a_ghost_that_plays_on(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, SearchStarted) and bool(state.leavers))
    while isinstance(copy.log[index + 1], Escaped):
        index += 1
    return copy.insert_at(index + 1, type="lifted", seat=copy.before[index].leavers[0], tile=0)


@illegal("left", "R8.8")
def a_leaver_with_the_first_token(copy: Copy) -> int:
    return copy.change(lambda state, event: isinstance(event, Escaped) and event.by == "abandoned", token=1)


@illegal("left", "R8.8")
def a_leaver_who_takes_no_token(copy: Copy) -> int:
    return copy.remove(lambda state, event: isinstance(event, Escaped) and event.by == "abandoned")


@illegal("left", "R8.8")
def leaving_twice(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, SearchStarted) and bool(state.leavers))
    return copy.insert_at(index, type="abandoned", seat=copy.before[index].leavers[0], by="player")


@illegal("left", "R8.8")
def a_leaver_above_the_others(copy: Copy) -> int:
    copy.part("result", "ranking").reverse()  # type: ignore[attr-defined]
    return len(copy.events)


@illegal("plain", "R8.8")
def an_abandonment_by_the_clock_of_one_who_plays(copy: Copy) -> int:
    return copy.insert(lambda state, event: isinstance(event, Lifted), type="abandoned", seat=0, by="clock")


@illegal("sleepy", "R8.8")
def a_sleeper_who_stays(copy: Copy) -> int:
    return copy.remove(lambda state, event: isinstance(event, Abandoned) and event.by == "clock")


@illegal("forsaken", "R8.8")
def a_game_that_goes_on_alone(copy: Copy) -> int:
    last = copy.events.pop()
    assert last["reason"] == "abandoned"
    return len(copy.events) + 1


@illegal("crashed", "R8.10")
def a_loss_too_short_to_tell(copy: Copy) -> int:
    return copy.change(lambda state, event: isinstance(event, Resumed), lost_ms=2000)


@illegal("crashed", "R8.10")
def a_loss_longer_than_the_silence(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, Resumed))
    return copy.change(
        lambda state, event: isinstance(event, Resumed), lost_ms=copy.log[index].at - copy.before[index].at + 1
    )


@illegal("crashed", "R8.10")
def a_lift_in_the_countdown_after_a_fault(copy: Copy) -> int:
    index = copy.find(
        lambda state, event: isinstance(event, Resumed) and searching(state, 0) and hand(state, 0) is None
    )
    return copy.insert_at(index + 1, type="lifted", seat=0, tile=copy.before[index].lies.index("down"))


@illegal("plain", "R8.10")
def a_takeover_that_never_was(copy: Copy) -> int:
    return copy.insert(lambda state, event: isinstance(event, Lifted), type="resumed", lost_ms=5000)


@illegal("void", "R8.10a")
def a_ranking_of_a_void_game(copy: Copy) -> int:
    copy.part("result")["ranking"] = [0, 1]
    return len(copy.events)


@illegal("plain", "R8.8")
def a_void_by_the_rules_while_people_play(copy: Copy) -> int:
    return copy.insert(lambda state, event: isinstance(event, Lifted), type="game_ended", reason="void", by="rules")


@illegal("bots", "R1.1")
def a_third_player_from_the_street(copy: Copy) -> int:
    return copy.insert(lambda state, event: isinstance(event, Lifted), type="lifted", seat=2, tile=0)
