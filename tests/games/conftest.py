"""Two players and a moderator, for every test that asks for them."""

import pytest

from accounts.models import User
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
