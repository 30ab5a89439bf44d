"""Every job of the workers may run twice, late and beside itself, and be killed at any step: nothing is lost."""

import email
import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from email.message import Message as Letter
from pathlib import Path
from typing import Any, ClassVar

import pytest
import redis
from allauth.account.models import EmailAddress
from celery import current_app
from django.apps import apps
from django.conf import LazySettings, settings
from django.contrib.sessions.models import Session
from django.core.mail.backends.filebased import EmailBackend
from django.db.models import F
from django.utils import timezone

from accounts import closing, tokens
from accounts.models import ApiToken, EndedSession, User
from games import archive, careers, chat, clock, dumps, gauges, ladder, log, pace, quick, rooms, servers
from games.ladder import boards
from games.ladder.finished import season_of
from games.models import (
    Career,
    Case,
    Event,
    Game,
    Generation,
    Glance,
    Message,
    Milestone,
    Nudge,
    Proof,
    Rating,
    RatingEvent,
    Reason,
    Record,
    Room,
    RoomSeat,
    Seat,
    Server,
    Waiting,
)
from games.moderation import reports
from games.moderation.reports import Moment
from games.moderation.weighing import WEIGHT
from games.opening import NewSeat, open_game
from games.rules import terms
from midnight import health
from midnight.schedule import BEAT
from tests.games import power
from tests.games.finished import finished
from tests.games.finishes import finish, people
from tests.games.written import Written
from tests.settings import VALKEY

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

HOUR_MS = 60 * 60 * 1_000
MOST_STEPS = 300
WORKERS = 3
BETWEEN_LETTERS = b"-" * 79


class Job:
    """Made with something to do, all of it overdue."""

    task: ClassVar[str]
    words: tuple[Any, ...] = ()
    # What others might see besides what is written.
    calls: ClassVar[power.Calls] = ()

    def run(self) -> None:
        current_app.tasks[self.task](*self.words)

    def whole(self) -> None:
        """What is so at any time, whoever was killed."""

    def later(self) -> None:
        """What time does between a kill and the next run."""

    def done(self) -> None:
        """What is so once it came to its end."""
        raise NotImplementedError


def letters_queued() -> int:
    """How many letters wait to be delivered."""
    with redis.Redis(unix_socket_path=str(VALKEY)) as client:
        return int(client.llen(settings.LETTERS_QUEUE))


def relaxed_game(*players: User) -> Game:
    characters = iter(terms.CHARACTERS)
    return open_game([NewSeat(next(characters), person.pk) for person in players], pace="relaxed")


def with_mail(*names: str) -> list[User]:
    made = people(*names)
    for person in made:
        EmailAddress.objects.create(user=person, email=f"{person.name}@a.example", verified=True, primary=True)
    return made


def letters() -> list[Letter]:
    """All that was sent: Django gives two letters of one second the same file, where it happens to choose one name."""
    files = [path.read_bytes() for path in Path(settings.EMAIL_FILE_PATH).glob("*")]
    parts = [part.strip() for content in files for part in content.split(BETWEEN_LETTERS)]
    return [email.message_from_bytes(part) for part in parts if part]


def numbers_of(letters: list[Letter]) -> set[str]:
    return {str(letter["Message-ID"]) for letter in letters}


class Heartbeat(Job):
    task = "midnight.tasks.heartbeat"

    def done(self) -> None:
        with redis.Redis(unix_socket_path=str(VALKEY)) as client:
            assert client.get(health.HEARTBEAT) is not None


class WakeOverdue(Job):
    """A game whose pages never came, and one in which a trade was due a minute ago."""

    task = "games.tasks.wake_overdue"

    def __init__(self) -> None:
        self.waiting, self.played = relaxed_game(*people("Alice", "Bob")), relaxed_game(*people("Charlie", "Dora"))
        Game.objects.filter(pk=self.waiting.pk).update(wake_at=clock.database_now())
        play = Written(self.played)
        while play.state.phase != "exchange":
            play.step()
        self.before = play.state.seq
        due = Game.objects.values_list("wake_at", flat=True).get(pk=self.played.pk)
        ago = (due or 0) - clock.database_now() + 60_000
        Game.objects.filter(pk=self.played.pk).update(started_ms=F("started_ms") - ago, wake_at=F("wake_at") - ago)

    def whole(self) -> None:
        for game in Game.objects.all():
            numbers = Event.objects.filter(game=game).order_by("seq").values_list("seq", flat=True)
            assert list(numbers) == list(range(1, game.head + 1))

    def done(self) -> None:
        self.whole()
        assert servers.overdue(clock.database_now()) == []
        assert [line.seq for line in log.since(self.waiting.pk, 0).lines] == [1]
        late = [json.loads(line.body) for line in log.since(self.played.pk, self.before).lines]
        assert [event["type"] for event in late].count("resumed") == 1
        assert [event.get("by") for event in late].count("clock") == 1


class ArchiveFinished(Job):
    task = "games.tasks.archive_finished"

    def __init__(self) -> None:
        self.games = [finished(name) for name in ("fr-2", "es-3")]
        self.logs = self.read()

    def read(self) -> list[list[tuple[int, int]]]:
        return [[(line.seq, line.at) for line in log.since(game.pk, 0).lines] for game in self.games]

    def whole(self) -> None:
        assert self.read() == self.logs

    def done(self) -> None:
        assert not Event.objects.exists()
        assert Record.objects.exclude(packed=None).count() == len(self.games)


class TakeFigures(Job):
    task = "games.tasks.take_figures"

    def whole(self) -> None:
        assert all(sample["servers"] == 0 for sample in gauges.samples())

    def done(self) -> None:
        assert gauges.samples()


class DumpRecords(Job):
    """A game of two months ago, which is a record by now."""

    task = "games.tasks.dump_records"
    calls = ((dumps.os, "utime"), (Path, "chmod"), (Path, "replace"))

    def __init__(self) -> None:
        self.game = finished("fr-2", ago=timedelta(days=62))
        archive.archive_finished()

    def whole(self) -> None:
        for dump in dumps.all_dumps():
            lines = gzip.decompress(dump.path.read_bytes()).splitlines()
            assert [json.loads(line)["id"] for line in lines] == [self.game.code]

    def later(self) -> None:
        ago = (timezone.now() - 2 * dumps.GIVEN_UP).timestamp()
        for path in settings.DUMPS.glob(f"{dumps.UNFINISHED}*"):
            os.utime(path, (ago, ago))

    def done(self) -> None:
        assert len(dumps.all_dumps()) == 1
        assert [path.name for path in settings.DUMPS.iterdir()] == [dumps.all_dumps()[0].name]


class MatchWaiting(Job):
    """Four who fit together two by two, and one whose page has gone."""

    task = "games.tasks.match_waiting"

    def __init__(self) -> None:
        self.people = people("Alice", "Bob", "Charlie", "Dora")
        (gone,) = people("Edith")
        for person in (*self.people, gone):
            quick.enter(person, 2)
        Waiting.objects.filter(user=gone).update(seen=timezone.now() - 3 * quick.GONE)

    def whole(self) -> None:
        known = [*Seat.objects.values_list("user", flat=True), *Waiting.objects.values_list("user", flat=True)]
        assert all(Counter(known)[person.pk] == 1 for person in self.people)

    def done(self) -> None:
        self.whole()
        assert Game.objects.count() == Room.objects.count() == 2
        assert not Waiting.objects.exists()


class WriteToTheAwaited(Job):
    """Three for whom a game waits, one of whom was written to yesterday. What comes twice is known by its number."""

    task = "games.tasks.write_to_the_awaited"
    calls = ((EmailBackend, "send_messages"),)

    def __init__(self) -> None:
        game = relaxed_game(*with_mail("Alice", "Bob", "Charlie"))
        yesterday = timezone.now() - pace.MAIL_EVERY
        Nudge.objects.create(seat=Seat.objects.get(game=game, number=0), sent=yesterday)

    def whole(self) -> None:
        assert len(numbers_of(letters())) <= 3

    def later(self) -> None:
        Nudge.objects.exclude(tried=None).update(tried=F("tried") - pace.TRY_AGAIN)

    def done(self) -> None:
        assert len(numbers_of(letters())) == len({letter["To"] for letter in letters()}) == 3
        assert not Nudge.objects.filter(sent=None).exists()
        assert not Nudge.objects.exclude(tried=None).exists()


class CloseStaleRooms(Job):
    """A room that nobody came to for hours, and one whose owner has gone while somebody else waits there."""

    task = "games.tasks.close_stale_rooms"

    def __init__(self) -> None:
        owner, self.there, alone = people("Alice", "Bob", "Charlie")
        self.left, self.stale = rooms.open_room(owner), rooms.open_room(alone)
        rooms.sit(self.left, self.there)
        ago = timezone.now() - timedelta(hours=3)
        Room.objects.filter(pk=self.stale.pk).update(touched=ago)
        RoomSeat.objects.exclude(user=self.there).update(seen=ago)

    def whole(self) -> None:
        for room in Room.objects.all():
            assert (room.closed is None) == (room.why_closed == "") == room.seats.exists()
            assert room.closed or room.seats.filter(user=room.owner).exists()

    def done(self) -> None:
        self.whole()
        assert Room.objects.get(pk=self.stale.pk).why_closed == "stale"
        assert Room.objects.get(pk=self.left.pk).owner == self.there


class RateFinished(Job):
    task = "games.tasks.rate_finished"

    def __init__(self) -> None:
        alice, bob, charlie = people("Alice", "Bob", "Charlie")
        self.games = [finish(players) for players in ([alice, bob], [bob, charlie, alice], [charlie, alice])]

    def whole(self) -> None:
        assert ladder.recount("live").differences == []

    def done(self) -> None:
        self.whole()
        assert ladder.unrated("live") == 0
        assert RatingEvent.objects.count() == 7


class RateGame(RateFinished):
    task = "games.tasks.rate_game"

    def __init__(self) -> None:
        super().__init__()
        self.words = (self.games[-1].pk,)


class ReplayLadders(RateFinished):
    """Three rated games, of which the first was taken out of the ratings since."""

    task = "games.tasks.replay_ladders"

    def __init__(self) -> None:
        super().__init__()
        ladder.rate_finished()
        assert ladder.void_game(self.games[0].pk, None)

    def whole(self) -> None:
        states = list(Generation.objects.values_list("state", flat=True))
        assert states in ([Generation.State.BUILDING], [Generation.State.CURRENT])

    def done(self) -> None:
        assert Generation.objects.get().state == Generation.State.CURRENT
        assert RatingEvent.objects.filter(generation=1).count() == 5
        assert ladder.recount("live").differences == []


class RecountLadders(RateFinished):
    task = "games.tasks.recount_ladders"

    def __init__(self) -> None:
        super().__init__()
        ladder.rate_finished()


class SetMilestones(Job):
    """Five people on the boards of the live ladder."""

    task = "games.tasks.set_milestones"

    def __init__(self) -> None:
        now = timezone.now()
        on_boards = {"pace": "live", "generation": 0, "games": 30, "last_played": now, "season": season_of(now)}
        five = people("Alice", "Bob", "Charlie", "Dora", "Edith")
        Rating.objects.bulk_create(Rating(user=person, **on_boards) for person in five)

    def done(self) -> None:
        noted = set(Milestone.objects.values_list("pace", "board", "place"))
        assert noted == {("live", board, place) for board in ("all", "season") for place in (2, 4)}


class CountFinished(Job):
    task = "games.tasks.count_finished"

    def __init__(self) -> None:
        alice, bob, charlie = people("Alice", "Bob", "Charlie")
        for players in ([alice, bob], [bob, charlie, alice]):
            finish(players)

    def whole(self) -> None:
        counted = Seat.objects.filter(game__counted=True).count()
        assert sum(Career.objects.values_list("games", flat=True)) == counted

    def done(self) -> None:
        assert careers.recount() == 0
        assert sorted(Career.objects.values_list("games", flat=True)) == [1, 2, 2]


class RecountCareers(CountFinished):
    """Two careers that are not what the games say."""

    task = "games.tasks.recount_careers"

    def __init__(self) -> None:
        super().__init__()
        careers.count_finished()
        Career.objects.filter(games=2).update(games=7)

    def whole(self) -> None:
        assert set(Career.objects.values_list("games", flat=True)) <= {1, 2, 7}


class ForgetTalk(Job):
    task = "games.tasks.forget_talk"

    def __init__(self) -> None:
        (alice,) = people("Alice")
        place = chat.place_of(chat.channel_of_room(rooms.open_room(alice)), alice.pk)
        assert place is not None
        for words in ("long ago", "and longer ago"):
            chat.say(alice, place, words=words)
        Message.objects.update(at=timezone.now() - 2 * chat.KEPT)
        chat.say(alice, place, words="just now")

    def whole(self) -> None:
        assert Message.objects.filter(words="just now").exists()

    def done(self) -> None:
        assert Message.objects.count() == 1


class LookOver(Job):
    """Three who have just played, in a game that is a record by now."""

    task = "games.tasks.look_over"

    def __init__(self) -> None:
        self.game = finished("fr-3-ranked", people("Alice", "Bob", "Charlie"))
        archive.archive(self.game.pk)

    def done(self) -> None:
        assert set(Glance.objects.values_list("person__name", "last")) == {
            (name, self.game.ended) for name in ("Alice", "Bob", "Charlie")
        }


class WeighCases(Job):
    """Two who were reported in one game, which is over."""

    task = "games.tasks.weigh_cases"

    def __init__(self) -> None:
        alice, bob, charlie = people("Alice", "Bob", "Charlie")
        game = open_game([NewSeat("violet", bob.pk), NewSeat("amber", charlie.pk)])
        for about in (bob, charlie):
            reports.file_report(alice, about, Reason.SPAM, moment=Moment(game))
        Game.objects.update(ended=timezone.now())

    def done(self) -> None:
        assert list(Case.objects.values_list("urgency", "live")) == [(WEIGHT["spam"], False)] * 2


class SweepAccounts(Job):
    """Two accounts closed long ago, one of them with a room; a guest who stays away; and what nobody looks for."""

    task = "accounts.tasks.sweep"

    def __init__(self) -> None:
        self.people = with_mail("Alice", "Bob")
        (self.friend,) = people("Charlie")
        long_ago = timezone.now() - 3 * closing.GRACE
        tokens.make(self.people[0], "Program")
        self.room = rooms.open_room(self.people[0])
        rooms.sit(self.room, self.friend)
        for person in self.people:
            closing.close(person)
        User.objects.exclude(closed_at=None).update(closed_at=long_ago)
        self.people.append(User.objects.create_guest(seen_on=long_ago.date()))
        EndedSession.objects.update(at=long_ago)
        Session.objects.create(session_key="old", session_data="", expire_date=long_ago)

    def whole(self) -> None:
        for person in User.objects.filter(pk__in=[one.pk for one in self.people]):
            has_mail = EmailAddress.objects.filter(user=person).exists()
            sits = RoomSeat.objects.filter(user=person).exists()
            assert not (person.deleted_at and (has_mail or sits))
            assert bool(person.deleted_at) == person.name.startswith("Former ")

    def done(self) -> None:
        self.whole()
        assert set(User.objects.filter(deleted_at=None)) == {self.friend}
        assert Room.objects.get().owner == self.friend
        assert not ApiToken.objects.exists()
        assert not Session.objects.exists()
        assert not EndedSession.objects.filter(at__lt=timezone.now() - timedelta(days=2)).exists()


class Deliver(Job):
    task = "accounts.letters.deliver"
    words = ("alice@a.example", "Midnight", "Good evening.", "<1@midnight.example>")
    calls = ((EmailBackend, "send_messages"),)

    def done(self) -> None:
        assert numbers_of(letters()) == {"<1@midnight.example>"}


class SendReset(Job):
    task = "accounts.resets.send"
    words = ("alice@a.example", "en")

    def __init__(self) -> None:
        with_mail("alice")

    def done(self) -> None:
        assert letters_queued() > 0


def kinds_of(job: type[Job]) -> list[type[Job]]:
    return [one for kind in job.__subclasses__() for one in (kind, *kinds_of(kind))]


JOBS = {job.task: job for job in kinds_of(Job)}


@pytest.fixture(autouse=True)
def a_small_site(settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "MILESTONE", 2)
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH, settings.DUMPS = str(tmp_path / "mail"), tmp_path / "dumps"


@pytest.fixture(params=JOBS)
def job(request: pytest.FixtureRequest) -> Iterator[Job]:
    current_app.loader.import_default_modules()
    yield JOBS[request.param]()
    power.hang_up()


def everything() -> dict[str, list[Any]]:
    """All rows of all tables but the signs of life of web processes, which other tests have started, and the moments of
    the last recounts; a row that is written again as it was may have another number."""
    models = [model for model in apps.get_models() if model not in (Server, Proof)]
    rows = {model._meta.label: list(model._base_manager.order_by("pk").values()) for model in models}
    return {label: [row | {"id": None} for row in found] for label, found in rows.items()}


def test_every_job_is_here() -> None:
    current_app.loader.import_default_modules()
    assert set(JOBS) == {name for name in current_app.tasks if not name.startswith("celery.")}
    assert {entry["task"] for entry in BEAT.values()} <= set(JOBS)


@pytest.mark.slow
def test_a_job_killed_at_any_step_loses_nothing_and_the_next_run_finishes_it(job: Job) -> None:
    for steps in range(MOST_STEPS):
        ended = power.survives(job.run, steps, job.calls)
        job.whole()
        if ended:
            break
        job.later()
    assert ended
    assert steps > 0
    job.done()


@pytest.mark.slow
def test_a_job_that_runs_beside_itself_does_its_work_once(job: Job) -> None:
    power.at_once(*[job.run] * WORKERS)
    job.done()


def test_a_second_run_of_a_job_changes_nothing(job: Job) -> None:
    job.run()
    job.done()
    before = everything()
    job.run()
    assert everything() == before
    job.done()
