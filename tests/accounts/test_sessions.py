"""Every session is listed, each can be ended, and every process hears of an end."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.auth import get_user
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts import browsers, moderation, sessions, signals
from accounts.models import FOREVER, EndedSession, Trace, User
from accounts.sessions import EndWatch
from accounts.tasks import sweep
from tests.accounts.conftest import PASSWORD, is_signed_in, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
LIST = "/account/sessions/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile Safari/604.1"


def test_the_list_says_where_one_is_signed_in(alice: User) -> None:
    here = signed_in(alice, **{"user-agent": FIREFOX})
    signed_in(alice, **{"user-agent": PHONE})
    page = here.get(LIST).content.decode()
    assert "Firefox on Linux" in page
    assert "Safari on iPhone" in page
    assert page.count("127.0.0.1") == 2
    assert page.count(">here<") == 1


def test_of_ipv6_the_list_has_the_whole_address_from_the_first_moment_and_after_a_new_password(alice: User) -> None:
    there = Client(REMOTE_ADDR="2001:db8:1:2:3:4:5:6")
    there.post("/account/sign-in/", {"login": "Alice", "password": PASSWORD})
    assert [listed.ip for listed in UserSession.objects.all()] == ["2001:db8:1:2:3:4:5:6"]
    there.post("/account/password/", {"oldpassword": PASSWORD, "password1": "pommes de terre"})
    assert [listed.ip for listed in UserSession.objects.all()] == ["2001:db8:1:2:3:4:5:6"]


def test_one_session_is_ended_and_the_others_go_on(alice: User) -> None:
    here, there = signed_in(alice), signed_in(alice)
    watch = EndWatch()
    listed = UserSession.objects.get(session_key=there.session.session_key)
    key = there.session.session_key
    assert here.post(f"{LIST}{listed.pk}/end/")["Location"] == LIST
    assert not is_signed_in(there)
    assert is_signed_in(here)
    (end,) = watch.look()
    assert end.ends(key, 0)
    assert not end.ends(here.session.session_key, 0)


def test_nobody_ends_the_session_of_another(alice: User, bob: User) -> None:
    mine, theirs = signed_in(alice), signed_in(bob)
    listed = UserSession.objects.get(user=bob)
    assert mine.post(f"{LIST}{listed.pk}/end/").status_code == 404
    assert is_signed_in(theirs)
    assert not sessions.end_one(alice, listed.session_key)


def test_ending_the_session_one_sits_in_is_signing_out(alice: User) -> None:
    here = signed_in(alice)
    listed = UserSession.objects.get()
    assert here.post(f"{LIST}{listed.pk}/end/")["Location"] == "/"
    assert not is_signed_in(here)


def test_ending_takes_a_post(alice: User) -> None:
    here = signed_in(alice)
    listed = UserSession.objects.get()
    assert here.get(f"{LIST}{listed.pk}/end/")["Location"] == LIST
    assert here.get(f"{LIST}end/")["Location"] == LIST
    assert here.put(f"{LIST}end/").status_code == 405
    assert is_signed_in(here)


def test_sign_out_everywhere_else_keeps_this_browser_only(alice: User) -> None:
    here, there = signed_in(alice), signed_in(alice)
    watch = EndWatch()
    assert here.post(f"{LIST}end/")["Location"] == LIST
    assert is_signed_in(here)
    assert not is_signed_in(there)
    assert UserSession.objects.get().session_key == here.session.session_key
    alice.refresh_from_db()
    (end,) = watch.look()
    assert (end.session_key, end.epoch, end.reason) == ("", alice.session_epoch, EndedSession.Reason.SIGNED_OUT)
    assert alice.traces.get().what == Trace.What.SIGNED_OUT


def test_sign_out_everywhere_means_here_too(alice: User) -> None:
    here, there = signed_in(alice), signed_in(alice)
    assert here.post(f"{LIST}end/", {"here_too": "yes"})["Location"] == "/account/sign-in/"
    assert not is_signed_in(here)
    assert not is_signed_in(there)


def test_a_session_that_no_list_knows_ends_all_the_same(alice: User) -> None:
    unlisted = Client()
    unlisted.force_login(alice)
    sessions.end_all(alice, EndedSession.Reason.SIGNED_OUT)
    assert not is_signed_in(unlisted)


def test_a_suspension_ends_everything_at_once(alice: User) -> None:
    here, there = signed_in(alice), signed_in(alice)
    watch = EndWatch()
    moderation.suspend(alice, FOREVER, by="Charlie")
    assert not is_signed_in(here)
    assert not is_signed_in(there)
    assert not UserSession.objects.exists()
    assert [end.reason for end in watch.look()] == [EndedSession.Reason.SUSPENDED]
    trace = alice.traces.get()
    assert (trace.what, trace.by) == (Trace.What.SUSPENDED, "Charlie")


def test_a_session_made_in_the_moment_of_a_suspension_does_not_last(alice: User) -> None:
    late = Client()
    User.objects.filter(pk=alice.pk).update(suspended_until=FOREVER)
    late.force_login(alice)
    assert late.get("/account/")["Location"] == "/account/sign-in/"
    assert not is_signed_in(late)


def test_an_end_comes_again_for_a_while_so_that_a_late_socket_is_caught(alice: User) -> None:
    now = 1_000.0
    watch = EndWatch(lambda: now)
    assert watch.look() == []
    for _ in range(3):
        sessions.end_all(alice, EndedSession.Reason.SIGNED_OUT)
        assert len(watch.look()) == 1
        now += sessions.OVERLAP_SECONDS - 1
        assert len(watch.look()) == 1
        now += 2
        assert watch.look() == []


def test_a_process_that_slept_finds_what_ended_meanwhile(alice: User) -> None:
    now = 1_000.0
    watch = EndWatch(lambda: now)
    assert watch.look() == []
    sessions.end_all(alice, EndedSession.Reason.SIGNED_OUT)
    now += 300
    assert len(watch.look()) == 1


@pytest.mark.parametrize("hours", [-1, 1, 24 * 365])
def test_an_end_is_found_whatever_the_time_is_where_it_was_written(alice: User, hours: int) -> None:
    watch = EndWatch()
    assert watch.look() == []
    sessions.end_all(alice, EndedSession.Reason.SUSPENDED)
    EndedSession.objects.update(at=timezone.now() + timedelta(hours=hours))
    assert [end.reason for end in watch.look()] == [EndedSession.Reason.SUSPENDED]
    assert [end.reason for end in EndWatch().look()] == [EndedSession.Reason.SUSPENDED]
    assert [end.reason for end in sessions.ends_of([alice.pk])] == [EndedSession.Reason.SUSPENDED]


def test_an_end_that_appears_after_later_ones_is_found(alice: User, bob: User) -> None:
    now = 1_000.0
    watch = EndWatch(lambda: now)
    sessions.end_all(alice, EndedSession.Reason.SIGNED_OUT)
    late = EndedSession.objects.get().pk
    EndedSession.objects.all().delete()
    sessions.end_all(bob, EndedSession.Reason.SIGNED_OUT)
    assert [end.user_id for end in watch.look()] == [bob.pk]
    now += 10 * sessions.OVERLAP_SECONDS
    assert watch.look() == []
    # Its transaction was slow: its id was given out before.
    EndedSession.objects.create(pk=late, user=alice, epoch=1, reason=EndedSession.Reason.SIGNED_OUT)
    assert [end.user_id for end in watch.look()] == [alice.pk]


def test_a_look_at_the_ends_costs_the_same_however_many_there_were(alice: User) -> None:
    EndedSession.objects.bulk_create(
        EndedSession(user=alice, epoch=0, reason=EndedSession.Reason.SIGNED_OUT) for _ in range(3 * sessions.IDS_BACK)
    )
    assert len(EndWatch().look()) == sessions.IDS_BACK
    assert len(sessions.ends_of([alice.pk])) == sessions.IDS_BACK


def test_whoever_listens_hears_of_an_end_after_the_commit_and_one_who_fails_stops_nobody(
    alice: User,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[EndedSession] = []

    def fail(**kwargs: object) -> None:
        raise RuntimeError("deaf")

    def hear(ended: EndedSession, **kwargs: object) -> None:
        heard.append(ended)

    signals.signed_out.connect(fail)
    signals.signed_out.connect(hear)
    try:
        with django_capture_on_commit_callbacks() as waiting:
            sessions.end_all(alice, EndedSession.Reason.SIGNED_OUT)
        assert not heard
        for callback in waiting:
            callback()
    finally:
        signals.signed_out.disconnect(fail)
        signals.signed_out.disconnect(hear)
    assert [ended.user for ended in heard] == [alice]
    assert "deaf" in caplog.text


def test_a_session_in_use_is_noted_seldom_and_lives_on(alice: User, django_assert_num_queries: object) -> None:
    client = signed_in(alice)
    client.get("/account/data/")
    old = timezone.now() - timedelta(days=30)
    UserSession.objects.update(last_seen_at=old)
    User.objects.update(seen_on=old.date())
    client.get("/account/data/")
    assert UserSession.objects.get().last_seen_at == old
    session = client.session
    session["noted_at"] -= 601
    session.save()
    Session.objects.update(expire_date=timezone.now() + timedelta(days=1))
    client.get("/account/data/", REMOTE_ADDR="10.0.0.7")
    noted = UserSession.objects.get()
    assert noted.last_seen_at > old
    assert noted.ip == "10.0.0.7"
    assert User.objects.get().seen_on == timezone.localdate()
    assert Session.objects.get().expire_date > timezone.now() + timedelta(days=59)


def test_the_sweep_forgets_what_nobody_looks_for_any_more(alice: User) -> None:
    client = signed_in(alice)
    sessions.end_all(alice, EndedSession.Reason.SIGNED_OUT)
    EndedSession.objects.update(at=timezone.now() - timedelta(days=2))
    client = signed_in(alice)
    dead = signed_in(alice)
    Session.objects.filter(session_key=dead.session.session_key).update(expire_date=timezone.now())
    UserSession.objects.update(last_seen_at=timezone.now() - timedelta(days=2))
    sweep()
    sweep()
    assert not EndedSession.objects.exists()
    assert [listed.session_key for listed in UserSession.objects.all()] == [client.session.session_key]
    assert is_signed_in(client)


def test_a_session_dies_with_its_epoch_even_where_its_row_lived_on(alice: User) -> None:
    client = signed_in(alice)
    User.objects.update(session_epoch=7)
    request = HttpRequest()
    request.session = client.session  # type: ignore[assignment]
    assert get_user(request).is_anonymous


@pytest.mark.parametrize(
    ("agent", "seen"),
    [(FIREFOX, ("Firefox", "Linux")), (PHONE, ("Safari", "iPhone")), ("curl/8", ("", "")), ("", ("", ""))],
)
def test_browsers_are_called_what_people_call_them(agent: str, seen: tuple[str, str]) -> None:
    assert browsers.describe(agent) == seen
