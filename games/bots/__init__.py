"""Bots: players who know what their seat saw, and nothing more.

`Bot(strength, seat, edition, rng)` sits in one seat. It is shown with `see` what `rules.sight` and
`rules.sight_of_event` give this seat, and `choose` answers with a command and how long a human hand takes for it.
"""

from .bot import Bot
from .hand import Choice
from .strengths import STRENGTHS, Strength

__all__ = ["STRENGTHS", "Bot", "Choice", "Strength"]
