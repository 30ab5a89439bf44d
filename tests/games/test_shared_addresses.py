"""Who shares an address is a hint, found by an index: every sign-in of everybody has its row there."""

import pytest
from allauth.usersessions.models import UserSession
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games.moderation import cases
from tests.games.night_watch import somebody


@pytest.mark.both_databases
@pytest.mark.django_db
def test_who_shares_an_address_is_found_without_looking_at_everybody() -> None:
    people = [somebody(name) for name in ("Max", "Irma Vep", "Fandor")]
    for number, (person, address) in enumerate(zip(people, ["192.0.2.1", "192.0.2.1", "2001:db8::1"], strict=True)):
        UserSession.objects.create(user=person, ip=address, session_key=f"key-{number}", user_agent="")
    with CaptureQueriesContext(connection) as asked:
        assert cases.shared_addresses(people[0]) == [people[1]]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Of three rows its planner reads all, unless it is told not to.
            cursor.execute("SET LOCAL enable_seqscan = off")
        explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
        cursor.execute(f"{explain} {asked[-1]['sql']}")
        assert "session_of_address" in str(cursor.fetchall())
