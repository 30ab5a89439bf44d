"""The judge finds every way to bend a game that we could think of, with its rule and its event."""

import json
from collections.abc import Callable
from functools import cache

import pytest

from games.rules.edition import SLOTS, Collection
from games.rules.errors import CODES
from games.rules.events import (
    Abandoned,
    BagOpened,
    Bought,
    Escaped,
    Event,
    ExchangeStarted,
    Lifted,
    Passed,
    Placed,
    Ready,
    Resumed,
    Returned,
    RoundStarted,
    SearchStarted,
    Stashed,
)
from games.rules.judge import LATEST_MS, Fault, judge
from games.rules.play import apply
from games.rules.record import write_record
from games.rules.rulings import REFUSALS
from games.rules.search import KEYS
from games.rules.state import State, blank

from .random_play import Game, Luck, random_game, terms_for

Data = dict[str, object]
Where = Callable[[State, Event], bool]


@cache
def games() -> dict[str, Game]:
    return {
        "plain": random_game(terms_for(1, "fr", 3), 1),
        "spanish": random_game(terms_for(16, "es", 2), 16),
        "bots": random_game(terms_for(3, "fr", 2, kind="bot"), 3),
        "owner": random_game(terms_for(4, "pt", 2, faces=("4A", "1B")), 4),
        "crashed": random_game(terms_for(5, "fr", 4), 5, Luck(crash=8)),
        "left": random_game(terms_for(6, "fr", 4), 9, Luck(leave=1, remove=1)),
        "forsaken": random_game(terms_for(7, "pt", 3), 7, Luck(leave=6)),
        "sleepy": random_game(terms_for(8, "fr", 3), 8, Luck(sleepy=(1,))),
        "slept through": random_game(terms_for(9, "fr", 2), 9, Luck(sleepy=(0, 1))),
        "dreamy": random_game(terms_for(12, "it", 3), 12, Luck(dreamy=(0, 2))),
        "relaxed": random_game(terms_for(10, "fr", 2, pace="relaxed"), 10),
        "void": random_game(terms_for(11, "fr", 2), 11, Luck(void=3)),
    }


class Copy:
    """A record to be tampered with, and what it says."""

    def __init__(self, game: Game) -> None:
        self.head: Data = json.loads(write_record(game.record()))
        self.events: list[Data] = self.head["events"]  # type: ignore[assignment]
        self.log = game.log
        self.before = [blank(game.terms)]
        for event in game.log:
            self.before.append(apply(self.before[-1], event))

    def find(self, where: Where) -> int:
        """The index of the first event of which this is true, given the state before it."""
        for index, event in enumerate(self.log):
            if where(self.before[index], event):
                return index
        raise AssertionError("no such event in this game")

    def change(self, where: Where, **fields: object) -> int:
        """Changes fields of the first such event; returns its seq."""
        index = self.find(where)
        self.events[index].update(fields)
        return index + 1

    def insert(self, where: Where, **fields: object) -> int:
        """Puts an event before the first such event, at the moment of the one before; returns its seq."""
        return self.insert_at(self.find(where), **fields)

    def insert_at(self, index: int, **fields: object) -> int:
        self.events.insert(index, {"seq": 0, "at": self.events[index - 1]["at"], **fields})
        self.renumber()
        return index + 1

    def remove(self, where: Where) -> int:
        index = self.find(where)
        del self.events[index]
        self.renumber()
        return index + 1

    def renumber(self) -> None:
        for seq, event in enumerate(self.events, 1):
            event["seq"] = seq

    def part(self, *path: str | int) -> Data:
        """A part of the record, by names and indexes."""
        found: object = self.head
        for step in path:
            found = found[step]  # type: ignore[index]
        return found  # type: ignore[return-value]

    def faults(self) -> list[Fault]:
        return judge(json.dumps(self.head))


ILLEGAL: dict[str, tuple[str, str, Callable[[Copy], int]]] = {}


def illegal(game: str, rule: str) -> Callable[[Callable[[Copy], int]], Callable[[Copy], int]]:
    """Notes a change to this game; it returns the seq at which this rule must be found broken."""

    def note(change: Callable[[Copy], int]) -> Callable[[Copy], int]:
        ILLEGAL[change.__name__] = (game, rule, change)
        return change

    return note


def hand(state: State, seat: int) -> int | None:
    return state.players[seat].hand


def searching(state: State, seat: int) -> bool:
    return state.phase == "search" and state.players[seat].token is None


def loots(state: State, seat: int) -> list[str]:
    return [state.tiles[tile].loot for tile in state.players[seat].board]


# Before the first event.


@illegal("plain", "R8.11")
def another_commitment(copy: Copy) -> int:
    copy.head["commitment"] = "0" * 64
    return 0


@illegal("plain", "R8.11")
def another_server_seed(copy: Copy) -> int:
    copy.head["server_seed"] = "0" * 64
    return 0


@illegal("owner", "R8.11")
def another_nonce(copy: Copy) -> int:
    copy.part("seats", 0)["nonce"] = "0" * 32
    return 1


@illegal("bots", "R8.11")
def a_bot_that_rolls_its_own_dice(copy: Copy) -> int:
    copy.part("seats", 1)["nonce"] = "ab" * 16
    return 0


@illegal("plain", "R1.1")
def the_same_character_twice(copy: Copy) -> int:
    copy.part("seats", 1)["character"] = copy.part("seats", 0)["character"]
    return 0


@illegal("bots", "R1.1")
def a_game_of_one(copy: Copy) -> int:
    copy.head["seats"] = [copy.part("seats", 0)]
    return 0


@illegal("plain", "R8.9")
def a_hold_of_three_seconds(copy: Copy) -> int:
    copy.part("limits")["hold_ms"] = 3000
    return 0


@illegal("bots", "R8.9")
def bots_in_a_ranked_game(copy: Copy) -> int:
    copy.head["ranked"] = True
    return 0


@illegal("owner", "R8.9")
def chosen_markets_in_a_ranked_game(copy: Copy) -> int:
    copy.head["ranked"] = True
    return 0


@illegal("plain", "R8.9")
def longer_turns_in_a_ranked_game(copy: Copy) -> int:
    copy.head["ranked"] = True
    copy.part("limits")["turn_ms"] = 45_001
    return 0


@illegal("plain", "R1.4")
def a_cheaper_market_in_the_house_edition(copy: Copy) -> int:
    copy.part("edition", "markets", 7)["cost"] = {"cash": 1}
    return 0


@illegal("plain", "R1.4")
def a_61st_art_token(copy: Copy) -> int:
    copy.part("edition", "art")[0] = ["manuscript", 11]  # type: ignore[index]
    return 0


@illegal("plain", "R8.11")
def markets_that_were_not_drawn(copy: Copy) -> int:
    copy.head["markets"] = ["1A", "2A", "3A"]
    return 0


@illegal("owner", "R2.2")
def two_faces_of_one_board(copy: Copy) -> int:
    copy.head["markets"] = ["4A", "4B"]
    return 0


@illegal("owner", "R2.2")
def three_markets_for_two_players(copy: Copy) -> int:
    copy.head["markets"] = ["4A", "1B", "2A"]
    return 0


# The order of things.


@illegal("plain", "R4.3")
def time_that_falls(copy: Copy) -> int:
    seq = copy.change(lambda state, event: isinstance(event, Stashed))
    copy.events[seq]["at"] = 0
    return seq + 1


@illegal("plain", "R4.3")
def a_number_left_out(copy: Copy) -> int:
    seq = copy.change(lambda state, event: isinstance(event, Lifted))
    for event in copy.events[seq - 1 :]:
        event["seq"] = int(str(event["seq"])) + 1
    return seq


@illegal("plain", "R2.1")
def a_game_that_begins_late(copy: Copy) -> int:
    copy.events[0]["at"] = 5
    return 1


@illegal("plain", "R2.1")
def a_game_that_begins_with_a_lift(copy: Copy) -> int:
    del copy.events[0]
    copy.renumber()
    return 1


@illegal("plain", "R7.2")
def a_move_after_the_end(copy: Copy) -> int:
    return copy.insert_at(len(copy.events), type="passed", seat=0, by="player")


@illegal("plain", "R7.2")
def an_end_that_is_cut_off(copy: Copy) -> int:
    copy.events.pop()
    return len(copy.events) + 1


# Laying out.


def swap_tiles(copy: Copy, index: int) -> int:
    tiles = copy.part("events", index, "tiles")
    first = next(n for n in range(54) if tiles[n] != tiles[n + 1])  # type: ignore[index]
    tiles[first], tiles[first + 1] = tiles[first + 1], tiles[first]  # type: ignore[index]
    return index + 1


@illegal("plain", "R8.11")
def two_tiles_swapped(copy: Copy) -> int:
    return swap_tiles(copy, 0)


@illegal("plain", "R8.11")
def two_tiles_swapped_in_round_2(copy: Copy) -> int:
    return swap_tiles(copy, copy.find(lambda state, event: isinstance(event, RoundStarted) and event.round == 2))


@illegal("plain", "R8.11")
def a_53rd_and_last_tile(copy: Copy) -> int:
    copy.part("events", 0, "tiles").pop()  # type: ignore[call-arg]
    return 1


def refilled(state: State, event: Event) -> bool:
    return isinstance(event, RoundStarted) and event.round > 1 and any(None in offer.art for offer in state.offers)


@illegal("plain", "R8.11")
def a_refill_of_ones_own_choice(copy: Copy) -> int:
    index = copy.find(refilled)
    market = next(n for n, offer in enumerate(copy.before[index].offers) if None in offer.art)
    slot = copy.before[index].offers[market].art.index(None)
    art = copy.part("events", index, "markets", market, "art")
    art[slot] = "watch" if art[slot] != "watch" else "painting"  # type: ignore[index]
    return index + 1


@illegal("plain", "R7.1")
def an_unsold_token_exchanged_overnight(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, RoundStarted) and event.round > 1)
    for market, offer in enumerate(copy.before[index].offers):
        for slot, kind in enumerate(offer.art):
            if kind is not None:
                art = copy.part("events", index, "markets", market, "art")
                art[slot] = "watch" if kind != "watch" else "painting"  # type: ignore[index]
                return index + 1
    raise AssertionError("everything was sold")


@illegal("plain", "R7.1")
def a_card_more_in_the_deck(copy: Copy) -> int:
    return copy.change(lambda state, event: isinstance(event, RoundStarted) and event.round == 2, deck=24)


@illegal("plain", "R2.2")
def another_market_on_the_table(copy: Copy) -> int:
    copy.part("events", 0, "markets", 0)["face"] = "9Z"
    return 1


# The start of a search.


@illegal("plain", "R8.7")
def a_countdown_before_all_are_ready(copy: Copy) -> int:
    return copy.insert(
        lambda state, event: isinstance(event, Ready) and event.on and sum(p.ready for p in state.players) == 1,
        type="countdown_started",
    )


@illegal("plain", "R8.7")
def ready_in_the_countdown(copy: Copy) -> int:
    return copy.insert(lambda state, event: isinstance(event, SearchStarted), type="ready", seat=0, on=False)


@illegal("plain", "R8.7")
def ready_twice(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, Ready) and event.on)
    return copy.insert_at(index + 1, type="ready", seat=copy.events[index]["seat"], on=True)


@illegal("plain", "R8.7")
def no_countdown_at_all(copy: Copy) -> int:
    return copy.remove(lambda state, event: event.type == "countdown_started")


@illegal("plain", "R8.7")
def a_search_that_starts_too_early(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, SearchStarted))
    copy.events[index]["at"] = copy.before[index].limit - 1
    return index + 1


@illegal("plain", "R8.7")
def a_search_that_starts_too_late(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, SearchStarted))
    late = copy.before[index].limit + LATEST_MS + 1 - copy.log[index].at
    for event in copy.events[index:]:
        event["at"] = int(str(event["at"])) + late
    return index + 1


# The search.


@illegal("plain", "R3.1")
def a_tile_out_of_anothers_hand(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return searching(state, 0) and hand(state, 0) is None and hand(state, 1) is not None

    index = copy.find(test)
    return copy.insert(test, type="lifted", seat=0, tile=hand(copy.before[index], 1))


@illegal("plain", "R3.1")
def two_tiles_in_one_hand(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return searching(state, 0) and hand(state, 0) is not None

    index = copy.find(test)
    return copy.insert(test, type="lifted", seat=0, tile=copy.before[index].lies.index("down"))


def locked(place: str, key: str) -> Where:
    def test(state: State, event: Event) -> bool:
        return searching(state, 0) and hand(state, 0) is None and key not in loots(state, 0)

    return test


def lift_of(copy: Copy, place: str, test: Where) -> int:
    tiles = copy.before[copy.find(test)].tiles
    lies = copy.before[copy.find(test)].lies
    tile = next(n for n in range(54) if tiles[n].place == place and lies[n] in ("down", "up"))
    return copy.insert(test, type="lifted", seat=0, tile=tile)


@illegal("plain", "R3.4")
def an_office_tile_without_an_iron_key(copy: Copy) -> int:
    return lift_of(copy, "office", locked("office", "iron_key"))


@illegal("plain", "R3.4")
def a_safe_tile_without_a_brass_key(copy: Copy) -> int:
    return lift_of(copy, "safe", locked("safe", "brass_key"))


@illegal("plain", "R3.2")
def a_stash_past_the_hand(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return searching(state, 0) and hand(state, 0) is None

    index = copy.find(test)
    return copy.insert(test, type="stashed", seat=0, tile=copy.before[index].lies.index("down"))


@illegal("plain", "R8.3")
def a_stash_while_the_tile_turns_over(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, Lifted))
    return copy.insert_at(index + 1, type="stashed", seat=copy.events[index]["seat"], tile=copy.events[index]["tile"])


def turned(state: State, event: Event) -> int | None:
    """The seat of an event of a hand that could have been a stash or a return just as well."""
    return event.seat if isinstance(event, Returned) and event.source == "hand" and event.by == "player" else None


@illegal("plain", "R3.3")
def a_second_key(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        seat = turned(state, event)
        if seat is None or not isinstance(event, Returned) or len(state.players[seat].board) == SLOTS:
            return False
        loot = state.tiles[event.tile].loot
        return loot in KEYS and loot in loots(state, seat)

    return copy.change(test, type="stashed")


@illegal("plain", "R3.3")
def a_seventh_tile(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        seat = turned(state, event)
        return seat is not None and len(state.players[seat].board) == SLOTS

    return copy.change(test, type="stashed")


@illegal("plain", "R3.5")
def a_stashed_key_back_among_the_tiles(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return searching(state, 0) and hand(state, 0) is None and "iron_key" in loots(state, 0)

    state = copy.before[copy.find(test)]
    tile = next(tile for tile in state.players[0].board if state.tiles[tile].loot == "iron_key")
    return copy.insert(test, type="returned", seat=0, tile=tile, face="down", source="board", by="player")


@illegal("plain", "R3.2")
def a_tile_back_from_nowhere(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return searching(state, 0) and hand(state, 0) is None

    tile = copy.before[copy.find(test)].lies.index("down")
    return copy.insert(test, type="returned", seat=0, tile=tile, face="down", source="hand", by="player")


@illegal("plain", "R3.5")
def from_the_board_with_a_full_hand(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return searching(state, 0) and hand(state, 0) is not None and "cash" in loots(state, 0)

    state = copy.before[copy.find(test)]
    tile = next(tile for tile in state.players[0].board if state.tiles[tile].loot == "cash")
    return copy.insert(test, type="returned", seat=0, tile=tile, face="down", source="board", by="player")


@illegal("plain", "R3.2")
def from_the_hand_and_called_the_board(copy: Copy) -> int:
    return copy.change(lambda state, event: turned(state, event) is not None, source="board")


@illegal("spanish", "R8.1")
def face_up_in_spain(copy: Copy) -> int:
    return copy.change(lambda state, event: turned(state, event) is not None, face="up")


@illegal("plain", "R8.3")
def a_hand_emptied_before_its_time(copy: Copy) -> int:
    return copy.change(lambda state, event: turned(state, event) is not None, by="clock", face="down")


@illegal("dreamy", "R8.9")
def a_tile_held_for_ever(copy: Copy) -> int:
    return copy.change(lambda state, event: isinstance(event, Returned) and event.by == "clock", by="player")


@illegal("dreamy", "R8.3")
def a_tile_that_was_held_too_long_again(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, Returned) and event.by == "clock")
    return copy.insert_at(index + 1, type="lifted", seat=copy.events[index]["seat"], tile=copy.events[index]["tile"])


@illegal("plain", "R3.1")
def a_lift_in_the_exchange(copy: Copy) -> int:
    return copy.insert(
        lambda state, event: isinstance(event, Passed) and event.by == "player", type="lifted", seat=0, tile=0
    )


# The end of the search.


def flees(state: State, event: Event) -> bool:
    return isinstance(event, Escaped) and event.by == "player"


@illegal("plain", "R4.1")
def an_escape_with_five_tiles(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return searching(state, 0) and hand(state, 0) is None and len(state.players[0].board) == 5

    return copy.insert(test, type="escaped", seat=0, token=1, by="player")


@illegal("plain", "R4.1")
def the_second_token_first(copy: Copy) -> int:
    return copy.change(
        lambda state, event: flees(state, event) and isinstance(event, Escaped) and event.token == 1, token=2
    )


@illegal("plain", "R4.1")
def a_search_after_the_escape(copy: Copy) -> int:
    index = copy.find(flees)
    while copy.before[index + 1].phase != "search":
        index = (
            index
            + 1
            + copy.log[index + 1 :].index(next(e for e in copy.log[index + 1 :] if flees(copy.before[e.seq - 1], e)))
        )
    tile = copy.before[index].lies.index("down")
    return copy.insert_at(index + 1, type="lifted", seat=copy.events[index]["seat"], tile=tile)


@illegal("plain", "R4.2")
def a_last_player_who_searches_on(copy: Copy) -> int:
    return copy.remove(lambda state, event: isinstance(event, Escaped) and event.by == "last")


@illegal("plain", "R4.2")
def a_last_player_who_keeps_the_hand_full(copy: Copy) -> int:
    return copy.remove(lambda state, event: isinstance(event, Returned) and event.by == "end")


@illegal("plain", "R8.4")
def a_search_that_ends_before_its_limit(copy: Copy) -> int:
    def test(state: State, event: Event) -> bool:
        return state.phase == "search" and all(player.token is None for player in state.players)

    return copy.insert(test, type="escaped", seat=0, token=1, by="clock")


@illegal("slept through", "R8.4")
def the_limits_tokens_in_another_order(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, Escaped) and event.by == "clock")
    first, second = copy.events[index], copy.events[index + 1]
    first["seat"], second["seat"] = second["seat"], first["seat"]
    return index + 1


@illegal("plain", "R5.1")
def turns_in_another_order(copy: Copy) -> int:
    index = copy.find(lambda state, event: isinstance(event, ExchangeStarted))
    copy.events[index]["order"] = list(reversed(copy.events[index]["order"]))  # type: ignore[call-overload]
    return index + 1


@illegal("plain", "R5.1")
def an_exchange_that_does_not_start(copy: Copy) -> int:
    return copy.remove(lambda state, event: isinstance(event, ExchangeStarted))


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


@pytest.mark.parametrize("name", games())
def test_a_game_by_the_rules_has_no_fault(name: str) -> None:
    assert judge(write_record(games()[name].record())) == []


@pytest.mark.parametrize("name", ILLEGAL)
def test_an_illegal_change_is_found_with_its_rule_and_its_event(name: str) -> None:
    game, rule, change = ILLEGAL[name]
    copy = Copy(games()[game])
    seq = change(copy)
    faults = copy.faults()
    assert faults, "nothing was found"
    assert (faults[0].rule, faults[0].seq) == (rule, seq), [str(fault) for fault in faults]


def test_at_least_thirty_illegal_changes_are_tried_of_many_rules() -> None:
    assert len(ILLEGAL) >= 30
    assert len({rule for _, rule, _ in ILLEGAL.values()}) >= 20


def test_the_judge_has_words_for_every_refusal() -> None:
    assert set(REFUSALS) == set(CODES)


def test_a_wrong_word_does_not_hide_the_next_one() -> None:
    copy = Copy(games()["plain"])
    first = copy.change(lambda state, event: isinstance(event, Placed), worth=15)
    second = copy.change(lambda state, event: isinstance(event, RoundStarted) and event.round == 2, bag=60)
    copy.part("result", "ranking").reverse()  # type: ignore[attr-defined]
    found = [(fault.seq, fault.rule) for fault in copy.faults()]
    assert found == [*sorted([(first, "R6.3"), (second, "R7.1")]), (len(copy.events), "R7.4")]


def test_what_is_paid_has_no_order() -> None:
    copy = Copy(games()["owner"])
    index = copy.find(lambda state, event: isinstance(event, Bought) and len(event.paid) > 1)
    copy.events[index]["paid"].reverse()  # type: ignore[attr-defined]
    assert copy.faults() == []


def test_a_fault_is_one_line() -> None:
    assert str(Fault(7, "R5.2", "this is not the price")) == "seq 7: R5.2: this is not the price"
    assert str(Fault(7, None, "no such type")) == "seq 7: no such type"
    assert str(Fault(None, None, "this is not JSON")) == "this is not JSON"
