"""Emptying the database between two tests waits for processes that still write, and never deadlocks."""

import threading

import pytest
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.db import connection, transaction

from accounts.models import User
from tests.settings import ON_POSTGRES

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def test_a_flush_leaves_what_django_writes_after_a_migration() -> None:
    User.objects.create_user("Irma Vep")
    before = set(Permission.objects.values_list("pk", "content_type__app_label", "codename"))
    for _ in range(2):
        call_command("flush", verbosity=0, interactive=False, allow_cascade=False, inhibit_post_migrate=False)
    assert set(Permission.objects.values_list("pk", "content_type__app_label", "codename")) == before != set()
    assert not User.objects.exists()


# SQLite has one lock for all tables.
if ON_POSTGRES:

    @pytest.mark.parametrize(
        ("first", "then"), [("accounts_user", "django_session"), ("django_session", "accounts_user")]
    )
    def test_a_flush_lets_a_writer_of_two_tables_finish(first: str, then: str) -> None:
        User.objects.create_user("Irma Vep")
        begun, flushing = threading.Event(), threading.Event()
        failed: list[Exception] = []

        def write() -> None:
            try:
                with transaction.atomic(), connection.cursor() as cursor:
                    cursor.execute(f"LOCK TABLE {first} IN ROW EXCLUSIVE MODE")
                    begun.set()
                    flushing.wait(30)
                    cursor.execute(f"LOCK TABLE {then} IN ROW EXCLUSIVE MODE")
            except Exception as error:
                failed.append(error)
            finally:
                connection.close()

        writer = threading.Thread(target=write)
        writer.start()
        assert begun.wait(30)
        threading.Timer(0.3, flushing.set).start()
        call_command("flush", verbosity=0, interactive=False, allow_cascade=False, inhibit_post_migrate=True)
        writer.join(30)
        assert not failed
        assert not User.objects.exists()
