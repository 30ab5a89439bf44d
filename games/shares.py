"""Every player's share of a game's chance: committed to by its hash, fixed together with all others, then opened.

As long as the shares are not fixed, a page may commit to another nonce; from then on it can only open the one it
committed to. A nonce that is given at once, without a commitment, counts as committed to and opened in one.

Who locks what: each function locks the game's row; `fix` takes the public list before it.
"""

from django.db import transaction

from games import chance_secrets, clock, fairness, log, opening
from games.models import Game, Seat
from games.rules import chance
from games.rules import fairness as promise

# How long a game waits for the shares that are committed to, once all are fixed, before it begins without them.
OPEN_MS = opening.NONCE_MS


def commit(game_id: int, seat: int, share: str) -> str | None:
    """The share that counts for this seat: this one, unless the shares are fixed or the seat has given its nonce."""
    with transaction.atomic():
        game, own = _locked(game_id, seat)
        if _is_open(game) and chance_secrets.nonce_of(game_id, seat) is None:
            own.share = bytes.fromhex(share)
            own.save(update_fields=["share"])
        return None if own.share is None else bytes(own.share).hex()


def give(game_id: int, seat: int, nonce: bytes) -> bytes:
    """The nonce that counts for this seat, zeros if it is not this one: this one must be in time and fit the share."""
    with transaction.atomic():
        game, own = _locked(game_id, seat)
        share = bytes.fromhex(promise.share_of(nonce))
        kept = chance_secrets.nonce_of(game_id, seat)
        if kept is not None or not (_is_open(game) or bytes(own.share or b"") == share):
            return kept or chance.NO_NONCE
        chance_secrets.keep_nonce(game_id, seat, nonce)
        own.share = share
        own.save(update_fields=["share"])
        return nonce


def fix(game_id: int) -> bool:
    """No more shares: write the game's line in the public list; False where that was done before.

    A seat without a share has zeros from now on. The others have some time to open theirs.
    """
    unfixed = Game.objects.filter(pk=game_id, line=None, head=0)
    if not unfixed.exists():
        return False
    with transaction.atomic():
        fairness.lock()
        game = unfixed.select_for_update().first()
        if game is None:
            return False
        without = Seat.objects.filter(game=game, share=None).values_list("number", flat=True)
        chance_secrets.close(game_id, list(without))
        opened = opening.find_by_id(game_id)
        assert opened is not None
        digest = promise.digest(opened.code, opened.terms(), opened.shares())
        game.line = fairness.append(digest)
        # Where nothing is left to be opened the game is due at once, should this process die before it begins it.
        game.wake_at = clock.site_now() + (OPEN_MS[opened.pace] if _lacks_nonces(game_id) else 0)
        game.save(update_fields=["line", "wake_at"])
        return True


def _lacks_nonces(game_id: int) -> bool:
    return None in chance_secrets.of_game(game_id).nonces


def seal(game_id: int) -> None:
    """No more nonces: from now on every seat that gave none has zeros."""
    fix(game_id)
    chance_secrets.close(game_id)


def _locked(game_id: int, seat: int) -> tuple[Game, Seat]:
    """The game, and the seat's row; `log.Gone` where there is no such game."""
    game = Game.objects.select_for_update().only("line", "head").filter(pk=game_id).first()
    if game is None:
        raise log.Gone
    return game, Seat.objects.only("share").get(game=game, number=seat)


def _is_open(game: Game) -> bool:
    """Whether another share can still be committed to."""
    return game.line_id is None and game.head == 0
