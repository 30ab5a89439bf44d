"""The relaxed pace: four people over simulated days, whose turn it is, and one letter a game and day."""

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from smtplib import SMTPRecipientsRefused

import pytest
from allauth.account.models import EmailAddress
from django.conf import LazySettings
from django.core import mail
from django.core.cache import cache
from django.core.mail import EmailMessage
from django.db import connection
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from accounts.models import User
from games import intervention, pace, rooms, steps
from games.models import Game, Meeting, Nudge, Room, Seat
from games.rooms import RoomRefusal
from games.rules.events import Event
from midnight.celery import app
from tests.games.in_rooms import begin
from tests.games.written import Written

HOUR = 60 * 60 * 1_000


@pytest.fixture(autouse=True)
def nobody_has_a_page_open() -> None:
    cache.clear()


@pytest.fixture
def jobs_at_once() -> Iterator[None]:
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


def at(moment: datetime) -> Callable[[], datetime]:
    """A clock that stands still."""
    return lambda: moment


def people(*names: str) -> list[User]:
    made = [User.objects.create_user(name) for name in names]
    for person in made:
        EmailAddress.objects.create(user=person, email=f"{person.name.lower()}@a.example", verified=True, primary=True)
    return made


def relaxed_game(everybody: Sequence[User]) -> tuple[Room, Game]:
    return begin(*everybody, pace="relaxed")


class Days(Written):
    """People who come by every few hours."""

    chosen = 0

    def happen(self, happened: Sequence[Event], at: int) -> None:
        super().happen(happened, at)
        if self.state.phase in ("exchange", "gathering"):
            for seat, (due, choice) in list(self.pending.items()):
                if due < at + HOUR:
                    self.chosen += 1
                    self.pending[seat] = (at + HOUR * (2 + self.chosen % 17), choice)

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp((self.started_ms + self.state.at) / 1_000, UTC)


@pytest.mark.django_db
def test_four_people_play_a_relaxed_game_over_days_and_nobody_is_written_to_twice_a_day() -> None:
    everybody = people("Alice", "Bob", "Charlie", "Dora")
    room, game = relaxed_game(everybody)
    play = Days(game)
    seat_of = {sitter.user_id: number for number, sitter in enumerate(play.opened.sitters)}
    dora = Seat.objects.get(game=game, user=everybody[3])
    Nudge.objects.create(seat=dora, muted=True)
    written: dict[str, list[datetime]] = defaultdict(list)
    while play.state.phase != "over":
        play.step()
        waited_for = set(steps.awaited(play.state))
        for person in everybody:
            assert bool(pace.owed(person.pk)) == (seat_of[person.pk] in waited_for)
        mail.outbox.clear()
        pace.send_due(at(play.now))
        for letter in mail.outbox:
            (address,) = letter.to
            person = next(one for one in everybody if one.name.lower() == address.split("@")[0])
            assert seat_of[person.pk] in waited_for
            written[person.name].append(play.now)
    game.refresh_from_db()
    took = timedelta(milliseconds=play.state.at)
    assert took > timedelta(days=3)
    assert (game.ended is not None, game.reason in {"bag_empty", "deck_short", "bag_opened_empty"}) == (True, True)
    assert sorted(game.seats.values_list("place", flat=True)) == [1, 2, 3, 4]
    assert set(game.seats.values_list("conduct", flat=True)) == {"finished"}
    assert set(written) == {"Alice", "Bob", "Charlie"}
    for times in written.values():
        assert all(later - earlier >= pace.MAIL_EVERY for earlier, later in pairwise(times))
        assert len(times) > 1
    assert rooms.last_game(room) == game
    rooms.agree(room, everybody[0])


@pytest.mark.django_db
def test_a_letter_leads_to_the_game_and_a_button_behind_its_link_ends_all_letters_about_it(client: Client) -> None:
    alice, bob = people("Alice", "Bob")
    room, _game = relaxed_game([alice, bob])
    now = timezone.now()
    assert pace.send_due(at(now)) == 2
    assert pace.send_due(at(now)) == 0
    letter = next(str(letter.body) for letter in mail.outbox if letter.to == ["alice@a.example"])
    assert f"/rooms/{room.code}/" in letter
    found = re.search(r"/letters/mute/\S+", letter)
    assert found is not None
    # A mail program that looks at every link ends nothing.
    assert client.head(found[0]).status_code == 200
    assert f'href="/rooms/{room.code}/"' in client.get(found[0]).content.decode()
    assert "one a day at most" in client.get(found[0]).content.decode()
    assert not Nudge.objects.filter(muted=True).exists()
    assert "Send me letters all the same" in client.post(found[0]).content.decode()
    assert "Send me letters all the same" in client.get(found[0]).content.decode()
    assert pace.send_due(at(now + timedelta(days=2))) == 1
    assert "by mail again" in client.post(found[0], {"again": "1"}).content.decode()
    assert pace.send_due(at(now + timedelta(days=4))) == 2
    for address in ("/letters/mute/nonsense/", found[0][:-3] + "xx/"):
        assert client.get(address).status_code == client.post(address).status_code == 404


@pytest.mark.django_db
def test_a_letter_names_the_opponents_and_until_when() -> None:
    alice, bob = people("Alice", "Bob")
    _room, game = relaxed_game([alice, bob])
    pace.send_due()
    letter = next(letter for letter in mail.outbox if letter.to == ["alice@a.example"])
    assert "Bob" in letter.subject
    assert "Your game against Bob waits for you" in letter.body
    assert game.wake_at is not None
    limit = datetime.fromtimestamp((game.wake_at + int(game.limits["ready_ms"])) / 1000, UTC)
    assert f"You have until {date_format(limit, 'DATETIME_FORMAT')} (UTC)." in letter.body
    assert "/account/" in letter.body


@pytest.mark.django_db
def test_who_has_turned_all_such_mail_off_gets_none() -> None:
    alice, bob = people("Alice", "Bob")
    User.objects.filter(pk=alice.pk).update(turn_mail=False)
    _room, game = relaxed_game([alice, bob])
    assert pace.send_due() == 1
    pace.propose(game, bob, timezone.now() + timedelta(hours=1))
    assert {letter.to[0] for letter in mail.outbox} == {"bob@a.example"}


@pytest.mark.django_db
@pytest.mark.parametrize(("site", "one_click"), [("https://midnight.example", True), ("http://localhost:8000", False)])
def test_a_mail_program_ends_the_letters_with_one_click_and_without_a_page(
    site: str, one_click: bool, settings: LazySettings
) -> None:
    settings.SITE_URL = site
    relaxed_game(people("Alice", "Bob"))
    pace.send_due()
    headers = [letter.extra_headers for letter in mail.outbox]
    address = headers[0]["List-Unsubscribe"].strip("<>")
    assert address.startswith(f"{site}/letters/mute/")
    assert headers[0].get("List-Unsubscribe-Post") == ("List-Unsubscribe=One-Click" if one_click else None)
    assert len({one["Message-ID"] for one in headers}) == 2
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(address.removeprefix(site), {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert Nudge.objects.filter(muted=True).count() == 1


@pytest.mark.django_db
def test_nobody_is_written_to_while_a_page_of_theirs_is_open_or_without_an_address() -> None:
    alice, bob = people("Alice", "Bob")
    EmailAddress.objects.filter(user=bob).delete()
    relaxed_game([alice, bob])
    pace.note_page(alice.pk)
    pace.send_due()
    assert not Nudge.objects.filter(seat__user=alice).exists()
    assert not mail.outbox


@pytest.mark.django_db
def test_the_header_says_whose_turn_it_is_at_the_cost_of_one_question(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    alice, bob = people("Alice", "Bob")
    places, games = zip(*(relaxed_game([alice, bob]) for _ in range(5)), strict=True)
    Game.objects.filter(pk=games[0].pk).update(wake_at=5)
    Game.objects.filter(pk=games[1].pk).update(wake_at=3)
    Game.objects.filter(pk=games[2].pk).update(awaits=0)
    with django_assert_num_queries(1):
        owed = pace.owed(alice.pk)
        assert [rooms.address_of_seat(seat.game) for seat in owed[:2]] == [
            f"/rooms/{room.code}/" for room in (places[1], places[0])
        ]
    assert [seat.game for seat in owed[:2]] == [games[1], games[0]]
    assert len(owed) == 4
    client.force_login(alice)
    page = client.get("/privacy/").content.decode()
    assert f'href="/rooms/{places[1].code}/"' in page
    assert "Your turn" in page
    assert "Your turn" not in Client().get("/privacy/").content.decode()
    listed = client.get("/play/").content.decode()
    listed = listed[listed.index("Your games") :]
    assert listed.index(places[1].code) < listed.index(places[0].code) < listed.index(places[2].code)


@pytest.mark.django_db
def test_a_time_is_proposed_by_one_and_accepted_by_all(client: Client) -> None:
    alice, bob, charlie = people("Alice", "Bob", "Charlie")
    room, game = relaxed_game([alice, bob])
    client.force_login(alice)
    said = {"at": f"{timezone.now() + timedelta(days=2):%Y-%m-%dT%H:%M}", "offset": "-60"}
    assert client.post(f"/rooms/{room.code}/meet/", said).status_code == 302
    meeting = Meeting.objects.get()
    assert timedelta(hours=46) < meeting.at - timezone.now() < timedelta(hours=48)
    assert pace.undecided(meeting) == ["Bob"]
    with pytest.raises(RoomRefusal):
        pace.accept(game, charlie, meeting.at)
    for _ in range(2):
        pace.accept(game, bob, meeting.at)
    assert pace.undecided(meeting) == []
    assert client.get(f"/rooms/{room.code}/seats/").content.decode().count("the game waits") == 2
    assert "all accept" in client.get(f"/rooms/{room.code}/seats/").content.decode()
    pace.propose(game, bob, timezone.now() + timedelta(hours=3))
    assert pace.undecided(Meeting.objects.get()) == ["Alice"]
    assert pace.meeting_of(game, timezone.now() + timedelta(hours=5)) is None


@pytest.mark.django_db
def test_no_time_after_the_games_own_limit_is_proposed() -> None:
    alice, bob = people("Alice", "Bob")
    _room, game = relaxed_game([alice, bob])
    tomorrow = timezone.now() + timedelta(days=1)
    Game.objects.filter(pk=game.pk).update(wake_at=int(tomorrow.timestamp() * 1000), head=1, started_ms=1)
    game.refresh_from_db()
    with pytest.raises(RoomRefusal, match="goes on by itself before that"):
        pace.propose(game, alice, tomorrow + timedelta(hours=1))
    assert not Meeting.objects.exists()
    assert pace.propose(game, alice, tomorrow - timedelta(hours=1)).by == alice


def gathered(*people: User) -> Written:
    """A relaxed game that waits for these people to be there for its first search."""
    _room, game = relaxed_game(people)
    play = Written(game)
    while play.state.phase != "gathering":
        play.step()
    play.game.refresh_from_db()
    return play


@pytest.mark.django_db
def test_an_agreed_time_is_nobodys_turn_until_it_comes(client: Client) -> None:
    alice, bob = people("Alice", "Bob")
    play = gathered(alice, bob)
    assert [bool(pace.owed(person.pk)) for person in (alice, bob)] == [True, True]
    meeting = pace.propose(play.game, alice, timezone.now() + timedelta(hours=5))
    assert pace.owed(bob.pk)
    pace.accept(play.game, bob, meeting.at)
    assert [pace.owed(person.pk) for person in (alice, bob)] == [[], []]
    mail.outbox.clear()
    assert pace.send_due(at(timezone.now())) == 0
    client.force_login(bob)
    assert "Your turn" not in client.get("/play/").content.decode()
    Meeting.objects.update(at=timezone.now())
    assert pace.owed(bob.pk)
    assert pace.send_due(at(timezone.now())) == 2


@pytest.mark.django_db
def test_an_agreed_time_ends_with_the_search_it_was_for() -> None:
    alice, bob = people("Alice", "Bob")
    play = gathered(alice, bob)
    meeting = pace.propose(play.game, alice, timezone.now() + timedelta(hours=5))
    pace.accept(play.game, bob, meeting.at)
    while play.state.phase != "exchange":
        play.step()
    assert pace.meeting_of(play.game) is None
    assert pace.owed(alice.pk) or pace.owed(bob.pk)


@pytest.mark.django_db
def test_a_proposal_is_in_the_header_and_mailed_once(
    client: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks, jobs_at_once: None
) -> None:
    alice, bob = people("Alice", "Bob")
    _room, game = relaxed_game([alice, bob])
    with django_capture_on_commit_callbacks(execute=True):
        pace.propose(game, alice, timezone.now() + timedelta(hours=5))
        pace.propose(game, alice, timezone.now() + timedelta(hours=6))
    (letter,) = mail.outbox
    assert letter.to == ["bob@a.example"]
    assert "Alice proposes a time" in letter.subject
    client.force_login(bob)
    assert "A time is proposed" in client.get("/ladders/").content.decode()
    pace.accept(game, bob, Meeting.objects.get().at)
    assert "A time is proposed" not in client.get("/ladders/").content.decode()


def time_shown(page: str) -> str:
    """The time that one accepts by pressing the button of this page."""
    found = re.search(r'name="seen" value="([^"]+)"', page)
    assert found is not None
    return found[1]


@pytest.mark.django_db
def test_nobody_accepts_a_time_that_they_have_not_seen(client: Client) -> None:
    alice, bob = people("Alice", "Bob")
    room, game = relaxed_game([alice, bob])
    meet = f"/rooms/{room.code}/meet/"
    first = pace.propose(game, alice, timezone.now() + timedelta(days=1)).at
    client.force_login(bob)
    seen = time_shown(client.get(f"/rooms/{room.code}/seats/").content.decode())
    assert datetime.fromisoformat(seen) == first
    second = pace.propose(game, alice, first + timedelta(hours=5)).at
    for said in ({"seen": seen}, {"seen": "soon"}, {"seen": "0001-01-01T00:00+14:00"}, {"seen": "2030-01-01"}, {}):
        refused = client.post(meet, said)
        assert refused.status_code == 422
        assert "This time is not proposed any more." in refused.content.decode()
        assert datetime.fromisoformat(time_shown(refused.content.decode())) == second
    assert pace.undecided(Meeting.objects.get()) == ["Bob"]
    assert client.post(meet, {"seen": time_shown(refused.content.decode())}).status_code == 302
    assert pace.undecided(Meeting.objects.get()) == []


@pytest.mark.django_db
def test_a_time_that_is_long_over_is_accepted_no_more() -> None:
    alice, bob = people("Alice", "Bob")
    _room, game = relaxed_game([alice, bob])
    meeting = pace.propose(game, alice, timezone.now() + timedelta(days=1))
    over = timezone.now() - timedelta(hours=2)
    Meeting.objects.update(at=over)
    with pytest.raises(RoomRefusal, match="not proposed any more"):
        pace.accept(game, bob, over)
    assert list(meeting.accepted.all()) == [alice]


@pytest.mark.django_db
def test_a_time_waits_for_nobody_who_has_left(client: Client) -> None:
    alice, bob, charlie = people("Alice", "Bob", "Charlie")
    room, game = relaxed_game([alice, bob, charlie])
    meeting = pace.propose(game, bob, timezone.now() + timedelta(days=1))
    pace.accept(game, charlie, meeting.at)
    assert pace.undecided(meeting) == ["Alice"]
    assert intervention.remove(game.pk, alice.pk)
    assert pace.undecided(meeting) == []
    with pytest.raises(RoomRefusal):
        pace.accept(game, alice, meeting.at)
    client.force_login(alice)
    page = client.get(f"/rooms/{room.code}/seats/").content.decode()
    assert "all accept" in page
    assert "Propose" not in page


@pytest.mark.django_db
@pytest.mark.parametrize("offset", ["x", "--5", "-", "840", "-840", "99999", "٣"])
@pytest.mark.parametrize(
    "said", ["", "tomorrow", "2020-01-01T10:00", "2999-01-01T10:00", "0001-01-01T00:00", "9999-12-31T23:59"]
)
def test_a_time_that_cannot_be_is_refused(said: str, offset: str, client: Client) -> None:
    alice, bob = people("Alice", "Bob")
    room, _game = relaxed_game([alice, bob])
    client.force_login(alice)
    assert client.post(f"/rooms/{room.code}/meet/", {"at": said, "offset": offset}).status_code == 422
    assert not Meeting.objects.exists()


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_write_one_letter_to_each() -> None:
    everybody = people("Alice", "Bob", "Charlie", "Dora")
    relaxed_game(everybody)
    start, now = threading.Barrier(2), timezone.now()

    def work() -> None:
        start.wait(10)
        pace.send_due(at(now))
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    written = sorted(letter.to[0] for letter in mail.outbox)
    assert written == [f"{name}@a.example" for name in ("alice", "bob", "charlie", "dora")]


@pytest.mark.django_db
def test_a_slow_mail_server_has_no_letter_twice_however_long_a_run_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    relaxed_game(people("Alice", "Bob", "Charlie", "Dora"))
    now, taken = timezone.now(), list[str]()

    def take(self: EmailMessage) -> int:
        nonlocal now
        taken.extend(self.to)
        now += pace.TRY_AGAIN * 0.6
        if len(taken) == 3:
            # Another worker begins, while the first is at its third letter.
            assert pace.send_due(lambda: now) == 1
        return 1

    monkeypatch.setattr(EmailMessage, "send", take)
    began = now
    assert pace.send_due(lambda: now) == 3
    assert len(taken) == len({*taken}) == 4
    sent = sorted(moment - began for moment in Nudge.objects.values_list("sent", flat=True) if moment)
    assert sent == [pace.TRY_AGAIN * 0.6 * letters for letters in (1, 2, 4, 4)]


@pytest.mark.django_db
def test_letters_that_a_mail_server_does_not_take_go_out_later_as_the_same_letters(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    alice, bob = people("Alice", "Bob")
    relaxed_game([alice, bob])
    now, tried = timezone.now(), list[str]()

    def taken(self: EmailMessage) -> int:
        tried.append(self.to[0])
        if self.to == ["alice@a.example"]:
            raise SMTPRecipientsRefused({})
        mail.outbox.append(self)
        return 1

    with monkeypatch.context() as trouble:
        trouble.setattr(EmailMessage, "send", taken)
        # Whoever's letter holds the others up comes last from then on.
        sent = [pace.send_due(at(now + timedelta(minutes=minute))) for minute in range(12)]
    assert sum(sent) == 1
    assert "takes no letters" in caplog.text
    assert tried.count("bob@a.example") == 1
    assert tried.count("alice@a.example") == 2
    assert pace.send_due(at(now + timedelta(minutes=12) + pace.TRY_AGAIN)) == 1
    assert [letter.to for letter in mail.outbox] == [["bob@a.example"], ["alice@a.example"]]
