"""The ladders: what finished ranked games make of their players' ratings.

`rate` takes games in the order of their ends, `replay` takes one out again, `recount` proves the figures, `explain`
says where they come from, `boards` says where people stand.
"""

from .boards import board, set_milestones, standing, standings
from .explain import Explanation, explain
from .ledger import lines_in, lines_of
from .rate import ask_for_rating, rate_finished, rate_game, unrated
from .recount import Recount, rated_to, recount, recount_all
from .replay import replay, replay_from, restore_game, void_game

__all__ = [
    "Explanation",
    "Recount",
    "ask_for_rating",
    "board",
    "explain",
    "lines_in",
    "lines_of",
    "rate_finished",
    "rate_game",
    "rated_to",
    "recount",
    "recount_all",
    "replay",
    "replay_from",
    "restore_game",
    "set_milestones",
    "standing",
    "standings",
    "unrated",
    "void_game",
]
