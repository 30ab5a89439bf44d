"""What decides a game's chance and is secret until the game is over: the server's seed and the seats' nonces (R8.11).

These tables belong to `games.chance_secrets` alone. No relation leads to them from a game or a seat, so that no list,
template, export or administration can follow one; `tests/games/test_chance_secrets.py` holds it.
"""

from django.db import models

from .play import Game


class GameSecret(models.Model):
    """The server's share of one game's chance."""

    game = models.OneToOneField(Game, models.CASCADE, primary_key=True, related_name="+")
    server_seed = models.BinaryField(max_length=32)

    def __str__(self) -> str:
        return str(self.game_id)


class SeatSecret(models.Model):
    """One seat's share: fixed once, by the player's page or by the game's start without it."""

    pk = models.CompositePrimaryKey("game_id", "number")
    game = models.ForeignKey(Game, models.CASCADE, related_name="+", db_index=False)
    number = models.PositiveSmallIntegerField()
    nonce = models.BinaryField(max_length=16, null=True)

    def __str__(self) -> str:
        return f"{self.game_id}/{self.number}"
