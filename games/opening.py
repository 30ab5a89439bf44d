"""What is fixed before the first move: seats and their order, the server's seed, everybody's share of chance (R8.11).

The seed is committed to first, then every player's share, and only when all of these are fixed is any of them opened
(games/shares.py): no party can choose what the shuffles bring.
"""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from games import chance_secrets, clock, rules
from games.models import Game, Seat
from games.rules import chance, terms
from games.rules.documents import choice
from games.rules.edition import load_edition
from games.rules.fairness import Place, matches

# Who sat here as a guest whose account is gone.
FORMER_GUEST = "Former guest"
# How long a game waits for the shares of the pages before they are fixed without the missing ones.
NONCE_MS = {"live": 5_000, "relaxed": 24 * 60 * 60 * 1_000}


# Of each seat its name, and whether a program has played it.
Shown = list[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class Sitter:
    """Who sits in one seat; `nonce` is None as long as the page may still give one, `share` what it committed to.

    `program` tells of somebody's own program that has played this person's seat.
    """

    user_id: int | None
    name: str
    kind: terms.Kind
    strength: str
    character: terms.Character
    nonce: bytes | None = field(repr=False)
    share: str | None
    program: bool


@dataclass(frozen=True, slots=True)
class Opened:
    """A game as its row and its seats say, without what happens in it."""

    game_id: int
    code: str
    # The address of the room it is played in; nothing for a game that has none.
    room: str
    rulebook: terms.Rulebook
    pace: terms.Pace
    ranked: bool
    limits: terms.Limits
    edition: str
    faces: tuple[str, ...]
    server_seed: bytes = field(repr=False)
    commitment: str
    # When the shares are fixed, or the game begins, without what is still missing; of no meaning once it has begun.
    due_ms: int
    sitters: tuple[Sitter, ...]
    # The game's line in the public list once its shares are fixed, and the hash that stands there.
    place: Place | None = None
    digest: str = ""

    def seat_of(self, user_id: int | None) -> int | None:
        """The seat of this person; None for whoever only watches."""
        if user_id is None:
            return None
        return next((number for number, sitter in enumerate(self.sitters) if sitter.user_id == user_id), None)

    def shown(self) -> Shown:
        """What may still change about who sits where."""
        return [(sitter.name, sitter.program) for sitter in self.sitters]

    def lacks_shares(self) -> bool:
        """Whether some player's page has not committed to anything yet."""
        return any(sitter.share is None and sitter.nonce is None for sitter in self.sitters)

    def lacks_nonces(self) -> bool:
        """Whether some seat's share is still to be opened, or given up."""
        return any(sitter.nonce is None for sitter in self.sitters)

    def shares(self) -> tuple[str | None, ...]:
        """What each seat committed to."""
        return tuple(sitter.share for sitter in self.sitters)

    def counting(self) -> list[bool]:
        """Of each seat whether the nonce it committed to is part of the game's chance by now."""
        return [matches(sitter.share, sitter.nonce or chance.NO_NONCE) for sitter in self.sitters]

    def terms(self) -> rules.Terms:
        """What the rules want to know; a seat without a nonce counts with zeros."""
        return rules.Terms(
            rulebook=self.rulebook,
            pace=self.pace,
            ranked=self.ranked,
            limits=self.limits,
            edition=load_edition(self.edition),
            seats=tuple(
                terms.Seat(sitter.kind, sitter.character, sitter.nonce or chance.NO_NONCE) for sitter in self.sitters
            ),
            server_seed=self.server_seed,
            faces=self.faces,
        )


@dataclass(frozen=True, slots=True)
class NewSeat:
    """Who is to sit in a new game: a person, or a bot of some strength."""

    character: terms.Character
    user_id: int | None = None
    strength: str = ""


def open_game(
    seats: Sequence[NewSeat],
    *,
    rulebook: terms.Rulebook = "fr",
    pace: terms.Pace = "live",
    ranked: bool = False,
    limits: terms.Limits | None = None,
    faces: tuple[str, ...] = (),
    edition: str = terms.RANKED_EDITION,
    room_id: int | None = None,
    listed: bool = True,
) -> Game:
    """A new game with its commitment, which begins when the nonces are there; `TermsError` if the rules forbid it."""
    limits = (limits or terms.DEFAULT_LIMITS[pace]).of_new_game(pace)
    server_seed = secrets.token_bytes(chance.SEED_BYTES)
    agreed = rules.Terms(
        rulebook=rulebook,
        pace=pace,
        ranked=ranked,
        limits=limits,
        edition=load_edition(edition),
        seats=tuple(terms.Seat("human" if seat.user_id else "bot", seat.character) for seat in seats),
        server_seed=server_seed,
        faces=faces,
    )
    with transaction.atomic():
        game = Game.objects.create(
            room_id=room_id,
            listed=listed,
            awaits=sum(1 << number for number, seat in enumerate(seats) if seat.user_id),
            rulebook=rulebook,
            pace=pace,
            ranked=ranked,
            limits=limits.as_json(),
            edition=edition,
            markets_by=agreed.markets_by,
            faces=list(faces),
            commitment=agreed.commitment,
            wake_at=clock.site_now() + NONCE_MS[pace],
        )
        Seat.objects.bulk_create(
            Seat(
                game=game,
                number=number,
                kind="human" if seat.user_id else "bot",
                user_id=seat.user_id,
                strength=seat.strength,
                character=seat.character,
            )
            for number, seat in enumerate(seats)
        )
        nonces = tuple(None if seat.user_id else chance.NO_NONCE for seat in seats)
        chance_secrets.keep({game.pk: chance_secrets.Secrets(server_seed, nonces)})
    return game


def find(code: str) -> Opened | None:
    """The game with this address."""
    game = Game.objects.select_related("room", "line").filter(code=code).first()
    return None if game is None else _opened(game)


def find_by_id(game_id: int) -> Opened | None:
    game = Game.objects.select_related("room", "line").filter(pk=game_id).first()
    return None if game is None else _opened(game)


def shown(game_ids: Iterable[int]) -> dict[int, Shown]:
    """What `Opened.shown` of each of these games says now."""
    found: dict[int, Shown] = {}
    seats = Seat.objects.filter(game__in=list(game_ids)).order_by("game", "number")
    for game_id, name, strength, program in seats.values_list("game", "user__name", "strength", "program"):
        found.setdefault(game_id, []).append((_name(name, strength), program))
    return found


def _name(of_person: str | None, strength: str) -> str:
    return of_person or strength or FORMER_GUEST


def _opened(game: Game) -> Opened:
    decided = chance_secrets.of_game(game.pk)
    return Opened(
        game_id=game.pk,
        code=game.code,
        room=game.room.code if game.room else "",
        rulebook=choice(game.rulebook, "the rulebook", terms.RULEBOOKS),
        pace=choice(game.pace, "the pace", terms.PACES),
        ranked=game.ranked,
        limits=terms.Limits(**game.limits),
        edition=game.edition,
        faces=tuple(game.faces),
        server_seed=decided.server_seed,
        commitment=game.commitment,
        due_ms=game.wake_at or 0,
        sitters=tuple(
            Sitter(
                user_id=seat.user_id,
                name=_name(seat.user.name if seat.user else None, seat.strength),
                kind=choice(seat.kind, "the kind of a seat", terms.KINDS),
                strength=seat.strength,
                character=choice(seat.character, "the character", terms.CHARACTERS),
                nonce=nonce,
                share=None if seat.share is None else bytes(seat.share).hex(),
                program=seat.program,
            )
            for seat, nonce in zip(game.seats.select_related("user").order_by("number"), decided.nonces, strict=True)
        ),
        place=None if game.line is None else Place(game.line.number, str(game.line.day), game.line.head),
        digest="" if game.line is None else game.line.digest,
    )


def mark_program(game_id: int, seat: int) -> None:
    """Say for good that a program of its owner's has played this seat."""
    Seat.objects.filter(game_id=game_id, number=seat, program=False).update(program=True)
