"""`simulate`: whole games between bots, as records."""

import os
import sys
from argparse import ArgumentTypeError
from hashlib import sha256
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from games.bots import STRENGTHS, Strength
from games.bots.selfplay import self_play, terms_for_bots
from games.management.arguments import positive
from games.rules.documents import Misread, choice
from games.rules.record import Record, make_record, write_record
from games.rules.terms import PLAYERS, RULEBOOKS, Rulebook

CREATED = "2026-01-01T00:00:00Z"  # of every simulated game: the same seed gives the same bytes
PROGRESS_EVERY = 10


class Command(BaseCommand):
    help = "Plays whole games between bots and writes their records to stdout, one line each."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--games", type=positive, default=1, metavar="N", help="how many (1)")
        parser.add_argument("--players", type=int, choices=PLAYERS, default=max(PLAYERS), help="in each game (4)")
        parser.add_argument("--rulebook", choices=RULEBOOKS, default=RULEBOOKS[0], help="(fr)")
        parser.add_argument(
            "--seed", default="0", metavar="S", help="any word or number; the same seed gives the same bytes (0)"
        )
        parser.add_argument(
            "--bots",
            type=_strengths,
            default=STRENGTHS,
            metavar="STRENGTH,…",
            help=f"who sits there, from seat 0 on, over and over: {', '.join(STRENGTHS)} (one after the other)",
        )

    def handle(
        self,
        *args: Any,
        games: int,
        players: int,
        rulebook: Rulebook,
        seed: str,
        bots: tuple[Strength, ...],
        **options: Any,
    ) -> None:
        seated = [bots[seat % len(bots)] for seat in range(players)]
        for number in range(1, games + 1):
            record = write_record(simulate(rulebook, seated, f"{seed}/{number}"))
            try:
                self.stdout.write(record)
                self.stdout.flush()
            except BrokenPipeError:
                # Whoever read has seen enough; Python would try to write the rest as it ends.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return
            if number % PROGRESS_EVERY == 0 or number == games:
                self.stderr.write(f"{number} of {games} games")


def simulate(rulebook: Rulebook, bots: list[Strength], seed: str) -> Record:
    """The record of one game between these bots; all its chance comes from the seed."""
    secret = sha256(f"simulate/{seed}".encode()).digest()
    # The same seed makes other games for other rulebooks and bots: each of them has an id of its own.
    named = sha256(f"{rulebook}/{','.join(bots)}/{seed}".encode()).hexdigest()
    terms = terms_for_bots(rulebook, len(bots), secret)
    names = [f"{strength.capitalize()} {seat + 1}" for seat, strength in enumerate(bots)]
    return make_record(f"simulated-{named[:16]}", CREATED, terms, names, self_play(terms, bots, seed))


def _strengths(text: str) -> tuple[Strength, ...]:
    try:
        return tuple(choice(word, "a bot", STRENGTHS) for word in text.split(","))
    except Misread as wrong:
        raise ArgumentTypeError(str(wrong)) from None
