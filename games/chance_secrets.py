"""The only door to what decides a game's chance: the server's seed and the seats' nonces (R8.11).

They are asked for by what opens, plays, archives or, after its end, reveals a game, and are never loaded with one.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Subquery

from games.models.chance import GameSecret, SeatSecret
from games.rules import chance


@dataclass(frozen=True, slots=True, repr=False)
class Secrets:
    """What decides one game's chance. A nonce is None as long as its seat may still give one."""

    server_seed: bytes
    nonces: tuple[bytes | None, ...]


def keep(secrets: Mapping[int, Secrets]) -> None:
    """Store what decides these new games, by their ids; in the transaction that makes their rows."""
    GameSecret.objects.bulk_create(
        (GameSecret(game_id=game_id, server_seed=one.server_seed) for game_id, one in secrets.items()), batch_size=1_000
    )
    SeatSecret.objects.bulk_create(
        (
            SeatSecret(game_id=game_id, number=number, nonce=nonce)
            for game_id, one in secrets.items()
            for number, nonce in enumerate(one.nonces)
        ),
        batch_size=1_000,
    )


def of_game(game_id: int) -> Secrets:
    """What decides this game, in one query; `GameSecret.DoesNotExist` where the game has none."""
    seed = Subquery(GameSecret.objects.filter(game=game_id).values("server_seed"))
    rows = list(SeatSecret.objects.filter(game=game_id).order_by("number").values_list("nonce", seed))
    if not rows or rows[0][1] is None:
        raise GameSecret.DoesNotExist
    return Secrets(bytes(rows[0][1]), tuple(None if nonce is None else bytes(nonce) for nonce, _seed in rows))


def nonce_of(game_id: int, seat: int) -> bytes | None:
    """The nonce of this seat; None as long as it may still give one."""
    nonce = SeatSecret.objects.values_list("nonce", flat=True).get(game=game_id, number=seat)
    return None if nonce is None else bytes(nonce)


def keep_nonce(game_id: int, seat: int, nonce: bytes) -> None:
    """Store the nonce of a seat that has none yet."""
    SeatSecret.objects.filter(game=game_id, number=seat, nonce=None).update(nonce=nonce)


def close(game_id: int, seats: Collection[int] | None = None) -> None:
    """Give zeros to those of these seats, or of all, that have no nonce: they can give none from now on."""
    missing = SeatSecret.objects.filter(game=game_id, nonce=None)
    if seats is not None:
        missing = missing.filter(number__in=seats)
    missing.update(nonce=chance.NO_NONCE)
