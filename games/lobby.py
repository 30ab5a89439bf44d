"""How games come about: one function for each thing that happens."""

import random

from games.bots.strengths import Strength
from games.models import Game
from games.opening import NewSeat, open_game
from games.rules import terms

MOST_BOTS = len(terms.CHARACTERS) - 1


def play_against_bots(person_id: int, bots: int, strength: Strength) -> Game:
    """A casual game of this person against so many bots, live and at once."""
    characters = random.sample(terms.CHARACTERS, bots + 1)
    seats = [NewSeat(characters[0], person_id), *(NewSeat(one, strength=strength) for one in characters[1:])]
    return open_game(seats)


def running_games(person_id: int) -> list[Game]:
    """The games that this person is still in, the latest first."""
    return list(Game.objects.filter(seats__user=person_id, ended=None).order_by("-created")[:10])
