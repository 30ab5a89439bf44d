"""Ways to bend a game until the end of a search; each says the rule, and returns the `seq`, of what it breaks."""

from games.rules.edition import SLOTS
from games.rules.events import (
    Escaped,
    Event,
    ExchangeStarted,
    Lifted,
    Passed,
    Ready,
    Returned,
    RoundStarted,
    SearchStarted,
)
from games.rules.judge import LATEST_MS
from games.rules.search import KEYS
from games.rules.state import State

from .tampering import Changes, Copy, Where, hand, loots, searching

illegal = Changes()

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
