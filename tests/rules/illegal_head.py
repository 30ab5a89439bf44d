"""Ways to bend a record before its first event, and its numbers and times."""

from games.rules.events import Lifted, Stashed

from .tampering import Changes, Copy

illegal = Changes()

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
