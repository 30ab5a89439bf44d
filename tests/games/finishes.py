"""Finished ranked games as their ends left them, for the tests of what comes after."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.models import User
from games import chance_secrets
from games.models import Finish, Game, Seat
from games.rules import chance, terms
from tests.people import established

FIRST_END = datetime(2026, 11, 2, 20, 0, tzinfo=UTC)


def people(*names: str) -> list[User]:
    return [established(name) for name in names]


def finish(players: Sequence[User | None], *, places: Sequence[int] = (), pace: str = "live", **fields: Any) -> Game:
    """A ranked game that has ended, its players in the order of their places unless said otherwise."""
    counter, _ = Finish.objects.get_or_create(pk=pace, defaults={"last": 0})
    counter.last += 1
    counter.save()
    columns = {
        "ranked": True,
        "finish_seq": counter.last,
        "reason": "bag_empty",
        "rounds": 3,
        "ended": FIRST_END + timedelta(minutes=counter.last),
        **fields,
    }
    game = Game.objects.create(
        rulebook="fr",
        pace=pace,
        limits=terms.DEFAULT_LIMITS["live"].as_json(),
        edition=terms.RANKED_EDITION,
        markets_by="draw",
        **columns,
    )
    Seat.objects.bulk_create(
        Seat(
            game=game,
            number=number,
            kind="bot" if player is None else "human",
            user=player,
            character=character,
            place=place if game.reason != "void" else None,
            points=40 - place,
            conduct="finished",
            ended=game.ended,
        )
        for number, (player, place, character) in enumerate(
            zip(players, places or range(1, len(players) + 1), terms.CHARACTERS, strict=False)
        )
    )
    chance_secrets.keep({game.pk: chance_secrets.Secrets(bytes(32), (chance.NO_NONCE,) * len(players))})
    return game
