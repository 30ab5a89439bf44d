"""Guests come in with one click, and keep what they have when they take a name."""

import threading
from datetime import date, timedelta

import pytest
from allauth.account.models import EmailAddress
from django.contrib.sessions.models import Session
from django.core.mail import EmailMessage
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts import closing, guests, sessions, signals
from accounts.models import EndedSession, TakenName, Trace, User
from accounts.sessions import EndWatch
from accounts.tasks import sweep
from tests.accounts.conftest import GROWING_ADDRESS, LONG_ADDRESS, PASSWORD, committing, is_signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
CLAIM = "/account/claim/"
FORM = {"name": "Irma Vep", "password": PASSWORD, "mail": ""}


@pytest.mark.parametrize(
    "where", ["nowhere", "-1", "9999-12-31", "a\0b", "home", "//evil.example/", "https://evil.example/"]
)
def test_whoever_is_to_be_sent_on_to_no_address_of_ours_comes_in_and_starts_at_home(where: str) -> None:
    assert Client().post("/account/guest/", {"next": where})["Location"] == "/"
    assert Client().post("/account/guest/", {"next": "/play/?pace=live"})["Location"] == "/play/?pace=live"
    named = Client().post("/account/sign-up/", {**FORM, "next": where})
    assert named["Location"] == "/"


@pytest.fixture
def guest_client() -> Client:
    client = Client()
    assert client.post("/account/guest/")["Location"] == "/"
    return client


def test_one_click_and_one_is_in_under_a_guests_name(guest_client: Client) -> None:
    guest = User.objects.get()
    assert guest.is_guest
    assert guest.name.startswith("Guest ")
    assert guest.name in guest_client.get("/account/").content.decode()


def test_the_click_is_a_post(client: Client) -> None:
    assert client.get("/account/guest/")["Location"] == "/account/sign-up/"
    assert Client(enforce_csrf_checks=True).post("/account/guest/").status_code == 403
    assert not User.objects.exists()


def test_a_second_click_makes_no_second_guest(guest_client: Client) -> None:
    guest_client.post("/account/guest/")
    assert User.objects.count() == 1


def test_an_address_makes_ten_guests_in_ten_minutes_at_most() -> None:
    statuses = [Client().post("/account/guest/").status_code for _ in range(11)]
    assert statuses == [302] * 10 + [429]
    assert User.objects.count() == 10
    assert Client(REMOTE_ADDR="10.0.0.2").post("/account/guest/").status_code == 302


def test_a_guest_becomes_a_named_account_with_row_session_and_sockets(guest_client: Client) -> None:
    guest = User.objects.get()
    key, epoch = guest_client.session.session_key, guest.session_epoch
    watch = EndWatch()
    assert guest_client.post(CLAIM, FORM)["Location"] == "/account/"
    named = User.objects.get()
    assert (named.pk, named.name, named.is_guest) == (guest.pk, "Irma Vep", False)
    # Nothing that a socket hangs on has ended: its key, its person, their epoch.
    assert named.session_epoch == epoch
    assert watch.look() == []
    assert is_signed_in(guest_client)
    # Whoever knew the guest's key has nothing of the account.
    assert guest_client.session.session_key != key
    assert not Session.objects.filter(session_key=key).exists()
    assert [listed.session_key for listed in sessions.listed(named)] == [guest_client.session.session_key]
    assert Client().post("/account/sign-in/", {"login": "irma vep", "password": PASSWORD}).status_code == 302


def test_a_claim_is_told_and_remembered(guest_client: Client, django_capture_on_commit_callbacks: object) -> None:
    heard: list[tuple[str, str]] = []

    def hear(user: User, old: str, **kwargs: object) -> None:
        heard.append((user.name, old))

    guest = User.objects.get()
    old = guest.name
    signals.named.connect(hear)
    try:
        with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
            guests.claim(guest, "Irma Vep", PASSWORD)
    finally:
        signals.named.disconnect(hear)
    assert heard == [("Irma Vep", old)]
    assert guest.traces.get().what == Trace.What.NAMED
    assert not TakenName.objects.is_free("Irma Vep")


@pytest.mark.parametrize("mail", [LONG_ADDRESS, GROWING_ADDRESS])
def test_a_claim_with_an_address_that_is_too_long_changes_nothing(guest_client: Client, mail: str) -> None:
    assert "at most 254" in guest_client.post(CLAIM, {**FORM, "mail": mail}).content.decode()
    assert User.objects.get().is_guest


def test_a_claim_with_a_taken_name_changes_nothing(guest_client: Client, alice: User) -> None:
    answer = guest_client.post(CLAIM, {**FORM, "name": "A1ice"})
    assert "taken" in answer.content.decode()
    guest = User.objects.exclude(pk=alice.pk).get()
    assert guest.is_guest
    assert not guest.has_usable_password()
    assert is_signed_in(guest_client)


@committing
def test_a_mail_address_given_with_the_claim_gets_its_letter(
    guest_client: Client, mailoutbox: list[EmailMessage]
) -> None:
    guest_client.post(CLAIM, {**FORM, "mail": "irma@example.org"})
    assert [letter.to for letter in mailoutbox] == [["irma@example.org"]]
    assert "/account/mail/confirm/" in mailoutbox[0].body


def test_of_two_claims_at_once_the_later_one_changes_nothing(guest_client: Client) -> None:
    """The second has read the guest before the first one's name was written."""
    early = User.objects.get()
    guests.claim(User.objects.get(), "Irma Vep", PASSWORD, mail="irma@example.org")
    with pytest.raises(guests.NoGuest):
        guests.claim(early, "Musidora", PASSWORD, mail="irma@example.org")
    named = User.objects.get()
    assert (named.name, TakenName.objects.is_free("Musidora")) == ("Irma Vep", True)
    assert EmailAddress.objects.count() == 1


def test_a_guest_whom_the_sweep_has_just_deleted_takes_no_name() -> None:
    guest = User.objects.create_guest()
    closing.delete(guest)
    with pytest.raises(guests.NoGuest):
        guests.claim(guest, "Irma Vep", PASSWORD)
    assert TakenName.objects.is_free("Irma Vep")


def test_a_page_whose_claim_came_too_late_leads_to_the_account(
    guest_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(*args: object, **kwargs: object) -> None:
        raise guests.NoGuest

    monkeypatch.setattr(guests, "claim", too_late)
    answer = guest_client.post("/account/claim/", {"name": "Irma Vep", "password": PASSWORD})
    assert answer["Location"] == "/account/"


def test_a_guest_who_cannot_come_back_does_not_close_the_account_but_deletes_or_keeps_it(guest_client: Client) -> None:
    assert guest_client.post("/account/data/close/")["Location"] == "/account/claim/"
    assert User.objects.get().closed_at is None


def test_a_named_account_cannot_be_claimed(client: Client, alice: User) -> None:
    client.force_login(alice)
    assert client.post(CLAIM, FORM)["Location"] == "/account/"
    with pytest.raises(guests.NoGuest):
        guests.claim(alice, "Irma Vep", PASSWORD)


@pytest.mark.parametrize(
    "page", ["name/", "mail/", "password/", "security/", "security/app/", "security/passkeys/add/"]
)
def test_what_needs_a_named_account_shows_a_guest_how_to_get_one(guest_client: Client, page: str) -> None:
    assert guest_client.get(f"/account/{page}")["Location"] == CLAIM


def test_a_guest_who_signs_up_keeps_what_they_have(guest_client: Client) -> None:
    assert guest_client.get("/account/sign-up/")["Location"] == CLAIM


def test_a_guest_who_signs_in_elsewhere_is_asked_first(guest_client: Client, alice: User) -> None:
    page = guest_client.get("/account/sign-in/").content.decode()
    assert "You are a guest" in page
    guest_client.post("/account/sign-in/", {"login": "Alice", "password": PASSWORD})
    assert "Guest" in guest_client.get("/account/").content.decode()
    guest_client.post("/account/sign-out/", {"next": "/account/sign-in/"})
    guest_client.post("/account/sign-in/", {"login": "Alice", "password": PASSWORD})
    assert "Alice" in guest_client.get("/account/").content.decode()


@pytest.mark.parametrize("from_elsewhere", [False, True])
def test_sockets_opened_before_a_claim_end_with_its_session(guest_client: Client, from_elsewhere: bool) -> None:
    key = guest_client.session.session_key
    guest_client.post(CLAIM, FORM)
    watch, new = EndWatch(), guest_client.session.session_key
    if from_elsewhere:
        assert sessions.end_one(User.objects.get(), new or "")
    else:
        guest_client.post("/account/sign-out/")
    assert {end.session_key for end in watch.look()} == {key, new}


def test_leaving_a_guest_ends_its_sockets(guest_client: Client) -> None:
    watch, key = EndWatch(), guest_client.session.session_key
    guest_client.post("/account/sign-out/")
    (end,) = watch.look()
    assert (end.session_key, end.reason) == (key, EndedSession.Reason.SIGNED_OUT)


# Guests who stay away -------------------------------------------------------------------------------------------------


def days_ago(days: int) -> date:
    return timezone.localdate() - timedelta(days=days)


def test_a_guest_not_seen_for_thirty_days_is_deleted_by_the_sweep_and_nobody_else(alice: User) -> None:
    gone = User.objects.create_guest(seen_on=days_ago(31), joined_at=timezone.now() - timedelta(days=60))
    recent = User.objects.create_guest(seen_on=days_ago(30))
    named = User.objects.create_guest()
    guests.claim(named, "Irma Vep", PASSWORD)
    User.objects.filter(pk__in=[alice.pk, named.pk]).update(seen_on=days_ago(400))
    old = gone.name
    sweep()
    gone.refresh_from_db()
    assert gone.deleted_at
    assert gone.name != old
    assert gone.name.startswith("Former ")
    kept = User.objects.filter(deleted_at=None)
    assert set(kept.values_list("name", flat=True)) == {"Alice", "Irma Vep", recent.name}


def test_a_second_run_over_abandoned_guests_does_nothing_even_late() -> None:
    gone = User.objects.create_guest(seen_on=days_ago(31))
    now = timezone.now()
    assert guests.delete_abandoned(now) == 1
    pseudonym, deleted_at = User.objects.values_list("name", "deleted_at").get(pk=gone.pk)
    assert guests.delete_abandoned(now) == 0
    assert guests.delete_abandoned(now + timedelta(days=90)) == 0
    assert User.objects.values_list("name", "deleted_at").get(pk=gone.pk) == (pseudonym, deleted_at)


def test_one_run_deletes_only_so_many_guests_and_the_next_one_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing, "MOST_AT_ONCE", 2)
    for days in (31, 33, 32):
        User.objects.create_guest(seen_on=days_ago(days))
    assert guests.delete_abandoned(timezone.now()) == 2
    assert User.objects.get(deleted_at=None).seen_on == days_ago(31)
    assert guests.delete_abandoned(timezone.now()) == 1


def test_a_guest_who_comes_back_or_is_deleted_while_the_sweep_runs_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What happens to the second and the third while the first is being deleted."""
    first, back, other = (User.objects.create_guest(seen_on=days_ago(40 - one)) for one in range(3))
    delete = closing.delete

    def delete_slowly(user: User) -> None:
        delete(user)
        User.objects.filter(pk=back.pk).update(seen_on=days_ago(0))
        delete(other)

    monkeypatch.setattr(closing, "delete", delete_slowly)
    assert guests.delete_abandoned(timezone.now()) == 1
    assert User.objects.get(pk=first.pk).deleted_at
    assert User.objects.get(deleted_at=None).pk == back.pk


@committing
def test_two_sweeps_at_once_delete_each_abandoned_guest_once() -> None:
    for _ in range(6):
        User.objects.create_guest(seen_on=days_ago(31))
    start, told, faults = threading.Barrier(2), list[int](), list[BaseException]()
    heard: list[int] = []

    def hear(user: User, **kwargs: object) -> None:
        heard.append(user.pk)

    def work() -> None:
        try:
            start.wait(10)
            told.append(guests.delete_abandoned(timezone.now()))
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    signals.deleted.connect(hear)
    try:
        workers = [threading.Thread(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(30)
    finally:
        signals.deleted.disconnect(hear)
    assert not faults
    assert sum(told) == 6
    assert sorted(heard) == sorted(User.objects.exclude(deleted_at=None).values_list("pk", flat=True))
