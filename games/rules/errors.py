"""Refusals: a closed list of codes, each with the sentence that it means.

Programs look at `code` and `values`; pages say it in the reader's own language.
"""

from typing import Literal, get_args

Code = Literal[
    "malformed",
    "game_over",
    "you_left",
    "clock_first",
    "not_now",
    "resuming",
    "already_ready",
    "not_ready",
    "ready_too_often",
    "you_stopped",
    "hand_full",
    "tile_gone",
    "needs_key",
    "let_go",
    "not_in_hand",
    "too_early",
    "board_full",
    "second_key",
    "not_yours",
    "key_stays",
    "face_down_only",
    "board_not_full",
    "not_your_turn",
    "closing_tour",
    "no_market",
    "sold",
    "not_on_board",
    "wrong_price",
    "not_a_bag",
    "no_art",
    "no_card",
    "does_not_fit",
]
CODES: tuple[Code, ...] = get_args(Code)

SENTENCES: dict[Code, str] = {
    "malformed": "This is not a command: {problem}.",
    "game_over": "The game is over.",
    "you_left": "You left this game.",
    "clock_first": "Time was up before this arrived.",
    "not_now": "This cannot be done in this part of the game.",
    "resuming": "The search goes on after the countdown.",
    "already_ready": "You are ready already.",
    "not_ready": "You are not ready anyway.",
    "ready_too_often": "In one round you can press Ready {most} times at most.",
    "you_stopped": "You have your escape token: this search is over for you.",
    "hand_full": "You have a tile in your hand.",
    "tile_gone": "This tile is not among the others.",
    "needs_key": "You need a key on your board to lift this tile.",
    "let_go": "You held this tile too long to lift it again in this search.",
    "not_in_hand": "You do not have this tile in your hand.",
    "too_early": "The tile is still turning over.",
    "board_full": "Your board is full.",
    "second_key": "You have such a key already.",
    "not_yours": "You have this tile neither in your hand nor on your board.",
    "key_stays": "A stashed key stays until the end of the round.",
    "face_down_only": "In this rulebook tiles go back face down only.",
    "board_not_full": "You need six stashed tiles to escape.",
    "not_your_turn": "It is not your turn.",
    "closing_tour": "In the closing tour nothing is traded.",
    "no_market": "There is no such market or slot.",
    "sold": "This is sold already.",
    "not_on_board": "You have no such tile on your board.",
    "wrong_price": "This is not the price.",
    "not_a_bag": "This is not a leather bag.",
    "no_art": "You have no such art on your board.",
    "no_card": "You have no such open collection.",
    "does_not_fit": "The next slot of this collection is for other art.",
}


class Refused(Exception):
    """A command that does not count. Nothing has changed; the same command may count later."""

    def __init__(self, code: Code, **values: int | str) -> None:
        super().__init__(SENTENCES[code].format_map(values))
        self.code: Code = code
        self.values = values


class Malformed(Refused):
    """What was sent is no command at all; `values` has the problem in a few words."""

    def __init__(self, problem: str) -> None:
        super().__init__("malformed", problem=problem)
