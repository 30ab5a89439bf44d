"""The tests themselves stand on real services."""

import pytest
from django.core.cache import cache
from django.db import connection

from tests.settings import ON_POSTGRES


@pytest.mark.both_databases
@pytest.mark.django_db
def test_the_database_is_the_one_that_was_asked_for() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT version()" if ON_POSTGRES else "PRAGMA journal_mode")
        assert cursor.fetchone()[0].lower().startswith("postgresql" if ON_POSTGRES else "wal")


def test_the_cache_is_a_real_valkey() -> None:
    cache.set("key", "value")
    assert cache.get("key") == "value"


def test_a_test_finds_nothing_of_the_one_before() -> None:
    assert cache.get("key") is None
