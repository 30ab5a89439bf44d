"""After a deletion the log of acts names nobody, and nothing else of it can be changed."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.core.mail import EmailMessage, get_connection
from django.db import DatabaseError, connection, transaction
from django.urls import reverse

from accounts import closing, letters
from accounts.models import User
from games.models import Act, Message, Reason
from games.moderation import acts, undoing
from games.moderation.acts import Why
from tests.games.night_watch import client_of, moderator, somebody

pytestmark = pytest.mark.django_db
NUMBER = "+33 6 12 34 56 78"


def lines_about(person: User) -> list[Act]:
    juve = moderator()
    message = Message.objects.create(channel="g-x", audience="players", author=person, words=f"Call me: {NUMBER}")
    hidden = acts.hide(juve, message, Why(Reason.SPAM, "Your number is not for here."))
    renamed = acts.rename(juve, person, Why(Reason.NAME, "Foul Vampire is no name."))
    return [hidden, renamed, undoing.undo(renamed, moderator("Lupin"), "Foul Vampire may stay.")]


def log() -> str:
    return json.dumps(list(Act.objects.values("words", "before", "after")), ensure_ascii=False)


@pytest.mark.both_databases
def test_a_deletion_takes_name_and_words_out_of_the_log(client: Any) -> None:
    person = somebody("Foul Vampire")
    done = lines_about(person)
    person.refresh_from_db()
    assert NUMBER in log()
    closing.delete(person)
    assert not [secret for secret in (NUMBER, "Vampire", "number") if secret in log()]
    for before, after in zip(done, Act.objects.order_by("pk"), strict=True):
        assert (after.at, after.what, after.reason, after.by_id) == (
            before.at,
            before.what,
            before.reason,
            before.by_id,
        )
    boss = client_of(moderator("Nick", administrator=True))
    for act in done:
        assert "Vampire" not in boss.get(f"/admin/games/act/{act.pk}/change/").content.decode()
        assert boss.post(reverse("games:undo", args=[act.pk])).status_code < 500


@pytest.mark.both_databases
def test_the_words_about_others_stay() -> None:
    person, other = somebody("Foul Vampire"), somebody("Max")
    lines_about(other)
    whole = log()
    closing.delete(person)
    assert log() == whole


CHANGES = [
    "words = 'Nothing happened'",
    "reason = 'other'",
    "what = 'warn'",
    "by_id = NULL",
    "person_id = NULL",
    "message = 7",
    """"before" = '{"name": "Nice Person"}'""",
    """"before" = '{}'""",
    """"after" = '{"hidden": false}'""",
]


@pytest.mark.both_databases
@pytest.mark.parametrize("change", CHANGES)
def test_the_database_refuses_every_other_change(change: str) -> None:
    person = somebody("Foul Vampire")
    hidden = lines_about(person)[0]
    User.objects.filter(pk=person.pk).update(deleted_at=hidden.at)
    with connection.cursor() as cursor, pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        cursor.execute(f"UPDATE games_act SET {change} WHERE id = %s", [hidden.pk])


@pytest.mark.both_databases
def test_the_lines_about_people_who_left_long_ago_are_redacted_too() -> None:
    gone, here = somebody("Foul Vampire"), somebody("Max")
    lines_about(gone)
    User.objects.filter(pk=gone.pk).update(deleted_at="2026-01-01 00:00:00+00:00", name="Former ABCDEFG")
    kept = acts.warn(User.objects.get(name="Juve"), here, Why(Reason.SPAM, "Mind your words."))
    redact = import_module("games.migrations.0032_redaction_of_the_gone").redact
    for _again in range(2):
        redact(apps, connection.schema_editor())
        assert NUMBER not in log()
        assert "Vampire" not in log()
    kept.refresh_from_db()
    assert kept.words == "Mind your words."


def test_the_files_of_letters_to_a_deleted_person_go(settings: Any, tmp_path: Path) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_FILE_PATH = "django.core.mail.backends.filebased.EmailBackend", str(tmp_path)
    person = somebody("Irma Vep")
    EmailAddress.objects.create(user=person, email="irma@példa.example", primary=True, verified=True)
    # A file is named by the second and by its connection: these live side by side, so that each letter has its own.
    addresses = ("Irma <irma@példa.example>", "max@example.org", "IRMA@Példa.example")
    lines = [get_connection() for _ in addresses]
    for address, line in zip(addresses, lines, strict=True):
        EmailMessage("Hello", "irma@példa.example wrote", to=[address], connection=line).send()
    assert len(list(tmp_path.glob("*.log"))) == 3
    letters.forget(list(EmailAddress.objects.values_list("email", flat=True)))
    (left,) = tmp_path.glob("*.log")
    assert "max@example.org" in left.read_text()


def test_a_deletion_asks_for_the_files_of_every_address(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(letters, "forget", asked.append)
    person = somebody("Irma Vep")
    for address in ("irma@example.org", "vep@example.org"):
        EmailAddress.objects.create(user=person, email=address)
    with django_capture_on_commit_callbacks(execute=True):
        closing.delete(person)
    assert [sorted(one) for one in asked] == [["irma@example.org", "vep@example.org"]]
