"""Two players and a moderator, for every test that asks for them; and the rows of this test's processes alone."""

import socket

import pytest
from django.db import models
from django.db.models import Q, QuerySet

from accounts.models import User
from games import servers
from games.models import Server
from tests.games.night_watch import moderator, somebody


@pytest.fixture
def irma() -> User:
    return somebody("Irma Vep")


@pytest.fixture
def max_() -> User:
    return somebody("Max")


@pytest.fixture
def juve() -> User:
    return moderator()


class RowsOfTheTest(models.Manager[Server]):
    """The rows that a test made, without those of real web processes, which other tests have left running."""

    def get_queryset(self) -> QuerySet[Server]:
        real = Q(name__startswith=f"{socket.gethostname()}:") & ~Q(name=servers.own_name())
        return super().get_queryset().exclude(real)


@pytest.fixture
def no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What real processes say of themselves each second moves no clock of this test."""
    manager = RowsOfTheTest()
    manager.model = Server
    monkeypatch.setattr(Server, "objects", manager)
