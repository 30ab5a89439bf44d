"""Bots need nothing but the rules."""

import pytest


@pytest.fixture(autouse=True)
def valkey() -> None:
    """No server stands behind these tests."""
