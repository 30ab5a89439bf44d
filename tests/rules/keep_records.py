"""`python -m tests.rules.keep_records`: plays the games that are kept in tests/records/, the same ones every time.

Kept records are there to stay. They may be played anew only as long as nobody else can have records of the edition.
"""

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from games.bots import STRENGTHS
from games.bots.selfplay import self_play
from games.rules import fairness
from games.rules.events import Abandoned, BagOpened, Escaped, Event, GameEnded, Passed, Placed, Ready, Resumed, Returned
from games.rules.record import Record, read_record, write_record
from games.rules.terms import Pace, Rulebook

from .random_play import Game, Luck, random_game, terms_for

FOLDER = Path(__file__).resolve().parents[1] / "records"
MOST_BYTES = 72_000
Wanted = Callable[[Game], bool]


def has(kind: type[Event], **fields: object) -> Wanted:
    """Whether such an event happened, with these fields."""
    return lambda game: any(
        isinstance(event, kind) and all(getattr(event, name) == value for name, value in fields.items())
        for event in game.log
    )


@dataclass(frozen=True)
class Kept:
    """What kind of game is kept: the first one like this that bots play, or with luck, nobody in particular."""

    rulebook: Rulebook
    players: int
    wanted: tuple[Wanted, ...]
    luck: Luck | None = None
    pace: Pace = "live"
    faces: tuple[str, ...] = ()
    ranked: bool = False
    bounded: bool = False
    # Whether its players had committed to their nonces, as all do since the public list is there.
    sealed: bool = False

    def game(self, seed: int) -> Game:
        terms = terms_for(seed, self.rulebook, self.players, self.pace, faces=self.faces)
        if self.luck is None:
            game = Game(replace(terms, ranked=self.ranked))
            game.happen(tuple(self_play(game.terms, (STRENGTHS * 2)[: self.players], f"kept {seed}")[1:]))
            return game
        limits = replace(terms.limits, search_ms=45_000)
        if self.bounded:
            limits = limits.of_new_game(self.pace)
        return random_game(replace(terms, limits=limits), seed, replace(self.luck, step_ms=1_600))


KEPT = {
    "fr-2": Kept("fr", 2, (has(Placed),)),
    "fr-3-bag-empty": Kept("fr", 3, (has(GameEnded, reason="bag_empty"),), faces=("4A", "3A", "2B")),
    "fr-4-bag-opened-empty": Kept("fr", 4, (has(BagOpened, got=None),), Luck(), faces=("4A", "3A", "2B", "1B")),
    "fr-3-ranked": Kept("fr", 3, (has(Placed), has(GameEnded, reason="deck_short")), ranked=True),
    "fr-4": Kept("fr", 4, (has(Placed),)),
    "it-3-dreamers": Kept("it", 3, (has(Returned, by="clock"), has(Placed)), Luck(dreamy=(0, 2))),
    "de-4-chosen-markets": Kept("de", 4, (has(Placed),), faces=("4B", "1A", "3A", "2B")),
    "es-2": Kept("es", 2, (has(BagOpened),)),
    "es-3": Kept("es", 3, (has(BagOpened),)),
    "es-4": Kept("es", 4, (has(BagOpened),)),
    "es-4-bustle": Kept("es", 4, (has(Placed), has(Escaped, by="clock")), Luck()),
    "pt-2": Kept("pt", 2, (has(Placed),)),
    "pt-3": Kept("pt", 3, (has(Placed),)),
    "pt-4": Kept("pt", 4, (has(Placed),)),
    "pt-3-bustle": Kept("pt", 3, (has(Placed), has(Returned, face="up")), Luck()),
    "fr-4-two-left": Kept(
        "fr",
        4,
        (has(Abandoned, by="player"), has(Abandoned, by="staff"), has(GameEnded, reason="deck_short")),
        Luck(leave=3, remove=3),
    ),
    "es-3-forsaken": Kept("es", 3, (has(GameEnded, reason="abandoned"),), Luck(leave=8)),
    "fr-3-a-sleeper": Kept("fr", 3, (has(Abandoned, by="clock"), has(Placed)), Luck(sleepy=(1,))),
    "pt-3-dozers": Kept("pt", 3, (has(Passed, by="clock"), has(Returned, by="clock")), Luck(doze=100)),
    "pt-2-slept-through": Kept("pt", 2, (has(GameEnded, reason="void", by="rules"),), Luck(sleepy=(0, 1))),
    "fr-4-resumed": Kept("fr", 4, (has(Resumed), has(GameEnded, reason="deck_short")), Luck(crash=25)),
    "fr-2-bounded": Kept(
        "fr", 2, (has(Resumed, stalled=True), has(Ready, on=False), has(Placed)), Luck(crash=10), bounded=True
    ),
    "es-2-resumed-and-left": Kept("es", 2, (has(Resumed), has(GameEnded, reason="abandoned")), Luck(crash=25, leave=8)),
    "fr-2-void-by-staff": Kept("fr", 2, (has(GameEnded, by="staff"), has(Placed)), Luck(void=4)),
    "fr-3-void-by-server": Kept("fr", 3, (has(GameEnded, by="server"), has(Placed)), Luck(void=4)),
    "fr-3-sealed": Kept("fr", 3, (has(Placed),), sealed=True),
    "fr-3-relaxed": Kept("fr", 3, (has(Placed),), pace="relaxed"),
}


def play(name: str) -> str:
    """The record of the first game that is what this name asks for."""
    kept = KEPT[name]
    for seed in range(2_000):
        game = kept.game(seed)
        if all(wanted(game) for wanted in kept.wanted):
            record = game.record(name)
            line = write_record(sealed(record)[0] if kept.sealed else record)
            if len(line) < MOST_BYTES:
                return line
    raise SystemExit(f"no game of 2000 is {name}")


def sealed(record: Record) -> tuple[Record, str]:
    """The record with the shares and the place of its game, and the file of the list that has it."""
    terms = record.head.terms
    shares = tuple(fairness.share_of(seat.nonce) if seat.kind == "human" else None for seat in terms.seats)
    own = fairness.digest(record.head.id, terms, shares)
    number, head = 411, hashlib.sha256(b"what came before").hexdigest()
    text = fairness.heading("2026-01-31", number, head) + "\n"
    place = None
    for digest in (hashlib.sha256(b"before").hexdigest(), own, hashlib.sha256(b"after").hexdigest()):
        number, head = number + 1, fairness.head_after(head, digest)
        text += f"{fairness.Line(number, digest, head)}\n"
        if digest == own:
            place = fairness.Place(number, "2026-01-31", head)
    return replace(record, head=replace(record.head, shares=shares, place=place)), text


def main() -> None:
    for name in KEPT:
        line = play(name)
        (FOLDER / f"{name}.jsonl").write_text(line + "\n")
        if KEPT[name].sealed:
            (FOLDER / f"{name}.txt").write_text(sealed(read_record(line))[1])
        sys.stderr.write(f"{name}: {len(line)} bytes\n")


if __name__ == "__main__":
    main()
