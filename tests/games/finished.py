"""Games that were played long ago: the kept records, back in the log of a game of these people."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from accounts.models import User
from games import chance_secrets, log, rules, steps
from games.models import Game, Seat
from games.rules.record import Record, read_record

RECORDS = Path(__file__).resolve().parents[1] / "records"
NAMES = sorted(path.stem for path in RECORDS.glob("*.jsonl"))


def kept(name: str) -> Record:
    return read_record((RECORDS / f"{name}.jsonl").read_bytes())


def finished(name: str, people: Sequence[User] = (), ago: timedelta = timedelta(hours=1)) -> Game:
    """The game of this kept record, with its rows in the log, as if it had ended so long ago."""
    return played(kept(name), people, ago)


def played(record: Record, people: Sequence[User] = (), ago: timedelta = timedelta(hours=1)) -> Game:
    """The same of any record; who has no account sits there as a bot or as a former guest."""
    terms = record.head.terms
    ended = datetime.now(UTC) - ago
    game = Game.objects.create(
        rulebook=terms.rulebook,
        pace=terms.pace,
        ranked=terms.ranked,
        limits=terms.limits.as_json(),
        edition=terms.edition.name,
        markets_by=terms.markets_by,
        faces=list(terms.faces),
        commitment=terms.commitment,
    )
    guests = iter(people)
    Seat.objects.bulk_create(
        Seat(
            game=game,
            number=number,
            kind="human" if (person := next(guests, None)) else seat.kind,
            user=person,
            strength="" if person or seat.kind == "human" else "burglar",
            character=seat.character,
        )
        for number, seat in enumerate(terms.seats)
    )
    nonces = tuple(seat.nonce for seat in terms.seats)
    chance_secrets.keep({game.pk: chance_secrets.Secrets(terms.server_seed, nonces)})
    ended_ms = int(ended.timestamp() * 1000)
    started_ms = ended_ms - record.events[-1].at
    done = steps.steps_of(rules.blank(terms), record.events)
    append = steps.append_of(game.pk, done, steps.lines_of(done), now=ended_ms, started_ms=started_ms, kept_by=None)
    assert not log.write([append])
    game.refresh_from_db()
    return game
