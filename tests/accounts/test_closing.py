"""Closing can be undone, deleting cannot: the games stay, the person does not, the name is never given again."""

import json
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts import closing, export, guests, sessions, signals, tokens
from accounts.models import ApiToken, EndedSession, TakenName, Trace, User
from accounts.sessions import EndWatch
from accounts.tasks import sweep
from tests.accounts.conftest import PASSWORD, is_signed_in, signed_in, with_app, with_mail

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
DATA = "/account/data/"


def not_fresh(client: Client) -> None:
    """Let ten minutes pass since this browser showed who it is."""
    session = client.session
    for record in session["account_authentication_methods"]:
        record["at"] -= 600
    session.save()


def everything_stored() -> str:
    """Every row of every table of ours and allauth's, as text."""
    rows = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table.startswith(("accounts_", "account_", "mfa_", "usersessions_", "django_session")):
                cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
                rows += cursor.fetchall()
    return repr(rows)


# What the house knows -------------------------------------------------------------------------------------------------


def test_everything_known_is_in_the_file_and_no_secret(alice: User) -> None:
    client = signed_in(with_mail(alice))
    with_app(alice)
    answer = client.post(f"{DATA}export/")
    assert answer["Content-Disposition"].startswith('attachment; filename="midnight-')
    assert "no-store" in answer["Cache-Control"]
    document = json.loads(answer.content)
    assert document["format"] == "midnight-export/1"
    assert document["account"]["name"] == "Alice"
    assert document["preferences"]["theme"] == "system"
    assert document["mail"] == [{"address": "alice@example.org", "confirmed": True}]
    assert {factor["kind"] for factor in document["second_factors"]} == {"totp", "recovery_codes"}
    assert document["sessions"][0]["address"] == "127.0.0.1"
    assert [line["what"] for line in document["history"]] == ["exported"]
    text = answer.content.decode()
    secrets = [alice.password, client.session.session_key, *(str(f.data) for f in Authenticator.objects.all())]
    assert not any(secret in text for secret in secrets)


def test_another_app_adds_its_part_once(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "parts", dict(export.parts))
    export.part("hats")(lambda user: [user.name])
    assert export.everything(alice)["hats"] == ["Alice"]
    with pytest.raises(ValueError, match="Two parts"):
        export.part("hats")(lambda user: [])


def test_it_takes_a_post_and_a_fresh_proof_of_who_one_is(alice: User) -> None:
    client = signed_in(alice)
    assert client.get(f"{DATA}export/")["Location"] == DATA
    not_fresh(client)
    asked = client.post(f"{DATA}export/")
    assert asked["Location"].startswith("/account/again/?next=")
    answer = client.post("/account/again/", {"password": PASSWORD, "next": f"{DATA}export/"})
    assert json.loads(answer.content)["account"]["name"] == "Alice"


def test_whose_session_has_ended_signs_in_and_is_back_where_the_button_is(alice: User) -> None:
    client = Client()
    asked = client.post(f"{DATA}export/")["Location"]
    answer = client.post(asked, {"login": "Alice", "password": PASSWORD, "next": f"{DATA}export/"}, follow=True)
    assert answer.redirect_chain == [(f"{DATA}export/", 302), (DATA, 302)]
    assert "Download your data" in answer.content.decode()


def test_whoever_turns_to_another_language_where_a_form_was_refused_is_back_at_the_form(alice: User) -> None:
    client = signed_in(alice)
    refused = client.post(f"{DATA}delete/", {"name": "Bob"}).content.decode()
    assert f'name="next" value="{DATA}delete/"' in refused
    chosen = {"language": "fr", "theme": "dark", "next": f"{DATA}delete/"}
    answer = client.post("/display/", chosen, follow=True)
    assert (answer.status_code, answer.redirect_chain[-1]) == (200, (DATA, 302))
    assert '<html lang="fr"' in answer.content.decode()


def test_a_guest_may_take_their_data_too() -> None:
    client = Client()
    client.post("/account/guest/")
    assert json.loads(client.post(f"{DATA}export/").content)["account"]["guest"] is True


# Closing --------------------------------------------------------------------------------------------------------------


def test_closing_ends_every_session_and_keeps_all_for_thirty_days(alice: User) -> None:
    here, there = signed_in(alice), signed_in(alice)
    watch = EndWatch()
    assert here.post(f"{DATA}close/")["Location"] == "/"
    assert not is_signed_in(here)
    assert not is_signed_in(there)
    assert EndedSession.Reason.CLOSED in [end.reason for end in watch.look()]
    alice.refresh_from_db()
    assert alice.closed_at is not None
    again = signed_in(alice)
    assert "open again" in again.get("/account/").content.decode()
    alice.refresh_from_db()
    assert (alice.closed_at, alice.name) == (None, "Alice")
    assert [trace.what for trace in alice.traces.order_by("pk")] == ["closed", "reopened"]


def test_closed_for_thirty_days_is_deleted_by_the_sweep_and_not_before(alice: User, bob: User) -> None:
    closing.close(alice)
    closing.close(bob)
    User.objects.filter(pk=alice.pk).update(closed_at=timezone.now() - closing.GRACE)
    User.objects.filter(pk=bob.pk).update(closed_at=timezone.now() - closing.GRACE + timedelta(minutes=1))
    sweep()
    sweep()
    alice.refresh_from_db()
    bob.refresh_from_db()
    assert alice.deleted_at
    assert (bob.deleted_at, bob.name) == (None, "Bob")


def closed_long_ago(*people: User) -> None:
    """The first of them the longest."""
    for number, person in enumerate(people):
        closing.close(person)
        ago = closing.GRACE + timedelta(days=len(people) - number)
        User.objects.filter(pk=person.pk).update(closed_at=timezone.now() - ago)


def test_whoever_comes_back_while_the_sweep_runs_keeps_the_account(alice: User, bob: User) -> None:
    closed_long_ago(alice, bob)

    def come_back(user: User, **kwargs: object) -> None:
        closing.reopen(bob)

    bob.refresh_from_db()
    signals.deleted.connect(come_back)
    try:
        assert closing.delete_due(timezone.now()) == 1
    finally:
        signals.deleted.disconnect(come_back)
    bob.refresh_from_db()
    assert (bob.name, bob.closed_at, bob.deleted_at) == ("Bob", None, None)


def test_who_signs_in_a_moment_too_late_is_not_welcomed_back(alice: User) -> None:
    closed_long_ago(alice)
    alice.refresh_from_db()
    closing.delete_due(timezone.now())
    assert not closing.reopen(alice)
    assert not Trace.objects.exists()
    gone = User.objects.get()
    assert gone.deleted_at
    assert not gone.is_active


def test_who_cannot_be_deleted_holds_nobody_else_up(alice: User, bob: User, admin: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    alice.refresh_from_db()
    closed_long_ago(alice, bob)
    User.objects.filter(pk=admin.pk).update(is_superuser=False)
    sweep()
    assert {one.name for one in User.objects.filter(deleted_at=None)} == {"Alice", "Charlie"}


def test_one_run_deletes_only_so_many_accounts_and_the_next_one_goes_on(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(closing, "MOST_AT_ONCE", 1)
    closed_long_ago(bob, alice)
    assert closing.delete_due(timezone.now()) == 1
    assert User.objects.get(deleted_at=None).name == "Alice"
    assert closing.delete_due(timezone.now()) == 1


def test_a_chore_of_the_sweep_that_fails_holds_up_no_other(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise OSError("the database is away")

    for module, chore in [(closing, "delete_due"), (guests, "delete_abandoned"), (sessions, "clear_expired")]:
        monkeypatch.setattr(module, chore, fail)
    EndedSession.objects.create(user=alice, epoch=1, reason="closed", at=timezone.now() - timedelta(days=2))
    tokens.make(alice, "a robot")
    sessions.end_all(alice, EndedSession.Reason.SIGNED_OUT)
    sweep()
    assert EndedSession.objects.count() == 1
    assert not ApiToken.objects.exists()


# Deleting -------------------------------------------------------------------------------------------------------------


def test_nothing_of_the_person_is_left_but_a_row_with_a_pseudonym(alice: User) -> None:
    client = signed_in(with_mail(alice), **{"user-agent": "Telltale/1.0"})
    with_app(alice)
    alice.groups.add(Group.objects.create(name="moderators"))
    User.objects.filter(pk=alice.pk).update(language="fr", theme="dark", is_staff=True)
    assert client.post(f"{DATA}delete/", {"name": "alice"})["Location"] == "/"
    gone = User.objects.get(pk=alice.pk)
    assert gone.name.startswith("Former ")
    assert not gone.has_usable_password()
    assert (gone.is_staff, gone.language, gone.theme, gone.last_login) == (False, "", "system", None)
    assert not gone.groups.exists()
    for left in (EmailAddress, Authenticator, UserSession, Trace):
        assert not left.objects.exists(), left
    stored = everything_stored()
    assert not any(word in stored for word in ["Alice", "alice", "Telltale"])


def test_deleting_on_the_page_takes_ones_name_and_happens_at_once(alice: User) -> None:
    client, watch = signed_in(alice), EndWatch()
    refused = client.post(f"{DATA}delete/", {"name": "Bob"})
    assert refused.status_code == 200
    assert "Nothing was deleted" in refused.content.decode()
    assert is_signed_in(client)
    assert client.post(f"{DATA}delete/", {"name": "ALICE"})["Location"] == "/"
    assert not is_signed_in(client)
    assert User.objects.get().deleted_at
    assert EndedSession.Reason.DELETED in [end.reason for end in watch.look()]


@pytest.mark.parametrize("act", ["close", "delete"])
def test_leaving_takes_a_post_and_a_fresh_proof_of_who_one_is(alice: User, act: str) -> None:
    client = signed_in(alice)
    page_of_the_button = {"close": f"{DATA}closing/"}.get(act, DATA)
    assert client.get(f"{DATA}{act}/")["Location"] == page_of_the_button
    not_fresh(client)
    assert client.post(f"{DATA}{act}/", {"name": "Alice"})["Location"].startswith("/account/again/")
    client.post("/account/again/", {"password": "wrong", "next": f"{DATA}{act}/"})
    alice.refresh_from_db()
    assert (alice.closed_at, alice.deleted_at) == (None, None)
    client.post("/account/again/", {"password": PASSWORD, "next": f"{DATA}{act}/"})
    alice.refresh_from_db()
    assert alice.closed_at or alice.deleted_at


def test_nobody_ever_gets_the_name_or_one_that_looks_like_it(alice: User) -> None:
    closing.delete(alice)
    for name in ["Alice", "A1ICE"]:
        with pytest.raises(ValidationError):
            User.objects.create_user(name, PASSWORD)
    assert TakenName.objects.filter(holder=None).exists()


def test_deleting_twice_does_nothing_more(alice: User) -> None:
    closing.delete(alice)
    pseudonym = User.objects.get().name
    closing.delete(alice)
    assert User.objects.get().name == pseudonym


def test_what_other_apps_keep_of_a_person_goes_with_them_or_both_stay(alice: User) -> None:
    def fail(**kwargs: object) -> None:
        raise RuntimeError("cannot let go")

    signals.deleted.connect(fail)
    try:
        with pytest.raises(RuntimeError):
            closing.delete(alice)
    finally:
        signals.deleted.disconnect(fail)
    alice.refresh_from_db()
    assert (alice.name, alice.deleted_at) == ("Alice", None)


def test_a_guest_can_leave_for_good() -> None:
    client = Client()
    client.post("/account/guest/")
    client.post(f"{DATA}delete/", {"name": User.objects.get().name})
    gone = User.objects.get()
    assert gone.deleted_at
    assert gone.is_guest


def test_the_last_administrator_stays_until_there_is_another(admin: User, alice: User) -> None:
    for leave in (closing.close, closing.delete):
        with pytest.raises(ValidationError) as refused:
            leave(admin)
        assert refused.value.code == "last_administrator"
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    closing.close(admin)


def test_a_refused_leave_is_said_on_the_page(admin: User) -> None:
    client = signed_in(with_app(admin), code="now")
    client.post(f"{DATA}close/")
    assert "last administrator" in client.get(DATA).content.decode()
    assert "last administrator" in client.post(f"{DATA}delete/", {"name": "Charlie"}).content.decode()
    admin.refresh_from_db()
    assert (admin.closed_at, admin.deleted_at) == (None, None)
